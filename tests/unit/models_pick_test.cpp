// What is said of a pick where a recording is long, holds vector accesses, has no source, or lets a thread
// store several elements; a thread picked in blocks with depth.
#include "app/look/pick.h"
#include "app/look/request.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

// `count` requests of one warp on a (64 x 64 floats, read and written): the load of site 0 or the store of
// site 1, `bytes` a lane. address(i, lane): byte offset of request i.
template <class Address>
Recorded requests(uint32_t count, uint32_t site, uint32_t bytes, Address address) {
    static const std::vector<Array> arrays = {
        test_array("a", Space::Global, ArrayRole::InOut, 64, 64, 0x10000)};
    const std::vector<ptx::Site> sites = {{0, 0, ptx::SiteKind::Load, Space::Global, bytes, 1, 1, 7},
                                          {1, 1, ptx::SiteKind::Store, Space::Global, bytes, 2, 1, 9}};
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
    recorders.push_back(std::make_unique<trace::BlockRecorder>(arrays, sites, simt::BlockId{}));
    std::vector<std::array<uint64_t, 32>> at(count);
    const auto request_of = [&](uint32_t i) {
        for (uint32_t lane = 0; lane < 32; ++lane) at[i][lane] = arrays[0].base + address(i, lane);
        simt::Request request;
        request.site = site;
        request.mask = ~0u;
        request.address = at[i].data();
        request.elements = bytes / 4;
        return request;
    };
    for (uint32_t i = 0; i < count; ++i) recorders[0]->on_request(request_of(i));
    Recorded made;
    made.trace = std::make_shared<const trace::Trace>(
        trace::assemble({}, test_launch(arrays, {}, {32, 1, 1}), sites, std::move(recorders)));
    made.rule = analysis::one_phase(sites.size());
    made.index = index_block(made, 0);
    auto replay = std::make_shared<playback::BlockReplay>(*made.trace, 0);
    for (uint32_t i = 0; i < count; ++i) replay->on_request(request_of(i));
    replay->finish();
    made.replay = replay;
    return made;
}

std::vector<std::string> said_of(const Recorded& made, uint64_t element) {
    return relations(*made.trace, *made.index, made.replay.get(), picked_element(0, element),
                     made.index->steps - 1)
        .lines;
}

TEST(Picks, OfALongBlockTheFirstRequestsAreLookedAtAndItSaysSo) {
    const auto one_row = [](uint32_t i, uint32_t lane) { return (i == 20'000 ? 256 : 0) + lane * 4; };
    const Recorded made = requests(20'001, 0, 4, one_row);
    EXPECT_EQ(said_of(made, 0)[1], "loaded at least 20,000 times by thread[0], at step 1");
    EXPECT_EQ(said_of(made, 64)[1], "None of the first 20,000 global loads of this block loads it.");
    const Recorded whole = requests(20'000, 0, 4, one_row);
    EXPECT_EQ(said_of(whole, 0)[1], "loaded 20,000 times by thread[0], at step 1");
    EXPECT_EQ(said_of(whole, 64)[1], "This block does not load it.");
}

TEST(Picks, AVectorLoadTouchesAllOfItsElements) {
    const Recorded made = requests(1, 0, 16, [](uint32_t, uint32_t lane) { return lane * 16; });
    EXPECT_EQ(said_of(made, 4 * 3 + 2)[1], "loaded once by thread[3], at step 1");
    EXPECT_EQ(said_of(made, 128)[1], "This block does not load it.");
    EXPECT_EQ(tile_of_phase(*made.trace, *made.index, 0, 0), (CellRect{0, 2, 0, 64}));
    const RequestView view = request_view(*made.trace, *made.index, 0);
    EXPECT_EQ(view.verdict, "32 lanes read 128 neighbours: 16 sectors of 16 needed");
    EXPECT_EQ(elements_text(made.trace->launch.arrays[0], view.touched), "a[0..1,0..63]");
}

TEST(Picks, AThreadThatStoresSeveralElementsStoresThemAll) {
    const Recorded made = requests(3, 1, 4, [](uint32_t i, uint32_t lane) { return i * 128 + lane * 4; });
    for (const uint64_t element : {5u, 32u + 5, 64u + 5}) {
        EXPECT_EQ(said_of(made, element)[1], "thread[5]: warp 0, lane 5") << element;
        EXPECT_EQ(said_of(made, element)[2], "stores a[0,5], a[0,37] and a[1,5]") << element;
    }
    const StoredElements stored = stored_by(*made.trace, *made.index, 0, 1u << 5 | 1, 0);
    EXPECT_EQ(stored.by_lane.size(), 6u);
    EXPECT_FALSE(stored.of_phase) << "there is one phase alone";
    EXPECT_EQ(storer_of(*made.trace, *made.index, {0, 64 + 31}), 31u);
    EXPECT_EQ(storer_of(*made.trace, *made.index, {0, 96}), std::nullopt);
    EXPECT_EQ(said_of(made, 3 * 32 + 5).back(), "This block does not load it.");
}

TEST(Picks, WithoutSourceALineIsOneOfThePtx) {
    const Recorded made = requests(1, 0, 4, [](uint32_t, uint32_t lane) { return lane * 4; });
    trace::Trace sourced = *made.trace;
    sourced.meta.source = "one\ntwo\n";
    EXPECT_EQ(shown_line(*made.trace, made.trace->sites[1]), 9u);
    EXPECT_EQ(shown_line(sourced, sourced.sites[1]), 2u);
    EXPECT_EQ(request_view(*made.trace, *made.index, 0).line, 7u);
    const Pick site{.kind = Pick::Kind::Site, .site = 0};
    EXPECT_EQ(relations(*made.trace, *made.index, nullptr, site, 0).lines[0],
              "line 7: 1 request by this block so far, 1 in all");
}

TEST(Picks, AThreadIsPickedByItsPlaceInABlockWithDepth) {
    trace::Trace from, to;
    from.launch.block = {4, 2, 3};
    to.launch.block = {8, 4, 2};
    const auto same = [&](uint32_t thread) {
        return same_pick(from, to, {.kind = Pick::Kind::Thread, .thread = thread});
    };
    EXPECT_EQ(same(1 * 8 + 1 * 4 + 3).thread, 1u * 32 + 1 * 8 + 3) << "(3,1,1)";
    EXPECT_EQ(same(2 * 8 + 1 * 4 + 3).kind, Pick::Kind::None) << "(3,1,2): 2 deep";
}

}  // namespace
}  // namespace tilescope::app
