// Asked for by clang's __clang_cuda_intrinsics.h: __match_any_sync and __match_all_sync in terms of its
// functions for 32 and 64 bits.
//
// Source: CUDA C++ Programming Guide, "Warp Match Functions".
#pragma once

template <class T>
static __device__ __forceinline__ unsigned int __match_any_sync(unsigned int mask, T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_any_sync takes 4 or 8 bytes");
    if constexpr (sizeof(T) == 4) {
        unsigned int bits;
        __builtin_memcpy(&bits, &value, 4);
        return (unsigned int)__match32_any_sync(mask, bits);
    } else {
        unsigned long long bits;
        __builtin_memcpy(&bits, &value, 8);
        return (unsigned int)__match64_any_sync(mask, bits);
    }
}
template <class T>
static __device__ __forceinline__ unsigned int __match_all_sync(unsigned int mask, T value, int* all) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_all_sync takes 4 or 8 bytes");
    if constexpr (sizeof(T) == 4) {
        unsigned int bits;
        __builtin_memcpy(&bits, &value, 4);
        return (unsigned int)__match32_all_sync(mask, bits, all);
    } else {
        unsigned long long bits;
        __builtin_memcpy(&bits, &value, 8);
        return (unsigned int)__match64_all_sync(mask, bits, all);
    }
}
static __device__ __forceinline__ void __nanosleep(unsigned int ns) {
    __asm__ volatile("nanosleep.u32 %0;" ::"r"(ns));
}
