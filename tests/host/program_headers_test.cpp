// Every header of NVIDIA's toolkit is there, passes on what another one has, or is named in a sentence.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "core/base/shell_words.h"
#include "kernels/program/cache.h"
#include "kernels/program/complaint.h"

namespace tilescope::program {
namespace {

// The toolkit's folder include (CUDA 13.0 with its libraries), and names that older ones had.
constexpr std::string_view kToolkit =
    "builtin_types.h channel_descriptor.h common_functions.h cooperative_groups.h "
    "cooperative_groups/memcpy_async.h "
    "cooperative_groups/reduce.h cooperative_groups/scan.h crt/common_functions.h "
    "crt/device_double_functions.h "
    "crt/device_functions.h crt/host_config.h crt/host_defines.h crt/math_functions.h crt/mma.h "
    "crt/sm_70_rt.h "
    "crt/sm_80_rt.h crt/sm_90_rt.h cub/cub.cuh cuComplex.h cublas.h cublasLt.h cublasXt.h cublas_api.h "
    "cublas_v2.h "
    "cuda.h cudaEGL.h cudaEGLTypedefs.h cudaGL.h cudaGLTypedefs.h cudaProfiler.h cudaProfilerTypedefs.h "
    "cudaTypedefs.h cudaVDPAU.h cudaVDPAUTypedefs.h cuda/atomic cuda/barrier cuda/pipeline cuda/std/atomic "
    "cuda_awbarrier.h cuda_awbarrier_helpers.h cuda_awbarrier_primitives.h cuda_bf16.h cuda_bf16.hpp "
    "cuda_device_runtime_api.h cuda_egl_interop.h cuda_fp16.h cuda_fp16.hpp cuda_fp4.h cuda_fp4.hpp "
    "cuda_fp6.h "
    "cuda_fp6.hpp cuda_fp8.h cuda_fp8.hpp cuda_gl_interop.h cuda_occupancy.h cuda_pipeline.h "
    "cuda_pipeline_helpers.h "
    "cuda_pipeline_primitives.h cuda_profiler_api.h cuda_runtime.h cuda_runtime_api.h cuda_stdint.h "
    "cuda_surface_types.h cuda_texture_types.h cuda_vdpau_interop.h cudalibxt.h cudart_platform.h cudnn.h "
    "cudnn_version.h cufft.h cufftXt.h cufftw.h cupti.h cupti_activity.h curand.h curand_discrete.h "
    "curand_discrete2.h "
    "curand_globals.h curand_kernel.h curand_lognormal.h curand_mrg32k3a.h curand_mtgp32.h "
    "curand_mtgp32_host.h "
    "curand_mtgp32_kernel.h curand_mtgp32dc_p_11213.h curand_normal.h curand_normal_static.h "
    "curand_philox4x32_x.h "
    "curand_poisson.h curand_precalc.h curand_uniform.h cusolverDn.h cusolverMg.h cusolverRf.h cusolverSp.h "
    "cusolver_common.h cusparse.h cusparse_v2.h cutlass/cutlass.h device_atomic_functions.h "
    "device_atomic_functions.hpp device_double_functions.h device_functions.h device_launch_parameters.h "
    "device_types.h driver_functions.h driver_types.h fatbinary_section.h generated_cuda_meta.h "
    "host_config.h "
    "host_defines.h library_types.h math_constants.h math_functions.h math_functions.hpp mma.h mpi.h nccl.h "
    "npp.h "
    "nppi.h nv/target nvJitLink.h nvPTXCompiler.h nvToolsExt.h nvToolsExtCuda.h nvToolsExtCudaRt.h "
    "nv_decode.h "
    "nvblas.h nvgraph.h nvjpeg.h nvml.h nvperf_host.h nvrtc.h nvshmem.h nvtx3/nvToolsExt.h "
    "nvtx3/nvToolsExtCuda.h "
    "nvtx3/nvToolsExtCudaRt.h nvtx3/nvToolsExtSync.h nvtx3/nvtx3.hpp nvvm.h sm_20_atomic_functions.h "
    "sm_20_atomic_functions.hpp sm_20_intrinsics.h sm_20_intrinsics.hpp sm_30_intrinsics.h "
    "sm_30_intrinsics.hpp "
    "sm_32_atomic_functions.h sm_32_atomic_functions.hpp sm_32_intrinsics.h sm_32_intrinsics.hpp "
    "sm_35_atomic_functions.h sm_35_intrinsics.h sm_60_atomic_functions.h sm_60_atomic_functions.hpp "
    "sm_61_intrinsics.h sm_61_intrinsics.hpp surface_functions.h surface_indirect_functions.h "
    "surface_types.h "
    "texture_fetch_functions.h texture_indirect_functions.h texture_types.h thrust/device_vector.h "
    "thrust/host_vector.h vector_functions.h vector_functions.hpp vector_types.h";

TEST(ProgramHeaders, TheToolkitsAreThereOrNamed) {
    const auto folder = headers_folder();
    ASSERT_TRUE(folder);
    for (const std::string& name : shell_words(kToolkit, Backslash::Plain).words) {
        if (std::filesystem::is_regular_file(*folder / name)) continue;
        const std::string said = missing_call("a.cu:1:10: fatal error: '" + name + "' file not found");
        EXPECT_NE(said.find(name), std::string::npos) << name;
    }
    for (const char* name : {"cublas_v2.h", "curand.h", "curand_kernel.h", "nvToolsExt.h", "mma.h",
                             "cuda_fp8.h", "device_types.h", "cuda_profiler_api.h"})
        EXPECT_TRUE(std::filesystem::is_regular_file(*folder / name)) << name;
}

TEST(ProgramHeaders, WhatIsMissingIsCalledByItsName) {
    const auto said = [](const std::string& name) {
        return missing_call("a.cu:1:10: fatal error: '" + name + "' file not found");
    };
    EXPECT_EQ(said("cufft.h"), "the program includes cufft.h, and cuFFT is not part of Tilescope's runtime");
    EXPECT_NE(said("nccl.h").find("NCCL"), std::string::npos);
    EXPECT_NE(said("mpi.h").find("MPI"), std::string::npos);
    EXPECT_NE(said("cusolverDn.h").find("cuSOLVER"), std::string::npos);
    EXPECT_NE(said("cublasLt.h").find("cuBLASLt"), std::string::npos);
    EXPECT_EQ(said("thrust/sort.h"),
              "the program includes thrust/sort.h, which the package libthrust-dev has; install it with apt");
    EXPECT_EQ(
        missing_call("a.ll:9:47: error: call to void f() declared with 'error' attribute: this is why\n"),
        "this is why");
}

}  // namespace
}  // namespace tilescope::program
