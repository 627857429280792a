#include "core/levels/touches.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <unordered_map>

namespace tilescope::analysis {

namespace {

// A line that comes again within so many batches may be left out the second time.
constexpr uint32_t kRecent = 8;

}  // namespace

bool TouchList::add(const trace::AccessView& access, size_t slot, uint32_t batch) {
    const auto of_array = static_cast<uint16_t>(slot);
    bool first_time = false;
    access.for_lines([&](uint64_t line, uint32_t sectors) {
        const auto asked = static_cast<uint8_t>(sectors);
        raw_.push_back({batch, of_array, access.stores(), asked, line, 1u << access.warp() % kWarpSize});
        if (access.stores()) return;
        uint8_t& loaded = loaded_[{of_array, line}];
        first_time |= (asked & ~loaded) != 0;
        loaded |= asked;
    });
    return first_time;
}

// The most lines that kRecent + 1 batches in a row touch.
uint64_t TouchList::most_recent_lines(const std::vector<RawTouch>& touches) const {
    uint64_t most = 0;
    std::set<std::pair<uint16_t, uint64_t>> lines;
    uint32_t until = kRecent + 1;
    for (const RawTouch& touch : touches) {
        if (touch.batch >= until) {
            lines.clear();
            until = touch.batch + kRecent + 1;
        }
        lines.insert({touch.slot, touch.line});
        most = std::max<uint64_t>(most, lines.size());
    }
    return most;
}

// Sectors that one of the batches just before has loaded hit in L1, and need not be looked up, if what all
// blocks of the SM load meanwhile fits half of L1; the other half is for sets that fill unevenly.
void TouchList::leave_out_recent(const WorkRules& rules, std::vector<RawTouch>& touches,
                                 BlockWork& work) const {
    const bool recent_stay = most_recent_lines(touches) * rules.resident * 2 <= rules.l1_lines;
    struct SeenLine {
        uint8_t ever = 0;                 // sectors that were touched
        std::array<uint32_t, 4> batch{};  // that touched each of them last
    };
    std::vector<std::unordered_map<uint64_t, SeenLine>> seen(slots_);
    for (RawTouch& touch : touches) {
        if (touch.store) continue;
        SeenLine& line = seen[touch.slot][touch.line];
        for (uint32_t sector = 0; sector < 4; ++sector) {
            if (!(touch.sectors >> sector & 1)) continue;
            const auto bit = static_cast<uint8_t>(1u << sector);
            if (!(line.ever & bit))
                ++work.distinct_sectors;
            else if (recent_stay && touch.batch - line.batch[sector] <= kRecent)
                touch.sectors &= static_cast<uint8_t>(~bit), ++work.left_out;
            line.ever |= bit;
            line.batch[sector] = touch.batch;
        }
    }
    std::erase_if(touches, [](const RawTouch& touch) { return touch.sectors == 0; });
}

std::vector<TouchList::Stores> TouchList::finish(const WorkRules& rules, BlockWork& work) {
    std::sort(raw_.begin(), raw_.end());
    std::vector<RawTouch> touches;  // each line of a batch once
    for (const RawTouch& touch : raw_)
        if (!touches.empty() && touches.back().place() == touch.place())
            touches.back().sectors |= touch.sectors, touches.back().warps |= touch.warps;
        else
            touches.push_back(touch);
    leave_out_recent(rules, touches, work);
    work.first_line.assign(slots_, UINT64_MAX);
    for (const RawTouch& touch : touches)
        work.first_line[touch.slot] = std::min(work.first_line[touch.slot], touch.line);
    for (uint64_t& line : work.first_line)
        if (line == UINT64_MAX) line = 0;
    std::vector<Stores> stores(work.batches.size());
    for (const RawTouch& touch : touches) {
        if (touch.store) {
            stores[touch.batch].warps |= touch.warps;
            stores[touch.batch].own_lines &= std::has_single_bit(touch.warps);
        }
        LoadBatch& batch = work.batches[touch.batch];
        if (batch.count++ == 0) batch.first = static_cast<uint32_t>(work.touches.size());
        work.touches.push_back({static_cast<uint32_t>(touch.line - work.first_line[touch.slot]), touch.slot,
                                touch.sectors, touch.store});
        if (!work.barriers) work.warps_of.push_back(touch.warps);
    }
    return stores;
}

}  // namespace tilescope::analysis
