// ldmatrix, stmatrix, movmatrix, mma and wmma in PTX: read, printed again, refused; who holds which element, by the PTX
// ISA's own formulas; sites.
#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include <gtest/gtest.h>

#include "core/ptx/matrix.h"
#include "core/ptx/ops.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "tests/matrix_products.h"

namespace tilescope::ptx {
namespace {

std::string module_with(const std::string& body) {
    return R"ptx(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<40>;
.reg .f32 %f<20>;
.reg .b64 %rd<4>;
.reg .f64 %fd<20>;
.reg .pred %p<2>;
.shared .align 16 .b8 tile[1024];
)ptx" + body +
           "\nret;\n}\n";
}

std::string error_of(const std::string& body) {
    const auto module = parse(module_with(body), "k.ptx");
    return module && module->refused.empty() ? "" : module ? module->refused[0].why : module.error().message;
}

// As kernels write them that need no row of their own: sums that nobody wants, and zeros to add to.
TEST(PtxMatrix, SumsMayBeConstantsAndNobodys) {
    const auto module =
        parse(module_with(
                  "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, _, %f1, _}, {%r0, %r1, %r2, %r3}, "
                  "{%r4, %r5}, {%f2, 0., %f3, -0.5};"),
              "k.ptx");
    ASSERT_TRUE(module) << module.error().message;
    ASSERT_EQ(module->kernels.size(), 1u);
    EXPECT_EQ(print(module->kernels[0], module->kernels[0].instructions[0]),
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \t{%f0, _, %f1, _}, {%r0, %r1, %r2, %r3}, "
              "{%r4, %r5}, "
              "{%f2, 0f00000000, %f3, 0fBF000000};");
}

TEST(PtxMatrix, AreReadAndPrintedAgain) {
    const std::string body = R"ptx(ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r5+16];
ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%r0, %r1}, [%r5];
ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {%r0}, [tile];
ldmatrix.sync.aligned.m8n8.x4.trans.b16 {%r0, %r1, %r2, %r3}, [%rd1];
stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r5], {%r0, %r1};
movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3}, {%r4}, {%r5, %r6};
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3}, %r4, {%r5, %r6};
mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};
mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32.satfinite {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};
mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};
mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r0, %r1}, {%r2, %r3}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd0, %fd1}, {%fd2}, {%fd3}, {%fd0, %fd1};
wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%r8], %r9;
wmma.load.c.sync.aligned.col.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd1];
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%fd0, %fd1}, {%fd2}, {%fd3}, {%fd0, %fd1};
wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};
wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1+64], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, 32;)ptx";
    const auto module = parse(module_with(body), "k.ptx");
    ASSERT_TRUE(module && module->kernels.size() == 1) << error_of(body);
    const std::string printed = print(*module);
    size_t from = 0;
    for (const Instruction& one : module->kernels[0].instructions) {
        const std::string text = print(module->kernels[0], one);
        EXPECT_NE(printed.find(text, from), std::string::npos) << text;
    }
    const auto again = parse(printed, "k.ptx");
    ASSERT_TRUE(again);
    EXPECT_EQ(print(*again), printed);
}

