// The Step screen as pictures: a recording made here, a step of each kind, both themes and sizes.
#include <map>
#include <set>

#include <fmt/format.h>

#include "app/look/timeline.h"
#include "app/session/session.h"
#include "kernels/run/record.h"
#include "tests/app_names.h"
#include "tests/clocked.h"
#include "tests/gl/drawn.h"
#include "tests/launch_examples.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

// Times of no device: the pictures do not change with what ships.
const std::vector<kernels::Timings>& times_of_256() {
    static const std::vector<kernels::Timings> all = [] {
        kernels::Timings timings;
        timings.device = "NVIDIA H200";
        for (const auto& [kernel, ms] : {std::pair{"tiled", 0.0061}, std::pair{"untiled", 0.00732}}) {
            kernels::Timing row;
            row.kernel = kernel;
            row.m = row.k = row.n = 256;
            row.tile = 16;
            row.verified = true;
            row.median_ms = ms;
            timings.rows.push_back(row);
        }
        return std::vector{timings};
    }();
    return all;
}

const std::vector<kernels::ShippedRecording>& sample_recordings() {
    static const std::vector<kernels::ShippedRecording> all(1, [] {
        kernels::ShippedRecording one;
        one.label = "Tiled 64 × 64 × 64, T = 16, recorded on an NVIDIA H200";
        one.device = "NVIDIA H200";
        return one;
    }());
    return all;
}

State shown(trace::Trace trace) {
    State state;
    show_trace(state, std::move(trace));
    state.session.assets.timings = times_of_256;
    state.session.assets.recordings = sample_recordings;
    state.session.gpu = {true, false, "there is no driver"};
    return state;
}

State recorded_with_times(const char* kernel, kernels::Shape shape) {
    return shown(kernels::recorded(kernel, shape));
}

State clocked(const char* kernel, kernels::Shape shape) {
    return shown(trace::with_clocks(kernels::recorded(kernel, shape)));
}

// The first step of the cursor's block of a kind, from a step on.
uint32_t first_of(const State& state, analysis::StepKind kind, uint32_t from = 0) {
    for (uint32_t step = from; step < state.session.block->steps; ++step)
        if (look::kind_of(*state.session.recording->trace, state.session.block->first + step) == kind)
            return step;
    ADD_FAILURE() << "no such step";
    return 0;
}

constexpr kernels::Shape kDefault{64, 64, 64, 16};

TEST(StepScreen, FirstStepOfTheDefault) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(recorded_with_times("tiled", kDefault), 1280, 720), "step_default_first");
}

TEST(StepScreen, DefaultInTheDarkAtASharedStore) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_with_times("tiled", kDefault);
    state.session.theme = Theme::Dark;
    state.session.cursor.step = first_of(state, analysis::StepKind::SharedStore);
    test::expect_golden(picture(std::move(state), 1600, 1000), "step_default_store_dark");
}

TEST(StepScreen, LectureExampleWithAPinnedElement) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_with_times("tiled", {4, 4, 4, 2});
    state.session.cursor.step = first_of(state, analysis::StepKind::SharedLoad) + 3;
    state.session.pin.kind = Pick::Kind::Element;
    state.session.pin.array = 2;
    state.session.pin.index = 1;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_lecture_pinned");
}

// A thread owns 8 x 8 elements: its patch is framed, with its rows of M and its columns of N.
TEST(StepScreen, AThreadsPatch) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_with_times("register_tile", {128, 16, 128, 0});
    state.session.theme = Theme::Dark;
    state.session.cursor.step = first_of(state, analysis::StepKind::SharedLoad) + 120;
    state.session.pin.kind = Pick::Kind::Thread;
    state.session.pin.thread = 1;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_patch");
}

TEST(StepScreen, RaggedEdgesOfTheLastBlock) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_with_times("tiled", {100, 70, 130, 16});
    state.session.cursor.block = 62;
    update(state, true);
    state.session.cursor.step =
        first_of(state, analysis::StepKind::GlobalLoad, state.session.block->spans[4].first);
    test::expect_golden(picture(std::move(state), 1280, 720), "step_edges");
}

TEST(StepScreen, BankConflictsOfTheTransposedTile) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_with_times("tiled_transposed", {64, 64, 64, 32});
    state.session.cursor.step = first_of(state, analysis::StepKind::SharedLoad) + 33;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_bank_conflicts");
}

