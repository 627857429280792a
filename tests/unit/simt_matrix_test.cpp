// ldmatrix, stmatrix, movmatrix, mma and wmma in the interpreter: closed forms of what each lane gets, products against
// slow ones of whole matrices, faults.
#include <bit>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "core/simt/matrix_sums.h"
#include "tests/launches.h"
#include "tests/matrix_products.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using ptx::MatrixForm, ptx::MatrixRole, ptx::MatrixType;
using test::KernelRun, test::kIn, test::kOut;
using tilescope::test::matrix_instruction, tilescope::test::MatrixInstruction;

constexpr MatrixRole kRoles[] = {MatrixRole::A, MatrixRole::B, MatrixRole::C, MatrixRole::D};
constexpr uint64_t kArrayBytes = 1 << 16;

KernelRun run_text(const std::string& ptx, uint32_t threads = 32) {
    KernelRun run;
    run.program = test::program_of(ptx, "k");
    run.launch.block = {threads, 1, 1};
    run.launch.arguments = test_arguments({kIn, kIn + kArrayBytes});
    run.memory.buffers = {{"in", kIn, Bytes(kArrayBytes)}, {"out", kIn + kArrayBytes, Bytes(kArrayBytes)}};
    return run;
}

// A kernel of one warp: %t is the lane, %i and %o point to in and out, %s to its 16 bytes of tile, %d and %w are free.
KernelRun kernel_of(const std::string& body, uint32_t threads = 32) {
    return run_text(R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
    .reg .b32 %t; .reg .b32 %s; .reg .b32 %r<64>; .reg .b64 %i; .reg .b64 %o; .reg .b64 %d<64>; .reg .pred %p<9>;
    .shared .align 16 .b8 tile[16384];
    .loc 1 10 0
    ld.param.u64 %i, [k_0];
    ld.param.u64 %o, [k_1];
    mov.u32 %t, %tid.x;
    shl.b32 %s, %t, 4;
    mov.u32 %r63, tile;
    add.u32 %s, %s, %r63;
)" + body + "\n    ret;\n}\n.file 1 \"k.cu\"\n",
                    threads);
}

std::string fault_of(KernelRun run) {
    const Outcome outcome = run.run();
    return outcome.fault ? outcome.fault->message : "";
}

template <class T>
std::vector<T> out_of(KernelRun& run) {
    const Outcome outcome = run.run();
    EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
    std::vector<T> out(kArrayBytes / sizeof(T));
    std::memcpy(out.data(), run.memory.buffers[1].bytes.data(), kArrayBytes);
    return out;
}

// A lane's 16 bytes of tile are eight numbers of 16 bits, 8 lane .. 8 lane + 7; its address goes to a matrix's row.
const std::string kFillTile = R"(
    shl.b32 %r0, %t, 3;
    mad.lo.u32 %r1, %r0, 65537, 65536;
    add.u32 %r2, %r1, 131074;
    add.u32 %r3, %r2, 131074;
    add.u32 %r4, %r3, 131074;
    st.shared.v4.b32 [%s], {%r1, %r2, %r3, %r4};
    bar.warp.sync 0xffffffff;
    mul.wide.u32 %d0, %t, 16;
    add.s64 %o, %o, %d0;
)";
const std::string kStoreFour = "\n    st.global.v4.b32 [%o], {%r10, %r11, %r12, %r13};";

TEST(Matrix, LdmatrixGivesEachLaneItsElements) {
    for (const uint32_t count : {1u, 2u, 4u})
        for (const bool transposed : {false, true})
            for (const bool generic : {false, true}) {
                std::string registers = "{%r10";
                for (uint32_t i = 1; i < count; ++i) registers += ", %r" + std::to_string(10 + i);
                const std::string name = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                                         (transposed ? ".trans" : "") + (generic ? "" : ".shared") + ".b16 ";
                const std::string address = generic ? "[%d1]" : "[%s]";
                KernelRun run = kernel_of(kFillTile + "cvt.u64.u32 %d1, %s; cvta.shared.u64 %d1, %d1;" +
                                          name + registers + "}, " + address + ";" + kStoreFour);
                const auto out = out_of<uint32_t>(run);
                for (uint32_t lane = 0; lane < 32; ++lane)
                    for (uint32_t j = 0; j < 4; ++j)
                        for (uint32_t e = 0; e < 2; ++e) {
                            const uint32_t across = lane / 4, along = 2 * (lane % 4) + e;
                            const uint32_t row = transposed ? along : across,
                                           column = transposed ? across : along;
                            EXPECT_EQ(out[4 * lane + j] >> 16 * e & 0xFFFF,
                                      j < count ? 64 * j + 8 * row + column : 0)
                                << name << lane << " " << j;
                        }
                // A step of the lanes that give addresses.
                const test::Event& step = run.events[0][1];
                EXPECT_TRUE(step.is_load);
                EXPECT_EQ(step.space, Space::Shared);
                EXPECT_EQ(step.mask, count == 4 ? ~0u : (1u << 8 * count) - 1);
                EXPECT_EQ(step.address[5], 80u);
            }
}

