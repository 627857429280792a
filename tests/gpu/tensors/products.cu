// Asks a GPU of sm_90 which bytes of shared memory wgmma.mma_async takes for each element of A and B, for random
// descriptors, and what its sums are.
//
//   products addresses [whole]   a line a descriptor:  a|b TYPE transposed leading stride base swizzle address SUM
//                                SUM is of the byte addresses of the elements, row by row (64 x k of A, 32 x k of B),
//                                all counted from a multiple of 1,024 bytes
//   products sums [whole]        a line a product:  PRODUCT KIND SUM     of D's words, by thread, then register
//
// answers.h has the products, their factors, and the sum; with `whole` the summed numbers stand behind it.
//
// A is found by multiplying with the identity: shared memory holds a digit of each element's own number, in several
// passes; B by a product with an identity in registers. The bytes at 60 KiB hold the other factor.
//
// Build: nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -o products products.cu
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "answers.h"

namespace {

namespace test = tilescope::test;
bool whole = false;

constexpr uint32_t kImage = 64 << 10, kOther = 60 << 10, kSlack = 1 << 10, kThreads = 128, kRegisters = 16;

struct Ask {
    uint64_t a, b;  // descriptors, from the image's begin
    const uint8_t* image;
    const uint32_t *fragment, *metadata, *c;
    uint32_t* d;
};

#define OPEN(REGS)                                                                                          \
    extern __shared__ uint8_t memory[];                                                                     \
    const uint32_t begin = (uint32_t)__cvta_generic_to_shared(memory), skip = (1024 - begin % 1024) % 1024; \
    for (uint32_t i = threadIdx.x; i < kImage; i += blockDim.x) memory[skip + i] = ask.image[i];            \
    uint32_t d[REGS];                                                                                       \
    for (int i = 0; i < REGS; ++i) d[i] = ask.c[threadIdx.x * kRegisters + i];                              \
    const uint64_t a = ask.a + (begin + skip) / 16, b = ask.b + (begin + skip) / 16;                        \
    (void)a;                                                                                                \
    asm volatile("fence.proxy.async;" ::: "memory");                                                        \
    __syncthreads();                                                                                        \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#define CLOSE(REGS)                                                                                  \
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory"); \
    for (int i = 0; i < REGS; ++i) ask.d[threadIdx.x * kRegisters + i] = d[i];

#define R8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define R16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define D8 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
#define D16 \
    D8, "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
// Both factors in shared memory; SCALES: the immediates behind the predicate.
#define SHARED8(NAME, INSTRUCTION, SCALES)                                                             \
    __global__ void NAME(Ask ask) {                                                                    \
        OPEN(8)                                                                                        \
        asm volatile("wgmma.mma_async.sync.aligned.m64n32" INSTRUCTION " " R8 ", %8, %9, 1" SCALES ";" \
                     : D8                                                                              \
                     : "l"(a), "l"(b));                                                                \
        CLOSE(8)                                                                                       \
    }
#define SHARED16(NAME, INSTRUCTION, SCALES)                                                               \
    __global__ void NAME(Ask ask) {                                                                       \
        OPEN(16)                                                                                          \
        asm volatile("wgmma.mma_async.sync.aligned.m64n32" INSTRUCTION " " R16 ", %16, %17, 1" SCALES ";" \
                     : D16                                                                                \
                     : "l"(a), "l"(b));                                                                   \
        CLOSE(16)                                                                                         \
    }
#define REGISTERS16(NAME, INSTRUCTION, SCALES)                                 \
    __global__ void NAME(Ask ask) {                                            \
        uint32_t r[4];                                                         \
        for (int i = 0; i < 4; ++i) r[i] = ask.fragment[threadIdx.x * 4 + i];  \
        OPEN(16)                                                               \
        asm volatile("wgmma.mma_async.sync.aligned.m64n32" INSTRUCTION " " R16 \
                     ", {%16, %17, %18, %19}, %20, 1" SCALES ";"               \
                     : D16                                                     \
                     : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b));    \
        CLOSE(16)                                                              \
    }
