// Groups of threads: a block, tiles of a warp and of several, the lanes that are active, and the whole grid.
//
// Source: CUDA C++ Programming Guide, "Cooperative Groups".
#pragma once

#include <assert.h>

#include "cuda_runtime.h"

#include <type_traits>

namespace cooperative_groups {

#define TILESCOPE_CG __device__ __inline__ __attribute__((always_inline, nodebug))

// Not defined anywhere: the interpreter knows it by its name.
extern "C" __device__ void cudaCGSynchronizeGrid();

namespace details {

TILESCOPE_CG unsigned thread_of_block() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
TILESCOPE_CG unsigned threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }

// A value of any type by a shuffle of numbers: in words, where there is none of its type.
template <class T, class Shuffle>
TILESCOPE_CG T shuffled(T value, Shuffle shuffle) {
    if constexpr (std::is_arithmetic<T>::value) {
        return (T)shuffle(value);
    } else {
        constexpr unsigned kWords = (sizeof(T) + 3) / 4;
        unsigned words[kWords] = {};
        __builtin_memcpy(words, &value, sizeof(T));
        for (unsigned word = 0; word < kWords; ++word) words[word] = shuffle(words[word]);
        __builtin_memcpy(&value, words, sizeof(T));
        return value;
    }
}

}  // namespace details

// What tiles of more than a warp are given on older devices; here they have memory of their own.
template <unsigned MostThreads = 1024>
struct block_tile_memory {};

class thread_block;

// Any group. kind: which of the ones below it was.
class thread_group {
public:
    enum Kind { kBlock, kLanes, kGrid };
    TILESCOPE_CG thread_group(Kind kind, unsigned mask, unsigned size, unsigned rank)
        : kind_(kind), mask_(mask), size_(size), rank_(rank) {}
    TILESCOPE_CG void sync() const {
        if (kind_ == kBlock) {
            __syncthreads();
        } else if (kind_ == kLanes) {
            __syncwarp(mask_);
        } else {
            cudaCGSynchronizeGrid();
        }
    }
    TILESCOPE_CG unsigned size() const { return size_; }
    TILESCOPE_CG unsigned num_threads() const { return size_; }
    TILESCOPE_CG unsigned thread_rank() const { return rank_; }
    TILESCOPE_CG bool is_valid() const { return true; }

protected:
    Kind kind_;
    unsigned mask_, size_, rank_;
};

class thread_block : public thread_group {
public:
    TILESCOPE_CG thread_block() : thread_group(kBlock, 0, details::threads_of_block(), details::thread_of_block()) {}
    static TILESCOPE_CG void sync() { __syncthreads(); }
    static TILESCOPE_CG unsigned size() { return details::threads_of_block(); }
    static TILESCOPE_CG unsigned num_threads() { return details::threads_of_block(); }
    static TILESCOPE_CG unsigned thread_rank() { return details::thread_of_block(); }
    static TILESCOPE_CG dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static TILESCOPE_CG dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static TILESCOPE_CG dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static TILESCOPE_CG dim3 dim_threads() { return group_dim(); }
};
TILESCOPE_CG thread_block this_thread_block() { return thread_block(); }
template <unsigned MostThreads>
TILESCOPE_CG thread_block this_thread_block(block_tile_memory<MostThreads>&) {
    return thread_block();
}

class grid_group : public thread_group {
public:
    TILESCOPE_CG grid_group() : thread_group(kGrid, 0, 0, 0) {}
    static TILESCOPE_CG void sync() { cudaCGSynchronizeGrid(); }
    static TILESCOPE_CG bool is_valid() { return true; }
    static TILESCOPE_CG unsigned long long size() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * details::threads_of_block();
    }
    static TILESCOPE_CG unsigned long long num_threads() { return size(); }
    static TILESCOPE_CG unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static TILESCOPE_CG unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static TILESCOPE_CG unsigned long long thread_rank() {
        return block_rank() * details::threads_of_block() + details::thread_of_block();
    }
    static TILESCOPE_CG dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static TILESCOPE_CG dim3 dim_blocks() { return group_dim(); }
    static TILESCOPE_CG dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
