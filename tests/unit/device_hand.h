// A small launch whose device trace buffers are written by hand, and read.
#pragma once

#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/device_writer.h"

namespace tilescope::trace::test {

enum HandSite : uint32_t { kLoadM, kStoreMds, kHandBarrier, kGather, kLoadNds };
inline constexpr uint64_t kM = 0x7F00'1000'0000;

// Blocks of 16 x 3 threads: warp 1 has 16 lanes. M is 30 x 20, loaded as M[tid.y][tid.x]; Mds 4 x 16 at
// byte 0 of the trace's shared memory, Nds at 256.
struct Hand {
    std::vector<ptx::Site> sites = {{0, 1, ptx::SiteKind::Load, Space::Global, 4, 1, 1, 1},
                                    {1, 2, ptx::SiteKind::Store, Space::Shared, 4, 2, 1, 2},
                                    {2, 3, ptx::SiteKind::Barrier, Space::Global, 0, 3, 1, 3},
                                    {3, 4, ptx::SiteKind::Load, Space::Global, 4, 4, 1, 4},
                                    {4, 5, ptx::SiteKind::Load, Space::Shared, 4, 5, 1, 5}};
    std::vector<ptx::LaneShape> shapes = {{true, 4, 80, 0}, {true, 4, 64, 0}, {}, {}, {true, 0, 64, 0}};
    std::vector<Array> arrays = {test_array("M", Space::Global, ArrayRole::Input, 30, 20, kM),
                                 test_array("Mds", Space::Shared, ArrayRole::Shared, 4, 16, 0, "mds"),
                                 test_array("Nds", Space::Shared, ArrayRole::Shared, 4, 16, 256, "nds")};
    ptx::Instrumented code;
    DecodeOptions options;

    explicit Hand(uint32_t code_bits = 8, uint32_t chunk_bytes = 512)
        : code(test::instrumented(sites, shapes, code_bits, chunk_bytes)) {
        options.block = {16, 3, 1};
        options.arrays = &arrays, options.sites = &sites;
        options.device_base = {kM, 0, 0};
    }
    uint32_t pair_of(uint32_t a, uint32_t b) {
        code.codes.push_back({ptx::Code::Kind::Pair, a, b});
        return static_cast<uint32_t>(code.codes.size()) - 1;
    }
    Result<Decoded> try_read(const DeviceWriter& writer) {
        return decode_device_buffer(code, writer.buffer(), options);
    }
    // As a trace, that is whole and would survive its file.
    Trace read(DeviceWriter& writer, Decoded* kept = nullptr) {
        if (writer.dropped.empty()) writer.dropped.assign(options.grid.count(), 0);
        auto decoded = try_read(writer);
        EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message);
        if (!decoded) return {};
        Meta meta;
        meta.window = options.window;
        Trace trace = assemble(meta, test_launch(arrays, options.grid, options.block), sites,
                               std::move(decoded->blocks));
        EXPECT_EQ(trace.time.size(), trace.steps());
        if (kept) *kept = std::move(*decoded);
        return trace;
    }
};

}  // namespace tilescope::trace::test
