// A request laid out for the panel: verdicts in words for every pattern, sectors, banks, lanes.
#include <bit>
#include <random>

#include "app/look/older.h"
#include "app/look/request.h"
#include "tests/unit/trace_requests.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

template <class Offset>
std::string verdict(HandSite site, uint32_t mask, Offset offset) {
    const Recorded made = one_request(site, mask, offset);
    return request_view(*made.trace, *made.index, 0).verdict;
}

TEST(Verdict, OfGlobalRequests) {
    EXPECT_EQ(verdict(kLoadM, ~0u, [](uint32_t lane) { return lane * 4; }),
              "32 lanes read 32 neighbours: 4 sectors of 4 needed");
    EXPECT_EQ(verdict(kLoadM, ~0u, [](uint32_t lane) { return lane * 256; }),
              "32 lanes read one column of M, a row (256 bytes) apart: 32 sectors where 4 would do");
    EXPECT_EQ(verdict(kLoadM, ~0u, [](uint32_t) { return 40; }),
              "32 lanes read one and the same element of M: 1 sector of 1 needed");
    EXPECT_EQ(verdict(kLoadM, 1u << 7, [](uint32_t) { return 40; }),
              "1 lane reads one element of M: 1 sector of 1 needed");
    EXPECT_EQ(verdict(kLoadM, ~0u, [](uint32_t lane) { return lane % 16 * 4 + lane / 16 * 256; }),
              "32 lanes read 2 rows of 16 neighbours: 4 sectors of 4 needed");
    EXPECT_EQ(verdict(kLoadM, ~0u, [](uint32_t lane) { return lane % 16 * 4; }),
              "32 lanes read 16 neighbours, each twice: 2 sectors of 2 needed");
    EXPECT_EQ(verdict(kLoadM, ~0u, [](uint32_t lane) { return lane / 16 * 256; }),
              "32 lanes read 2 elements of one column of M, a row (256 bytes) apart, each 16 times: 2 "
              "sectors where 1 would do");
    EXPECT_EQ(verdict(kLoadM, ~0u, [](uint32_t lane) { return lane * 4 + 8; }),
              "32 lanes read 32 neighbours, not starting at a sector's edge: 5 sectors where 4 would do");
    EXPECT_EQ(verdict(kLoadM, ~0u, [](uint32_t lane) { return lane % 16 * 4 + lane / 16 * 256 + 8; }),
              "32 lanes read 2 rows of 16 neighbours, not starting at a sector's edge: 6 sectors where 4 "
              "would do");
    EXPECT_EQ(verdict(kLoadM, 0xFFFF, [](uint32_t lane) { return lane % 4 * 4 + lane / 4 * 256; }),
              "16 lanes read 4 rows of 4 neighbours, each shorter than a sector: 4 sectors where 2 would do");
    EXPECT_EQ(verdict(kStoreM, 0xFF, [](uint32_t lane) { return lane * 4; }),
              "8 lanes write 8 neighbours: 1 sector of 1 needed");
    EXPECT_EQ(verdict(kLoadM, ~0u, [](uint32_t lane) { return lane * 8; }),
              "32 lanes read 32 elements of M, no two of them neighbours: 8 sectors where 4 would do");
}

// What the block's shape does not allow is no fault of the mapping: a warp of two rows of threads cannot read
// one stretch where the rows use two rows of a matrix. A column read by the threads of one row still is one.
TEST(Verdict, OfABlockWhoseWarpsHaveSeveralRowsOfThreads) {
    const auto told = [](uint32_t width, uint32_t mask, auto offset) {
        const Recorded made = one_request(kLoadM, mask, offset, {width, 32 / width, 1});
        const RequestView view = request_view(*made.trace, *made.index, 0);
        const analysis::SectorCost& cost = view.cost.global;
        EXPECT_EQ(view.good, cost.sectors == cost.block_sectors);
        EXPECT_EQ(view.least, cost.sectors == cost.ideal_sectors) << "has a sign of its own";
        EXPECT_LE(cost.ideal_sectors, cost.block_sectors);
        EXPECT_LE(cost.block_sectors, std::max(cost.sectors, cost.ideal_sectors));
        return (view.good ? "good: " : "bad: ") + view.verdict;
    };
    EXPECT_EQ(told(16, ~0u, [](uint32_t lane) { return lane / 16 * 256; }),
              "good: 32 lanes read 2 elements of one column of M, a row (256 bytes) apart, each 16 times: 2 "
              "sectors for 2 rows of threads, 1 at best");
    EXPECT_EQ(told(4, 0xFFFF, [](uint32_t lane) { return lane % 4 * 4 + lane / 4 * 256; }),
              "good: 16 lanes read 4 rows of 4 neighbours: 4 sectors for 4 rows of threads, 2 at best");
    EXPECT_EQ(told(16, ~0u, [](uint32_t lane) { return lane % 16 * 256 + lane / 16 * 4; }).substr(0, 5),
              "bad: ");
    EXPECT_EQ(told(16, ~0u, [](uint32_t lane) { return lane % 16 * 4 + lane / 16 * 256 + 8; }).substr(0, 5),
              "bad: ")
        << "where the rows begin is a matter of the matrix";
    EXPECT_EQ(told(16, ~0u, [](uint32_t lane) { return lane % 16 * 4 + lane / 16 * 256; }).substr(0, 6),
              "good: ");
}

