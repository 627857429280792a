// The lane functions for x86-64 processors with AVX2 and FMA. The standard headers come before the
// target is changed, so that nothing shared with other files is compiled for it.
#if defined(__x86_64__) && !defined(TILESCOPE_PORTABLE_LANES)
#include "core/simt/lanes_includes.h"

#define TILESCOPE_LANES avx2
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,popcnt")
#endif

#include "core/simt/lanes_find.inl"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
