#include "app/look/pick.h"

#include <algorithm>
#include <bit>

namespace tilescope::look {

Pick same_pick(const trace::Trace& from, const trace::Trace& to, const Pick& pick) {
    using Kind = Pick::Kind;
    Pick same = pick;
    switch (pick.kind) {
        case Kind::Thread: {
            const Dim3 &a = from.launch.block, &b = to.launch.block;
            const uint32_t width = std::max(a.x, 1u);
            const uint32_t x = pick.thread % width, y = pick.thread / width;
            if (x >= b.x || y >= b.y) return {};
            same.thread = y * b.x + x;
            same.warp = same.thread / kWarpSize;
            return same;
        }
        case Kind::Warp:
            return uint64_t{pick.warp} * kWarpSize < to.launch.block.count() ? same : Pick{};
        case Kind::Element:
        case Kind::SharedCell: {
            if (pick.array >= from.launch.arrays.size()) return {};
            const Array& array = from.launch.arrays[pick.array];
            const auto other =
                std::find_if(to.launch.arrays.begin(), to.launch.arrays.end(),
                             [&](const Array& a) { return a.name == array.name && a.space == array.space; });
            const Position at = position_of(array, static_cast<int64_t>(pick.index));
            if (other == to.launch.arrays.end() || at.slice >= other->slices || at.row >= other->rows ||
                at.col >= other->cols)
                return {};
            same.array = static_cast<uint8_t>(other - to.launch.arrays.begin());
            same.index = static_cast<uint64_t>((at.slice * other->rows + at.row) * other->cols + at.col);
            return same;
        }
        case Kind::Block:
            return pick.block < to.blocks.size() ? same : Pick{};
        case Kind::None:
        case Kind::Site:
            break;
    }
    return {};
}

uint32_t spoken_lane(const draw::RequestView& request, const Pick& hover, const Pick& pin) {
    for (const Pick& pick : {hover, pin})
        if (pick.kind == Pick::Kind::Thread && pick.thread / kWarpSize == request.warp)
            return pick.thread % kWarpSize;
    return request.mask == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(request.mask));
}

}  // namespace tilescope::look
