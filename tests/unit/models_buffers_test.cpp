// Buffers of shared memory as the recording shows them: those of double buffering, none of one tile a phase.
#include <algorithm>

#include "app/step/buffers.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using step::Buffer, step::BufferState, step::buffers_of, step::state_at;

void expect_three(uint32_t depth) {
    SCOPED_TRACE(depth);
    const Recorded made = record("double_buffer", {64, depth, 64, 0});
    size_t arrays = 0;
    for (const uint8_t array : made.index->shared) {
        const std::vector<Buffer> all = buffers_of(*made.trace, *made.index, array);
        const Array& shape = made.trace->launch.arrays[array];
        ASSERT_EQ(all.size(), 3u) << shape.name;
        ++arrays;
        for (size_t i = 0; i < all.size(); ++i)
            EXPECT_EQ(all[i].part, (CellRect{static_cast<uint32_t>(i) * 8, static_cast<uint32_t>(i) * 8 + 8,
                                             0, shape.cols}));
        // The slow way: what the steps themselves do to each.
        for (uint32_t step = 0; step < made.index->steps; ++step) {
            const auto access = trace::decode(*made.trace, made.index->first + step);
            if (access.array != array) continue;
            const bool reads = look::kind_of(*made.trace, made.index->first + step) == StepKind::SharedLoad;
            for (const Buffer& buffer : all) {
                bool touched = false;
                look::for_elements(
                    *made.trace, made.index->first + step, access, [&](uint32_t, uint64_t element) {
                        touched |= buffer.part.contains(static_cast<uint32_t>(element / shape.cols),
                                                        static_cast<uint32_t>(element % shape.cols));
                    });
                const BufferState state = state_at(buffer, step);
                if (!touched) continue;
                EXPECT_EQ(state == BufferState::ReadNow, reads) << shape.name << " " << step;
                if (!reads) EXPECT_EQ(state, BufferState::Arriving) << shape.name << " " << step;
            }
        }
    }
    EXPECT_EQ(arrays, 2u);
}

// Also where there are so few phases that a buffer is filled before the first alone, and at an edge.
TEST(Buffers, OfDoubleBufferingAreThree) {
    for (const uint32_t depth : {32u, 37u, 40u, 64u}) expect_three(depth);
}

TEST(Buffers, AreNoneOfOneTileAPhase) {
    for (const char* kernel : {"tiled", "tiled_padded", "register_tile"}) {
        const Recorded made = record(kernel, {64, 64, 64, std::string(kernel) == "register_tile" ? 0u : 16u});
        for (const uint8_t array : made.index->shared)
            EXPECT_TRUE(buffers_of(*made.trace, *made.index, array).empty()) << kernel;
    }
    for (const char* kernel :
         {"tiled", "tiled_stale_edge"}) {  // rows that the last phase leaves as they were
        const Recorded made = record(kernel, {20, 20, 20, 8});
        for (const uint8_t array : made.index->shared)
            EXPECT_TRUE(buffers_of(*made.trace, *made.index, array).empty()) << kernel << " at an edge";
    }
}

}  // namespace
}  // namespace tilescope::app
