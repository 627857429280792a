// Recordings of kernels whose steps have words: rings, copies in bulk, boxes of tensors.
#pragma once

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/trace/builder.h"
#include "tests/tensor_kernel.h"
#include "tests/unit/simt_words.h"

namespace tilescope::trace {

// As a file could hold it: with its PTX, of the whole grid.
inline Trace recorded_words(const simt::test::WordRun& made, const std::string& ptx) {
    std::vector<std::unique_ptr<BlockRecorder>> blocks;
    simt::GlobalMemory memory = made.memory;
    const auto outcome =
        simt::run(*made.program, made.launch, memory, made.options, [&](const simt::BlockId& id) {
            blocks.push_back(
                std::make_unique<BlockRecorder>(made.launch.arrays, simt::sites_of(*made.program), id));
            return blocks.back().get();
        });
    EXPECT_TRUE(outcome && outcome->complete) << (outcome && outcome->fault ? outcome->fault->message : "");
    Meta meta;
    meta.kernel = meta.source_name = meta.ptx_name = "words";
    meta.ptx = ptx;
    meta.window = {0, made.launch.grid.x, 0, made.launch.grid.y};
    meta.complete = true;
    return assemble(meta, made.launch, simt::sites_of(*made.program), std::move(blocks));
}

inline Trace ring_trace(const tilescope::test::Ring& ring, const Schedule& schedule = {}) {
    simt::test::WordRun run(ring);
    run.options.schedule = schedule;
    return recorded_words(run, ring.ptx());
}

// A kernel that copies one box: `tile` in shared memory is an array, and the tensor one of as many words as it has.
inline simt::test::WordRun box_words(const tilescope::test::RandomBox& one, bool load,
                                     tilescope::test::BoxForm form = tilescope::test::BoxForm::Tile) {
    constexpr uint64_t kTileAt = 0x10000;
    constexpr uint32_t kBytes = tilescope::test::kBoxTileBytes;
    simt::test::WordRun run;
    run.program = simt::test::program_of(tilescope::test::box_kernel(one.map, one.box, load, form), "box");
    run.memory.buffers = {{"words", kTileAt, simt::Bytes(kBytes)},
                          {"tensor", one.map.address, simt::Bytes((one.bytes + 3) / 4 * 4)}};
    const auto words = static_cast<uint32_t>(run.memory.buffers[1].bytes.size() / 4);
    run.launch =
        test_launch({test_array("words", Space::Global, ArrayRole::InOut, 1, kBytes / 4, kTileAt),
                     test_array("tensor", Space::Global, ArrayRole::InOut, 1, words, one.map.address),
                     test_array("tile", Space::Shared, ArrayRole::Shared, 1, kBytes / 4, 0, "tile")},
                    {1, 1, 1}, {32, 1, 1});
    run.launch.entry = "box";
    const ptx::TensorMapBytes map = ptx::encode(one.map);
    Argument argument;
    argument.name = "map";
    argument.object.assign(map.begin(), map.end());
    run.launch.arguments = {argument, {"words", ElementType::U64, 0, 0, 0}};
    return run;
}

}  // namespace tilescope::trace