TEST(Matrix, StmatrixPutsBackWhatLdmatrixTook) {
    for (const bool transposed : {false, true}) {
        const std::string trans = transposed ? ".trans" : "";
        KernelRun run =
            kernel_of(kFillTile + "ldmatrix.sync.aligned.m8n8.x4" + trans +
                      ".shared.b16 {%r10, %r11, %r12, %r13}, [%s];"
                      "stmatrix.sync.aligned.m8n8.x2" +
                      trans +
                      ".shared.b16 [%s+1024], {%r10, %r11};"
                      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s+2048], {%r10, %r11, %r12, %r13};"
                      "bar.warp.sync 0xffffffff;"
                      "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%s+1024];"
                      "st.global.v4.b32 [%o], {%r20, %r21, %r22, %r23};"
                      "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%s+2048];"
                      "st.global.v4.b32 [%o+512], {%r20, %r21, %r22, %r23};");
        const auto out = out_of<uint16_t>(run);
        for (uint32_t i = 0; i < 256; ++i) {
            EXPECT_EQ(out[i], i < 128 ? i : 0xFFFF);
            const uint32_t row = i / 8 % 8, column = i % 8;
            EXPECT_EQ(out[256 + i], transposed ? i / 64 * 64 + 8 * column + row : i);
        }
    }
}

TEST(Matrix, MovmatrixTransposes) {
    KernelRun run = kernel_of(kFillTile + R"(
    mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%s];
    movmatrix.sync.aligned.m8n8.trans.b16 %r11, %r10;
    ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r12}, [%s];)" +
                              kStoreFour);
    const auto out = out_of<uint32_t>(run);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(out[4 * lane + 1], out[4 * lane + 2]) << lane;
        EXPECT_NE(out[4 * lane + 1], 0u);
    }
}

// --- products

// Whole matrices of numbers, [product][row][column], and how they lie in fragments.
struct Matrices {
    std::array<std::vector<double>, 4> of;
    std::array<uint32_t, 32> metadata{};  // of a sparse A, by lane
};