#define SPARSE16(NAME, INSTRUCTION, SELECTOR, SCALES)                             \
    __global__ void NAME(Ask ask) {                                               \
        const uint32_t metadata = ask.metadata[threadIdx.x];                      \
        OPEN(16)                                                                  \
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n32" INSTRUCTION " " R16 \
                     ", %16, %17, %18, " SELECTOR ", 1" SCALES ";"                \
                     : D16                                                        \
                     : "l"(a), "l"(b), "r"(metadata));                            \
        CLOSE(16)                                                                 \
    }

SHARED16(f16, "k16.f32.f16.f16", ", 1, 1, 0, 0")
SHARED16(f16_a_mn, "k16.f32.f16.f16", ", 1, 1, 1, 0")
SHARED16(tf32, "k8.f32.tf32.tf32", ", 1, 1")
SHARED16(e4m3, "k32.f32.e4m3.e4m3", ", 1, 1")
SHARED16(s8, "k32.s32.s8.s8", "")
REGISTERS16(f16_b, "k16.f32.f16.f16", ", 1, 1, 0")
REGISTERS16(f16_b_mn, "k16.f32.f16.f16", ", 1, 1, 1")
REGISTERS16(tf32_b, "k8.f32.tf32.tf32", ", 1, 1")
REGISTERS16(s8_b, "k32.s32.s8.s8", "")
SHARED16(bf16, "k16.f32.bf16.bf16", ", 1, 1, 0, 0")
SHARED16(e5m2, "k32.f32.e5m2.e5m2", ", 1, 1")
SHARED16(e4m3_e5m2, "k32.f32.e4m3.e5m2", ", 1, 1")
SHARED16(u8, "k32.s32.u8.u8", "")
SHARED16(s8_u8, "k32.s32.s8.u8", "")
SHARED16(u8_saturated, "k32.s32.u8.u8.satfinite", "")
SHARED16(b1, "k256.s32.b1.b1.and.popc", "")
SHARED8(f16_half, "k16.f16.f16.f16", ", 1, 1, 0, 0")
SHARED8(e4m3_half, "k32.f16.e4m3.e4m3", ", 1, 1")
SHARED8(e5m2_half, "k32.f16.e5m2.e5m2", ", 1, 1")
SHARED16(f16_minus, "k16.f32.f16.f16", ", -1, 1, 0, 0")
SPARSE16(f16_sparse0, "k32.f32.f16.f16", "0", ", 1, 1, 0, 0")
SPARSE16(f16_sparse1, "k32.f32.f16.f16", "1", ", 1, 1, 0, 0")
SPARSE16(tf32_sparse0, "k16.f32.tf32.tf32", "0", ", 1, 1")
SPARSE16(tf32_sparse1, "k16.f32.tf32.tf32", "1", ", 1, 1")
SPARSE16(e4m3_sparse, "k64.f32.e4m3.e4m3", "0", ", 1, 1")
SPARSE16(s8_sparse, "k64.s32.s8.s8", "0", "")

void must(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::printf("stopped %s: %s\n", what, cudaGetErrorString(error));
    std::fflush(stdout);
    std::_Exit(3);
}

test::AnswerDraw drawn{88172645463325252};
uint32_t draw(uint32_t end) { return drawn.below(end); }

uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride, uint32_t base, uint32_t swizzle) {
    return (uint64_t)(address >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           (uint64_t)base << 49 | (uint64_t)swizzle << 62;
}

uint8_t* image;
uint32_t *fragment, *metadata, *c, *d;
std::vector<uint8_t> host(kImage);
std::vector<uint32_t> sums(kThreads*kRegisters), zeros(kThreads*kRegisters);

void run(void (*kernel)(Ask), uint64_t a, uint64_t b, const char* what) {
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kImage + kSlack), what);
    must(cudaMemcpy(image, host.data(), kImage, cudaMemcpyHostToDevice), what);
    kernel<<<1, kThreads, kImage + kSlack>>>(Ask{a, b, image, fragment, metadata, c, d});
    must(cudaGetLastError(), what);
    must(cudaDeviceSynchronize(), what);
    must(cudaMemcpy(sums.data(), d, sums.size() * 4, cudaMemcpyDeviceToHost), what);
}

struct Type {
    const char* name;
    uint32_t bytes, digits, passes, one;  // digits: of a pass, as many numbers
    void (*a)(Ask), (*a_mn)(Ask), (*b)(Ask), (*b_mn)(Ask);
};
const Type kTypes[] = {
    {"f16", 2, 64, 3, 0x3C00, f16, f16_a_mn, f16_b, f16_b_mn},
    {"tf32", 4, 128, 2, 0x3F800000, tf32, nullptr, tf32_b, nullptr},
    {"e4m3", 1, 16, 4, 0x38, e4m3, nullptr, nullptr, nullptr},
    {"s8", 1, 64, 3, 1, s8, nullptr, s8_b, nullptr},
};

