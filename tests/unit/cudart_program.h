// A program of the runtime's C functions in a process of its own: each test begins with a runtime that nobody
// has used, and a fault stays where it is. The kernels are PTX, registered as the compiler's host code does
// it.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/cudart/include/cuda_runtime_api.h"
#include "tests/file_text.h"

namespace tilescope::cudart::test {

inline const char* const kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .const .align 4 .b8 scale[8] = {0, 0, 128, 63};
.visible .global .align 4 .u32 counter = 5;
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 $str[4] = {104, 105, 10, 0};

// Each thread prints "hi".
.visible .entry _Z5greetv()
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  mov.u64 %rd1, $str;
  cvta.global.u64 %rd2, %rd1;
  {
    .param .b64 param0;
    st.param.b64 [param0+0], %rd2;
    .param .b64 param1;
    st.param.b64 [param1+0], 0;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %r1, [retval0+0];
  }
  ret;
}

// Counts for some milliseconds in each block.
.visible .entry _Z5countv()
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  mov.u32 %r1, 0;
AGAIN:
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, 1000000;
  @%p1 bra AGAIN;
  ret;
}

// out[i] = scale[0] * (in[i] + in[i]); thread 0 of block 0 adds one to the counter.
.visible .entry _Z6doublePKfPfi(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
  .reg .pred %p<3>;
  .reg .f32 %f<5>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u32 %r1, [p2];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  ld.const.f32 %f3, [scale];
  mul.f32 %f4, %f2, %f3;
  add.s64 %rd5, %rd2, %rd3;
  st.global.f32 [%rd5], %f4;
  setp.ne.s32 %p2, %r5, 0;
  @%p2 bra DONE;
  ld.global.u32 %r6, [counter];
  add.s32 %r7, %r6, 1;
  st.global.u32 [counter], %r7;
DONE:
  ret;
}

// to[thread] = from[thread], of the pointers that lie in a struct and, for `from`, in memory.
.visible .entry _Z6followPPiS_(.param .u64 p0, .param .u64 p1)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.global.u64 %rd3, [%rd1];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd3, %rd4;
  ld.global.u32 %r2, [%rd5];
  add.s64 %rd6, %rd2, %rd4;
  st.global.u32 [%rd6], %r2;
  ret;
}

// Neighbours change places through shared memory, without a barrier where `wait` is 0.
.visible .entry _Z4swapPii(.param .u64 p0, .param .u32 p1)
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 place[512];
  ld.param.u64 %rd1, [p0];
  ld.param.u32 %r1, [p1];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, place;
  shl.b32 %r4, %r2, 2;
  add.s32 %r5, %r3, %r4;
  st.shared.u32 [%r5], %r2;
  setp.eq.s32 %p1, %r1, 0;
  @%p1 bra NOW;
  bar.sync 0;
NOW:
  xor.b32 %r6, %r4, 128;
  add.s32 %r7, %r3, %r6;
  ld.shared.u32 %r8, [%r7];
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r8;
  ret;
}
)";

// Addresses by which the host knows kernels and variables.
inline char double_stub, follow_stub, swap_stub, greet_stub, count_stub, scale_shadow, counter_shadow;
// As the runtime's functions take a variable, and not the templates of its header.
inline const void *const scale_symbol = &scale_shadow, *const counter_symbol = &counter_shadow;

inline void register_program() {
    static struct {
        int magic, version;
        const void* data;
        void* unused;
    } wrapper{0x466243b1, 1, kPtx, nullptr};
    void** const module = __cudaRegisterFatBinary(&wrapper);
    const auto kernel = [&](const void* stub, const char* name) {
        __cudaRegisterFunction(module, stub, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    };
    kernel(&double_stub, "_Z6doublePKfPfi");
    kernel(&follow_stub, "_Z6followPPiS_");
    kernel(&swap_stub, "_Z4swapPii");
    kernel(&greet_stub, "_Z5greetv");
    kernel(&count_stub, "_Z5countv");
    char scale[] = "scale", counter[] = "counter";
    __cudaRegisterVar(module, &scale_shadow, scale, "scale", 0, 8, 1, 0);
    __cudaRegisterVar(module, &counter_shadow, counter, "counter", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(module);
}

struct Ran {
    int status = -1;       // 0: no expectation failed
    std::string out, err;  // what it wrote
};

// The folder of this test's files, empty.
inline std::filesystem::path own_folder() {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() /
        ("tilescope_" + std::string(info->test_suite_name()) + "_" + info->name() + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder;
}

inline Ran run_program(const std::function<void()>& body) {
    const std::filesystem::path folder = own_folder();
    const std::string out = folder / "out", err = folder / "err";
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        if (!std::freopen(out.c_str(), "w", stdout) || !std::freopen(err.c_str(), "w", stderr)) _exit(2);
        register_program();
        body();
        std::fflush(nullptr);
        _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    Ran ran;
    waitpid(child, &ran.status, 0);
    ran.out = file_text(out), ran.err = file_text(err);
    std::filesystem::remove_all(folder);
    return ran;
}

// The body's expectations must hold.
inline Ran expect_program(const std::function<void()>& body) {
    Ran ran = run_program(body);
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    return ran;
}

template <class... Arguments>
cudaError_t launch(const void* stub, dim3 grid, dim3 block, size_t shared, Arguments... arguments) {
    std::array<void*, sizeof...(arguments) + 1> all = {static_cast<void*>(&arguments)..., nullptr};
    return cudaLaunchKernel(stub, grid, block, all.data(), shared, nullptr);
}

template <class T>
T* allocate(size_t count) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, count * sizeof(T)), cudaSuccess);
    return static_cast<T*>(pointer);
}

}  // namespace tilescope::cudart::test
