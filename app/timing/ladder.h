// The ladder: how far each kernel on the way from one without tiles to double buffering is from a library,
// what bounds it, and what the next one does about that.
//
//     cuBLAS            ##############################|
//     double buffer     ###########################   |   fp32 units    Bars are measured GFLOP/s. What
//       ^ copies the next tiles meanwhile             |                 bounds a kernel is modelled and
//     warp tile         ########################      |   issue slots   appears as it is worked out.
//       ...                                           |
//     untiled           ###                           |   L1 data pipe
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/timing/model.h"

namespace tilescope::timing {

// A kernel of the ladder, and what it does about what the one below it pays for.
struct Rung {
    std::string_view kernel;
    std::string_view removes;  // "" of the lowest
};
// Of the catalogue, from the ground up: those that multiply elements of a type.
std::span<const Rung> rungs(ElementType input);

inline constexpr const char* kToBeKnown = "to be worked out";  // in place of a bound, until its turn comes
struct LadderRow {
    std::string kernel, name;  // "tiled", "tiled, T = 32"
    double gflops = 0;         // 0: not measured
    std::string rate, share;   // "9,098", "19 %" of the library's; "" where not measured
    std::string measured;      // where the measured figures come from
    bool known = false;        // what bounds it is known
    std::string bound;         // "L1 data pipe"; else, in a word or two, why not
    std::string bound_rests_on;
    std::string step;  // from the row below to this one; "" where there is nothing to say
};
struct LadderChart {
    // "double buffer reaches 91 % of cuBLAS at width 4,096, 24.1 times untiled. Each rung is faster than ..."
    std::string sentence, rests_on;
    std::vector<LadderRow> rows;  // the library first, where it was measured; then from the top rung down
    std::string note;             // what the figures are, and which are missing
};
// The ladder of a machine that was measured, of one type of input. bounds: as far as they are known.
LadderChart ladder_chart(const Machine& machine, ElementType input, uint32_t tile, uint32_t width,
                         const Bounds& bounds);

// The launches of the rungs of the chosen kernel's ladder that were timed, for their bounds, the chosen kernel's first.
std::vector<BoundsOf> bounds_of_ladder(const Machine& machine, const TimingChoice& chosen, uint32_t width);

}  // namespace tilescope::timing