uint64_t bits_of_number(MatrixType type, double x) {
    switch (type) {
        case MatrixType::F16: return half_bits(x);
        case MatrixType::BF16: return std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16;
        case MatrixType::TF32:
        case MatrixType::F32: return std::bit_cast<uint32_t>(static_cast<float>(x));
        case MatrixType::F64: return std::bit_cast<uint64_t>(x);
        case MatrixType::E4M3:
        case MatrixType::E5M2:
            for (uint32_t bits = 0; bits < 256; ++bits)
                if (number_of({type == MatrixType::E4M3 ? ElementType::E4M3 : ElementType::E5M2, bits}) == x)
                    return bits;
            return 0;
        default:
            return static_cast<uint64_t>(static_cast<int64_t>(x)) &
                   (ptx::bits_of(type) == 32 ? 0xFFFF'FFFF : (uint64_t{1} << ptx::bits_of(type)) - 1);
    }
}

double number_of_bits(MatrixType type, uint64_t bits) {
    switch (type) {
        case MatrixType::F16: return number_of({ElementType::F16, bits});
        case MatrixType::F32: return number_of({ElementType::F32, bits});
        case MatrixType::F64: return number_of({ElementType::F64, bits});
        default: return static_cast<int32_t>(bits);
    }
}

// Small whole numbers, so that every sum is exact whatever its order.
double small_number(MatrixType type, std::mt19937& random) {
    switch (type) {
        case MatrixType::U4: return static_cast<int>(random() % 16);
        case MatrixType::U8: return static_cast<int>(random() % 256);
        case MatrixType::S4: return static_cast<int>(random() % 16) - 8;
        case MatrixType::S8: return static_cast<int>(random() % 256) - 128;
        case MatrixType::B1: return static_cast<int>(random() % 2);
        case MatrixType::S32: return static_cast<int>(random() % 2001) - 1000;
        default: return static_cast<int>(random() % 9) - 4;
    }
}

// The fragments of a product as words of 8 bytes, [role][register][lane], A first.
std::vector<uint64_t> fragments_of(const MatrixForm& form, const Matrices& matrices) {
    std::vector<uint64_t> words;
    for (const MatrixRole role : kRoles)
        for (uint8_t i = 0; role != MatrixRole::D && i < form.registers(role); ++i)
            for (uint8_t lane = 0; lane < 32; ++lane) {
                uint64_t word = 0;
                for (uint8_t e = 0; e < form.elements(role); ++e) {
                    const ptx::MatrixPlace at = ptx::place_of(form, role, {lane, i, e});
                    const size_t place =
                        (size_t{at.product} * form.rows(role) + at.row) * form.columns(role) + at.column;
                    word |= bits_of_number(form.type(role), matrices.of[static_cast<size_t>(role)][place])
                            << e * ptx::bits_of(form.type(role));
                }
                words.push_back(word);
            }
    if (form.sparse) words.insert(words.end(), matrices.metadata.begin(), matrices.metadata.end());
    return words;
}

// D of fragments as words of 8 bytes, [register][lane].
std::vector<uint64_t> registers_of_product(const MatrixInstruction& instruction,
                                           const std::vector<uint64_t>& words) {
    KernelRun run = run_text(tilescope::test::product_kernel(instruction));
    std::memcpy(run.memory.buffers[0].bytes.data(), words.data(), words.size() * 8);
    return out_of<uint64_t>(run);
}

std::vector<double> product_of(const MatrixInstruction& instruction, const Matrices& matrices) {
    const MatrixForm& form = instruction.form;
    const auto out = registers_of_product(instruction, fragments_of(form, matrices));
    const MatrixType type = form.type(MatrixRole::D);
    std::vector<double> d(size_t{form.products()} * form.m * form.n);
    for (uint8_t i = 0; i < form.registers(MatrixRole::D); ++i)
        for (uint8_t lane = 0; lane < 32; ++lane)
            for (uint8_t e = 0; e < form.elements(MatrixRole::D); ++e) {
                const ptx::MatrixPlace at = ptx::place_of(form, MatrixRole::D, {lane, i, e});
                const uint64_t bits = out[i * 32u + lane] >> e * ptx::bits_of(type);
                d[(size_t{at.product} * form.m + at.row) * form.n + at.column] =
                    number_of_bits(type, form.elements(MatrixRole::D) == 2 ? bits & 0xFFFF : bits);
            }
    return d;
}

Matrices random_matrices(const MatrixForm& form, std::mt19937& random) {
    Matrices made;
    for (const MatrixRole role : kRoles)
        for (size_t i = 0; i < size_t{form.products()} * form.rows(role) * form.columns(role); ++i)
            made.of[static_cast<size_t>(role)].push_back(small_number(form.type(role), random));
    // Two of four columns; of tf32 one of two, by two numbers that follow each other.
    const bool alone = form.type(MatrixRole::A) == MatrixType::TF32;
    for (uint32_t& word : made.metadata)
        for (int shift = 0; shift < 32; shift += 4) {
            constexpr uint32_t kTwo[] = {0b0100, 0b1110, 0b1000, 0b1100, 0b1001, 0b1101};
            word |= kTwo[random() % (alone ? 2 : 6)] << shift;
        }
    return made;
}

// fn(a, b) for each element of a row of A that is stored and the one of B that it meets.
template <class Fn>
void each_pair(const MatrixInstruction& instruction, const Matrices& x, size_t product, size_t row,
               size_t column, Fn fn) {
    const MatrixForm& form = instruction.form;
    const size_t stored = form.columns(MatrixRole::A);
    for (size_t i = 0; i < stored; ++i) {
        const size_t k = form.sparse
                             ? ptx::column_of_stored(form, instruction.selector, x.metadata.data(),
                                                     static_cast<uint32_t>(row), static_cast<uint32_t>(i))
                             : i;
        fn(x.of[0][(product * form.m + row) * stored + i], x.of[1][(product * form.k + k) * form.n + column]);
    }
}

// C + A B, one element after the other.
std::vector<double> slow_product(const MatrixInstruction& instruction, const Matrices& x) {
    const MatrixForm& form = instruction.form;
    std::vector<double> d;
    const bool bits = form.type(MatrixRole::A) == MatrixType::B1;
    for (size_t p = 0; p < form.products(); ++p)
        for (size_t row = 0; row < form.m; ++row)
            for (size_t column = 0; column < form.n; ++column) {
                double sum = x.of[2][(p * form.m + row) * form.n + column];
                each_pair(instruction, x, p, row, column, [&](double a, double b) {
                    sum += bits ? (form.both ? a * b : std::fabs(a - b)) : a * b;
                });
                d.push_back(sum);
            }
    return d;
}

TEST(Matrix, ProductsOfAllFormsAreThoseOfTheMatrices) {
    std::mt19937 random(7);
    for (const MatrixInstruction& instruction : tilescope::test::all_products()) {
        const Matrices matrices = random_matrices(instruction.form, random);
        EXPECT_EQ(product_of(instruction, matrices), slow_product(instruction, matrices))
            << instruction.text << " " << instruction.selector;
    }
}

TEST(Matrix, SumsOfIntegersWrapOrStayAtTheEnds) {
    for (const bool stays : {false, true}) {
        const std::string instruction =
            std::string("mma.sync.aligned.m16n8k32.row.col.") + (stays ? "satfinite." : "") + "s32.s8.s8.s32";
        std::mt19937 random(1);
        Matrices matrices = random_matrices(matrix_instruction(instruction).form, random);
        std::ranges::fill(matrices.of[0], -128), std::ranges::fill(matrices.of[1], -128);
        std::ranges::fill(matrices.of[2], 2147483000.0);
        const double sum = 2147483000.0 + 32 * 16384;
        for (const double d : product_of(matrix_instruction(instruction), matrices))
            EXPECT_EQ(d, stays ? 2147483647.0 : sum - 4294967296.0);
    }
}

// --- sums of floats, element by element, as the head of matrix_sums.h says

struct Term {
    double value = 0;
    int exponent = 0;
};

// The sum of the terms, cut to a float or rounded to a half.
double summed(const std::vector<Term>& terms, bool halves) {
    int largest = halves ? -10000 : -133;
    for (const Term& term : terms)
        if (term.value != 0) largest = std::max(largest, term.exponent);
    double sum = 0;
    for (const Term& term : terms) sum += std::trunc(std::ldexp(term.value, 25 - largest));
    sum = std::ldexp(sum, largest - 25);
    if (halves) return number_of({ElementType::F16, half_bits(sum)});
    const auto nearest = static_cast<float>(sum);
    return std::fabs(nearest) > std::fabs(sum) && std::fabs(sum) < 0x1p128 ? std::nextafter(nearest, 0.0f)
                                                                           : nearest;
}

int seen_exponent(MatrixType type, double x) {
    return x == 0
               ? 0
               : std::max(std::ilogb(x), type == MatrixType::BF16 || type == MatrixType::TF32 ? -126 : -14);
}

std::vector<double> slow_sums(const MatrixInstruction& instruction, const Matrices& x) {
    const MatrixForm& form = instruction.form;
    std::vector<double> d;
    const MatrixType a_type = form.type(MatrixRole::A), b_type = form.type(MatrixRole::B);
    const bool small = ptx::bits_of(a_type) == 8, halves = form.type(MatrixRole::D) == MatrixType::F16;
    const auto of_sum = [&](double c) { return c == 0 ? 0 : std::max(std::ilogb(c), halves ? -14 : -126); };
    const bool fours = form.wmma && a_type == MatrixType::TF32;
    const auto rounded = [&](double sum) {
        return halves ? number_of({ElementType::F16, half_bits(sum)}) : static_cast<float>(sum);
    };
    for (size_t row = 0; row < form.m; ++row)
        for (size_t column = 0; column < form.n; ++column) {
            const double c = x.of[2][row * form.n + column];
            std::vector<Term> terms[2];
            size_t k = 0;
            each_pair(instruction, x, 0, row, column, [&](double one, double other) {
                terms[small   ? k++ / 2 % 2
                      : fours ? k++ / 4
                              : 0]
                    .push_back({one * other, seen_exponent(a_type, one) + seen_exponent(b_type, other)});
            });
            if (small) {
                const double first = summed(terms[0], halves);
                terms[1].push_back({first, of_sum(first)});
                d.push_back(rounded(c + summed(terms[1], halves)));
            } else {
                double sum = c;
                for (std::vector<Term>& some : terms) {
                    if (some.empty()) continue;
                    some.push_back({sum, of_sum(sum)});
                    sum = summed(some, halves);
                }
                d.push_back(sum);
            }
        }
    return d;
}

// Some exponents near one, or far from it, or neighbours that nearly cancel each other, or subnormals.
double random_float(MatrixType type, int kind, std::mt19937& random) {
    const auto bits = [&] { return static_cast<uint32_t>(random()); };
    const auto with = [&](uint32_t fraction, uint32_t bias, uint32_t reach) {
        const uint32_t e = kind == 3 ? 0 : bias + bits() % (2 * reach + 1) - reach;
        return bits() % 2 << (type == MatrixType::F16 ? 15 : 8 + fraction) | e << fraction |
               bits() % (1u << fraction);
    };
    const auto number = [](ElementType of, uint32_t made) { return number_of({of, made}); };
    const uint32_t reach = kind == 0 ? 2 : 13;
    switch (type) {
        case MatrixType::F16: return number(ElementType::F16, with(10, 15, reach));
        case MatrixType::BF16: return number(ElementType::F32, with(7, 127, reach) << 16);
        case MatrixType::TF32: return number(ElementType::F32, with(10, 127, reach) << 13);
        case MatrixType::F32: return number(ElementType::F32, with(23, 127, reach));
        case MatrixType::E4M3: return number(ElementType::E4M3, bits() % 0x7F | (bits() & 0x80));
        default: return number(ElementType::E5M2, bits() % 0x7C | (bits() & 0x80));
    }
}

TEST(Matrix, SumsOfFloatsAreATensorCores) {
    std::mt19937 random(3);
    size_t unlike_fma = 0;
    for (const std::string rest :
         {"m16n8k16.row.col.f32.f16.f16.f32", "m16n8k8.row.col.f32.f16.f16.f32",
          "m16n8k16.row.col.f16.f16.f16.f16", "m16n8k8.row.col.f16.f16.f16.f16",
          "m16n8k16.row.col.f32.bf16.bf16.f32", "m16n8k8.row.col.f32.bf16.bf16.f32",
          "m16n8k8.row.col.f32.tf32.tf32.f32", "m16n8k4.row.col.f32.tf32.tf32.f32",
          "m16n8k32.row.col.f32.e4m3.e4m3.f32", "m16n8k32.row.col.f32.e5m2.e4m3.f32",
          "m16n8k16.row.col.f32.e5m2.e5m2.f32", "m16n8k32.row.col.f16.e4m3.e5m2.f16",
          "m16n8k32.row.col.f16.f16.f16.f16.sp", "m16n8k16.row.col.f32.bf16.bf16.f32.sp",
          "m16n8k16.row.col.f32.tf32.tf32.f32.sp", "wmma"}) {
        const size_t sparse = rest.find(".sp");
        const MatrixInstruction instruction =
            matrix_instruction(rest == "wmma" ? "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32"
                               : sparse == rest.npos ? "mma.sync.aligned." + rest
                                                     : "mma.sp.sync.aligned." + rest.substr(0, sparse));
        const MatrixForm& form = instruction.form;
        for (int kind = 0; kind < 4; ++kind) {
            Matrices matrices = random_matrices(form, random);
            for (const MatrixRole role : {MatrixRole::A, MatrixRole::B, MatrixRole::C})
                for (double& x : matrices.of[static_cast<size_t>(role)])
                    x = random_float(form.type(role), kind, random);
            if (kind == 2)  // columns of A in pairs, and rows of B nearly so
                for (size_t i = 1; i < matrices.of[0].size(); i += 2)
                    matrices.of[0][i] = -matrices.of[0][i - 1];
            const std::vector<double> made = product_of(instruction, matrices);
            EXPECT_EQ(made, slow_sums(instruction, matrices)) << rest << ", kind " << kind;
            for (size_t i = 0; i < made.size(); ++i) {
                auto sum = static_cast<float>(matrices.of[2][i]);
                each_pair(instruction, matrices, 0, i / form.n, i % form.n, [&](double a, double b) {
                    sum = std::fma(static_cast<float>(a), static_cast<float>(b), sum);
                });
                unlike_fma += made[i] != sum;
            }
        }
    }
    EXPECT_GT(unlike_fma, 1000u);
}

// A row and a column whose sum an H200 formed; and what it makes of any negative sum below the least number.
TEST(Matrix, SumsBelowAllFloatsAreCutAsAnH200CutsThem) {
    const MatrixInstruction instruction =
        matrix_instruction("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32");
    const auto sum_of = [&](std::initializer_list<std::pair<uint32_t, uint32_t>> factors) {
        Matrices matrices;
        matrices.of[0].assign(size_t{16} * 8, 0.0);
        matrices.of[1].assign(size_t{8} * 8, 0.0);
        matrices.of[2].assign(size_t{16} * 8, 0.0);
        size_t k = 0;
        for (const auto& [a, b] : factors) {
            matrices.of[0][k] = std::bit_cast<float>(a << 16);
            matrices.of[1][k++ * 8] = std::bit_cast<float>(b << 16);
        }
        return std::bit_cast<uint32_t>(static_cast<float>(product_of(instruction, matrices)[0]));
    };
    EXPECT_EQ(sum_of({{0x05DB, 0xA99D},
                      {0xA3E8, 0x980D},
                      {0xB362, 0x887A},
                      {0x8A92, 0xA4D6},
                      {0x889D, 0x0819},
                      {0x08A5, 0x1D04},
                      {0x8000, 0x2416},
                      {0x222B, 0x835E}}),
              0xEE22u);
    EXPECT_EQ(sum_of({{0x8A92, 0x29D6}}), 0u) << "zero has no sign";
}

TEST(Matrix, WhatIsInfiniteOrNoNumberStaysSo) {
    const MatrixInstruction instruction =
        matrix_instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    const MatrixForm& form = instruction.form;
    std::mt19937 random(3);
    Matrices matrices = random_matrices(form, random);
    matrices.of[0][0] = std::numeric_limits<double>::infinity();
    matrices.of[1][0] = 1, matrices.of[1][1] = -1, matrices.of[1][2] = 0;
    const std::vector<double> exact = slow_product(instruction, matrices),
                              special = product_of(instruction, matrices);
    EXPECT_EQ(special[0], std::numeric_limits<double>::infinity());
    EXPECT_EQ(special[1], -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(special[2]));
    for (size_t i = form.n; i < special.size(); ++i) EXPECT_EQ(special[i], exact[i]);
}

// Four products m8n8k4 of f16 are no work for a tensor core on sm_90.
TEST(Matrix, SumsOfFourAreFormedByFma) {
    const MatrixInstruction instruction =
        matrix_instruction("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32");
    const MatrixForm& form = instruction.form;
    std::mt19937 random(5);
    Matrices x = random_matrices(form, random);
    for (const MatrixRole role : {MatrixRole::A, MatrixRole::B, MatrixRole::C})
        for (double& one : x.of[static_cast<size_t>(role)]) one = random_float(form.type(role), 1, random);
    const std::vector<double> made = product_of(instruction, x);
    for (size_t at = 0; at < made.size(); ++at) {
        const size_t p = at / 64, row = at / 8 % 8, column = at % 8;
        float sum = 0;
        for (size_t k = 0; k < 4; ++k)
            sum = std::fma(static_cast<float>(x.of[0][(p * 8 + row) * 4 + k]),
                           static_cast<float>(x.of[1][(p * 4 + k) * 8 + column]), sum);
        EXPECT_EQ(made[at], static_cast<float>(x.of[2][at]) + sum) << at;
    }
}

// tests/data/hardware/matrix_sums.bin: random and special tiles and what an H200 made of them, as
// tests/gpu/probes/matrix_sums.py wrote them. Every word of every D must be equal.
TEST(MatrixHardware, EverySumIsTheGpus) {
    std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/data/hardware/matrix_sums.bin", std::ios::binary);
    if (!file) GTEST_SKIP() << "no GPU has been asked yet: tests/gpu/probes/make.sh";
    size_t forms = 0;
    for (std::string line; std::getline(file, line); ++forms) {
        std::istringstream in(line);
        std::string word, shape, sum, factor;
        size_t tiles = 0;
        in >> word >> shape >> sum >> factor >> tiles;
        ASSERT_EQ(word, "form");
        const MatrixInstruction instruction = matrix_instruction(
            "mma.sync.aligned." + shape + ".row.col." + sum + "." + factor + "." + factor + "." + sum);
        const MatrixForm& form = instruction.form;
        for (size_t tile = 0; tile < tiles; ++tile) {
            std::vector<uint64_t> words;
            std::vector<uint32_t> d;
            for (const MatrixRole role : kRoles)
                for (size_t i = 0; i < size_t{32} * form.registers(role); ++i) {
                    uint32_t read = 0;
                    ASSERT_TRUE(file.read(reinterpret_cast<char*>(&read), sizeof read)) << line;
                    if (role == MatrixRole::D)
                        d.push_back(read);
                    else
                        words.push_back(read);
                }
            const std::vector<uint64_t> made = registers_of_product(instruction, words);
            for (size_t i = 0; i < d.size(); ++i)
                EXPECT_EQ(static_cast<uint32_t>(made[i]), d[i])
                    << instruction.text << " tile " << tile << " register " << i / 32 << " lane " << i % 32
                    << std::hex << ": got " << made[i] << ", the GPU gave " << d[i];
        }
    }
    EXPECT_GE(forms, 10u);
}

TEST(Matrix, HalvesAreNumbersOfTheirOwn) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const double number = number_of({ElementType::F16, bits}), half = half_number(bits);
        if (std::isnan(number)) {
            EXPECT_TRUE(std::isnan(half));
            EXPECT_EQ(half_bits(half), 0x7FFFu);
            continue;
        }
        EXPECT_EQ(half, number);
        EXPECT_EQ(half_bits(number), bits);
        if (bits % 0x8000 >= 0x7BFF) continue;
        const double next = number_of({ElementType::F16, bits + 1}), between = (number + next) / 2;
        EXPECT_EQ(half_bits(between), bits % 2 == 0 ? bits : bits + 1) << bits;
        EXPECT_EQ(half_bits(std::nextafter(between, 0)), bits);
        EXPECT_EQ(half_bits(std::nextafter(between, 2 * next)), bits + 1);
    }
    for (uint32_t bits = 0; bits < 256; ++bits) {
        const double number = number_of({ElementType::E4M3, bits}), made = e4m3_number(bits);
        EXPECT_TRUE(made == number || (std::isnan(made) && std::isnan(number))) << bits;
    }
}

