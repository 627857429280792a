#include "core/levels/recorded_blocks.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "core/analysis/coalescing.h"

namespace tilescope::analysis {

namespace {

// Access patterns without a slot: of barriers and exchanges, which have no address, and of memory of a block or thread.
constexpr int32_t kNoAddress = -1, kOwn = -2;
// The number of blocks that another one is compared with. Where none of them is like it, blocks seldom are.
constexpr size_t kMostCompared = 32;

}  // namespace

BlockOffset::BlockOffset(const std::vector<int64_t>& bytes) {
    constexpr int64_t kLine = kLineBytes;
    for (const int64_t by : bytes) {
        rest.push_back((by % kLine + kLine) % kLine);
        lines.push_back((by - rest.back()) / kLine);
    }
}

RecordedBlocks::RecordedBlocks(const trace::Trace& trace, LevelCode& code, const WorkRules& rules, Stop stop)
    : trace_(trace), recorded_(trace.blocks.size()) {
    for (const trace::Form& form : trace.forms)
        slot_of_.push_back(!ptx::asks_memory(trace.sites[form.site].kind) ? kNoAddress
                           : form.space == Space::Global
                               ? static_cast<int32_t>(level_slot(trace.launch, form.array))
                               : kOwn);
    std::iota(recorded_.begin(), recorded_.end(), 0u);
    std::ranges::sort(recorded_, {}, [&](uint32_t block) {
        const trace::Block& b = trace.blocks[block];
        return (uint64_t{b.z} * trace.launch.grid.y + b.y) * trace.launch.grid.x + b.x;
    });

    std::vector<uint32_t> first;  // of blocks that are like each other; the latest last
    std::map<std::pair<uint32_t, std::vector<int64_t>>, uint32_t> known;  // by that one and the rest
    std::vector<int64_t> bytes;
    for (const uint32_t block : recorded_) {
        if (stop.now()) return;
        uint32_t like = block;
        const auto from = first.rbegin();
        const auto last = from + static_cast<std::ptrdiff_t>(std::min(first.size(), kMostCompared));
        const auto found =
            std::find_if(from, last, [&](uint32_t other) { return relocated_from(other, block, bytes); });
        if (found != last) {
            like = *found;
        } else {
            first.push_back(block);
            bytes.assign(level_slots(trace.launch), 0);
        }
        BlockOffset by(bytes);
        const auto [at, is_new] = known.try_emplace({like, by.rest}, static_cast<uint32_t>(kinds_.size()));
        if (is_new) {
            BlockKind kind{like, by.rest, nullptr, {}};
            kind.work =
                std::make_shared<BlockWork>(work_of_block(trace, code, like, rules, by.rest, &kind.batch_of));
            kinds_.push_back(std::move(kind));
        }
        ++kinds_[at->second].blocks;
        placed_.push_back({at->second, std::move(by.lines)});
    }
}

bool RecordedBlocks::relocated_from(uint32_t other, uint32_t block, std::vector<int64_t>& bytes) const {
    const trace::Block &a = trace_.blocks[other], &b = trace_.blocks[block];
    if (a.count != b.count) return false;
    const uint32_t *const key = trace_.key.data() + a.first, *const here = trace_.base.data() + b.first;
    const uint32_t* const there = trace_.base.data() + a.first;
    if (a.count == 0 || std::memcmp(key, trace_.key.data() + b.first, a.count * sizeof *key) != 0)
        return a.count == 0;
    // The high bits of a base are its pattern's.
    constexpr int64_t kUnknown = INT64_MIN;
    bytes.assign(level_slots(trace_.launch), kUnknown);
    for (uint64_t i = 0; i < a.count; ++i) {
        const int32_t slot = slot_of_[key[i] & 0xFFFFFF];
        if (slot == kNoAddress) continue;
        const int64_t by = int64_t{here[i]} - there[i];
        if (slot == kOwn) {
            if (by != 0) return false;
            continue;
        }
        int64_t& known = bytes[static_cast<size_t>(slot)];
        if (known == kUnknown) known = by;
        if (known != by) return false;
    }
    std::ranges::replace(bytes, kUnknown, 0);
    return true;
}

}  // namespace tilescope::analysis
