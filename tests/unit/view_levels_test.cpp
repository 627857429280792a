// The Levels screen's models: bytes at each level against closed forms, the table against the band, and steps
// that are the same whichever way one comes to them.
#include <random>
#include <set>

#include "app/look/request.h"
#include "core/analysis/coalescing.h"
#include "kernels/textbook/devices.h"
#include "tests/unit/keys.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using levels::By, levels::FoundIn, levels::StepView;

// The screen over a recording, with all of it made.
State shown(const Recorded& made) {
    State state = state_of(made);
    state.session.screen = levels::kScreen.option;
    EXPECT_FALSE(levels::ready(state.levels, state.session, true));
    EXPECT_EQ(state.levels.why_not, "");
    return state;
}

// 16 blocks of tiled on an SM each: each tile is loaded once, so L1 finds nothing; DRAM gives M and N once.
TEST(Levels, BytesAtEachLevelOfTiles) {
    const State state = shown(record("tiled", {64, 64, 64, 16}));
    ASSERT_TRUE(state.levels.walked);
    const levels::LoadChain chain = levels::chain_of(*state.levels.walked, nullptr);
    constexpr double kAsked = 2. * 64 * 64 * 64 / 16 * 4, kMatrices = 2 * 64 * 64 * 4;
    EXPECT_DOUBLE_EQ(chain.stages[0].bytes, kAsked);
    EXPECT_DOUBLE_EQ(chain.stages[1].bytes, kAsked);
    EXPECT_DOUBLE_EQ(chain.stages[2].bytes, kAsked);
    EXPECT_LE(chain.stages[3].bytes, kAsked);
    EXPECT_GE(chain.stages[3].bytes, kMatrices);
    EXPECT_DOUBLE_EQ(chain.stages[4].bytes, kMatrices);
    EXPECT_EQ(chain.headlines,
              (std::vector<std::string>{
                  "L1 finds 0 % of the sectors asked for; threads ask for 4 times the bytes that DRAM gives",
                  "L1 finds 0 %; threads ask for 4 \u00d7 what DRAM gives",
                  "L1 finds 0 % of the sectors asked for"}));
    EXPECT_EQ(chain.of, "") << "they are the launch's";
    EXPECT_FALSE(chain.stages[0].modelled || chain.stages[1].modelled);
    for (const size_t i : {2, 3, 4}) EXPECT_TRUE(chain.stages[i].modelled);
    for (const levels::ChainStage& stage : chain.stages) EXPECT_FALSE(stage.measured);
}

// The same without tiles: lanes of a row share M's element, and each block finds again what it has loaded.
TEST(Levels, BytesAtEachLevelWithoutTiles) {
    const State state = shown(record("untiled", {64, 64, 64, 16}));
    const levels::LoadChain chain = levels::chain_of(*state.levels.walked, nullptr);
    EXPECT_DOUBLE_EQ(chain.stages[0].bytes, 2. * 64 * 64 * 64 * 4);
    EXPECT_DOUBLE_EQ(chain.stages[1].bytes, 64. * 64 * 64 / 32 * (2 + 2) * 32) << "2 sectors each a request";
    EXPECT_DOUBLE_EQ(chain.stages[2].bytes, 2. * 64 * 64 * 64 / 16 * 4) << "what tiles load";
    EXPECT_DOUBLE_EQ(chain.stages[4].bytes, 2. * 64 * 64 * 4);
}

// Half of the bytes make a pipe an eighth narrower; where stages are further apart, all of them still differ.
TEST(Levels, PipesAreAsWideAsBytesOnALogScale) {
    levels::LoadChain chain;
    for (size_t i = 0; i < chain.stages.size(); ++i) chain.stages[i].bytes = 1024 >> i;
    for (size_t i = 0; i < chain.stages.size(); ++i)
        EXPECT_DOUBLE_EQ(chain.width_of(chain.stages[i].bytes), 1 - static_cast<double>(i) / 8);
    EXPECT_EQ(chain.width_of(0), 0);
    chain.stages[4].bytes = 1024.0 / (1 << 20);
    EXPECT_DOUBLE_EQ(chain.width_of(chain.stages[4].bytes), 1 - 20.0 / 21);
    chain.stages[3].measured = 2048;
    EXPECT_EQ(chain.width_of(2048), 1);
}