// --- wmma from memory to memory

struct WmmaCase {
    const char *shape, *a, *b, *sum;  // b: the types in wmma.mma
    bool a_rows, b_rows, d_rows;
};

TEST(Matrix, WmmaGoesFromMemoryToMemory) {
    std::mt19937 random(11);
    std::vector<WmmaCase> cases;
    for (const char* shape : {"m16n16k16", "m32n8k16", "m8n32k16"})
        for (const bool a_rows : {false, true})
            for (const bool b_rows : {false, true})
                for (const bool d_rows : {false, true}) {
                    cases.push_back({shape, "f16", "f32.f32", "f32", a_rows, b_rows, d_rows});
                    cases.push_back({shape, "f16", "f16.f16", "f16", a_rows, b_rows, d_rows});
                    cases.push_back({shape, "bf16", "f32.bf16.bf16.f32", "f32", a_rows, b_rows, d_rows});
                    cases.push_back({shape, "s8", "s32.s8.s8.s32", "s32", a_rows, b_rows, d_rows});
                }
    for (const bool rows : {false, true}) {
        cases.push_back({"m16n16k8", "tf32", "f32.tf32.tf32.f32", "f32", rows, !rows, rows});
        cases.push_back({"m8n8k4", "f64", "f64.f64.f64.f64", "f64", rows, rows, rows});
        cases.push_back({"m8n8k32", "s4", "s32.s4.s4.s32", "s32", true, false, rows});
        cases.push_back({"m8n8k128", "b1", "", "s32", true, false, rows});
    }
    for (const WmmaCase& one : cases)
        for (const bool shared : {false, true}) {
            const std::string layouts =
                std::string(one.a_rows ? "row." : "col.") + (one.b_rows ? "row." : "col.");
            const std::string shape = one.shape;
            const bool bits = std::string(one.a) == "b1";
            const std::string product = bits ? "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32"
                                             : "wmma.mma.sync.aligned." + layouts + shape + "." + one.b;
            const MatrixInstruction instruction = matrix_instruction(product);
            const MatrixForm& form = instruction.form;
            const Matrices matrices = random_matrices(form, random);
            const auto registers = [&](MatrixRole role, uint32_t first) {
                std::string text = "{";
                for (uint32_t i = 0; i < form.registers(role); ++i)
                    text += (i == 0 ? "" : ", ") + std::string(form.register_bytes(role) == 8 ? "%d" : "%r") +
                            std::to_string(first + i);
                return text + "}";
            };
            const std::string a = registers(MatrixRole::A, 10), b = registers(MatrixRole::B, 20),
                              c = registers(MatrixRole::C, 30), d = registers(MatrixRole::D, 40);
            // A at 0, B at 4096, C at 8192 of `in`, or of the tile, to which all of it is copied first; strides of 48
            // elements (128 of bits).
            const uint32_t stride = bits ? 128 : form.type(MatrixRole::A) == MatrixType::S4 ? 64 : 48;
            std::string body;
            if (shared) {
                body = "mov.u32 %r1, 0; cvt.u64.u32 %d1, %t; shl.b64 %d1, %d1, 4; add.s64 %d1, %i, %d1;";
                for (uint32_t at = 0; at < 16384; at += 512)
                    body += "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d1+" + std::to_string(at) +
                            "]; st.shared.v4.b32 [%s+" + std::to_string(at) + "], {%r2, %r3, %r4, %r5};";
            }
            const auto from = [&](uint32_t at) {
                return shared ? "[%r63+" + std::to_string(at) + "]" : "[%i+" + std::to_string(at) + "]";
            };
            const std::string space = shared ? ".shared." : random() % 2 ? ".global." : ".";
            const auto layout = [](bool rows) { return std::string(rows ? "row." : "col."); };
            body += "mov.u32 %r62, " + std::to_string(stride) + ";";
            body += "wmma.load.a.sync.aligned." + layout(one.a_rows) + shape + space + one.a + " " + a +
                    ", " + from(0) + ", %r62;";
            body += "wmma.load.b.sync.aligned." + layout(one.b_rows) + shape + space + one.a + " " + b +
                    ", " + from(4096) + ", %r62;";
            body += "wmma.load.c.sync.aligned." + layout(one.d_rows) + shape + space + one.sum + " " + c +
                    ", " + from(8192) + ";";
            body += product + " " + d + ", " + a + ", " + b + ", " + c + ";";
            body += "wmma.store.d.sync.aligned." + layout(one.d_rows) + shape + ".global." + one.sum +
                    " [%o], " + d + ", " + std::to_string(one.d_rows ? 40 : 36) + ";";
            KernelRun run = kernel_of(body);
            auto* const in = run.memory.buffers[0].bytes.data();
            const auto put = [&](MatrixRole role, bool rows, uint32_t at, uint32_t step) {
                const MatrixType type = form.type(role);
                const uint32_t size = ptx::bits_of(type);
                for (uint32_t row = 0; row < form.rows(role); ++row)
                    for (uint32_t column = 0; column < form.columns(role); ++column) {
                        const uint32_t bit = (rows ? row * step + column : column * step + row) * size;
                        const uint64_t value = bits_of_number(
                            type, matrices.of[static_cast<size_t>(role)][row * form.columns(role) + column]);
                        if (size < 8)
                            in[at + bit / 8] |= static_cast<std::byte>(value << bit % 8);
                        else
                            std::memcpy(in + at + bit / 8, &value, size / 8);
                    }
            };
            put(MatrixRole::A, one.a_rows, 0, stride);
            put(MatrixRole::B, one.b_rows, 4096, stride);
            put(MatrixRole::C, one.d_rows, 8192, ptx::natural_stride(form, MatrixRole::C, one.d_rows));
            const auto out = out_of<uint8_t>(run);
            const std::vector<double> wanted = slow_product(instruction, matrices);
            const uint32_t size = ptx::bits_of(form.type(MatrixRole::D)) / 8, step = one.d_rows ? 40 : 36;
            for (uint32_t row = 0; row < form.m; ++row)
                for (uint32_t column = 0; column < form.n; ++column) {
                    uint64_t value = 0;
                    std::memcpy(&value, &out[(one.d_rows ? row * step + column : column * step + row) * size],
                                size);
                    ASSERT_EQ(number_of_bits(form.type(MatrixRole::D), value), wanted[row * form.n + column])
                        << product << " " << space << " " << row << " " << column << " " << one.d_rows;
                }
        }
}

