// Which addresses are found to be the same function of the lane, and which are rightly not.
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/ptx/affine.h"
#include "core/ptx/parse.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

struct Found {
    std::vector<Site> sites;
    AffineAddresses addresses;
};

Found analyse(const std::string& text, const LaunchFacts& facts) {
    const auto module = parse(text, "test.ptx");
    EXPECT_TRUE(module) << module.error().message;
    if (!module) return {};
    Found found;
    found.sites = sites_of(module->kernels.front());
    found.addresses = affine_addresses(module->kernels.front(), found.sites, facts);
    return found;
}

// A kernel of pointer p and number k whose body leaves an address in %a and stores there.
Found of_body(const std::string& body, uint64_t k = 100) {
    return analyse(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry f(.param .u64 p, .param .u32 k)
{
    .reg .pred %q, %q1;
    .reg .b32 %x, %y, %k, %i, %t, %b;
    .reg .b64 %a, %p, %w;
    ld.param.u64 %p, [p];
    ld.param.u32 %k, [k];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %b, %ctaid.x;
)" + body + "\n    st.global.u32 [%a], %x;\n    ret;\n}\n",
                   {{10, 10, 1}, {16, 16, 1}, {0x7f0000000000, k}});
}

LaneShape shape_of(const std::string& body, uint64_t k = 100) {
    const Found found = of_body(body, k);
    return found.sites.empty() ? LaneShape{} : found.addresses.shapes[found.sites.back().id];
}

constexpr LaneShape kUnknown{};

TEST(Affine, RowTimesWidthHasTheWidthOfTheLaunch) {
    const char* const body = R"(
    mad.lo.u32 %t, %y, %k, %x;
    mul.wide.s32 %w, %t, 4;
    add.s64 %a, %p, %w;)";
    EXPECT_EQ(shape_of(body), (LaneShape{true, 4, 400, 0}));
    EXPECT_EQ(shape_of(body, 7), (LaneShape{true, 4, 28, 0}));
}

// A block of 16 x 16: lane l of warp w is thread (l % 16, 2 w + l / 16).
TEST(Affine, NumbersOfAThreadAreKnownWhereWarpsAreAlike) {
    const auto distances = [](const std::string& body) {
        const Found found = of_body(body);
        const auto& known = found.addresses.distances;
        const auto at = known.find(found.sites.back().id);
        EXPECT_EQ(found.addresses.shapes[found.sites.back().id], kUnknown);
        return at == known.end() ? std::nullopt : std::optional(at->second);
    };
    const auto expect = [&](const std::string& body, auto of_lane) {
        const auto found = distances(body);
        ASSERT_TRUE(found) << body;
        for (uint32_t lane = 0; lane < 32; ++lane)
            EXPECT_EQ((*found)[lane], static_cast<uint64_t>(of_lane(lane))) << body << lane;
    };
    const std::string address = "mul.wide.u32 %w, %t, 4; add.s64 %a, %p, %w;";
    expect("xor.b32 %t, %x, 5; " + address, [](int64_t l) { return 4 * ((l % 16 ^ 5) - 5); });
    expect("and.b32 %t, %x, 3; shr.u32 %i, %x, 2; xor.b32 %t, %t, %i; mad.lo.u32 %t, %y, %k, %t; " + address,
           [](int64_t l) { return 4 * ((l % 4 ^ l % 16 / 4) + l / 16 * 100); });
    // With a block's number, in the range that is checked while the kernel runs.
    expect("and.b32 %t, %x, 7; mad.lo.u32 %t, %b, 64, %t; mul.wide.s32 %w, %t, 4; add.s64 %a, %p, %w;",
           [](int64_t l) { return 4 * (l % 8); });
    expect("mov.u32 %t, %laneid; shr.s32 %t, %t, 3; not.b32 %t, %t; and.b32 %t, %t, 3; " + address,
           [](int64_t l) { return 4 * ((~(l / 8) & 3) - 3); });
    // Warps differ; the other operand is not known; it is another number in each trip.
    EXPECT_FALSE(distances("and.b32 %i, %y, 7; xor.b32 %t, %x, %i; " + address));
    EXPECT_FALSE(distances("xor.b32 %t, %x, %b; " + address));
    EXPECT_FALSE(distances(
        "and.b32 %t, %x, 7;\nloop:\n xor.b32 %t, %t, %x; setp.lt.u32 %q, %b, 3; @%q bra loop; " + address));
}

