// Where tiles lie in shared memory, as blocks store them, and requests as they would be with what would free them.
#include <gtest/gtest.h>

#include "app/look/freed.h"
#include "app/look/tile_layout.h"
#include "tests/launch_examples.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using look::freed_view, look::rule_of, look::tile_layouts, look::TileLayout;

const TileLayout* layout_in(const std::vector<TileLayout>& all, const trace::Trace& trace, const char* name) {
    const auto found = std::ranges::find_if(
        all, [&](const TileLayout& of) { return trace.launch.arrays[of.array].name == name; });
    EXPECT_NE(found, all.end()) << name;
    return found == all.end() ? nullptr : &*found;
}

// Every element lies where the block's last store put it.
void hold(const Recorded& made, const TileLayout& layout, uint32_t step) {
    const Array& source = made.trace->launch.arrays[layout.source];
    const Array& array = made.trace->launch.arrays[layout.array];
    for (uint32_t r = 0; r < layout.rows; ++r)
        for (uint32_t c = 0; c < layout.cols; ++c) {
            if (layout.byte(r, c) < 0) continue;
            for (uint32_t e = 0; e < layout.elements; ++e) {
                const auto at = static_cast<uint64_t>(layout.byte(r, c)) + e * source.element_bytes();
                const auto held = made.replay->cell(layout.array, at / array.element_bytes(), step);
                ASSERT_TRUE(held.written);
                EXPECT_EQ(held.source.array, layout.source);
                EXPECT_EQ(held.source.index, static_cast<uint64_t>((layout.row + r) * source.cols +
                                                                   layout.col + c * layout.elements + e));
            }
        }
}

TEST(TileLayout, OfTilesWithoutAndWithPadding) {
    for (const auto& [kernel, pitch] : {std::pair{"tiled", 64}, {"tiled_padded", 68}}) {
        const Recorded made = record(kernel, {32, 32, 32, 16}, 3);
        const uint32_t read = step_of(made, StepKind::SharedLoad, "Mds");
        const auto all = tile_layouts(*made.trace, *made.index, *made.replay, 0);
        const TileLayout* const M = layout_in(all, *made.trace, "Mds");
        const TileLayout* const N = layout_in(all, *made.trace, "Nds");
        ASSERT_TRUE(M != nullptr && N != nullptr) << kernel;
        hold(made, *M, read);
        hold(made, *N, step_of(made, StepKind::SharedLoad, "Nds"));
        EXPECT_EQ(M->rows, 16u);
        EXPECT_EQ(M->cols * M->elements, 16u);
        EXPECT_EQ(M->row, 16) << "block(1,1) loads the lower rows of M";
        EXPECT_EQ(M->col, 0);
        const auto rule = rule_of(*N);
        ASSERT_TRUE(rule) << kernel;
        EXPECT_FALSE(rule->swizzle);
        EXPECT_EQ(std::max(rule->pitch, rule->step), pitch) << "of a tile that may be transposed";
    }
}

// 8 rows of 32 floats; bits 4 to 6 of the byte are xor-ed with bits 7 to 9.
TEST(TileLayout, OfASwizzledTile) {
    const Recorded made = replayed(kernels::recorded(kernels::swizzled_tile()));
    const auto all = tile_layouts(*made.trace, *made.index, *made.replay, 0);
    ASSERT_EQ(all.size(), 1u);
    const TileLayout& tile = all.front();
    EXPECT_EQ(tile.rows, 8u);
    ASSERT_EQ(tile.cols, 32u);
    for (uint32_t r = 0; r < 8; ++r)
        for (uint32_t c = 0; c < 32; ++c) EXPECT_EQ(tile.byte(r, c), (r * 128 + c * 4) ^ r << 4);
    const auto rule = rule_of(tile);
    ASSERT_TRUE(rule);
    ASSERT_TRUE(rule->swizzle);
    EXPECT_EQ(remedy_name(*rule->swizzle), "Swizzle<3,4,3>");
    EXPECT_EQ(rule->pitch, 128);
    EXPECT_EQ(cost_of_column(*made.trace, tile).cost, 1u) << "8 rows in 8 banks";
    EXPECT_NE(layout_text(*made.trace, *made.index, tile).find("Swizzle<3,4,3>"), std::string::npos);
}

