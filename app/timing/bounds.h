// What bounds a kernel: the least time that each resource of the device needs for its launch, beside the time
// that was measured, and in one sentence which of them is the longest and what that rests on.
//
//   measured        ######################|      Bars are times. The longest of the modelled ones is the
//   -> issue slots  ##################    |      lowest roof: no launch takes less. What is left between it
//   L1 data pipe    #################     |      and the line of the measured time is explained by no single
//   DRAM            #                     |      resource.
//
// The figures are those of `tilescope levels` (kernels/run/levels.h), but that fewer waves of a large grid
// are simulated. They take seconds to work out: a job does it, and what was worked out once is kept.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/jobs.h"
#include "kernels/run/levels.h"
#include "kernels/textbook/known_launch.h"
#include "kernels/textbook/timings.h"

namespace tilescope::timing {

// A launch of a square product on a device whose levels are known.
struct BoundsOf {
    std::string device, compiler, kernel;  // device: its id
    uint32_t width = 0, tile = 0;
    uint32_t registers = 0;  // registers per thread
    kernels::Shape shape() const { return {width, width, width, tile}; }
    auto operator<=>(const BoundsOf&) const = default;
};

// Seconds of work, in a job: the blocks of two corners are recorded, the others are these, moved.
Result<analysis::Levels> work_out_bounds(const BoundsOf& of, session::Control& control);

// What was worked out, and what is being.
struct Bounds {
    std::map<BoundsOf, std::shared_ptr<const Result<analysis::Levels>>> known;
    BoundsOf working_on;
    session::Job<Result<analysis::Levels>> working;

    const Result<analysis::Levels>* find(const BoundsOf& of) const;  // null while it is not known
    // Begins to work out what is not known, in place of what was begun before. wait: until it is there. True
    // while it is still to come.
    bool ask(const BoundsOf& of, session::Jobs& jobs, bool wait);
};

struct BoundBar {
    std::string name;  // "L1 data pipe"
    double value = 0;
    std::string figure;     // the value: "0.273 ms"
    bool measured = false;  // else modelled
    bool marked = false;    // what the chart is about, such as the lowest roof: the longest of modelled times
    std::string rests_on{};  // what it was worked out from, with the source of each constant
};
struct BoundChart {
    // "Bound by issue slots: 8.78 instructions for each multiply-add of a warp, 4 a clock. ..."
    std::string sentence;
    std::string rests_on;        // what its figures were worked out from
    std::vector<BoundBar> bars;  // the measured one first where there is one, then the longest first
    std::string note;            // what the bars are, and whose
};

// measured: the launch's row in the times that ship, of `timings`; null where it was not timed. counted: what
// counters said of it and of the kernel without tiles; null where they were not read.
struct BoundsBeside {
    const kernels::Timing* measured = nullptr;
    const kernels::Timings* timings = nullptr;
    const kernels::LevelCounterRow *counted = nullptr, *untiled = nullptr;
};
BoundChart bound_chart(const BoundsOf& of, const analysis::Levels& levels, const analysis::LevelDevice& on,
                       const BoundsBeside& beside);

// All times in one unit, so that they compare: "0.282 ms"; "<0.001 ms". Said by resource: "the L1 data pipe".
std::string in_ms(double ms, double longest);
std::string_view said_of(std::string_view resource);
std::string bound_name(const analysis::Levels& levels);  // without its article: "L1 data pipe"
// How much of a launch the replay simulated: "528 of 65,536 blocks", or with ", 12 % of each" behind it.
std::string blocks_simulated(const analysis::Levels& levels);
// "Measured: the median of 20 runs, 0.280 ms to 0.284 ms, of OF, on DEVICE."
std::string median_words(const kernels::Timing& row, std::string_view of, std::string_view device);
// What a multiply-add of a warp takes of something that was counted in a launch.
double each_multiply_add(const BoundsOf& of, uint64_t amount);
// "NAME 5,120 (assumed: SOURCE)"
std::string figure_words(std::string_view name, const analysis::LevelFigure& figure);

// The share of the sectors that tiles save L1 from being asked for which L1 would have found anyway, so that
// L2 is not spared them. Nothing where tiles save none.
std::optional<double> caught_of_saved(const kernels::LevelCounterRow& untiled,
                                      const kernels::LevelCounterRow& tiled);

}  // namespace tilescope::timing
