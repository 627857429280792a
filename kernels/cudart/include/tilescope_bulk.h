// What <cuda/barrier> has more for compute capability 9.0: the barrier of a block as an mbarrier, and copies in bulk, of
// tensors too, that bring it bytes.
//
// Source: CUDA C++ Programming Guide, "Asynchronous Data Copies using the Tensor Memory Accelerator"; libcu++, "Extended
// API: Barrier, Asynchronous operations".
#pragma once

#include <cstddef>

namespace cuda {

// A number of bytes of which is known that, as the addresses, it is a multiple of so many.
template <std::size_t Alignment>
struct aligned_size_t {
    static constexpr std::size_t align = Alignment;
    std::size_t value;
    constexpr explicit __host__ __device__ aligned_size_t(std::size_t bytes) : value(bytes) {}
    constexpr __host__ __device__ operator std::size_t() const { return value; }
};

template <class Completion>
class barrier<thread_scope_block, Completion> {
public:
    using arrival_token = unsigned long long;

    barrier() = default;
    TILESCOPE_BARRIER barrier(int count) { tilescope_begin(count); }
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;

    TILESCOPE_BARRIER arrival_token arrive(int count = 1) {
        arrival_token token;
        __asm__ volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
                         : "=l"(token)
                         : "r"(tilescope_at()), "r"(count)
                         : "memory");
        return token;
    }
    TILESCOPE_BARRIER void wait(arrival_token token) const {
        unsigned done;
        do
            __asm__ volatile(
                "{.reg .pred done; mbarrier.try_wait.shared.b64 done, [%1], %2; selp.u32 %0, 1, 0, done;}"
                : "=r"(done)
                : "r"(tilescope_at()), "l"(token)
                : "memory");
        while (!done);
    }
    TILESCOPE_BARRIER void wait_parity(bool parity) const {
        unsigned done;
        do
            __asm__ volatile(
                "{.reg .pred done; mbarrier.try_wait.parity.shared.b64 done, [%1], %2; selp.u32 %0, 1, 0, "
                "done;}"
                : "=r"(done)
                : "r"(tilescope_at()), "r"((unsigned)parity)
                : "memory");
        while (!done);
    }
    TILESCOPE_BARRIER void arrive_and_wait() { wait(arrive()); }
    TILESCOPE_BARRIER void arrive_and_drop() {
        __asm__ volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(tilescope_at()) : "memory");
    }
    TILESCOPE_BARRIER void tilescope_begin(int count) {
        __asm__ volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(tilescope_at()), "r"(count) : "memory");
    }
    // Its offset in shared memory.
    TILESCOPE_BARRIER unsigned tilescope_at() const { return (unsigned)__cvta_generic_to_shared(&state_); }

private:
    unsigned long long state_;
};

namespace device {

template <class Completion>
TILESCOPE_BARRIER unsigned long long* barrier_native_handle(barrier<thread_scope_block, Completion>& at) {
    return reinterpret_cast<unsigned long long*>(&at);
}
template <class Completion>
TILESCOPE_BARRIER void barrier_expect_tx(barrier<thread_scope_block, Completion>& at, std::ptrdiff_t bytes) {
    __asm__ volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at.tilescope_at()),
                     "r"((unsigned)bytes)
                     : "memory");
}
// Arrives `count` times, behind which the phase waits for so many bytes more.
template <class Completion>
TILESCOPE_BARRIER unsigned long long barrier_arrive_tx(barrier<thread_scope_block, Completion>& at,
                                                       std::ptrdiff_t count, std::ptrdiff_t bytes) {
    if (count != 1) {
        barrier_expect_tx(at, bytes);
        return at.arrive((int)count);
    }
    unsigned long long token;
    __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                     : "=l"(token)
                     : "r"(at.tilescope_at()), "r"((unsigned)bytes)
                     : "memory");
    return token;
}
// bytes: a number, or a cuda::aligned_size_t; a multiple of 16, as the addresses are.
template <class T, class Bytes, class Completion>
TILESCOPE_BARRIER void memcpy_async_tx(T* to, const T* from, Bytes bytes,
                                       barrier<thread_scope_block, Completion>& at) {
    __asm__ volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            (unsigned)__cvta_generic_to_shared(to)),
        "l"(__cvta_generic_to_global(from)), "r"((unsigned)(std::size_t)bytes), "r"(at.tilescope_at())
        : "memory");
}

