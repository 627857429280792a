// A question that stands on the screen, as far as screens must know of it: what it keeps from view until it
// is answered, and what was predicted so far. Who asks it, and what is right, is not said here
// (lessons/questions.h).
//
//   screens  -- hides(what) -->  draw a quiet "?" in its place
//   clicks, keys  -->  cells, lanes, bank, typed, choice
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace tilescope::session {

enum class Hide : uint16_t {
    Elements = 1,    // which elements of arrays the step touches, and the tile that they lie in
    Lines = 2,       // lines from lanes to sectors or banks
    Numbers = 4,     // costs, verdicts, sums, times
    Values = 8,      // what arrays and shared cells hold
    Result = 16,     // whether the product is right
    Lanes = 32,      // which lanes work
    Waits = 64,      // who waits at barriers
    Phases = 128,    // how many phases and steps there are: their band, the timeline, "of 16"
    Loads = 256,     // how often elements are loaded
    Warps = 512,     // how many warps a block has
    Shape = 1024,    // extents of arrays, of blocks and of the grid
    Standing = 2048  // where the cursor stands: its step, line, phase and warp
};
constexpr uint16_t operator|(Hide a, Hide b) {
    return static_cast<uint16_t>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
constexpr uint16_t operator|(Hide a, uint16_t b) {
    return static_cast<uint16_t>(static_cast<uint16_t>(a) | b);
}
constexpr uint16_t operator|(uint16_t a, Hide b) { return b | a; }

struct Question {
    // What is predicted: by clicks and by keys, or typed alone.
    enum class Takes : uint8_t { Nothing, Typed, Choice, Cells, Lanes, Bank };

    bool open = false;     // it waits for its answer
    bool of_case = false;  // it is about a case of the Limits screen
    uint16_t hidden = 0;
    uint16_t later = 0;  // what questions to come about this recording keep from view, in the meantime too
    Takes takes = Takes::Nothing;
    uint8_t array = 0xFF;  // the array whose cells are taken
    uint32_t warp = 0;     // the warp whose lanes are taken

    // Predicted. It stays in sight beside what was right until the question goes.
    std::string typed;             // a number or a value, as it was typed
    std::optional<size_t> choice;  // index of the choice, from 0
    std::set<uint64_t> cells;      // elements of the array
    uint32_t lanes = 0;            // a mask
    std::optional<uint32_t> bank;
    // Where the arrow keys stand: an element, a lane or a bank; none until one was pressed.
    std::optional<uint64_t> at;

    bool hides(Hide what) const { return (((open ? hidden : 0) | later) & static_cast<uint16_t>(what)) != 0; }
    bool hides_any() const { return open && hidden != 0; }
    bool predicted() const {
        return !typed.empty() || choice || !cells.empty() || lanes != 0 || bank.has_value();
    }
    void take_cell(uint64_t cell) {
        if (cells.erase(cell) == 0) cells.insert(cell);
    }
    void take_lane(uint32_t lane) { lanes ^= 1u << lane; }
    void take_bank(uint32_t of) { bank = bank == of ? std::nullopt : std::optional(of); }
};

}  // namespace tilescope::session
