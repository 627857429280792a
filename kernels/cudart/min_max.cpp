// CUDA's min and max of host code as functions, for a program that declares them and leaves it to NVIDIA's headers to
// define them.
#define TILESCOPE_MIN_MAX(A, B, R, LEAST, MOST)                             \
    R min(A a, B b);                                                        \
    R max(A a, B b);                                                        \
    R min(A a, B b) { return LEAST(static_cast<R>(a), static_cast<R>(b)); } \
    R max(A a, B b) { return MOST(static_cast<R>(a), static_cast<R>(b)); }
#include "kernels/cudart/include/tilescope_min_max.inl"
