// A tiled product of square matrices of any width, made step by step by hand: what an interpreter would tell
// its observers, with values and origins, so that phases, replay and table can be tested without one.
//
//   site 0 load M   1 load N   2 store Mds   3 store Nds   4 barrier
//        5 load Mds 6 load Nds   (T times)   7 barrier     8 store P
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/recording/phases.h"
#include "core/trace/builder.h"
#include "tests/launches.h"

namespace tilescope::by_hand {

struct Tiled {
    uint32_t width = 4, tile = 2;  // matrices are width x width, any width
    uint32_t block_x = 0, block_y = 0;

    uint32_t threads() const { return tile * tile; }
    uint32_t warps() const { return (threads() + 31) / 32; }
    uint32_t phases() const { return (width + tile - 1) / tile; }
    static float m(uint64_t index) { return static_cast<float>(index + 1); }
    static float n(uint64_t index) { return static_cast<float>(index % 7) - 3; }
};

inline std::vector<ptx::Site> sites() {
    using ptx::SiteKind;
    const std::pair<SiteKind, Space> kinds[] = {
        {SiteKind::Load, Space::Global},    {SiteKind::Load, Space::Global},
        {SiteKind::Store, Space::Shared},   {SiteKind::Store, Space::Shared},
        {SiteKind::Barrier, Space::Global}, {SiteKind::Load, Space::Shared},
        {SiteKind::Load, Space::Shared},    {SiteKind::Barrier, Space::Global},
        {SiteKind::Store, Space::Global}};
    std::vector<ptx::Site> sites;
    for (uint32_t id = 0; id < 9; ++id)
        sites.push_back({id, id, kinds[id].first, kinds[id].second,
                         kinds[id].first == SiteKind::Barrier ? 0u : 4u, 10 + id, 1, 20 + id});
    return sites;
}

inline std::vector<Array> arrays(const Tiled& t) {
    return {test_array("M", Space::Global, ArrayRole::Input, t.width, t.width, 0x10000),
            test_array("N", Space::Global, ArrayRole::Input, t.width, t.width, 0x20000),
            test_array("P", Space::Global, ArrayRole::Output, t.width, t.width, 0x30000),
            test_array("Mds", Space::Shared, ArrayRole::Shared, t.tile, t.tile, 0, "Mds"),
            test_array("Nds", Space::Shared, ArrayRole::Shared, t.tile, t.tile, t.tile * t.tile * 4, "Nds")};
}

inline analysis::PhaseRule rule() {
    analysis::PhaseRule rule;
    rule.by_place = true;
    rule.rank = {0, 1, 2, 3, 4, 5, 5, 6, -2};
    rule.stays = {false, false, false, false, false, true, true, false, false};
    rule.body.assign(9, 0);
    rule.group = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    rule.groups = 9;
    rule.after = {false, false, false, false, false, false, false, false, true};
    return rule;
}

// Tells `observer` the whole block, warps taking turns.
inline void run(const Tiled& t, simt::BlockObserver& observer) {
    constexpr simt::Origin kNothing = 0;
    const auto base = arrays(t);
    uint32_t step = 0;
    std::vector<float> sum(t.threads(), 0), mds(t.threads()), nds(t.threads());
    std::vector<simt::Origin> m_from(t.threads()), n_from(t.threads());
    std::vector<float> m_value(t.threads()), n_value(t.threads());
    const auto row = [&](uint32_t thread) { return t.block_y * t.tile + thread / t.tile; };
    const auto col = [&](uint32_t thread) { return t.block_x * t.tile + thread % t.tile; };

    // One site for every warp; lane(thread, address, value, origin) says whether the thread takes part.
    using Lane = std::function<bool(uint32_t, uint64_t&, float&, simt::Origin&)>;
    const auto request = [&](uint32_t site, uint32_t warp, const Lane& lane) {
        std::array<uint64_t, 32> address{};
        std::array<uint64_t, 32> value{};
        std::array<simt::Origin, 32> origin{};
        uint32_t mask = 0;
        for (uint32_t l = 0; l < 32 && warp * 32 + l < t.threads(); ++l) {
            float v = 0;
            if (!lane(warp * 32 + l, address[l], v, origin[l])) continue;
            mask |= 1u << l;
            value[l] = std::bit_cast<uint32_t>(v);
        }
        if (mask == 0) return;
        const ptx::Site s = sites()[site];
        simt::Request request;
        request.site = site, request.warp = warp, request.mask = mask, request.space = s.space;
        request.address = address.data();
        request.value = value.data();
        request.origin = s.kind == ptx::SiteKind::Store ? origin.data() : nullptr;
        observer.on_request(request);
        ++step;
    };
    const auto all = [&](uint32_t site, const Lane& lane) {
        for (uint32_t warp = 0; warp < t.warps(); ++warp) request(site, warp, lane);
    };
    const auto barrier = [&](uint32_t site) {
        for (uint32_t warp = 0; warp < t.warps(); ++warp, ++step) {
            const uint32_t lanes = std::min(32u, t.threads() - warp * 32);
            observer.on_barrier(site, warp, lanes == 32 ? ~0u : (1u << lanes) - 1);
        }
    };

    for (uint32_t phase = 0; phase < t.phases(); ++phase) {
        std::fill(m_from.begin(), m_from.end(), kNothing), std::fill(n_from.begin(), n_from.end(), kNothing);
        std::fill(m_value.begin(), m_value.end(), 0.f), std::fill(n_value.begin(), n_value.end(), 0.f);
        all(0, [&](uint32_t i, uint64_t& a, float& v, simt::Origin&) {
            const uint32_t x = phase * t.tile + i % t.tile;
            if (row(i) >= t.width || x >= t.width) return false;
            a = base[0].base + (row(i) * t.width + x) * 4;
            v = m_value[i] = Tiled::m(row(i) * t.width + x);
            m_from[i] = step + 1;
            return true;
        });
        all(1, [&](uint32_t i, uint64_t& a, float& v, simt::Origin&) {
            const uint32_t y = phase * t.tile + i / t.tile;
            if (col(i) >= t.width || y >= t.width) return false;
            a = base[1].base + (y * t.width + col(i)) * 4;
            v = n_value[i] = Tiled::n(y * t.width + col(i));
            n_from[i] = step + 1;
            return true;
        });
        all(2, [&](uint32_t i, uint64_t& a, float& v, simt::Origin& from) {
            a = i * 4, v = mds[i] = m_value[i], from = m_from[i];
            return true;
        });
        all(3, [&](uint32_t i, uint64_t& a, float& v, simt::Origin& from) {
            a = base[4].base + i * 4, v = nds[i] = n_value[i], from = n_from[i];
            return true;
        });
        barrier(4);
        for (uint32_t k = 0; k < t.tile; ++k) {
            std::vector<simt::Origin> a_from(t.threads()), b_from(t.threads());
            all(5, [&](uint32_t i, uint64_t& a, float& v, simt::Origin&) {
                a = (i / t.tile * t.tile + k) * 4, v = mds[i / t.tile * t.tile + k], a_from[i] = step + 1;
                return true;
            });
            all(6, [&](uint32_t i, uint64_t& a, float& v, simt::Origin&) {
                a = base[4].base + (k * t.tile + i % t.tile) * 4, v = nds[k * t.tile + i % t.tile];
                b_from[i] = step + 1;
                return true;
            });
            for (uint32_t warp = 0; warp < t.warps(); ++warp) {
                std::array<simt::Origin, 32> a{}, b{}, result{};
                std::array<uint64_t, 32> av{}, bv{}, s{};
                uint32_t mask = 0;
                for (uint32_t l = 0; l < 32 && warp * 32 + l < t.threads(); ++l) {
                    const uint32_t i = warp * 32 + l;
                    mask |= 1u << l;
                    a[l] = a_from[i], b[l] = b_from[i], result[l] = simt::kComputed | 1;
                    const float x = mds[i / t.tile * t.tile + k], y = nds[k * t.tile + i % t.tile];
                    sum[i] += x * y;
                    av[l] = value_of(x).bits, bv[l] = value_of(y).bits, s[l] = value_of(sum[i]).bits;
                }
                // Factors the other way round: a compiler may swap them, the table must not.
                observer.on_multiplication({warp, mask, b.data(), a.data(), result.data(), ElementType::F32,
                                            ElementType::F32, bv.data(), av.data(), s.data()});
            }
        }
        barrier(7);
    }
    all(8, [&](uint32_t i, uint64_t& a, float& v, simt::Origin& from) {
        if (row(i) >= t.width || col(i) >= t.width) return false;
        a = base[2].base + (row(i) * t.width + col(i)) * 4, v = sum[i], from = simt::kComputed | 1;
        return true;
    });
}

// The recording of the given blocks.
inline trace::Trace record(const std::vector<Tiled>& blocks) {
    const auto all_sites = sites();
    const auto all_arrays = arrays(blocks[0]);
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
    for (const Tiled& t : blocks) {
        recorders.push_back(std::make_unique<trace::BlockRecorder>(all_arrays, all_sites,
                                                                   simt::BlockId{t.block_x, t.block_y, 0}));
        run(t, *recorders.back());
    }
    trace::Meta meta;
    meta.kernel = "tiled";
    meta.device = "by hand";
    meta.complete = true;
    meta.result = {true, true, 2, 0, 0, -1, {}};
    const Launch launch = test_launch(all_arrays, {blocks[0].phases(), blocks[0].phases(), 1},
                                      {blocks[0].tile, blocks[0].tile, 1});
    return trace::assemble(meta, launch, all_sites, std::move(recorders));
}

}  // namespace tilescope::by_hand