// 16 bytes a lane: four strips of banks, each below the 8 lanes that it serves; and with what frees them.
TEST(StepScreen, BanksByGroupsOfLanes) {
    SKIP_WITHOUT_OPENGL();
    const auto at_read = [] {
        State state = shown(kernels::recorded(kernels::rows_of_halves()));
        state.session.cursor.step = first_of(state, analysis::StepKind::SharedLoad);
        return state;
    };
    test::expect_golden(picture(at_read(), 1280, 720), "step_bank_groups");
    State dark = at_read();
    dark.session.theme = Theme::Dark;
    test::expect_golden(picture(std::move(dark), 1600, 1000), "step_bank_groups_dark");
    State freed = at_read();
    freed.step.judged_by = JudgedAs::Gt200;
    test::expect_golden(picture(std::move(freed), 1280, 720), "step_bank_groups_freed");
    State padded = shown(kernels::recorded("tiled_transposed", {64, 64, 64, 32}));
    padded.session.theme = Theme::Dark;
    padded.session.cursor.step = first_of(padded, analysis::StepKind::SharedLoad) + 33;
    padded.step.judged_by = JudgedAs::G80;
    test::expect_golden(picture(std::move(padded), 1600, 1000), "step_freed_dark");
}

// Lanes that point to rows above, those that get their words below; then the product of what they got.
TEST(StepScreen, FragmentsOnTheirWayAndAtWork) {
    SKIP_WITHOUT_OPENGL();
    const auto at = [](analysis::StepKind kind, uint32_t behind) {
        State state = shown(kernels::recorded(kernels::matrix_tile()));
        state.session.cursor.step = first_of(state, kind) + behind;
        state.session.pin = {.kind = look::Pick::Kind::Thread, .thread = 5};
        return state;
    };
    test::expect_golden(picture(at(analysis::StepKind::SharedLoad, 1), 1280, 800), "step_ldmatrix");
    State lens = at(analysis::StepKind::Exchange, 0);
    lens.step.middle = Middle::Fragments;
    lens.session.theme = Theme::Dark;
    test::expect_golden(picture(std::move(lens), 1280, 800), "step_fragments_dark");
}

TEST(StepScreen, TheMouseMayStandOnABlankLineOfTheSource) {
    SKIP_WITHOUT_OPENGL();
    trace::Trace trace = kernels::recorded("tiled", {4, 4, 4, 2});
    trace.meta.source.clear();
    for (int line = 0; line < 100; ++line) trace.meta.source += "      \n";
    State state = shown(std::move(trace));
    Drawn drawn(1280, 720);
    platform::Input input;
    input.mouse_x = 100, input.mouse_y = 300;
    drawn.frames(state, input, 2);
    EXPECT_EQ(state.session.hover.kind, Pick::Kind::Site) << "a line with an access, although it is blank";
}

TEST(StepScreen, ListOfKeys) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_with_times("untiled_swapped", kDefault);
    state.input.show_keys = true;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_keys");
}

TEST(StepScreen, FormThatRecords) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_with_times("tiled", kDefault);
    state.input.form.open = true;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_record_form");
}

TEST(StepScreen, ClocksOfAWarpThatComesToABarrier) {
    SKIP_WITHOUT_OPENGL();
    State state = clocked("tiled", kDefault);
    state.session.cursor.step = state.session.block->barriers[1].arrivals[2].step;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_clocks");
}

TEST(StepScreen, ClocksInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = clocked("tiled", {64, 64, 64, 32});
    state.session.theme = Theme::Dark;
    state.session.cursor.step = first_of(state, analysis::StepKind::SharedLoad) + 40;
    state.session.pin.kind = Pick::Kind::Warp;
    state.session.pin.warp = 3;
    test::expect_golden(picture(std::move(state), 1600, 1000), "step_clocks_dark");
}

TEST(StepScreen, TheWheelZoomsIntoTheClocks) {
    SKIP_WITHOUT_OPENGL();
    State state = clocked("tiled", kDefault);
    Drawn drawn(1280, 720);
    const auto build = [&](float notches) {
        platform::Input input;
        input.mouse_x = 350, input.mouse_y = 600;  // over the rows of the warps
        input.scroll_y = notches;
        drawn.frames(state, input, 1);
    };
    build(0), build(4), build(0);
    const uint32_t clocks = look::last_clock(*state.session.recording->trace, *state.session.block) + 1;
    EXPECT_NEAR(state.step.timeline.view.end - state.step.timeline.view.first, clocks / 4.0, 1)
        << "twice two notches";
    build(-4), build(0);
    EXPECT_TRUE(state.step.timeline.shown.whole());
    build(4);
    test::expect_golden(drawn.picture(state), "step_clocks_zoomed");
}

