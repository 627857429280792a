// What travels at a step, against what the textbook says of a product's elements; and how many have arrived
// in an array, against a count of them one by one.
#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "app/step/flights.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using step::Flight, step::flights, step::FlightSums, step::ReadingTime;

struct Cell {
    uint8_t array = 0;
    uint64_t row = 0, col = 0;
    auto operator<=>(const Cell&) const = default;
};
using Route = std::pair<Cell, Cell>;

Cell cell_of(const trace::Trace& trace, const playback::Element& element) {
    const uint64_t cols = trace.launch.arrays[element.array].cols;
    return {element.array, element.index / cols, element.index % cols};
}

// How often each way is taken, over all steps of the block.
std::map<Route, int> routes(const Recorded& made, bool products) {
    std::map<Route, int> all;
    for (uint32_t step = 0; step < made.index->steps; ++step)
        for (const Flight& flight : flights(*made.trace, *made.index, *made.replay, step)) {
            EXPECT_LE(0, flight.leaves);
            EXPECT_LT(flight.leaves, flight.arrives);
            EXPECT_LE(flight.arrives, 1.001f);
            if (flight.product == products)
                ++all[{cell_of(*made.trace, flight.from), cell_of(*made.trace, flight.to)}];
        }
    return all;
}

uint8_t array_of(const Recorded& made, std::string_view name) {
    const auto& arrays = made.trace->launch.arrays;
    return static_cast<uint8_t>(std::ranges::find(arrays, name, &Array::name) - arrays.begin());
}

// Block (1,0) of tiled 4 x 4 x 4, T = 2: P[0..1, 2..3].
TEST(Flights, OfTheTiledProductGoThroughTheTiles) {
    constexpr uint64_t T = 2, k = 4, col0 = 2;
    const Recorded made = record("tiled", {4, 4, 4, 2}, 1);
    ASSERT_EQ(made.trace->blocks[1].x, 1u);
    const uint8_t M = array_of(made, "M"), N = array_of(made, "N"), P = array_of(made, "P"),
                  Mds = array_of(made, "Mds"), Nds = array_of(made, "Nds");
    std::map<Route, int> stores, products;
    for (uint64_t ty = 0; ty < T; ++ty)
        for (uint64_t tx = 0; tx < T; ++tx)
            for (uint64_t phase = 0; phase < k / T; ++phase) {
                ++stores[{{M, ty, phase * T + tx}, {Mds, ty, tx}}];
                ++stores[{{N, phase * T + ty, col0 + tx}, {Nds, ty, tx}}];
                for (uint64_t i = 0; i < T; ++i) {
                    ++products[{{Mds, ty, i}, {P, ty, col0 + tx}}];
                    ++products[{{Nds, i, tx}, {P, ty, col0 + tx}}];
                }
            }
    EXPECT_EQ(routes(made, false), stores);
    EXPECT_EQ(routes(made, true), products);
}

TEST(Flights, OfTheUntiledProductComeFromMAndN) {
    const Recorded made = record("untiled", {4, 4, 4, 2});
    const uint8_t M = array_of(made, "M"), N = array_of(made, "N"), P = array_of(made, "P");
    std::map<Route, int> products;
    for (uint64_t row = 0; row < 2; ++row)
        for (uint64_t col = 0; col < 2; ++col)
            for (uint64_t i = 0; i < 4; ++i) {
                ++products[{{M, row, i}, {P, row, col}}];
                ++products[{{N, i, col}, {P, row, col}}];
            }
    EXPECT_EQ(routes(made, true), products);
    EXPECT_TRUE(routes(made, false).empty());
}

// Of 3 x 3 x 3 with T = 2 the block (1,1) has one thread with an element of P; the others load for it.
TEST(Flights, OfALoadGoToTheThreadsThatMakeIt) {
    const Recorded made = record("tiled", {3, 3, 3, 2}, 3);
    const uint8_t M = array_of(made, "M"), N = array_of(made, "N");
    std::map<std::pair<Cell, uint64_t>, int> seen, want;
    for (uint32_t step = 0; step < made.index->steps; ++step)
        for (const Flight& flight : step::loads_to_threads(*made.trace, *made.index, *made.replay, step)) {
            EXPECT_EQ(flight.to.array, step::kOfThreads);
            ++seen[{cell_of(*made.trace, flight.from), flight.to.index}];
        }
    for (uint64_t ty = 0; ty < 2; ++ty)
        for (uint64_t tx = 0; tx < 2; ++tx)
            for (uint64_t phase = 0; phase < 2; ++phase) {
                const uint64_t row = 2 + ty, col = 2 + tx, of_m = phase * 2 + tx, of_n = phase * 2 + ty;
                if (row < 3 && of_m < 3) ++want[{{M, row, of_m}, ty * 2 + tx}];
                if (of_n < 3 && col < 3) ++want[{{N, of_n, col}, ty * 2 + tx}];
            }
    EXPECT_EQ(seen, want);
}

// Zeros at the edge come from no element.
TEST(Flights, BringNoZeros) {
    const Recorded made = record("tiled", {3, 3, 3, 2}, 3);  // the corner: P[2,2]
    const auto stores = routes(made, false);
    for (const auto& [route, count] : stores) {
        EXPECT_LT(route.first.row, 3u);
        EXPECT_LT(route.first.col, 3u);
    }
    EXPECT_EQ(stores.size(), 3u + 3u) << "of M[2,0..2] and N[0..2,2]";
}

TEST(Flights, AreCountedAsTheyArrive) {
    for (const char* kernel : {"tiled", "untiled"}) {
        const Recorded made = record(kernel, {20, 12, 20, 4}, 7);
        std::map<std::pair<uint8_t, uint32_t>, uint64_t> slow;  // by array and step
        for (uint32_t step = 0; step < made.index->steps; ++step)
            for (const Flight& flight : flights(*made.trace, *made.index, *made.replay, step))
                slow[{flight.to.array, step}] += flight.product ? 1 : 2;  // two factors are a product
        const FlightSums sums = step::flight_sums(made.replay);
        std::mt19937 random(3);
        uint64_t seen = 0;
        for (const FlightSums::Into& into : sums.into)
            for (int round = 0; round < 50; ++round) {
                const auto first = static_cast<uint32_t>(random() % (made.index->steps + 1)),
                           end = static_cast<uint32_t>(random() % (made.index->steps + 1));
                uint64_t want = 0;
                for (uint32_t step = first; step < end; ++step) {
                    const auto at = slow.find({into.array, step});
                    want += at == slow.end() ? 0 : at->second;
                }
                EXPECT_EQ(step::arrived(into, first, end) * 2, want) << kernel << first << " " << end;
                seen += want;
            }
        EXPECT_GT(seen, 0u);
        EXPECT_EQ(sums.into.size(), kernel == std::string("tiled") ? 3u : 1u);
    }
}

TEST(ReadingTimes, AreOfTheWordsAndLessOfTheSameAgain) {
    ReadingTime reading;
    EXPECT_DOUBLE_EQ(reading.seconds("Warp 0 loads rows 0 and 1 of the M tile."), 11 / 3.0);
    EXPECT_DOUBLE_EQ(reading.seconds("Warp 1 loads rows 2 and 3 of the M tile."), 11 / 9.0);
    EXPECT_DOUBLE_EQ(reading.seconds("Warp 1 loads rows 2 and 3 of the N tile."), 11 / 3.0);
    EXPECT_DOUBLE_EQ(reading.seconds("Wait."), ReadingTime::kLeast);
    EXPECT_DOUBLE_EQ(reading.seconds(""), ReadingTime::kLeast);
}

}  // namespace
}  // namespace tilescope::app
