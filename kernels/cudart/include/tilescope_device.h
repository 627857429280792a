// Barriers, fences, dot products, min and max of device code, and those functions of CUDA's that host code may call too.
//
// Barriers and fences are written with a clobber of memory: clang 14 takes a static __shared__ variable for
// private to the function and moves its loads across the barrier's builtin. A barrier carries its line, so that
// one in each branch of a condition stays two: to clang 14 they would be the same instruction.
//
// Source: CUDA C++ Programming Guide, "Synchronization Functions", "Memory Fence Functions"; PTX ISA, 9.7.13
// (bar, bar.red, membar), 9.7.1 (dp4a, dp2a).
#pragma once

template <int line>
TILESCOPE_DEVICE void tilescope_syncthreads() {
    __asm__ volatile("bar.sync 0;" ::"n"(line) : "memory");
}
#define __syncthreads() tilescope_syncthreads<__LINE__>()
TILESCOPE_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) {
    __asm__ volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
#define TILESCOPE_VOTE(name, operation)                                       \
    TILESCOPE_DEVICE int name(int predicate) {                                \
        int r;                                                                \
        __asm__ volatile(                                                     \
            "{\n\t.reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\t"              \
            "bar.red." operation ".pred q, 0, p;\n\tselp.s32 %0, 1, 0, q;\n\t}" \
            : "=r"(r)                                                         \
            : "r"(predicate)                                                  \
            : "memory");                                                      \
        return r;                                                             \
    }
TILESCOPE_VOTE(__syncthreads_and, "and")
TILESCOPE_VOTE(__syncthreads_or, "or")
#undef TILESCOPE_VOTE
TILESCOPE_DEVICE int __syncthreads_count(int predicate) {
    int r;
    __asm__ volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\tbar.red.popc.u32 %0, 0, p;\n\t}"
                     : "=r"(r)
                     : "r"(predicate)
                     : "memory");
    return r;
}
TILESCOPE_DEVICE void __threadfence_block() { __asm__ volatile("membar.cta;" ::: "memory"); }
TILESCOPE_DEVICE void __threadfence() { __asm__ volatile("membar.gl;" ::: "memory"); }
TILESCOPE_DEVICE void __threadfence_system() { __asm__ volatile("membar.sys;" ::: "memory"); }

#define TILESCOPE_DOT(name, instruction, A, B, C, D)                                             \
    TILESCOPE_DEVICE D name(A a, B b, C c) {                                                     \
        D r;                                                                                     \
        __asm__(instruction " %0, %1, %2, %3;" : "=r"(r) : "r"(*(int*)&a), "r"(*(int*)&b), "r"(c)); \
        return r;                                                                                \
    }
TILESCOPE_DOT(__dp4a, "dp4a.s32.s32", int, int, int, int)
TILESCOPE_DOT(__dp4a, "dp4a.u32.u32", unsigned int, unsigned int, unsigned int, unsigned int)
TILESCOPE_DOT(__dp4a, "dp4a.s32.s32", char4, char4, int, int)
TILESCOPE_DOT(__dp4a, "dp4a.u32.u32", uchar4, uchar4, unsigned int, unsigned int)
TILESCOPE_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int, int)
TILESCOPE_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, unsigned int, unsigned int, unsigned int)
TILESCOPE_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int, int)
TILESCOPE_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, unsigned int, unsigned int, unsigned int)
#undef TILESCOPE_DOT

TILESCOPE_DEVICE unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
TILESCOPE_DEVICE unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
TILESCOPE_DEVICE unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
TILESCOPE_DEVICE unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
#define TILESCOPE_ADDRESS(name, space)                                        \
    TILESCOPE_DEVICE size_t __cvta_generic_to_##name(const void* p) {         \
        return (size_t)(const void __attribute__((address_space(space)))*)p;  \
    }                                                                         \
    TILESCOPE_DEVICE void* __cvta_##name##_to_generic(size_t p) {             \
        return (void*)(void __attribute__((address_space(space)))*)p;         \
    }
TILESCOPE_ADDRESS(global, 1)
TILESCOPE_ADDRESS(shared, 3)
TILESCOPE_ADDRESS(constant, 4)
TILESCOPE_ADDRESS(local, 5)
#undef TILESCOPE_ADDRESS
TILESCOPE_DEVICE unsigned int tilescope_lane() {
    unsigned int lane;
    __asm__("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// Loads and stores that say how caches are to be used: values are the same.
#define TILESCOPE_CACHED(name) \
    template <class T>         \
    TILESCOPE_DEVICE T name(const T* p) { return *p; }
#define TILESCOPE_STORED(name) \
    template <class T>         \
    TILESCOPE_DEVICE void name(T* p, T value) { *p = value; }
#if __clang_major__ < 22
TILESCOPE_CACHED(__ldca)
TILESCOPE_CACHED(__ldcg)
TILESCOPE_CACHED(__ldcs)
TILESCOPE_CACHED(__ldlu)
TILESCOPE_CACHED(__ldcv)
TILESCOPE_STORED(__stwb)
TILESCOPE_STORED(__stcg)
TILESCOPE_STORED(__stcs)
TILESCOPE_STORED(__stwt)
#endif
#undef TILESCOPE_CACHED
#undef TILESCOPE_STORED

TILESCOPE_DEVICE float saturate(float a) { return __nv_saturatef(a); }
TILESCOPE_DEVICE float rsqrt(float a) { return __nv_rsqrtf(a); }
TILESCOPE_DEVICE float rcbrt(float a) { return __nv_rcbrtf(a); }
TILESCOPE_DEVICE float sinpi(float a) { return __nv_sinpif(a); }
TILESCOPE_DEVICE float cospi(float a) { return __nv_cospif(a); }
TILESCOPE_DEVICE float normcdf(float a) { return __nv_normcdff(a); }

// --- on both sides: CUDA's min and max in the global namespace; templates, so that functions of the program's own with
// the same parameters are no second definitions, and are preferred. Those that a program declares and does not define are
// the runtime library's (min_max.cpp).

#define TILESCOPE_MIN_MAX(A, B, R, LEAST, MOST)                                                                   \
    template <int...> TILESCOPE_BOTH R min(A a, B b) { return LEAST((R)a, (R)b); }                                \
    template <int...> TILESCOPE_BOTH R max(A a, B b) { return MOST((R)a, (R)b); }
#define TILESCOPE_BOTH static __inline__ __attribute__((host, device, always_inline, nodebug, unused))
#include "tilescope_min_max.inl"

// What newer C libraries have themselves.
#if !defined(__GLIBC__) || __GLIBC__ < 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ < 41)
static __inline__ __host__ double sinpi(double a) { return std::sin(a * 3.14159265358979312); }
static __inline__ __host__ double cospi(double a) { return std::cos(a * 3.14159265358979312); }
static __inline__ __host__ float sinpif(float a) { return (float)sinpi((double)a); }
static __inline__ __host__ float cospif(float a) { return (float)cospi((double)a); }
#endif
#if !defined(__GLIBC__) || __GLIBC__ < 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ < 42)
static __inline__ __host__ double rsqrt(double a) { return 1.0 / std::sqrt(a); }
static __inline__ __host__ float rsqrtf(float a) { return (float)rsqrt((double)a); }
#endif
static __inline__ __host__ double normcdf(double a) { return 0.5 * std::erfc(-a * 0.70710678118654752); }
static __inline__ __host__ float normcdff(float a) { return (float)normcdf((double)a); }