TEST(Levels, CountedFiguresStandBesideThoseOfTheirLevel) {
    const State state = shown(record("tiled", {32, 32, 32, 16}));
    kernels::LevelCounterRow row;
    row.l1_sectors = 100, row.l1_hits = 40, row.l2_read_sectors = 50, row.dram_read_bytes = 777;
    const levels::LoadChain chain = levels::chain_of(*state.levels.walked, &row);
    EXPECT_FALSE(chain.stages[0].measured) << "no counter counts the bytes that lanes ask for";
    EXPECT_EQ(chain.stages[1].measured, 3200);
    EXPECT_EQ(chain.stages[2].measured, 1920);
    EXPECT_EQ(chain.stages[3].measured, 1600);
    EXPECT_EQ(chain.stages[4].measured, 777);
}

TEST(Levels, RowsAddUpToTheBand) {
    for (const char* kernel : {"tiled", "untiled", "untiled_swapped"}) {
        const Recorded made = record(kernel, {50, 37, 45, 8});
        const State state = shown(made);
        for (const By by : {By::Site, By::Array, By::Phase}) {
            const auto rows = levels::rows_of(*made.trace, {}, *state.levels.walked, by, 0, 0);
            uint64_t asked = 0, missed = 0;
            std::set<std::string> names;
            for (const levels::ShareRow& row : rows) {
                asked += row.share.asked();
                missed += row.share.asked() - row.share.sectors[0];
                EXPECT_TRUE(names.insert(row.name).second) << row.name;
            }
            const levels::LoadChain chain = levels::chain_of(*state.levels.walked, nullptr);
            EXPECT_EQ(asked * 32, static_cast<uint64_t>(chain.stages[1].bytes)) << kernel;
            EXPECT_EQ(missed * 32, static_cast<uint64_t>(chain.stages[2].bytes)) << kernel;
        }
        const auto arrays = levels::rows_of(*made.trace, {}, *state.levels.walked, By::Array, 0, 0);
        ASSERT_EQ(arrays.size(), 2u);
        EXPECT_EQ(arrays[0].name, "M");
        EXPECT_EQ(arrays[1].name, "N");
    }
}

TEST(Levels, AStepHasTheSectorsThatItsRequestNeeds) {
    for (const char* kernel : {"tiled", "untiled_swapped"}) {
        const Recorded made = record(kernel, {64, 64, 64, 16}, 5);
        State state = shown(made);
        state.session.cursor.block = 5;
        std::array<uint64_t, levels::kFoundIn> found{};
        std::optional<uint32_t> last;
        std::string sentence;
        size_t lines = 0;
        for (uint32_t step = 0; step < made.index->steps; ++step) {
            state.session.cursor.step = step;
            ASSERT_FALSE(levels::ready(state.levels, state.session, true));
            const StepView& view = *state.levels.view;
            const look::RequestView request = look::request_view(*made.trace, *made.index, step);
            ASSERT_EQ(view.loads, request.kind == analysis::StepKind::GlobalLoad) << step;
            if (view.loads) last = step;
            ASSERT_EQ(view.request, last) << step;
            if (!view.loads) {
                // The last load stays, as it was at its own step.
                EXPECT_EQ(view.sentence, sentence);
                EXPECT_EQ(view.lines.size(), lines);
                continue;
            }
            sentence = view.sentence, lines = view.lines.size();
            uint32_t sectors = 0, mine = 0;
            for (size_t in = 0; in < levels::kFoundIn; ++in)
                sectors += view.found[in], found[in] += view.found[in];
            EXPECT_EQ(sectors, request.cost.global.sectors);
            EXPECT_EQ(view.lines.size(), request.cost.global.lines);
            // Once asked for its lines are there, with all that it asked for.
            for (const levels::HeldLine& held : view.map)
                for (const levels::FoundLine& line : view.lines) {
                    if (held.sectors == 0 || held.line != line.line) continue;
                    EXPECT_TRUE(held.mine);
                    ++mine;
                    for (uint32_t sector = 0; sector < 4; ++sector)
                        EXPECT_TRUE(!line.sectors[sector] || (held.sectors >> sector & 1));
                }
            EXPECT_EQ(mine, view.lines.size());
        }
        EXPECT_GT(found[0] + found[1] + found[2] + found[3], 0u);
    }
}