TEST(PtxMatrix, OthersAreRefusedInASentence) {
    const std::string four = "{%r0, %r1, %r2, %r3}";
    EXPECT_NE(
        error_of("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0, %r1, %r2}, [%r5];").find(".x1, .x2 or .x4"),
        std::string::npos);
    EXPECT_NE(error_of("ldmatrix.sync.aligned.m8n8.x4.global.b16 " + four + ", [%rd1];").find("needs"),
              std::string::npos);
    EXPECT_NE(
        error_of("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 " + four + ", [%r5];").find("sm_100"),
        std::string::npos);
    EXPECT_NE(error_of("ldmatrix.sync.aligned.m8n8.x2.shared.b16 " + four + ", [%r5];").find("vector of 2"),
              std::string::npos);
    EXPECT_NE(error_of("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 " + four + ", " + four +
                       ", {%r4, %r5}, " + four + ";")
                  .find("go together"),
              std::string::npos);
    EXPECT_NE(error_of("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 " + four + ", " + four +
                       ", {%r4, %r5}, " + four + ";")
                  .find("go together"),
              std::string::npos);
    EXPECT_NE(error_of("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e4m3.f32 " + four + ", " +
                       four + ", {%r4, %r5}, " + four + ";")
                  .find("before sm_100"),
              std::string::npos);
    // sm_90 has no sums of f16 of a sparse A of 8 bits, nor f16 of a C of f32.
    EXPECT_NE(error_of("mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 {%r0, %r1}, " + four + ", " +
                       four + ", {%r4, %r5}, %r6, 0;")
                  .find("go together"),
              std::string::npos);
    EXPECT_NE(error_of("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32 " + four +
                       ", {%r0, %r1}, {%r2, %r3}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};")
                  .find("go together"),
              std::string::npos);
    EXPECT_NE(
        error_of("wmma.load.d.sync.aligned.row.m16n16k16.f16 " + four + ", [%rd1];").find("go together"),
        std::string::npos);
    EXPECT_NE(error_of("movmatrix.sync.aligned.m8n8.b16 %r0, %r1;").find(".trans"), std::string::npos);
}

// Every element is held, by one lane's one register; of f16 fragments of wmma by as many as there are copies.
TEST(PtxMatrix, FragmentsHoldEachElementOnce) {
    for (const tilescope::test::MatrixInstruction& instruction : tilescope::test::all_products())
        for (const MatrixRole role : {MatrixRole::A, MatrixRole::B, MatrixRole::C, MatrixRole::D}) {
            const MatrixForm& form = instruction.form;
            const uint32_t rows = form.rows(role), columns = form.columns(role);
            std::map<std::tuple<int, int, int>, int> times;
            for (uint8_t lane = 0; lane < kWarpSize; ++lane)
                for (uint8_t i = 0; i < form.registers(role); ++i)
                    for (uint8_t e = 0; e < form.elements(role); ++e) {
                        const MatrixPlace at = place_of(form, role, {lane, i, e});
                        ASSERT_LT(at.row, rows);
                        ASSERT_LT(at.column, columns);
                        ++times[{at.product, at.row, at.column}];
                    }
            ASSERT_EQ(times.size(), size_t{rows} * columns * form.products()) << instruction.text;
            for (const auto& [place, count] : times) ASSERT_EQ(count, times.begin()->second);
            for (const auto& [place, count] : times) {
                if (std::get<1>(place) % 5 != 0 || std::get<2>(place) % 7 != 0) continue;
                const MatrixPlace wanted{static_cast<uint16_t>(std::get<1>(place)),
                                         static_cast<uint16_t>(std::get<2>(place)),
                                         static_cast<uint8_t>(std::get<0>(place))};
                const auto holder = holder_of(form, role, wanted);
                ASSERT_TRUE(holder);
                EXPECT_EQ(place_of(form, role, *holder), wanted);
            }
        }
}

MatrixForm form_of(uint16_t m, uint16_t k, MatrixType factor, MatrixType sum) {
    return {.m = m, .n = 8, .k = k, .types = {factor, factor, sum, sum}};
}