TEST(Affine, BlockAndLoopCounterAreShared) {
    EXPECT_EQ(shape_of(R"(
    mov.u32 %i, 0;
loop:
    mad.lo.u32 %t, %b, 16, %x;
    mad.lo.u32 %t, %i, %k, %t;
    mul.wide.u32 %w, %t, 4;
    add.s64 %a, %p, %w;
    ld.global.u32 %t, [%a];
    add.u32 %i, %i, 1;
    setp.lt.u32 %q, %i, %k;
    @%q bra loop;)"),
              (LaneShape{true, 4, 0, 0}));
}

TEST(Affine, ThreadsThatSubtractAndNegateGoBackwards) {
    EXPECT_EQ(shape_of(R"(
    sub.s32 %t, 15, %x;
    cvt.s64.s32 %w, %t;
    shl.b64 %w, %w, 3;
    add.s64 %a, %p, %w;)"),
              (LaneShape{true, -8, 0, 0}));
}

TEST(Affine, WhatMemoryHoldsIsUnknown) {
    EXPECT_EQ(shape_of(R"(
    ld.global.u32 %t, [%p];
    mul.wide.u32 %w, %t, 4;
    add.s64 %a, %p, %w;)"),
              kUnknown);
}

// All threads add to one word, and each gets another number back.
TEST(Affine, WhatAnAtomicGivesBackIsUnknown) {
    EXPECT_EQ(shape_of("atom.global.add.u32 %t, [%p], 1; mul.wide.u32 %w, %t, 4; add.s64 %a, %p, %w;"),
              kUnknown);
}

TEST(Affine, ProductsAndBitsOfThreadsAreUnknown) {
    EXPECT_EQ(shape_of("mul.lo.u32 %t, %x, %y; mul.wide.u32 %w, %t, 4; add.s64 %a, %p, %w;"), kUnknown);
    EXPECT_EQ(shape_of("xor.b32 %t, %x, 1; mul.wide.u32 %w, %t, 4; add.s64 %a, %p, %w;"), kUnknown);
    EXPECT_EQ(shape_of("mul.lo.u32 %t, %x, %b; mul.wide.u32 %w, %t, 4; add.s64 %a, %p, %w;"), kUnknown);
}

TEST(Affine, AValueThatABranchOfThreadsDecidesIsUnknown) {
    const std::string tail = R"(
    mul.wide.u32 %w, %i, 4;
    add.s64 %a, %p, %w;)";
    const std::string either = R"(
    mov.u32 %i, 1;
    @%q bra join;
    mov.u32 %i, 2;
join:)";
    EXPECT_EQ(shape_of("setp.lt.u32 %q, %x, 3;" + either + tail), kUnknown);
    EXPECT_EQ(shape_of("setp.lt.u32 %q, %b, 3;" + either + tail), (LaneShape{true, 0, 0, 0}));
    EXPECT_EQ(shape_of("setp.lt.u32 %q, %x, 3; mov.u32 %i, 1; @%q mov.u32 %i, 2;" + tail), kUnknown);
    EXPECT_EQ(shape_of("setp.lt.u32 %q, %x, 3; selp.u32 %i, 1, 2, %q;" + tail), kUnknown);
    EXPECT_EQ(shape_of("setp.lt.u32 %q, %k, 3; selp.u32 %i, %x, %x, %q;" + tail), (LaneShape{true, 4, 0, 0}));
}

TEST(Affine, ThreadsThatLeaveEarlyDoNotMatterToThoseThatStay) {
    EXPECT_EQ(shape_of(R"(
    setp.ge.u32 %q, %x, 7;
    @%q bra out;
    mov.u32 %i, 0;
loop:
    add.u32 %t, %i, %x;
    mul.wide.u32 %w, %t, 4;
    add.s64 %a, %p, %w;
    st.global.u32 [%a], %x;
    add.u32 %i, %i, 1;
    setp.lt.u32 %q1, %i, %k;
    @%q1 bra loop;
    bra last;
out:
    ret;
last:)"),
              (LaneShape{true, 4, 0, 0}));
}