uint32_t encoded(const Type& type, uint32_t digit) {
    if (type.bytes == 4) {
        const float value = (float)digit;
        uint32_t bits;
        std::memcpy(&bits, &value, 4);
        return bits;
    }
    if (type.one == 1) return digit;
    if (digit == 0) return 0;
    const int exponent = (int)std::log2((double)digit);
    const uint32_t rest = digit - (1u << exponent);
    if (type.bytes == 2) return (uint32_t)(exponent + 15) << 10 | rest << (10 - exponent);
    return (uint32_t)(exponent + 7) << 3 | (exponent > 3 ? rest >> (exponent - 3) : rest << (3 - exponent));
}

void put(uint32_t at, uint32_t bytes, uint32_t bits) { std::memcpy(&host[at], &bits, bytes); }

// Element (row, column) of D, of 32 columns.
double result(uint32_t row, uint32_t column, bool integer) {
    const uint32_t lane = row % 8 * 4 + column % 8 / 2, thread = row / 16 * 32 + lane;
    const uint32_t word = sums[thread * kRegisters + column / 8 * 4 + row % 16 / 8 * 2 + column % 2];
    float value;
    std::memcpy(&value, &word, 4);
    return integer ? (double)(int32_t)word : (double)value;
}

void addresses() {
    must(cudaMemcpy(c, zeros.data(), zeros.size() * 4, cudaMemcpyHostToDevice), "addresses");
    for (const Type& type : kTypes)
        for (int of_b = 0; of_b < 2; ++of_b)
            for (int mn = 0; mn < 2; ++mn) {
                void (*kernel)(Ask) = of_b ? mn ? type.b_mn : type.b : mn ? type.a_mn : type.a;
                if (kernel == nullptr) continue;
                const uint32_t k = 32 / type.bytes, rows = of_b ? 32 : 64;
                // The identity, in registers or at kOther.
                std::vector<uint32_t> one(kThreads * 4);
                const uint32_t each = 4 / type.bytes;
                for (uint32_t thread = 0; thread < kThreads; ++thread)
                    for (uint32_t i = 0; i < 4; ++i)
                        for (uint32_t e = 0; e < each; ++e) {
                            const uint32_t row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i % 2);
                            const uint32_t column = each * (thread % 4) + 4 * each * (i / 2) + e;
                            if (row == column) one[thread * 4 + i] |= type.one << 8 * type.bytes * e;
                        }
                must(cudaMemcpy(fragment, one.data(), one.size() * 4, cudaMemcpyHostToDevice), "addresses");
                for (uint32_t swizzle = 0; swizzle < 4; ++swizzle)
                    for (int number = 0; number < 36; ++number) {
                        const uint32_t span = swizzle == 0 ? 16 : 256 >> swizzle;
                        const bool moved = number >= 12, offset = swizzle != 0 && number >= 24;
                        const uint32_t at = 128 * draw(64) + (moved ? 16 * draw(8) : 0);
                        const uint32_t address = moved ? at : at / 1024 * 1024;
                        // Canonical ones first, then any.
                        const uint32_t stride =
                            number < 6 ? 8 * span : 16 * (1 + draw(mn && swizzle == 0 ? 300 : 300));
                        const uint32_t leading =
                            number < 6 && swizzle != 0 && !mn ? 16 * draw(100) : 16 * (1 + draw(300));
                        const uint32_t base = offset ? draw(8) : 0;
                        const uint64_t bits = descriptor(address, leading, stride, base, swizzle);
                        std::vector<uint32_t> found(rows * k);
                        uint32_t power = 1;
                        bool clear = true;
                        for (uint32_t pass = 0; pass < type.passes; ++pass, power *= type.digits) {
                            for (uint32_t at_byte = 0; at_byte < kImage; at_byte += type.bytes)
                                put(at_byte, type.bytes,
                                    encoded(type, at_byte / type.bytes / power % type.digits));
                            if (!of_b) {
                                std::memset(&host[kOther], 0, 4096);
                                for (uint32_t i = 0; i < k; ++i) {
                                    const uint32_t along = i * type.bytes;
                                    const uint32_t to =
                                        16 * (i % 8) + 256 * (i / 8) + 128 * (along / 16) + along % 16;
                                    put(kOther + to, type.bytes, type.one);
                                }
                            }
                            const uint64_t other = descriptor(kOther, 128, 256, 0, 0);
                            run(kernel, of_b ? 0 : bits, of_b ? bits : other, type.name);
                            for (uint32_t row = 0; row < rows; ++row)
                                for (uint32_t i = 0; i < k; ++i) {
                                    const double value =
                                        of_b ? result(i, row, type.one == 1) : result(row, i, type.one == 1);
                                    if (value != std::floor(value) || value < 0 || value >= type.digits)
                                        clear = false;
                                    found[row * k + i] += (uint32_t)value * power;
                                }
                        }
                        test::AnswerSum sum;
                        for (uint32_t element : found) sum.add(element * type.bytes);
                        std::printf("%c %s %d %u %u %u %u %u %016llx", of_b ? 'b' : 'a', type.name, mn,
                                    leading, stride, base, swizzle, address, (unsigned long long)sum.value);
                        if (!clear) std::printf(" unclear");
                        for (size_t i = 0; whole && i < found.size(); ++i)
                            std::printf(" %x", found[i] * type.bytes);
                        std::printf("\n");
                    }
            }
}