// The rules of CUDA C Programming Guide 4.2, F.3.2, worked out by hand.
TEST(Request, TellsWhatLecturesGpusWouldHaveMadeOfIt) {
    const auto told = [](HandSite site, uint32_t mask, auto offset) {
        const Recorded made = one_request(site, mask, offset);
        return look::older_gpus_text(*made.trace, *made.index, 0);
    };
    EXPECT_EQ(told(kLoadM, ~0u, [](uint32_t lane) { return lane * 4; }),
              "G80: 2 transactions of 64 bytes: 128 bytes moved for 128 needed; GT200: 2 transactions of 64 "
              "bytes: 128 bytes moved for 128 needed");
    EXPECT_EQ(told(kLoadM, ~0u, [](uint32_t lane) { return lane * 256; }),
              "G80: 32 transactions of 32 bytes: 1,024 bytes moved for 128 needed; GT200: 32 transactions of "
              "32 bytes: 1,024 bytes moved for 128 needed");
    // The same words in another order: only the stricter rule minds.
    EXPECT_EQ(told(kStoreM, 0xFFFF, [](uint32_t lane) { return 60 - lane * 4; }),
              "G80: 16 transactions of 32 bytes: 512 bytes moved for 64 needed; GT200: 1 transaction of 64 "
              "bytes: 64 bytes moved for 64 needed");
    EXPECT_EQ(told(kLoadMds, ~0u, [](uint32_t lane) { return lane * 4; }), "");
}

TEST(Verdict, OfSharedRequests) {
    EXPECT_EQ(verdict(kLoadMds, ~0u, [](uint32_t) { return 12; }),
              "32 lanes read one word: a broadcast, 1 wavefront");
    EXPECT_EQ(verdict(kLoadMds, ~0u, [](uint32_t lane) { return lane * 128; }),
              "32 lanes read 32 different words of bank 0: 32 wavefronts where 1 would do");
    EXPECT_EQ(verdict(kStoreMds, ~0u, [](uint32_t lane) { return lane * 4; }),
              "32 lanes write 32 words in 32 different banks: 1 wavefront");
    EXPECT_EQ(verdict(kLoadMds, ~0u, [](uint32_t lane) { return lane / 16 * 64; }),
              "32 lanes read 2 words in 2 different banks, each 16 times: broadcasts, 1 wavefront");
    EXPECT_EQ(verdict(kLoadMds, ~0u, [](uint32_t lane) { return lane * 8; }),
              "32 lanes read 32 words in only 16 banks, up to 2 in one: 2 wavefronts where 1 would do");
}

TEST(Request, SaysWhyLanesAreOff) {
    const auto neighbours = [](uint32_t lane) { return lane * 4; };
    const auto note = [&](uint32_t mask, Dim3 block) {
        const Recorded made = one_request(kLoadM, mask, neighbours, block);
        return request_view(*made.trace, *made.index, 0).mask_note;
    };
    EXPECT_EQ(note(~0u, {32, 1, 1}), "");
    EXPECT_EQ(note(0xF, {2, 2, 1}),
              "The block has only 4 threads in this warp; its other 28 lanes are idle.");
    EXPECT_EQ(note(0xFFFF, {32, 1, 1}), "16 of 32 lanes active; 16 switched off by a branch.");
    EXPECT_EQ(note(0x7, {2, 2, 1}), "3 of 4 lanes active; 1 switched off by a branch.");
}

