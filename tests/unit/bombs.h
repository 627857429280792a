// Recordings that take as much memory and time as a small file can make a reader take: few forms, repeated
// for as many steps as are asked for, so that zstd makes kilobytes of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ptx/parse.h"
#include "core/trace/trace.h"
#include "tests/launches.h"

namespace tilescope {

// What a bomb is made of. The kernel walks a loop: load, store, barrier.
struct Bomb {
    std::string name;
    uint64_t blocks = 1, steps = 0;  // steps of each block
    uint32_t warps = 1;
    uint32_t forms = 3;          // of loads and stores together with the one of the barrier
    bool irregular = false;      // rows of offsets that lie far apart; else a stride
    uint32_t arrays = 1;         // global ones
    uint32_t slices = 1;         // of each; more than one: arrays of three dimensions
    uint32_t barrier_every = 3;  // steps; 1: barriers alone, 0: none
    bool single_lanes = false;   // masks of one lane, another one every step
    bool clocks = false;
    bool trips = true;  // of the loop; else every access is at its first place
};

inline constexpr const char* kBombPtx = R"(.version 6.4
.target sm_70
.address_size 64
.visible .entry bomb(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .f32 %f<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
$L:
    ld.global.f32 %f1, [%rd1];
    st.global.f32 [%rd1], %f1;
    bar.sync 0;
    add.s32 %r1, %r1, 1;
    setp.lt.s32 %p1, %r1, 100;
    @%p1 bra $L;
    ret;
}
)";

inline trace::Trace made_of(const Bomb& bomb) {
    trace::Trace trace;
    trace.meta.kernel = "bomb";
    trace.meta.ptx = kBombPtx;
    trace.meta.ptx_name = "bomb.ptx";
    trace.meta.incomplete_reason = "it is a test";
    constexpr uint32_t kElements = 1u << 26;  // of an array: 256 MB
    std::vector<Array> arrays;
    for (uint32_t i = 0; i < bomb.arrays; ++i) {
        Array array = test_array("x" + std::to_string(i), Space::Global, ArrayRole::InOut, 1 << 8, 1 << 18,
                                 (uint64_t{i} + 1) << 29);
        if (bomb.slices > 1) {
            array.rank = 3;
            array.slices = bomb.slices;
            array.rows = 1;
            array.cols = kElements / bomb.slices;
        }
        arrays.push_back(std::move(array));
    }
    const auto width = static_cast<uint32_t>(std::min<uint64_t>(bomb.blocks, 1u << 20));
    trace.launch =
        test_launch(std::move(arrays), {width, static_cast<uint32_t>((bomb.blocks + width - 1) / width), 1},
                    {32 * bomb.warps, 1, 1});
    trace.launch.entry = "bomb";
    trace.meta.window = {0, trace.launch.grid.x, 0, trace.launch.grid.y};
    const auto module = ptx::parse(kBombPtx, "bomb.ptx");
    trace.sites = ptx::sites_of(module->kernels.front());
    for (ptx::Site& site : trace.sites) site.line = site.ptx_line;

    // The barrier's form first, then a load and a store in turn.
    trace.forms.resize(std::max(bomb.forms, 3u));
    for (uint32_t i = 0; i < trace.forms.size(); ++i) {
        trace::Form& form = trace.forms[i];
        form.site = i == 0 ? 2 : i % 2 == 1 ? 0 : 1;
        form.mask = bomb.single_lanes ? 1u << i % 32 : ~0u;
        if (i == 0) continue;
        form.array = static_cast<uint8_t>(i / 2 % bomb.arrays);
        form.stride = 1 << 20;
        if (!bomb.irregular) continue;
        form.irregular = static_cast<int32_t>(trace.irregular.size());
        trace.irregular.emplace_back();
        for (int32_t lane = 0; lane < 32; ++lane)
            trace.irregular.back()[static_cast<size_t>(lane)] =
                form.mask >> lane & 1 ? (lane << 22) + 4 * static_cast<int32_t>(i % 16) * (lane % 3) : 0;
    }
    const uint64_t all = bomb.blocks * bomb.steps;
    trace.key.resize(all);
    trace.base.resize(all);
    if (bomb.clocks) trace.time.resize(all);
    const auto accesses = static_cast<uint32_t>(trace.forms.size() - 1);
    for (uint64_t block = 0; block < bomb.blocks; ++block) {
        trace::Block& b = trace.blocks.emplace_back();
        b.x = static_cast<uint32_t>(block % width), b.y = static_cast<uint32_t>(block / width);
        b.first = block * bomb.steps, b.count = bomb.steps;
        for (uint64_t i = 0; i < bomb.steps; ++i) {
            const uint64_t at = b.first + i;
            const uint64_t turn = i / bomb.warps;  // every warp makes it
            const bool barrier =
                bomb.barrier_every > 0 && turn % bomb.barrier_every == bomb.barrier_every - 1;
            uint32_t form = 0;
            if (!barrier)
                form = 1 + static_cast<uint32_t>(bomb.trips ? turn % accesses : 2 * (turn % (accesses / 2)));
            trace.key[at] = form | static_cast<uint32_t>(i % bomb.warps) << 24;
            trace.base[at] = barrier ? 0 : static_cast<uint32_t>(turn * 256 % (1u << 20));
            if (bomb.clocks) trace.time[at] = static_cast<uint32_t>(i);
        }
    }
    return trace;
}

// Each as large as a file of 1 MB can make it under the memory that is allowed: most steps, or 1 for a
// thousandth of them.
inline std::vector<Bomb> bombs(uint64_t scale = 1000) {
    const auto some = [&](uint64_t full) { return std::max<uint64_t>(full * scale / 1000, 60); };
    const auto few = [&](uint64_t full) {
        return static_cast<uint32_t>(std::max<uint64_t>(full * scale / 1000, 40));
    };
    return {
        {.name = "one_block", .steps = some(30'000'000)},
        {.name = "one_block_of_90_million", .steps = some(90'000'000)},
        {.name = "ten_blocks", .blocks = 10, .steps = some(3'000'000)},
        {.name = "million_blocks", .blocks = some(1'000'000), .steps = 30},
        {.name = "phases", .steps = some(60'000) * 3 * 32, .warps = 32},
        {.name = "irregular",
         .blocks = 10,
         .steps = some(3'000'000),
         .forms = few(65'000),
         .irregular = true},
        {.name = "irregular_80_million",
         .blocks = 100,
         .steps = some(800'000),
         .forms = few(2'000),
         .irregular = true},
        {.name = "irregular_forms",
         .blocks = 10,
         .steps = some(200'000),
         .forms = few(200'000),
         .irregular = true},
        {.name = "arrays",
         .steps = some(60'000) * 3 * 8,
         .warps = 8,
         .forms = 501,
         .irregular = true,
         .arrays = 250},
        {.name = "slices",
         .blocks = 10,
         .steps = some(1'000'000),
         .forms = 101,
         .irregular = true,
         .slices = 1u << 20},
        {.name = "barriers", .blocks = 10, .steps = some(8'000'000), .barrier_every = 1},
        {.name = "single_lanes", .blocks = 10, .steps = some(3'000'000), .forms = 64, .single_lanes = true},
        {.name = "clocks", .blocks = 10, .steps = some(6'000'000), .warps = 32, .forms = 9, .clocks = true},
    };
}

}  // namespace tilescope
