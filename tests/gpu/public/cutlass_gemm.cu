// A product of CUTLASS 3 for Hopper, D = A B + C, put together by its collective builders: M N K and the number of SMs that
// it is to think of as arguments.
//
//     nvcc -DMAINLOOP=KernelTmaWarpSpecializedPingpong -DCLUSTER_M=2 ... -I CUTLASS/include cutlass_gemm.cu
//
// Few SMs and more tiles than these let a block of a persistent kernel walk several tiles. The macros below are the
// choices; programs.txt has those that are built.
#include "check.h"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/epilogue/fusion/operations.hpp"
#include "cutlass/epilogue/thread/activation.h"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/gemm/kernel/tile_scheduler.hpp"
#include "cutlass/util/packed_stride.hpp"

#ifndef MAINLOOP
#define MAINLOOP KernelTmaWarpSpecialized
#endif
#ifndef EPILOGUE
#define EPILOGUE TmaWarpSpecialized
#endif
#ifndef SCHEDULER
#define SCHEDULER void
#endif
#ifndef TILE_M
#define TILE_M 128
#endif
#ifndef TILE_K
#define TILE_K 64
#endif
#ifndef CLUSTER_M
#define CLUSTER_M 1
#endif
#ifndef ELEMENT_A
#define ELEMENT_A cutlass::half_t
#endif
#ifndef ELEMENT_B
#define ELEMENT_B ELEMENT_A
#endif
#ifndef ELEMENT_D
#define ELEMENT_D cutlass::half_t
#endif
#ifndef ACCUMULATOR
#define ACCUMULATOR float
#endif
#ifndef LAYOUT_A
#define LAYOUT_A RowMajor
#endif
#ifndef LAYOUT_B
#define LAYOUT_B ColumnMajor
#endif
#ifndef STEP  // between the values of the inputs
#define STEP 0.125f
#endif
#ifndef EPSILON  // of D's type
#define EPSILON check::kHalf
#endif

using namespace cute;
using ElementA = ELEMENT_A;
using ElementB = ELEMENT_B;
using ElementD = ELEMENT_D;
using LayoutA = cutlass::layout::LAYOUT_A;
using LayoutB = cutlass::layout::LAYOUT_B;
using Row = cutlass::layout::RowMajor;
using BlockTile = Shape<Int<TILE_M>, _128, Int<TILE_K>>;
using BlockCluster = Shape<Int<CLUSTER_M>, _1, _1>;
template <class T>
constexpr int kAlignment = 16 / sizeof(T);

#ifdef BIAS_RELU  // a tree of epilogue visitors: relu(A B + C + a bias for each row)
using Fusion = cutlass::epilogue::fusion::LinCombPerRowBiasEltAct<cutlass::epilogue::thread::ReLu, ElementD,
                                                                  float, ElementD>;
#else
using Fusion = cutlass::epilogue::fusion::LinearCombination<ElementD, float>;
#endif
using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, BlockTile, BlockCluster,
    cutlass::epilogue::collective::EpilogueTileAuto, ACCUMULATOR, float, ElementD, Row, kAlignment<ElementD>,
    ElementD, Row, kAlignment<ElementD>, cutlass::epilogue::EPILOGUE, Fusion>::CollectiveOp;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, ElementA, LayoutA, kAlignment<ElementA>, ElementB,
    LayoutB, kAlignment<ElementB>, ACCUMULATOR, BlockTile, BlockCluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>,
    cutlass::gemm::MAINLOOP>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue, SCHEDULER>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

constexpr auto kSuccess = cutlass::Status::kSuccess;

int main(int argc, char** argv) {
    const int m = check::number(argc, argv, 1, 512), n = check::number(argc, argv, 2, 256);
    const int k = check::number(argc, argv, 3, 256), sms = check::number(argc, argv, 4, 4);
    const auto a = check::random_multiples(size_t(m) * k, 1, STEP),
               b = check::random_multiples(size_t(n) * k, 2, STEP);
    const auto c = check::random_multiples(size_t(m) * n, 3, STEP),
               bias = check::random_multiples(m, 4, STEP);
    const bool a_by_rows = cute::is_same_v<LayoutA, Row>, b_by_rows = cute::is_same_v<LayoutB, Row>;
    ElementA* const da = check::on_device(check::as<ElementA>(a_by_rows ? a : check::transposed(a, m, k)));
    ElementB* const db = check::on_device(check::as<ElementB>(b_by_rows ? check::transposed(b, n, k) : b));
    ElementD* const dc = check::on_device(check::as<ElementD>(c));
    ElementD* const dd = check::zeros_on_device<ElementD>(size_t(m) * n);

    const auto stride_a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, make_shape(m, k, 1));
    const auto stride_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, make_shape(n, k, 1));
    const auto stride_d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, make_shape(m, n, 1));
    cutlass::KernelHardwareInfo hardware;
    hardware.sm_count = sms;
    typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                       {m, n, k, 1},
                                       {da, stride_a, db, stride_b},
                                       {{}, dc, stride_d, dd, stride_d},
                                       hardware};
    arguments.epilogue.thread.alpha = 1;
    arguments.epilogue.thread.beta = 1;
#ifdef BIAS_RELU
    arguments.epilogue.thread.bias_ptr = check::on_device(check::as<ElementD>(bias));
#endif
#ifdef DECOMPOSITION
    using Parameters = cutlass::gemm::kernel::detail::PersistentTileSchedulerSm90StreamKParams;
    arguments.scheduler.decomposition_mode = Parameters::DecompositionMode::DECOMPOSITION;
#endif
    Gemm gemm;
    check::must(gemm.can_implement(arguments) == kSuccess, "can_implement");
    check::must(gemm.initialize(arguments, check::zeros_on_device<uint8_t>(
                                               Gemm::get_workspace_size(arguments) + 1)) == kSuccess,
                "initialize");
    check::must(gemm.run() == kSuccess, "run");

    auto expected = check::product(a, b, m, n, k);
    for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] += c[i];
#ifdef BIAS_RELU
        expected[i] = std::fmax(0.0f, expected[i] + bias[i / n]);
#endif
    }
    return check::verdict(argv[0], check::from_device(dd, size_t(m) * n), expected, EPSILON, 0.5);
}
