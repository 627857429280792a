// The cases by which the limits of an SM are taught, each with its sums worked out: nothing here is a result
// typed in. A case asks of an SM (a device's, with some of its slots changed where the case says so), of some
// blocks, and for a few figures besides occupancy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/limits/device_spec.h"
#include "core/limits/occupancy.h"

namespace tilescope::analysis {

// How the blocks of a grid spread over the SMs when each gets as many as another, or one more.
struct Spread {
    uint64_t blocks = 0, most = 0, least = 0;  // most and least: blocks of one SM
    uint32_t sms_with_most = 0, sms_with_least = 0;
};
Spread spread(const Dim3& grid, uint32_t sms);

// A one-dimensional launch that covers `elements`, with a check of the bound.
struct BoundCheck {
    uint64_t blocks = 0, threads = 0, idle_threads = 0;
    uint64_t diverging_warps = 0;  // warps with threads on both sides of the bound
    uint64_t idle_warps = 0;       // warps wholly beyond it
};
BoundCheck bound_check(uint64_t elements, uint32_t block, uint32_t warp_size = 32);

// Warps that keep an SM busy while one waits for memory: each issues `instructions` between two accesses, at
// `issue_cycles` each, and an access takes `latency` cycles.
uint32_t warps_that_hide(uint32_t latency, uint32_t instructions, uint32_t issue_cycles);

// What may differ from the device's own SM in a case; 0 leaves it as it is.
struct SmChange {
    uint32_t threads_per_sm = 0, blocks_per_sm = 0, registers_per_sm = 0, shared_per_sm = 0;
    bool any() const { return threads_per_sm || blocks_per_sm || registers_per_sm || shared_per_sm; }
};
SmLimits changed(SmLimits sm, const SmChange& change);
// "1,536 thread slots in place of 1,024"; "" where nothing of `sm` changes.
std::string change_in_words(const SmLimits& sm, const SmChange& change);

struct PresetBlock {
    std::string label;  // "16 x 16"
    BlockUse use{};
};

struct VectorLaunch {
    uint64_t elements = 0;  // covered by blocks of the case
};

struct LatencyCase {
    uint32_t cycles = 0, instructions = 0, issue_cycles = 0;
};

struct LimitPreset {
    // What its answer says: whether the thread slots are filled, which of its blocks is best, how much a
    // thread or block may take, or what one value costs against another.
    enum class Wants : uint8_t { Filled, Best, Most, Cost };

    std::string id;       // "cliff", what the command line calls it
    std::string asks;     // the question; {threads} and {registers} stand for the block's (question_of)
    std::string title{};  // the question, of its first block
    std::string device;
    SmChange change{};
    Wants wants = Wants::Filled;
    Parameter parameter = Parameter::Threads;  // in which its blocks differ, or which is asked about
    std::vector<PresetBlock> blocks{};         // at least one
    std::optional<Dim3> grid{};
    std::optional<VectorLaunch> vector{};
    std::optional<LatencyCase> latency{};
    std::string compared_device{};  // device with which the figures of `device` are compared
};
const std::vector<LimitPreset>& limit_presets();
const LimitPreset* find_limit_preset(std::string_view id);

// What the case asks of blocks of these values.
std::string question_of(const LimitPreset& preset, const BlockUse& use);

// The answer and its reason in one to four sentences (words.cpp), worked out for this SM and this
// block, by the lecture's sum. preset: null for how many blocks fit and why. device: with the case's changes.
std::string answer_in_words(const LimitPreset* preset, const DeviceSpec& device, const BlockUse& use,
                            const std::vector<DeviceSpec>& devices);

struct Figure {
    std::string key;   // "blocks_that_fill_the_threads"
    std::string name;  // in words
    double value = 0;
    std::string unit;  // "blocks"
    bool operator==(const Figure&) const = default;
};

struct BlockAnswer {
    std::string label;
    BlockUse use;
    Occupancy lecture, hardware;
    std::string answer;  // answer_in_words()
};

struct PresetAnswer {
    DeviceSpec device;   // the device with the changes of the case
    std::string change;  // these changes in words; "" for none
    std::vector<BlockAnswer> blocks;
    std::vector<Figure> figures;
};

// Fails where the preset names a device that is not among `devices`.
Result<PresetAnswer> answer(const LimitPreset& preset, const std::vector<DeviceSpec>& devices);

}  // namespace tilescope::analysis
