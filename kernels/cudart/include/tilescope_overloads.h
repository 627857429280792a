// Overloads for float that clang's headers declare and leave to the toolkit to define: erf(float) is erff, ...
#pragma once

#define TILESCOPE_OVERLOAD_1(R, name) \
    TILESCOPE_DEVICE R name(float x) { return name##f(x); }
#define TILESCOPE_OVERLOAD_2(name, B) \
    TILESCOPE_DEVICE float name(float x, B y) { return name##f(x, y); }
TILESCOPE_OVERLOAD_1(float, acosh)
TILESCOPE_OVERLOAD_1(float, asinh)
TILESCOPE_OVERLOAD_1(float, atanh)
TILESCOPE_OVERLOAD_1(float, cbrt)
TILESCOPE_OVERLOAD_1(float, erf)
TILESCOPE_OVERLOAD_1(float, erfc)
TILESCOPE_OVERLOAD_1(float, exp2)
TILESCOPE_OVERLOAD_1(float, expm1)
TILESCOPE_OVERLOAD_1(float, lgamma)
TILESCOPE_OVERLOAD_1(float, log1p)
TILESCOPE_OVERLOAD_1(float, log2)
TILESCOPE_OVERLOAD_1(float, logb)
TILESCOPE_OVERLOAD_1(float, nearbyint)
TILESCOPE_OVERLOAD_1(float, rint)
TILESCOPE_OVERLOAD_1(float, round)
TILESCOPE_OVERLOAD_1(float, tgamma)
TILESCOPE_OVERLOAD_1(float, trunc)
TILESCOPE_OVERLOAD_1(int, ilogb)
TILESCOPE_OVERLOAD_1(long long, llrint)
TILESCOPE_OVERLOAD_1(long long, llround)
TILESCOPE_OVERLOAD_1(long, lrint)
TILESCOPE_OVERLOAD_1(long, lround)
TILESCOPE_OVERLOAD_2(copysign, float)
TILESCOPE_OVERLOAD_2(fdim, float)
TILESCOPE_OVERLOAD_2(fmax, float)
TILESCOPE_OVERLOAD_2(fmin, float)
TILESCOPE_OVERLOAD_2(hypot, float)
TILESCOPE_OVERLOAD_2(nextafter, float)
TILESCOPE_OVERLOAD_2(remainder, float)
TILESCOPE_OVERLOAD_2(scalbln, long)
TILESCOPE_OVERLOAD_2(scalbn, int)
#undef TILESCOPE_OVERLOAD_1
#undef TILESCOPE_OVERLOAD_2
TILESCOPE_DEVICE float fma(float x, float y, float z) { return __nv_fmaf(x, y, z); }
TILESCOPE_DEVICE double nan(const char*) { return __builtin_nan(""); }
TILESCOPE_DEVICE float nanf(const char*) { return __builtin_nanf(""); }
// tanh.approx needs sm_75; what is right to the last bits serves on all.
TILESCOPE_DEVICE float __tanhf(float x) { return tanhf(x); }
