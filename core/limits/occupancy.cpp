#include "core/limits/occupancy.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::analysis {
namespace {

constexpr uint32_t kSharedStep = 512;  // bytes between two points of a curve

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

uint32_t divided(uint64_t total, uint64_t each) {
    return each == 0 ? kUnlimited : static_cast<uint32_t>(total / each);
}

uint32_t& fit(Occupancy& o, Limit limit) { return o.fit[static_cast<size_t>(limit)]; }

// Registers of a block and how many such blocks fit, as the lectures divide.
void lecture_registers(const SmLimits& sm, const BlockUse& use, Occupancy& o) {
    o.registers_per_block = use.threads * use.registers;
    fit(o, Limit::Registers) = divided(sm.registers_per_sm, o.registers_per_block);
}

// Compute capability 1.x: to a block at once, its warps in pairs.
void block_registers(const SmLimits& sm, const BlockUse& use, Occupancy& o) {
    const uint64_t warps = round_up(o.warps_per_block, sm.warp_granularity);
    const uint64_t registers = round_up(warps * sm.warp_size * use.registers, sm.register_granularity);
    o.registers_per_block = static_cast<uint32_t>(registers);
    fit(o, Limit::Registers) =
        registers > sm.registers_per_block ? 0 : divided(sm.registers_per_sm, registers);
}

// Since 2.0: to each warp, out of the registers of the part of the SM to which the warp was dealt. Whether a
// block may have so many is asked as if its warps filled all parts evenly.
void warp_registers(const SmLimits& sm, const BlockUse& use, Occupancy& o) {
    const uint64_t warp = round_up(uint64_t{use.registers} * sm.warp_size, sm.register_granularity);
    o.registers_per_block = static_cast<uint32_t>(warp * o.warps_per_block);
    if (warp == 0) {
        fit(o, Limit::Registers) = kUnlimited;
        return;
    }
    const auto blocks = [&](uint64_t parts) {
        if (warp * round_up(o.warps_per_block, parts) > sm.registers_per_block) return uint64_t{0};
        return sm.registers_per_sm / parts / warp * parts / o.warps_per_block;
    };
    uint64_t most = blocks(sm.warp_granularity);
    // GP100's SMs have two parts, the other Pascals' four: what cannot run on those does not run on it.
    if (sm.major == 6 && sm.minor == 0 && blocks(4) == 0) most = 0;
    fit(o, Limit::Registers) = static_cast<uint32_t>(most);
}

// Bytes that the SM sets aside for shared memory when a block takes `block` of them.
uint64_t set_aside(const SmLimits& sm, const BlockUse& use, uint64_t block) {
    if (use.carveout < 0 || sm.shared_sizes.empty()) return sm.shared_per_sm;
    const uint64_t wanted =
        std::max(block, uint64_t{sm.shared_per_sm} * static_cast<uint64_t>(use.carveout) / 100);
    for (const uint32_t kib : sm.shared_sizes)
        if (uint64_t{kib} * 1024 >= wanted) return uint64_t{kib} * 1024;
    return sm.shared_per_sm;
}

void hardware_shared(const SmLimits& sm, const BlockUse& use, Occupancy& o) {
    const uint64_t block = round_up(uint64_t{use.shared} + sm.shared_reserved, sm.shared_granularity);
    o.shared_per_block = static_cast<uint32_t>(block);
    const bool too_much = block > uint64_t{sm.shared_per_block_optin} + sm.shared_reserved;
    fit(o, Limit::Shared) = too_much ? 0 : divided(set_aside(sm, use, block), block);
}

std::string refusal(const SmLimits& sm, const BlockUse& use, const Occupancy& o) {
    if (use.threads == 0) return "a block needs at least one thread";
    if (use.threads > sm.threads_per_block) {
        return fmt::format("a block of {} threads does not launch: it may have at most {}",
                           grouped(use.threads), grouped(sm.threads_per_block));
    }
    if (use.registers > sm.registers_per_thread) {
        return fmt::format("{} registers a thread do not launch: a thread may have at most {}",
                           grouped(use.registers), grouped(sm.registers_per_thread));
    }
    if (o.fit[static_cast<size_t>(Limit::Registers)] == 0) {
        return fmt::format("a block's {} registers do not fit: it may have at most {}",
                           grouped(o.registers_per_block), grouped(sm.registers_per_block));
    }
    if (o.fit[static_cast<size_t>(Limit::Shared)] == 0) {
        return fmt::format("a block's {} bytes of shared memory do not fit: it may have at most {}",
                           grouped(use.shared), grouped(sm.shared_per_block_optin));
    }
    return {};
}

}  // namespace

