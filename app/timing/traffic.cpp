// Requested bytes -> sectors of the requests -> L2 -> DRAM, and in words what each step made of them.
#include <cmath>

#include <fmt/format.h>

#include "app/timing/roofline.h"
#include "core/base/words.h"

namespace tilescope::timing {
namespace {

using kernels::CounterRow;
using kernels::Timing;

constexpr double kSector = 32;  // bytes
constexpr const char* kL1 = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kL2 = "lts__t_sectors_op_read.sum";
constexpr const char* kDram = "dram__bytes_read.sum";

// Of the PTX that ships, which is what was timed.
const CounterRow* counted(const std::vector<kernels::Counters>& all, std::string_view device,
                          std::string_view kernel, uint32_t width, uint32_t tile) {
    for (const kernels::Counters& set : all) {
        if (set.device != device) continue;
        for (const CounterRow& row : set.rows)
            if (row.kernel == kernel && row.m == width && row.k == width && row.n == width &&
                row.tile == tile && row.ptx == "clang")
                return &row;
    }
    return nullptr;
}

std::string counted_widths(const Machine& machine, const std::vector<kernels::Counters>& all,
                           std::string_view kernel, uint32_t tile) {
    std::string widths;
    for (const uint32_t width : timed_widths(machine)) {
        if (counted(all, machine.name, kernel, width, tile) == nullptr) continue;
        widths += (widths.empty() ? "" : ", ") + grouped(width);
    }
    return widths;
}

std::string coalescing_words(double asked, double sectors) {
    const double ratio = sectors / asked;
    if (ratio > 1.1)
        return fmt::format(
            "Lanes a row apart need a sector each and use 4 of its 32 bytes: the requests need {} times "
            "what the threads ask for.",
            draw::ratio_text(ratio));
    if (ratio < 0.9)
        return fmt::format(
            "Lanes of a warp that ask for one element, or for neighbours, share sectors: the requests need "
            "1/{} of what the threads ask for.",
            draw::ratio_text(1 / ratio));
    return "The lanes of a warp ask for neighbours: every byte of a sector is used.";
}

void say_why(TrafficChain& chain, const Machine& machine, const Timing& row, double asked_intensity) {
    const double bound = bound_gflops(machine, asked_intensity);
    if (bound <= 0) return;
    const bool above = row.gflops > bound;
    chain.reasons.push_back(
        fmt::format("At {} FLOP/B the stated roof is {} GFLOP/s: a bound for a device without caches. "
                    "Measured {}, {}.",
                    draw::figure(asked_intensity), draw::figure(bound), draw::figure(row.gflops),
                    above ? fmt::format("{} times that", draw::ratio_text(row.gflops / bound))
                          : fmt::format("{} % of it", draw::figure(100 * row.gflops / bound))));
    if (chain.rows.size() < 4) return;
    const double asked = chain.rows[0].bytes, sectors = chain.rows[1].bytes, l2 = chain.rows[2].bytes,
                 dram = chain.rows[3].bytes;
    chain.reasons.push_back(coalescing_words(asked, sectors));
    const double once = 4.0 * (double{1} * row.m * row.k + double{1} * row.k * row.n);
    chain.reasons.push_back(fmt::format(
        "The requests need {}; {} are read from L2 and {} from DRAM, {} times the {} that must be read once.",
        bytes_short(sectors), bytes_short(l2), bytes_short(dram), draw::ratio_text(dram / once),
        bytes_short(once)));
    const double moved = 2.0 * row.m * row.k * row.n / dram;
    const double roof = bound_gflops(machine, moved);
    chain.reasons.push_back(
        fmt::format("At DRAM's {} FLOP/B the stated roof is {} GFLOP/s: measured {} % of it.",
                    draw::figure(moved), draw::figure(roof), draw::figure(100 * row.gflops / roof)));
}

}  // namespace

std::string bytes_short(double bytes) {
    constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < std::size(kUnits)) bytes /= 1000, ++unit;
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{:.{}f} {}", bytes,
                                   bytes < 9.995   ? 2
                                   : bytes < 99.95 ? 1
                                                   : 0,
                                   kUnits[unit]);
}

TrafficChain traffic_chain(const Machine& machine, const std::vector<kernels::Counters>& counters,
                           std::string_view kernel, uint32_t width, uint32_t tile) {
    TrafficChain chain;
    const Timing* row = row_of(machine, kernel, width, tile);
    if (row == nullptr) {
        chain.note =
            machine.times == nullptr
                ? fmt::format("No measured times ship for {}: nothing to hold the bound against.",
                              machine.name)
                : fmt::format("{} was not measured at width {}.", shown_name(kernel), grouped(width));
        return chain;
    }
    if (row->requested_gbs <= 0) {
        chain.note =
            fmt::format("What {} asks memory for is not known: its code is not ours.", shown_name(kernel));
        return chain;
    }
    const double n = width, flop = 2 * n * n * n;
    const auto add = [&](const char* name, const char* about, double bytes) {
        chain.rows.push_back({name, about, bytes, flop / bytes, 0});
        chain.rows.back().of_asked = bytes / chain.rows.front().bytes;
    };
    // Every element of P is stored once; the rest of what is asked is loaded.
    add("asked by the threads", "requested bytes of loads",
        row->requested_gbs * row->median_ms * 1e6 - 4.0 * n * n);
    if (const CounterRow* counts = counted(counters, machine.name, kernel, width, tile)) {
        const double* l1 = kernels::find_counter(*counts, kL1);
        const double* l2 = kernels::find_counter(*counts, kL2);
        const double* dram = kernels::find_counter(*counts, kDram);
        if (l1 != nullptr && l2 != nullptr && dram != nullptr && *l1 > 0 && *l2 > 0 && *dram > 0) {
            add("sectors of the requests", "l1tex__t_sectors, global loads, times 32 bytes", *l1 * kSector);
            add("read from L2", "lts__t_sectors_op_read times 32 bytes", *l2 * kSector);
            add("read from DRAM", "dram__bytes_read", *dram);
            chain.note = "Counted by Nsight Compute on " + machine.name;
        }
    }
    if (chain.rows.size() == 1) {
        const std::string widths = counted_widths(machine, counters, kernel, tile);
        chain.note = widths.empty() ? fmt::format("L2 and DRAM were not counted for {}, T = {}.",
                                                  shown_name(kernel), tile)
                                    : fmt::format("L2 and DRAM were counted at width {} only.", widths);
    }
    say_why(chain, machine, *row, row->gflops / row->requested_gbs);
    return chain;
}

uint32_t shown_width(const Machine& machine, const std::vector<kernels::Counters>& counters,
                     const State& chosen) {
    const std::vector<uint32_t> widths = timed_widths(machine);
    for (const uint32_t width : widths)
        if (width == chosen.width) return width;
    for (auto at = widths.rbegin(); at != widths.rend(); ++at)
        if (counted(counters, machine.name, chosen.kernel, *at, chosen.tile) != nullptr) return *at;
    return widths.empty() ? 0 : widths.back();
}

}  // namespace tilescope::timing
