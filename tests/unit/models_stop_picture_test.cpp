// What a stop looks like in small: which arrays it shows and what of them is lit.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "app/lessons/stop_picture.h"
#include "tests/names.h"
#include "tests/opened.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

using lessons::StopPicture;

std::set<std::pair<uint32_t, uint32_t>> cells_of(const std::vector<CellRect>& rects) {
    std::set<std::pair<uint32_t, uint32_t>> cells;
    for (const CellRect& rect : rects)
        for (uint32_t row = rect.row0; row < rect.row1; ++row)
            for (uint32_t col = rect.col0; col < rect.col1; ++col) cells.insert({row, col});
    return cells;
}

struct Pictured {
    analysis::Recording recording;
    std::shared_ptr<const look::BlockIndex> index;
    explicit Pictured(trace::Trace trace)
        : recording(*analysis::opened(std::make_shared<const trace::Trace>(std::move(trace)))),
          index(look::index_block(recording, 0)) {}
    StopPicture at(uint32_t step) const { return lessons::picture_of(recording, *index, step); }
    uint32_t first(StepKind kind) const {
        uint32_t step = 0;
        while (look::kind_of(*recording.trace, index->first + step) != kind) ++step;
        return step;
    }
};

// The lecture's 4 x 4, T = 2: block (0,0) loads the tile in the corner of M, stores it to Mds, and then waits.
TEST(StopPicture, OfTheLecturesProduct) {
    const Pictured lecture(kernels::recorded("tiled", {4, 4, 4, 2}));
    const std::set<std::pair<uint32_t, uint32_t>> tile{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    const StopPicture load = lecture.at(0);
    ASSERT_TRUE(load.product);
    ASSERT_EQ(load.arrays.size(), 3u);
    ASSERT_EQ(load.shared.size(), 2u);
    for (const StopPicture::Part& array : load.arrays) {
        EXPECT_EQ(array.rows, 4u);
        EXPECT_EQ(array.cols, 4u);
        EXPECT_EQ(array.tile_rows, 2u);
        EXPECT_EQ(cells_of(array.tile), tile);
    }
    EXPECT_EQ(cells_of(load.arrays[0].lit), tile);
    EXPECT_TRUE(load.arrays[1].lit.empty() && load.arrays[2].lit.empty());
    EXPECT_TRUE(load.shared[0].lit.empty() && load.shared[1].lit.empty());

    const StopPicture store = lecture.at(lecture.first(StepKind::SharedStore));
    EXPECT_EQ(store.kind, StepKind::SharedStore);
    EXPECT_EQ(cells_of(store.shared[0].lit), tile);
    EXPECT_TRUE(store.arrays[0].lit.empty());

    // A block of two warps, the first of which waits.
    const Pictured larger(kernels::recorded("tiled", {8, 8, 8, 8}));
    const StopPicture barrier = larger.at(larger.first(StepKind::Barrier));
    ASSERT_TRUE(barrier.gate);
    EXPECT_EQ(barrier.gate->warps.size(), 2u);
    EXPECT_EQ(barrier.gate->held, 1u);
    EXPECT_FALSE(barrier.gate->open);
    EXPECT_FALSE(larger.at(0).gate);
}

// What a panel that is still to come would explain is left out.
TEST(StopPicture, ShowsWhatThePanelsShow) {
    const Pictured lecture(kernels::recorded("tiled", {4, 4, 4, 2}));
    const auto with = [&](std::initializer_list<session::Panel> panels) {
        uint8_t all = 0;
        for (const session::Panel panel : panels) all |= static_cast<uint8_t>(panel);
        return lessons::picture_of(lecture.recording, *lecture.index, 0, all);
    };
    using enum session::Panel;
    const StopPicture alone = with({Matrices});
    ASSERT_EQ(alone.arrays.size(), 3u);
    EXPECT_TRUE(alone.shared.empty());
    for (const StopPicture::Part& array : alone.arrays) {
        EXPECT_TRUE(array.tile.empty() && array.lit.empty());
        EXPECT_EQ(array.tile_rows, 1u);
    }
    const StopPicture threads = with({Matrices, Threads});
    EXPECT_TRUE(threads.arrays[0].tile.empty());
    EXPECT_FALSE(threads.arrays[2].tile.empty()) << "the block's elements of P";
    EXPECT_FALSE(with({Matrices, Threads, Source}).arrays[0].lit.empty());
    EXPECT_EQ(with({Matrices, Tiles}).shared.size(), 2u);
}

// Before a question is answered nothing in small tells it: of all that is touched only which array it is.
TEST(StopPicture, TellsNoAnswer) {
    const Pictured of(kernels::recorded("tiled", {16, 16, 16, 8}));
    const trace::Trace& trace = *of.recording.trace;
    for (uint32_t step = 0; step < of.index->steps; ++step) {
        const StopPicture asked =
            lessons::picture_of(of.recording, *of.index, step, session::kAllPanels, true);
        EXPECT_FALSE(asked.gate || asked.exchange);
        size_t marked = 0;
        for (const auto* const all : {&asked.arrays, &asked.shared})
            for (const StopPicture::Part& part : *all) {
                EXPECT_TRUE(part.lit.empty());
                marked += part.tile.size();
                if (!part.tile.empty()) EXPECT_EQ(part.tile[0], (CellRect{0, part.rows, 0, part.cols}));
            }
        EXPECT_EQ(marked, trace.form_of(of.index->first + step).array == trace::kNoArray ? 0u : 1u);
    }
}

// Of every step of several kernels: the lit cells are the elements that the request's lanes touch, and no others.
TEST(StopPicture, LightsWhatIsTouched) {
    for (const auto& [kernel, shape] : {std::pair<const char*, kernels::Shape>{"tiled", {20, 12, 9, 8}},
                                        {"untiled", {5, 7, 3, 4}},
                                        {"tiled_transposed", {16, 16, 16, 8}}}) {
        const Pictured of(kernels::recorded(kernel, shape));
        const trace::Trace& trace = *of.recording.trace;
        for (uint32_t step = 0; step < of.index->steps; ++step) {
            const trace::Access access = trace::decode(trace, of.index->first + step);
            std::set<std::pair<uint32_t, uint32_t>> touched;
            for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
                if (access.array == trace::kNoArray || (access.mask >> lane & 1) == 0) continue;
                const Array& array = trace.launch.arrays[access.array];
                const uint64_t element = access.offset[lane] / array.element_bytes();
                touched.insert({static_cast<uint32_t>(element / array.cols),
                                static_cast<uint32_t>(element % array.cols)});
            }
            const StopPicture picture = of.at(step);
            std::set<std::pair<uint32_t, uint32_t>> lit;
            size_t parts = 0;
            for (const auto* const all : {&picture.arrays, &picture.shared})
                for (const StopPicture::Part& part : *all) {
                    parts += part.lit.empty() ? 0 : 1;
                    lit.merge(cells_of(part.lit));
                }
            ASSERT_EQ(lit, touched) << kernel << ", step " << step + 1;
            ASSERT_LE(parts, 1u);
        }
    }
}

}  // namespace
}  // namespace tilescope::app
