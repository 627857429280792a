// Tiles, cells, captions and what a selection lights up, on real recordings.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "app/look/pick.h"
#include "app/look/request.h"
#include "app/step/model.h"
#include "tests/unit/view_recordings.h"
#include "tests/vector_kernel.h"

namespace tilescope::app {
namespace {

using look::Pick;
const kernels::Shape kDefault{64, 64, 64, 16};

TEST(Tiles, OfEveryPhaseAreThoseOfTheTextbook) {
    const Recorded made = record("tiled", kDefault, 6);  // block (2,1)
    ASSERT_EQ(made.trace->blocks[6].x, 2u);
    for (uint32_t phase = 0; phase < 4; ++phase) {
        EXPECT_EQ(tile_of_phase(*made.trace, *made.index, 0, phase),
                  (CellRect{16, 32, phase * 16, phase * 16 + 16}));
        EXPECT_EQ(tile_of_phase(*made.trace, *made.index, 1, phase),
                  (CellRect{phase * 16, phase * 16 + 16, 32, 48}));
        EXPECT_EQ(tile_of_phase(*made.trace, *made.index, 2, phase), (CellRect{16, 32, 32, 48}));
    }
    EXPECT_TRUE(tile_of_phase(*made.trace, *made.index, 0, analysis::kAfter).empty());
}

TEST(Tiles, OfTheUntiledKernelAreAColumnAndARow) {
    const Recorded made = record("untiled", kDefault);
    EXPECT_EQ(tile_of_phase(*made.trace, *made.index, 0, 5), (CellRect{0, 16, 5, 6}));
    EXPECT_EQ(tile_of_phase(*made.trace, *made.index, 1, 5), (CellRect{5, 6, 0, 16}));
}

TEST(Tiles, ReachPastTheEdgesWhereTheBlockDoes) {
    const Recorded made = record("tiled", {100, 70, 130, 16}, 62);  // block (8,6), the last
    const uint32_t last = step_of(made, StepKind::GlobalLoad, "M", made.index->spans[4].first);
    const MatrixView M = matrix_view(*made.trace, *made.index, made.replay.get(), 0, last);
    EXPECT_EQ(M.frames, (std::vector<CellRect>{{96, 100, 64, 70}}));
    EXPECT_EQ(M.beyond, (std::vector<CellRect>{{96, 100, 70, 80}, {100, 112, 64, 80}}));
    const MatrixView P = matrix_view(*made.trace, *made.index, made.replay.get(), 2, last);
    EXPECT_EQ(P.frames, (std::vector<CellRect>{{96, 100, 128, 130}}));
    size_t with_output = 0;
    for (uint32_t thread = 0; thread < 256; ++thread)
        if (output_of(*made.index, thread)) ++with_output;
    EXPECT_EQ(with_output, 8u);
}

TEST(Cells, OfAStoreIntoSharedMemoryComeFromTheElementsLoaded) {
    const Recorded made = record("tiled", kDefault);
    const uint32_t load = step_of(made, StepKind::GlobalLoad, "M"),
                   store = step_of(made, StepKind::SharedStore, "Mds");
    const MatrixView at_load = matrix_view(*made.trace, *made.index, made.replay.get(), 0, load);
    const MatrixView at_store = matrix_view(*made.trace, *made.index, made.replay.get(), 0, store);
    ASSERT_EQ(at_load.touched.size(), 32u);
    ASSERT_EQ(at_store.related.size(), 32u);
    EXPECT_TRUE(at_store.touched.empty());
    EXPECT_EQ(at_load.touched, at_store.related);
    const SharedView tile =
        shared_view(*made.trace, *made.index, made.replay.get(), 3, store, {0, 16, 0, 16});
    EXPECT_EQ(source_text(*made.trace, tile.cells[19].held, {}), "M[1,3]");
    EXPECT_EQ(tile.cells[19].held.value, value_of(kernels::input_value(kernels::kDefaultSeed, 0, 64 + 3)));
    EXPECT_FALSE(tile.cells[16 * 15].held.written);
    // A part of it: cell [1,3] is the first.
    const SharedView part = shared_view(*made.trace, *made.index, made.replay.get(), 3, store, {1, 3, 3, 5});
    ASSERT_EQ(part.cells.size(), 4u);
    EXPECT_EQ(part.cells[0].held.source, tile.cells[19].held.source);
    EXPECT_EQ(part.cells[0].lanes, tile.cells[19].lanes);
    EXPECT_EQ(std::count_if(tile.cells.begin(), tile.cells.end(),
                            [](const SharedCellView& c) { return c.lanes != 0; }),
              32);
}

TEST(Cells, OutsideTheMatrixAreZeroFilled) {
    const Recorded made = record("tiled", {3, 3, 3, 2}, 3);  // block (1,1) of the 3 x 3 case
    const SharedView tile =
        shared_view(*made.trace, *made.index, made.replay.get(), 3, made.index->steps - 1, {0, 2, 0, 2});
    EXPECT_TRUE(tile.cells[3].zero_fill);
    EXPECT_EQ(source_text(*made.trace, tile.cells[3].held, {}), "zero");
}

TEST(Cells, OfAVectorAccessAreAllThatItTouches) {
    const Recorded made = replayed(vector_recording());
    const uint32_t load = step_of(made, StepKind::GlobalLoad, "in"),
                   store = step_of(made, StepKind::SharedStore, "tile");
    const auto in = [&](uint32_t step) {
        return matrix_view(*made.trace, *made.index, made.replay.get(), kVectorIn, step);
    };
    EXPECT_EQ(in(load).touched.size(), 32u) << "8 lanes, 4 elements each";
    EXPECT_EQ(in(store).loaded.size(), 32u);
    EXPECT_EQ(in(store).related, in(load).touched);
    const CellRect all{0, 2, 0, 32};
    EXPECT_EQ(touched_last(*made.trace, *made.index, kVectorTile, store), (CellRect{0, 1, 0, 32}));
    const SharedView tile = shared_view(*made.trace, *made.index, made.replay.get(), kVectorTile, store, all);
    for (uint32_t cell = 0; cell < 40; ++cell)
        EXPECT_EQ(tile.cells[cell].lanes, cell < 32 ? 1u << cell / 4 : 0) << cell;
    EXPECT_EQ(source_text(*made.trace, tile.cells[7].held, {}), "in[7]");
}

TEST(Captions, SayWhatHappened) {
    const Recorded made = record("tiled", kDefault);
    const auto at = [&](uint32_t step) { return caption(*made.trace, *made.index, made.replay.get(), step); };
    EXPECT_EQ(at(0), "Warp 0 loads rows 0 and 1 of the M tile: 32 lanes, 4 sectors.");
    EXPECT_EQ(at(step_of(made, StepKind::SharedStore, "Nds")),
              "Warp 0 fills rows 0 and 1 of Nds: 32 lanes, 1 wavefront.");
    const uint32_t barrier = step_of(made, StepKind::Barrier, "");
    EXPECT_EQ(at(barrier),
              "Warp 0 arrives at the barrier. 1 of 8 warps has arrived; the block waits for the others.");
    EXPECT_EQ(at(barrier + 7),
              "Warp 7 arrives at the barrier. The last of 8 warps arrives: the block goes on.");
    EXPECT_EQ(at(step_of(made, StepKind::GlobalStore, "P")),
              "Warp 0 writes its sums to P[0..1,0..15]: 32 lanes, 4 sectors.");
    EXPECT_EQ(phase_text(*made.index, 0), "phase 0 (1st of 4)");
    EXPECT_EQ(phase_text(*made.index, made.index->steps - 1), "after the last phase");
}

TEST(Relations, AnElementOfPHasItsThreadRowAndColumn) {
    const Recorded made = record("tiled", kDefault);
    Pick pick;
    pick.kind = Pick::Kind::Element;
    pick.array = 2;
    pick.index = 3 * 64 + 5;
    const Relations to = relations(*made.trace, *made.index, made.replay.get(), pick, made.index->steps - 1);
    EXPECT_EQ(to.threads, (std::vector<uint32_t>{3 * 16 + 5}));
    ASSERT_EQ(to.cells.size(), 3u);
    EXPECT_EQ(to.cells[1].second, (CellRect{3, 4, 0, 64}));
    EXPECT_EQ(to.cells[2].second, (CellRect{0, 64, 5, 6}));
    EXPECT_EQ(to.lines[0], "P[3,5] = row 3 of M times column 5 of N");
    pick.index = 64 * 64 - 1;
    const Relations other = relations(*made.trace, *made.index, made.replay.get(), pick, 0);
    EXPECT_TRUE(other.threads.empty());
    EXPECT_EQ(other.lines.back(), "Another block computes it.");
}

TEST(Relations, AThreadShowsItsOwnAccesses) {
    const Recorded made = record("tiled", {4, 4, 4, 2});
    const Pick pick{.kind = Pick::Kind::Thread, .thread = 2};
    const auto at = [&](uint32_t step) {
        return relations(*made.trace, *made.index, made.replay.get(), pick, step);
    };
    const Relations first = at(0);
    EXPECT_EQ(first.lines[2], "phase 0: loads M[1,0] into Mds[1,0], N[1,0] into Nds[1,0]");
    EXPECT_EQ(at(step_of(made, StepKind::GlobalLoad, "N")).cells.back().second, (CellRect{1, 2, 0, 1}));
    const uint32_t second = made.index->spans[1].first;
    EXPECT_EQ(at(second).lines[2], "phase 1: loads M[1,2] into Mds[1,0], N[3,0] into Nds[1,0]");
    const Recorded untiled = record("untiled", {64, 64, 64, 16});
    EXPECT_EQ(relations(*untiled.trace, *untiled.index, untiled.replay.get(), pick, 0).lines[2].substr(0, 28),
              "phase 0: loads M[0,0], N[0,2");
}

TEST(Relations, ALineIsCountedAsTheSourcePanelCountsIt) {
    const Recorded made = record("tiled", kDefault);
    for (uint32_t step = 0; step < made.index->steps; step += 101) {
        const SourceView source = source_view(*made.trace, *made.index, step);
        for (const ptx::Site& site : made.trace->sites) {
            const SourceLine& line = source.lines[site.line - 1];
            const Pick pick{.kind = Pick::Kind::Site, .site = site.id};
            const std::string said = relations(*made.trace, *made.index, nullptr, pick, step).lines[0];
            const bool barrier = site.kind == ptx::SiteKind::Barrier;
            EXPECT_EQ(said, fmt::format("line {}: {}{} by this block so far, {} in all", site.line,
                                        counted(line.hits, barrier ? "arrival" : "request"),
                                        barrier ? " of warps" : "", grouped(line.hits_in_all)));
        }
    }
}

TEST(Lines, LeadToTheirNextRequest) {
    const Recorded made = record("tiled", kDefault);
    const auto line_at = [&](uint32_t step) { return request_view(*made.trace, *made.index, step).line; };
    for (const uint32_t line : {23u, 28u, 32u, 35u, 37u, 40u})
        for (uint32_t step = 0; step < made.index->steps; step += 31) {
            std::optional<uint32_t> expected;
            for (uint32_t s = step + 1; s < made.index->steps && !expected; ++s)
                if (line_at(s) == line) expected = s;
            for (uint32_t s = 0; s < made.index->steps && !expected; ++s)
                if (line_at(s) == line) expected = s;
            ASSERT_TRUE(expected) << line;
            EXPECT_EQ(next_step_of_line(*made.trace, *made.index, line, step), expected)
                << line << " " << step;
        }
    EXPECT_EQ(next_step_of_line(*made.trace, *made.index, 1, 0), std::nullopt);
}

TEST(Relations, ASharedCellKnowsSourceStorerAndReads) {
    const Recorded made = record("tiled", kDefault);
    Pick pick;
    pick.kind = Pick::Kind::SharedCell;
    pick.array = 3;
    pick.index = 2 * 16 + 7;
    const uint32_t end_of_phase = made.index->spans[1].first - 1;
    const Relations to = relations(*made.trace, *made.index, made.replay.get(), pick, end_of_phase);
    ASSERT_EQ(to.lines.size(), 4u);
    EXPECT_EQ(to.lines[1], "holds M[2,7]");
    EXPECT_EQ(to.lines[2].substr(0, 23), "stored by thread[2,7] a");
    EXPECT_EQ(to.lines[3], "read 16 times since") << "every shared value is read T times";
    EXPECT_EQ(to.threads, (std::vector<uint32_t>{39}));
}

TEST(Relations, ReuseOfAnInputElementIsTOfItsLoadsFewer) {
    Pick pick;
    pick.kind = Pick::Kind::Element;
    pick.array = 0;
    pick.index = 64 + 3;
    const Recorded tiled = record("tiled", kDefault), untiled = record("untiled", kDefault);
    EXPECT_EQ(relations(*tiled.trace, *tiled.index, tiled.replay.get(), pick, 40).lines[1].substr(0, 27),
              "loaded once by thread[1,3],");
    EXPECT_EQ(
        relations(*untiled.trace, *untiled.index, untiled.replay.get(), pick, 40).lines[1].substr(0, 29),
        "loaded 16 times by 16 threads");
}

TEST(Relations, PicksOutOfRangeAreNothing) {
    const Recorded made = record("tiled", {4, 4, 4, 2});
    Pick pick;
    pick.kind = Pick::Kind::Element;
    pick.array = 200;
    EXPECT_TRUE(relations(*made.trace, *made.index, made.replay.get(), pick, 0).empty());
    pick.array = 0;
    pick.index = 1u << 30;
    EXPECT_TRUE(relations(*made.trace, *made.index, made.replay.get(), pick, 0).empty());
    pick.kind = Pick::Kind::Thread;
    pick.thread = 77;
    EXPECT_TRUE(relations(*made.trace, *made.index, made.replay.get(), pick, 0).empty());
}

TEST(MatrixView, ListsAnElementLoadedBeforeOnce) {
    const Recorded made = record("untiled", kDefault);  // 16 lanes load one element of M
    const uint8_t kM = 0;
    const MatrixView view = matrix_view(*made.trace, *made.index, nullptr, kM, 7);
    std::set<std::pair<uint32_t, uint32_t>> places;
    for (const CellRect& cell : view.loaded)
        EXPECT_TRUE(places.emplace(cell.row0, cell.col0).second) << cell.row0 << "," << cell.col0;
    EXPECT_EQ(places.size(), 14u);  // two rows a warp, by the seven warps before
}

TEST(Camera, FramesTheTileOfThePhaseWholly) {
    for (const kernels::Shape shape :
         {kDefault, kernels::Shape{100, 70, 130, 16}, kernels::Shape{4, 4, 4, 2}}) {
        const Recorded made = record("tiled", shape);
        const Viewports ports{330, 330, 330, 330};
        for (uint32_t step = 0; step < made.index->steps; step += 37) {
            const Camera camera = framed(*made.trace, *made.index, nullptr, step, ports);
            const CellRect M = tile_of_phase(*made.trace, *made.index, 0, made.index->phase_at(step));
            if (M.empty()) continue;
            EXPECT_GE(M.row0, camera.row);
            EXPECT_LE(M.row1, camera.row + ports.row_height / camera.pitch);
            EXPECT_GE(M.col0, camera.m_k);
            EXPECT_LE(M.col1, camera.m_k + ports.m_width / camera.pitch);
        }
    }
    const Recorded lecture = record("tiled", {4, 4, 4, 2});
    EXPECT_EQ(framed(*lecture.trace, *lecture.index, nullptr, 0, {330, 160, 160, 330}).pitch, 38)
        << "all of it, as large as fits: (160 - 6) / 4";
}

// Where a tile does not fit with values it is shown without them, whole, with room for its frame.
TEST(Camera, GivesUpValuesBeforeRows) {
    for (const auto& [kernel, shape, pitch] : {std::tuple("tiled", kDefault, 9.0),
                                               {"tiled", kernels::Shape{64, 64, 64, 32}, 4.0},
                                               {"untiled", kDefault, 9.0},
                                               {"register_tile", kernels::Shape{64, 64, 64, 0}, 1.0}}) {
        const Recorded made = record(kernel, shape);
        const Viewports low{220, 150, 150, 220};
        for (uint32_t step = 0; step < made.index->steps; step += 7) {
            const Camera camera = framed(*made.trace, *made.index, made.replay.get(), step, low);
            EXPECT_GE(camera.pitch, pitch) << kernel;
            const double margin = 2.5 / camera.pitch;
            const auto in_sight = [&](uint32_t first, uint32_t end, double from, double pixels) {
                return from + margin <= first && end + margin <= from + pixels / camera.pitch;
            };
            const uint32_t phase = made.index->phase_at(step);
            const CellRect m = tile_of_phase(*made.trace, *made.index, 0, phase),
                           n = tile_of_phase(*made.trace, *made.index, 1, phase),
                           p = tile_of_phase(*made.trace, *made.index, 2, phase);
            EXPECT_TRUE(m.empty() || (in_sight(m.row0, m.row1, camera.row, low.row_height) &&
                                      in_sight(m.col0, m.col1, camera.m_k, low.m_width)))
                << kernel << " " << step;
            EXPECT_TRUE(n.empty() || (in_sight(n.row0, n.row1, camera.n_k, low.n_height) &&
                                      in_sight(n.col0, n.col1, camera.col, low.col_width)))
                << kernel << " " << step;
            EXPECT_TRUE(p.empty() || (in_sight(p.row0, p.row1, camera.row, low.row_height) &&
                                      in_sight(p.col0, p.col1, camera.col, low.col_width)))
                << kernel << " " << step;
        }
    }
}

// Of a tile that has not a quarter of a pixel a cell, the page that the step is about.
TEST(Camera, ShowsThePageThatTheStepIsAbout) {
    const Recorded made = record("tiled", {64, 64, 64, 32});
    const Viewports tiny{7, 7, 7, 7};
    std::set<double> pages;
    for (uint32_t step = 0; step < made.index->steps; ++step) {
        const Camera camera = framed(*made.trace, *made.index, made.replay.get(), step, tiny);
        EXPECT_EQ(camera.pitch, 0.25);
        const RequestView request = request_view(*made.trace, *made.index, step);
        if (request.kind != StepKind::GlobalLoad || request.array != 0) continue;
        const auto first = static_cast<uint32_t>(std::countr_zero(request.mask));
        const double row = static_cast<double>(request.lanes[first].index / 64);
        EXPECT_TRUE(row >= camera.row && row + 1 <= camera.row + 28) << step;
        pages.insert(camera.row);
    }
    EXPECT_EQ(pages.size(), 2u) << "the view stands still between";
}

}  // namespace
}  // namespace tilescope::app
