// libstdc++'s own, which says __attribute__((__noinline__)): that word is a macro in CUDA (host_defines.h).
#pragma GCC system_header
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <experimental/bits/simd_detail.h>
#pragma pop_macro("__noinline__")
