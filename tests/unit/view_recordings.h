// Recordings that the tests of the view models look at: real ones of the kernels that ship, and
// single requests made by hand.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/look/block_index.h"
#include "core/playback/replay.h"
#include "core/trace/builder.h"
#include "kernels/run/record.h"
#include "tests/launches.h"
#include "tests/names.h"
#include "tests/one_phase.h"
#include "tests/opened_blocks.h"
#include "tests/recorded.h"

namespace tilescope::app {

struct Recorded : analysis::Recording {
    std::shared_ptr<const look::BlockIndex> index;
    std::shared_ptr<const playback::BlockReplay> replay;
};

inline Recorded replayed(trace::Trace trace, uint32_t block = 0) {
    auto recording = analysis::opened(std::move(trace));
    EXPECT_TRUE(recording);
    Recorded made{std::move(*recording), nullptr, nullptr};
    made.index = index_block(made, block);
    auto replay = std::make_shared<playback::BlockReplay>(*made.trace, block);
    auto replayer = kernels::Replayer::of(*made.trace);
    EXPECT_TRUE(replayer);
    EXPECT_TRUE(replayer->replay(*made.trace, block, *replay));
    replay->finish();
    made.replay = replay;
    return made;
}

inline Recorded record(const char* kernel, kernels::Shape shape, uint32_t block = 0) {
    return replayed(kernels::recorded(kernel, shape), block);
}

// The first step of the block of a kind whose array has that name; asserts that there is one.
inline uint32_t step_of(const Recorded& recording, StepKind kind, const char* array, uint32_t from = 0) {
    for (uint32_t step = from; step < recording.index->steps; ++step) {
        const uint64_t at = recording.index->first + step;
        if (kind_of(*recording.trace, at) != kind) continue;
        const uint8_t where = recording.trace->form_of(at).array;
        if (kind == StepKind::Barrier || recording.trace->launch.arrays[where].name == array) return step;
    }
    ADD_FAILURE() << "no such step on " << array;
    return 0;
}

// One request of one warp by hand, of so many bytes a lane: M is 64 x 64 floats, Mds 32 x 32.
enum HandSite : uint32_t { kLoadM, kStoreM, kLoadMds, kStoreMds };
template <class Offset>  // byte offset in the array by lane
Recorded one_request(HandSite site, uint32_t mask, Offset offset, Dim3 block = {32, 1, 1},
                     uint32_t bytes = 4) {
    static const std::vector<Array> arrays = {
        test_array("M", Space::Global, ArrayRole::Input, 64, 64, 0x10000),
        test_array("Mds", Space::Shared, ArrayRole::Shared, 32, 32, 0, "Mds")};
    const std::vector<ptx::Site> sites = {{0, 0, ptx::SiteKind::Load, Space::Global, bytes, 1, 1, 1},
                                          {1, 1, ptx::SiteKind::Store, Space::Global, bytes, 2, 1, 2},
                                          {2, 2, ptx::SiteKind::Load, Space::Shared, bytes, 3, 1, 3},
                                          {3, 3, ptx::SiteKind::Store, Space::Shared, bytes, 4, 1, 4}};
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
    recorders.push_back(std::make_unique<trace::BlockRecorder>(arrays, sites, simt::BlockId{}));
    std::array<uint64_t, 32> address{};
    for (uint32_t lane = 0; lane < 32; ++lane)
        address[lane] = arrays[site >= kLoadMds ? 1 : 0].base + offset(lane);
    simt::Request request;
    request.site = site;
    request.mask = mask;
    request.space = sites[site].space;
    request.address = address.data();
    recorders[0]->on_request(request);
    trace::Meta meta;
    meta.source = "one\ntwo\nthree\nfour\n";
    Recorded made;
    made.trace = std::make_shared<const trace::Trace>(
        trace::assemble(meta, test_launch(arrays, {}, block), sites, std::move(recorders)));
    made.rule = analysis::one_phase(sites.size());
    made.index = index_block(made, 0);
    return made;
}

}  // namespace tilescope::app