// Where values are wanted, an observer is told what each lane holds of a product, and where that came from.
TEST(Matrix, FragmentsAndTheirOriginsAreTold) {
    struct Watcher final : BlockObserver {
        uint32_t steps = 0, products = 0;
        void on_request(const Request&) override { ++steps; }
        void on_barrier(uint32_t, uint32_t, uint32_t) override { ++steps; }
        void on_exchange(const Exchange& made) override {
            ++steps;
            ASSERT_NE(made.product, nullptr);
            const MatrixProduct& product = *made.product;
            EXPECT_EQ(product.form->k, 16);
            const Origin a_step = 2, b_step = 3;  // behind the store that filled the tile, from 1
            for (uint32_t lane = 0; lane < 32; ++lane) {
                for (uint32_t i = 0; i < 4; ++i) {
                    const uint32_t first = 64 * i + 8 * (lane / 4) + 2 * (lane % 4);
                    EXPECT_EQ(product.value[0][32 * i + lane], first | (first + 1) << 16);
                    EXPECT_EQ(product.origin[0][32 * i + lane], a_step | i << kPartShift);
                }
                for (uint32_t i = 0; i < 2; ++i)
                    EXPECT_EQ(product.origin[1][32 * i + lane], b_step | i << kPartShift);
                for (uint32_t i = 0; i < 4; ++i) {
                    EXPECT_EQ(product.value[2][32 * i + lane], 0u);
                    const Origin d = product.origin[3][32 * i + lane];
                    EXPECT_NE(d & kComputed, 0u);
                    EXPECT_EQ(product.origin[2][32 * i + lane], 0u);
                }
            }
            ++products;
        }
    };
    KernelRun run = kernel_of(kFillTile + R"(
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%s];
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14, %r15}, [%s];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {0, 0, 0, 0};
    st.global.v4.b32 [%o], {%r20, %r21, %r22, %r23};)");
    run.options.values = true;
    Watcher watcher;
    const auto outcome = simt::run(*run.program, run.launch, run.memory, run.options,
                                   [&](const BlockId&) -> BlockObserver* { return &watcher; });
    ASSERT_TRUE(outcome && outcome->complete) << (outcome && outcome->fault ? outcome->fault->message : "");
    EXPECT_EQ(watcher.products, 1u);
    EXPECT_EQ(watcher.steps, 5u);
    EXPECT_EQ(outcome->flop, uint64_t{2} * 16 * 8 * 16);
}