// Of each of asked_products() its kernel.
void (*const kKernels[])(Ask) = {
    f16,       f16_half,    bf16,        tf32,         e4m3,         e4m3_half,    e5m2,
    e5m2_half, e4m3_e5m2,   s8,          u8,           s8_u8,        u8_saturated, b1,
    f16_minus, f16_sparse0, f16_sparse1, tf32_sparse0, tf32_sparse1, e4m3_sparse,  s8_sparse,
};

void products() {
    const auto& all = test::asked_products();
    for (size_t number = 0; number < all.size(); ++number)
        for (int kind = 0; kind < test::kAskedKinds; ++kind) {
            const test::AskedProduct& product = all[number];
            const test::AskedFactors given = test::asked_factors(product, number, kind);
            std::memset(host.data(), 0, host.size());
            const auto place = [&](uint32_t base, const std::vector<uint32_t>& words, uint32_t rows) {
                const auto bytes = (uint32_t)words.size() * 4 / rows;
                for (uint32_t row = 0; row < rows; ++row)
                    for (uint32_t i = 0; i < bytes; ++i)
                        host[base + 16 * (row % 8) + 128 * (row / 8) + 1024 * (i / 16) + i % 16] =
                            (uint8_t)(words[row * bytes / 4 + i / 4] >> 8 * (i % 4));
            };
            place(0, given.a, 64), place(32768, given.b, test::kAskedColumns);
            must(cudaMemcpy(c, given.c.data(), given.c.size() * 4, cudaMemcpyHostToDevice), "sums");
            must(cudaMemcpy(metadata, given.metadata.data(), given.metadata.size() * 4,
                            cudaMemcpyHostToDevice),
                 "sums");
            run(kKernels[number], descriptor(0, 1024, 128, 0, 0), descriptor(32768, 1024, 128, 0, 0),
                product.a);
            test::AnswerSum sum;
            const uint32_t registers = std::string(product.d) == "f16" ? 8 : 16;
            for (uint32_t thread = 0; thread < kThreads; ++thread)
                for (uint32_t i = 0; i < registers; ++i) sum.add(sums[thread * kRegisters + i]);
            std::printf("%zu %d %016llx", number, kind, (unsigned long long)sum.value);
            if (whole)
                for (uint32_t word : sums) std::printf(" %x", word);
            std::printf("\n");
        }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "addresses";
    whole = argc > 2;
    must(cudaMalloc(&image, kImage), "at the start");
    must(cudaMalloc(&fragment, kThreads * 16), "at the start");
    must(cudaMalloc(&metadata, kThreads * 4), "at the start");
    must(cudaMalloc(&c, zeros.size() * 4), "at the start");
    must(cudaMalloc(&d, zeros.size() * 4), "at the start");
    must(cudaMemset(fragment, 0, kThreads * 16), "at the start");
    must(cudaMemset(metadata, 0, kThreads * 4), "at the start");
    must(cudaMemset(d, 0, zeros.size() * 4), "at the start");
    if (what == "sums")
        products();
    else
        addresses();
    std::printf("done\n");
}
