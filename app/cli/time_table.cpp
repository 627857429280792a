#include "app/cli/time_table.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/export/text_table.h"

namespace tilescope::cli {

namespace {

using kernels::Roofs;
using kernels::Timing;
using kernels::Timings;

constexpr const char* kNone = "-";

// Whole numbers in groups, smaller ones with their digits: "8 123", "48.6", "0.004211".
std::string number(double value) {
    if (value <= 0) return kNone;
    if (value >= 1000) return grouped(static_cast<uint64_t>(std::llround(value)), kThinSpace);
    return fmt::format("{:.4g}", value);
}

std::string times(double ratio) {
    return ratio < 9.95 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.1f}", ratio);
}

// How many times as fast as `name` of the same shape and tile width (cuBLAS has none: the fastest).
std::string speed_up(const Timings& timings, const char* name, const Timing& row) {
    double best = 0;
    for (const Timing& other : timings.rows) {
        const bool same = other.kernel == name && other.m == row.m && other.k == row.k && other.n == row.n &&
                          (other.tile == row.tile || row.tile == 0);
        if (same && (best == 0 || other.median_ms < best)) best = other.median_ms;
    }
    return best > 0 ? times(best / row.median_ms) : kNone;
}

uint64_t blocks_of(const Timing& row) {
    return row.tile == 0
               ? 0
               : (uint64_t{row.m} + row.tile - 1) / row.tile * ((uint64_t{row.n} + row.tile - 1) / row.tile);
}

std::string price(const Timing& row) {
    if (row.recorded_ms <= 0) return kNone;
    return times(row.recorded_ms / row.median_ms) + (row.recorded_blocks < blocks_of(row) ? "*" : "");
}

std::string judgement(const Timing& row) { return row.verified ? "verified" : "wrong (as made to show)"; }

std::string roofs_text(const Roofs& roofs) {
    if (roofs.copy_gbs <= 0 && roofs.stated_gbs <= 0 && roofs.stated_gflops <= 0) return "";
    report::TextTable table(1, {"roof", "measured", "stated"});
    table.add({"copy, GB/s (read and written)", number(roofs.copy_gbs), number(roofs.stated_gbs)});
    table.add({"fp32, GFLOP/s", number(roofs.fp32_gflops), number(roofs.stated_gflops)});
    return table.text() +
           "  stated: clocks that the driver gives, times bus width or times the cores of an SM\n\n";
}

std::string legend(const Timings& timings) {
    std::string text =
        "  10 %, 90 %: percentiles; asked GB/s: what the threads ask global memory for, caches or not\n"
        "  x untiled, x swapped: times as fast as untiled, untiled_swapped of the same sizes and T\n";
    bool window = false, priced = false, wrong = false;
    uint64_t blocks = 0;
    for (const Timing& row : timings.rows) {
        priced |= row.recorded_ms > 0;
        wrong |= !row.verified;
        if (row.recorded_ms > 0 && row.recorded_blocks < blocks_of(row))
            window = true, blocks = row.recorded_blocks;
    }
    if (priced) text += "  recording: recording it takes so many times as long\n";
    if (window) text += fmt::format("  * where only a window of {} blocks was recorded\n", blocks);
    if (wrong)
        text += "  wrong (as made to show): a fault is this kernel's point, and its time is unverified\n";
    return text;
}

}  // namespace

std::string time_table(const Timings& timings, const std::vector<std::string>& notes) {
    std::string text = fmt::format("{}, driver {}, CUDA {}; measured {} with tilescope {}\n", timings.device,
                                   timings.driver.empty() ? "unknown" : timings.driver, timings.cuda,
                                   timings.date, timings.tool_version);
    text += fmt::format("uninstrumented kernels, PTX by {}; results verified before they are timed",
                        timings.compiler) +
            "\n\n";
    text += roofs_text(timings.roofs);
    report::TextTable table(1, {"kernel", "m x k x n", "T", "runs", "median ms", "10 %", "90 %", "GFLOP/s",
                                "asked GB/s", "x untiled", "x swapped", "recording", "result"});
    for (const Timing& row : timings.rows) {
        table.add({row.kernel, fmt::format("{} x {} x {}", row.m, row.k, row.n),
                   row.tile ? std::to_string(row.tile) : kNone, std::to_string(row.runs),
                   number(row.median_ms), number(row.low_ms), number(row.high_ms), number(row.gflops),
                   number(row.requested_gbs), speed_up(timings, "untiled", row),
                   speed_up(timings, "untiled_swapped", row), price(row), judgement(row)});
    }
    text += table.text() + legend(timings);
    for (const std::string& note : notes) text += fmt::format("  {}\n", note);
    return text;
}

}  // namespace tilescope::cli
