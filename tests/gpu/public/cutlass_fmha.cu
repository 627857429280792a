// CUTLASS's attention for Hopper (its example 88), heads of 64 in half precision: rows and heads as arguments.
//
//     nvcc -DSCHEDULE=KernelTmaWarpSpecializedPingpong ... -I CUTLASS/include -I CUTLASS/examples cutlass_fmha.cu
#include "88_hopper_fmha/collective/fmha_fusion.hpp"
#include "88_hopper_fmha/device/device_universal.hpp"
#include "88_hopper_fmha/kernel/fmha_kernel_builder.hpp"
#include "check.h"

#ifndef TILE_Q
#define TILE_Q 128
#endif
#ifndef TILE_K
#define TILE_K 64
#endif
#ifndef FUSION
#define FUSION DefaultFusion
#endif

using namespace cute;
using Element = cutlass::half_t;
using Stride4 = cute::tuple<int, _1, cute::tuple<int, int>>;  // row, column, (batch, head)
using Operation = cutlass::device::Universal<typename cutlass::fmha::kernel::FmhaBuilder<
    Element, float, float, Shape<Int<TILE_Q>, Int<TILE_K>, _64>, Stride4, Stride4, Stride4,
    cutlass::fmha::collective::FUSION, cutlass::gemm::SCHEDULE>::Kernel>;

constexpr auto kSuccess = cutlass::Status::kSuccess;

int main(int argc, char** argv) {
    constexpr int d = 64;
    constexpr bool causal =
        cute::is_same_v<cutlass::fmha::collective::FUSION, cutlass::fmha::collective::CausalFusion>;
    const int n = check::number(argc, argv, 1, 256), heads = check::number(argc, argv, 2, 2);
    const size_t size = size_t(heads) * n * d;
    const auto q = check::random_multiples(size, 1), k = check::random_multiples(size, 2),
               v = check::random_multiples(size, 3);
    Element* const o = check::zeros_on_device<Element>(size);
    float* const sums = check::zeros_on_device<float>(size_t(heads) * n);
    const auto stride = make_stride(d, _1{}, make_stride(heads * n * d, n * d));
    const auto stride_sums = make_stride(_1{}, make_stride(heads * n, n));
    cutlass::KernelHardwareInfo hardware;
    hardware.sm_count = 2;
    typename Operation::Arguments arguments{
        cute::tuple<int, int, int, int, int>{1, heads, n, n, d},
        {check::on_device(check::as<Element>(q)), stride, check::on_device(check::as<Element>(k)), stride,
         check::on_device(check::as<Element>(v)), stride},
        {o, stride, sums, stride_sums},
        hardware};
    Operation operation;
    check::must(operation.can_implement(arguments) == kSuccess, "can_implement");
    check::must(
        operation.initialize(arguments, check::zeros_on_device<uint8_t>(
                                            Operation::get_workspace_size(arguments) + 1)) == kSuccess,
        "initialize");
    check::must(operation.run() == kSuccess, "run");
    return check::verdict(argv[0], check::from_device(o, size),
                          check::attention(q, k, v, heads, n, d, causal), check::kHalf, 2);
}
