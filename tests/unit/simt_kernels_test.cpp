// The kernels that ship, run from their PTX: right products, the same recording on any number of
// threads, and what schedules and dataflow must show.
#include <gtest/gtest.h>

#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::Event;
using test::Product3;

float as_float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

std::vector<float> reference(const Product3& p) {
    std::vector<float> out(size_t{p.m} * p.n);
    for (uint32_t r = 0; r < p.m; ++r)
        for (uint32_t c = 0; c < p.n; ++c) {
            double sum = 0;  // small whole numbers: exact in any order
            for (uint32_t i = 0; i < p.k; ++i)
                sum += double{p.M[size_t{r} * p.k + i]} * p.N[size_t{i} * p.n + c];
            out[size_t{r} * p.n + c] = static_cast<float>(sum);
        }
    return out;
}

TEST(ShippedKernels, GiveThePlainProduct) {
    const struct {
        const char* kernel;
        const char* file;
        uint32_t tile;
    } kernels[] = {{"untiled", "untiled", 8},
                   {"untiled_swapped", "untiled_swapped", 8},
                   {"tiled", "tiled.t2", 2},
                   {"tiled", "tiled.t4", 4},
                   {"tiled", "tiled.t8", 8},
                   {"tiled", "tiled.t16", 16},
                   {"tiled", "tiled.t32", 32},
                   {"tiled_swapped", "tiled_swapped.t8", 8},
                   {"tiled_transposed", "tiled_transposed.t16", 16},
                   {"tiled_padded", "tiled_padded.t32", 32}};
    for (const auto& k : kernels)
        for (const auto [m, kk, n] :
             {std::array{16u, 16u, 16u}, std::array{13u, 7u, 21u}, std::array{1u, 33u, 5u}})
            for (const bool values : {false, true}) {
                Product3 p(k.kernel, k.file, k.tile, m, kk, n);
                p.options.values = values;
                const Outcome outcome = p.run();
                ASSERT_TRUE(outcome.complete)
                    << k.file << ": " << (outcome.fault ? outcome.fault->message : "");
                EXPECT_EQ(p.result(), reference(p)) << k.file << " " << m << "x" << kk << "x" << n;
            }
}

// The list of micro-operations says all that its functions are chosen by, so that other back ends can be made
// of it.
TEST(ShippedKernels, LaneOperationsKeepWhatTheyCompute) {
    for (const auto& [kernel, file] : {std::pair{"tiled", "tiled.t16"},
                                       {"register_tile", "register_tile"},
                                       {"warp_tile", "warp_tile"},
                                       {"vector_loads", "vector_loads"}}) {
        const std::string text = file_text(TILESCOPE_SOURCE_DIR "/assets/ptx/" + std::string(file) + ".ptx");
        const auto portable = test::program_of(text, kernel, LaneVersion::Portable);
        ASSERT_EQ(portable->lanes.size(), portable->code.size());
        for (const LaneVersion version : {LaneVersion::Portable, LaneVersion::Avx2}) {
            if (!supported(version)) continue;
            const auto program = test::program_of(text, kernel, version);
            ASSERT_EQ(program->code.size(), portable->code.size());
            for (size_t i = 0; i < program->code.size(); ++i) {
                if (program->code[i].kind != MicroOp::Kind::Lane) continue;
                const LaneOp chosen = find_lane_op(program->lanes[i].does, version);
                EXPECT_EQ(program->code[i].full, chosen.full);
                EXPECT_EQ(program->code[i].partial, chosen.partial);
                EXPECT_EQ(program->lanes[i].does, portable->lanes[i].does) << "both versions: one list";
            }
        }
    }
}

TEST(ShippedKernels, RecordTheSameOnAnyNumberOfThreads) {
    for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Greedy, Schedule::Kind::Seeded}) {
        std::vector<std::vector<Event>> first;
        uint64_t instructions = 0;
        for (const unsigned threads : {1u, 2u, 5u}) {
            Product3 p("tiled", "tiled.t8", 8, 20, 17, 30);
            p.options.schedule = {kind, 7};
            p.options.threads = threads;
            const Outcome outcome = p.run();
            ASSERT_TRUE(outcome.complete);
            if (threads == 1) first = p.events, instructions = outcome.instructions;
            EXPECT_EQ(p.events, first) << threads << " threads";
            EXPECT_EQ(outcome.instructions, instructions);
        }
    }
}

TEST(ShippedKernels, SchedulesOrderTheSameRequestsDifferently) {
    std::vector<std::vector<Event>> sorted[3], plain[3];
    int i = 0;
    for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Greedy, Schedule::Kind::Seeded}) {
        Product3 p("tiled", "tiled.t16", 16, 32, 32, 32);
        p.options.schedule = {kind, 1};
        ASSERT_TRUE(p.run().complete);
        plain[i] = sorted[i] = p.events;
        for (auto& block : sorted[i])
            std::stable_sort(block.begin(), block.end(),
                             [](const Event& a, const Event& b) { return a.warp < b.warp; });
        ++i;
    }
    EXPECT_EQ(sorted[0], sorted[1]);  // each warp's own sequence is the same
    EXPECT_EQ(sorted[0], sorted[2]);
    EXPECT_NE(plain[0], plain[1]);
    EXPECT_NE(plain[0], plain[2]);
}

