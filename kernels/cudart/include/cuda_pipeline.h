// Copies from global to shared memory that other work may overtake, as copies that have ended when they return.
//
// Source: CUDA C++ Programming Guide, "Pipeline Primitives Interface".
#pragma once

#include "cuda_runtime.h"

#define TILESCOPE_PIPELINE static __device__ __inline__ __attribute__((always_inline, nodebug))
// 4, 8 or 16 bytes; the last `zeros` of them become 0.
TILESCOPE_PIPELINE void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
    const size_t words = (bytes - zeros) / 4;
    if (bytes == 16 && zeros == 0) {
        *(uint4*)to = *(const uint4*)from;
    } else if (bytes == 8 && zeros == 0) {
        *(uint2*)to = *(const uint2*)from;
    } else {
        for (size_t word = 0; word < bytes / 4; ++word)
            ((unsigned*)to)[word] = word < words ? ((const unsigned*)from)[word] : 0;
    }
}
TILESCOPE_PIPELINE void __pipeline_commit() {}
TILESCOPE_PIPELINE void __pipeline_wait_prior(size_t) { __asm__ volatile("" ::: "memory"); }
#undef TILESCOPE_PIPELINE
