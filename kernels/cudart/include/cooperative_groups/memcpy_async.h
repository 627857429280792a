// cooperative_groups::memcpy_async as a copy that has ended when it returns: each thread of the group takes its
// share, and wait() is the group's barrier.
//
// Source: CUDA C++ Programming Guide, "Cooperative Groups", "memcpy_async".
#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T, class U>
TILESCOPE_CG void memcpy_async(const Group& group, T* to, const U* from, size_t bytes) {
    for (size_t at = (size_t)group.thread_rank() * sizeof(T); at < bytes; at += (size_t)group.size() * sizeof(T))
        *(T*)((char*)to + at) = *(const T*)((const char*)from + at);
}
template <class Group>
TILESCOPE_CG void wait(const Group& group) {
    group.sync();
}
template <unsigned Stages, class Group>
TILESCOPE_CG void wait_prior(const Group& group) {
    group.sync();
}

}  // namespace cooperative_groups
