// Remedies: closed forms whose answers are public, that the best is the best, and what must not be torn.
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "core/analysis/remedy.h"
#include "core/analysis/swaps.h"
#include "core/trace/builder.h"
#include "tests/launches.h"
#include "tests/twin/request.h"

namespace tilescope::analysis {
namespace {

struct Made {  // a request by hand
    uint32_t site = 0;
    std::array<uint64_t, 32> offset{};
    uint32_t warp = 0;
};

Made request(uint32_t site, const std::function<uint64_t(uint32_t)>& offset) {
    Made made{.site = site};
    for (uint32_t lane = 0; lane < 32; ++lane) made.offset[lane] = offset(lane);
    return made;
}

// A recording of these requests to one array, of sites with so many bytes a lane: even ones load, odd ones store.
trace::Trace trace_of(const Array& array, const std::vector<uint32_t>& bytes,
                      const std::vector<Made>& requests, Dim3 block = {32, 1, 1}) {
    std::vector<ptx::Site> sites;
    for (uint32_t id = 0; id < bytes.size(); ++id)
        sites.push_back({id, id, id % 2 ? ptx::SiteKind::Store : ptx::SiteKind::Load, array.space, bytes[id],
                         id + 1, 1, id + 1});
    const std::vector<Array> arrays{array};
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
    recorders.push_back(std::make_unique<trace::BlockRecorder>(arrays, sites, simt::BlockId{}));
    for (const Made& made : requests) {
        std::array<uint64_t, 32> address = made.offset;
        for (uint64_t& at : address) at += array.base;
        simt::Request to;
        to.site = made.site;
        to.warp = made.warp;
        to.mask = ~0u;
        to.space = array.space;
        to.address = address.data();
        recorders[0]->on_request(to);
    }
    return trace::assemble({}, test_launch(arrays, {}, block), sites, std::move(recorders));
}

Array shared_array(uint32_t rows, uint32_t cols, ElementType type = ElementType::F32) {
    Array array = test_array("tile", Space::Shared, ArrayRole::Shared, rows, cols, 0, "tile");
    array.type = type;
    return array;
}

const Remedied* row_of(const Remedies& of, RemedyKind kind) {
    const auto found = std::ranges::find(of.rows, kind, [](const Remedied& row) { return row.remedy.kind; });
    return found == of.rows.end() ? nullptr : &*found;
}

Remedies only(const trace::Trace& trace) {
    const auto all = remedies_of(trace);
    EXPECT_TRUE(all);
    EXPECT_EQ(all->size(), 1u);
    return all && !all->empty() ? all->front() : Remedies();
}

// Stored by rows, read by columns: 32 wavefronts a column, one with rows of 33 or Swizzle<5,0,5> of words.
TEST(Remedy, OfAColumnOfAFloatTile) {
    std::vector<Made> requests;
    for (uint32_t i = 0; i < 32; ++i) {
        requests.push_back(request(1, [&](uint32_t lane) { return (i * 32 + lane) * 4; }));
        requests.push_back(request(0, [&](uint32_t lane) { return (lane * 32 + i) * 4; }));
    }
    const Remedies of = only(trace_of(shared_array(32, 32), {4, 4}, requests));
    ASSERT_EQ(of.sites.size(), 2u);
    EXPECT_EQ(of.sites[0].cost, 32u * 32);
    EXPECT_EQ(of.sites[0].least, 32u);
    EXPECT_EQ(of.sites[1].cost, 32u);
    ASSERT_EQ(of.rows.size(), 2u);
    for (const Remedied& row : of.rows) EXPECT_EQ(row.of_site, (std::vector<uint64_t>{32, 32}));
    const Remedied* const padded = row_of(of, RemedyKind::Padding);
    ASSERT_NE(padded, nullptr);
    EXPECT_EQ(padded->remedy.padding, 1u);
    EXPECT_EQ(padded->more_bytes, 32u * 4);
    EXPECT_EQ(remedy_words(padded->remedy), "rows of 33 elements in place of 32");
    const Remedied* const swizzled = row_of(of, RemedyKind::Swizzle);
    ASSERT_NE(swizzled, nullptr);
    EXPECT_EQ(remedy_name(swizzled->remedy), "Swizzle<5,2,5>");
    EXPECT_EQ(remedy_words(swizzled->remedy), "index i becomes i ^ (i >> 5 & 31)");
}

// Rows of 64 halves, of which 8 lanes at a time ask for 16 bytes each: 32 wavefronts where 4 would do.
TEST(Remedy, OfRowsOf64HalvesReadBy16BytesALane) {
    std::vector<Made> requests;
    for (uint32_t chunk = 0; chunk < 8; ++chunk) {
        requests.push_back(request(0, [&](uint32_t lane) { return lane * 128 + chunk * 16; }));
        requests.push_back(
            request(1, [&](uint32_t lane) { return (chunk * 4 + lane / 8) * 128 + lane % 8 * 16; }));
    }
    const Remedies of = only(trace_of(shared_array(32, 64, ElementType::F16), {16, 16}, requests));
    EXPECT_EQ(of.sites[0].cost, 8u * 32);
    EXPECT_EQ(of.sites[0].least, 8u * 4);
    ASSERT_EQ(of.rows.size(), 2u);
    for (const Remedied& row : of.rows) EXPECT_EQ(row.of_site, (std::vector<uint64_t>{8 * 4, 8 * 4}));
    EXPECT_EQ(row_of(of, RemedyKind::Padding)->remedy.padding, 8u);
    const Remedy& swizzle = row_of(of, RemedyKind::Swizzle)->remedy;
    EXPECT_EQ(remedy_name(swizzle), "Swizzle<3,4,3>");
    EXPECT_EQ(remedy_words(swizzle), "index i becomes i ^ (i >> 3 & 56)") << "of halves: Swizzle<3,3,3>";
    // A chunk of 16 bytes goes to chunk ^ row mod 8.
    for (uint64_t row = 0; row < 32; ++row)
        for (uint64_t chunk = 0; chunk < 8; ++chunk)
            EXPECT_EQ(swizzle.moved(row * 128 + chunk * 16), row * 128 + (chunk ^ row % 8) * 16);
}

// Fragments of m16n8 stored 8 bytes a lane, 4 lanes a row.
TEST(Remedy, OfFragmentsStoredToRowsOfManyLengths) {
    const std::pair<uint32_t, uint64_t> kWavefronts[] = {{8, 2},  {16, 4}, {32, 8},  {64, 8},
                                                         {68, 4}, {72, 2}, {128, 8}, {136, 2}};
    for (const auto& [floats, wavefronts] : kWavefronts) {
        const auto all = remedies_of(
            trace_of(shared_array(16, floats), {8, 8},
                     {request(1, [&](uint32_t lane) { return (lane / 4 * floats + lane % 4 * 2) * 4; })}));
        ASSERT_TRUE(all);
        ASSERT_EQ(all->empty(), wavefronts == 2) << floats;
        if (all->empty()) continue;
        EXPECT_EQ(all->front().cost, wavefronts) << floats;
        ASSERT_NE(row_of(all->front(), RemedyKind::Padding), nullptr) << floats;
        const Remedied& padded = *row_of(all->front(), RemedyKind::Padding);
        EXPECT_EQ(padded.cost, 2u) << floats;
        EXPECT_EQ((floats + padded.remedy.padding) % 2, 0u) << "8 bytes stay aligned";
    }
}

// Of random requests to a tile: no padding and no swizzle costs less than the ones that are named, as a slow twin
// counts them, and elements keep places of their own.
TEST(Remedy, IsTheBestOfItsKind) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 40; ++round) {
        const uint32_t cols = 8u << random() % 4, bytes = 4u << random() % 3;
        const Array array = shared_array(16, cols);
        std::vector<Made> requests;
        for (int i = 0; i < 6; ++i) {
            const uint64_t first = random() % 16, down = random() % 4, right = random() % 3;
            requests.push_back(request(static_cast<uint32_t>(random() % 2), [&](uint32_t lane) {
                const uint64_t row = (first + lane * down) % 16, col = lane * right * bytes / 4 % cols;
                return (row * cols + col) * 4 / bytes * bytes;
            }));
        }
        const auto all = remedies_of(trace_of(array, {bytes, bytes}, requests));
        ASSERT_TRUE(all);
        const auto cost = [&](auto moved) {
            uint64_t sum = 0;
            for (const Made& made : requests) {
                twin::Addresses at{};
                for (uint32_t lane = 0; lane < 32; ++lane) {
                    at[lane] = moved(made.offset[lane]);
                    if (at[lane] % bytes != 0 || moved(made.offset[lane] + bytes - 1) != at[lane] + bytes - 1)
                        return UINT64_MAX;
                }
                sum += twin::shared_cost(at, ~0u, bytes, made.site == 0).wavefronts;
            }
            return sum;
        };
        const uint64_t before = cost([](uint64_t at) { return at; });
        uint64_t padded = UINT64_MAX, swizzled = UINT64_MAX;
        for (uint64_t pad = 1; pad <= kMostPadding; ++pad)
            padded = std::min(padded, cost([&](uint64_t at) {
                                  return at / (cols * 4) * (cols + pad) * 4 + at % (cols * 4);
                              }));
        for (uint64_t b = 1; b <= 5; ++b)
            for (uint64_t m = 2; m + b <= 7; ++m)
                for (uint64_t s = b; s < 12; ++s)
                    swizzled = std::min(swizzled, cost([&](uint64_t at) {
                                            return at ^ (((at >> (m + s)) & ((1u << b) - 1)) << m);
                                        }));
        if (all->empty()) {
            EXPECT_LE(before, std::min(padded, swizzled));
            continue;
        }
        const Remedies& of = all->front();
        EXPECT_EQ(of.cost, before);
        const Remedied* const pad = row_of(of, RemedyKind::Padding);
        const Remedied* const xored = row_of(of, RemedyKind::Swizzle);
        EXPECT_EQ(pad ? pad->cost : before, std::min(padded, before)) << "round " << round;
        EXPECT_EQ(xored ? xored->cost : before, std::min(swizzled, before)) << "round " << round;
        for (const Remedied& row : of.rows) {
            EXPECT_EQ(std::accumulate(row.of_site.begin(), row.of_site.end(), uint64_t{0}), row.cost);
            EXPECT_EQ(cost([&](uint64_t at) { return row.remedy.moved(at); }), row.cost);
            std::set<uint64_t> places;
            for (uint64_t byte = 0; byte < array.bytes(); ++byte) places.insert(row.remedy.moved(byte));
            EXPECT_EQ(places.size(), array.bytes());
            EXPECT_LT(*places.rbegin(), array.bytes() + std::max<uint64_t>(row.more_bytes, 1));
        }
    }
}

