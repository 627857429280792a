// Kernels of one thread that copy a box of a tensor, as PTX text, and random maps for them. The map is a parameter.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/ptx/tensor_map.h"
#include "tests/launches.h"

namespace tilescope::test {

// The rest of shared memory: an mbarrier.
inline constexpr uint32_t kBoxTileBytes = 32768;

enum class BoxForm : uint8_t { Tile, Im2col, Gather };

// load: tile <- the box, whose bytes are expected. Else the box <- tile, which all 32 threads fill from `words`.
inline std::string box_kernel(const ptx::TensorMap& map, const ptx::TensorBox& box, bool load,
                              BoxForm form = BoxForm::Tile) {
    const size_t rank = form == BoxForm::Gather ? 5 : map.rank;
    std::string at, offsets;
    for (size_t i = 0; i < rank; ++i) at += fmt::format("{}{}", i > 0 ? ", " : "", box.at[i]);
    for (size_t i = 0; form == BoxForm::Im2col && i + 2 < map.rank; ++i)
        offsets += fmt::format("{}{}", i > 0 ? ", " : "", box.offset[i]);
    const char* const kind = form == BoxForm::Tile     ? "tile"
                             : form == BoxForm::Gather ? (load ? "tile::gather4" : "tile::scatter4")
                             : load                    ? "im2col"
                                                       : "im2col_no_offs";
    std::string text = fmt::format(R"(.version 8.6
.target sm_100a
.address_size 64
.visible .entry box(.param .align 64 .b8 box_0[128], .param .u64 box_1)
{{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
.shared .align 1024 .b8 tile[{0}];
.shared .align 8 .b8 bar[8];
.loc 1 5 0
mov.b64 %d0, box_0;
cvta.param.u64 %d1, %d0;
ld.param.u64 %d2, [box_1];
mov.u32 %r0, %tid.x;
setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared::cta.b64 [bar], 1;
)",
                                   kBoxTileBytes);
    const std::string walk = fmt::format(R"(shl.b32 %r1, %r0, 2;
mov.u32 %r2, tile;
add.u32 %r2, %r2, %r1;
cvt.u64.u32 %d3, %r1;
add.s64 %d3, %d2, %d3;
mov.u32 %r3, {};
WALK:
{}add.u32 %r2, %r2, 128;
add.s64 %d3, %d3, 128;
sub.u32 %r3, %r3, 1;
setp.ne.u32 %p1, %r3, 0;
@%p1 bra WALK;
)",
                                         kBoxTileBytes / 128,
                                         load ? "ld.shared.u32 %r4, [%r2];\nst.global.u32 [%d3], %r4;\n"
                                              : "ld.global.u32 %r4, [%d3];\nst.shared.u32 [%r2], %r4;\n");
    if (!load) text += walk + "fence.proxy.async.shared::cta;\n";
    text += "bar.sync 0;\n@!%p0 bra READY;\n.loc 1 20 0\n";
    if (load)
        text += fmt::format(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {};\n"
            "cp.async.bulk.tensor.{}d.shared::cta.global.{}.mbarrier::complete_tx::bytes [tile+{}], [%d1, "
            "{{{}}}], "
            "[bar]{};\n",
            ptx::box_bytes(map, box.gathers), map.rank, kind, box.shared, at,
            offsets.empty() ? "" : ", {" + offsets + "}");
    else
        text += fmt::format(
            "cp.async.bulk.tensor.{}d.global.shared::cta.{}.bulk_group [%d1, {{{}}}], [tile+{}];\n"
            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
            map.rank, kind, at, box.shared);
    text += "READY:\n";
    if (load) text += "mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra READY;\n" + walk;
    return text + "ret;\n}\n.file 1 \"box.cu\"\n";
}

struct RandomBox {
    ptx::TensorMap map;
    ptx::TensorBox box;
    uint64_t bytes = 0;  // of the tensor, from the map's address on
};

// Of a box of some kilobytes, partly outside; stores: begins inside.
inline RandomBox random_box(std::mt19937& random, uint64_t address, bool load, BoxForm form = BoxForm::Tile) {
    using namespace ptx;
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    for (;;) {
        RandomBox made;
        TensorMap& map = made.map;
        map.type = static_cast<TensorType>(below(13));
        map.rank = static_cast<uint8_t>(form == BoxForm::Gather ? 2
                                        : form == BoxForm::Tile ? 1 + below(5)
                                                                : 3 + below(3));
        map.swizzle = static_cast<Swizzle>(below(2) * below(kSwizzles));
        map.fills_with_nan = is_float(map.type) && below(2);
        map.address = address;
        const uint32_t size = size_of(map.type), most = form == BoxForm::Gather ? 20 : 7;
        const uint32_t row = std::max(16u, 16 * (1 + below(8)));
        uint64_t pitch = 0;
        for (size_t i = 0; i < map.rank; ++i) {
            map.extent[i] = i == 0 ? 1 + below(3 * row / size) : 1 + below(most);
            pitch = i == 0 ? map.extent[0] * size : pitch * map.extent[i];
            pitch = (pitch + 15) / 16 * 16 + 16 * below(2);
            if (i + 1 < map.rank) map.stride[i] = pitch;
            map.box[i] = i == 0 ? row / size : 1 + below(6);
            if (i > 0 && form != BoxForm::Gather) map.element_stride[i] = 1 + below(3) / 2 * (1 + below(2));
        }
        made.bytes = pitch + 32;
        made.box.shared = 128 * below(9);
        made.box.stores = !load;
        made.box.gathers = form == BoxForm::Gather;
        if (form == BoxForm::Gather) map.box[1] = 1;
        if (form == BoxForm::Im2col) {
            map.im2col = true, map.channels = row / size, map.pixels = 1 + below(40);
            for (size_t i = 0; i + 2 < map.rank; ++i) {
                map.lower_corner[i] = static_cast<int32_t>(below(4)) - 2;
                map.upper_corner[i] = static_cast<int32_t>(below(4)) - 2;
                made.box.offset[i] = static_cast<uint16_t>(load ? below(4) : 0);
            }
        }
        for (size_t i = 0; i < (form == BoxForm::Gather ? 5 : map.rank); ++i) {
            const auto extent = static_cast<int32_t>(map.extent[form == BoxForm::Gather && i > 0 ? 1 : i]);
            const int32_t low = load ? -3 : 0;
            made.box.at[i] =
                low + static_cast<int32_t>(below(static_cast<uint32_t>(extent - low + (load ? 2 : 0))));
            if (i == 0)
                made.box.at[i] =
                    made.box.at[i] * static_cast<int32_t>(size) / 16 * 16 / static_cast<int32_t>(size);
        }
        if (check(map, 10) && check(map, made.box) &&
            made.box.shared + row_pitch(map) * row_count(map, made.box.gathers) + 128 <= kBoxTileBytes)
            return made;
    }
}

}  // namespace tilescope::test