// A tile that the source does not declare, so that its cells are words of two halves, lies as it does.
TEST(TileLayout, OfWordsThatHoldTwoElements) {
    kernels::Plan plan = kernels::rows_of_halves();
    const Recorded declared = replayed(kernels::recorded(plan));
    plan.source.clear();
    const Recorded bare = replayed(kernels::recorded(plan));
    const auto a = tile_layouts(*declared.trace, *declared.index, *declared.replay, 0);
    const auto b = tile_layouts(*bare.trace, *bare.index, *bare.replay, 0);
    ASSERT_TRUE(a.size() == 1 && b.size() == 1);
    EXPECT_EQ(a[0].at, b[0].at);
    EXPECT_EQ(a[0].chunk, b[0].chunk);
}

// A chunk of 8 halves in each cell; a column of chunks, 8 lanes at a time, in one group of banks.
TEST(TileLayout, OfRowsReadBy16Bytes) {
    const Recorded made = replayed(kernels::recorded(kernels::rows_of_halves()));
    const auto all = tile_layouts(*made.trace, *made.index, *made.replay, 0);
    ASSERT_EQ(all.size(), 1u);
    const TileLayout& tile = all.front();
    hold(made, tile, made.index->steps - 1);
    EXPECT_EQ(tile.chunk, 16u);
    EXPECT_EQ(tile.elements, 8u);
    EXPECT_EQ(tile.rows, 32u);
    EXPECT_EQ(tile.cols, 8u);
    const auto rule = rule_of(tile);
    ASSERT_TRUE(rule);
    EXPECT_FALSE(rule->swizzle);
    EXPECT_EQ(rule->pitch, 128);
    EXPECT_EQ(cost_of_column(*made.trace, tile).cost, 32u);
    EXPECT_EQ(cost_of_column(*made.trace, tile).least, 4u);
    const auto found = analysis::improvements_of(*made.trace);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->arrays.size(), 1u);
    std::vector<std::string> names;
    for (const analysis::Remedied& row : found->arrays[0].rows) {
        names.push_back(remedy_name(row.remedy));
        EXPECT_EQ(row.cost, found->arrays[0].least);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"padding 8", "Swizzle<3,4,3>"}));
}

// What is promised of a padding is what the padded kernel's recording costs, and a request with it has no conflicts.
TEST(Freed, AsTheChangedKernelIs) {
    const kernels::Shape shape{64, 64, 64, 32};
    const Recorded made = record("tiled_transposed", shape), padded = record("tiled_padded", shape);
    const auto found = analysis::improvements_of(*made.trace);
    ASSERT_TRUE(found);
    const auto wavefronts = [](const Recorded& of, const char* name) {
        uint64_t sum = 0;
        for (uint64_t step = 0; step < of.trace->steps(); ++step)
            if (const Array* const array = of.trace->array_of(of.trace->form_of(step));
                array && array->name == name)
                sum += analysis::cost_of(*of.trace, step).shared.wavefronts;
        return sum;
    };
    const auto nds = std::ranges::find_if(found->arrays, [&](const analysis::Remedies& of) {
        return made.trace->launch.arrays[of.array].name == "Nds";
    });
    ASSERT_NE(nds, found->arrays.end());
    EXPECT_EQ(nds->looked_at, nds->requests);
    EXPECT_EQ(nds->cost, wavefronts(made, "Nds"));
    EXPECT_GT(nds->cost, wavefronts(padded, "Nds"));
    const auto by_padding = std::ranges::find(nds->rows, analysis::RemedyKind::Padding,
                                              [](const analysis::Remedied& row) { return row.remedy.kind; });
    ASSERT_NE(by_padding, nds->rows.end());
    EXPECT_EQ(by_padding->remedy.padding, 1u);
    EXPECT_EQ(by_padding->cost, wavefronts(padded, "Nds"));

    for (uint32_t step = 0; step < made.index->steps; ++step) {
        const RequestView before = request_view(*made.trace, *made.index, step);
        const bool there = before.array == nds->array && before.cost.shared.conflicts() > 0;
        for (size_t row = 0; row <= nds->rows.size(); ++row) {
            const auto after = freed_view(*made.trace, before, *found, row);
            ASSERT_EQ(after.has_value(), there && row < nds->rows.size()) << step;
            if (!after) continue;
            EXPECT_LT(after->cost.shared.wavefronts, before.cost.shared.wavefronts);
            EXPECT_EQ(after->cost.shared.ideal_wavefronts, before.cost.shared.ideal_wavefronts);
            EXPECT_EQ(after->groups, before.groups);
        }
    }
}

}  // namespace
}  // namespace tilescope::app
