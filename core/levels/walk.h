// A walk through a replay of the memory levels (replay.h): where each of a request's sectors was found, and
// what the L1 of its SM holds then.
//
// The replay leaves a log: batch after batch, as they were sent, and where their sectors were. Only the
// batches of its own SM fill an L1, in their order, so any of its states is found again from a copy of it
// nearby:
//
//   SM 7    batch batch batch batch batch batch batch ...      in the order in which they were sent
//           |                       |           |
//           empty                   copy        copy           every LevelLog::kLinesBetween lines
//                                   |-----> replayed until the batch that is asked for
//
// which is the same whether one comes from the left or from the right.
//
// A batch's requests are under way together, and the log has each of its lines once: for the first request
// that asks for a sector. Those that ask for it again find it in L1.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/levels/replay.h"
#include "core/levels/sector_cache.h"
#include "core/recording/phases.h"

namespace tilescope::analysis {

// --- requests of a block, line by line

struct RequestLine {
    static constexpr uint32_t kNoTouch = UINT32_MAX;
    uint32_t line = 0;  // behind BlockWork::first_line, as LineTouch has it
    // Index of the batch's touch of that line; none where all of the line hits in L1 without being looked up.
    uint32_t touch = kNoTouch;
    uint16_t slot = 0;
    uint8_t sectors = 0;  // the sectors that the request asks for, bit by bit
    uint8_t first = 0;    // those of them that no earlier request of the batch has asked for
    bool store = false;
};
struct BlockRequests {
    std::vector<uint32_t> batch_of;    // by step
    std::vector<uint32_t> first_line;  // by step, and one more: into lines
    std::vector<RequestLine> lines;
    std::span<const RequestLine> of(uint32_t step) const {
        return {lines.data() + first_line[step], lines.data() + first_line[step + 1]};
    }
};
// The requests of a recorded block. relocation, batch_of, work: as work_of_block() took, gave and made them.
BlockRequests requests_of_block(const trace::Trace& trace, uint32_t block,
                                const std::vector<int64_t>& relocation, const BlockWork& work,
                                std::vector<uint32_t> batch_of);

// --- the walk

class LevelWalk {
public:
    // blocks: by number, all that the log speaks of.
    LevelWalk(std::vector<PlacedBlock> blocks, LevelLog log, uint32_t sms, uint64_t l1_bytes);

    const PlacedBlock& block(uint32_t number) const { return blocks_[number]; }
    const LevelLog& log() const { return log_; }
    uint32_t blocks() const { return static_cast<uint32_t>(blocks_.size()); }
    size_t copies() const { return log_.copies.size(); }  // of caches

    // Where a batch stands among those of its SM.
    struct BatchPlace {
        uint32_t sm = 0;
        uint32_t turn = 0;  // how many batches the SM had sent before
        double at = 0;      // cycles since the launch began
        bool operator==(const BatchPlace&) const = default;
    };
    BatchPlace place_of(uint32_t block, uint32_t batch) const;
    uint32_t turns(uint32_t sm) const { return sm_first_[sm + 1] - sm_first_[sm]; }
    // Blocks of an SM in the order in which they sent their first batch.
    std::vector<uint32_t> blocks_of(uint32_t sm) const;

    // By line touch of a batch: two bits a sector, as in LevelLog.
    std::span<const uint8_t> found(uint32_t block, uint32_t batch) const;
    static FoundIn found_in(uint8_t found, uint32_t sector) {
        return static_cast<FoundIn>(found >> 2 * sector & 3);
    }
    // The number of a line of a block, which is its address divided by kLineBytes.
    uint64_t line_of(uint32_t block, uint16_t slot, uint32_t line) const {
        return blocks_[block].work->first_line[slot] +
               static_cast<uint64_t>(blocks_[block].relocation[slot]) + line;
    }

    struct Eviction {
        uint64_t line = 0;  // the line that had to go
        uint64_t by = 0;    // the line that took its place
    };
    struct Moment {
        SectorCache l1;
        std::vector<uint64_t> came;  // lines of the batch that L1 did not hold, or not with all their sectors
        std::vector<Eviction> evicted;
    };
    // An SM's L1 before a batch, and within it, when those of its touches that has_come names have come.
    Moment before(const BatchPlace& place) const;
    Moment within(const BatchPlace& place, const std::vector<bool>& has_come) const;

    // The next batch of the SM that asks for a line after `place`, among those of its next `most` lines, and
    // whether that were all that follow or all up to it.
    struct Return {
        uint32_t block = 0, batch = 0, turns = 0;  // turns: batches that are sent before it
        double at = 0;
    };
    struct Search {
        std::optional<Return> next;
        bool all = false;
    };
    Search comes_back(const BatchPlace& place, uint64_t line, uint64_t most) const;

private:
    const LevelLog::Sent& sent(uint32_t sm, uint32_t turn) const {
        return log_.sent[order_[sm_first_[sm] + turn]];
    }
    // Visits the lines of a batch that are looked up in L1; those of has_come alone, where it is given.
    template <class Visit>
    void touch_batch(const LevelLog::Sent& batch, const std::vector<bool>* has_come, Visit visit) const;

    std::vector<PlacedBlock> blocks_;
    LevelLog log_;
    uint64_t l1_bytes_;
    std::vector<uint32_t> order_;                // indices into the log, SM after SM
    std::vector<uint32_t> sm_first_;             // by SM, and one more: index into order_
    std::vector<uint32_t> block_first_;          // by block: index into turn_
    std::vector<uint32_t> turn_;                 // by batch: its place among those of its SM
    std::vector<uint32_t> sm_of_;                // by block
    std::vector<std::vector<uint32_t>> copies_;  // by SM: indices of the log's copies
};

// --- sums by where sectors were found

struct LevelShare {
    uint64_t requests = 0;  // number of requests to load
    uint64_t bytes = 0;     // bytes that their lanes ask for
    std::array<uint64_t, kFoundIn> sectors{};
    uint64_t asked() const { return sectors[0] + sectors[1] + sectors[2] + sectors[3]; }
    double hit_rate() const {
        return asked() == 0 ? 0 : static_cast<double>(sectors[0]) / static_cast<double>(asked());
    }
    LevelShare& operator+=(const LevelShare& other);
    bool operator==(const LevelShare&) const = default;
};
// Loads of global memory, split in three ways; each adds up to the same.
struct LevelShares {
    std::vector<LevelShare> by_site, by_slot, by_phase;
    LevelShare after, all;  // after: the loop's end
    bool operator==(const LevelShares&) const = default;
};

// Adds the blocks `numbers`, which do the same as one whose requests these are. phases: of its steps.
void add_shares(LevelShares& shares, const trace::Trace& trace, uint32_t recorded,
                const BlockRequests& requests, const PhaseMap& phases, const LevelWalk& walk,
                std::span<const uint32_t> numbers);

}  // namespace tilescope::analysis
