// Random requests of every kind that a kernel can make, and the plain record that they are compared with.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "core/trace/builder.h"
#include "tests/launches.h"

namespace tilescope::trace {

// A step as it went in: addresses as the interpreter gives them.
struct PlainStep {
    uint32_t site = 0, warp = 0, mask = 0;
    bool barrier = false;
    Space space = Space::Global;
    std::array<uint64_t, 32> address{};
};

enum TestSite : uint32_t {
    kLoadGlobal,
    kStoreGlobal,
    kLoadShared,
    kStoreShared,
    kBarrier,
    kLoadGeneric,
    kLoadPair
};

inline std::vector<ptx::Site> test_sites() {
    using ptx::SiteKind;
    const auto site = [](uint32_t id, SiteKind kind, Space space, uint32_t bytes) -> ptx::Site {
        return {id, 3 * id + 1, kind, space, bytes, 10 + id, 5, 40 + id};
    };
    return {site(kLoadGlobal, SiteKind::Load, Space::Global, 4),
            site(kStoreGlobal, SiteKind::Store, Space::Global, 4),
            site(kLoadShared, SiteKind::Load, Space::Shared, 4),
            site(kStoreShared, SiteKind::Store, Space::Shared, 4),
            site(kBarrier, SiteKind::Barrier, Space::Global, 0),
            site(kLoadGeneric, SiteKind::Load, Space::Global, 4),
            site(kLoadPair, SiteKind::Load, Space::Global, 8)};
}

// M is larger than 4 GiB, so that bases need their high bits; Mds and Nds touch.
inline std::vector<Array> test_arrays() {
    return {test_array("M", Space::Global, ArrayRole::Input, 40000, 40000, 0x1000'0000),
            test_array("N", Space::Global, ArrayRole::Input, 70, 30, 0x3'0000'0000),
            test_array("P", Space::Global, ArrayRole::Output, 40, 30, 0x3'0001'0000),
            test_array("Mds", Space::Shared, ArrayRole::Shared, 16, 16, 0, "_ZZ5tiledE3Mds"),
            test_array("Nds", Space::Shared, ArrayRole::Shared, 16, 17, 1024, "_ZZ5tiledE3Nds")};
}

class RandomSteps {
public:
    explicit RandomSteps(uint64_t seed) : random_(seed) {}

    uint64_t below(uint64_t limit) { return random_() % limit; }

    // Mostly affine inside one array; also gathers, straddling, far apart, and outside every array.
    PlainStep next(const std::vector<ptx::Site>& sites, const std::vector<Array>& arrays) {
        PlainStep step;
        step.site = static_cast<uint32_t>(below(sites.size()));
        step.warp = static_cast<uint32_t>(below(8));
        static constexpr uint32_t kMasks[] = {~0u, 0xFFFF, 0xFFFF0000, 0x0F0F0F0F, 1, 0x80000000, 0x00020001};
        step.mask = below(3) ? kMasks[below(7)] : static_cast<uint32_t>(random_()) | 1u << below(32);
        step.barrier = sites[step.site].kind == ptx::SiteKind::Barrier;
        if (step.barrier) return step;
        step.space = sites[step.site].space;
        if (step.site == kLoadGeneric && below(2)) step.space = Space::Shared;
        fill(step, sites[step.site].bytes, arrays);
        return step;
    }

private:
    void fill(PlainStep& step, uint32_t bytes, const std::vector<Array>& arrays) {
        const Array* array = &arrays[0];
        do {
            array = &arrays[below(arrays.size())];
        } while (array->space != step.space);
        const uint64_t kind = below(16);
        const uint64_t width = 1u << below(6);
        const uint64_t stride = below(4) * 4, stride2 = below(6) * 4 * below(100);
        uint64_t start = array->base + below(array->bytes() / 4) * 4;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            uint64_t& address = step.address[lane];
            const uint64_t offset = stride * (lane % width) + stride2 * (lane / width);
            switch (kind) {
                case 0: address = array->base + below(array->bytes() - bytes); break;  // gather
                case 1: address = random_(); break;                                    // anywhere
                case 2: address = start - offset; break;                               // downwards, may leave
                case 3: address = start + (below(3) ? offset : below(64)); break;      // some lanes off
                case 4: address = arrays[0].base + lane * 200'000'000u; break;  // beyond 32 bits, affine
                case 5: address = arrays[0].base + (lane % 3) * 3'000'000'000u; break;  // beyond, irregular
                case 6: address = 0x7FFF'1234'5000u + 4 * lane; break;                  // no array, 47 bits
                default:
                    address = start + offset -
                              (start + offset >= array->base + array->bytes() ? array->bytes() / 2 : 0);
            }
            if (!(step.mask >> lane & 1)) address = random_();  // inactive lanes hold anything
        }
    }

    std::mt19937_64 random_;
};

inline void feed(simt::BlockObserver& observer, const PlainStep& step) {
    if (step.barrier) {
        observer.on_barrier(step.site, step.warp, step.mask);
        return;
    }
    simt::Request request;
    request.site = step.site;
    request.warp = step.warp;
    request.mask = step.mask;
    request.space = step.space;
    request.address = step.address.data();
    observer.on_request(request);
}

// A trace of random steps as a file could hold it: blocks of 16 x 16 threads.
inline Trace random_trace(uint64_t seed, uint32_t blocks_x, uint32_t blocks_y, size_t steps_a_block,
                          std::vector<PlainStep>* plain = nullptr) {
    const auto sites = test_sites();
    const auto arrays = test_arrays();
    RandomSteps random(seed);
    std::vector<std::unique_ptr<BlockRecorder>> recorders;
    for (uint32_t y = 0; y < blocks_y; ++y) {
        for (uint32_t x = 0; x < blocks_x; ++x) {
            recorders.push_back(std::make_unique<BlockRecorder>(arrays, sites, simt::BlockId{x, y, 0}));
            for (size_t i = 0; i < steps_a_block; ++i) {
                const PlainStep step = random.next(sites, arrays);
                feed(*recorders.back(), step);
                if (plain) plain->push_back(step);
            }
        }
    }
    Meta meta;
    meta.tool_version = "0.1.0";
    meta.kernel = "tiled";
    meta.source_name = "tiled.cu";
    meta.source = "__global__ void tiled() {} // \xE9 is Latin-1\n";
    meta.ptx_name = "tiled.t16.ptx";
    meta.ptx = ".version 6.4\n";
    meta.device = "CPU lockstep interpreter";
    meta.window = {0, blocks_x, 0, blocks_y};
    meta.complete = true;
    meta.result = {true, false, 2, 0.1, 3, 17, {}};
    Launch launch = test_launch(arrays, {blocks_x, blocks_y, 1}, {16, 16, 1});
    launch.entry = "tiled";
    launch.arrays[0].contents = {Contents::Kind::SmallIntegers, 0xFFFF'FFFF'FFFF'FFFEu, 7, {}};
    launch.arguments.push_back({"k", ElementType::S32, 70, -1, 0});
    return assemble(meta, std::move(launch), sites, std::move(recorders));
}

}  // namespace tilescope::trace
