// What every pair of the Compare screen comes to: closed forms of the whole run, and the running counters at
// many steps against a slow, obvious count of the accesses.
#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "app/compare/state.h"
#include "kernels/textbook/shipped.h"
#include "tests/app_names.h"
#include "tests/twin/recording.h"
#include "tests/unit/view_walked.h"

namespace tilescope::app {
namespace {

Walked recorded(const session::ComparePreset::Part& part) {
    if (!part.shipped) return walked(part.kernel, part.shape);
    for (const kernels::ShippedRecording& recording : kernels::shipped_recordings()) {
        const kernels::Shape shape{recording.m, recording.k, recording.n, recording.tile};
        if (recording.kernel != part.kernel || shape.m != part.shape.m || shape.k != part.shape.k ||
            shape.n != part.shape.n || shape.tile != part.shape.tile)
            continue;
        auto trace = kernels::open_shipped(recording);
        EXPECT_TRUE(trace);
        if (trace) return walked(std::move(*trace));
    }
    ADD_FAILURE() << part_name(part) << " does not ship";
    return walked(part.kernel, part.shape);
}

// What a step costs.
std::map<std::string, uint64_t> slow_cost(const twin::Request& r) {
    const uint64_t bytes = uint64_t{r.lanes} * r.bytes;
    if (r.kind == twin::kBarrier) return {{"barrier arrivals", 1}};
    const uint64_t idle = 32 - r.lanes;
    if (r.kind == twin::kGlobalStore) return {{"store sectors", r.cost}, {"idle lanes", idle}};
    if (r.kind == twin::kGlobalLoad)
        return {
            {"load requests", 1}, {"load sectors", r.cost}, {"bytes loaded", bytes}, {"idle lanes", idle}};
    return {{"shared requests", 1}, {"wavefronts", r.cost}, {"shared bytes", bytes}, {"idle lanes", idle}};
}

// [steps + 1]: of all steps before each.
std::map<std::string, std::vector<uint64_t>> slow_sums(const std::shared_ptr<const trace::Trace>& trace) {
    const twin::Recording f(trace);
    std::map<std::string, std::vector<uint64_t>> sums;
    for (const char* what :
         {"load requests", "load sectors", "bytes loaded", "store sectors", "shared requests", "wavefronts",
          "shared bytes", "idle lanes", "barrier arrivals"})
        sums[what].assign(trace->steps() + 1, 0);
    for (uint64_t step = 0; step < trace->steps(); ++step) {
        for (auto& [what, before] : sums) before[step + 1] = before[step];
        for (const auto& [what, count] : slow_cost(f.at(step))) sums[what][step + 1] += count;
    }
    return sums;
}

class EveryPreset : public testing::TestWithParam<size_t> {
protected:
    const session::ComparePreset& preset = session::compare_presets()[GetParam()];
};

TEST_P(EveryPreset, CountsWhatTheAccessesSay) {
    Walked a = recorded(preset.a), b = recorded(preset.b);
    const auto slow_a = slow_sums(a.made.trace), slow_b = slow_sums(b.made.trace);
    std::mt19937 random(static_cast<uint32_t>(GetParam()));
    for (const Lock lock : {Lock::Step, Lock::Phase, Lock::Share}) {
        for (int i = 0; i < 8; ++i) {
            const auto& blocks = a.made.trace->blocks;
            playback::Cursor at{static_cast<uint32_t>(random() % blocks.size()), 0};
            at.step = i == 0   ? 0
                      : i == 1 ? static_cast<uint32_t>(blocks[at.block].count - 1)
                               : static_cast<uint32_t>(random() % blocks[at.block].count);
            a.made.index = index_block(a.made, at.block);
            const uint32_t block = partner_block(lock, a.compared(), at, b.compared());
            b.made.index = index_block(b.made, block);
            const uint32_t step =
                partner_step(lock, a.compared(), *a.made.index, at, b.compared(), *b.made.index);
            const Counters made =
                counters(lock, a.compared(), *a.made.index, at.step, b.compared(), *b.made.index, step);
            const uint64_t from_a = lock == Lock::Share ? 0 : a.made.index->first,
                           to_a = a.made.index->first + at.step + 1,
                           from_b = lock == Lock::Share ? 0 : b.made.index->first,
                           to_b = b.made.index->first + step + 1;
            size_t compared = 0;
            for (const CounterRow& row : made.rows) {
                if (row.least) continue;
                ++compared;
                const auto &of_a = slow_a.at(row.what), &of_b = slow_b.at(row.what);
                ASSERT_EQ(row.so_far, (Count{of_a[to_a] - of_a[from_a], of_b[to_b] - of_b[from_b]}))
                    << row.what;
                ASSERT_EQ(row.whole, (Count{of_a.back(), of_b.back()})) << row.what;
            }
            EXPECT_GE(compared, 4u);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Compare, EveryPreset, testing::Range(size_t{0}, session::compare_presets().size()));

Counters preset_counters(size_t preset) {
    const Walked a = recorded(session::compare_presets()[preset].a),
                 b = recorded(session::compare_presets()[preset].b);
    return counters(Lock::Share, a.compared(), *a.made.index, 0, b.compared(), *b.made.index, 0);
}

size_t preset_of(std::string_view title) {
    const auto all = session::compare_presets();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const session::ComparePreset& p) { return title == p.title; });
    EXPECT_NE(found, all.end()) << title;
    return static_cast<size_t>(found - all.begin());
}

// 64 x 64 x 64. Tiles of T bring each of the 2 * 64 * 64 elements 64 / T times.
TEST(ComparePresets, TilesDivideWhatIsLoadedByT) {
    const Counters untiled = preset_counters(preset_of("Untiled or tiled"));
    EXPECT_EQ(whole(untiled, "bytes loaded"), (Count{2 * 64 * 64 * 64 * 4, 2 * 64 * 64 * (64 / 16) * 4}));
    EXPECT_EQ(whole(untiled, "load requests").ratio(), 1.0 / 16);
    const Counters wider = preset_counters(preset_of("T = 16 or 32"));
    EXPECT_EQ(whole(wider, "bytes loaded"),
              (Count{2 * 64 * 64 * (64 / 16) * 4, 2 * 64 * 64 * (64 / 32) * 4}));
    EXPECT_EQ(whole(wider, "load sectors"), (Count{2 * 64 * 64 * 4 / 8, 2 * 64 * 64 * 2 / 8}))
        << "neighbours: 8 elements a sector";
}

// Swapped, the 32 lanes are 16 rows by 2 columns. Untiled they ask for one element of M in each of 16 rows
// and one row's 2 of N; tiled for 2 neighbours in 16 rows of both.
TEST(ComparePresets, TheSwappedMappingThrowsSectorsAway) {
    const Counters untiled = preset_counters(preset_of("Mapping swapped, untiled"));
    EXPECT_EQ(whole(untiled, "load requests"), (Count{16 * 8 * 64 * 2, 16 * 8 * 64 * 2}));
    EXPECT_EQ(whole(untiled, "load sectors"), (Count{16 * 8 * 64 * (2 + 2), 16 * 8 * 64 * (16 + 1)}));
    const Counters tiled = preset_counters(preset_of("Mapping swapped, tiled"));
    EXPECT_EQ(whole(tiled, "load requests").ratio(), 1.0);
    EXPECT_EQ(whole(tiled, "load sectors"), (Count{16 * 8 * 4 * (4 + 4), 16 * 8 * 4 * (16 + 16)}));
    // Stored to Mds[tx][ty]: 16 rows of 16 words lie on 8 rows of banks, so 8 words to a bank.
    EXPECT_EQ(whole(tiled, "wavefronts"), (Count{16 * 8 * 4 * (2 + 32), 16 * 8 * 4 * (2 * 8 + 32)}));
}

// T = 32: a column of 32 rows of 32 words is one bank, 32 words deep; a row more by one word is 32 banks.
TEST(ComparePresets, PaddingTakesEveryConflictAway) {
    const Counters made = preset_counters(preset_of("Transposed or padded tile"));
    constexpr uint64_t kWarpPhases = 4 * 32 * 2;   // 4 blocks of 32 warps, 2 phases: one store to each tile
    constexpr uint64_t kReads = kWarpPhases * 32;  // of each tile
    EXPECT_EQ(whole(made, "shared requests"),
              (Count{2 * (kWarpPhases + kReads), 2 * (kWarpPhases + kReads)}));
    EXPECT_EQ(whole(made, "wavefronts"), (Count{33 * (kWarpPhases + kReads), 2 * (kWarpPhases + kReads)}));
    EXPECT_EQ(whole(made, "wavefronts").b, whole(made, "least wavefronts").b);
    EXPECT_EQ(whole(made, "load sectors").ratio(), 1.0);
}

TEST(ComparePresets, AFaultStandsBesideItsCure) {
    for (const char* title : {"No barrier, or the barriers", "Stale values, or zeros"}) {
        const session::ComparePreset& preset = session::compare_presets()[preset_of(title)];
        const Walked a = recorded(preset.a), b = recorded(preset.b);
        EXPECT_FALSE(a.made.trace->meta.result.verified) << title;
        EXPECT_TRUE(b.made.trace->meta.result.verified) << title;
        EXPECT_FALSE(a.made.trace->meta.result.wrong_elements.empty()) << title;
        EXPECT_TRUE(headline(a.compared(), b.compared()).ends_with("; B's is right.")) << title;
    }
    EXPECT_EQ(whole(preset_counters(preset_of("No barrier, or the barriers")), "barrier arrivals"),
              (Count{16 * 8 * 4, 16 * 8 * 4 * 2}));
}

TEST(ComparePresets, TheGpuAndTheCpuCountAlike) {
    for (const CounterRow& row : preset_counters(preset_of("GPU and CPU")).rows)
        EXPECT_EQ(row.whole.a, row.whole.b) << row.what;
}

}  // namespace
}  // namespace tilescope::app