TILESCOPE_CG grid_group this_grid() { return grid_group(); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
namespace details {

#define TILESCOPE_CLUSTER_REGISTER(NAME, REGISTER)                   \
    TILESCOPE_CG unsigned NAME() {                                   \
        unsigned value;                                              \
        asm("mov.u32 %0, %%" REGISTER ";" : "=r"(value));            \
        return value;                                                \
    }
TILESCOPE_CLUSTER_REGISTER(cluster_x, "cluster_ctaid.x")
TILESCOPE_CLUSTER_REGISTER(cluster_y, "cluster_ctaid.y")
TILESCOPE_CLUSTER_REGISTER(cluster_z, "cluster_ctaid.z")
TILESCOPE_CLUSTER_REGISTER(cluster_width, "cluster_nctaid.x")
TILESCOPE_CLUSTER_REGISTER(cluster_height, "cluster_nctaid.y")
TILESCOPE_CLUSTER_REGISTER(cluster_depth, "cluster_nctaid.z")
TILESCOPE_CLUSTER_REGISTER(cluster_rank, "cluster_ctarank")
TILESCOPE_CLUSTER_REGISTER(cluster_blocks, "cluster_nctarank")
#undef TILESCOPE_CLUSTER_REGISTER

}  // namespace details

// The blocks of a cluster.
class cluster_group : public thread_group {
public:
    // A thread has arrived, and has to wait.
    class arrival_token {};

    TILESCOPE_CG cluster_group() : thread_group(kGrid, 0, 0, 0) {}
    static TILESCOPE_CG arrival_token barrier_arrive() {
        asm volatile("barrier.cluster.arrive;" ::: "memory");
        return {};
    }
    static TILESCOPE_CG void barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
    static TILESCOPE_CG void barrier_wait(arrival_token&&) { barrier_wait(); }
    static TILESCOPE_CG void sync() {
        barrier_arrive();
        barrier_wait();
    }
    static TILESCOPE_CG bool is_valid() { return true; }
    static TILESCOPE_CG dim3 block_index() {
        return dim3(details::cluster_x(), details::cluster_y(), details::cluster_z());
    }
    static TILESCOPE_CG dim3 dim_blocks() {
        return dim3(details::cluster_width(), details::cluster_height(), details::cluster_depth());
    }
    static TILESCOPE_CG dim3 dim_threads() {
        return dim3(details::cluster_width() * blockDim.x, details::cluster_height() * blockDim.y,
                    details::cluster_depth() * blockDim.z);
    }
    static TILESCOPE_CG dim3 thread_index() {
        return dim3(details::cluster_x() * blockDim.x + threadIdx.x, details::cluster_y() * blockDim.y + threadIdx.y,
                    details::cluster_z() * blockDim.z + threadIdx.z);
    }
    static TILESCOPE_CG unsigned block_rank() { return details::cluster_rank(); }
    static TILESCOPE_CG unsigned num_blocks() { return details::cluster_blocks(); }
    static TILESCOPE_CG unsigned thread_rank() {
        return block_rank() * details::threads_of_block() + details::thread_of_block();
    }
    static TILESCOPE_CG unsigned num_threads() { return num_blocks() * details::threads_of_block(); }
    static TILESCOPE_CG unsigned size() { return num_threads(); }
    // The address of what lies at one in shared memory, in the block of a rank.
    template <class T>
    static TILESCOPE_CG T* map_shared_rank(T* address, int rank) {
        unsigned long long there;
        asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"((unsigned long long)address), "r"(rank));
        return (T*)there;
    }
    static TILESCOPE_CG unsigned query_shared_rank(const void* address) {
        unsigned rank;
        asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"((unsigned long long)address));
        return rank;
    }
};
TILESCOPE_CG cluster_group this_cluster() { return cluster_group(); }
#endif

namespace details {

// What tiles and coalesced groups share: lanes of one warp, `mask` of them, this one the rank-th.
class lanes : public thread_group {
public:
    TILESCOPE_CG lanes(unsigned mask, unsigned size, unsigned rank) : thread_group(kLanes, mask, size, rank) {}
    TILESCOPE_CG void sync() const { __syncwarp(mask_); }
    TILESCOPE_CG int any(int predicate) const { return __ballot_sync(mask_, predicate) != 0; }
    TILESCOPE_CG int all(int predicate) const { return __ballot_sync(mask_, predicate) == mask_; }
    TILESCOPE_CG unsigned mask() const { return mask_; }
};

}  // namespace details

// Size lanes that lie beside each other, aligned; Parent is for the reader. (Large: more than a warp.)
template <unsigned Size, class Parent = void, bool Large = (Size > 32)>
class thread_block_tile : public details::lanes {
    static_assert(Size > 0 && (Size & (Size - 1)) == 0, "a tile has a power of two threads");

public:
    TILESCOPE_CG thread_block_tile()
        : lanes(Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1u) << (tilescope_lane() & ~(Size - 1)), Size,
                tilescope_lane() & (Size - 1)) {}
    // Whatever it was cut from.
    template <class Other>
    TILESCOPE_CG thread_block_tile(const thread_block_tile<Size, Other>&) : thread_block_tile() {}
    static TILESCOPE_CG unsigned size() { return Size; }
    static TILESCOPE_CG unsigned num_threads() { return Size; }
    TILESCOPE_CG unsigned thread_rank() const { return tilescope_lane() & (Size - 1); }
    TILESCOPE_CG unsigned meta_group_rank() const { return details::thread_of_block() / Size; }
    TILESCOPE_CG unsigned meta_group_size() const { return (details::threads_of_block() + Size - 1) / Size; }
    template <class T>
    TILESCOPE_CG T shfl(T value, unsigned rank) const {
        return details::shuffled(value, [&](auto v) { return __shfl_sync(mask_, v, rank, Size); });
    }
    template <class T>
    TILESCOPE_CG T shfl_down(T value, unsigned by) const {
        return details::shuffled(value, [&](auto v) { return __shfl_down_sync(mask_, v, by, Size); });
    }
    template <class T>
    TILESCOPE_CG T shfl_up(T value, unsigned by) const {
        return details::shuffled(value, [&](auto v) { return __shfl_up_sync(mask_, v, by, Size); });
    }
    template <class T>
    TILESCOPE_CG T shfl_xor(T value, unsigned by) const {
        return details::shuffled(value, [&](auto v) { return __shfl_xor_sync(mask_, v, by, Size); });
    }
    TILESCOPE_CG unsigned ballot(int predicate) const {
        return (__ballot_sync(mask_, predicate) & mask_) >> (tilescope_lane() & ~(Size - 1) & 31);
    }
    template <class T>
    TILESCOPE_CG unsigned match_any(T value) const {
        return (__match_any_sync(mask_, value) & mask_) >> (tilescope_lane() & ~(Size - 1) & 31);
    }
};