// A matrix that lanes read down a column is better stored columns first, and structs that lanes read one member of
// as an array for each member.
TEST(Remedy, OfGlobalArraysIsAnotherLayout) {
    std::vector<Made> columns, members;
    for (uint32_t i = 0; i < 64; ++i) {
        columns.push_back(request(0, [&](uint32_t lane) { return (lane * 64 + i) * 4; }));
        members.push_back(
            request(i % 2 * 2, [&](uint32_t lane) { return (i * 32 + lane) * 16 + i % 2 * 8; }));
    }
    const Remedies matrix =
        only(trace_of(test_array("M", Space::Global, ArrayRole::Input, 32, 64, 0x10000), {4}, columns));
    EXPECT_EQ(matrix.cost, 64u * 32);
    ASSERT_EQ(matrix.rows.size(), 1u);
    EXPECT_EQ(matrix.rows[0].remedy.kind, RemedyKind::ColumnsFirst);
    EXPECT_EQ(matrix.rows[0].cost, 64u * 4);

    Array particles = test_array("p", Space::Global, ArrayRole::Input, 1, 64 * 32 * 4, 0x10000);
    particles.rank = 1;
    const Remedies structs = only(trace_of(particles, {4, 4, 4}, members));
    EXPECT_EQ(structs.cost, 64u * 16);
    ASSERT_EQ(structs.rows.size(), 1u);
    EXPECT_EQ(structs.rows[0].remedy.kind, RemedyKind::StructOfArrays);
    EXPECT_EQ(structs.rows[0].remedy.row, 16u);
    EXPECT_EQ(structs.rows[0].cost, 64u * 4);
}