// As the PTX ISA writes them: i counts the elements of a lane's fragment. groupID = lane >> 2, inner = lane % 4.
TEST(PtxMatrix, FragmentsAreThoseOfThePtxIsa) {
    using T = MatrixType;
    const auto each = [](const MatrixForm& form, MatrixRole role, auto row, auto column) {
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
            for (uint32_t i = 0; i < form.registers(role) * form.elements(role); ++i) {
                const MatrixPlace at =
                    place_of(form, role,
                             {static_cast<uint8_t>(lane), static_cast<uint8_t>(i / form.elements(role)),
                              static_cast<uint8_t>(i % form.elements(role))});
                EXPECT_EQ(at.row, row(lane >> 2, lane % 4, i)) << lane << " " << i;
                EXPECT_EQ(at.column, column(lane >> 2, lane % 4, i)) << lane << " " << i;
            }
    };
    const auto c_row = [](uint32_t g, uint32_t, uint32_t i) { return i < 2 ? g : g + 8; };
    const auto c_column = [](uint32_t, uint32_t t, uint32_t i) { return t * 2 + (i & 1); };
    for (const MatrixForm& form : {form_of(16, 16, T::F16, T::F32), form_of(16, 16, T::F16, T::F16),
                                   form_of(16, 16, T::BF16, T::F32)}) {
        each(
            form, MatrixRole::A,
            [](uint32_t g, uint32_t, uint32_t i) { return i < 2 || (i >= 4 && i < 6) ? g : g + 8; },
            [](uint32_t, uint32_t t, uint32_t i) { return i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8; });
        each(
            form, MatrixRole::B,
            [](uint32_t, uint32_t t, uint32_t i) { return i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8; },
            [](uint32_t g, uint32_t, uint32_t) { return g; });
        each(form, MatrixRole::C, c_row, c_column);
    }
    each(
        form_of(16, 8, T::TF32, T::F32), MatrixRole::A,
        [](uint32_t g, uint32_t, uint32_t i) { return i == 0 || i == 2 ? g : g + 8; },
        [](uint32_t, uint32_t t, uint32_t i) { return i == 0 || i == 1 ? t : t + 4; });
    each(
        form_of(16, 32, T::S8, T::S32), MatrixRole::A,
        [](uint32_t g, uint32_t, uint32_t i) { return i < 4 || (i >= 8 && i < 12) ? g : g + 8; },
        [](uint32_t, uint32_t t, uint32_t i) { return i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16; });
    each(
        form_of(16, 32, T::E4M3, T::F32), MatrixRole::B,
        [](uint32_t, uint32_t t, uint32_t i) { return i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16; },
        [](uint32_t g, uint32_t, uint32_t) { return g; });
    each(
        form_of(16, 64, T::U4, T::S32), MatrixRole::A,
        [](uint32_t g, uint32_t, uint32_t i) { return i < 8 || (i >= 16 && i < 24) ? g : g + 8; },
        [](uint32_t, uint32_t t, uint32_t i) { return i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32; });
    each(
        form_of(16, 256, T::B1, T::S32), MatrixRole::A,
        [](uint32_t g, uint32_t, uint32_t i) { return i < 32 || (i >= 64 && i < 96) ? g : g + 8; },
        [](uint32_t, uint32_t t, uint32_t i) {
            return i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128;
        });
    each(
        form_of(16, 16, T::F64, T::F64), MatrixRole::A,
        [](uint32_t g, uint32_t, uint32_t i) { return i % 2 == 0 ? g : g + 8; },
        [](uint32_t, uint32_t t, uint32_t i) { return i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t; });
    each(form_of(16, 16, T::F64, T::F64), MatrixRole::D, c_row, c_column);
    // Volta's four products.
    MatrixForm four = form_of(8, 4, T::F16, T::F32);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
        for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t x = (lane & 1) + (i & 2);
            const MatrixPlace at =
                place_of(four, MatrixRole::C, {static_cast<uint8_t>(lane), static_cast<uint8_t>(i), 0});
            EXPECT_EQ(at.row, lane < 16 ? x : x + 4);
            EXPECT_EQ(at.column, (i & 4) + (lane & 2) + (i & 1));
            EXPECT_EQ(at.product, lane / 4 % 4);
        }
}

