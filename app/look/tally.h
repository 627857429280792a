// What two recordings are compared by: what each adds up to, whether both do the same work, and how much
// faster one of them was where both were timed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/draw/sheet.h"
#include "app/look/sums.h"
#include "core/recording/recording.h"
#include "kernels/textbook/timings.h"

namespace tilescope::kernels {
struct Counters;  // kernels/textbook/shipped.h
}

namespace tilescope::look {

// What comparing needs of a recording, made once.
struct Tally {
    std::vector<SplitSums> before;  // [blocks + 1]: sums of all blocks before; the last is the whole run
    std::vector<CellRect> outputs;  // [blocks]: bounding box of the output's elements that it stores
    std::optional<analysis::Product> product;
    std::vector<std::pair<bool, uint64_t>> arrays;  // in global memory: whether written, and elements; sorted
    std::string kernel, size;                       // "tiled T=16", "64x64x64"
};
// An Error where it takes more memory or accesses than are allowed, or where it was stopped.
Result<Tally> tally_of(const analysis::Recording& recording, Stop stop = {});

// One of the two runs, to be asked about. Nothing is copied.
struct Run {
    const analysis::Recording& recording;
    const Tally& tally;
    size_t faults = 0;  // steps of the shown block at which a fault occurs, as far as looked for
    const trace::Trace& trace = *recording.trace;
};
uint64_t loaded(const Run& run);  // bytes that lanes load from global memory, in the whole run
uint64_t stored(const Run& run);  // and store to it: a lane may store several elements at once

// A product has its size. A launch that is none has the sizes of its arrays alone, or, where they are laid out
// otherwise, the bytes that its threads load and store.
bool same_size(const Run& a, const Run& b);
// Both compute the same amount, so that their costs can be compared.
bool same_work(const Run& a, const Run& b);

// A count of both, and who has fewer: -1 A, 1 B, 0 neither.
struct Count {
    uint64_t a = 0, b = 0;
    std::optional<double> ratio() const;  // b / a; none where a is 0
    int fewer() const { return a == b ? 0 : a < b ? -1 : 1; }
    bool operator==(const Count&) const = default;
};
std::string three_digits(double value);  // "15.6", "16", "0.0625", "1,024"

// "16 times fewer load sectors"; nothing where there is no difference, or none that a factor tells.
struct ReportedClaim {
    std::string text;
    double factor = 1;
    int better = 0;  // -1 A, 1 B, 0 neither
};
ReportedClaim claim(const Count& count, const char* what);

// Both kernels as they were timed on one device at the size of what is compared; on the device of a recording
// before others.
struct Speed {
    const Run &fast, &slow;
    const kernels::Timing &quick, &late;  // their times
    std::string device;
    Count requests{};  // load requests of slow and of fast
    double times = 1;  // how many times as fast
    bool a_is_fast = true;
    bool told_apart = true;  // else the spreads of the runs overlap
    bool one_tile = true;    // both have the same T
    std::optional<double> l2_fast{},
        l2_slow{};  // share of the load sectors read from L2, where it was counted

    std::string name(const Run& run) const;  // "tiled", or "tiled T=16" where T tells the two apart
    bool only() const { return *requests.ratio() * times < 1; }  // it gained less than its requests shrank
    // What the slow one asked for more L1 had.
    bool cache_is_why() const { return only() && l2_fast && l2_slow && *l2_slow < *l2_fast; }
};
// Nothing where the two are not the same product, were not timed, or recorded no load. It refers to a, b and
// the timings.
std::optional<Speed> speed_of(const Run& a, const Run& b, const std::vector<kernels::Timings>& timings,
                              const std::vector<kernels::Counters>& counters);

// How much faster one is than the other where both kernels were timed on one device at this size, beside
// their load requests; and what of their loads was read from L2, where that was counted:
//
//   NVIDIA H200, width 256, T=16: tiled 14.1 µs, untiled 45.6 µs: only 3.24 times as fast with 16 times fewer
//   load requests, because the L1 cache serves at least 92 % of untiled's load sectors and 35 % of tiled's.
// "" where the two are not the same product, or were not timed.
std::string speed_text(const Run& a, const Run& b, const std::vector<kernels::Timings>& timings,
                       const std::vector<kernels::Counters>& counters);

}  // namespace tilescope::look
