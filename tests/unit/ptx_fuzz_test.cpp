// Damaged PTX: parse returns, whatever the text, and what it accepts can be printed and read again.
// The damages are the same in every run.
#include <random>

#include <gtest/gtest.h>

#include "core/ptx/cfg.h"
#include "core/ptx/lexer.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

using Random = std::mt19937;

size_t below(Random& random, size_t n) { return n == 0 ? 0 : random() % n; }

std::string damage_bytes(std::string text, Random& random) {
    const size_t at = below(random, text.size());
    const size_t length = 1 + below(random, 24);
    switch (below(random, 5)) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8))); break;
        case 2: text.erase(at, length); break;
        case 3: text.insert(at, text.substr(below(random, text.size()), length)); break;
        default: text.resize(at); break;
    }
    return text;
}

// Swaps, drops, doubles or replaces a token: text that looks much more like PTX.
std::string damage_tokens(const std::string& text, const std::vector<Token>& tokens, Random& random) {
    const auto pick = [&] { return tokens[below(random, tokens.size() - 1)].text; };
    std::string_view a = pick(), b = pick();
    if (a.data() > b.data()) std::swap(a, b);
    const auto offset = [&](std::string_view view) { return static_cast<size_t>(view.data() - text.data()); };
    const std::string first(a), second(b);
    std::string out = text;
    static constexpr const char* kOdd[] = {"4294967296", "-9223372036854775808",
                                           "0f7FC00000", "{",
                                           "}",          "@",
                                           "_",          ".reg",
                                           ".pred",      "%tid.x",
                                           "<",          "18446744073709551615",
                                           ".v4",        ".shared",
                                           "[",          "L:",
                                           ";",          "WARP_SZ",
                                           "%p1|%p2",    ".s64",
                                           "0x",         "bra",
                                           "\"",         ".param"};
    switch (below(random, 4)) {
        case 0:
            out.replace(offset(b), b.size(), first);
            out.replace(offset(a), a.size(), second);
            break;
        case 1: out.erase(offset(a), a.size()); break;
        case 2: out.insert(offset(a), second + " "); break;
        default: out.replace(offset(a), a.size(), kOdd[below(random, std::size(kOdd))]); break;
    }
    return out;
}

void hold(const std::string& text, int& accepted) {
    const auto module = parse(text, "fuzz.ptx");
    if (!module) {
        const std::string& message = module.error().message;
        EXPECT_EQ(message.substr(0, 9), "fuzz.ptx:") << message;
        EXPECT_LT(message.size(), 600u);
        return;
    }
    ++accepted;
    for (const Kernel& kernel : module->kernels) {
        sites_of(kernel);
        control_flow(kernel);
    }
    const std::string printed = print(*module);
    const auto again = parse(printed, "printed.ptx");
    ASSERT_TRUE(again) << again.error().message << "\n" << printed;
    EXPECT_EQ(print(*again), printed);
}

std::vector<std::string> seeds() {
    std::vector<std::string> texts;
    for (const auto& file : test::ptx_files()) {
        const std::string name = file.filename().string();
        if (name == "wide.ptx" || name == "tiled.O1.ptx" || name == "untiled.O1.ptx")
            texts.push_back(file_text(file));
    }
    texts.push_back(test::kernel_text(R"(
        mbarrier.init.shared.b64 [tile], 1; mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r1+8], 64;
        L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2, 100; @!%p1 bra L; fence.proxy.async.shared::cta;
        cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd1], [%r1], %r2, %rd2, %rs1;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint
            [tile], [%rd1, {%r2, -1}], [tile+32], %rs1, %rd2; cp.async.bulk.wait_group.read 0;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, !%p1, 1, -1, 0, 1;
        tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3+16]; barrier.cluster.arrive.relaxed.aligned;)"));
    texts.push_back(test::kernel_text(R"(
        { .reg .b32 t; .reg .pred q; setp.lt.and.s32 %p1|q, %r1, -3, !%p3; @q bra L; { .reg .b64 t; mov.u64 t, tile+4; } }
        mov.b64 {%r1, _}, %rd1; ld.global.v2.f32 {%f1, %f2}, [table+8]; shfl.sync.idx.b32 %r1|%p1, %r2, 3, 31, -1;
        L: @!%p1 st.shared.v2.u32 [tile+16], {%r1, %r2}; .pragma "nounroll"; bar.sync 0, 64; lop3.b32 %r1, %r2, %r3, %r4, 0x96;)"));
    return texts;
}

TEST(PtxFuzz, DamagedTextIsReadOrRefused) {
    Random random(2024);
    int cases = 0, accepted = 0;
    for (const std::string& text : seeds()) {
        const auto tokens = tokenise(text, "seed");
        ASSERT_TRUE(tokens);
        for (int i = 0; i < 400; ++i, ++cases) {
            std::string damaged = damage_tokens(text, *tokens, random);
            if (i % 4 == 3) damaged = damage_bytes(std::move(damaged), random);
            hold(damaged, accepted);
            hold(damage_bytes(text, random), accepted);
            if (HasFatalFailure()) return;
        }
    }
    EXPECT_GE(cases, 2000);
    EXPECT_GT(accepted, cases / 50);  // enough of it is still PTX to reach what lies behind the parser
}

TEST(PtxFuzz, EveryTruncationIsReadOrRefused) {
    const std::string text = seeds().back();
    const size_t kernel = text.find(".visible .entry"), end = text.rfind('}');
    for (size_t length = 0; length <= text.size(); ++length) {
        int accepted = 0;
        hold(text.substr(0, length), accepted);
        // The kernel is there whole or not at all.
        if (length > kernel && length <= end) EXPECT_EQ(accepted, 0) << length;
        if (length > end) EXPECT_EQ(accepted, 1) << length;
    }
}

// Short texts that ask for much: each is answered before the test is ended (cmake/tests.cmake).
TEST(PtxFuzz, AsksForTooMuch) {
    const std::string head = ".version 7.0\n.target sm_70\n";
    std::string kernels = head, jumps, scopes, dims = ".global .b8 a";
    for (int i = 0; i < 200; ++i) kernels += ".entry k" + std::to_string(i) + "() {.reg .b32 %r<100000>;}\n";
    for (int i = 0; i < 3000; ++i)
        jumps += "L" + std::to_string(i) + ": @%p1 bra L" + std::to_string(2999 - i) + ";\n";
    for (int i = 0; i < 3000; ++i) scopes += "{.reg .b32 %r1; mov.u32 %r1, 0;}\n";
    for (int i = 0; i < 30; ++i) dims += "[2147483647]";
    int accepted = 0;
    for (const std::string& text :
         {kernels, test::kernel_text(jumps), test::kernel_text(scopes), head + dims + ";",
          head + ".global .b8 a[][16777216][16777216] = {{{1}},{{2}}};",
          head + ".global .b8 a[][16777216] = {{1},{2},{3}};",
          head + ".entry k() {" + std::string(1 << 20, '{'), head + std::string(1 << 20, '('),
          head + ".global .b8 a[4] = " + std::string(1 << 20, '{'), std::string(1 << 20, '\0'),
          std::string(1 << 20, '.'), test::kernel_text("add" + std::string(100000, '.') + ";"),
          test::kernel_text(std::string(100000, '@'))})
        hold(text, accepted);
    EXPECT_EQ(accepted, 3);  // jumps and scopes, and the first of the kernels
}

}  // namespace
}  // namespace tilescope::ptx
