// Programs whose threads wait in loops for each other, launches that take long or much, and what stopping keeps.
#include <cstring>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/file_text.h"
#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Each line is "name value right".
TEST(CliWaiting, ThreadsThatWaitForEachOtherEnd) {
    write(in_folder("waits.cu"), R"(#include <cstdio>
__device__ int lock = 0, arrived = 0;
__device__ volatile int flags[64];
__global__ void inside_the_loop(int *n) {
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) { *n = *n + 1; __threadfence(); atomicExch(&lock, 0); done = true; }
}
__global__ void behind_the_loop(int *n) {
    while (atomicCAS(&lock, 0, 1) != 0);
    *n = *n + 1; __threadfence(); atomicExch(&lock, 0);
}
__global__ void leaves_by_break(int *n) {
    while (true) { if (atomicExch(&lock, 1) == 0) { *n = *n + 1; __threadfence(); atomicExch(&lock, 0); break; } }
    __syncthreads();
    if (threadIdx.x == 0) *n = *n + 1000;
}
__global__ void lane_then_shuffle(int *n) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x != 31) { while (flag == 0); } else { flag = 7; }
    __syncwarp();
    const int five = __shfl_sync(0xffffffffu, threadIdx.x, 5);
    atomicAdd(n, flag + five);
}
__global__ void barrier_by_hand(int *n) {
    if (threadIdx.x == 0) { atomicAdd(&arrived, 1); while (atomicAdd(&arrived, 0) < gridDim.x); }
    __syncthreads();
    atomicAdd(n, 1);
}
__global__ void later_blocks_first(int *n) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x + 1 < gridDim.x) while (flags[blockIdx.x + 1] == 0);
    *n += 1; __threadfence(); flags[blockIdx.x] = 1;
}
int main() {
    int *n, h; cudaMalloc(&n, 4);
    const auto show = [&](const char *name, int right) {
        cudaMemcpy(&h, n, 4, cudaMemcpyDeviceToHost); cudaMemset(n, 0, 4);
        printf("%s %s\n", name, h == right ? "right" : "wrong");
    };
    cudaMemset(n, 0, 4);
    inside_the_loop<<<2, 64>>>(n); show("inside_the_loop", 128);
    behind_the_loop<<<3, 64>>>(n); show("behind_the_loop", 192);
    leaves_by_break<<<1, 64>>>(n); show("leaves_by_break", 1064);
    lane_then_shuffle<<<1, 32>>>(n); show("lane_then_shuffle", 32 * 12);
    barrier_by_hand<<<20, 32>>>(n); show("barrier_by_hand", 640);
    later_blocks_first<<<12, 32>>>(n); show("later_blocks_first", 12);
}
)");
    const Ran ran = record("waits.cu -o out --json");
    for (const char* name : {"inside_the_loop", "behind_the_loop", "leaves_by_break", "lane_then_shuffle",
                             "barrier_by_hand", "later_blocks_first"}) {
        EXPECT_NE(ran.err.find(std::string(name) + " right\n"), std::string::npos) << name << ran.err;
        EXPECT_NE(ran.out.find(std::string(name) + "."), std::string::npos) << name << ran.out;
    }
}

TEST(CliWaiting, WhatNeverComesIsNamed) {
    write(in_folder("never.cu"), R"(#include <cstdio>
__device__ int a = 0, b = 0;
__global__ void two_locks() {
    int *first = threadIdx.x < 32 ? &a : &b, *second = threadIdx.x < 32 ? &b : &a;
    if (threadIdx.x % 32 != 3) return;
    atomicExch(first, 1);
    __syncthreads();
    while (atomicCAS(second, 0, 1) != 0);  // line 8
}
int main() {
    two_locks<<<1, 64>>>();
    return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 0 : 1;
}
)");
    const Ran ran = record("never.cu -o never.tsc --json");
    const json document = json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
    EXPECT_EQ(document["launches"][0]["error"],
              "in block(0) lane 3 of warp 0 waits at line 8 for b, which holds 1; lane 3 of warp 1 waits at "
              "line 8 for a, which holds 1: no thread is left that could change it, so that the kernel never "
              "ends");
    EXPECT_EQ(document["exit"], 0);
}

