// Lessons: short walks through recordings, each teaching one sentence. Built in from assets/lessons.
//
//   { "name": "reuse", "order": 1, "title": "...", "teaches": "...",
//     "stops": [ {"kernel": "tiled", "m": 4, "k": 4, "n": 4, "tile": 2,      what it is shown on, or
//                 "recording": "tiled-4x4x4-t2",                            one that ships;
//                                                  where neither is said: the stop before's
//                 "block": [0, 0], "kind": "shared load", "array": "Mds",   where to stand: the `nth` step
//                 "phase": 1, "warp": 0, "nth": 0,                          of the block that fits
//                 "screen": "step",
//                 "say": "... {sectors} sectors where {least_sectors} would do"} ] }
//
// order: its place among the others, as a class meets them. A lesson holds no figure of its own: what stands
// in braces is worked out from the recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/input/screen.h"

namespace tilescope::lessons {

using look::BlockIndex, look::StepKind;

inline constexpr std::string_view kKinds[] = {"global load", "global store", "shared load", "shared store",
                                              "barrier"};  // by StepKind

struct LessonStop {
    std::string kernel;  // recorded on the CPU; "" where `recording` says it
    kernels::Shape shape;
    std::string recording;
    std::string screen = "step";
    // Where to stand; what is not said fits everything.
    uint32_t block_x = 0, block_y = 0;
    std::optional<StepKind> kind;
    std::string array;
    std::optional<uint32_t> phase, warp;
    uint32_t nth = 0;
    bool costly = false;   // only requests that cost more than the least
    bool partial = false;  // only requests of a warp with lanes that sit out
    std::string say;
};

struct Lesson {
    std::string name, title, teaches;
    uint32_t order = 0;
    std::vector<LessonStop> stops;
};

Result<Lesson> lesson_from_json(std::string_view text, std::string_view name);
const std::vector<Lesson>& lesson_list();  // all of assets/lessons, in their order

// The step of the block that the stop means; none where the recording has none.
std::optional<uint32_t> find_step(const trace::Trace& trace, const BlockIndex& index, const LessonStop& stop);

// A text with the names that arrays have in a notation: whole words alone.
std::string renamed(std::string_view text, const Notation& notation);

// What a stop says, in the notation of the block, its figures worked out at a step: {lanes} {sectors}
// {least_sectors} {wavefronts} {least_wavefronts} {phases} {barriers} {warps} {threads} {tile} {m} {k} {n}
// {loads} {elements} {most_loads} {global_requests} {wrong} {step} and so on; a name that is not known stands
// as it is.
std::string said(const trace::Trace& trace, const analysis::Summary& sums, const BlockIndex& index,
                 uint32_t step, const std::string& say);

// The lesson that runs (Session::walk says whether one does), and what the Lessons screen shows.
struct State {
    size_t lesson = 0, stop = 0;
    size_t listed = 0;  // the lesson chosen on the Lessons screen
    // By lesson and stop, as far as worked out: what it says, and the notation that this is written in, in a
    // reader's wording.
    struct Said {
        std::string words;
        Notation notation;
    };
    std::vector<std::vector<Said>> said;
    analysis::Wording wording;
    std::string note;      // why a stop cannot be shown as written; one sentence
    bool wanted = false;   // the stop is to be shown
    bool opening = false;  // its recording is being opened
};

extern const input::Screen<State> kScreen;  // screen.cpp

// Walks to a stop of a lesson; ends the lesson when it leads beyond the last one.
void go_to_stop(State& state, session::Session& session, size_t lesson, size_t stop);

// Works out State::said of a lesson: the stops of one recording more, or all of them. Returns true while
// something is left. A stop on a recording that ships stays without words.
bool work_out_words(State& state, size_t lesson, bool all);

}  // namespace tilescope::lessons