TEST(Request, TellsALanesAddressAndHowItComesAbout) {
    const Recorded global = one_request(
        kLoadM, ~1u, [](uint32_t lane) { return (lane % 16 + 16 + lane / 16 * 64) * 4; }, {16, 2, 1});
    const RequestView request = request_view(*global.trace, *global.index, 0);
    EXPECT_EQ(lane_text(*global.trace, request, 19), "thread[1,3]: M[1,19] = byte 332 of M, sector 10");
    EXPECT_EQ(
        lane_formula(*global.trace, request, 19),
        (std::vector<std::string>{"1\u00b764 + 19 = 83", "83\u00b74 = byte 332", "332/32 = sector 10"}));
    EXPECT_EQ(lane_text(*global.trace, request, 0), "thread[0,0]: switched off in this request");
    EXPECT_TRUE(lane_formula(*global.trace, request, 0).empty());

    const Recorded shared =
        one_request(kLoadMds, ~0u, [](uint32_t lane) { return lane * 128 + 12; }, {4, 4, 1});
    const RequestView columns = request_view(*shared.trace, *shared.index, 0);
    EXPECT_EQ(lane_text(*shared.trace, columns, 5), "thread[1,1]: Mds[5,3] = byte 652 of Mds, bank 3");
    EXPECT_EQ(lane_text(*shared.trace, columns, 20), "lane 20: the block has no thread here");
}

// On random requests: what is laid out is what is counted, and every active lane is in it.
TEST(Request, LayoutAgreesWithTheCostOfRandomRequests) {
    const trace::Trace random = trace::random_trace(11, 2, 1, 600);
    const auto index = index_block(random, analysis::one_phase(random.sites.size()), 1);
    analysis::CostTable costs(random);
    for (uint32_t step = 0; step < index->steps; ++step) {
        const RequestView view = request_view(random, *index, step);
        const analysis::Cost& cost = costs.of(index->first + step);
        if (view.kind == StepKind::Barrier) continue;
        uint32_t lanes = 0;
        if (view.kind == StepKind::GlobalLoad || view.kind == StepKind::GlobalStore) {
            ASSERT_EQ(view.cost.global, cost.global) << "step " << step;
            EXPECT_EQ(view.sectors.size(), cost.global.sectors) << "step " << step;
            EXPECT_EQ(view.lines.size(), cost.global.lines);
            for (const SectorView& sector : view.sectors) lanes |= sector.lanes;
        } else {
            ASSERT_EQ(view.cost.shared, cost.shared) << "step " << step;
            for (const uint32_t group : view.groups) lanes |= group;
        }
        EXPECT_EQ(lanes, view.mask) << "step " << step;
        EXPECT_FALSE(view.verdict.empty());
    }
}

// The strips of banks, one for each group of lanes: their tallest stacks add up to the wavefronts of the verdict.
TEST(Request, StoreysOfItsStripsAreTheWavefrontsOfItsVerdict) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 2000; ++round) {
        const uint32_t bytes = 1u << random() % 5, range = 2u << random() % 7;
        const auto mask = static_cast<uint32_t>(random() | 1u << random() % 32);
        std::array<uint64_t, 32> offset{};
        for (uint64_t& at : offset) at = random() % range * bytes % 4096;
        if (const uint32_t apart = static_cast<uint32_t>(random() % 4); apart > 0)
            for (uint32_t lane = 0; lane < 32; ++lane) offset[lane] = offset[lane & ~(1u << (apart - 1))];
        const Recorded made = one_request(
            random() % 2 ? kLoadMds : kStoreMds, mask, [&](uint32_t lane) { return offset[lane]; },
            {32, 1, 1}, bytes);
        const RequestView view = request_view(*made.trace, *made.index, 0);
        uint32_t lanes = 0;
        size_t storeys = 0, most = 0;
        for (const uint32_t group : view.groups) {
            EXPECT_EQ(lanes & group, 0u) << "a lane is served once";
            lanes |= group;
            storeys += tallest_of_group(view, group);
            most = std::max(most, tallest_of_group(view, group));
        }
        ASSERT_EQ(lanes, mask) << "round " << round;
        ASSERT_EQ(storeys, view.cost.shared.wavefronts) << "round " << round << ": " << view.verdict;
        ASSERT_EQ(view.groups.size(), view.cost.shared.ideal_wavefronts) << "round " << round;
        size_t fullest = 0;
        for (size_t bank = 0; bank < 32; ++bank) fullest = std::max(fullest, tallest_of_bank(view, bank));
        ASSERT_EQ(fullest, most) << "round " << round;
    }
}

}  // namespace
}  // namespace tilescope::app