constexpr const char* kLong = R"(#include <cstdio>
__global__ void add(float* p, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < n; ++i) p[x] = p[x] + 1;
}
int main() {
    float* p;
    cudaMalloc(&p, 128ull << 20);
    add<<<1 << 20, 32>>>(p, 50000);
    printf("end\n");
    return cudaDeviceSynchronize();
}
)";

// A window of the first blocks is recorded, and kept when the launch is stopped: by Ctrl-C to the whole group, as
// a terminal sends it, or by a signal to the command alone.
TEST(CliWaiting, ALongLaunchIsRecordedInItsFirstBlocksAndStopped) {
    write(in_folder("long.cu"), kLong);
    for (const std::string signal : {"-INT -$child", "-TERM $child"}) {
        fs::remove_all(in_folder("out"));
        fs::remove(in_folder("said"));
        const Ran ran = shell(
            "export XDG_CACHE_HOME=\"$PWD/cache\"; setsid \"$TILESCOPE\" record long.cu -o out 2> said & "
            "child=$!; "
            "for i in $(seq 1200); do grep -q 'will take' said && break; sleep 0.1; done; kill " +
            signal + "; wait $child; s=$?; cat said; exit $s");
        EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
        EXPECT_NE(ran.out.find("stopped; 1 recording is kept"), std::string::npos) << signal << ran.out;
        const std::string by = signal.starts_with("-INT") ? " by Ctrl-C" : "";
        EXPECT_NE(ran.out.find("launch 1, add: it was stopped" + by + " before its end"), std::string::npos)
            << signal << ran.out;
        EXPECT_NE(ran.out.find("only its blocks 0:"), std::string::npos) << ran.out;
        // What the recording found is said once, before the long part.
        const std::string fault = "tilescope: launch 1, add: thread[0] of block(0) reads p[0] at line 3";
        EXPECT_EQ(count_of(ran.out, fault), 1u) << ran.out;
        EXPECT_LT(ran.out.find(fault), ran.out.find(", will take ")) << ran.out;
        const trace::Trace trace = recording(in_folder("out/add.1.tsc"));
        EXPECT_TRUE(trace.meta.complete);
        EXPECT_LE(trace.meta.window.x1, 64u);
    }
}

// Stopped in the middle of its recording, with many requests to judge and to write.
TEST(CliWaiting, StoppingWhileItRecordsKeepsWhatIsThere) {
    write(in_folder("one.cu"), R"(#include <cstdio>
__global__ void add(float* p) {
    for (int i = 0; i < 100000000; ++i) p[threadIdx.x] = p[threadIdx.x] + 1;
}
int main() {
    float* p;
    cudaMalloc(&p, 4096);
    fclose(fopen("up", "w"));
    add<<<1, 1024>>>(p);
    return cudaDeviceSynchronize();
}
)");
    const Ran ran = shell(
        "export XDG_CACHE_HOME=\"$PWD/cache\"; setsid \"$TILESCOPE\" record one.cu -o out 2>&1 & child=$!; "
        "for i in $(seq 600); do [ -e up ] && break; sleep 0.1; done; sleep 2; kill -INT -$child; wait "
        "$child");
    EXPECT_EQ(ran.status, 1) << ran.out;
    EXPECT_NE(ran.out.find("stopped; 1 recording is kept"), std::string::npos) << ran.out;
    EXPECT_FALSE(recording(in_folder("out/add.1.tsc")).meta.complete);
}

TEST(CliWaiting, NothingRecordedIsNotCalledKept) {
    write(in_folder("sleeper.cu"),
          "#include <fcntl.h>\n#include <unistd.h>\nint main() { creat(\"up\", 0600); sleep(60); }\n");
    const Ran ran = shell(
        "export XDG_CACHE_HOME=\"$PWD/cache\"; \"$TILESCOPE\" record sleeper.cu & child=$!; for i in $(seq "
        "600); do "
        "[ -e up ] && break; sleep 0.1; done; kill -INT $child; wait $child");
    EXPECT_NE(ran.err.find("stopped; nothing was recorded until then"), std::string::npos) << ran.err;
}

