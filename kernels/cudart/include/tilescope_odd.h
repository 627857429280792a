// Numbers rounded to a float, or a sum to a double, so that the last bit is 1 unless the result is exact: what is rounded
// again, to fewer bits, is then rounded as the number itself (S. Boldo and G. Melquiond, "When double rounding is odd", 2004).
#pragma once

#include "cuda_runtime.h"

#define TILESCOPE_ODD static __inline__ __host__ __device__

TILESCOPE_ODD float tilescope_odd_float(double value) {
    float near = (float)value;
    unsigned int bits;
    __builtin_memcpy(&bits, &near, 4);
    if (value != value || (double)near == value || (bits & 1u)) return near;
    // An even neighbour; the odd one on the other side of the number.
    bits = (near < 0 ? -(double)near : (double)near) > (value < 0 ? -value : value) ? bits - 1 : bits + 1;
    __builtin_memcpy(&near, &bits, 4);
    return near;
}
TILESCOPE_ODD float tilescope_odd_size(unsigned long long size) {
    unsigned long long lost = 0;
    float unit = 1;
    for (; size >= 1ull << 24; size >>= 1, unit *= 2) lost |= size & 1;
    return (float)(size | lost) * unit;
}
template <class T>
TILESCOPE_ODD float tilescope_odd_integer(T value) {
    return value < 0 ? -tilescope_odd_size(0ull - (unsigned long long)value) : tilescope_odd_size((unsigned long long)value);
}
// a + b; the error of the nearest sum is exact by D. Knuth's TwoSum.
TILESCOPE_ODD float tilescope_odd_sum(double a, double b) {
    double sum = a + b;
    const double of_b = sum - a, error = (a - (sum - of_b)) + (b - of_b);
    unsigned long long bits;
    __builtin_memcpy(&bits, &sum, 8);
    if (error != 0 && error == error && !(bits & 1)) {
        bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
        __builtin_memcpy(&sum, &bits, 8);
    }
    return tilescope_odd_float(sum);
}
// The bits of one as another of the same size.
template <class To, class From>
TILESCOPE_ODD To tilescope_as(From from) {
    To made;
    static_assert(sizeof made == sizeof from, "of the same size");
    __builtin_memcpy(&made, &from, sizeof made);
    return made;
}
// Not a number: 0, or of 64 bits the largest one alone. Source: PTX ISA, "cvt".
template <class T>
TILESCOPE_ODD T tilescope_to_integer(float value, T least, T most) {
    if (value != value) return sizeof(T) < 8 ? (T)0 : (T)(1ull << 63);
    return value >= (float)most ? most : value <= (float)least ? least : (T)value;
}