void expect_same(const StepView& a, const StepView& b) {
    EXPECT_EQ(a.sentence, b.sentence);
    EXPECT_EQ(a.found, b.found);
    EXPECT_EQ(a.where, b.where);
    EXPECT_EQ(a.evicted, b.evicted);
    ASSERT_EQ(a.map.size(), b.map.size());
    for (size_t i = 0; i < a.map.size(); ++i) {
        EXPECT_EQ(a.map[i].line, b.map[i].line);
        EXPECT_EQ(a.map[i].sectors, b.map[i].sectors);
        EXPECT_EQ(a.map[i].came, b.map[i].came);
    }
}

TEST(Levels, AStepIsTheSameWhicheverWayOneComes) {
    const Recorded made = record("untiled", {64, 64, 64, 16});
    State state = shown(made);
    std::mt19937 random(3);
    std::vector<std::pair<playback::Cursor, StepView>> seen;
    for (int i = 0; i < 60; ++i) {
        state.session.cursor = {static_cast<uint32_t>(random() % 16), static_cast<uint32_t>(random() % 1032)};
        ASSERT_FALSE(levels::ready(state.levels, state.session, true));
        seen.emplace_back(state.session.cursor, *state.levels.view);
    }
    for (size_t i = seen.size(); i-- > 0;) {
        state.session.cursor = seen[i].first;
        ASSERT_FALSE(levels::ready(state.levels, state.session, true));
        expect_same(*state.levels.view, seen[i].second);
    }
}

TEST(Levels, AWindowSaysThatItRunsAlone) {
    const auto plan = kernels::plan("tiled", {256, 64, 256, 16});
    kernels::RecordOptions window;
    window.window = {4, 6, 8, 10};
    auto trace = kernels::record_cpu(*plan, window);
    ASSERT_TRUE(trace);
    const State state = shown(replayed(std::move(*trace)));
    const auto words = levels::rests_on(*state.session.recording->trace, *state.levels.walked,
                                        levels::device_of(state.levels, state.session.trace()));
    EXPECT_NE(words.front().find("4 of 256 blocks, as if they were the launch"), std::string::npos)
        << words.front();
    EXPECT_NE(words.front().find("dealt to the SMs in turn"), std::string::npos);
    EXPECT_EQ(words.back(), "Modelled for H200");
    // Four blocks alone say nothing of the caches that 256 share; counters of the whole launch do.
    const levels::WalkedLevels& walked = *state.levels.walked;
    EXPECT_EQ(
        levels::chain_of_part(walked, 256, nullptr, 0).headlines,
        std::vector<std::string>{"4 of 256 blocks cannot say what the whole launch finds in L1 and L2"});
    kernels::LevelCounterRow counted;
    counted.l1_sectors = 1000;
    counted.l1_hits = 33.4;
    counted.l2_read_sectors = 966;  // of 32 bytes
    counted.dram_read_bytes = 966 * 32 / 50.;
    const levels::LoadChain chain =
        levels::chain_of_part(walked, 256, &counted, static_cast<uint64_t>(64 * counted.dram_read_bytes));
    EXPECT_EQ(chain.of,
              "Only 4 of its 256 blocks are recorded: what stands below is of those, as if they were the "
              "launch.");
    const std::string
        whole =
            "The whole launch, as counted: L1 finds 3.34 % of the sectors asked for, L2 98 % of "
            "the rest; DRAM gives 618 bytes",
        brief = "Whole launch, counted: L1 3.34 %, L2 98 % of the rest, DRAM 618 bytes";
    EXPECT_EQ(chain.headlines, (std::vector<std::string>{whole + ", threads ask for 64 times that",
                                                         brief + ", asked for 64 times", whole, brief}));
    EXPECT_EQ(chain.stages[0].bytes, levels::chain_of(walked, nullptr).stages[0].bytes)
        << "of the four blocks";
    counted.dram_read_bytes = 2 * 966 * 32;  // more than L1 asked for: nothing can be said of L2's share
    EXPECT_EQ(levels::chain_of_part(walked, 256, &counted, 0).headlines.back().find("L2"), std::string::npos);
}

