// Where what is remembered lies, by the XDG Base Directory Specification, version 0.8:
//
//   $XDG_CONFIG_HOME/tilescope/settings.json   else ~/.config/tilescope/
//   $XDG_STATE_HOME/tilescope/state.json       else ~/.local/state/tilescope/
//
// Only the window reads and writes them: pictures and tests see the defaults.
#pragma once

#include <string>

#include "app/view/settings.h"
#include "core/base/result.h"

namespace tilescope::platform {

struct SettingsFiles {
    std::string settings, state;  // paths; "" where not even a home folder is known
};
SettingsFiles settings_files();

// Files that are not there are no news; of one that is damaged `notice` says so, and the defaults stand.
struct Loaded {
    view::Remembered remembered;
    std::string notice;  // one sentence, or ""
};
Loaded load_settings(const SettingsFiles& files);

// Each file whole or not at all. Folders are made as needed, for the user alone.
Result<void> save_settings(const SettingsFiles& files, const view::Remembered& remembered);

}  // namespace tilescope::platform