namespace experimental {

TILESCOPE_BARRIER void fence_proxy_async_shared_cta() {
    __asm__ volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
TILESCOPE_BARRIER void cp_async_bulk_commit_group() {
    __asm__ volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int Groups>
TILESCOPE_BARRIER void cp_async_bulk_wait_group() {
    __asm__ volatile("cp.async.bulk.wait_group %0;" ::"n"(Groups) : "memory");
}
template <int Groups>
TILESCOPE_BARRIER void cp_async_bulk_wait_group_read() {
    __asm__ volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Groups) : "memory");
}

template <class Completion>
TILESCOPE_BARRIER void cp_async_bulk_global_to_shared(void* to, const void* from, unsigned bytes,
                                                      barrier<thread_scope_block, Completion>& at) {
    memcpy_async_tx((char*)to, (const char*)from, bytes, at);
}
TILESCOPE_BARRIER void cp_async_bulk_shared_to_global(void* to, const void* from, unsigned bytes) {
    __asm__ volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
        "r"((unsigned)__cvta_generic_to_shared(from)), "r"(bytes)
        : "memory");
}

// A box of a tensor of so many dimensions, from the first of coordinates on.
#define TILESCOPE_BOX(DIM, COORDINATES, PLACES_IN, PLACES_OUT, ...)                                          \
    template <class Completion>                                                                              \
    TILESCOPE_BARRIER void cp_async_bulk_tensor_##DIM##d_global_to_shared(                                   \
        void* to, const void* map, TILESCOPE_UNPACK COORDINATES,                                             \
        barrier<thread_scope_block, Completion>& at) {                                                       \
        __asm__ volatile("cp.async.bulk.tensor." #DIM                                                        \
                         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" PLACES_IN \
                         "}], [%2];" ::"r"((unsigned)__cvta_generic_to_shared(to)),                          \
                         "l"(map), "r"(at.tilescope_at()), __VA_ARGS__                                       \
                         : "memory");                                                                        \
    }                                                                                                        \
    TILESCOPE_BARRIER void cp_async_bulk_tensor_##DIM##d_shared_to_global(                                   \
        const void* map, TILESCOPE_UNPACK COORDINATES, const void* from) {                                   \
        __asm__ volatile("cp.async.bulk.tensor." #DIM                                                        \
                         "d.global.shared::cta.tile.bulk_group [%0, {" PLACES_OUT "}], [%1];" ::"l"(map),    \
                         "r"((unsigned)__cvta_generic_to_shared(from)), __VA_ARGS__                          \
                         : "memory");                                                                        \
    }
#define TILESCOPE_UNPACK(...) __VA_ARGS__
TILESCOPE_BOX(1, (int c0), "%3", "%2", "r"(c0))
TILESCOPE_BOX(2, (int c0, int c1), "%3, %4", "%2, %3", "r"(c0), "r"(c1))
TILESCOPE_BOX(3, (int c0, int c1, int c2), "%3, %4, %5", "%2, %3, %4", "r"(c0), "r"(c1), "r"(c2))
TILESCOPE_BOX(4, (int c0, int c1, int c2, int c3), "%3, %4, %5, %6", "%2, %3, %4, %5", "r"(c0), "r"(c1),
              "r"(c2), "r"(c3))
TILESCOPE_BOX(5, (int c0, int c1, int c2, int c3, int c4), "%3, %4, %5, %6, %7", "%2, %3, %4, %5, %6",
              "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4))
#undef TILESCOPE_UNPACK
#undef TILESCOPE_BOX

}  // namespace experimental
}  // namespace device
}  // namespace cuda