TEST(Matrix, AllLanesOfAWarpMustComeTogether) {
    const std::string mma =
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3}, {%r4}, {%r5, %r6};";
    const std::string some = "setp.lt.u32 %p0, %t, 20;";
    EXPECT_EQ(fault_of(kernel_of(some + "@!%p0 bra X;" + mma + "\nX: st.global.u32 [%o], %t;")),
              "lanes 0 to 19 of warp 0 of block(0) come to mma at line 10 without lanes 20 to 31, which "
              "take another "
              "path: all 32 lanes of a warp must come to it together");
    EXPECT_NE(fault_of(kernel_of(some + "@%p0 " + mma)).find("without lanes 20 to 31"), std::string::npos);
    EXPECT_NE(fault_of(kernel_of(some + "@!%p0 ret;" + mma)).find("without lanes 20 to 31, which have ended"),
              std::string::npos);
    EXPECT_NE(fault_of(kernel_of(mma, 16)).find("without lanes 16 to 31, which have no thread"),
              std::string::npos);
    for (const char* other :
         {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r63];",
          "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r63], {%r0};",
          "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;",
          "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
          "[%r63];",
          "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r63], {%r0, %r1, %r2, %r3};"}) {
        EXPECT_NE(fault_of(kernel_of(some + "@!%p0 bra X;" + other + "\nX: st.global.u32 [%o], %t;"))
                      .find("all 32 lanes"),
                  std::string::npos)
            << other;
        EXPECT_EQ(fault_of(kernel_of(other)), "") << other;
    }
    // A predicate that none or all of them hold is no matter.
    EXPECT_EQ(
        fault_of(kernel_of("setp.lt.u32 %p0, %t, 32; setp.gt.u32 %p1, %t, 99; @%p0 " + mma + "@%p1 " + mma)),
        "");
}

