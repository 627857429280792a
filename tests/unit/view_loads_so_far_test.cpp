// Loads so far, against counting every lane of every step anew.
#include <map>
#include <memory>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "app/look/loads_so_far.h"
#include "tests/recorded.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::look {
namespace {

using Counts = std::map<uint64_t, uint64_t>;

// Loads by element, lane by lane.
Counts slow_loads(const trace::Trace& trace, uint8_t array, uint64_t first, uint64_t end) {
    Counts loads;
    const Array& of = trace.launch.arrays[array];
    for (uint64_t step = first; step < end; ++step) {
        const trace::Access access = trace::decode(trace, step);
        if (access.array != array || trace.sites[access.site].kind != ptx::SiteKind::Load) continue;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if ((access.mask >> lane & 1) == 0) continue;
            const uint64_t from = access.offset[lane] / of.element_bytes(),
                           to = (access.offset[lane] + trace.sites[access.site].bytes - 1) /
                                of.element_bytes();
            for (uint64_t element = from; element <= to && element < of.elements(); ++element)
                ++loads[element];
        }
    }
    return loads;
}

std::vector<draw::CellRect> whole_arrays(const trace::Trace& trace) {
    std::vector<draw::CellRect> parts;
    for (const Array& array : trace.launch.arrays) {
        const draw::Sheet sheet(array);
        parts.push_back({0, sheet.rows, 0, sheet.cols});
    }
    return parts;
}

void expect_same(const LoadsSoFar& fast, const trace::Trace& trace, uint8_t array, uint64_t first,
                 uint64_t end) {
    const Counts slow = slow_loads(trace, array, first, end);
    const LoadsOfArray& of = fast.of(array);
    const draw::Sheet sheet(trace.launch.arrays[array]);
    LoadedRange range;
    std::vector<uint64_t> bins(of.bins.size());
    for (uint64_t element = 0; element < trace.launch.arrays[array].elements(); ++element) {
        const draw::CellRect cell = sheet.cell(element);
        if (!of.part.contains(cell.row0, cell.col0)) continue;
        const uint32_t row = cell.row0 - of.part.row0, col = cell.col0 - of.part.col0;
        const auto found = slow.find(element);
        const auto right = static_cast<uint32_t>(found == slow.end() ? 0 : found->second);
        const size_t at = size_t{row} * of.part.cols() + col;
        ASSERT_EQ(of.counts[at], right) << "element " << element << " of " << int{array};
        if (!bins.empty()) bins[size_t{row / of.side} * of.bin_cols + col / of.side] += right;
        if (right == 0) continue;
        range.least = range.most == 0 ? right : std::min(range.least, right);
        range.most = std::max(range.most, right);
    }
    EXPECT_EQ(of.bins, bins);
    EXPECT_EQ(fast.range(array).least, range.least);
    EXPECT_EQ(fast.range(array).most, range.most);
}

// Forth and back, into other blocks and by far: always what the steps load.
TEST(LoadsSoFar, AreTheLoadsOfTheStepsWhereverOneGoes) {
    for (const uint64_t seed : {1, 2, 3}) {
        const auto trace = std::make_shared<const trace::Trace>(trace::random_trace(seed, 2, 1, 300));
        std::vector<draw::CellRect> parts = whole_arrays(*trace);
        parts[0] = {};  // M has more elements than a test should list
        parts[2] = {1, std::min(parts[2].row1, 9u), 2, std::min(parts[2].col1, 20u)};  // a part of its sheet
        LoadsSoFar fast(trace, parts);
        std::mt19937 random(static_cast<uint32_t>(seed));
        for (int i = 0; i < 40; ++i) {
            const trace::Block& block = trace->blocks[random() % trace->blocks.size()];
            const uint64_t first = random() % 3 == 0 ? 0 : block.first,
                           end = block.first + 1 + random() % block.count;
            ASSERT_TRUE(fast.go(first, end, UINT64_MAX));
            EXPECT_TRUE(fast.of(0).counts.empty());
            for (const auto array : std::initializer_list<uint8_t>{1, 2})
                expect_same(fast, *trace, array, first, end);
        }
    }
}

// A few steps a call: it says when it is there, and never goes back on the way.
TEST(LoadsSoFar, ComeNearerByAFewStepsACall) {
    const auto trace = std::make_shared<const trace::Trace>(kernels::recorded("tiled", {16, 16, 16, 8}));
    LoadsSoFar fast(trace, whole_arrays(*trace));
    const uint64_t end = trace->steps();
    uint64_t calls = 1;
    while (!fast.go(0, end, 100)) ++calls;
    EXPECT_EQ(calls, (end + 99) / 100);
    expect_same(fast, *trace, 0, 0, end);
    const uint64_t version = fast.version();
    EXPECT_TRUE(fast.go(0, end, 100));
    EXPECT_EQ(fast.version(), version) << "nothing has changed";
    EXPECT_FALSE(fast.go(0, end - 250, 100));
    EXPECT_NE(fast.version(), version);
    EXPECT_TRUE(fast.go(0, end + 7, UINT64_MAX)) << "as far as there are steps";
    expect_same(fast, *trace, 1, 0, end);
}

// Of one recording that is counted twice, too: what was drawn of one is not taken for the other's.
TEST(LoadsSoFar, HaveVersionsOfTheirOwn) {
    const auto trace = std::make_shared<const trace::Trace>(kernels::recorded("tiled", {8, 8, 8, 4}));
    LoadsSoFar one(trace, whole_arrays(*trace)), other(trace, whole_arrays(*trace));
    std::set<uint64_t> seen{one.version()};
    EXPECT_TRUE(seen.insert(other.version()).second);
    for (const uint64_t end : {3, 9, 4}) {
        one.go(0, end, UINT64_MAX);
        EXPECT_TRUE(seen.insert(one.version()).second) << end;
        other.go(0, end + 1, UINT64_MAX);
        EXPECT_TRUE(seen.insert(other.version()).second) << end;
    }
}

// N of 4 x 20,000 elements: more than are drawn in a frame, so bins of several are kept too.
TEST(LoadsSoFar, OfALargeArrayBinsAddUp) {
    const auto plan = kernels::plan("untiled", {4, 4, 20'000, 4});
    ASSERT_TRUE(plan);
    kernels::RecordOptions options;
    options.window = {2, 6, 0, 1};
    auto made = kernels::record_cpu(*plan, options);
    ASSERT_TRUE(made);
    const auto trace = std::make_shared<const trace::Trace>(std::move(*made));
    LoadsSoFar fast(trace, whole_arrays(*trace));
    ASSERT_GT(fast.of(1).side, 1u);
    ASSERT_TRUE(fast.go(0, trace->steps() / 2, UINT64_MAX));
    expect_same(fast, *trace, 1, 0, trace->steps() / 2);
    // A bin is as hot as its elements are on average, but never as if nothing had been loaded.
    const std::vector<uint32_t> bins = fast.of(1).by_bin();
    for (size_t at = 0; at < bins.size(); ++at) EXPECT_EQ(bins[at] > 0, fast.of(1).bins[at] > 0);
}

}  // namespace
}  // namespace tilescope::look
