// Allocations, copies and sets, and what is refused of them.
#include <numeric>
#include <vector>

#include "tests/unit/cudart_program.h"

namespace tilescope::cudart::test {
namespace {

TEST(CudartMemory, CopiesThereAndBackInEveryDirection) {
    expect_program([] {
        std::vector<int> in(1000), out(1000);
        std::iota(in.begin(), in.end(), 1);
        int* const a = allocate<int>(1000);
        int* const b = allocate<int>(1000);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 256, 0u);
        EXPECT_EQ(cudaMemcpy(a, in.data(), 4000, cudaMemcpyHostToDevice), cudaSuccess);
        EXPECT_EQ(cudaMemcpy(b, a, 4000, cudaMemcpyDeviceToDevice), cudaSuccess);
        EXPECT_EQ(cudaMemcpy(out.data(), b, 4000, cudaMemcpyDefault), cudaSuccess);
        EXPECT_EQ(in, out);
        EXPECT_EQ(cudaMemset(b + 10, 0, 40), cudaSuccess);
        EXPECT_EQ(cudaMemcpyAsync(out.data(), b, 4000, cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
        EXPECT_EQ(out[9], 10);
        EXPECT_EQ(out[10], 0);
        EXPECT_EQ(out[19], 0);
        EXPECT_EQ(out[20], 21);
    });
}

TEST(CudartMemory, CopiesThatDoNotFitAreRefused) {
    const Ran ran = expect_program([] {
        std::vector<int> host(1000);
        int* const a = allocate<int>(999);
        EXPECT_EQ(cudaMemcpy(a, host.data(), 4000, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
        EXPECT_EQ(cudaMemcpy(host.data(), a + 1, 3996, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
        EXPECT_EQ(cudaMemcpy(host.data(), a, 100, static_cast<cudaMemcpyKind>(7)),
                  cudaErrorInvalidMemcpyDirection);
        EXPECT_EQ(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue) << "host memory";
        EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
        EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "such an error does not stay";
        EXPECT_EQ(cudaFree(a), cudaSuccess);
        EXPECT_EQ(cudaFree(a), cudaErrorInvalidValue) << "freed twice";
        EXPECT_EQ(cudaMemcpy(a, host.data(), 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
        EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
    });
    EXPECT_NE(ran.err.find("reaches 4 bytes behind the end of its destination's allocation of 3,996 bytes, "
                           "with 4,000 bytes"),
              std::string::npos)
        << ran.err;
    EXPECT_NE(ran.err.find("memory that was freed"), std::string::npos) << ran.err;
}

TEST(CudartMemory, RowsAndSlicesHaveAPitch) {
    expect_program([] {
        void* device = nullptr;
        size_t pitch = 0;
        EXPECT_EQ(cudaMallocPitch(&device, &pitch, 30, 4), cudaSuccess);
        EXPECT_GE(pitch, 30u);
        std::vector<char> in(40 * 4), out(40 * 4, 'x');
        std::iota(in.begin(), in.end(), char{0});
        EXPECT_EQ(cudaMemcpy2D(device, pitch, in.data(), 40, 30, 4, cudaMemcpyHostToDevice), cudaSuccess);
        EXPECT_EQ(cudaMemcpy2D(out.data(), 40, device, pitch, 30, 4, cudaMemcpyDeviceToHost), cudaSuccess);
        EXPECT_EQ(out[40 + 29], in[40 + 29]);
        EXPECT_EQ(out[40 + 30], 'x') << "between the rows nothing is written";
        EXPECT_EQ(cudaMemcpy2D(out.data(), 20, device, pitch, 30, 4, cudaMemcpyDeviceToHost),
                  cudaErrorInvalidPitchValue);
        EXPECT_EQ(cudaMemcpy2D(device, pitch, in.data(), 30, 30, 5, cudaMemcpyHostToDevice),
                  cudaErrorInvalidValue)
            << "a row too many";

        cudaPitchedPtr box{};
        EXPECT_EQ(cudaMalloc3D(&box, {20, 3, 2}), cudaSuccess);
        EXPECT_EQ(cudaMemset3D(box, 7, {20, 3, 2}), cudaSuccess);
        std::vector<char> slices(20 * 3 * 2);
        cudaMemcpy3DParms copy{};
        copy.srcPtr = box;
        copy.dstPtr = {slices.data(), 20, 20, 3};
        copy.extent = {10, 3, 2};
        copy.srcPos = {5, 0, 0};
        copy.kind = cudaMemcpyDeviceToHost;
        EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
        EXPECT_EQ(slices[60 + 9], 7);
        EXPECT_EQ(slices[60 + 10], 0);
    });
}

TEST(CudartMemory, HostMemoryThatTheDeviceSees) {
    expect_program([] {
        void *managed = nullptr, *pinned = nullptr, *same = nullptr;
        EXPECT_EQ(cudaMallocManaged(&managed, 64), cudaSuccess);
        EXPECT_EQ(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped), cudaSuccess);
        static_cast<int*>(managed)[3] = 4;
        EXPECT_EQ(cudaHostGetDevicePointer(&same, pinned, 0), cudaSuccess);
        EXPECT_EQ(same, pinned);
        cudaPointerAttributes attributes{};
        EXPECT_EQ(cudaPointerGetAttributes(&attributes, managed), cudaSuccess);
        EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
        EXPECT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
        EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
        EXPECT_EQ(cudaPointerGetAttributes(&attributes, &attributes), cudaSuccess);
        EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
        EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue) << "it is freed with cudaFreeHost";
        EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
        std::vector<int> own(16);
        EXPECT_EQ(cudaHostRegister(own.data(), 64, cudaHostRegisterDefault), cudaSuccess);
        EXPECT_EQ(cudaHostRegister(own.data() + 1, 8, 0), cudaErrorHostMemoryAlreadyRegistered);
        EXPECT_EQ(cudaHostUnregister(own.data()), cudaSuccess);
        EXPECT_EQ(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
    });
}

TEST(CudartMemory, MoreThanThereIsIsRefused) {
    expect_program([] {
        size_t free = 0, total = 0, less = 0;
        EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
        EXPECT_LE(free, total);
        void* pointer = &free;
        EXPECT_EQ(cudaMalloc(&pointer, total + 1), cudaErrorMemoryAllocation);
        EXPECT_EQ(pointer, nullptr);
        EXPECT_EQ(cudaMalloc(&pointer, SIZE_MAX), cudaErrorMemoryAllocation);
        EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
        allocate<char>(1 << 20);
        EXPECT_EQ(cudaMemGetInfo(&less, &total), cudaSuccess);
        EXPECT_EQ(free - less, size_t{1} << 20);
    });
}

TEST(CudartMemory, VariablesOfTheModule) {
    expect_program([] {
        int counter = 0;
        EXPECT_EQ(cudaMemcpyFromSymbol(&counter, counter_symbol, 4, 0, cudaMemcpyDeviceToHost), cudaSuccess);
        EXPECT_EQ(counter, 5) << "what the PTX gives it";
        counter = 8;
        EXPECT_EQ(cudaMemcpyToSymbol(counter_symbol, &counter, 4, 0, cudaMemcpyHostToDevice), cudaSuccess);
        void* address = nullptr;
        size_t bytes = 0;
        EXPECT_EQ(cudaGetSymbolAddress(&address, counter_symbol), cudaSuccess);
        EXPECT_EQ(cudaGetSymbolSize(&bytes, scale_symbol), cudaSuccess);
        EXPECT_EQ(bytes, 8u);
        counter = 0;
        EXPECT_EQ(cudaMemcpy(&counter, address, 4, cudaMemcpyDeviceToHost), cudaSuccess);
        EXPECT_EQ(counter, 8);
        EXPECT_EQ(cudaMemcpyToSymbol(scale_symbol, &counter, 4, 8, cudaMemcpyHostToDevice),
                  cudaErrorInvalidValue);
        EXPECT_EQ(cudaMemcpyToSymbol(&counter, &counter, 4, 0, cudaMemcpyHostToDevice),
                  cudaErrorInvalidSymbol);
    });
}

}  // namespace
}  // namespace tilescope::cudart::test
