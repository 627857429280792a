// What is remembered between starts, as JSON: the person's choices in one file, where the window lay and what
// was opened in another. Every field is checked; a damaged file gives the defaults and one sentence.
#pragma once

#include <string>
#include <string_view>

#include "app/session/session.h"

namespace tilescope::session {

struct Placement {
    int width = 1600, height = 1000;  // size of the window in logical pixels
    bool placed = false;              // x and y are known
    int x = 0, y = 0;
    bool operator==(const Placement&) const = default;
};

struct Remembered {
    Choices choices;
    Recent recent;
    Placement window;
    bool walked = false;            // the first lesson, to its end: who has is no newcomer
    std::vector<std::string> done;  // names of lessons that ship, walked to their end
    bool operator==(const Remembered&) const = default;
};

// settings.json: the choices. state.json: the rest.
std::string settings_text(const Remembered& remembered);
std::string state_text(const Remembered& remembered);
// Reads one of them into `remembered`, all of it or nothing; the problem, in a few words, or "".
std::string read_settings(std::string_view text, Remembered& remembered);
std::string read_state(std::string_view text, Remembered& remembered);

// Where it lies, by the XDG Base Directory Specification, version 0.8:
//
//   $XDG_CONFIG_HOME/tilescope/settings.json   else ~/.config/tilescope/
//   $XDG_STATE_HOME/tilescope/state.json       else ~/.local/state/tilescope/
//
// Only the window reads and writes them: pictures and tests see the defaults.
//
// A file of this program in the folder that a variable names, else below the home folder; "" without one.
std::string xdg_path(const char* variable, const char* below_home, const char* file);
struct SettingsFiles {
    std::string settings, state;  // paths; "" where not even a home folder is known
};
SettingsFiles settings_files();

// A missing file stands for the defaults. So does a damaged one, of which `notice` tells.
struct Loaded {
    Remembered remembered;
    std::string notice;     // one sentence, or ""
    bool newcomer = false;  // there is none of the files: the window was never open here
};
Loaded load_settings(const SettingsFiles& files);

// Each file whole or not at all. Folders are made as needed, for the user alone.
Result<void> save_settings(const SettingsFiles& files, const Remembered& remembered);

}  // namespace tilescope::session