// Of several warps, which meet at a barrier of their own: a block has 16, numbered from 0, and tiles take those behind
// __syncthreads()'s first. What passes between warps lies in shared memory, a row for each warp.
// Source: PTX ISA, "bar, barrier".
template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, true> : public thread_group {
    static_assert((Size & (Size - 1)) == 0 && Size <= 1024, "a tile has a power of two threads, up to 1,024");

public:
    static constexpr unsigned kWarps = Size / 32;
    TILESCOPE_CG thread_block_tile() : thread_group(kBlock, 0, Size, details::thread_of_block() & (Size - 1)) {}
    template <class Other>
    TILESCOPE_CG thread_block_tile(const thread_block_tile<Size, Other>&) : thread_block_tile() {}
    static TILESCOPE_CG unsigned size() { return Size; }
    static TILESCOPE_CG unsigned num_threads() { return Size; }
    TILESCOPE_CG unsigned thread_rank() const { return details::thread_of_block() & (Size - 1); }
    TILESCOPE_CG unsigned meta_group_rank() const { return details::thread_of_block() / Size; }
    TILESCOPE_CG unsigned meta_group_size() const { return (details::threads_of_block() + Size - 1) / Size; }
    TILESCOPE_CG void sync() const {
        const unsigned barrier = (meta_group_rank() + 1) & 15;
        __asm__ volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(Size) : "memory");
    }
    template <class T>
    TILESCOPE_CG T shfl(T value, unsigned rank) const {
        T* const passed = row<T>(0);
        if (thread_rank() == rank % Size) *passed = value;
        sync();
        const T result = *passed;
        sync();
        return result;
    }
    TILESCOPE_CG int any(int predicate) const {
        return over_warps((int)__any_sync(0xffffffffu, predicate), [](int a, int b) { return a | b; });
    }
    TILESCOPE_CG int all(int predicate) const {
        return over_warps((int)__all_sync(0xffffffffu, predicate), [](int a, int b) { return a & b; });
    }
    // What an operation makes of a value of each warp.
    template <class T, class Operation>
    TILESCOPE_CG T over_warps(T value, Operation operation) const {
        if ((thread_rank() & 31) == 0) *row<T>(thread_rank() / 32) = value;
        sync();
        T result = *row<T>(0);
        for (unsigned warp = 1; warp < kWarps; ++warp) result = operation(result, *row<T>(warp));
        sync();
        return result;
    }

