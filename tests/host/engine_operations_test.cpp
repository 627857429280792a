// Each operation that the compiled engine writes as C of its own, beside the interpreter's, on random and special values.
#include <bit>
#include <random>

#include <fmt/format.h>

#include "core/simt/program.h"
#include "tests/host/engine_both.h"

namespace tilescope {
namespace {

struct Row {
    const char* operation;  // "add.u32"
    const char*
        types;  // of the result and the operands: w 32 bits, l 64, f fp32, d fp64, p a predicate, c 5 bits
};

constexpr Row kRows[] = {
    {"add.u32", "www"},        {"sub.s32", "www"},        {"mul.lo.u32", "www"},
    {"mul.hi.u32", "www"},     {"mul.hi.s32", "www"},     {"mad.lo.s32", "wwww"},
    {"mad.hi.u32", "wwww"},    {"mul.wide.u32", "lww"},   {"mul.wide.s32", "lww"},
    {"mad.wide.u32", "lwwl"},  {"mad.wide.s32", "lwwl"},  {"div.u32", "www"},
    {"div.s32", "www"},        {"rem.u32", "www"},        {"min.u32", "www"},
    {"max.u32", "www"},        {"min.s32", "www"},        {"max.s32", "www"},
    {"and.b32", "www"},        {"or.b32", "www"},         {"xor.b32", "www"},
    {"not.b32", "ww"},         {"neg.s32", "ww"},         {"abs.s32", "ww"},
    {"shl.b32", "www"},        {"shr.u32", "www"},        {"shr.s32", "www"},
    {"shl.b32", "wwc"},        {"shr.s32", "wwc"},        {"add.u64", "lll"},
    {"sub.s64", "lll"},        {"mul.lo.u64", "lll"},     {"mul.hi.u64", "lll"},
    {"mad.lo.s64", "llll"},    {"min.u64", "lll"},        {"max.s64", "lll"},
    {"and.b64", "lll"},        {"xor.b64", "lll"},        {"not.b64", "ll"},
    {"neg.s64", "ll"},         {"abs.s64", "ll"},         {"shl.b64", "llw"},
    {"shr.u64", "llw"},        {"shr.s64", "llw"},        {"shr.s64", "llc"},
    {"popc.b32", "ww"},        {"clz.b32", "ww"},         {"brev.b32", "ww"},
    {"popc.b64", "wl"},        {"selp.b32", "wwwp"},      {"selp.b64", "lllp"},
    {"cvt.u64.u32", "lw"},     {"cvt.s64.s32", "lw"},     {"cvt.u32.u64", "wl"},
    {"cvt.s32.s8", "ww"},      {"cvt.u32.u8", "ww"},      {"cvt.s32.s16", "ww"},
    {"cvt.u32.u16", "ww"},     {"cvt.s64.s8", "lw"},      {"cvt.u64.u16", "lw"},
    {"cvt.rn.f32.s32", "fw"},  {"cvt.rn.f32.u32", "fw"},  {"cvt.rzi.s32.f32", "wf"},
    {"cvt.rni.s32.f32", "wf"}, {"cvt.rzi.u32.f32", "wf"}, {"cvt.rzi.f32.f32", "ff"},
    {"cvt.rmi.f32.f32", "ff"}, {"cvt.rni.f32.f32", "ff"}, {"cvt.f64.f32", "df"},
    {"cvt.rn.f32.f64", "fd"},  {"cvt.rn.f64.s32", "dw"},  {"add.f32", "fff"},
    {"sub.f32", "fff"},        {"mul.f32", "fff"},        {"fma.rn.f32", "ffff"},
    {"div.rn.f32", "fff"},     {"rcp.rn.f32", "ff"},      {"sqrt.rn.f32", "ff"},
    {"min.f32", "fff"},        {"max.f32", "fff"},        {"neg.f32", "ff"},
    {"abs.f32", "ff"},         {"add.ftz.f32", "fff"},    {"fma.rn.ftz.f32", "ffff"},
    {"mul.sat.f32", "fff"},    {"ex2.approx.f32", "ff"},  {"rsqrt.approx.f32", "ff"},
    {"mov.b32", "wf"},         {"copysign.f32", "fff"},   {"add.f64", "ddd"},
    {"sub.f64", "ddd"},        {"mul.f64", "ddd"},        {"fma.rn.f64", "dddd"},
    {"div.rn.f64", "ddd"},     {"neg.f64", "dd"},         {"abs.f64", "dd"},
    {"min.f64", "ddd"},        {"lop3.b32", "wwwwi"},     {"prmt.b32", "wwww"},
    {"bfe.u32", "wwcc"},       {"bfi.b32", "wwwcc"},      {"shf.l.wrap.b32", "wwww"},
    {"dp4a.u32.u32", "wwww"},
};
// Those that the interpreter makes.
constexpr Row kCalled[] = {{"add.f16x2", "www"},          {"fma.rn.relu.bf16x2", "wwww"},
                           {"set.lt.f16x2.f16x2", "www"}, {"cvt.rn.f16x2.f32", "wff"},
                           {"cvt.rna.tf32.f32", "wf"},    {"min.xorsign.abs.f32", "fff"},
                           {"fma.rn.f32x2", "llll"},      {"add.rz.f32x2", "lll"}};
constexpr const char* kCompares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
constexpr const char* kUnordered[] = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

// A thread loads words and numbers from memory, applies every operation and stores its results side by side. In the second
// form values are the same in all lanes: they come from one place.
struct Kernel {
    std::string text;
    uint32_t results = 0;
};

Kernel kernel_of(bool alike) {
    std::string body;
    uint32_t results = 0;
    const auto keep = [&](char type, const std::string& from) {
        if (type == 'l' || type == 'd')
            body += fmt::format("    st.global.{}64 [%out+{}], {};\n", type == 'l' ? 'u' : 'f', 8 * results,
                                from);
        else
            body += fmt::format("    st.global.{}32 [%out+{}], {};\n", type == 'f' ? 'f' : 'u', 8 * results,
                                from);
        ++results;
    };
    constexpr std::string_view kNames = "abcd";
    const auto apply = [&](const Row& row) {
        const std::string_view types = row.types;
        std::string operands;
        for (size_t k = 1; k < types.size(); ++k) {
            const char name = kNames[k - 1];
            operands += types[k] == 'i'   ? ", 0x1B"
                        : types[k] == 'p' ? ", %p0"
                        : types[k] == 'c' ? fmt::format(", {}", k == 2 ? 7 : 13)
                                          : fmt::format(", %{}{}", types[k], name);
        }
        const std::string to = fmt::format("%r{}", types[0]);
        body += fmt::format("    {} {}{};\n", row.operation, to, operands);
        keep(types[0], to);
    };
    for (const Row& row : kRows) apply(row);
    for (const Row& row : kCalled) apply(row);
    const auto compare = [&](const char* how, const char* type, char of) {
        body +=
            fmt::format("    setp.{}.{} %p1, %{}a, %{}b;\n    selp.b32 %rw, 1, 0, %p1;\n", how, type, of, of);
        keep('w', "%rw");
    };
    for (const char* how : kCompares) {
        for (const char* type : {"u32", "s32"}) compare(how, type, 'w');
        for (const char* type : {"u64", "s64"}) compare(how, type, 'l');
        compare(how, "f32", 'f'), compare(how, "f64", 'd');
    }
    for (const char* how : kUnordered) compare(how, "f32", 'f'), compare(how, "f64", 'd');
    for (const char* how : {"and", "or", "xor"}) {
        body += fmt::format("    setp.lt.{0}.u32 %p2, %wa, %wb, %p0;\n    selp.b32 %rw, 1, 0, %p2;\n", how);
        keep('w', "%rw");
    }
    // A sum that may become a NaN on its way, and the bits of one.
    body += R"(    mov.f32 %rf, 0f00000000;
    fma.rn.f32 %rf, %fa, %fb, %rf;
    fma.rn.f32 %rf, %fb, %fc, %rf;
    mov.b32 %rw, %rf;
    xor.b32 %rw, %rw, 1;
)";
    keep('w', "%rw"), keep('f', "%rf");
    std::string text = R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry operations(.param .u64 words, .param .u64 numbers, .param .u64 out) {
    .reg .b32 %t, %n, %w<1>, %wa, %wb, %wc, %wd, %rw;
    .reg .f32 %fa, %fb, %fc, %fd, %rf;
    .reg .b64 %words, %numbers, %out, %la, %lb, %lc, %ld, %rl;
    .reg .f64 %da, %db, %dc, %dd, %rd;
    .reg .pred %p<3>;
    ld.param.u64 %words, [words];
    ld.param.u64 %numbers, [numbers];
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %n, %ctaid.x;
    mad.lo.u32 %n, %n, 64, %t;
)";
    text += fmt::format("    mad.wide.u32 %out, %n, {}, %out;\n", 8 * results);
    text += alike ? "    mov.u32 %t, %ctaid.x;\n" : "    mov.u32 %t, %n;\n";
    text += "    mad.wide.u32 %words, %t, 48, %words;\n    mad.wide.u32 %numbers, %t, 48, %numbers;\n";
    for (int k = 0; k < 4; ++k) {
        const char name = kNames[static_cast<size_t>(k)];
        text += fmt::format("    ld.global.u32 %w{}, [%words+{}];\n    ld.global.u64 %l{}, [%words+{}];\n",
                            name, 4 * k, name, 16 + 8 * k);
        text +=
            fmt::format("    ld.global.f32 %f{}, [%numbers+{}];\n    ld.global.f64 %d{}, [%numbers+{}];\n",
                        name, 4 * k, name, 16 + 8 * k);
    }
    text += "    setp.lt.s32 %p0, %wc, %wd;\n";
    return {text + body + "    ret;\n}\n", results};
}

// fp32 and fp64 numbers of all kinds, NaNs with payloads among them.
uint64_t number_of(std::mt19937_64& random, bool wide) {
    constexpr std::array<uint32_t, 14> kSpecial{
        0, 0x8000'0000, 0x7F80'0000, 0xFF80'0000, 0x7FC0'0001, 0xFFC1'2345, 0x7F80'0001,
        1, 0x8000'0001, 0x007F'FFFF, 0x4F00'0000, 0xCF00'0000, 0x4F7F'FFFF, 0x3F00'0000};
    const uint32_t small =
        std::bit_cast<uint32_t>(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 8);
    const uint32_t bits = random() % 4 == 0   ? kSpecial[random() % kSpecial.size()]
                          : random() % 2 == 0 ? small
                                              : static_cast<uint32_t>(random());
    if (!wide) return bits;
    const double number = std::bit_cast<float>(bits);
    return random() % 3 == 0 ? random() : std::bit_cast<uint64_t>(number);
}

void hold(bool alike) {
    const Kernel kernel = kernel_of(alike);
    const auto module = ptx::parse(kernel.text, "operations.ptx");
    ASSERT_TRUE(module) << module.error().message;
    const auto program = simt::prepare(*module, "operations");
    ASSERT_TRUE(program) << program.error().message;
    constexpr uint32_t kBlocks = 200, kThreads = 64;
    std::mt19937_64 random(7);
    simt::Bytes words(size_t{kBlocks} * kThreads * 48), numbers(words.size());
    for (size_t at = 0; at < words.size(); at += 48) {
        for (size_t k = 0; k < 4; ++k) {
            const uint64_t word = random() >> random() % 64, narrow = number_of(random, false);
            std::memcpy(&words[at + 4 * k], &word, 4), std::memcpy(&numbers[at + 4 * k], &narrow, 4);
            const uint64_t both = random() >> random() % 64, wide = number_of(random, true);
            std::memcpy(&words[at + 16 + 8 * k], &both, 8), std::memcpy(&numbers[at + 16 + 8 * k], &wide, 8);
        }
    }
    const size_t bytes = size_t{kBlocks} * kThreads * kernel.results * 8;
    const auto bases = simt::place_buffers({words.size(), numbers.size(), bytes});
    simt::GlobalMemory memory;
    memory.buffers = {
        {"words", bases[0], words}, {"numbers", bases[1], numbers}, {"out", bases[2], simt::Bytes(bytes)}};
    Launch launch;
    launch.grid = {kBlocks, 1, 1};
    launch.block = {kThreads, 1, 1};
    launch.arguments = test_arguments({bases[0], bases[1], bases[2]});
    const test::Ran ran = test::expect_same(**program, launch, memory);
    EXPECT_EQ(ran.compiled, kBlocks);
}

TEST(EngineOperations, GiveTheSameBitsInLanes) { hold(false); }
TEST(EngineOperations, GiveTheSameBitsWhereLanesAreAlike) { hold(true); }

}  // namespace
}  // namespace tilescope
