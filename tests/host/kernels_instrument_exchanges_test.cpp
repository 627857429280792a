// Exchanges among the lanes of a warp, as instrumented code records them: what the interpreter records, lane for
// lane, whether their operands are immediate or in registers, in whole warps and in parts of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/host/hand_kernel.h"

namespace tilescope {
namespace {

// A kernel that makes an exchange of what it loads, between a load and a store.
std::string exchanging(const std::string& body) {
    return hand_kernel(std::string(kThreadOfHand) + R"(
    ld.global.u32 %r5, [%i];
    and.b32 %r6, %r5, 3;
    setp.gt.u32 %p1, %r6, 1;
    mov.b64 %d1, {%r6, %r5};
    and.b32 %r9, %t, 31;
    shr.u32 %r10, %r9, 3;
    shl.b32 %r10, %r10, 3;
    mov.u32 %r11, 255;
    shl.b32 %r11, %r11, %r10;
    mov.u32 %r7, 9;
    )" + body + R"(
    st.global.u32 [%o], %r7;
    ret;
)");
}

const std::vector<std::string>& exchanges() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> made;
        // %r4 is 0, %r3 is 5; %r11 the lanes of the thread's tile of 8.
        for (const char* const mode : {"up", "down", "bfly", "idx"})
            for (const char* const operands : {"4, 31, -1", "3, 6175, -1", "%r3, 31, -1", "%r6, 31, -1",
                                               "4, %r4, -1", "%r6, 6175, %r11", "2, 31, %r11"})
                made.push_back(fmt::format("shfl.sync.{}.b32 %r7|%p2, %r5, {};", mode, operands));
        for (const char* const members : {"-1", "%r11"}) {
            for (const char* const mode : {"all", "any", "uni"})
                made.push_back(
                    fmt::format("vote.sync.{}.pred %p2, %p1, {};\nselp.u32 %r7, 1, 0, %p2;", mode, members));
            made.push_back(fmt::format("vote.sync.ballot.b32 %r7, !%p1, {};", members));
            made.push_back(fmt::format("match.any.sync.b32 %r7, %r6, {};", members));
            made.push_back(fmt::format("match.any.sync.b64 %r7, %d1, {};", members));
            made.push_back(fmt::format("match.all.sync.b32 %r7|%p2, %r6, {};", members));
            made.push_back(fmt::format("redux.sync.add.s32 %r7, %r5, {};", members));
        }
        return made;
    }();
    return all;
}

std::string for_sm_80(std::string text) {
    text.replace(text.find("sm_70"), 5, "sm_80");
    text.replace(text.find("6.2"), 3, "7.0");
    return text;
}

TEST(InstrumentedExchanges, OfEveryKindInWholeWarps) {
    for (const std::string& body : exchanges()) {
        SCOPED_TRACE(body);
        HandRun hand;
        hand.block = {64, 1, 1};
        hand.record(for_sm_80(exchanging(body)));
        if (HasFatalFailure()) return;
        EXPECT_EQ(hand.expected.steps(), 2u * 2 * 3) << "a load, an exchange and a store";
        EXPECT_EQ(hand.run.decoded.dropped, 0u);
        expect_same_requests(hand.expected, hand.got);
    }
}

// A divergent branch, a guard, a warp that is not full, and lanes that have left.
TEST(InstrumentedExchanges, InPartsOfAWarp) {
    const auto among = [](const std::string& mask) {
        std::vector<std::string> made;
        for (const char* const body :
             {"shfl.sync.down.b32 %r7, %r5, 2, 31, {};", "shfl.sync.idx.b32 %r7, %r5, %r6, 31, {};",
              "vote.sync.ballot.b32 %r7, %p1, {};", "match.any.sync.b32 %r7, %r6, {};",
              "redux.sync.max.u32 %r7, %r5, {};"})
            made.push_back(fmt::format(fmt::runtime(body), mask));
        return made;
    };
    for (const std::string& body : among("65535")) {
        SCOPED_TRACE(body);
        expect_same_by_hand(for_sm_80(exchanging(fmt::format(R"(
    setp.gt.u32 %p3, %r9, 15;
    @%p3 bra FAR;
    {}
FAR:)",
                                                             body))),
                            {2, 1, 1}, {64, 1, 1});
        expect_same_by_hand(for_sm_80(exchanging(fmt::format("setp.lt.u32 %p3, %r9, 16;\n@%p3 {}", body))),
                            {1, 1, 1}, {32, 1, 1});
        if (HasFatalFailure()) return;
    }
    for (const std::string& body : among("-1")) {
        SCOPED_TRACE(body);
        expect_same_by_hand(for_sm_80(exchanging(body)), {1, 1, 1}, {20, 2, 1});
        expect_same_by_hand(
            for_sm_80(exchanging(fmt::format("setp.gt.u32 %p3, %r9, 20;\n@%p3 ret;\n{}", body))), {2, 1, 1},
            {32, 1, 1}, {1, 2, 0, 1});
        if (HasFatalFailure()) return;
    }
}

// A warp's sum: what would be neighbours in one record but for the exchange between them.
TEST(InstrumentedExchanges, OfAWarpsSum) {
    std::string body;
    for (const int by : {16, 8, 4, 2, 1})
        body += fmt::format("shfl.sync.down.b32 %r8, %r5, {}, 31, -1;\nadd.s32 %r5, %r5, %r8;\n", by);
    const std::string text = exchanging(body + "st.shared.u32 [tile], %r5;\nmov.u32 %r7, %r5;");
    expect_same_by_hand(text, {2, 1, 1}, {96, 1, 1});
    HandRun hand;
    hand.block = {32, 1, 1};
    hand.record(text);
    const size_t exchanges = static_cast<size_t>(
        std::ranges::count(hand.expected.sites, ptx::SiteKind::Exchange, &ptx::Site::kind));
    EXPECT_EQ(exchanges, 5u);
    EXPECT_EQ(hand.expected.steps(), 2u * 8);
    // Their operands are immediate: 16 bytes each, of one chunk a block.
    EXPECT_EQ(hand.run.chunks_begun, 2u);
}

}  // namespace
}  // namespace tilescope
