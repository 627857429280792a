// What is said of atomics, of local and of constant memory: kinds, titles, verdicts, captions, sums.
#include <algorithm>

#include <gtest/gtest.h>

#include "app/look/request.h"
#include "app/look/sums.h"
#include "app/step/model.h"
#include "tests/launch_examples.h"
#include "tests/opened_blocks.h"

namespace tilescope::look {
namespace {

struct Said {
    trace::Trace trace;
    std::shared_ptr<const BlockIndex> index;

    explicit Said(const kernels::Plan& plan) : trace(kernels::recorded(plan)) {
        const auto rule = analysis::phase_rule(trace);
        EXPECT_TRUE(rule) << (rule ? "" : rule.error().message);
        if (rule) index = index_block(trace, *rule, 0);
    }

    // Of the block's `number`-th step of a kind.
    uint32_t step_of(StepKind kind, uint32_t number = 0) const {
        for (uint32_t step = 0; step < index->steps; ++step)
            if (kind_of(trace, step) == kind && number-- == 0) return step;
        ADD_FAILURE() << "no step is a " << words_of(kind);
        return 0;
    }
    RequestView view(StepKind kind, uint32_t number = 0) const {
        return request_view(trace, *index, step_of(kind, number));
    }
};

TEST(Spaces, AtomicsSayHowOftenTheyMeet) {
    const Said said(kernels::bins());
    const RequestView shared = said.view(StepKind::SharedAtomic);
    EXPECT_EQ(shared.title, "Warp 1 adds to count");
    EXPECT_EQ(shared.verdict, "32 lanes add to 8 words: one is hit 8 times, in as many turns");
    EXPECT_FALSE(shared.good);
    ASSERT_EQ(shared.addresses.size(), 8u);
    const RequestView total = said.view(StepKind::GlobalAtomic);
    EXPECT_EQ(total.verdict, "8 lanes add to 8 different words, none twice; 1 sector of 1 needed");
    EXPECT_TRUE(total.good);
    const RequestView ticket = said.view(StepKind::GlobalAtomic, 1);
    EXPECT_EQ(ticket.title, "Warp 0 adds to last");
    EXPECT_EQ(ticket.verdict, "1 lane adds to one word; 1 sector of 1 needed");
    EXPECT_EQ(step::caption(said.trace, *said.index, nullptr, said.step_of(StepKind::SharedAtomic)),
              "Warp 1 updates count[0..7]: 32 lanes, 8 words, at most 8 lanes at one.");
}

TEST(Spaces, LocalMemoryIsTheLanesOwn) {
    const Said said(kernels::filter());
    const RequestView store = said.view(StepKind::LocalStore);
    EXPECT_EQ(store.title, "Warp 0 stores to local memory");
    EXPECT_EQ(store.verdict, "32 lanes write byte 12 of their own local memory: 4 sectors of 4 needed");
    EXPECT_TRUE(store.good);
    ASSERT_EQ(store.sectors.size(), 4u);
    ASSERT_EQ(store.lines.size(), 1u);
    for (const SectorView& sector : store.sectors) EXPECT_EQ(sector.bytes_used, 32u);
    EXPECT_EQ(lane_text(said.trace, store, 9),
              "thread[9]: byte 12 of its local memory, sector 13 of the warp's");
    EXPECT_EQ(said.view(StepKind::LocalLoad, 1).verdict,
              "32 lanes read byte 16 of their own local memory: 4 sectors of 4 needed");
}

TEST(Spaces, ConstantMemoryIsABroadcastOrOneAfterTheOther) {
    const Said said(kernels::filter());
    const RequestView apart = said.view(StepKind::ConstantLoad);
    EXPECT_EQ(apart.title, "Warp 0 reads weights");
    EXPECT_EQ(apart.verdict, "32 lanes read 5 different addresses: 5 passes where 1 would do");
    EXPECT_FALSE(apart.good);
    const RequestView one = said.view(StepKind::ConstantLoad, 1);
    EXPECT_EQ(one.verdict, "32 lanes read one constant: a broadcast, 1 pass");
    EXPECT_TRUE(one.good);
    EXPECT_EQ(lane_text(said.trace, one, 0), "thread[0]: weights[0] = byte 0 of weights");
}

TEST(Spaces, CopiesSayWhereTheyGoAndWhenTheyAreThere) {
    const Said said(kernels::copies());
    const RequestView load = said.view(StepKind::GlobalLoad), store = said.view(StepKind::SharedStore);
    EXPECT_EQ(load.title, "Warp 0 copies from in");
    EXPECT_EQ(load.verdict, "32 lanes read 32 neighbours: 4 sectors of 4 needed");
    EXPECT_EQ(store.title, "Warp 0 copies to tile");
    EXPECT_EQ(store.verdict, "32 lanes write 32 words in 32 different banks: 1 wavefront");
    const auto caption = [&](uint32_t step) { return step::caption(said.trace, *said.index, nullptr, step); };
    EXPECT_EQ(caption(0), "Warp 0 copies in[0..31] to tile, without registers: 32 lanes, 4 sectors.");
    // Each warp asks for the first tile, then for the next one, and waits for the first.
    EXPECT_EQ(
        caption(1),
        "Warp 0 copies to tile[0,0..31]: 32 lanes, 1 wavefront. It is there at the wait behind step 6.");
    EXPECT_EQ(
        caption(3),
        "Warp 1 copies to tile[0,32..63]: 32 lanes, 1 wavefront. It is there at the wait behind step 8.");
    // Behind the last tile there is nothing to read, and nobody waits.
    const uint32_t last = said.step_of(StepKind::SharedStore, 7);
    EXPECT_EQ(caption(last),
              "Warp 1 copies to tile[1,32..63]: 32 lanes, 1 wavefront. No wait follows that says when it is "
              "there.");
    EXPECT_EQ(copy_of(said.trace, *said.index, last)->from, trace::kNoArray);
    for (uint32_t step = 0; step < said.index->steps; ++step) {
        const auto copy = copy_of(said.trace, *said.index, step);
        EXPECT_EQ(copy.has_value(), said.trace.sites[said.trace.form_of(step).site].copy);
        if (!copy || !trace::lands_later(said.trace, step)) continue;
        EXPECT_EQ(copy->behind, trace::Arrivals(said.trace, said.trace.blocks[0]).visible_from(step));
    }
}

TEST(Spaces, SumsHaveARowForEach) {
    const Said said(kernels::filter());
    const auto summary = analysis::summarize(said.trace);
    ASSERT_TRUE(summary) << summary.error().message;
    const SumsTable table = sums_table("all", *summary, *summary);
    const auto row = [&](const char* what) {
        const auto found = std::ranges::find(table.rows, what, &SumsRow::what);
        return found == table.rows.end() ? std::string("none") : found->exact;
    };
    EXPECT_EQ(row("local stores"), "15 requests: 60 sectors, of 60 needed");
    EXPECT_EQ(row("constant loads"), "18 requests: 30 words, of 18 needed");
    EXPECT_EQ(row("global atomics"), "none");
    EXPECT_NE(table.bytes.find("local"), std::string::npos) << table.bytes;
}

}  // namespace
}  // namespace tilescope::look