// Threads make different numbers of trips: while they are together in the loop the counter is shared,
// behind it each has its own.
TEST(Affine, ALoopLeftAtDifferentTrips) {
    const Found found = of_body(R"(
    mov.u32 %i, 0;
loop:
    mul.wide.u32 %w, %i, 4;
    add.s64 %a, %p, %w;
    ld.global.u32 %t, [%a];
    add.u32 %i, %i, 1;
    setp.lt.u32 %q, %i, %x;
    @%q bra loop;
    mul.wide.u32 %w, %i, 4;
    add.s64 %a, %p, %w;)");
    ASSERT_EQ(found.sites.size(), 2u);
    EXPECT_EQ(found.addresses.shapes[0], (LaneShape{true, 0, 0, 0}));
    EXPECT_EQ(found.addresses.shapes[1], kUnknown);
}

TEST(Affine, WideningIsListedWhereLanesDiffer) {
    const Found found = of_body(R"(
    mul.wide.s32 %w, %k, 4;
    add.s64 %a, %p, %w;
    mul.wide.s32 %w, %x, 4;
    add.s64 %a, %a, %w;
    cvt.u64.u32 %w, %y;
    add.s64 %a, %a, %w;)");
    ASSERT_EQ(found.addresses.widened.size(), 2u);
    EXPECT_TRUE(found.addresses.widened[0].is_signed);
    EXPECT_FALSE(found.addresses.widened[1].is_signed);
    EXPECT_EQ(found.addresses.shapes[0], (LaneShape{true, 4, 1, 0}));
}

TEST(Affine, LanesTooFarApartAreNotWidened) {
    EXPECT_EQ(shape_of("mad.lo.u32 %t, %y, %k, %x; mul.wide.s32 %w, %t, 4; add.s64 %a, %p, %w;", 1u << 27),
              kUnknown);
}

