#include "kernels/run/recorded_blocks.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/analysis/coalescing.h"

namespace tilescope::kernels {

namespace {

// Forms without a slot: of barriers, which have no address, and of memory that is a block's or thread's own.
constexpr int32_t kNoAddress = -1, kOwn = -2;
// So many blocks another one is compared with. Where none of them is like it, blocks seldom are.
constexpr size_t kMostCompared = 32;

}  // namespace

Shift shift_of(const std::vector<int64_t>& bytes) {
    constexpr int64_t kLine = analysis::kLineBytes;
    Shift shift;
    for (const int64_t by : bytes) {
        const int64_t rest = (by % kLine + kLine) % kLine;
        shift.rest.push_back(rest);
        shift.lines.push_back((by - rest) / kLine);
    }
    return shift;
}

RecordedBlocks::RecordedBlocks(const trace::Trace& trace, analysis::LevelCode& code,
                               const analysis::WorkRules& rules, Stop stop)
    : trace_(trace), recorded_(trace.blocks.size()) {
    for (const trace::Form& form : trace.forms)
        slot_of_.push_back(trace.sites[form.site].kind == ptx::SiteKind::Barrier ? kNoAddress
                           : form.space == Space::Global
                               ? static_cast<int32_t>(analysis::level_slot(trace.launch, form.array))
                               : kOwn);
    std::iota(recorded_.begin(), recorded_.end(), 0u);
    const auto place = [&](uint32_t block) {
        const trace::Block& b = trace.blocks[block];
        return (uint64_t{b.z} * trace.launch.grid.y + b.y) * trace.launch.grid.x + b.x;
    };
    std::sort(recorded_.begin(), recorded_.end(),
              [&](uint32_t a, uint32_t b) { return place(a) < place(b); });

    std::vector<uint32_t> first;  // of blocks that are like each other; the latest last
    std::map<std::pair<uint32_t, std::vector<int64_t>>, uint32_t> known;  // by that one and the rest
    std::vector<int64_t> bytes;
    for (const uint32_t block : recorded_) {
        if (stop.now()) return;
        uint32_t like = block;
        const size_t compared = std::min(first.size(), kMostCompared);
        const auto from = first.rbegin();
        const auto found = std::find_if(from, from + static_cast<std::ptrdiff_t>(compared),
                                        [&](uint32_t other) { return moved_from(other, block, bytes); });
        if (found != from + static_cast<std::ptrdiff_t>(compared)) {
            like = *found;
        } else {
            first.push_back(block);
            bytes.assign(analysis::level_slots(trace.launch), 0);
        }
        Shift shift = shift_of(bytes);
        const auto [at, is_new] = known.try_emplace({like, shift.rest}, static_cast<uint32_t>(kinds_.size()));
        if (is_new) {
            Kind kind{like, shift.rest, nullptr, {}};
            kind.work = std::make_shared<analysis::BlockWork>(
                work_of_block(trace, code, like, rules, shift.rest, &kind.unit_of));
            kinds_.push_back(std::move(kind));
        }
        placed_.push_back({at->second, std::move(shift.lines)});
    }
}

bool RecordedBlocks::moved_from(uint32_t other, uint32_t block, std::vector<int64_t>& bytes) const {
    const trace::Block &a = trace_.blocks[other], &b = trace_.blocks[block];
    if (a.count != b.count) return false;
    const uint32_t *const key = trace_.key.data() + a.first, *const here = trace_.base.data() + b.first;
    const uint32_t* const there = trace_.base.data() + a.first;
    if (a.count == 0 || std::memcmp(key, trace_.key.data() + b.first, a.count * sizeof *key) != 0)
        return a.count == 0;
    // The high bits of a base are its form's.
    constexpr int64_t kUnknown = INT64_MIN;
    bytes.assign(analysis::level_slots(trace_.launch), kUnknown);
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
    for (int64_t& by : bytes)
        if (by == kUnknown) by = 0;
    return true;
}

analysis::PlacedBlock RecordedBlocks::block(uint32_t number) const {
    return {kinds_[placed_[number].kind].work, placed_[number].lines};
}

}  // namespace tilescope::kernels
