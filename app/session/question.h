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

enum class Hide : uint8_t {
    Elements = 1,  // which elements of arrays the step touches
    Lines = 2,     // lines from lanes to sectors or banks
    Numbers = 4,   // costs, verdicts, sums, times
    Values = 8,    // what arrays and shared cells hold
    Result = 16,   // whether the product is right
    Lanes = 32,    // which lanes work
    Waits = 64,    // who waits at barriers
};
constexpr uint8_t operator|(Hide a, Hide b) {
    return static_cast<uint8_t>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
constexpr uint8_t operator|(Hide a, uint8_t b) { return static_cast<uint8_t>(static_cast<uint8_t>(a) | b); }
constexpr uint8_t operator|(uint8_t a, Hide b) { return static_cast<uint8_t>(a | static_cast<uint8_t>(b)); }

struct Question {
    // What is predicted: by clicks and by keys, or typed alone.
    enum class Takes : uint8_t { Nothing, Typed, Choice, Cells, Lanes, Bank };

    bool open = false;     // it waits for its answer
    bool of_case = false;  // it is about a case of the Limits screen
    uint8_t hidden = 0;
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

    bool hides(Hide what) const { return open && (hidden & static_cast<uint8_t>(what)) != 0; }
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