TEST(Matrix, ASelectorMustNameLanes) {
    for (const MatrixInstruction& instruction : tilescope::test::all_products()) {
        if (!instruction.form.sparse || instruction.selector > 0) continue;
        MatrixInstruction wrong = instruction;
        wrong.selector = ptx::selectors_of(instruction.form);
        const auto module = ptx::parse(tilescope::test::product_kernel(wrong), "k.ptx");
        ASSERT_TRUE(module) << module.error().message;
        const auto program = prepare(*module, "k");
        ASSERT_FALSE(program) << instruction.text;
        EXPECT_NE(program.error().message.find("sparsity selector must be "), std::string::npos)
            << program.error().message;
    }
}

// What B holds where A is not stored does not count, not even what is infinite.
TEST(Matrix, ColumnsThatAreNotStoredDoNotCount) {
    const MatrixInstruction instruction =
        matrix_instruction("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    std::mt19937 random(9);
    Matrices matrices = random_matrices(instruction.form, random);
    matrices.metadata.fill(0x44444444);  // columns 0 and 1 of each four
    const std::vector<double> exact = slow_product(instruction, matrices);
    for (size_t k = 0; k < 16; ++k)
        for (size_t n = 0; n < 8; ++n)
            if (k % 4 > 1) matrices.of[1][8 * k + n] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(product_of(instruction, matrices), exact);
}

TEST(Matrix, RowsMustLieInSharedMemoryAt16Bytes) {
    const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, ";
    EXPECT_NE(fault_of(kernel_of(load + "[%s+8];")).find("not a multiple of 16"), std::string::npos);
    EXPECT_NE(fault_of(kernel_of(load + "[%s+20000];")).find("shared memory"), std::string::npos);
    // Addresses of lanes that point to nothing do not count.
    EXPECT_EQ(fault_of(kernel_of("setp.gt.u32 %p0, %t, 7; @%p0 mov.u32 %s, 3; " + load + "[%s];")), "");
    EXPECT_NE(fault_of(kernel_of("ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%i];")).find("shared memory"),
              std::string::npos);
}

}  // namespace
}  // namespace tilescope::simt
