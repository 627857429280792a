// The slow, obvious twin of the rules of barriers in memory: a few numbers a barrier, changed as the PTX ISA says
// ("mbarrier", "Phases of the mbarrier object").
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/ptx/signal.h"

namespace tilescope::test {

struct TwinBarrier {
    int64_t count = 0;          // arrivals that each phase expects
    int64_t lacks = 0;          // arrivals that this one lacks
    int64_t tx = 0;             // bytes that this one lacks
    int64_t expected = 0;       // bytes that were expected in it
    int64_t ended = 0;          // phases
    int64_t behind_copies = 0;  // arrivals that follow copies of cp.async
    bool operator==(const TwinBarrier&) const = default;

    bool settle() {
        const bool ends = lacks == 0 && tx == 0;
        if (ends) lacks = count, expected = 0, ++ended;
        return ends;
    }
};

class TwinBarriers {
public:
    std::map<uint32_t, TwinBarrier> at;

    // A lane's part of a step, with its words. "" or what the rules forbid.
    std::string apply(ptx::Signal signal, uint32_t offset, const uint32_t* words) {
        using ptx::Signal;
        if (signal == Signal::Init) {
            at[offset] = {.count = words[0], .lacks = words[0]};
            return "";
        }
        if (!at.contains(offset)) return "not initialised";
        TwinBarrier& b = at[offset];
        if (signal == Signal::Invalidate) return at.erase(offset), "";
        if (signal == Signal::Expect) return expect(b, words[0]);
        if (signal == Signal::Complete) return complete(offset, words[0]);
        if (signal == Signal::CopyArrive) {
            if (words[0] == 0) ++b.lacks;  // without .noinc
            ++b.behind_copies;
            return "";
        }
        if (signal == Signal::Wait) {
            for (; b.behind_copies > 0; --b.behind_copies)
                if (const std::string wrong = arrive(b, 1); !wrong.empty()) return wrong;
            return (b.ended & 1) == (words[0] & 1) ? "a wait for a phase that has not ended" : "";
        }
        if (words[1] != 0) expect(b, words[1]);
        if (signal == Signal::Drop) b.count -= words[0];
        return arrive(b, words[0]);
    }
    std::string complete(uint32_t offset, uint32_t bytes) {
        TwinBarrier& b = at[offset];
        b.tx -= bytes;
        b.settle();
        return "";
    }

private:
    static std::string expect(TwinBarrier& b, uint32_t bytes) {
        b.tx += bytes, b.expected += bytes;
        b.settle();
        return "";
    }
    static std::string arrive(TwinBarrier& b, uint32_t count) {
        if (count > b.lacks) return "more arrivals than the phase lacks";
        b.lacks -= count;
        b.settle();
        return "";
    }
};

}  // namespace tilescope::test