// A click takes what its row shows at that place, whichever warp steps there; dragged on, the mouse scrubs
// through all of them.
TEST(StepScreen, AClickOnAWarpsBarTakesItsRequest) {
    SKIP_WITHOUT_OPENGL();
    for (const bool clocks : {false, true}) {
        State state = clocks ? clocked("tiled", kDefault) : recorded_with_times("tiled", kDefault);
        Drawn drawn(1280, 720);
        drawn.frames(state);
        std::map<uint32_t, float> rows;  // by warp: where its number stands
        for (const draw::Written& text : drawn.seen().texts)
            if (text.text.starts_with("warp "))
                rows[static_cast<uint32_t>(std::stoul(text.text.substr(5)))] = (text.min.y + text.max.y) / 2;
        ASSERT_GE(rows.size(), 3u);
        platform::Input mouse;
        const auto hold = [&](bool down) {
            mouse.mouse_down[0] = down;
            drawn.frames(state, mouse, 2, false);
        };
        const auto warp_now = [&] {
            return state.session.recording->trace->warp_of(state.session.block->first +
                                                           state.session.cursor.step);
        };
        std::set<uint32_t> scrubbed;
        for (const auto& [warp, y] : rows)
            for (const float x : {300.f, 417.f, 700.f}) {
                mouse.mouse_x = x, mouse.mouse_y = y;
                hold(false), hold(true);
                EXPECT_EQ(warp_now(), warp) << x << (clocks ? " by clocks" : " by steps");
                for (float by = 20; by < 26; ++by) {
                    mouse.mouse_x = x + by;
                    hold(true);
                    scrubbed.insert(warp_now());
                }
                hold(false);
            }
        EXPECT_GT(scrubbed.size(), rows.size()) << "warps whose rows have no number, too";
    }
}

// A shuffle, and a vote: who gives to whom, and what arrives; whole at every size, with room for all that is said.
State at_exchange(const kernels::Plan& plan, uint32_t number) {
    State state = shown(kernels::recorded(plan));
    uint32_t step = first_of(state, analysis::StepKind::Exchange);
    while (number-- > 0) step = first_of(state, analysis::StepKind::Exchange, step + 1);
    state.session.cursor.step = step;
    return state;
}

TEST(StepScreen, AShuffle) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(at_exchange(kernels::block_sums(), 0), 1280, 720), "step_shuffle");
}
TEST(StepScreen, AShuffleThatReadsAbsentLanesInDark) {
    SKIP_WITHOUT_OPENGL();
    State state = at_exchange(kernels::warp_talk(0xFFFFF), 4);
    state.session.theme = draw::Theme::Dark;
    test::expect_golden(picture(std::move(state), 1600, 1000), "step_shuffle_absent_dark");
}
TEST(StepScreen, ABallotInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = at_exchange(kernels::warp_talk(), 0);
    state.session.lecture = true;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_ballot_lecture");
}
TEST(StepScreen, AMatch) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(at_exchange(kernels::warp_talk(), 2), 1280, 720), "step_match");
}

TEST(StepScreen, NamesExchangesWhereThereAreAny) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}, {800, 1200}}) {
        Drawn drawn(width, height);
        State state = at_exchange(kernels::block_sums(), 0);
        const std::string words = drawn.words(state);
        for (const char* const said :
             {"Warp0shufflesdownby16", "16laneskeeptheirown", "exchangeamonglanes", "exchanges"})
            EXPECT_NE(words.find(said), std::string::npos) << said << " at " << width << ": " << words;
        state = shown(kernels::recorded(kernels::vector_add()));
        EXPECT_EQ(drawn.words(state).find("exchange"), std::string::npos);
    }
}

TEST(StepScreen, AGpusRecordingBySteps) {
    SKIP_WITHOUT_OPENGL();
    State state = clocked("tiled", kDefault);
    state.session.by_clock = false;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_clocks_by_steps");
}

TEST(StepScreen, WarnsOfARecordingThatIsNotWhole) {
    SKIP_WITHOUT_OPENGL();
    trace::Trace trace = trace::with_clocks(kernels::recorded("tiled", kDefault));
    trace.meta.complete = false;
    trace.meta.incomplete_reason =
        "1,204 requests found no room in the device trace buffer of 64 KiB; record with a larger --buffer";
    trace.blocks[0].dropped = 37;
    trace.blocks[5].dropped = 1167;
    test::expect_golden(picture(shown(std::move(trace)), 1280, 720), "step_not_whole");
}

// Sizes that nobody designed for are drawn too, and a state without a recording.
TEST(StepScreen, DrawsAnySizeAndNothingAtAll) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{200, 200}, std::pair{640, 360}, std::pair{900, 1400}})
        EXPECT_EQ(picture(recorded_with_times("tiled", {4, 4, 4, 2}), width, height).width, width);
    const State nothing;
    EXPECT_EQ(picture(nothing, 640, 360).height, 360);
}

}  // namespace
}  // namespace tilescope::app
