// Requests to every memory space: what an observer is told of atomics, of local and constant memory, and of
// generic accesses whose lanes lie in different spaces.
#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::kBase;

struct Seen {
    Request request;
    std::vector<uint64_t> address, value, returned;
};

class Observer final : public BlockObserver {
public:
    std::vector<Seen> seen;
    void on_request(const Request& request) override {
        Seen& made = seen.emplace_back();
        made.request = request;
        made.address.assign(request.address, request.address + kWarpSize);
        if (request.value) made.value.assign(request.value, request.value + kWarpSize);
        if (request.returned) made.returned.assign(request.returned, request.returned + kWarpSize);
    }
    void on_barrier(uint32_t, uint32_t, uint32_t) override {}
};

struct Watched : test::KernelRun {
    Observer observer;
    std::vector<uint32_t> words;
    Outcome outcome;

    Watched(const std::string& body, uint32_t lanes, std::vector<uint64_t> returns = {}) {
        program = test::program_of(
            R"ptx(.version 6.0
.target sm_70
.address_size 64
.const .align 4 .b8 table[16] = {1,0,0,0,2,0,0,0,3,0,0,0,4,0,0,0};
.visible .entry k(.param .u64 k_0)
{
.local .align 8 .b8 own[32];
.shared .align 8 .b8 tile[256];
.reg .b32 %t;
.reg .b32 %r<12>;
.reg .b64 %i;
.reg .b64 %d<9>;
.reg .pred %p<9>;
ld.param.u64 %i, [k_0];
mov.u32 %t, %tid.x;
)ptx" + body + "\nret;\n}\n",
            "k");
        launch.block = {lanes, 1, 1};
        launch.arguments = test_arguments({kBase});
        memory.buffers = {{"words", kBase, Bytes(256)}};
        options.values = true;
        options.returns = std::move(returns);
        if (!options.returns.empty()) {
            options.schedule.kind = Schedule::Kind::Recorded;
            options.recorded_order = {0, 0};
        }
        const auto ran =
            simt::run(*program, launch, memory, options, [&](const BlockId&) { return &observer; });
        EXPECT_TRUE(ran) << (ran ? "" : ran.error().message);
        if (ran) outcome = *ran;
        words.resize(64);
        std::memcpy(words.data(), memory.buffers[0].bytes.data(), 256);
    }
};

TEST(Spaces, AtomicsSayWhatTheyFoundAndWhatTheyLeft) {
    const Watched run("red.global.add.u32 [%i+8], 2;", 3);
    ASSERT_EQ(run.observer.seen.size(), 1u);
    const Seen& seen = run.observer.seen[0];
    EXPECT_EQ(seen.request.space, Space::Global);
    EXPECT_EQ(seen.request.element_bytes, 4u);
    for (size_t lane = 0; lane < 3; ++lane) {
        EXPECT_EQ(seen.address[lane], kBase + 8);
        EXPECT_EQ(seen.returned[lane], 2 * lane);
        EXPECT_EQ(seen.value[lane], 2 * lane + 2);
    }
}

TEST(Spaces, AtomicsFindAgainWhatARecordingSays) {
    const Watched run("atom.global.add.u32 %r1, [%i], 1;\nst.global.u32 [%i+4], %r1;", 2, {40, 70});
    EXPECT_EQ(run.observer.seen[0].returned[0], 40u);
    EXPECT_EQ(run.observer.seen[0].value[1], 71u);
    EXPECT_EQ(run.words[0], 71u);
    EXPECT_EQ(run.words[1], 70u);  // the later lane's
}

TEST(Spaces, LocalAndConstantMemoryAreSteps) {
    const Watched run(
        R"ptx(st.local.u32 [own+4], %t;
ld.local.u32 %r1, [own+4];
ld.const.u32 %r2, [table+8];
mul.wide.u32 %d1, %t, 4;
mov.u64 %d2, table;
add.s64 %d2, %d2, %d1;
ld.const.u32 %r3, [%d2];)ptx",
        4);
    ASSERT_EQ(run.observer.seen.size(), 4u);
    const auto& seen = run.observer.seen;
    EXPECT_EQ(seen[0].request.space, Space::Local);
    EXPECT_EQ(seen[0].address[3], 4u);
    EXPECT_EQ(seen[1].value[3], 3u);
    EXPECT_EQ(seen[2].request.space, Space::Const);
    EXPECT_EQ(seen[2].address[0], 8u);
    EXPECT_EQ(seen[2].value[1], 3u);
    EXPECT_EQ(seen[3].address[3], 12u);
    EXPECT_EQ(seen[3].value[3], 4u);
}

TEST(Spaces, OfOneGenericAccessAreARequestEach) {
    // Lanes 0 and 3: global memory; 1: shared; 2: local.
    const std::string addresses =
        R"ptx(mov.u64 %d1, tile;
cvta.shared.u64 %d1, %d1;
mov.u64 %d2, own;
cvta.local.u64 %d2, %d2;
setp.eq.u32 %p1, %t, 1;
setp.eq.u32 %p2, %t, 2;
selp.b64 %d3, %d1, %i, %p1;
selp.b64 %d3, %d2, %d3, %p2;
add.u32 %r1, %t, 10;
)ptx";
    const Watched run(addresses + "st.u32 [%d3+4], %r1;\nld.u32 %r2, [%d3+4];", 4);
    EXPECT_TRUE(run.outcome.complete);
    ASSERT_EQ(run.observer.seen.size(), 6u);
    const std::pair<Space, uint32_t> wanted[] = {
        {Space::Global, 0b1001}, {Space::Shared, 0b10}, {Space::Local, 0b100}};
    for (size_t i = 0; i < 6; ++i) {
        const Seen& seen = run.observer.seen[i];
        EXPECT_EQ(seen.request.space, wanted[i % 3].first);
        EXPECT_EQ(seen.request.mask, wanted[i % 3].second);
        EXPECT_EQ(seen.request.site, i / 3);
        const auto lane = static_cast<size_t>(std::countr_zero(seen.request.mask));
        EXPECT_EQ(seen.address[lane], i % 3 == 0 ? kBase + 4 : 4);
        EXPECT_EQ(seen.value[lane], i < 3 || i > 3 ? lane + 10 : 13);  // lane 3 stored after lane 0
    }
    EXPECT_EQ(run.words[1], 13u);
}

TEST(Spaces, AtomicsOfLocalMemoryAndStoresToConstantMemoryAreFaults) {
    for (const auto& [body, word] :
         {std::pair{"mov.u64 %d1, own;\ncvta.local.u64 %d1, %d1;\nred.add.u32 [%d1], 1;", "local memory"},
          std::pair{"mov.u64 %d1, table;\ncvta.const.u64 %d1, %d1;\nst.u32 [%d1], 1;", "constant memory"}}) {
        const Watched run(body, 1);
        ASSERT_TRUE(run.outcome.fault) << body;
        EXPECT_EQ(run.outcome.fault->kind, Fault::Kind::BadAddress);
        EXPECT_NE(run.outcome.fault->message.find(word), std::string::npos) << run.outcome.fault->message;
    }
}

}  // namespace
}  // namespace tilescope::simt
