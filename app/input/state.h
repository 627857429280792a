// What lies over the screens when it is asked for: the palette, the box that takes a path, the form that
// records, and the list of keys.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "app/platform/input.h"
#include "app/session/session.h"

namespace tilescope::input {

// One line of text under a caret; edit() edits it (actions.h).
struct TextField {
    std::string text;
    size_t caret = 0;  // bytes, always between two characters
};

// The command palette: what is typed and which of the commands found is chosen.
struct CommandPalette {
    bool open = false;
    TextField query{};
    size_t chosen = 0;
};

// The box that opens or saves a recording by its path.
struct PathBox {
    enum class Mode : uint8_t { Closed, Open, Save } mode = Mode::Closed;
    TextField path;
    size_t chosen = 0;          // of the suggestions, counted from 1; 0 for what is typed
    bool over_written = false;  // Save: the file is there, and Enter once more overwrites it
    bool beside = false;        // Open: to be set beside the recording that is open
    bool opening = false;       // what was typed is being opened
    std::string exported = "";  // Save: as what (session/exporting.h); "" for the recording itself
    std::string problem;        // one sentence
};

// The steps of a block of a kernel, from its number of columns of M (block_window.cpp).
struct BlockSteps {
    double first = 0, each = 0;  // each: per column
    uint64_t of(uint32_t k) const;
};

struct RecordForm : session::Order {
    bool open = false;    // the form is shown
    uint64_t framed = 0;  // Session::framing as it was when the form took the recording's kernel and shape
    std::map<std::pair<std::string, uint32_t>, BlockSteps>
        block_steps;  // by kernel and tile, those asked for
    // What was pressed for its fields and lists, in order; ImGui takes one a frame.
    std::vector<platform::KeyPress> keys;
};

struct State {
    CommandPalette palette;
    PathBox path;
    RecordForm form;
    bool show_keys = false;
};

}  // namespace tilescope::input
