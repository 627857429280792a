// The models behind the figures, and what all figures have.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>
#include <random>

#include "app/lessons/figures/figure.h"
#include "core/base/launch.h"
#include "core/limits/dealing.h"

namespace tilescope::lessons {

IssueTrace issue_trace(uint32_t warps, uint32_t issue, uint32_t latency, uint32_t every, size_t slots) {
    IssueTrace made;
    std::vector<uint64_t> back(warps, 0);  // the cycle in which a warp's load is there
    std::vector<uint64_t> free(warps, 0);  // and from which it may issue
    std::vector<uint32_t> issued(warps, 0);
    made.window = std::max(every * warps, std::max((latency + issue - 1) / issue, every));
    // The pattern repeats after a window; the first ones may still be filling up.
    const size_t simulated = std::max<size_t>(slots, size_t{made.window} * 4);
    uint32_t turn = 0;
    for (size_t slot = 0; slot < simulated; ++slot) {
        const uint64_t now = slot * issue;
        IssueSlot here;
        for (uint32_t tried = 0; tried < warps && here.warp < 0; ++tried) {
            const uint32_t warp = (turn + tried) % warps;
            const bool load = (issued[warp] + 1) % every == 0;
            if (free[warp] > now || (load && back[warp] > now)) continue;
            here.warp = static_cast<int>(warp);
            here.load = load;
            ++issued[warp];
            free[warp] = now + issue;
            if (load) back[warp] = now + latency;
            turn = warp + 1;
        }
        if (slot + made.window >= simulated && here.warp < 0) ++made.idle;
        if (slot < slots) made.slots.push_back(here);
    }
    return made;
}

double used_share(uint32_t warps, uint32_t issue, uint32_t latency, uint32_t every) {
    const uint32_t window = std::max({every * warps, (latency + issue - 1) / issue, every});
    return static_cast<double>(every) * warps / window;
}

uint32_t fp32_a_cycle(const analysis::SmLimits& sm) {
    struct Throughput {
        uint32_t major, of_minor_0, of_others;
    };
    constexpr Throughput kAll[] = {{1, 8, 8},    {2, 32, 48}, {3, 192, 192},
                                   {6, 64, 128}, {7, 64, 64}, {8, 64, 128}};
    const auto found = std::ranges::find(kAll, sm.major, &Throughput::major);
    if (found == std::end(kAll)) return 128;
    return sm.minor == 0 ? found->of_minor_0 : found->of_others;
}

double peak_ghz(const analysis::DeviceSpec& device) {
    return device.peak_gflops / (2.0 * device.sms * fp32_a_cycle(device.sm));
}

BytesInFlight in_flight(const analysis::DeviceSpec& device, uint32_t latency) {
    BytesInFlight made;
    made.bytes_a_cycle = device.memory_gbs / device.sms / peak_ghz(device);
    made.bytes = static_cast<uint64_t>(std::llround(made.bytes_a_cycle * latency));
    made.loads = (made.bytes + kWarpSize * 4 - 1) / (kWarpSize * 4);
    return made;
}

Partition partition(uint32_t block_threads, uint32_t thread_slots, uint32_t block_slots) {
    Partition made;
    made.part = thread_slots / block_slots;
    made.fixed_blocks = block_threads <= made.part ? block_slots : 0;
    made.blocks = std::min(block_slots, thread_slots / block_threads);
    return made;
}

Dealt deal(uint32_t blocks, uint32_t sms, uint32_t slots, uint32_t order) {
    Dealt made;
    made.of_sm.assign(sms, 0);
    std::vector<uint32_t> numbers(blocks);
    std::iota(numbers.begin(), numbers.end(), 0u);
    // Fisher and Yates; std::shuffle is another one in every standard library.
    std::mt19937 random(order);
    for (uint32_t left = blocks; order > 0 && left > 1; --left)
        std::swap(numbers[left - 1], numbers[random() % left]);
    const std::vector<analysis::BlockRun> runs =
        analysis::deal(blocks, sms, slots, [](uint64_t) -> uint64_t { return 1; });
    for (uint32_t at = 0; at < blocks; ++at) {
        const auto [sm, slot, wave, end] = runs[at];
        if (wave == made.waves.size()) made.waves.emplace_back(sms);
        made.waves[wave][sm].push_back(numbers[at]);
        ++made.of_sm[sm];
    }
    return made;
}

Split split(Branch branch, uint32_t threads, uint32_t limit) {
    Split made;
    for (uint32_t first = 0; first < threads; first += kWarpSize) {
        const uint32_t lanes = std::min<uint32_t>(threads - first, kWarpSize);
        uint32_t mask = 0;
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            const uint32_t thread = first + lane;
            const bool takes = branch == Branch::Warp     ? thread / kWarpSize > limit
                               : branch == Branch::Vector ? thread < limit
                                                          : thread > limit;
            mask |= static_cast<uint32_t>(takes) << lane;
        }
        const auto on = static_cast<uint32_t>(std::popcount(mask)), off = lanes - on;
        made.masks.push_back(mask);
        made.divergent += on > 0 && off > 0;
        made.passes += (on > 0) + (off > 0);
        if (on > 0 && off > 0) made.idle += on + off;
    }
    return made;
}

Bursts bursts_of(uint32_t stride, uint32_t burst) {
    constexpr uint32_t kFloat = 4;
    Bursts made;
    const uint32_t last = (kWarpSize - 1) * stride * kFloat, floats = burst / kFloat;
    std::vector<bool> touched(last / burst + 1);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) touched[lane * stride * kFloat / burst] = true;
    made.taken.assign(touched.size() * floats, false);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) made.taken[size_t{lane} * stride] = true;
    made.bursts = static_cast<uint32_t>(std::ranges::count(touched, true));
    made.brought = made.bursts * burst;
    made.used = kWarpSize * kFloat;
    return made;
}

std::vector<int> first_set(const Figure& figure) {
    std::vector<int> set;
    for (const FigureParameter& parameter : figure.parameters) set.push_back(parameter.first);
    return set;
}

std::string value_words(const FigureParameter& parameter, int value) {
    const auto at = static_cast<size_t>(value - parameter.least);
    return at < parameter.words.size() ? parameter.words[at] : std::to_string(value);
}

std::optional<int> setting_of(const FigureParameter& parameter, std::string_view text) {
    // A device with or without its maker and its chip: "NVIDIA H200" and "H200 (GH100)" are "H200" too.
    const auto word = std::ranges::find_if(parameter.words, [&](const std::string& one) {
        const std::string_view name = std::string_view(one).substr(0, one.find(" ("));
        return one == text || name == text || (!text.empty() && name.ends_with(" " + std::string(text)));
    });
    if (word != parameter.words.end())
        return parameter.least + static_cast<int>(word - parameter.words.begin());
    int value = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (bad != std::errc() || end != text.data() + text.size()) return std::nullopt;
    const bool takes = value >= parameter.least && value <= parameter.most &&
                       (value - parameter.least) % parameter.step == 0;
    return takes ? std::optional(value) : std::nullopt;
}

const Figure* find_figure(std::string_view name) {
    const auto found = std::ranges::find(figures(), name, &Figure::name);
    return found == figures().end() ? nullptr : &*found;
}

}  // namespace tilescope::lessons