private:
    template <class T>
    TILESCOPE_CG T* row(unsigned warp) const {
        static_assert(sizeof(T) <= 32, "tiles of more than a warp pass values of up to 32 bytes");
        __shared__ uint4 rows[32][2];
        return (T*)rows[meta_group_rank() * kWarps + warp];
    }
};

// The lanes of a warp that were together when it was made; ranks count them from the lowest.
class coalesced_group : public details::lanes {
public:
    TILESCOPE_CG coalesced_group(unsigned mask)
        : lanes(mask, __popc(mask), __popc(mask & ((1u << tilescope_lane()) - 1u))) {}
    TILESCOPE_CG unsigned meta_group_rank() const { return 0; }
    TILESCOPE_CG unsigned meta_group_size() const { return 1; }
    template <class T>
    TILESCOPE_CG T shfl(T value, unsigned rank) const {
        return from(value, rank % size_);
    }
    template <class T>
    TILESCOPE_CG T shfl_down(T value, unsigned by) const {
        return from(value, rank_ + by < size_ ? rank_ + by : rank_);
    }
    template <class T>
    TILESCOPE_CG T shfl_up(T value, unsigned by) const {
        return from(value, rank_ >= by ? rank_ - by : rank_);
    }
    TILESCOPE_CG unsigned ballot(int predicate) const {
        const unsigned all = __ballot_sync(mask_, predicate);
        unsigned packed = 0, at = 0;
        for (unsigned lane = 0; lane < 32; ++lane)
            if (mask_ >> lane & 1) packed |= (all >> lane & 1) << at++;
        return packed;
    }

private:
    template <class T>
    TILESCOPE_CG T from(T value, unsigned rank) const {
        const int lane = (int)__fns(mask_, 0, (int)rank + 1);
        return details::shuffled(value, [&](auto v) { return __shfl_sync(mask_, v, lane); });
    }
};
TILESCOPE_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned Size, class Parent>
TILESCOPE_CG thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return thread_block_tile<Size, Parent>();
}
// Of a size known when it runs: lanes of this warp.
TILESCOPE_CG coalesced_group tiled_partition(const thread_group& parent, unsigned size) {
    const unsigned lane = tilescope_lane(), first = lane - parent.thread_rank() % size;
    const unsigned tile = size >= 32 ? 0xffffffffu : ((1u << size) - 1u) << first;
    return coalesced_group(tile & __activemask());
}
// Of those that are together, the ones with the same predicate or label.
template <class Group>
TILESCOPE_CG coalesced_group binary_partition(const Group& group, bool predicate) {
    const unsigned yes = __ballot_sync(group.mask(), predicate);
    return coalesced_group(predicate ? yes : group.mask() & ~yes);
}
template <class Group>
TILESCOPE_CG coalesced_group labeled_partition(const Group& group, int label) {
    return coalesced_group(__match_any_sync(group.mask(), label));
}

// One thread of a group does it.
template <class Group, class Work, class... Arguments>
TILESCOPE_CG void invoke_one(const Group& group, Work work, Arguments... arguments) {
    if (group.thread_rank() == 0) work(arguments...);
}

template <class Group>
TILESCOPE_CG void sync(const Group& group) {
    group.sync();
}
template <class Group>
TILESCOPE_CG auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
TILESCOPE_CG auto group_size(const Group& group) {
    return group.size();
}

}  // namespace cooperative_groups