TEST(Levels, SaysWhyThereIsNothing) {
    Recorded made = record("tiled", {16, 16, 16, 4});
    trace::Trace part = *made.trace;
    part.meta.complete = false;
    part.meta.incomplete_reason = "it was stopped";
    made.trace = std::make_shared<const trace::Trace>(std::move(part));
    State state = state_of(made);
    EXPECT_FALSE(levels::ready(state.levels, state.session, true));
    EXPECT_EQ(
        state.levels.why_not,
        "the recording is not complete (it was stopped), and its levels would be those of a part; record it "
        "again");
}

TEST(Levels, PercentNeverRoundsToAll) {
    EXPECT_EQ(share_text(1), "100 %");
    EXPECT_EQ(share_text(0), "0 %");
    EXPECT_EQ(share_text(0.99999), ">99.9 %");
    EXPECT_EQ(share_text(0.00001), "<0.01 %");
    EXPECT_EQ(share_text(0.875), "87.5 %");
}

TEST(Levels, LinesAreNamedByTheirElements) {
    const Recorded made = record("tiled", {64, 64, 64, 16});
    const Array& m = made.trace->launch.arrays[0];
    EXPECT_EQ(levels::line_name(*made.trace, {}, m.base / 128), "M[0,0..31]");
    EXPECT_EQ(levels::line_name(*made.trace, {}, m.base / 128 + 3), "M[1,32..63]");
    const Recorded narrow = record("tiled", {20, 20, 20, 4});
    EXPECT_EQ(levels::line_name(*narrow.trace, {}, narrow.trace->launch.arrays[0].base / 128),
              "M[0,0] to [1,11]");
}

TEST_F(Keys, LevelsByKeyboard) {
    handle_input(state, press(Key::Digit5));
    EXPECT_EQ(state.session.screen, "levels");
    update(state, true);
    ASSERT_TRUE(state.levels.view);
    const By before = state.levels.by;
    for (size_t i = 0; i < std::size(levels::kByNames); ++i) {
        handle_input(state, press(Key::Y));
        EXPECT_EQ(state.levels.by == before, i + 1 == std::size(levels::kByNames));
    }
    const std::string device = levels::device_of(state.levels, state.session.trace()).id;
    handle_input(state, press(Key::U));
    EXPECT_NE(levels::device_of(state.levels, state.session.trace()).id, device);
    handle_input(state, press(Key::Right));
    update(state, true);
    EXPECT_EQ(state.levels.view_step, state.session.cursor.step);
    EXPECT_EQ(state.session.cursor.step, 1u);
    EXPECT_TRUE(perform(state, "levels:phase"));
    EXPECT_EQ(state.levels.by, By::Phase);
}

TEST_F(Keys, LevelsAreMadeForTheScreenAlone) {
    update(state, true);
    EXPECT_FALSE(state.levels.walked) << "nobody looks";
}

}  // namespace
}  // namespace tilescope::app
