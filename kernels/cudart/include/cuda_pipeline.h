// Copies from global to shared memory that a thread asks for and waits for: cp.async.
//
// Source: CUDA C++ Programming Guide, "Pipeline Primitives Interface"; PTX ISA, "cp.async".
#pragma once

#include "cuda_runtime.h"

#define TILESCOPE_PIPELINE static __device__ __inline__ __attribute__((always_inline, nodebug))
#define TILESCOPE_COPY(kind, bytes)                                                                        \
    do {                                                                                                   \
        if (zeros == 0)                                                                                    \
            __asm__ volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes ";" ::"r"(address),     \
                             "l"(from)                                                                     \
                             : "memory");                                                                  \
        else                                                                                               \
            __asm__ volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes ", %2;" ::"r"(address), \
                             "l"(from), "r"(read)                                                          \
                             : "memory");                                                                  \
    } while (0)
#define TILESCOPE_WAIT(groups) __asm__ volatile("cp.async.wait_group " #groups ";" ::: "memory")

// 4, 8 or 16 bytes, the address of which is a multiple of as many; the last `zeros` of them become 0.
TILESCOPE_PIPELINE void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
    const unsigned address = (unsigned)__cvta_generic_to_shared(to);
    const unsigned read = (unsigned)(bytes - zeros);
    if (bytes == 16)
        TILESCOPE_COPY("cg", 16);
    else if (bytes == 8)
        TILESCOPE_COPY("ca", 8);
    else if (bytes == 4)
        TILESCOPE_COPY("ca", 4);
    else
        __builtin_trap();
}
TILESCOPE_PIPELINE void __pipeline_commit() { __asm__ volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all groups but the latest `groups`, of which it leaves 8 at most.
TILESCOPE_PIPELINE void __pipeline_wait_prior(size_t groups) {
    switch (groups) {
        case 0:
            TILESCOPE_WAIT(0);
            break;
        case 1:
            TILESCOPE_WAIT(1);
            break;
        case 2:
            TILESCOPE_WAIT(2);
            break;
        case 3:
            TILESCOPE_WAIT(3);
            break;
        case 4:
            TILESCOPE_WAIT(4);
            break;
        case 5:
            TILESCOPE_WAIT(5);
            break;
        case 6:
            TILESCOPE_WAIT(6);
            break;
        case 7:
            TILESCOPE_WAIT(7);
            break;
        default:
            TILESCOPE_WAIT(8);
            break;
    }
}
#undef TILESCOPE_WAIT
#undef TILESCOPE_COPY
#undef TILESCOPE_PIPELINE
