// Launches: what they compute, what is refused, their faults, and what orders them.
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "tests/unit/cudart_program.h"

namespace tilescope::cudart::test {
namespace {

bool says(const Ran& ran, const std::string& words) { return ran.err.find(words) != std::string::npos; }

TEST(CudartLaunch, ComputesWithConstantsAndVariablesThatTheHostSets) {
    expect_program([] {
        std::vector<float> in(1000), out(1000);
        for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
        float* const a = allocate<float>(1000);
        float* const b = allocate<float>(1000);
        cudaMemcpy(a, in.data(), 4000, cudaMemcpyHostToDevice);
        EXPECT_EQ(launch(&double_stub, 4, 256, 0, a, b, 1000), cudaSuccess);
        cudaMemcpy(out.data(), b, 4000, cudaMemcpyDeviceToHost);
        EXPECT_EQ(out[999], 1998) << "scale is 1 in the PTX";
        const float scale = 0.5f;
        EXPECT_EQ(cudaMemcpyToSymbol(scale_symbol, &scale, 4, 0, cudaMemcpyHostToDevice), cudaSuccess);
        EXPECT_EQ(launch(&double_stub, 4, 256, 0, a, b, 1000), cudaSuccess);
        cudaMemcpy(out.data(), b, 4000, cudaMemcpyDeviceToHost);
        EXPECT_EQ(out[999], 999);
        int counter = 0;
        cudaMemcpyFromSymbol(&counter, counter_symbol, 4, 0, cudaMemcpyDeviceToHost);
        EXPECT_EQ(counter, 7) << "5, and one of each launch";
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    });
}

TEST(CudartLaunch, FollowsPointersThatLieInMemory) {
    expect_program([] {
        std::vector<int> values = {3, 1, 4, 1}, out(4);
        int* const from = allocate<int>(4);
        int** const where = allocate<int*>(1);
        int* const to = allocate<int>(4);
        cudaMemcpy(from, values.data(), 16, cudaMemcpyHostToDevice);
        cudaMemcpy(where, &from, 8, cudaMemcpyHostToDevice);
        EXPECT_EQ(launch(&follow_stub, 1, 4, 0, where, to), cudaSuccess);
        cudaMemcpy(out.data(), to, 16, cudaMemcpyDeviceToHost);
        EXPECT_EQ(out, values);
    });
}

TEST(CudartLaunch, WhatNoDeviceTakesIsRefused) {
    const Ran ran = expect_program([] {
        float* const a = allocate<float>(4);
        EXPECT_EQ(launch(&double_stub, 1, 1025, 0, a, a, 4), cudaErrorInvalidConfiguration);
        EXPECT_EQ(launch(&double_stub, 0, 32, 0, a, a, 4), cudaErrorInvalidConfiguration);
        EXPECT_EQ(launch(&double_stub, {1, 70'000, 1}, 32, 0, a, a, 4), cudaErrorInvalidConfiguration);
        EXPECT_EQ(launch(&double_stub, 1, {1, 1, 65}, 0, a, a, 4), cudaErrorInvalidConfiguration);
        EXPECT_EQ(launch(&double_stub, 1, 32, 50'000, a, a, 4), cudaErrorInvalidValue);
        EXPECT_EQ(cudaFuncSetAttribute(&double_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 50'000),
                  cudaSuccess);
        EXPECT_EQ(launch(&double_stub, 1, 32, 50'000, a, a, 4), cudaSuccess) << "asked for";
        EXPECT_EQ(launch(&a, 1, 32, 0, a), cudaErrorInvalidDeviceFunction);
        EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "such an error does not stay";
    });
    EXPECT_TRUE(says(ran, "launch 1, double: a block of 1,025 threads is more than the 1,024 that H200"))
        << ran.err;
    EXPECT_TRUE(says(ran, "launch 2, double: the grid of 0 × 1 × 1 blocks holds none")) << ran.err;
    EXPECT_TRUE(says(ran, "50,000 bytes of shared memory a block")) << ran.err;
}

// Four bytes behind the end of `out`.
TEST(CudartFaults, OutOfBoundsStays) {
    const Ran ran = expect_program([] {
        float* const in = allocate<float>(64);
        float* const out = allocate<float>(32);
        EXPECT_EQ(launch(&double_stub, 1, 64, 0, in, out, 33), cudaSuccess)
            << "launches return before they run";
        EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
        EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress) << "it stays";
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
        void* more = nullptr;
        EXPECT_EQ(cudaMalloc(&more, 4), cudaErrorIllegalAddress);
    });
    EXPECT_TRUE(says(ran, "launch 1, double: thread[32] of block(0) writes arg2[32]")) << ran.err;
    EXPECT_TRUE(says(ran, "outside arg2's 32 elements; right behind its end")) << ran.err;
}

TEST(CudartFaults, FreedMemory) {
    const Ran ran = expect_program([] {
        float* const in = allocate<float>(64);
        float* const out = allocate<float>(64);
        cudaFree(in);
        launch(&double_stub, 1, 64, 0, in, out, 64);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    });
    EXPECT_TRUE(says(ran, "thread[0] of block(0) reads 4 bytes at address 0x2")) << ran.err;
    EXPECT_TRUE(says(ran, "memory that was freed")) << ran.err;
}

TEST(CudartFaults, HostPointersAndNull) {
    const Ran host = expect_program([] {
        std::vector<float> in(64);
        float* const out = allocate<float>(64);
        launch(&double_stub, 1, 64, 0, in.data(), out, 64);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    });
    EXPECT_TRUE(says(host, "a pointer to host memory; allocate with cudaMalloc and copy with cudaMemcpy"))
        << host.err;
    const Ran null = expect_program([] {
        float* const out = allocate<float>(64);
        launch(&double_stub, 1, 64, 0, static_cast<float*>(nullptr), out, 64);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    });
    EXPECT_TRUE(says(null, "a null pointer")) << null.err;
}

TEST(CudartFaults, MisalignedAccess) {
    const Ran ran = expect_program([] {
        char* const in = allocate<char>(300);
        float* const out = allocate<float>(64);
        launch(&double_stub, 1, 64, 0, in + 2, out, 64);
        EXPECT_EQ(cudaPeekAtLastError(), cudaErrorMisalignedAddress);
    });
    EXPECT_TRUE(says(ran, "not a multiple of 4")) << ran.err;
}

// What kernels print comes where the program waits for them.
TEST(CudartPrint, AppearsAtSynchronisation) {
    const Ran ran = expect_program([] {
        EXPECT_EQ(launch(&greet_stub, 1, 2, 0), cudaSuccess);
        std::printf("launched\n");
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        std::printf("end\n");
    });
    EXPECT_EQ(ran.out, "launched\nhi\nhi\nend\n");
}

TEST(CudartInterrupt, EndsTheProgramBetweenTwoBlocks) {
    const Ran ran = run_program([] {
        std::thread([] {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            kill(getpid(), SIGINT);
        }).detach();
        launch(&count_stub, 1'000'000, 32, 0);
        std::printf("not reached\n");
    });
    EXPECT_TRUE(WIFSIGNALED(ran.status)) << ran.out;
    EXPECT_EQ(WTERMSIG(ran.status), SIGINT);
    EXPECT_TRUE(says(ran, "launch 1, count: it was stopped by Ctrl-C before its end")) << ran.err;
}

TEST(CudartStreams, EventsHaveTimesAndStreamsAnOrder) {
    expect_program([] {
        cudaStream_t stream = nullptr;
        cudaEvent_t start = nullptr, end = nullptr;
        EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
        EXPECT_EQ(cudaEventCreate(&start), cudaSuccess);
        EXPECT_EQ(cudaEventCreate(&end), cudaSuccess);
        float ms = -1;
        EXPECT_EQ(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle) << "not recorded";
        EXPECT_EQ(cudaEventRecord(start, stream), cudaSuccess);
        float* const a = allocate<float>(64);
        EXPECT_EQ(launch(&double_stub, 1, 64, 0, a, a, 64), cudaSuccess);
        EXPECT_EQ(cudaEventRecord(end, stream), cudaSuccess);
        EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
        EXPECT_EQ(cudaEventElapsedTime(&ms, start, end), cudaSuccess);
        EXPECT_GT(ms, 0);
        int told = 0;
        EXPECT_EQ(cudaLaunchHostFunc(
                      stream, [](void* data) { *static_cast<int*>(data) = 1; }, &told),
                  cudaSuccess);
        EXPECT_EQ(told, 1);
        EXPECT_EQ(cudaStreamWaitEvent(stream, end, 0), cudaSuccess);
        EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
        EXPECT_EQ(cudaEventRecord(end, stream), cudaErrorInvalidResourceHandle);
        EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
        EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
        EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    });
}

TEST(CudartDevice, IsOneOfTheDevices) {
    expect_program([] {
        int count = 0, value = 0, can = 1;
        EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
        EXPECT_EQ(count, 1);
        EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
        EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
        cudaDeviceProp properties{};
        EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
        EXPECT_STREQ(properties.name, "NVIDIA H200");
        EXPECT_EQ(properties.multiProcessorCount, 132);
        EXPECT_EQ(properties.major, 9);
        EXPECT_NEAR(2.0 * properties.memoryClockRate * (properties.memoryBusWidth / 8) / 1e6, 4814.3, 1);
        EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0), cudaSuccess);
        EXPECT_EQ(value, 1024);
        EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaErrorInvalidDevice);
        EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, &double_stub, 256, 0), cudaSuccess);
        EXPECT_EQ(count, 8) << "2,048 threads of an SM";
        EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
        EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
        cudaFuncAttributes attributes{};
        EXPECT_EQ(cudaFuncGetAttributes(&attributes, &swap_stub), cudaSuccess);
        EXPECT_EQ(attributes.sharedSizeBytes, 512u);
    });
}

}  // namespace
}  // namespace tilescope::cudart::test