TEST(PtxMatrix, AreSitesOfTheirRequests) {
    const auto module = parse(module_with(R"ptx(ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%r5];
ldmatrix.sync.aligned.m8n8.x4.trans.b16 {%r0, %r1, %r2, %r3}, [%rd1];
stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r0};
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3}, {%r4}, {%r5, %r6};
wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd1];
wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%r5], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%r8], %r9;
wmma.load.a.sync.aligned.col.m32n8k16.shared.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%r8], %r9;
movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;)ptx"),
                              "k.ptx");
    ASSERT_TRUE(module && module->kernels.size() == 1);
    struct Wanted {
        SiteKind kind;
        Space space;
        uint32_t bytes, matrices, transposed, times;
    };
    const Wanted wanted[] = {
        {SiteKind::Load, Space::Shared, 16, 2, 0, 1},   {SiteKind::Load, Space::Shared, 16, 4, 1, 1},
        {SiteKind::Store, Space::Shared, 16, 1, 0, 1},  {SiteKind::Exchange, Space::Global, 0, 0, 0, 1},
        {SiteKind::Load, Space::Global, 8, 0, 0, 4},    {SiteKind::Store, Space::Shared, 4, 0, 0, 8},
        {SiteKind::Load, Space::Shared, 16, 4, 1, 1},   {SiteKind::Load, Space::Shared, 16, 4, 1, 2},
        {SiteKind::Exchange, Space::Global, 0, 0, 0, 1}};
    const std::vector<Site> sites = sites_of(module->kernels[0]);
    size_t at = 0;
    for (const Wanted& one : wanted)
        for (uint32_t i = 0; i < one.times; ++i, ++at) {
            ASSERT_LT(at, sites.size());
            EXPECT_EQ(sites[at].id, at);
            EXPECT_EQ(sites[at].kind, one.kind) << at;
            EXPECT_EQ(sites[at].space, one.space) << at;
            EXPECT_EQ(sites[at].bytes, one.bytes) << at;
            EXPECT_EQ(sites[at].matrices, one.matrices) << at;
            EXPECT_EQ(sites[at].transposed, one.transposed != 0) << at;
        }
    EXPECT_EQ(at, sites.size());
    EXPECT_EQ(sites[3].exchange, Exchange::Multiply);
    EXPECT_EQ(sites.back().exchange, Exchange::Transpose);
}

