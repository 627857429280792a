// One of fast.cu's products of bfloat16 matrices, C = A B: M x N x K as arguments, or the smallest that it is right for.
//
//     nvcc -DKERNEL=2 ... -I FAST fast.cu -lcuda
//
// A is by rows, B and C are by columns. Kernels 6 to 12 walk the tiles by a schedule made for 16 x 8 of them, and launch
// 128 blocks for it. With NDEBUG, which leaves out its assertion, two rows of eight tiles are covered as well; but where
// a block of a cluster finds no tile, it may end before the other one has arrived at its barriers.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda/barrier>
#include <cudaTypedefs.h>

#include "check.h"

using bf16 = __nv_bfloat16;
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
#define cudaCheck(call) check::must(call, #call)

#define TEXT_OF(x) #x
// clang-format off
#define HEADER_OF(n) TEXT_OF(examples/matmul/matmul_##n.cuh)
// clang-format on
#define HEADER(n) HEADER_OF(n)
#define RUN_OF(n) runKernel##n
#define RUN(n) RUN_OF(n)
#include HEADER(KERNEL)

int main(int argc, char** argv) {
    constexpr bool scheduled = KERNEL >= 6, clusters = KERNEL >= 8;
    const int m = check::number(argc, argv, 1, clusters ? 2048 : 256);
    const int n = check::number(argc, argv, 2, scheduled ? 2048 : 256);
    const int k = check::number(argc, argv, 3, KERNEL == 2 ? 256 : KERNEL <= 4 ? 128 : clusters ? 256 : 512);
    const auto a = check::random_multiples(size_t(m) * k, 1), b = check::random_multiples(size_t(n) * k, 2);
    bf16* const da = check::on_device(check::as<bf16>(a));
    bf16* const db = check::on_device(check::as<bf16>(b));
    bf16* const dc = check::zeros_on_device<bf16>(size_t(m) * n);
#if KERNEL == 2
    RUN(KERNEL)(m, n, k, da, db, dc);
#else
    RUN(KERNEL)(m, n, k, da, db, dc, nullptr);
#endif
    return check::verdict(argv[0], check::from_device(dc, size_t(m) * n), check::product(b, a, n, m, k),
                          check::kBf16, 0.5);
}