const char* name_of(Sum sum) { return sum == Sum::Lecture ? "the lecture's sum" : "the hardware's"; }

const char* name_of(Limit limit) {
    constexpr const char* kNames[] = {"thread slots", "block slots", "registers", "shared memory"};
    return kNames[static_cast<size_t>(limit)];
}

Occupancy occupancy(const SmLimits& sm, const BlockUse& use, Sum sum) {
    Occupancy o;
    o.sum = sum;
    o.most_threads = sm.threads_per_sm;
    o.most_warps = sm.warps_per_sm();
    const bool launches =
        use.threads > 0 && use.threads <= sm.threads_per_block && use.registers <= sm.registers_per_thread;
    if (launches) {
        o.warps_per_block = (use.threads + sm.warp_size - 1) / sm.warp_size;
        fit(o, Limit::Blocks) = sm.blocks_per_sm;
        if (sum == Sum::Lecture) {
            fit(o, Limit::Threads) = sm.threads_per_sm / use.threads;
            lecture_registers(sm, use, o);
            o.shared_per_block = use.shared;
            fit(o, Limit::Shared) =
                use.shared > sm.shared_per_block_optin ? 0 : divided(sm.shared_per_sm, use.shared);
        } else {
            fit(o, Limit::Threads) = o.most_warps / o.warps_per_block;
            sm.register_unit == RegisterUnit::Block ? block_registers(sm, use, o)
                                                    : warp_registers(sm, use, o);
            hardware_shared(sm, use, o);
        }
        o.blocks = *std::min_element(o.fit.begin(), o.fit.end());
    }
    o.refused = refusal(sm, use, o);
    for (size_t i = 0; i < o.fit.size(); ++i) o.limits[i] = launches && o.fit[i] == o.blocks;
    o.threads = o.blocks * use.threads;
    o.warps = o.blocks * o.warps_per_block;
    o.share = sum == Sum::Lecture ? static_cast<double>(o.threads) / o.most_threads
                                  : static_cast<double>(o.warps) / o.most_warps;
    return o;
}

std::string limits_in_words(const Occupancy& occupancy) {
    if (!occupancy.refused.empty()) return occupancy.refused;
    std::string words;
    for (size_t i = 0; i < occupancy.limits.size(); ++i) {
        if (!occupancy.limits[i]) continue;
        words += fmt::format("{}{}", words.empty() ? "limited by " : " and ", name_of(static_cast<Limit>(i)));
    }
    return words;
}

std::vector<CurvePoint> occupancy_curve(const SmLimits& sm, const BlockUse& use, Parameter parameter,
                                        Sum sum) {
    struct ParameterRange {
        uint32_t first, last, step;
    };
    const ParameterRange range =
        parameter == Parameter::Threads     ? ParameterRange{sm.warp_size, sm.threads_per_block, sm.warp_size}
        : parameter == Parameter::Registers ? ParameterRange{1, sm.registers_per_thread, 1}
                                            : ParameterRange{0, sm.shared_per_block_optin, kSharedStep};
    std::vector<CurvePoint> curve;
    for (uint32_t value = range.first; value <= range.last; value += range.step) {
        BlockUse at = use;
        (parameter == Parameter::Threads     ? at.threads
         : parameter == Parameter::Registers ? at.registers
                                             : at.shared) = value;
        const Occupancy o = occupancy(sm, at, sum);
        curve.push_back({value, o.blocks, o.threads, o.warps, o.share});
    }
    return curve;
}

std::vector<Cliff> cliffs(const std::vector<CurvePoint>& curve) {
    std::vector<Cliff> found;
    for (size_t i = 1; i < curve.size(); ++i)
        if (curve[i].threads < curve[i - 1].threads) found.push_back({curve[i - 1], curve[i]});
    return found;
}

}  // namespace tilescope::analysis
