// Kernels as people write them, by both engines: shapes of blocks that fit no warp, edges, divergence, memory of all
// spaces and sizes, atomics whose order matters, barriers of all kinds, and faults, after which a block leaves nothing.
#include <fstream>

#include "core/simt/program.h"
#include "kernels/program/compile.h"
#include "tests/host/engine_both.h"

namespace tilescope {
namespace {

constexpr const char* kSource = R"cuda(
#include <cuda_runtime.h>
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define J (blockIdx.y * blockDim.y + threadIdx.y)
#define KERNEL extern "C" __global__ void
struct Pair { int n; float scale; };
KERNEL stencil(const float* in, float* out, int n) {
    int x = I, y = J;
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
        out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}
KERNEL blur(const unsigned char* in, unsigned char* out, int n) {
    int x = I, y = J;
    if (x >= n || y >= n) return;
    int sum = 0, count = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n) sum += in[(y + dy) * n + x + dx], ++count;
    out[y * n + x] = sum / count;
}
KERNEL rows(const float* in, float* out, int n) {
    int i = I + blockDim.x * gridDim.x * J;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += in[i * n + k];
    out[i] = sum;
}
KERNEL fours(const float4* in, float4* out, int n) {
    int i = I + 8 * J;
    if (i >= n * n / 4) return;
    float4 v = in[i];
    out[i] = make_float4(v.w, v.z, v.y + v.x, v.x);
}
KERNEL sizes(const signed char* in, short* out, int n) {
    int i = I;
    if (i >= n) return;
    signed char a = in[i];
    unsigned char b = in[n - 1 - i];
    const short* words = (const short*)in;
    out[2 * i] = a * 3 + b - words[i / 2];
    out[2 * i + 1] = ((const unsigned short*)in)[i / 2] >> 1;
}
KERNEL doubles(const double* in, double* out, int n) {
    int i = I;
    if (i >= n) return;
    double s = 0;
    for (int k = 0; k <= i % 5; ++k) s = s * 0.5 + in[(i + k) % n] / (k + 1);
    out[i] = s;
}
KERNEL tree(const float* in, float* out, int) {
    __shared__ float s[1024];
    int t = threadIdx.x + threadIdx.y * blockDim.x, count = blockDim.x * blockDim.y, b = blockIdx.x + blockIdx.y * gridDim.x;
    s[t] = in[b * count + t];
    __syncthreads();
    for (int k = 1; k < count; k *= 2) {
        if (t % (2 * k) == 0 && t + k < count) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[b] = s[0];
}
KERNEL shuffles(const float* in, float* out, int) {
    int t = threadIdx.x + threadIdx.y * blockDim.x, g = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x * blockDim.y + t;
    float v = in[g];
    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
    float w = __shfl_sync(~0u, v, t & 7, 8) + __shfl_xor_sync(~0u, v, 5) - __shfl_up_sync(~0u, v, 3);
    unsigned b = __ballot_sync(~0u, v > 0);
    out[g] = w + __popc(b) + (__any_sync(~0u, v > 3) ? 1 : 0) + (__all_sync(~0u, v > -100) ? 2 : 0);
}
KERNEL histogram(const unsigned* in, unsigned* out, int n) {
    __shared__ unsigned h[64];
    int t = threadIdx.x + threadIdx.y * blockDim.x;
    if (t < 64) h[t] = 0;
    __syncthreads();
    for (int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x * blockDim.y + t; i < n * n; i += blockDim.x * blockDim.y * gridDim.x * gridDim.y)
        atomicAdd(&h[in[i] % 64], 1u);
    __syncthreads();
    if (t < 64) atomicAdd(&out[t], h[t]), atomicMax(&out[64 + t % 7], h[t]), atomicXor(&out[80], h[t]);
}
KERNEL tickets(const unsigned* in, unsigned* out, int n) {
    int i = I;
    if (i < n && in[i] % 3 != 0) {
        unsigned place = atomicAdd(&out[0], 1u);
        out[1 + place] = in[i];
    }
}
KERNEL sums(const float* in, float* out, int n) {
    __shared__ float s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    for (int k = 0; k < 3 + (int)threadIdx.x / 32 % 2; ++k) atomicAdd(&s, in[(I + k) % n] * 1.1f);
    atomicAdd(&out[1], in[I % n]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&out[0], s);
}
KERNEL exchanged(const unsigned* in, unsigned* out, int n) {
    unsigned old = out[0], seen;
    int i = I;
    if (i >= n) return;
    do { seen = old; old = atomicCAS(&out[0], seen, seen * 3 + in[i]); } while (old != seen);
    out[1 + i] = old;
}
KERNEL counted(const float* in, float* out, int n) {
    int t = threadIdx.x + threadIdx.y * blockDim.x, g = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x * blockDim.y + t;
    float v = in[g % n];
    int c = __syncthreads_count(v > 0);
    int a = __syncthreads_and(v > -5), o = __syncthreads_or(v > 0.99f);
    out[g] = c + 1000 * a + 2000 * o;
}
KERNEL leaving(const unsigned* in, unsigned* out, int n) {
    int t = threadIdx.x + threadIdx.y * blockDim.x, k = 0;
    while (__syncthreads_or(in[k] % 64 + k < n) && k < 8) { ++k; if (t % 5 == k) return; }
    out[(blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x * blockDim.y + t] = k;
}
KERNEL mixed(const unsigned* in, unsigned* out, int n) {
    __shared__ unsigned s;
    if (threadIdx.x == 0) s = 5;
    __syncthreads();
    for (int k = 0; k < 4; ++k) { atomicAdd(&s, in[I + k] % 7); atomicMax(&s, in[I + k] % 300); }
    __syncthreads();
    out[I] = s;
}
KERNEL wraps(const unsigned* in, unsigned* out, int n) {
    unsigned i = I - 5, j = 3 * threadIdx.x - 40;
    if (i < n) out[i] = in[i];
    if (j < 64) out[n + blockIdx.x * 64 + j] = in[j] + i;
    int k = (int)threadIdx.x * 0x4000000;
    if (k >= 0 && k < 0x40000000) out[2 * n + (k >> 26)] = in[k >> 24];
}
KERNEL apart(const unsigned* in, unsigned* out, int n) {
    unsigned g = blockIdx.x << 8 | threadIdx.x << 1 | 1;
    out[g] = in[g & 1023];
}
KERNEL before(const unsigned* in, unsigned* out, int n) {
    const unsigned* from = in - 1;
    unsigned* to = out - n;
    to[n + I] = from[I + 1];
}
KERNEL partial(float* data, int n, int) {
    int i = I, base = i - threadIdx.x;
    data[i] = data[i] * 2 + 1;
    __syncthreads();
    float v = data[base + (threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    if (threadIdx.x % 32 < 16) v += __shfl_down_sync(0xffff, v, 4);
    data[i] = v;
    atomicAdd(&data[n - 1], 1.0f);
}
KERNEL only_stores(float* data, int n, int last) {
    int i = I;
    data[i] = i;
    data[1024 + 2 * i] = 3;
    if (i == last) data[n + 100] = 1;
}
KERNEL named(const float* in, float* out, int) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    if (t < 64) { asm volatile("bar.sync 1, 64;" ::: "memory"); out[blockIdx.x * 128 + t] = s[63 - t]; }
    else { asm volatile("bar.sync 2, 64;" ::: "memory"); out[blockIdx.x * 128 + t] = s[191 - t]; }
    __syncthreads();
    out[blockIdx.x * 128 + t] += s[127 - t];
}
KERNEL collatz(const unsigned* in, unsigned* out, int n) {
    int i = I;
    if (i >= n) return;
    unsigned x = in[i] % 97 + 1, steps = 0;
    while (x != 1) {
        if (x % 2 == 0) { x /= 2; }
        else { if (steps > 40) break; x = 3 * x + 1; }
        if (++steps > 60) { out[i] = 7777; return; }
    }
    switch (steps % 4) { case 0: steps += x; break; case 1: steps *= 3; case 2: steps -= 1; break; default: steps ^= 5; }
    out[i] = steps;
}
KERNEL local(const unsigned* in, unsigned* out, int n) {
    int i = I;
    if (i >= n) return;
    unsigned a[9];
    for (int k = 0; k < 9; ++k) a[k] = in[(i + k) % n];
    for (int k = 0; k < 20; ++k) { unsigned at = a[k % 9] % 9; unsigned t = a[at]; a[at] = a[(at + 3) % 9] + k; a[(at + 3) % 9] = t; }
    unsigned h = 0;
    for (int k = 0; k < 9; ++k) h = h * 31 + a[k];
    out[i] = h;
}
__device__ __noinline__ unsigned follow(const unsigned* p, int k) { return p[k] + p[0]; }
KERNEL generic(const unsigned* in, unsigned* out, int n) {
    __shared__ unsigned s[256];
    int t = threadIdx.x;
    s[t] = in[t % n];
    __syncthreads();
    const unsigned* p = blockIdx.x % 2 ? s : in;
    const unsigned* q = t % 3 ? s : in;
    if (I < n) out[I] = follow(p, t % 8) * 5 + follow(q, t % 4);
}
KERNEL by_value(Pair p, const float* in, float* out) {
    int i = I;
    if (i < p.n) out[i] = in[i] * p.scale;
}
KERNEL in_place(float* data, int n, int last) {
    int i = I;
    data[i % n] = data[i % n] * 2 + 1;
    __syncthreads();
    if (i == last) data[n + 100] = 1;
    data[(i * 7) % n] += 0.5f;
}
KERNEL misaligned(float* data, int n, int last) {
    int i = I;
    data[i % n] += 1;
    if (i == last) *(float2*)(data + 1) = make_float2(1, 2);
}
KERNEL parted(float* data, int n, int last) {
    int i = I;
    data[i % n] += 1;
    if (i < last) __syncthreads();
    data[i % n] += 1;
    if (i >= last) __syncthreads();
}
KERNEL for_ever(float* data, int n, int last) {
    int i = I;
    float x = data[i % n];
    if (i == last) while (x < 3.0e38f) x = x * 0.5f;
    data[i % n] = x;
}
)cuda";

const ptx::Module& module() {
    static const ptx::Module made = [] {
        const std::string path = TILESCOPE_BINARY_DIR "/tests/cache/engine_kernels.cu";
        std::filesystem::create_directories(TILESCOPE_BINARY_DIR "/tests/cache");
        test::library();  // its folder is where headers go, too
        std::ofstream(path) << kSource;
        const auto text = program::compile_device(path, {});
        if (!text) throw std::runtime_error(text.error().message);
        return *ptx::parse(*text, "kernels.ptx");
    }();
    return made;
}

// Two arrays of n x n words, the first filled, and n.
struct Case {
    const char* kernel;
    Dim3 grid, block;
    bool whole = false;  // the numbers are whole
};

test::Ran hold(const Case& of, uint32_t n, std::vector<uint64_t> more = {}, unsigned threads = 1) {
    const auto program = simt::prepare(module(), of.kernel);
    if (!program) throw std::runtime_error(program.error().message);
    const size_t bytes = size_t{n} * n * 4;
    const auto bases = simt::place_buffers({bytes, 2 * bytes});
    simt::GlobalMemory memory;
    memory.buffers = {{"in", bases[0], simt::Bytes(bytes)}, {"out", bases[1], simt::Bytes(2 * bytes)}};
    for (size_t k = 0; k < bytes; k += 4) {
        const auto mixed = static_cast<uint32_t>(k * 2654435761u >> 5);
        const float number = static_cast<float>(mixed % 1000) / 250 - 2;
        std::memcpy(&memory.buffers[0].bytes[k], of.whole ? static_cast<const void*>(&mixed) : &number, 4);
    }
    Launch launch;
    launch.grid = of.grid, launch.block = of.block;
    std::vector<uint64_t> bits{bases[0], bases[1], n};
    if (!more.empty()) bits = std::move(more);
    for (uint64_t& value : bits) {
        if (value == UINT64_MAX) value = bases[0];
        launch.arguments.push_back(test_arguments({value})[0]);
    }
    simt::RunOptions options;
    options.max_instructions_per_warp = 200'000;
    options.threads = threads;
    return test::expect_same(**program, launch, memory, options);
}

TEST(EngineKernels, LeaveTheSameInMemory) {
    const Case cases[] = {
        {"stencil", {4, 4, 1}, {16, 16, 1}},
        {"stencil", {7, 8, 1}, {10, 9, 1}},
        {"stencil", {2, 22, 1}, {33, 3, 1}},
        {"blur", {4, 4, 1}, {16, 16, 1}, true},
        {"blur", {6, 11, 1}, {11, 6, 1}, true},
        {"rows", {2, 1, 1}, {32, 1, 1}},
        {"rows", {2, 2, 1}, {20, 1, 1}},
        {"fours", {1, 128, 1}, {8, 1, 1}},
        {"fours", {1, 16, 1}, {8, 8, 1}},
        {"sizes", {2, 1, 1}, {48, 1, 1}, true},
        {"doubles", {3, 1, 1}, {32, 1, 1}},
        {"tree", {16, 1, 1}, {256, 1, 1}},
        {"tree", {8, 2, 1}, {16, 12, 1}},
        {"tree", {4, 4, 1}, {100, 1, 1}},
        {"shuffles", {16, 1, 1}, {256, 1, 1}},
        {"shuffles", {8, 2, 1}, {16, 8, 1}},
        {"histogram", {2, 2, 1}, {64, 4, 1}, true},
        {"histogram", {3, 1, 1}, {70, 1, 1}, true},
        {"tickets", {1, 1, 1}, {64, 1, 1}, true},
        {"tickets", {2, 1, 1}, {96, 1, 1}, true},
        {"sums", {3, 1, 1}, {128, 1, 1}},
        {"sums", {2, 1, 1}, {70, 1, 1}},
        {"exchanged", {2, 1, 1}, {32, 1, 1}, true},
        {"exchanged", {1, 1, 1}, {64, 1, 1}, true},
        {"counted", {4, 4, 1}, {16, 8, 1}},
        {"counted", {4, 2, 1}, {50, 1, 1}},
        {"leaving", {4, 2, 1}, {50, 1, 1}, true},
        {"leaving", {2, 1, 1}, {16, 16, 1}, true},
        {"mixed", {3, 1, 1}, {96, 1, 1}, true},
        {"wraps", {3, 1, 1}, {64, 1, 1}, true},
        {"apart", {4, 1, 1}, {128, 1, 1}, true},
        {"before", {4, 1, 1}, {64, 1, 1}, true},
        {"named", {8, 1, 1}, {128, 1, 1}},
        {"collatz", {2, 1, 1}, {64, 1, 1}, true},
        {"collatz", {1, 1, 1}, {50, 1, 1}, true},
        {"local", {2, 1, 1}, {64, 1, 1}, true},
        {"local", {2, 1, 1}, {40, 1, 1}, true},
        {"generic", {4, 1, 1}, {64, 1, 1}, true},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(testing::Message() << one.kernel << " " << one.grid.x << "," << one.grid.y << " of "
                                        << one.block.x << "," << one.block.y);
        const test::Ran ran = hold(one, 64);
        EXPECT_FALSE(ran.outcome.fault) << ran.outcome.fault->message;
        EXPECT_EQ(ran.compiled, one.grid.count());
    }
}

// Where no block depends on the order of the others, on several CPU threads.
TEST(EngineKernels, LeaveTheSameOnSeveralThreads) {
    const Case cases[] = {{"stencil", {7, 8, 1}, {10, 9, 1}},
                          {"tree", {16, 1, 1}, {256, 1, 1}},
                          {"histogram", {8, 2, 1}, {64, 4, 1}, true},
                          {"counted", {4, 4, 1}, {16, 8, 1}},
                          {"local", {8, 1, 1}, {64, 1, 1}, true}};
    for (const Case& one : cases) {
        SCOPED_TRACE(one.kernel);
        EXPECT_EQ(hold(one, 64, {}, 4).compiled, one.grid.count());
    }
    // Blocks that take tickets are left to the interpreter there.
    const auto program = simt::prepare(module(), "tickets");
    ASSERT_TRUE(program);
    Launch launch;
    launch.grid = {4, 1, 1}, launch.block = {32, 1, 1};
    launch.arguments = test_arguments({0, 0, 64});
    const auto kernel = compiled::make_kernel(**program, launch);
    ASSERT_TRUE(kernel);
    EXPECT_TRUE(kernel->blocks_communicate);
}

// Lanes of a part of a warp that exchange values are the interpreter's: the block leaves nothing behind.
TEST(EngineKernels, TakeBackWhatTheyGiveUp) {
    for (const unsigned threads : {1u, 4u}) {
        const test::Ran ran =
            hold({"partial", {24, 1, 1}, {64, 1, 1}}, 64, {UINT64_MAX, 64 * 64, 0}, threads);
        EXPECT_TRUE(ran.outcome.complete);
        EXPECT_EQ(ran.compiled, 0u);
    }
}

// What goes wrong is told as by the interpreter, of the same thread, and memory is as that leaves it.
TEST(EngineKernels, FaultAlike) {
    using K = simt::Fault::Kind;
    const std::pair<const char*, K> faults[] = {{"in_place", K::OutOfBounds},
                                                {"only_stores", K::OutOfBounds},
                                                {"misaligned", K::Misaligned},
                                                {"parted", K::BarrierDivergence},
                                                {"for_ever", K::NeverEnds}};
    for (const auto& [kernel, kind] : faults)
        for (const uint64_t last : {0, 77, 511}) {
            if (kind == K::BarrierDivergence && last == 0) continue;
            SCOPED_TRACE(testing::Message() << kernel << " " << last);
            const test::Ran ran = hold({kernel, {8, 1, 1}, {64, 1, 1}}, 64, {UINT64_MAX, 64 * 64, last});
            ASSERT_TRUE(ran.outcome.fault);
            EXPECT_EQ(ran.outcome.fault->kind, kind);
            EXPECT_EQ(ran.outcome.fault->block.x, last / 64);
        }
}

// Of memory that nobody filled, what is read is told, and what is stored counts as filled.
TEST(EngineKernels, WatchWhatIsFilled) {
    const auto program = simt::prepare(module(), "stencil");
    ASSERT_TRUE(program);
    constexpr uint32_t kSide = 64, kBytes = kSide * kSide * 4;
    for (const uint32_t hole : {0u, 1500u}) {  // a word of `in` that nobody filled; the corner is not read
        std::vector<uint8_t> maps[2][2];
        std::vector<simt::Outcome> outcomes;
        for (const auto choice : {compiled::EngineChoice::Interpreted, compiled::EngineChoice::Compiled}) {
            auto& filled = maps[outcomes.size()];
            filled[0].assign(kSide * kSide, 15), filled[1].assign(kSide * kSide, 0);
            filled[0][hole] = 0;
            const auto bases = simt::place_buffers({kBytes, kBytes});
            simt::GlobalMemory memory;
            memory.buffers = {{"in", bases[0], simt::Bytes(kBytes), {}, 0, filled[0].data()},
                              {"out", bases[1], simt::Bytes(kBytes), {}, 0, filled[1].data()}};
            Launch launch;
            launch.grid = {4, 4, 1}, launch.block = {16, 16, 1};
            launch.arguments = test_arguments({bases[0], bases[1], kSide});
            const test::Ran ran = test::run_by(**program, launch, memory, choice);
            if (choice == compiled::EngineChoice::Compiled) {
                EXPECT_GE(ran.compiled, 12u);
            }
            outcomes.push_back(ran.outcome);
        }
        EXPECT_EQ(maps[0][1], maps[1][1]);
        ASSERT_EQ(outcomes[0].undefined.size(), outcomes[1].undefined.size());
        EXPECT_EQ(outcomes[0].undefined.empty(), hole == 0);
        for (size_t i = 0; i < outcomes[0].undefined.size(); ++i) {
            EXPECT_EQ(outcomes[0].undefined[i].sentence, outcomes[1].undefined[i].sentence);
            EXPECT_EQ(outcomes[0].undefined[i].count, outcomes[1].undefined[i].count);
        }
    }
}

}  // namespace
}  // namespace tilescope