// How many requests of how many bytes nvcc 13.0 makes for sm_90; matrices: with ldmatrix, of so many. moved: with a
// movmatrix behind each load.
TEST(PtxMatrix, RequestsOfWmmaAreThoseOfTheMachineCode) {
    struct Wanted {
        const char* instruction;
        uint32_t times, bytes, matrices = 0;
        bool moved = false;
    };
    const Wanted all[] = {
        {"load.a.sync.aligned.row.m16n16k16.shared.f16", 1, 16, 4},
        {"load.a.sync.aligned.col.m16n16k16.shared.f16", 1, 16, 4, true},
        {"load.b.sync.aligned.row.m16n16k16.shared.bf16", 1, 16, 4, true},
        {"load.a.sync.aligned.row.m16n16k16.global.f16", 4, 4},
        {"load.a.sync.aligned.col.m16n16k16.global.f16", 4, 4, 0, true},
        {"load.b.sync.aligned.col.m16n16k16.f16", 4, 4},
        {"load.c.sync.aligned.row.m16n16k16.shared.f16", 4, 4},
        {"load.c.sync.aligned.col.m16n16k16.shared.f16", 4, 4, 0, true},
        {"store.d.sync.aligned.col.m16n16k16.global.f16", 4, 4, 0, true},
        {"load.c.sync.aligned.row.m16n16k16.shared.f32", 4, 8},
        {"store.d.sync.aligned.col.m16n16k16.f32", 8, 4},
        {"load.a.sync.aligned.row.m16n16k16.shared.u8", 1, 16, 2},
        {"load.a.sync.aligned.col.m16n16k16.shared.u8", 8, 1},
        {"load.b.sync.aligned.col.m16n16k16.global.u8", 2, 4},
        {"load.a.sync.aligned.row.m8n32k16.shared.f16", 1, 16, 2},
        {"load.b.sync.aligned.row.m8n32k16.shared.f16", 2, 16, 4, true},
        {"load.b.sync.aligned.row.m8n32k16.global.f16", 8, 4, 0, true},
        {"load.c.sync.aligned.row.m8n32k16.shared.f16", 4, 4, 0, true},
        {"load.c.sync.aligned.row.m8n32k16.shared.s32", 8, 4},
        {"store.d.sync.aligned.col.m8n32k16.global.f32", 4, 8},
        {"load.a.sync.aligned.row.m8n32k16.shared.s8", 1, 16, 1},
        {"load.b.sync.aligned.col.m8n32k16.shared.s8", 2, 16, 2},
        {"load.b.sync.aligned.row.m8n32k16.global.s8", 16, 1},
        {"load.a.sync.aligned.row.m32n8k16.shared.f16", 2, 16, 4},
        {"load.a.sync.aligned.row.m32n8k16.shared.u8", 2, 16, 2},
        {"load.b.sync.aligned.row.m32n8k16.shared.f16", 1, 16, 2, true},
        {"load.a.sync.aligned.col.m16n16k8.shared.tf32", 4, 4},
        {"load.b.sync.aligned.row.m8n8k4.shared.f64", 1, 8},
        {"load.c.sync.aligned.row.m8n8k4.global.f64", 1, 16},
        {"store.d.sync.aligned.col.m8n8k4.shared.f64", 2, 8},
        {"load.a.sync.aligned.row.m8n8k32.shared.u4", 1, 16, 1},
        {"load.b.sync.aligned.col.m8n8k32.global.s4", 1, 4},
        {"load.b.sync.aligned.col.m8n8k128.shared.b1", 1, 16, 1},
        {"load.c.sync.aligned.col.m8n8k128.shared.s32", 2, 4},
    };
    for (const Wanted& one : all) {
        Instruction made;
        made.op = std::string(one.instruction).starts_with("load") ? Op::WmmaLoad : Op::WmmaStore;
        std::istringstream words(one.instruction);
        for (std::string word; std::getline(words, word, '.');) made.suffixes.push_back(word);
        ASSERT_EQ(read_matrix_suffixes(made, 1), "") << one.instruction;
        const auto requests = requests_of(made);
        EXPECT_EQ(requests.size(), one.times) << one.instruction;
        for (const MatrixRequest& request : requests) {
            EXPECT_EQ(request.bytes, one.bytes) << one.instruction;
            EXPECT_EQ(request.matrices, one.matrices) << one.instruction;
            EXPECT_EQ(request.transposed, one.moved) << one.instruction;
        }
    }
}

