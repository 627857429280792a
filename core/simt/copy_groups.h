// The groups of cp.async, each lane's own: which copies a wait brings.
//
//     copy a   copy b   commit   copy c   commit   copy d
//     `---- group 0 ----´        `-- 1 --´         `- 2, open
//
//     wait_group 1 leaves the one closed group that is the latest, and the open one: a and b arrive
//
// Source: PTX ISA, "cp.async.commit_group", "cp.async.wait_group / cp.async.wait_all".
#pragma once

#include <array>
#include <cstdint>

#include "core/base/launch.h"
#include "core/ptx/sites.h"

namespace tilescope::simt {

class CopyGroups {
public:
    using OfLanes = std::array<uint32_t, kWarpSize>;

    // Each lane's open group.
    const OfLanes& open() const { return closed_; }
    void commit(uint32_t lanes) {
        for_lanes(lanes, [&](uint32_t lane) { ++closed_[lane]; });
    }
    // The waiting lanes whose copy, of the group in `group`, arrives with this wait.
    uint32_t arrived(const OfLanes& group, uint32_t lanes, uint32_t left) const {
        if (left == ptx::kAllGroups) return lanes;
        uint32_t here = 0;
        for_lanes(lanes, [&](uint32_t lane) {
            if (uint64_t{group[lane]} + left < closed_[lane]) here |= 1u << lane;
        });
        return here;
    }

private:
    OfLanes closed_{};
};

}  // namespace tilescope::simt
