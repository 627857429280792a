// What a class needs beside the recording: lecture mode, the blank screen, the lesson that runs, the command
// palette, the path box, and what is remembered between starts. A member of State.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilescope::app {

// One line of text under a caret; view/text_field.h edits it.
struct TextField {
    std::string text;
    size_t caret = 0;  // bytes, always between two characters
};

// The command palette: what is typed and which of the commands found is chosen (view/commands.h).
struct CommandPalette {
    bool open = false;
    TextField query;
    size_t chosen = 0;
};

// The box that opens or saves a recording by its path (view/path_box.h).
struct PathBox {
    enum class Mode : uint8_t { Closed, Open, Save } mode = Mode::Closed;
    TextField path;
    size_t chosen = 0;          // of the suggestions, counted from 1; 0 for what is typed
    bool over_written = false;  // Save: the file is there, and Enter once more overwrites it
    bool beside = false;        // Open: as the second recording of the Compare screen
    std::string exported = "";  // Save: as what (view/export_choice.h); "" for the recording itself
    std::string problem;        // one sentence
};

// The lesson that runs, and its stop; none while nobody walks through one.
struct LessonPlace {
    bool running = false;
    size_t lesson = 0, stop = 0;
    size_t listed = 0;                           // the lesson chosen on the Lessons screen
    std::vector<std::vector<std::string>> said;  // by lesson and stop, as far as worked out (lesson_words.h)
    std::string note;                            // why a stop cannot be shown as written; one sentence
};

// What an action asks for that needs files or other recordings: done by the frame (app/requests.h).
struct Request {
    enum class Kind : uint8_t { Open, Shipped, Preset, Save, Export, LessonStop } kind = Kind::Open;
    std::string text;           // a path, or the name of what ships
    size_t number = 0;          // of the preset
    bool beside = false;        // Open, Shipped: as the second recording of the Compare screen
    std::string exported = "";  // Export: as what (view/export_choice.h)
};

class Exporting;  // exporting.h

struct Teach {
    bool lecture = false;  // type, lines and colours for the back row
    bool blank = false;    // the screen is black until a key is pressed
    CommandPalette commands;
    PathBox path;
    LessonPlace lesson;
    std::vector<Request> requests;
    std::shared_ptr<Exporting> exporting;  // null while nothing is exported
    std::optional<int> wanted_screen;      // key 1 to 5: the table of screens says whether it is there
    // Remembered between starts, latest first.
    std::vector<std::string> recent_files, recent_commands;
    std::string last_folder;
};

// Type in lecture mode: the same scale, as much larger.
inline constexpr float kLectureScale = 1.35f;
// Live text scale (Ctrl + and -), in steps of kTextStep.
inline constexpr float kLeastText = 0.7f, kMostText = 2.0f, kTextStep = 0.1f;
inline constexpr size_t kMostRecent = 10;

// Puts `text` first, once, and forgets what is older than kMostRecent.
inline void remember(std::vector<std::string>& list, std::string text) {
    for (size_t at = 0; at < list.size(); ++at) {
        if (list[at] == text) {
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        }
    }
    list.insert(list.begin(), std::move(text));
    if (list.size() > kMostRecent) list.resize(kMostRecent);
}

}  // namespace tilescope::app
