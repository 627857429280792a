// The lines of global memory that a block touches, load batch by load batch (work.h).
//
//   requests of a batch        sorted, each line once             left out: sectors that hit for certain
//   M: line 0, sectors 0 1
//   N: line 4, sector  0   ->  M: line 0, sectors 0 1 2 3   ->   those that one of the last kRecent batches
//   M: line 0, sectors 2 3     N: line 4, sector  0              has touched, if what is touched meanwhile fits L1
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/levels/work.h"
#include "core/trace/access.h"

namespace tilescope::analysis {

class TouchList {
public:
    explicit TouchList(size_t slots) : slots_(slots) {}

    // Adds the lines of a request; whether it loads a sector that its block has not loaded before.
    bool add(const trace::AccessView& access, size_t slot, uint32_t batch);
    uint64_t lines() const { return raw_.size(); }  // of all requests, before those of a batch are merged

    // What a batch stores.
    struct Stores {
        uint32_t warps = 0;     // warps that store, a bit each, modulo 32
        bool own_lines = true;  // no line is stored to by two of them
    };
    // Fills in the touches of work.batches, which are there, and what else of work consists of them.
    std::vector<Stores> finish(const WorkRules& rules, BlockWork& work);

private:
    struct RawTouch {
        uint32_t batch = 0;
        uint16_t slot = 0;
        bool store = false;
        uint8_t sectors = 0;
        uint64_t line = 0;
        uint32_t warps = 0;  // bit by bit modulo 32
        auto place() const { return std::tie(batch, store, slot, line); }
        bool operator<(const RawTouch& other) const { return place() < other.place(); }
    };
    uint64_t most_recent_lines(const std::vector<RawTouch>& touches) const;
    void leave_out_recent(const WorkRules& rules, std::vector<RawTouch>& touches, BlockWork& work) const;

    size_t slots_;
    std::vector<RawTouch> raw_;
    std::map<std::pair<uint16_t, uint64_t>, uint8_t> loaded_;  // sectors by slot and line
};

}  // namespace tilescope::analysis
