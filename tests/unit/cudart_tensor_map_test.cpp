// Tensor maps as programs make them: found by name, checked, and read again from their bytes.
#include <cstring>

#include "core/ptx/tensor_map.h"
#include "kernels/cudart/include/cudaTypedefs.h"
#include "tests/unit/cudart_program.h"

namespace tilescope::cudart::test {
namespace {

ptx::TensorMapBytes bytes_of(const CUtensorMap& map) {
    ptx::TensorMapBytes bytes;
    std::memcpy(bytes.data(), &map, sizeof map);
    return bytes;
}

TEST(CudartTensorMap, IsMadeByTheFunctionThatIsFoundByName) {
    expect_program([] {
        PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
        cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
        EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000,
                                                   cudaEnableDefault, &status),
                  cudaSuccess);
        EXPECT_EQ(status, cudaDriverEntryPointSuccess);
        void* again = nullptr;
        EXPECT_EQ(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &again, cudaEnableDefault), cudaSuccess);
        EXPECT_EQ(again, (void*)encode);
        PFN_cuGetProcAddress find = nullptr;
        EXPECT_EQ(cudaGetDriverEntryPoint("cuGetProcAddress", (void**)&find, cudaEnableDefault), cudaSuccess);
        CUdriverProcAddressQueryResult found;
        EXPECT_EQ(find("cuTensorMapEncodeTiled", &again, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found),
                  CUDA_SUCCESS);
        EXPECT_EQ(again, (void*)encode);
        float* const start = allocate<float>(64 * 32);
        const cuuint64_t extents[] = {64, 32}, strides[] = {256};
        const cuuint32_t box[] = {32, 8}, steps[] = {1, 2};
        CUtensorMap map;
        EXPECT_EQ(
            encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, start, extents, strides, box, steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA),
            CUDA_SUCCESS);
        const auto read = ptx::decode(bytes_of(map));
        ASSERT_TRUE(read);
        ptx::TensorMap expected;
        expected.type = ptx::TensorType::F32, expected.rank = 2,
        expected.address = reinterpret_cast<uintptr_t>(start);
        expected.extent = {64, 32}, expected.stride = {256}, expected.box = {32, 8},
        expected.element_stride = {1, 2, 1, 1, 1};
        expected.swizzle = ptx::Swizzle::B128, expected.l2_promotion = 2, expected.fills_with_nan = true;
        EXPECT_EQ(*read, expected);
        EXPECT_EQ(cuTensorMapReplaceAddress(&map, start + 64), CUDA_SUCCESS);
        expected.address += 256;
        EXPECT_EQ(ptx::decode(bytes_of(map)), expected);
    });
}

TEST(CudartTensorMap, OfImagesHasCorners) {
    expect_program([] {
        const cuuint64_t extents[] = {64, 9, 8, 2}, strides[] = {128, 1152, 9216};
        const int lower[] = {-1, -2}, upper[] = {1, -1};
        const cuuint32_t steps[] = {1, 2, 1, 1};
        CUtensorMap map;
        EXPECT_EQ(
            cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, allocate<short>(64 * 9 * 8 * 2),
                                    extents, strides, lower, upper, 64, 128, steps,
                                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_SUCCESS);
        const auto read = ptx::decode(bytes_of(map));
        ASSERT_TRUE(read);
        EXPECT_TRUE(read->im2col);
        EXPECT_EQ(read->lower_corner, (std::array<int32_t, 3>{-1, -2, 0}));
        EXPECT_EQ(read->upper_corner, (std::array<int32_t, 3>{1, -1, 0}));
        EXPECT_EQ(read->channels, 64u);
        EXPECT_EQ(read->pixels, 128u);
    });
}

TEST(CudartTensorMap, WhatTheDriverRefusesIsSaidAndRefused) {
    expect_program([] {
        struct alignas(64) {
            CUtensorMap map;
            CUtensorMap next;
        } maps;
        const auto encode = [&](void* to, uint64_t row, uint32_t width, int swizzle, bool give_box = true) {
            const cuuint64_t extents[] = {64, 32}, strides[] = {row};
            const cuuint32_t box[] = {width, 8}, steps[] = {1, 1};
            return cuTensorMapEncodeTiled(static_cast<CUtensorMap*>(to), CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2,
                                          reinterpret_cast<void*>(0x10000), extents, strides,
                                          give_box ? box : nullptr, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                          static_cast<CUtensorMapSwizzle>(swizzle),
                                          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        };
        EXPECT_EQ(encode(&maps.map, 128, 64, 3), CUDA_SUCCESS);
        EXPECT_EQ(encode(&maps.map, 120, 64, 3), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(encode(&maps.map, 128, 64, 2), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(encode(&maps.map, 128, 4, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(encode(&maps.map, 128, 64, 4), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(encode(&maps.map, 128, 64, 99), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(encode(&maps.map, 128, 64, 3, false), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(encode(reinterpret_cast<char*>(&maps) + 16, 128, 64, 3), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(encode(nullptr, 128, 64, 3), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // the runtime knows nothing of the driver's errors
        void* function = &maps;
        cudaDriverEntryPointQueryResult status;
        EXPECT_EQ(cudaGetDriverEntryPoint("cuLaunchKernel", &function, 0, &status), cudaSuccess);
        EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
        EXPECT_EQ(function, nullptr);
        EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 11080, 0, &status),
                  cudaSuccess);
        EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
        const char* text = nullptr;
        EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
        EXPECT_STREQ(text, "invalid argument");
    });
}

}  // namespace
}  // namespace tilescope::cudart::test
