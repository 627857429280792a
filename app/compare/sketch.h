// What tells two recordings apart, small enough for a card of the list: the one thing in which they differ most, of all
// that was recorded, or of the first block of a long recording.
//
//   Loads        how often elements of an input were loaded       ####....  16       ####....  1
//   Sectors      the sectors of the request that needs most of them   ##......  2    ########  16
//   Wavefronts   the same of shared memory
//   Wrong        elements of the output that are wrong
//   Steps        where none of these differs: the kinds of its first steps, a row a warp
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/recording/recording.h"
#include "core/recording/step_kind.h"

namespace tilescope::compare {

struct Sketch {
    enum class Kind : uint8_t { Loads, Sectors, Wavefronts, Wrong, Steps } kind = Kind::Steps;
    struct Side {
        uint64_t count = 0;  // the number below: loads, sectors, wavefronts, wrong elements; of Steps none
        uint32_t rows = 0, cols = 0;  // of the cells
        std::vector<uint32_t>
            cells;  // [rows * cols]: loads; 1 for wrong; of Steps the StepKind and 1, 0 for none
    } a, b;
    uint32_t most = 1;   // of the loads of both
    std::string about;   // what the numbers are: "loads of an element"
    bool whole = false;  // it is of all blocks of both launches
};

inline constexpr uint32_t kSketchCells = 16;  // along a side at most, so that a card is drawn in every frame

// Nothing where one of them holds no step, or a block is too long to be looked at.
std::optional<Sketch> sketch_of(const analysis::Recording& a, const analysis::Recording& b);

}  // namespace tilescope::compare
