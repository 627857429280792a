// A person's own pairs: what was shown before, launches in a folder; and the small pictures of pairs.
#include <filesystem>

#include "core/trace/file.h"
#include "tests/temp_folder.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

// Recordings in files, opened one after the other.
class OwnPairs : public TempFolder {
protected:
    std::string file(const std::string& name, const char* kernel) {
        const std::string path = at(name);
        EXPECT_TRUE(trace::write_file(kernels::recorded(kernel, {8, 8, 8, 4}), path));
        return path;
    }
    void open(const std::string& path) {
        session::open_file(state.session, path);
        while (state.session.opening) update(state, true);
        update(state, true);
        ASSERT_EQ(state.session.recording->origin, path) << state.session.message;
    }
    void compare_before() {
        handle_input(state, press(Key::V, true));
        compare::ready(state.compare, state.session, true);
    }
    std::string beside() const {
        return state.session.pair.other.recording ? state.session.pair.other.recording->origin : "";
    }

    Recorded made = record("tiled", {64, 64, 64, 16});
    State state = state_of(made);
};

TEST_F(OwnPairs, TheOneThatWasShownBeforeWithOneKey) {
    const std::string first = file("one.tsc", "untiled"), second = file("two.tsc", "tiled");
    state.session.recording.reset();
    open(first);
    EXPECT_TRUE(session::own_pairs(state.session).empty());
    open(second);
    ASSERT_EQ(session::own_pairs(state.session).size(), 1u);
    state.session.screen = "limits";
    compare_before();
    EXPECT_EQ(state.session.screen, "compare");
    EXPECT_FALSE(compare::choosing(state.compare, state.session));
    EXPECT_EQ(state.session.recording->origin, second);
    EXPECT_EQ(beside(), first);
    // The list has it first, with a picture, and the pairs that ship behind it.
    ASSERT_EQ(state.session.pair.launches, session::own_pairs(state.session).front());
    EXPECT_FALSE(compare::sketch(state.compare, state.session, true));
    ASSERT_EQ(state.compare.own.size(), 1u);
    EXPECT_TRUE(state.compare.own[0].sketch);
    compare::take_choice(state.compare, state.session, 1);
    EXPECT_EQ(state.session.pair.preset, 0);
    EXPECT_FALSE(state.session.pair.launches);
}

TEST_F(OwnPairs, TheLaunchBeforeItInItsFolder) {
    file("copy.1.tsc", "tiled");
    const std::string second = file("scale.2.tsc", "untiled"), tenth = file("copy.10.tsc", "tiled"),
                      alone = file("other.tsc", "tiled");
    state.session.recording.reset();
    open(tenth);
    compare_before();
    EXPECT_EQ(beside(), second) << "by number, not by letters, and of any kernel";
    const auto own = session::own_pairs(state.session);
    ASSERT_FALSE(own.empty());
    EXPECT_EQ(own[0].name_a, "launch 10: copy");
    EXPECT_EQ(own[0].name_b, "launch 2: scale");
    state.session.pair = {};
    open(at("copy.1.tsc"));
    state.session.pair.before = nullptr;
    compare_before();
    EXPECT_EQ(beside(), second) << "the first has none before it, but one behind it";
    state.session.pair = {};
    open(alone);
    state.session.pair.before = nullptr;
    compare_before();
    EXPECT_EQ(beside(), "");
    EXPECT_NE(state.session.message.find("No recording was shown before this one"), std::string::npos);
}

TEST_F(OwnPairs, AFileThatIsOpenedAgainHasItsNeighbour) {
    const std::string first = file("copy.1.tsc", "tiled"), second = file("copy.2.tsc", "untiled");
    state.session.recording.reset();
    for (int times = 0; times < 2; ++times) {
        open(first);
        state.session.pair.before = nullptr;
        session::look_into_folder(state.session);
        const auto own = session::own_pairs(state.session);
        ASSERT_EQ(own.size(), 1u) << times;
        EXPECT_EQ(own[0].path_b, second);
        EXPECT_EQ(own[0].there_a->serial, state.session.recording->serial);
    }
}

// Not files alone: a stop of a lesson, a pair of the list, or what is recorded may take its place.
TEST_F(OwnPairs, WhateverTakesItsPlaceTheOneBeforeIsKept) {
    const auto first = *session::make_recording(kernels::recorded("untiled", {8, 8, 8, 4}), "first"),
               second = *session::make_recording(kernels::recorded("tiled", {8, 8, 8, 4}), "second");
    show(state.session, first);
    show(state.session, second);
    EXPECT_EQ(state.session.pair.before, first);
    show(state.session, second);
    EXPECT_EQ(state.session.pair.before, first) << "it is the same one";
    compare_before();
    EXPECT_EQ(state.session.recording->origin, "second");
    EXPECT_EQ(beside(), "first");
}

