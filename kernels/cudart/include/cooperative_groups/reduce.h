// cooperative_groups::reduce and the scans over lanes of a warp: a shuffle for each lane of the group, by rank.
//
// Source: CUDA C++ Programming Guide, "Cooperative Groups", "reduce", "inclusive_scan and exclusive_scan".
#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
    TILESCOPE_CG T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    TILESCOPE_CG T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    TILESCOPE_CG T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    TILESCOPE_CG T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    TILESCOPE_CG T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    TILESCOPE_CG T operator()(T a, T b) const { return a ^ b; }
};

// A tile's size is a power of two: halves meet halves, and then warps.
template <unsigned Size, class Parent, class T, class Operation>
TILESCOPE_CG T reduce(const thread_block_tile<Size, Parent>& group, T value, Operation operation) {
    if constexpr (Size > 32) {
        return group.over_warps(reduce(thread_block_tile<32, Parent>(), value, operation), operation);
    } else {
        for (unsigned by = Size / 2; by > 0; by /= 2) value = operation(value, group.shfl_xor(value, by));
        return value;
    }
}
template <class T, class Operation>
TILESCOPE_CG T reduce(const coalesced_group& group, T value, Operation operation) {
    T sum = group.shfl(value, 0);
    for (unsigned rank = 1; rank < group.size(); ++rank) sum = operation(sum, group.shfl(value, rank));
    return sum;
}
template <class Group, class T, class Operation>
TILESCOPE_CG T inclusive_scan(const Group& group, T value, Operation operation) {
    const unsigned mine = group.thread_rank();
    for (unsigned by = 1; by < group.size(); by *= 2) {
        const T other = group.shfl_up(value, by);
        if (mine >= by) value = operation(other, value);
    }
    return value;
}
template <class Group, class T>
TILESCOPE_CG T inclusive_scan(const Group& group, T value) {
    return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Operation>
TILESCOPE_CG T exclusive_scan(const Group& group, T value, Operation operation) {
    const T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
TILESCOPE_CG T exclusive_scan(const Group& group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