// Every load and store of every kernel that ships, by every compiler.
// Sums, products and bits of what threads know of themselves and of what nobody knows: worked out for each thread by a
// slow twin, with several numbers of what nobody knows. Whatever is claimed must hold for all of them.
TEST(Affine, WhatIsClaimedHoldsForEveryThread) {
    constexpr uint32_t kThreads = 64, kSymbol = 16 * 128;
    constexpr const char* kOperations[] = {"add.u32", "sub.u32", "mul.lo.u32", "and.b32",
                                           "or.b32",  "xor.b32", "shr.u32",    "shr.s32",
                                           "shl.b32", "div.u32", "rem.s32",    "bfe.s32"};
    std::mt19937 random(7);
    const auto below = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
    constexpr const char* kComparisons[] = {"lt.u32", "ge.u32", "le.u32", "gt.u32",
                                            "lt.s32", "gt.s32", "eq.u32"};
    const auto holds = [](uint32_t how, uint32_t a, uint32_t b) {
        const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
        const bool results[] = {a<b, a >= b, a <= b, a> b, sa<sb, sa> sb, a == b};
        return results[how];
    };
    int claimed = 0, claimed_behind_branch = 0;
    for (int round = 0; round < 8000; ++round) {
        struct Step {
            uint32_t operation, a, b;
            bool is_number;
        };
        std::vector<Step> steps(6);
        std::string body;
        for (uint32_t i = 0; i < steps.size(); ++i) {
            Step& step = steps[i];
            step = {below(std::size(kOperations)), below(3 + i), below(3 + i), below(2) == 0};
            const bool shifts = step.operation >= 6 && step.operation < 9, divides = step.operation >= 9;
            if (shifts || divides) step.is_number = true;
            if (divides) step.b = 1 + below(20);
            if (step.is_number && !divides)
                step.b = shifts ? below(9) : below(3) > 0 ? 1u << below(12) : ~0u << below(8);
            body += "    " + std::string(kOperations[step.operation]) + " %v" + std::to_string(3 + i) +
                    ", %v" + std::to_string(step.a) + ", " + (step.is_number ? "" : "%v") +
                    std::to_string(step.b) + (step.operation == 11 ? ", 5;\n" : ";\n");
        }
        // In half of them a branch decides whether one more number is added.
        const bool branches = round % 2 == 1;
        const uint32_t how = below(std::size(kComparisons)), compared = below(9);
        const uint32_t with = (below(2) << below(12)) - below(2);
        if (branches)
            body += "    setp." + std::string(kComparisons[how]) + " %p, %v" + std::to_string(compared) +
                    ", " + std::to_string(static_cast<int32_t>(with)) +
                    ";\n    @%p bra L;\n    add.u32 %v8, %v8, 68;\nL:\n";
        const std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry f(.param .u32 p)
{
    .reg .b32 %v<16>;
    .reg .pred %p;
    .shared .align 128 .b8 s[4096];
    mov.u32 %v0, %tid.x;
    mov.u32 %v1, %ctaid.x;
    mov.u32 %v2, s;
)" + body + "    st.shared.u32 [%v8], %v0;\n    ret;\n}\n";
        const Found found = analyse(text, {{10, 1, 1}, {kThreads, 1, 1}, {0}});
        ASSERT_EQ(found.sites.size(), 1u);
        const LaneShape shape = found.addresses.shapes[0];
        const auto distances = found.addresses.distances.find(0);
        const bool known = distances != found.addresses.distances.end();
        if (!shape.affine && !known) continue;
        ++(branches ? claimed_behind_branch : claimed);
        for (const uint32_t block : {0u, 1u, 77u, 0xFFFFu, 0x7FFF'FFFFu}) {
            std::vector<uint32_t> address(kThreads);
            for (uint32_t thread = 0; thread < kThreads; ++thread) {
                std::vector<uint32_t> v = {thread, block, kSymbol};
                for (const Step& step : steps) {
                    const uint32_t a = v[step.a], b = step.is_number ? step.b : v[step.b];
                    const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
                    const bool divides = step.operation >= 9;
                    const uint32_t quotient = divides ? a / b : 0;
                    const uint32_t rest = divides ? static_cast<uint32_t>(sa % sb) : 0;
                    const uint32_t field =
                        static_cast<uint32_t>(static_cast<int32_t>(a << (27 - b % 28)) >> 27);
                    const uint32_t results[] = {
                        a + b,         a - b,    a * b,         a & b,
                        a | b,         a ^ b,    a >> (b & 31), static_cast<uint32_t>(sa >> (b & 31)),
                        a << (b & 31), quotient, rest,          field};
                    v.push_back(results[step.operation]);
                }
                address[thread] = v.back() + (branches && !holds(how, v[compared], with) ? 68 : 0);
            }
            for (uint32_t thread = 0; thread < kThreads; ++thread) {
                const uint32_t lane = thread % 32;
                const uint32_t distance = known ? static_cast<uint32_t>(distances->second[lane])
                                                : static_cast<uint32_t>(shape.x * lane);
                ASSERT_EQ(address[thread] - address[thread - lane], distance)
                    << text << block << " " << thread;
            }
        }
    }
    EXPECT_GT(claimed, 1000);
    EXPECT_GT(claimed_behind_branch, 500);
}

TEST(Affine, AllOfTheShippedKernelsIs) {
    for (const char* kernel : {"untiled", "untiled_swapped", "tiled", "tiled_swapped", "tiled_transposed",
                               "tiled_padded", "tiled_no_barrier", "tiled_stale_edge"}) {
        for (const char* how : {"clang/{}.O1", "clang/{}.O2", "clang/{}.O3", "nvcc/{}.O1", "nvcc/{}.default",
                                "nvrtc/{}.default", "nvrtc/{}.min"}) {
            std::string name = how;
            name.replace(name.find("{}"), 2, kernel);
            const std::string text =
                file_text(std::filesystem::path(TILESCOPE_SOURCE_DIR) / "tests/data/ptx" / (name + ".ptx"));
            ASSERT_FALSE(text.empty()) << name;
            const Found found =
                analyse(text, {{9, 5, 1}, {4, 4, 1}, {1u << 20, 2u << 20, 3u << 20, 17, 33, 35}});
            for (const Site& site : found.sites)
                if (site.kind != SiteKind::Barrier)
                    EXPECT_TRUE(found.addresses.shapes[site.id].affine) << name << " site " << site.id;
        }
    }
}

}  // namespace
}  // namespace tilescope::ptx
