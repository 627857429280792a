// Faults that are found in recordings: in the faulty kernels that ship and in kernels written by hand with
// the right threads, cells and lines; in the sound ones none.
#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/analysis/summary.h"
#include "core/export/report.h"
#include "core/hazards/hazards.h"
#include "core/trace/file.h"
#include "kernels/textbook/shipped.h"
#include "tests/host/hazards_of.h"
#include "tests/host/kernels_walk.h"
#include "tests/opened.h"

namespace tilescope::kernels {
namespace {

using analysis::FaultyCell;
using analysis::Hazard;
using analysis::HazardKind;
using analysis::Hazards;

uint32_t line_with(const std::string& source, const std::string& text) {
    const size_t at = source.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    return static_cast<uint32_t>(
               std::count(source.begin(), source.begin() + static_cast<ptrdiff_t>(at), '\n')) +
           1;
}

std::string told(const Hazards& hazards) {
    std::string out = hazards.not_judged;
    for (const Hazard& h : hazards.found) out += std::string("\n") + name_of(h.kind) + ": " + h.sentence;
    return out;
}

// Kind, array, element, interval.
using CellKey = std::tuple<HazardKind, uint32_t, uint64_t, uint32_t>;

// All cells at fault of all blocks, held against `expected`(bx, by) -> set<CellKey>; `look` at each of them.
template <class Expected, class Look>
void expect_cells(const trace::Trace& trace, Expected expected, Look look) {
    const auto rule = analysis::phase_rule(trace);
    ASSERT_TRUE(rule);
    uint64_t all = 0;
    for (uint32_t i = 0; i < trace.blocks.size(); ++i) {
        const analysis::FaultyCells found = analysis::faulty_cells(trace, *rule, i);
        EXPECT_FALSE(found.cut);
        std::set<CellKey> got;
        for (const FaultyCell& cell : found.cells) {
            EXPECT_TRUE(got.insert({cell.kind, cell.array, cell.element, cell.interval}).second);
            EXPECT_LE(cell.first_step, cell.last_step);
            EXPECT_LT(cell.last_step, trace.blocks[i].count);
            look(cell);
        }
        EXPECT_EQ(got, expected(trace.blocks[i].x, trace.blocks[i].y));
        all += got.size();
    }
    uint64_t counted = 0;
    for (const Hazard& h : hazards_of(trace).found) counted += h.count;
    EXPECT_EQ(counted, all);
}

const Shape kHazardShapes[] = {
    {64, 64, 64, 16}, {20, 30, 20, 8}, {3, 3, 3, 2}, {16, 16, 16, 4}, {40, 70, 33, 32}};

TEST(Hazards, TheMissingBarrierIsARaceOnEveryCellInEveryPhaseButTheFirst) {
    for (const Shape& s : kHazardShapes) {
        SCOPED_TRACE(testing::Message() << s.m << "x" << s.k << "x" << s.n << " T=" << s.tile);
        const uint32_t T = s.tile;
        const trace::Trace trace = recorded("tiled_no_barrier", s);
        const uint32_t stores[] = {line_with(trace.meta.source, "Mds[ty][tx] = M["),
                                   line_with(trace.meta.source, "Nds[ty][tx] = N[")};
        const uint32_t loads = line_with(trace.meta.source, "sum +=");
        const auto expected = [&](uint32_t, uint32_t) {
            std::set<CellKey> keys;
            for (uint32_t phase = 1; phase < up(s.k, T); ++phase)
                for (uint32_t array : {3u, 4u})
                    for (uint64_t cell = 0; cell < T * T; ++cell)
                        keys.insert({HazardKind::Race, array, cell, phase});
            return keys;
        };
        expect_cells(trace, expected, [&](const FaultyCell& cell) {
            const auto &a = cell.example.a, &b = cell.example.b;
            const uint64_t row = cell.element / T, col = cell.element % T;
            EXPECT_EQ(a.thread, cell.element);  // thread (col,row) stores it
            EXPECT_NE(b.thread, a.thread);
            EXPECT_EQ(cell.array == 3 ? b.thread / T : b.thread % T, cell.array == 3 ? row : col);
            EXPECT_EQ(a.phase, cell.interval);
            EXPECT_EQ(b.phase, cell.interval - 1);
            // Zero fill and copy may be one store of the compiler's, or two.
            const uint32_t line = trace.sites[a.site].line;
            EXPECT_TRUE(line == stores[cell.array - 3] || line == stores[cell.array - 3] + 2) << line;
            EXPECT_EQ(trace.sites[a.site].kind, ptx::SiteKind::Store);
            EXPECT_EQ(trace.sites[b.site].line, loads);
            EXPECT_EQ(trace.sites[b.site].kind, ptx::SiteKind::Load);
            // Readers of the whole row or column: of other warps where it reaches into them.
            const uint64_t lowest = cell.array == 3 ? row * T : col;
            const uint64_t highest = cell.array == 3 ? row * T + T - 1 : (T - 1) * T + col;
            const bool one_warp = lowest / 32 == highest / 32;
            EXPECT_EQ(cell.same_warp, one_warp);
            EXPECT_EQ(a.thread / 32 == b.thread / 32, one_warp);
        });
    }
}

TEST(Hazards, AStaleEdgeIsFoundCellByCell) {
    for (const Shape& s : kHazardShapes) {
        SCOPED_TRACE(testing::Message() << s.m << "x" << s.k << "x" << s.n << " T=" << s.tile);
        const uint32_t T = s.tile;
        const trace::Trace trace = recorded("tiled_stale_edge", s);
        const uint32_t stores[] = {line_with(trace.meta.source, "Mds[ty][tx] = M["),
                                   line_with(trace.meta.source, "Nds[ty][tx] = N[")};
        const uint32_t loads = line_with(trace.meta.source, "sum +=");
        const auto expected = [&](uint32_t bx, uint32_t by) {
            std::set<CellKey> keys;
            for (uint32_t phase = 0; phase < up(s.k, T); ++phase)
                for (uint32_t y = 0; y < T; ++y)
                    for (uint32_t x = 0; x < T; ++x) {
                        const auto tell = [&](uint32_t array, bool row_inside, bool k_inside) {
                            if (row_inside && k_inside) return;
                            const bool before = row_inside && phase > 0;
                            keys.insert({before ? HazardKind::Stale : HazardKind::Uninitialised, array,
                                         y * T + x, 2 * phase + 1});
                        };
                        tell(3, by * T + y < s.m, phase * T + x < s.k);
                        tell(4, bx * T + x < s.n, phase * T + y < s.k);
                    }
            return keys;
        };
        expect_cells(trace, expected, [&](const FaultyCell& cell) {
            const uint64_t row = cell.element / T, col = cell.element % T;
            const auto &a = cell.example.a, &b = cell.example.b;
            EXPECT_EQ(a.thread, cell.array == 3 ? row * T : col);  // the lowest that reads it
            EXPECT_EQ(a.phase, cell.interval / 2);
            EXPECT_EQ(trace.sites[a.site].line, loads);
            if (cell.kind != HazardKind::Stale) return;
            EXPECT_EQ(b.thread, cell.element);
            EXPECT_EQ(b.phase, cell.interval / 2 - 1);
            EXPECT_EQ(trace.sites[b.site].line, stores[cell.array - 3]);
        });
    }
}

TEST(Hazards, OnSoundKernelsThereIsNoFalseAlarm) {
    const char* const sound[] = {"untiled",       "untiled_swapped",  "tiled",
                                 "tiled_swapped", "tiled_transposed", "tiled_padded"};
    std::mt19937 random(20);
    for (int launch = 0; launch < 60; ++launch) {
        const auto size = [&](uint32_t T) { return 1 + static_cast<uint32_t>(random() % (2 * T + 5)); };
        const uint32_t T = static_cast<uint32_t>(kTiles[random() % 5]);
        const Shape s{size(T), 1 + static_cast<uint32_t>(random() % (3 * T + 2)), size(T), T};
        const char* const kernel = sound[launch % 6];
        auto sized = plan(kernel, s);
        ASSERT_TRUE(sized);
        RecordOptions options;
        options.timestamp = false;
        options.schedule = Schedule{static_cast<Schedule::Kind>(random() % 3), random()};
        const auto trace = record_cpu(*sized, options);
        ASSERT_TRUE(trace);
        const Hazards found = hazards_of(*trace);
        EXPECT_TRUE(found.found.empty() && found.not_judged.empty())
            << kernel << " " << s.m << "x" << s.k << "x" << s.n << " T=" << T << told(found);
    }
}

TEST(Hazards, AreTheSameInEveryOrderOfWarps) {
    for (const char* kernel : {"tiled_no_barrier", "tiled_stale_edge"}) {
        auto sized = plan(kernel, {20, 40, 40, 16});
        ASSERT_TRUE(sized);
        std::set<std::string> texts;
        for (const Schedule& order :
             {Schedule{Schedule::Kind::Fair, 0}, Schedule{Schedule::Kind::Greedy, 0},
              Schedule{Schedule::Kind::Seeded, 3}, Schedule{Schedule::Kind::Seeded, 4}}) {
            RecordOptions options;
            options.schedule = order;
            const auto trace = record_cpu(*sized, options);
            ASSERT_TRUE(trace);
            const Hazards found = hazards_of(*trace);
            std::string text = found.not_judged;
            for (const Hazard& h : found.found)
                text += fmt::format("\n{} {} {}, lines {} and {}", h.count, name_of(h.kind), h.array, h.line,
                                    h.other_line);
            texts.insert(text);
        }
        EXPECT_EQ(texts.size(), 1u) << *texts.begin();
    }
}

// Blocks are shared among threads; what is told must not show it.
TEST(Hazards, AreTheSameWithAnyNumberOfThreads) {
    for (const char* kernel : {"tiled_no_barrier", "tiled_stale_edge"}) {
        const trace::Trace trace = recorded(kernel, {68, 196, 260, 8});  // 9 x 33 blocks
        ASSERT_GT(trace.steps(), 300'000u) << "enough for three threads";
        const auto alone = analysis::find_hazards(trace, {.examples = 20'000, .threads = 1});
        ASSERT_TRUE(alone);
        EXPECT_FALSE(alone->found.empty());
        for (const unsigned threads : {2u, 3u}) {
            const auto shared = analysis::find_hazards(trace, {.examples = 20'000, .threads = threads});
            ASSERT_TRUE(shared);
            EXPECT_EQ(shared->not_judged, alone->not_judged);
            ASSERT_EQ(shared->found.size(), alone->found.size());
            for (size_t i = 0; i < alone->found.size(); ++i) {
                const Hazard &a = alone->found[i], &b = shared->found[i];
                EXPECT_EQ(
                    std::tuple(a.kind, a.array, a.space, a.line, a.other_line, a.other_stores, a.same_warp),
                    std::tuple(b.kind, b.array, b.space, b.line, b.other_line, b.other_stores, b.same_warp));
                EXPECT_EQ(std::tuple(a.count, a.of, a.blocks, a.threads, a.sentence),
                          std::tuple(b.count, b.of, b.blocks, b.threads, b.sentence));
                EXPECT_EQ(a.examples, b.examples);
            }
        }
    }
}

TEST(Hazards, ShippedRecordingsShowTheFaultsOfTheirKernelsAlone) {
    for (const ShippedRecording& recording : shipped_recordings()) {
        const auto trace = open_shipped(recording);
        ASSERT_TRUE(trace) << recording.name;
        std::set<HazardKind> kinds;
        const Hazards found = hazards_of(*trace);
        for (const Hazard& h : found.found) kinds.insert(h.kind);
        std::set<HazardKind> expected;
        if (recording.kernel == "tiled_no_barrier") expected = {HazardKind::Race};
        if (recording.name == "product_one_warp" || recording.name == "product_two_warps")
            expected = {HazardKind::Race};
        if (recording.name == "product_inner_barrier") expected = {HazardKind::RedundantBarrier};
        if (recording.name == "barrier_condition") expected = {HazardKind::BarrierDivergence};
        if (recording.kernel == "tiled_stale_edge") expected = {HazardKind::Uninitialised, HazardKind::Stale};
        EXPECT_EQ(kinds, expected) << recording.name << told(found);
        if (made_wrong(recording.kernel)) {
            const Hazards cpu = hazards_of(
                recorded(recording.kernel, {recording.m, recording.k, recording.n, recording.tile}));
            ASSERT_EQ(found.found.size(), cpu.found.size()) << told(found) << told(cpu);
            for (size_t i = 0; i < cpu.found.size(); ++i) {
                EXPECT_EQ(found.found[i].count, cpu.found[i].count);
                EXPECT_EQ(std::tuple(found.found[i].kind, found.found[i].array, found.found[i].line,
                                     found.found[i].other_line),
                          std::tuple(cpu.found[i].kind, cpu.found[i].array, cpu.found[i].line,
                                     cpu.found[i].other_line));
            }
        }
    }
}

TEST(Hazards, TheReportTellsThemAndTheWrongElements) {
    auto sized = plan("tiled_stale_edge", {20, 30, 20, 8});
    ASSERT_TRUE(sized);
    simt::GlobalMemory after;
    RecordOptions options;
    options.after = &after;
    const auto trace = record_cpu(*sized, options);
    ASSERT_TRUE(trace);
    const std::vector<float> P = product_in(after);
    const auto right = reference_product(make_input(kDefaultSeed, 0, 20 * 30),
                                         make_input(kDefaultSeed, 1, 30 * 20), 20, 30, 20);
    std::vector<uint64_t> wrong;
    for (uint64_t i = 0; i < right.size(); ++i)
        if (!(double{P[i]} == right[i])) wrong.push_back(i);
    ASSERT_FALSE(wrong.empty());
    EXPECT_EQ(trace->meta.result.wrong, wrong.size());
    EXPECT_EQ(trace->meta.result.wrong_elements, wrong);
    const std::string path = testing::TempDir() + "stale_edge.tsc";
    ASSERT_TRUE(trace::write_file(*trace, path));
    const auto read = trace::read_file(path);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->meta.result.wrong_elements, wrong);
    trace::Trace damaged = *trace;
    damaged.meta.result.wrong_elements.back() = 20 * 20;
    ASSERT_TRUE(trace::write_file(damaged, path));
    EXPECT_FALSE(trace::read_file(path));

    const auto sums = analysis::summarize(*trace);
    ASSERT_TRUE(sums);
    const Hazards found = hazards_of(*trace);
    const auto json = nlohmann::json::parse(report::to_json(*trace, *sums, &found));
    EXPECT_EQ(json["result"]["wrong"], wrong.size());
    EXPECT_EQ(json["result"]["wrong_elements"][0], nlohmann::json({wrong[0] / 20, wrong[0] % 20}));
    ASSERT_EQ(json["faults"].size(), 4u);
    EXPECT_EQ(json["faults"][0]["kind"], "uninitialised");
    EXPECT_EQ(json["faults"][2]["kind"], "stale");
    EXPECT_EQ(json["faults"][2]["array"], "Mds");
    EXPECT_EQ(json["faults"][2]["examples"][0]["cell"], nlohmann::json({0, 6}));  // 30 = 3 x 8 + 6
    EXPECT_EQ(json["faults"][2]["examples"][0]["b"]["thread"], nlohmann::json({6, 0, 0}));
    const std::string text = report::to_text(*trace, *sums, &found);
    for (const Hazard& h : found.found) EXPECT_NE(text.find(h.sentence), std::string::npos) << text;
    EXPECT_NE(text.find("wrong elements of P: "), std::string::npos);

    const trace::Trace sound = recorded("tiled", {20, 30, 20, 8});
    const Hazards none = hazards_of(sound);
    EXPECT_NE(report::to_text(sound, analysis::summarize(sound).value(), &none).find("faults: none found"),
              std::string::npos);
    EXPECT_EQ(
        nlohmann::json::parse(report::to_json(sound, analysis::summarize(sound).value(), &none))["faults"],
        nlohmann::json::array());
}

}  // namespace
}  // namespace tilescope::kernels
