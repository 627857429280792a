// The answer to a case's question and the reason for it, in words, for the values that are shown:
//
//   6 blocks x 256 threads x 12 registers = 18,432, more than the SM's 16,384: 5 blocks fit, 1,280 threads.
//   With 10 registers 6 blocks fit, 1,536 threads; with 12 it is 16.7 % fewer.
//
// Figures come from occupancy(), by the lecture's sum; if the hardware's sum differs, the sentence says so.
#include "core/base/words.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/limits/presets.h"

namespace tilescope::analysis {
namespace {

// An SM, a block, and what both sums make of them.
struct AskedUse {
    const DeviceSpec& device;
    const BlockUse& use;
    Occupancy lecture, hardware;
    const SmLimits& sm() const { return device.sm; }
};

AskedUse asked(const DeviceSpec& device, const BlockUse& use) {
    return {device, use, occupancy(device.sm, use, Sum::Lecture), occupancy(device.sm, use, Sum::Hardware)};
}

// "1,305.6", "80"
std::string number(double value) {
    std::string text = fmt::format("{:.1f}", value);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    const size_t point = std::min(text.find('.'), text.size());
    return grouped(std::stoull(text.substr(0, point))) + text.substr(point);
}

std::string sentence(std::string text) {
    if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text + ".";
}

// What `blocks` blocks take of a limited resource: "6 blocks x 256 threads x 12 registers = 18,432".
std::string taken(const BlockUse& use, Limit limit, uint32_t blocks) {
    const std::string of = counted(blocks, "block") + " × ";
    const uint64_t threads = uint64_t{blocks} * use.threads;
    if (limit == Limit::Threads)
        return fmt::format("{}{} = {}", of, counted(use.threads, "thread"), grouped(threads));
    if (limit == Limit::Registers)
        return fmt::format("{}{} × {} = {}", of, counted(use.threads, "thread"),
                           counted(use.registers, "register"), grouped(threads * use.registers));
    return fmt::format("{}{} = {}", of, counted(use.shared, "byte"), grouped(uint64_t{blocks} * use.shared));
}

std::string all_of(const SmLimits& sm, Limit limit) {
    if (limit == Limit::Threads) return grouped(sm.threads_per_sm) + " thread slots";
    return grouped(limit == Limit::Registers ? sm.registers_per_sm : sm.shared_per_sm);
}

// Why the SM holds no block more.
std::string reason(const AskedUse& a, Limit limit) {
    if (limit == Limit::Blocks)
        return fmt::format("the SM has {}", counted(a.sm().blocks_per_sm, "block slot"));
    if (limit == Limit::Threads && a.lecture.threads == a.sm().threads_per_sm)
        return taken(a.use, limit, a.lecture.blocks) + ", all thread slots of the SM";
    return fmt::format("{}, more than the SM's {}", taken(a.use, limit, a.lecture.blocks + 1),
                       all_of(a.sm(), limit));
}

std::string fitting(const Occupancy& o) {
    if (o.blocks == 0) return "none fits";
    return fmt::format("{} {}, {}", counted(o.blocks, "block"), o.blocks == 1 ? "fits" : "fit",
                       counted(o.threads, "thread"));
}

// How many blocks fit and why. about: what the case asks for; it is named even where it does not limit.
std::string fit_words(const AskedUse& a, std::optional<Parameter> about = {}) {
    const Occupancy& o = a.lecture;
    if (!o.refused.empty()) return sentence(o.refused);
    std::vector<std::string> reasons;
    const auto use = [&](Limit limit) {
        if (!o.limits[static_cast<size_t>(limit)])
            reasons.push_back(
                fmt::format("{} of the SM's {}", taken(a.use, limit, o.blocks), all_of(a.sm(), limit)));
    };
    if (about == Parameter::Registers && a.use.registers > 0) use(Limit::Registers);
    if (about == Parameter::Shared && a.use.shared > 0) use(Limit::Shared);
    for (const Limit limit : {Limit::Registers, Limit::Shared, Limit::Threads, Limit::Blocks})
        if (o.limits[static_cast<size_t>(limit)]) reasons.push_back(reason(a, limit));
    std::string words = fmt::format("{}: {}", fmt::join(reasons, "; "), fitting(o));
    if (a.hardware.blocks != o.blocks)
        words += fmt::format("; by the hardware's sum {}",
                             a.hardware.blocks == 0 ? "none" : counted(a.hardware.blocks, "block"));
    return sentence(words);
}

uint32_t& value_of(BlockUse& use, Parameter parameter) {
    return parameter == Parameter::Threads     ? use.threads
           : parameter == Parameter::Registers ? use.registers
                                               : use.shared;
}

std::string value_words(Parameter parameter, uint32_t value) {
    return counted(value, parameter == Parameter::Threads     ? "thread"
                          : parameter == Parameter::Registers ? "register"
                                                              : "byte");
}

// The blocks of a case with the values that are shown, but for the one that the case compares.
std::vector<PresetBlock> compared_blocks(const LimitPreset& preset, const BlockUse& use) {
    std::vector<PresetBlock> all;
    for (PresetBlock block : preset.blocks) {
        BlockUse with = use;
        value_of(with, preset.parameter) = value_of(block.use, preset.parameter);
        all.push_back({block.label, with});
    }
    return all;
}

// "With 10 registers 6 blocks fit, 1,536 threads; with 12 it is 16.7 % fewer."
std::string others_words(const LimitPreset& preset, const AskedUse& a) {
    std::string words;
    BlockUse shown = a.use;
    const uint32_t own = value_of(shown, preset.parameter);
    for (PresetBlock& block : compared_blocks(preset, a.use)) {
        const uint32_t value = value_of(block.use, preset.parameter);
        if (value == own) continue;
        const Occupancy o = occupancy(a.sm(), block.use, Sum::Lecture);
        std::string with = fmt::format("with {} {}", value_words(preset.parameter, value), fitting(o));
        const auto percent = [](uint32_t more, uint32_t fewer) {
            return number(100.0 * (more - fewer) / more) + " %";
        };
        if (a.lecture.threads < o.threads)
            with += fmt::format("; with {} {} of them are lost", value_words(preset.parameter, own),
                                percent(o.threads, a.lecture.threads));
        else if (a.lecture.threads > o.threads)
            with += fmt::format(", {} fewer", percent(a.lecture.threads, o.threads));
        words += " " + sentence(with);
    }
    return words;
}

std::string fill_words(const AskedUse& a) {
    if (!a.lecture.refused.empty()) return fit_words(a);
    if (a.lecture.threads == a.sm().threads_per_sm) return "Yes. " + fit_words(a);
    const uint32_t would = a.lecture.fit[static_cast<size_t>(Limit::Threads)];
    std::string words = "No. " + fit_words(a);
    if (would > a.lecture.blocks)
        words += fmt::format(" Its {} thread slots would take {}.", grouped(a.sm().threads_per_sm),
                             counted(would, "block"));
    return words;
}

std::string most_words(const LimitPreset& preset, const AskedUse& a) {
    const SmLimits& sm = a.sm();
    const bool registers = preset.parameter == Parameter::Registers;
    const uint32_t slots = registers ? sm.threads_per_sm : sm.blocks_per_sm;
    const uint32_t shared_out = registers ? sm.registers_per_sm : sm.shared_per_sm;
    std::string chip;
    if (registers)
        chip = fmt::format("; the chip's {} have {}", counted(a.device.sms, "SM"),
                           grouped(uint64_t{a.device.sms} * sm.registers_per_sm));
    return fmt::format("{} {} slots share {} {}: at most {} a {} when all are used{}. {}{}", grouped(slots),
                       registers ? "thread" : "block", grouped(shared_out), registers ? "registers" : "bytes",
                       grouped(shared_out / slots), registers ? "thread" : "block", chip,
                       fit_words(a, preset.parameter), others_words(preset, a));
}

// "16 x 16 is best. 8 x 8: 8 blocks fit, 512 threads, limited by block slots; ..."
std::string best_words(const LimitPreset& preset, const AskedUse& a) {
    std::vector<PresetBlock> all = compared_blocks(preset, a.use);
    if (std::ranges::find(all, a.use, &PresetBlock::use) == all.end())
        all.push_back({counted(a.use.threads, "thread"), a.use});
    std::vector<std::string> each, best;
    uint32_t most = 0;
    for (const PresetBlock& block : all) {
        const Occupancy o = occupancy(a.sm(), block.use, Sum::Lecture);
        if (o.threads > most) best.clear();
        most = std::max(most, o.threads);
        if (o.threads == most && most > 0) best.push_back(block.label);
        each.push_back(block.use.threads > a.sm().threads_per_block
                           ? fmt::format("{} does not launch: {} are more than the {} that a block may have",
                                         block.label, counted(block.use.threads, "thread"),
                                         grouped(a.sm().threads_per_block))
                       : o.refused.empty()
                           ? fmt::format("{}: {}, {}", block.label, fitting(o), limits_in_words(o))
                           : fmt::format("{}: {}", block.label, o.refused));
    }
    if (best.empty()) return fmt::format("None launches. {}.", fmt::join(each, "; "));
    return fmt::format("Best: {}. {}.", fmt::join(best, " and "), fmt::join(each, "; "));
}

std::string grid_words(const Dim3& grid, const AskedUse& a) {
    if (!a.lecture.refused.empty()) return fit_words(a);
    const Spread s = spread(grid, a.device.sms);
    std::string words = fmt::format("{} on {}: ", counted(s.blocks, "block"), counted(a.device.sms, "SM"));
    words += s.most == s.least
                 ? fmt::format("each gets {}", s.most)
                 : fmt::format("{} get {} and {} get {}", s.sms_with_most, s.most, s.sms_with_least, s.least);
    const uint32_t warps = a.lecture.warps_per_block, warp = a.sm().warp_size;
    std::string takes = counted(warps, "warp");
    if (a.use.registers > 0)
        takes = fmt::format("{} × {} = {} and {}", a.use.threads, a.use.registers,
                            counted(a.lecture.registers_per_block, "register"), takes);
    if (const uint32_t last = a.use.threads % warp)
        takes += fmt::format(", the last with {}", counted(last, "thread"));
    words += fmt::format(". A block takes {}. {}", takes, fit_words(a));
    return words + (a.hardware.blocks >= s.most ? " No block waits." : " The others wait.");
}

std::string vector_words(const VectorLaunch& vector, const AskedUse& a) {
    if (!a.lecture.refused.empty()) return fit_words(a);
    const uint32_t warp = a.sm().warp_size;
    const BoundCheck check = bound_check(vector.elements, a.use.threads, warp);
    std::string words =
        fmt::format("{} × {} = {} for {} elements: ", counted(check.blocks, "block"),
                    counted(a.use.threads, "thread"), grouped(check.threads), grouped(vector.elements));
    if (check.idle_threads == 0) return words + "every thread has an element, so no warp diverges.";
    const uint64_t inside = vector.elements - (check.blocks - 1) * a.use.threads;
    words += check.diverging_warps == 0 ? "no warp diverges. " : "1 warp diverges. ";
    words += fmt::format("The last block has {} elements = {}", grouped(inside),
                         counted(inside / warp, "whole warp"));
    if (inside % warp != 0) words += fmt::format(" and {}", counted(inside % warp, "thread"));
    return words +
           fmt::format("; {} wholly beyond the bound.",
                       check.idle_warps == 1 ? "1 warp lies" : counted(check.idle_warps, "warp") + " lie");
}

std::string latency_words(const LatencyCase& l, const AskedUse& a) {
    const uint32_t needed = warps_that_hide(l.cycles, l.instructions, l.issue_cycles);
    const uint64_t busy = uint64_t{l.instructions} * l.issue_cycles;
    std::string words = fmt::format(
        "{}: between two accesses a warp issues {} instructions × {} cycles = {} cycles, and {} / {} = {}. ",
        counted(needed, "warp"), l.instructions, l.issue_cycles, busy, l.cycles, busy,
        number(static_cast<double>(l.cycles) / static_cast<double>(busy)));
    if (!a.lecture.refused.empty()) return words + fit_words(a);
    return words + fmt::format("{} × {} = {} on an SM: {}.", counted(a.lecture.blocks, "block"),
                               counted(a.lecture.warps_per_block, "warp"), grouped(a.lecture.warps),
                               a.lecture.warps >= needed ? "enough" : "too few");
}

std::string compared_words(const AskedUse& a, const DeviceSpec& other) {
    const AskedUse b = asked(other, a.use);
    const auto kib = [](const AskedUse& of) { return number(of.sm().shared_per_sm / 1024.0); };
    const auto blocks = [](const AskedUse& of) {
        return of.lecture.blocks == 0 ? "none" : grouped(of.lecture.blocks);
    };
    return fmt::format(
        "{} against {}: {} against {} SMs, each with {} against {} KiB of shared memory and {} against {} "
        "block slots; of this block {} against {} fit, {} against {} threads. Stated: {} against {} GB/s and "
        "{} against {} GFLOP/s.",
        other.chip, a.device.chip, other.sms, a.device.sms, kib(b), kib(a), b.sm().blocks_per_sm,
        a.sm().blocks_per_sm, blocks(b), blocks(a), grouped(b.lecture.threads), grouped(a.lecture.threads),
        number(other.memory_gbs), number(a.device.memory_gbs), number(other.peak_gflops),
        number(a.device.peak_gflops));
}

}  // namespace

std::string question_of(const LimitPreset& preset, const BlockUse& use) {
    std::string text = preset.asks;
    constexpr std::string_view kThreads = "{threads}", kRegisters = "{registers}";
    if (const size_t at = text.find(kThreads); at != std::string::npos)
        text.replace(at, kThreads.size(), grouped(use.threads));
    if (const size_t at = text.find(kRegisters); at != std::string::npos)
        text.replace(at, kRegisters.size(), grouped(use.registers));
    return text;
}

std::string answer_in_words(const LimitPreset* preset, const DeviceSpec& device, const BlockUse& use,
                            const std::vector<DeviceSpec>& devices) {
    const AskedUse a = asked(device, use);
    if (preset == nullptr) return fit_words(a);
    const auto other = std::ranges::find(devices, preset->compared_device, &DeviceSpec::id);
    if (other != devices.end()) return compared_words(a, *other);
    if (preset->grid) return grid_words(*preset->grid, a);
    if (preset->vector) return vector_words(*preset->vector, a);
    if (preset->latency) return latency_words(*preset->latency, a);
    switch (preset->wants) {
        case LimitPreset::Wants::Filled: return fill_words(a);
        case LimitPreset::Wants::Best: return best_words(*preset, a);
        case LimitPreset::Wants::Most: return most_words(*preset, a);
        case LimitPreset::Wants::Cost: break;
    }
    return fit_words(a, preset->parameter) + others_words(*preset, a);
}

}  // namespace tilescope::analysis