TEST(ShippedKernels, FairTurnsGoRoundAndGreedyOnesStay) {
    Product3 p("tiled", "tiled.t16", 16, 16, 16, 16);
    ASSERT_TRUE(p.run().complete);
    for (size_t s = 0; s < 8; ++s) EXPECT_EQ(p.events[0][s].warp, s);
    p.options.schedule.kind = Schedule::Kind::Greedy;
    ASSERT_TRUE(p.run().complete);
    for (size_t s = 0; s < 5; ++s) EXPECT_EQ(p.events[0][s].warp, 0u);  // 2 loads, 2 stores, barrier
    EXPECT_TRUE(p.events[0][4].barrier);
    EXPECT_EQ(p.events[0][5].warp, 1u);
}

TEST(ShippedKernels, ARecordedOrderIsFollowedExactly) {
    Product3 p("tiled", "tiled.t8", 8, 8, 19, 8);
    p.options.schedule = {Schedule::Kind::Seeded, 99};
    ASSERT_TRUE(p.run().complete);
    const auto recorded = p.events;
    p.options.schedule.kind = Schedule::Kind::Recorded;
    for (const Event& e : recorded[0]) p.options.recorded_order.push_back(static_cast<uint8_t>(e.warp));
    ASSERT_TRUE(p.run().complete);
    EXPECT_EQ(p.events, recorded);

    p.options.recorded_order.pop_back();
    EXPECT_FALSE(p.try_run());
    p.options.recorded_order.push_back(recorded[0].back().warp ? 1 : 0);
    p.options.recorded_order.push_back(0);
    EXPECT_FALSE(p.try_run());
    p.options.recorded_order.assign(1, 77);
    const auto wrong = p.try_run();
    ASSERT_FALSE(wrong);
    EXPECT_EQ(
        wrong.error().message,
        "the recorded order gives step 1 to warp 77, which the block does not have then; record it anew");
}

TEST(ShippedKernels, AMissingBarrierGivesWrongSumsInSomeOrder) {
    Product3 fair("tiled_no_barrier", "tiled_no_barrier.t16", 16, 64, 64, 64);
    ASSERT_TRUE(fair.run().complete);
    Product3 greedy("tiled_no_barrier", "tiled_no_barrier.t16", 16, 64, 64, 64);
    greedy.options.schedule.kind = Schedule::Kind::Greedy;
    ASSERT_TRUE(greedy.run().complete);
    EXPECT_TRUE(fair.result() != reference(fair) || greedy.result() != reference(greedy));
}

TEST(ShippedKernels, RunOnlyTheWindow) {
    Product3 p("tiled", "tiled.t4", 4, 16, 16, 16);
    p.options.window = {1, 3, 2, 3};
    ASSERT_TRUE(p.run().complete);
    int ran = 0;
    for (const auto& block : p.events) ran += !block.empty();
    EXPECT_EQ(ran, 2);
    EXPECT_FALSE(p.events[2 * 4 + 1].empty());
    EXPECT_FALSE(p.events[2 * 4 + 2].empty());
}

// Every element of P is the sum of exactly its k products: the chain stored is the one reported, the
// factors are loads of the right values, and the running sums add up.
TEST(ShippedKernels, StoredSumsCanBeFollowedToTheirProducts) {
    for (const char* file : {"tiled.t4", "untiled"}) {
        Product3 p(file[0] == 't' ? "tiled" : "untiled", file, 4, 8, 6, 8);
        p.options.values = true;
        ASSERT_TRUE(p.run().complete);
        const auto want = reference(p);
        int stores = 0;
        for (const auto& block : p.events)
            for (const Event& store : block) {
                if (store.barrier || store.space != Space::Global || store.is_load) continue;
                for (int lane = 0; lane < 32; ++lane) {
                    if (!(store.mask >> lane & 1)) continue;
                    const size_t l = static_cast<size_t>(lane);
                    ASSERT_TRUE(store.origin[l] & kComputed);
                    float sum = 0;
                    int terms = 0;
                    for (const Event& e : block)
                        for (const auto& product : e.products) {
                            if (product.warp != store.warp || !(product.mask >> lane & 1) ||
                                product.result[l] != store.origin[l])
                                continue;
                            // The factors are what those loads brought.
                            const Event& a = block.at(product.a[l] - 1);
                            const Event& b = block.at(product.b[l] - 1);
                            EXPECT_EQ(a.value[l], product.a_value[l]);
                            EXPECT_EQ(b.value[l], product.b_value[l]);
                            sum += as_float(a.value[l]) * as_float(b.value[l]);
                            EXPECT_EQ(as_float(product.sum[l]), sum);
                            ++terms;
                        }
                    EXPECT_EQ(terms, file[0] == 't' ? 8 : 6);  // two tiles of 4, zero-filled; or k
                    EXPECT_EQ(sum, as_float(store.value[l]));
                    EXPECT_EQ(sum, want[(store.address[l] - p.P_base()) / 4]);
                    ++stores;
                }
            }
        EXPECT_EQ(stores, 64);
    }
}

}  // namespace
}  // namespace tilescope::simt
