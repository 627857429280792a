// A block replayed: cells, sums, origins and the phase table, exactly.
#include <array>
#include <chrono>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "core/playback/phase_table.h"
#include "core/playback/replay.h"
#include "tests/opened.h"
#include "tests/unit/tiled_by_hand.h"

namespace tilescope::playback {
namespace {

using by_hand::Tiled;

constexpr uint8_t kM = 0, kN = 1, kMds = 3, kNds = 4;

struct Replayed {
    explicit Replayed(const Tiled& t)
        : trace(by_hand::record({t})), replay(trace, 0), phases(phases_of_block(trace, by_hand::rule(), 0)) {
        by_hand::run(t, replay);
        replay.finish();
    }
    trace::Trace trace;
    BlockReplay replay;
    analysis::PhaseMap phases;
    PhaseTable table() const { return phase_table(trace, replay, phases); }
};

std::vector<std::string> loads(const PhaseTable& table, size_t row, uint32_t phase) {
    return table.rows[row].phase[phase].loads;
}

TEST(Replay, SeesAsManyStepsAsWereRecorded) {
    const Replayed r({4, 2});
    EXPECT_EQ(r.replay.steps(), r.trace.steps());
}

TEST(Replay, CellsSumsAndReadsAtEveryStepAgreeWithPlayingFromTheStart) {
    for (const Tiled t : {Tiled{4, 2}, {3, 2, 1, 1}, {12, 8}}) {
        const Replayed r(t);
        std::map<std::pair<uint8_t, uint64_t>, CellState> now;
        std::vector<std::optional<Value>> sum(t.threads());
        size_t product = 0;
        for (uint32_t step = 0; step < r.replay.steps(); ++step) {
            const trace::Access access = trace::decode(r.trace, step);
            for (uint32_t lane = 0; lane < 32; ++lane) {
                if (!(access.mask >> lane & 1) || access.array < kMds || access.array > kNds) continue;
                CellState& cell = now[{access.array, access.offset[lane] / 4}];
                if (r.trace.sites[access.site].kind == ptx::SiteKind::Store) {
                    cell = {};
                    cell.written = true, cell.step = step, cell.thread = access.warp * 32 + lane;
                    cell.value = r.replay.value(step, lane);
                } else {
                    ++cell.reads;
                    EXPECT_EQ(r.replay.value(step, lane), cell.value);
                }
            }
            for (; product < r.replay.products().size(); ++product) {
                const MultiplyStep& p = r.replay.products()[product];
                if (p.after_step > step) break;
                for (uint32_t lane = 0; lane < 32; ++lane)
                    if (p.mask >> lane & 1) sum[p.warp * 32 + lane] = Value{p.sum_type, p.sum[lane]};
            }
            for (const auto& [where, expected] : now) {
                const CellState cell = r.replay.cell(where.first, where.second, step);
                ASSERT_EQ(cell.written, expected.written);
                ASSERT_EQ(cell.value, expected.value);
                ASSERT_EQ(cell.step, expected.step);
                ASSERT_EQ(cell.thread, expected.thread);
                ASSERT_EQ(cell.reads, expected.reads) << "step " << step;
            }
            for (uint32_t thread = 0; thread < t.threads(); ++thread)
                ASSERT_EQ(r.replay.running_sum(thread, step), sum[thread]) << step << " " << thread;
        }
    }
}

TEST(Replay, KnowsWhereACellsValueCameFrom) {
    const Replayed r({4, 2});
    const uint32_t last = r.replay.steps() - 1;
    const CellState m = r.replay.cell(kMds, 3, last);  // Mds[1,1] in phase 1 holds M[1,3]
    EXPECT_EQ(m.source.array, kM);
    EXPECT_EQ(m.source.index, 7u);
    EXPECT_EQ(m.value, value_of(Tiled::m(7)));
    EXPECT_EQ(m.thread, 3u);
    EXPECT_EQ(m.reads, 2u);                            // T times
    const CellState n = r.replay.cell(kNds, 0, last);  // Nds[0,0] holds N[2,0]
    EXPECT_EQ(n.source.array, kN);
    EXPECT_EQ(n.source.index, 8u);
    EXPECT_FALSE(r.replay.cell(kMds, 0, 0).written);
}

TEST(Replay, AZeroFillHasNoSource) {
    const Replayed r({3, 2});
    const CellState cell = r.replay.cell(kMds, 1, r.replay.steps() - 1);  // M[0,3] is outside
    EXPECT_TRUE(cell.written);
    EXPECT_EQ(cell.value, value_of(0.f));
    EXPECT_EQ(cell.source.array, trace::kNoArray);
}

TEST(Replay, KnowsWhoComputesAnElement) {
    const Replayed r({3, 2, 1, 1});  // one of four threads has an element
    EXPECT_EQ(r.replay.output_of(0), (Element{2, 8}));
    EXPECT_EQ(r.replay.thread_of_output({2, 8}), 0u);
    for (uint32_t thread = 1; thread < 4; ++thread) EXPECT_FALSE(r.replay.output_of(thread));
    EXPECT_FALSE(r.replay.thread_of_output({2, 0}));
    EXPECT_FALSE(r.replay.output_of(99));
}

TEST(Replay, ItsSumIsTheProductsElement) {
    const Replayed r({12, 8});
    for (uint32_t thread = 0; thread < 64; ++thread) {
        float expected = 0;
        for (uint64_t i = 0; i < 12; ++i)
            expected += Tiled::m(thread / 8 * 12 + i) * Tiled::n(i * 12 + thread % 8);
        EXPECT_EQ(r.replay.running_sum(thread, r.replay.steps() - 1), value_of(expected));
    }
}

// Two threads load a register of two halves each, multiply it by itself, pair by pair, and store both products.
TEST(Replay, HalvesOfARegisterAreElements) {
    constexpr uint64_t kInBase = 0x10000, kOutBase = 0x20000;
    constexpr simt::Origin kSum = simt::kComputed | 1;
    std::vector<Array> arrays = {test_array("in", Space::Global, ArrayRole::Input, 1, 4, kInBase),
                                 test_array("out", Space::Global, ArrayRole::Output, 1, 4, kOutBase)};
    for (Array& array : arrays) array.type = ElementType::F16;
    const std::vector<ptx::Site> sites = {{0, 0, ptx::SiteKind::Load, Space::Global, 4, 10, 1, 20},
                                          {1, 1, ptx::SiteKind::Store, Space::Global, 4, 11, 1, 21}};
    // 1, 2 and 3, 4 in halves; their squares.
    const std::array<uint64_t, 32> loaded = {0x4000'3C00, 0x4400'4200}, stored = {0x4400'3C00, 0x4C00'4880};
    const auto run = [&](simt::BlockObserver& observer) {
        std::array<uint64_t, 32> from{kInBase, kInBase + 4}, to{kOutBase, kOutBase + 4}, factor{}, sum{};
        std::array<simt::Origin, 32> origin{}, result{};
        observer.on_request({.mask = 3, .address = from.data(), .value = loaded.data()});
        for (const uint32_t shift : {0u, 16u}) {
            const simt::Origin half = shift == 0 ? 0 : simt::kUpperHalf;
            for (size_t l = 0; l < 2; ++l) {
                origin[l] = 1 | half, result[l] = kSum | half;
                factor[l] = loaded[l] >> shift & 0xFFFF, sum[l] = stored[l] >> shift & 0xFFFF;
            }
            observer.on_multiplication({0, 3, origin.data(), origin.data(), result.data(), ElementType::F16,
                                        ElementType::F16, factor.data(), factor.data(), sum.data()});
        }
        origin.fill(kSum);
        observer.on_request(
            {.site = 1, .mask = 3, .address = to.data(), .value = stored.data(), .origin = origin.data()});
    };
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
    recorders.push_back(std::make_unique<trace::BlockRecorder>(arrays, sites, simt::BlockId{}));
    run(*recorders.back());
    trace::Meta meta;
    meta.kernel = "halves";
    meta.device = "by hand";
    meta.complete = true;
    const trace::Trace trace =
        trace::assemble(meta, test_launch(arrays, {1, 1, 1}, {2, 1, 1}), sites, std::move(recorders));
    BlockReplay replay(trace, 0);
    run(replay);
    replay.finish();
    constexpr uint8_t kTo = 1;
    for (uint32_t thread = 0; thread < 2; ++thread)
        for (uint32_t i = 0; i < 2; ++i) {
            const simt::Origin half = i == 0 ? 0 : simt::kUpperHalf;
            const uint64_t element = 2 * thread + i;
            const Factor factor = replay.factor(1 | half, thread);
            EXPECT_EQ(factor.element, (Element{0, element}));
            EXPECT_EQ(factor.value, (Value{ElementType::F16, loaded[thread] >> 16 * i & 0xFFFF}));
            EXPECT_EQ(replay.output_of_sum(thread, kSum | half), (Element{kTo, element}));
            EXPECT_EQ(replay.running_sum(Element{kTo, element}, 1),
                      (Value{ElementType::F16, stored[thread] >> 16 * i & 0xFFFF}));
        }
}

TEST(Replay, QuestionsBeyondItAreAnsweredWithNothing) {
    const Replayed r({4, 2});
    EXPECT_EQ(r.replay.value(r.replay.steps(), 0), Value{});
    EXPECT_EQ(r.replay.value(0, 31), Value{});
    EXPECT_FALSE(r.replay.touched(kNever, 0).known());
    EXPECT_FALSE(r.replay.cell(kM, 0, 5).written);
    EXPECT_FALSE(r.replay.cell(200, 0, 5).written);
    EXPECT_FALSE(r.replay.cell(kMds, 4, 5).written);
    EXPECT_FALSE(r.replay.running_sum(4, 5));
    EXPECT_FALSE(r.replay.factor(0, 0).known());
    EXPECT_FALSE(r.replay.factor(simt::kComputed | 3, 0).known());
}

TEST(PhaseTable, TheLecturesTiledTable) {
    const PhaseTable table = Replayed({4, 2}).table();
    ASSERT_EQ(table.phases, 2u);
    ASSERT_EQ(table.rows.size(), 4u);
    using Lines = std::vector<std::string>;
    EXPECT_EQ(loads(table, 0, 0), (Lines{"M[0,0] -> Mds[0,0]", "N[0,0] -> Nds[0,0]"}));
    EXPECT_EQ(loads(table, 1, 0), (Lines{"M[0,1] -> Mds[0,1]", "N[0,1] -> Nds[0,1]"}));
    EXPECT_EQ(loads(table, 2, 0), (Lines{"M[1,0] -> Mds[1,0]", "N[1,0] -> Nds[1,0]"}));
    EXPECT_EQ(loads(table, 3, 0), (Lines{"M[1,1] -> Mds[1,1]", "N[1,1] -> Nds[1,1]"}));
    EXPECT_EQ(loads(table, 0, 1), (Lines{"M[0,2] -> Mds[0,0]", "N[2,0] -> Nds[0,0]"}));
    EXPECT_EQ(loads(table, 1, 1), (Lines{"M[0,3] -> Mds[0,1]", "N[2,1] -> Nds[0,1]"}));
    EXPECT_EQ(loads(table, 2, 1), (Lines{"M[1,2] -> Mds[1,0]", "N[3,0] -> Nds[1,0]"}));
    EXPECT_EQ(loads(table, 3, 1), (Lines{"M[1,3] -> Mds[1,1]", "N[3,1] -> Nds[1,1]"}));
    for (uint32_t phase : {0u, 1u}) {
        EXPECT_EQ(table.rows[0].phase[phase].multiplies, "P[0,0] += Mds[0,0]*Nds[0,0] + Mds[0,1]*Nds[1,0]");
        EXPECT_EQ(table.rows[1].phase[phase].multiplies, "P[0,1] += Mds[0,0]*Nds[0,1] + Mds[0,1]*Nds[1,1]");
        EXPECT_EQ(table.rows[2].phase[phase].multiplies, "P[1,0] += Mds[1,0]*Nds[0,0] + Mds[1,1]*Nds[1,0]");
        EXPECT_EQ(table.rows[3].phase[phase].multiplies, "P[1,1] += Mds[1,0]*Nds[0,1] + Mds[1,1]*Nds[1,1]");
    }
    EXPECT_EQ(table.rows[2].y, 1u);
    EXPECT_EQ(table.rows[2].x, 0u);
}

TEST(PhaseTable, EdgesAreFilledWithZeroAndThreadsWithoutAnElementSaySo) {
    const PhaseTable table =
        Replayed({3, 2, 1, 1}).table();  // the worked case: 3 x 3 with T = 2, outer block
    using Lines = std::vector<std::string>;
    EXPECT_EQ(loads(table, 0, 0), (Lines{"M[2,0] -> Mds[0,0]", "N[0,2] -> Nds[0,0]"}));
    EXPECT_EQ(loads(table, 1, 0), (Lines{"M[2,1] -> Mds[0,1]", "0 -> Nds[0,1]"}));
    EXPECT_EQ(loads(table, 2, 0), (Lines{"0 -> Mds[1,0]", "N[1,2] -> Nds[1,0]"}));
    EXPECT_EQ(loads(table, 3, 1), (Lines{"0 -> Mds[1,1]", "0 -> Nds[1,1]"}));
    EXPECT_EQ(table.rows[3].phase[1].multiplies, "(no element) += Mds[1,0]*Nds[0,1] + Mds[1,1]*Nds[1,1]");
}

TEST(PhaseTable, PrintsText) {
    EXPECT_EQ(
        print(Replayed({4, 2}).table(), TableFormat::Text),
        "block 0,0: 2 phases, 4 threads\n\nphase 0\n  thread  loads                                   "
        "multiplies\n  [0,0]   M[0,0] -> Mds[0,0], N[0,0] -> Nds[0,0]  P[0,0] += Mds[0,0]*Nds[0,0] + "
        "Mds[0,1]*Nds[1,0]\n  [0,1]   M[0,1] -> Mds[0,1], N[0,1] -> Nds[0,1]  P[0,1] += Mds[0,0]*Nds[0,1] + "
        "Mds[0,1]*Nds[1,1]\n  [1,0]   M[1,0] -> Mds[1,0], N[1,0] -> Nds[1,0]  P[1,0] += Mds[1,0]*Nds[0,0] + "
        "Mds[1,1]*Nds[1,0]\n  [1,1]   M[1,1] -> Mds[1,1], N[1,1] -> Nds[1,1]  P[1,1] += Mds[1,0]*Nds[0,1] + "
        "Mds[1,1]*Nds[1,1]\n\nphase 1\n  thread  loads                                   multiplies\n  [0,0] "
        "  M[0,2] -> Mds[0,0], N[2,0] -> Nds[0,0]  P[0,0] += Mds[0,0]*Nds[0,0] + Mds[0,1]*Nds[1,0]\n  [0,1]  "
        " M[0,3] -> Mds[0,1], N[2,1] -> Nds[0,1]  P[0,1] += Mds[0,0]*Nds[0,1] + Mds[0,1]*Nds[1,1]\n  [1,0]   "
        "M[1,2] -> Mds[1,0], N[3,0] -> Nds[1,0]  P[1,0] += Mds[1,0]*Nds[0,0] + Mds[1,1]*Nds[1,0]\n  [1,1]   "
        "M[1,3] -> Mds[1,1], N[3,1] -> Nds[1,1]  P[1,1] += Mds[1,0]*Nds[0,1] + Mds[1,1]*Nds[1,1]\n");
}

TEST(PhaseTable, LongCellsAreBrokenBetweenTerms) {
    const std::string text = print(Replayed({8, 8}).table(), TableFormat::Text);
    size_t terms = 0, start = 0;
    for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
        const std::string line = text.substr(start, end - start);
        EXPECT_LE(line.size(), kTextWidth) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
        for (const char c : line) terms += c == '*';
    }
    EXPECT_EQ(terms, 64u * 8u);  // T products a thread, none lost at a break
}

TEST(PhaseTable, PrintsCsvThatReadsBack) {
    const std::string csv = print(Replayed({4, 2}).table(), TableFormat::Csv);
    EXPECT_TRUE(
        csv.starts_with("block_x,block_y,thread_y,thread_x,phase,loads,multiplies\r\n"
                        "0,0,0,0,0,\"M[0,0] -> Mds[0,0]; N[0,0] -> Nds[0,0]\","
                        "\"P[0,0] += Mds[0,0]*Nds[0,0] + Mds[0,1]*Nds[1,0]\"\r\n"));
    // Read as RFC 4180 says: every record has seven fields.
    size_t fields = 1, records = 0;
    bool quoted = false;
    for (const char c : csv) {
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == ',') ++fields;
        if (c == '\n') {
            EXPECT_EQ(fields, 7u);
            ++records, fields = 1;
        }
    }
    EXPECT_EQ(records, 1u + 4 * 2);
}

TEST(PhaseTable, PrintsMarkdown) {
    EXPECT_TRUE(print(Replayed({4, 2}).table(), TableFormat::Markdown)
                    .starts_with("| thread | phase 0 loads | phase 0 multiplies | phase 1 loads | phase 1 "
                                 "multiplies |\n|---|---|---|---|---|\n| [0,0] | `M[0,0] -> Mds[0,0], N[0,0] "
                                 "-> Nds[0,0]` | `P[0,0] += Mds[0,0]*Nds[0,0] + Mds[0,1]*Nds[1,0]` | "));
}

}  // namespace
}  // namespace tilescope::playback