// Lanes a row apart whose loop walks along the rows: swapped, a trip reads 32 neighbours.
TEST(Swap, OfLanesAndALoop) {
    std::vector<Made> requests;
    for (uint32_t i = 0; i < 64; ++i)
        requests.push_back(request(0, [&](uint32_t lane) { return (lane * 64 + i) * 4; }));
    const Array matrix = test_array("M", Space::Global, ArrayRole::Input, 32, 64, 0x10000);
    const auto swaps = swaps_of(trace_of(matrix, {4}, requests));
    ASSERT_TRUE(swaps);
    ASSERT_EQ(swaps->size(), 1u);
    EXPECT_EQ(swaps->front().kind, SwapKind::Loop);
    ASSERT_EQ(swaps->front().sites.size(), 1u);
    const SwappedSite& site = swaps->front().sites.front();
    EXPECT_EQ(site.requests, 64u);
    EXPECT_EQ(site.cost, 64u * 32);
    EXPECT_EQ(site.swapped, 64u * 4);
    EXPECT_EQ(site.least, 64u * 4);
    for (Made& made : requests) made = request(0, [](uint32_t lane) { return lane * 4; });
    EXPECT_TRUE(swaps_of(trace_of(matrix, {4}, requests))->empty());
}

// Blocks of 8 x 8 threads, thread[y,x] at M[x,y]: with x and y swapped a warp reads four rows of 8 neighbours.
TEST(Swap, OfThreadsOfABlock) {
    std::vector<Made> requests;
    for (uint32_t warp = 0; warp < 2; ++warp) {
        requests.push_back(request(0, [&](uint32_t lane) {
            const uint64_t x = lane % 8, y = warp * 4 + lane / 8;
            return (x * 64 + y) * 4;
        }));
        requests.back().warp = warp;
    }
    const auto swaps = swaps_of(trace_of(test_array("M", Space::Global, ArrayRole::Input, 32, 64, 0x10000),
                                         {4}, requests, {8, 8, 1}));
    ASSERT_TRUE(swaps);
    ASSERT_EQ(swaps->size(), 1u);
    EXPECT_EQ(swaps->front().kind, SwapKind::Threads);
    EXPECT_EQ(swaps->front().sites.front().cost, 2u * 8);
    EXPECT_EQ(swaps->front().sites.front().swapped, 2u * 4);
}

// Requests that cost the least need none; an array of one row has those that show in the lanes' distances.
TEST(Remedy, OfAnArrayOfOneRow) {
    std::vector<Made> rows;
    for (uint32_t i = 0; i < 8; ++i)
        rows.push_back(request(1, [&](uint32_t lane) { return (i * 32 + lane) * 4; }));
    Array flat = shared_array(1, 2048);
    flat.rank = 1;
    const auto none = remedies_of(trace_of(flat, {4, 4}, rows));
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->empty());
    rows.push_back(request(0, [](uint32_t lane) { return lane * 48 * 4; }));  // 16 ways
    const Remedies of = only(trace_of(flat, {4, 4}, rows));
    EXPECT_EQ(of.sites[0].cost, 16u);
    ASSERT_FALSE(of.rows.empty());
    EXPECT_EQ(of.rows[0].cost, of.least);
}

}  // namespace
}  // namespace tilescope::analysis