TEST_F(OwnPairs, OneOfTheSameFolderIsNearerThanAnyOther) {
    const std::string first = file("copy.1.tsc", "tiled"), third = file("copy.3.tsc", "tiled");
    file("copy.2.tsc", "untiled");
    state.session.recording.reset();
    open(first);
    open(third);
    compare_before();
    EXPECT_EQ(beside(), first) << "shown before it";
    EXPECT_EQ(session::own_pairs(state.session).size(), 2u) << "and launch 2 is offered too";
}

TEST_F(OwnPairs, HSwitchesBetweenSoFarAndTheWholeRun) {
    EXPECT_FALSE(state.compare.whole_run);
    state.session.screen = "step";
    handle_input(state, press(Key::H));
    EXPECT_TRUE(state.compare.whole_run);
    EXPECT_EQ(state.session.screen, "compare");
    handle_input(state, press(Key::H));
    EXPECT_FALSE(state.compare.whole_run);
}

analysis::Recording of(const char* kernel, kernels::Shape shape) {
    auto opened = analysis::opened(kernels::recorded(kernel, shape));
    EXPECT_TRUE(opened);
    return std::move(*opened);
}

constexpr kernels::Shape kOwnShape{64, 64, 64, 16};

// The same closed forms as in view_compare_test.cpp and view_compare_presets_test.cpp.
TEST(Sketches, ShowWhatDiffersMost) {
    using Kind = compare::Sketch::Kind;
    const auto made = compare::sketch_of(of("untiled", kOwnShape), of("tiled", kOwnShape));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->kind, Kind::Loads);
    EXPECT_EQ(made->a.count, 64u);
    EXPECT_EQ(made->b.count, 4u);
    EXPECT_EQ(made->most, 64u);
    EXPECT_TRUE(made->whole);
    ASSERT_EQ(made->a.cells.size(), size_t{made->a.rows} * made->a.cols);
    EXPECT_LE(made->a.rows, compare::kSketchCells);
    EXPECT_TRUE(std::ranges::all_of(made->a.cells, [](uint32_t cell) { return cell == 64; }));
    const auto swapped = compare::sketch_of(of("untiled", kOwnShape), of("untiled_swapped", kOwnShape));
    ASSERT_TRUE(swapped);
    EXPECT_EQ(swapped->kind, Kind::Sectors);
    EXPECT_EQ(swapped->a.count, 2u);
    EXPECT_EQ(swapped->b.count, 16u);
    EXPECT_EQ(std::ranges::count(swapped->b.cells, 1u), 16);
    const kernels::Shape wide{64, 64, 64, 32};
    const auto padded = compare::sketch_of(of("tiled_transposed", wide), of("tiled_padded", wide));
    ASSERT_TRUE(padded);
    EXPECT_EQ(padded->kind, Kind::Wavefronts);
    EXPECT_EQ(padded->a.count, 32u);
    EXPECT_EQ(padded->b.count, 1u);
    const auto stale =
        compare::sketch_of(of("tiled", {20, 20, 20, 8}), of("tiled_stale_edge", {20, 20, 20, 8}));
    ASSERT_TRUE(stale);
    EXPECT_EQ(stale->kind, Kind::Wrong);
    EXPECT_EQ(stale->a.count, 0u);
    EXPECT_GT(stale->b.count, 0u);
    EXPECT_EQ(stale->a.cells.size(), stale->b.cells.size());
    const auto same = compare::sketch_of(of("tiled", kOwnShape), of("tiled", kOwnShape));
    ASSERT_TRUE(same);
    EXPECT_EQ(same->kind, Kind::Steps);
    EXPECT_EQ(same->a.cells, same->b.cells);
    EXPECT_EQ(same->a.rows, 8u) << "a row a warp";
}

TEST(Sketches, OfNothingThereIsNone) {
    trace::Trace empty = kernels::recorded("tiled", {4, 4, 4, 2});
    empty.blocks.clear();
    empty.key.clear();
    empty.base.clear();
    empty.time.clear();
    auto opened = analysis::opened(std::move(empty));
    if (!opened) return;
    EXPECT_FALSE(compare::sketch_of(*opened, of("tiled", kOwnShape)));
    EXPECT_FALSE(compare::sketch_of(of("tiled", kOwnShape), *opened));
}

}  // namespace
}  // namespace tilescope::app
