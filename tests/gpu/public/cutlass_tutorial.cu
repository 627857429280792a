// CuTe's tutorials for Hopper, C = A B in half precision: M N K as arguments.
//
//     nvcc -DSOURCE=cute/tutorial/hopper/wgmma_tma_sm90.cu -DBY_ROWS=1 ... -I CUTLASS/include -I CUTLASS/examples cutlass_tutorial.cu -lcuda
//
// SOURCE is the tutorial, whose main gets another name. With BY_ROWS A's rows and B's columns are
// contiguous, and without it A's columns and B's rows.
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define main its_own_main
#include TEXT(SOURCE)
#undef main

#include "check.h"

int main(int argc, char** argv) {
    const int m = check::number(argc, argv, 1, 256), n = check::number(argc, argv, 2, 256),
              k = check::number(argc, argv, 3, 256);
    const auto a = check::random_multiples(size_t(m) * k, 1, 1),
               b = check::random_multiples(size_t(n) * k, 2, 1);
    half_t* const dc = check::zeros_on_device<half_t>(size_t(m) * n);
    const half_t one(1.0f), zero(0.0f);
#if BY_ROWS
    gemm_tn(m, n, k, one, check::on_device(check::as<half_t>(a)), k, check::on_device(check::as<half_t>(b)),
            k, zero, dc, m);
#else
    gemm_nt(m, n, k, one, check::on_device(check::as<half_t>(check::transposed(a, m, k))), m,
            check::on_device(check::as<half_t>(check::transposed(b, n, k))), n, zero, dc, m);
#endif
    return check::verdict(argv[0], check::from_device(dc, size_t(m) * n), check::product(b, a, n, m, k),
                          check::kHalf, 0.5);
}