// Of arrays that are larger than what is allowed, the recording holds what its blocks touch.
TEST(CliWaiting, LargeArraysAreCutToWhatIsTouched) {
    write(in_folder("large.cu"), R"(#include <cstdio>
__global__ void twice(const float* in, float* out) {
    const size_t i = blockIdx.x * 256ull + threadIdx.x;
    out[i] = 2 * in[i];
}
int main() {
    const size_t n = 1 << 21;
    float *in, *out, last = 0;
    cudaMallocManaged(&in, n * 4);
    cudaMalloc(&out, n * 4);
    for (size_t i = 0; i < n; ++i) in[i] = i;
    twice<<<n / 256, 256>>>(in, out);
    cudaMemcpy(&last, out + n - 1, 4, cudaMemcpyDeviceToHost);
    printf("%.0f\n", last);
}
)");
    const Ran ran = record("large.cu -o large.tsc --json", "TILESCOPE_MAX_MEMORY=0.012");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.err.find("4194302"), std::string::npos) << ran.err;
    EXPECT_NE(ran.out.find("of its 16.8 MB of arrays, the recording holds what its blocks touch"),
              std::string::npos)
        << ran.out;
    const trace::Trace trace = recording(in_folder("large.tsc"));
    EXPECT_EQ(trace.meta.window.x1, 64u);
    EXPECT_TRUE(trace.meta.complete);
    ASSERT_EQ(trace.launch.arrays.size(), 2u);
    EXPECT_EQ(trace.launch.arrays[0].elements(), 64u * 256);
    float second = 0;
    std::memcpy(&second, trace.launch.arrays[0].contents.bytes->data() + 4, 4);
    EXPECT_EQ(second, 1.0f);
}

// docs/command-line.md, "Files".
TEST(CliWaiting, RecordingsKeepToTheTableOfFiles) {
    write(in_folder("three.cu"), R"(__global__ void k(int* p) { p[threadIdx.x] = 1; }
int main() {
    int* p;
    cudaMalloc(&p, 128);
    for (int i = 0; i < 4; ++i) k<<<1, 32>>>(p + 0 * i), cudaMemset(p, i, 128);
    return cudaDeviceSynchronize();
}
)");
    fs::create_directories(in_folder("out/k.1.tsc"));  // a folder in the place of one
    write(in_folder("out/k.2.tsc"), "read-only");
    fs::permissions(in_folder("out/k.2.tsc"), fs::perms::owner_read);
    fs::create_symlink("../elsewhere.tsc", in_folder("out/k.3.tsc"));
    const Ran ran = record("three.cu --every -o out");
    EXPECT_EQ(ran.status, 1) << ran.out;
    EXPECT_NE(ran.out.find("out/k.1.tsc' cannot be written: it is a folder"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("out/k.2.tsc' cannot be written: it is read-only"), std::string::npos) << ran.out;
    EXPECT_EQ(read(in_folder("out/k.2.tsc")), "read-only");
    EXPECT_TRUE(fs::is_symlink(in_folder("out/k.3.tsc")));
    EXPECT_TRUE(fs::is_regular_file(in_folder("elsewhere.tsc")));
    EXPECT_TRUE(fs::is_regular_file(in_folder("out/k.4.tsc")));
}

TEST(CliWaiting, DestructorsOfStaticObjectsMayLaunch) {
    write(in_folder("late.cu"), R"(#include <cstdio>
__global__ void k(int* p) { *p += 1; }
int* p;
struct Late { ~Late() { k<<<1, 1>>>(p); k<<<1, 1>>>(p); int n = 0; cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost); fprintf(stderr, "late %d\n", n); } } late;
int main() {
    cudaMalloc(&p, 4);
    cudaMemset(p, 0, 4);
    k<<<1, 1>>>(p);
}
)");
    const Ran ran = record("late.cu -o out");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.err.find("late 3"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace tilescope::cli_test
