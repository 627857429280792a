// What is said about time: whose it is, what recording it cost, and how long the kernel really takes.
//
// A modelled time is never said. A measured one is named with the device that it was measured on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/recording/recording.h"
#include "core/trace/trace.h"
#include "kernels/textbook/timings.h"

namespace tilescope::look {

// "SM clocks, NVIDIA H200"; "logical steps, CPU lockstep".
std::string time_kind(const trace::Meta& meta);

// Who recorded it: "NVIDIA H200, driver 580.159.04, 3 launches"; "CPU lockstep".
std::string recorder(const trace::Meta& meta);

// The title line of a recording, "tiled T=16   64x64x64   CPU lockstep", and then shorter and shorter:
// without the driver, the recorder, the size.
std::vector<std::string> recording_names(const analysis::Recording& recording);

// What recording cost: "4.1", times the kernel's own time; with both times, "recorded in 25.2 µs, 4.1 × its
// own 6.10 µs"; and as a sentence, "Recording took 4.1 times the kernel's own time: 1.20 ms against 0.290
// ms." All are "" where it was not measured.
std::string price_times(const trace::Price& price);
std::string price_short(const trace::Meta& meta);
std::string price_text(const trace::Meta& meta);

// The kernel's time beside the untiled kernel's (for untiled kernels, the tiled kernel's), in one sentence:
//
//   tiled 0.290 ms, untiled 1.31 ms at width 1024, T=16: 4.5 times faster; measured on NVIDIA H200.
//
// "" where neither kernel was timed at the recording's size. Times are of products: of any other launch only
// its own is said, where it was recorded on a GPU. Both times are of one size and one device: of the
// recording's own where there are timings of it, else of the first that measured both. A recording that timed
// its kernel itself says that time. Where the spreads of their runs (10th to 90th percentile) overlap,
// neither kernel is called the faster one.
std::string times_text(const trace::Meta& meta, const std::optional<analysis::Product>& product,
                       const std::vector<kernels::Timings>& timings);

// The two times themselves; none where not both were measured. overlap: of their runs' spreads, so that
// neither kernel is the faster one.
struct RivalTimes {
    double own_ms = 0, rival_ms = 0;
    bool overlap = false;
};
std::optional<RivalTimes> rival_times(const trace::Meta& meta,
                                      const std::optional<analysis::Product>& product,
                                      const std::vector<kernels::Timings>& timings);
// The kernel that a class compares a kernel's time with.
std::string_view rival_of(std::string_view kernel);

// The same as a small table, for where a sentence has no room; the sentence is beside it.
//
//   width 256, NVIDIA H200   measured
//   tiled            6.10 µs
//   untiled          7.32 µs    x 1.2
struct TimesTable {
    bool measured = false;  // else there is nothing to show
    std::string title;
    std::string own, own_time, rival, rival_time, ratio;  // no rival: of this launch alone
    std::string sentence;
};
TimesTable times_table(const trace::Meta& meta, const std::optional<analysis::Product>& product,
                       const std::vector<kernels::Timings>& timings);

// Three digits: "128 ms", "1.31 ms", "0.290 ms", "6.10 µs".
std::string milliseconds(double ms);

}  // namespace tilescope::look
