// A block replayed whose copies in bulk land later: cells hold what was copied from where they landed on, and know where it
// came from.
#include <gtest/gtest.h>

#include "core/playback/replay.h"
#include "core/trace/access.h"
#include "tests/twin/tensor_box.h"
#include "tests/unit/words_trace.h"

namespace tilescope::playback {
namespace {

using simt::test::WordRun;
using tilescope::test::RandomBox, tilescope::test::Ring;

// Runs a kernel again as it was recorded, watched by the replay.
void replay_words(const WordRun& made, const trace::Trace& trace, BlockReplay& replay) {
    simt::GlobalMemory memory = made.memory;
    simt::RunOptions options = made.options;
    options.values = true;
    options.schedule.kind = Schedule::Kind::Recorded;
    for (uint64_t step = 0; step < trace.steps(); ++step)
        options.recorded_order.push_back(static_cast<uint8_t>(trace.warp_of(step)));
    const auto outcome =
        simt::run(*made.program, made.launch, memory, options, [&](const simt::BlockId&) { return &replay; });
    ASSERT_TRUE(outcome && outcome->complete) << (outcome ? "" : outcome.error().message);
    replay.finish();
}

TEST(ReplayedBulk, StagesHoldTheRowThatLandedLast) {
    for (const Schedule& schedule : simt::test::schedules(3)) {
        Ring ring;
        ring.stages = 2, ring.consumers = 2, ring.trips = 7, ring.expects = Ring::Expects::BehindCopy;
        WordRun made(ring);
        made.options.schedule = schedule;
        const trace::Trace trace = trace::recorded_words(made, ring.ptx());
        BlockReplay replay(trace, 0);
        replay_words(made, trace, replay);
        ASSERT_EQ(replay.steps(), trace.steps());
        constexpr uint8_t kInArray = 0, kStageArray = 2;
        const std::vector<uint32_t> in = ring.input();
        // By cell: the trip whose row it holds, and since when.
        std::vector<std::optional<uint32_t>> trip_of(size_t{ring.stages} * ring.width());
        std::vector<uint32_t> since(trip_of.size()), asked(trip_of.size()), reads(trip_of.size());
        const trace::Arrivals arrivals(trace, trace.blocks[0]);
        trace::ArrivalCursor landed(arrivals);
        uint32_t trips = 0;
        for (uint32_t step = 0; step < replay.steps(); ++step) {
            while (const auto next = landed.next(step)) {
                const uint32_t stage = trips % ring.stages;
                for (uint32_t t = 0; t < ring.width(); ++t) {
                    const size_t cell = size_t{stage} * ring.width() + t;
                    trip_of[cell] = trips, since[cell] = step, reads[cell] = 0;
                    asked[cell] = arrivals.later()[*next].step;
                }
                ++trips;
            }
            const trace::Access access = trace::decode(trace, step);
            if (access.array == kStageArray && trace.sites[access.site].kind == ptx::SiteKind::Load)
                for_lanes(access.mask, [&](uint32_t lane) {
                    const size_t cell = access.offset[lane] / 4;
                    ++reads[cell];
                    EXPECT_EQ(replay.value(step, lane).bits,
                              in[*trip_of[cell] * ring.width() + cell % ring.width()]);
                });
            for (size_t cell = 0; cell < trip_of.size(); cell += 5) {
                const CellState state = replay.cell(kStageArray, cell, step);
                ASSERT_EQ(state.written, trip_of[cell].has_value()) << step;
                if (!state.written) continue;
                const uint64_t from = *trip_of[cell] * ring.width() + cell % ring.width();
                EXPECT_EQ(state.value.bits, in[from]);
                EXPECT_EQ(state.source, (Element{kInArray, from}));
                EXPECT_EQ(state.since, since[cell]);
                EXPECT_EQ(state.step, asked[cell]);
                EXPECT_EQ(state.thread, 0u);
                EXPECT_EQ(state.reads, reads[cell]) << step;
            }
        }
        EXPECT_EQ(trips, ring.trips);
    }
}

TEST(ReplayedBulk, BoxesLieWhereTheSwizzlePutsThem) {
    std::mt19937 random(21);
    for (int i = 0; i < 20; ++i) {
        const bool load = i % 2;
        const RandomBox box = tilescope::test::random_box(random, 0x100000, load);
        const uint32_t size = ptx::size_of(box.map.type);
        if (size < 4) continue;  // arrays are of words
        WordRun made = trace::box_words(box, load);
        for (simt::Buffer& buffer : made.memory.buffers)
            for (std::byte& byte : buffer.bytes) byte = static_cast<std::byte>(random());
        const trace::Trace trace =
            trace::recorded_words(made, tilescope::test::box_kernel(box.map, box.box, load));
        BlockReplay replay(trace, 0);
        replay_words(made, trace, replay);
        constexpr uint8_t kWordsArray = 0, kTensorArray = 1, kTileArray = 2;
        const uint32_t last = replay.steps() - 1;
        size_t looked = 0;
        for (const auto& element : tilescope::test::box_elements(box.map, box.box))
            for (uint32_t byte = 0; byte < size; byte += 4) {
                const uint32_t tile =
                    tilescope::test::swizzled_byte(box.map.swizzle, element.shared + byte) / 4;
                const uint64_t tensor = (element.global + byte - box.map.address) / 4;
                if (!element.moved || (!load && element.outside)) continue;
                const CellState state =
                    load ? replay.cell(kTileArray, tile, last) : replay.cell(kTensorArray, tensor, last);
                ASSERT_TRUE(state.written);
                ++looked;
                if (element.outside)
                    EXPECT_EQ(state.source.array, trace::kNoArray);
                else if (load)
                    EXPECT_EQ(state.source, (Element{kTensorArray, tensor}));
                else
                    EXPECT_EQ(state.source, (Element{kWordsArray, tile}));  // the tile is filled from there
            }
        EXPECT_GT(looked, 0u);
    }
}

}  // namespace
}  // namespace tilescope::playback