TEST(PtxMatrix, EachInstructionNeedsItsDevice) {
    const auto needs = [](const char* instruction) {
        const std::string text = instruction;
        Instruction one;
        one.op = text.starts_with("wmma.mma")     ? Op::WmmaMma
                 : text.starts_with("wmma.load")  ? Op::WmmaLoad
                 : text.starts_with("wmma.store") ? Op::WmmaStore
                 : text.starts_with("mma.sp")     ? Op::MmaSp
                 : text.starts_with("mma")        ? Op::Mma
                 : text.starts_with("ldmatrix")   ? Op::Ldmatrix
                 : text.starts_with("stmatrix")   ? Op::Stmatrix
                                                  : Op::Movmatrix;
        std::istringstream words(text.substr(text.find('.') + 1));
        for (std::string word; std::getline(words, word, '.');) one.suffixes.push_back(word);
        const DeviceNeeds made = needs_of_matrices(one);
        return std::pair(made.target, made.version);
    };
    using Needs = std::pair<uint32_t, uint32_t>;
    EXPECT_EQ(needs("ldmatrix.sync.aligned.m8n8.x4.shared.b16"), Needs(75, 65));
    EXPECT_EQ(needs("movmatrix.sync.aligned.m8n8.trans.b16"), Needs(75, 78));
    EXPECT_EQ(needs("stmatrix.sync.aligned.m8n8.x1.shared.b16"), Needs(90, 78));
    EXPECT_EQ(needs("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"), Needs(70, 64));
    EXPECT_EQ(needs("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"), Needs(75, 65));
    EXPECT_EQ(needs("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), Needs(80, 70));
    EXPECT_EQ(needs("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"), Needs(80, 70));
    EXPECT_EQ(needs("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32"), Needs(75, 65));
    EXPECT_EQ(needs("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"), Needs(80, 70));
    EXPECT_EQ(needs("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc"), Needs(80, 71));
    EXPECT_EQ(needs("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"), Needs(80, 70));
    EXPECT_EQ(needs("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64"), Needs(90, 78));
    EXPECT_EQ(needs("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"), Needs(89, 84));
    EXPECT_EQ(needs("wmma.load.a.sync.aligned.row.m16n16k16.f16"), Needs(70, 61));
    EXPECT_EQ(needs("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"), Needs(70, 61));
    EXPECT_EQ(needs("wmma.load.a.sync.aligned.row.m16n16k16.s8"), Needs(72, 63));
    EXPECT_EQ(needs("wmma.store.d.sync.aligned.row.m8n8k4.f64"), Needs(80, 70));
    EXPECT_EQ(needs("wmma.load.c.sync.aligned.row.m16n16k8.f32"), Needs(80, 70));
    EXPECT_EQ(needs("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32"), Needs(75, 63));
    EXPECT_EQ(needs("wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32"), Needs(80, 70));
}

// The figures of the PTX ISA, "Matrix fragments for multiply-accumulate operation with sparse matrix A".
TEST(PtxMatrix, MetadataSayWhichColumnsAreStored) {
    std::array<uint32_t, 32> metadata{};
    const auto columns = [&](const std::string& rest, uint32_t selector, uint32_t row, uint32_t first,
                             uint32_t count) {
        const MatrixForm form =
            tilescope::test::matrix_instruction("mma.sp::ordered_metadata.sync.aligned." + rest).form;
        std::vector<uint32_t> made;
        for (uint32_t i = first; i < first + count; ++i)
            made.push_back(column_of_stored(form, selector, metadata.data(), row, i));
        return made;
    };
    using Columns = std::vector<uint32_t>;
    metadata[14] = 0x9CE4'D84C, metadata[15] = 0x4444'EEEE;
    const std::string k16 = "m16n8k16.row.col.f32.f16.f16.f32", k32 = "m16n8k32.row.col.f32.bf16.bf16.f32";
    EXPECT_EQ(columns(k16, 2, 3, 0, 8), (Columns{0, 3, 4, 5, 8, 10, 13, 15}));
    EXPECT_EQ(columns(k16, 2, 11, 0, 8), (Columns{0, 1, 6, 7, 8, 11, 13, 14}));
    EXPECT_EQ(columns(k16, 3, 3, 0, 4), (Columns{2, 3, 6, 7}));
    EXPECT_EQ(columns(k32, 1, 3, 4, 6), (Columns{8, 10, 13, 15, 18, 19}));
    EXPECT_EQ(columns(k32, 1, 11, 6, 4), (Columns{13, 14, 16, 17}));
    // Of 8 bits and fewer each row has a register of its own.
    metadata[12] = 0xE444'4444, metadata[13] = 0x4444'4449;
    const std::string bytes = "m16n8k64.row.col.s32.s8.u8.s32", nibbles = "m16n8k64.row.col.s32.s4.u4.s32";
    EXPECT_EQ(columns(bytes, 0, 3, 14, 6), (Columns{30, 31, 32, 35, 36, 37}));
    EXPECT_EQ(columns(bytes, 0, 11, 0, 4), (Columns{1, 2, 4, 5}));
    EXPECT_EQ(columns(nibbles, 0, 11, 0, 6), (Columns{2, 3, 4, 5, 8, 9}));
    EXPECT_EQ(columns(nibbles, 1, 3, 0, 6), (Columns{0, 1, 6, 7, 8, 9}));
    metadata[0] = 0x4E4E;  // one column of two
    EXPECT_EQ(columns("m16n8k8.row.col.f32.tf32.tf32.f32", 0, 0, 0, 4), (Columns{1, 2, 5, 6}));
}

}  // namespace
}  // namespace tilescope::ptx
