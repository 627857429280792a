#include "core/trace/device_layout.h"

#include <algorithm>
#include <bit>

#include <fmt/core.h>

namespace tilescope::trace {

namespace {

// Whether all that is said of a run's sites lies in its words, and the first one's clock in the tag.
bool is_run(const ptx::Instrumented& code, const ptx::Code& run) {
    if (run.second < run.site || run.slots == 0 || run.slots > code.chunk_bytes / ptx::kSlotBytes ||
        code.places.size() != code.sites.size())
        return false;
    const uint32_t words = 4 * run.slots;
    for (uint32_t s = run.site; s <= run.second; ++s) {
        const ptx::RunPlace& place = code.places[s];
        const bool matrices = ptx::is_of_matrices(code.sites[s].exchange);
        const bool barrier = code.sites[s].kind == ptx::SiteKind::Barrier || matrices;
        if (code.sites[s].kind == ptx::SiteKind::Exchange && !matrices) return false;
        const bool none = place.clock == ptx::RunPlace::kNone;
        const bool clock = s == run.site ? none : (none && matrices) || place.clock < 2 * words;
        if (!clock || (!barrier && (!code.shapes[s].affine || place.base >= words))) return false;
    }
    return true;
}

Result<void> check_code(const ptx::Instrumented& code) {
    if (!std::has_single_bit(code.chunk_bytes) || code.chunk_bytes < 512 || code.chunk_bytes > 65536) {
        return Error{fmt::format(
            "chunks of {} bytes cannot be read; choose a power of two from 512 to 65,536", code.chunk_bytes)};
    }
    if (code.code_bits == 0 || code.code_bits > 31 || code.codes.size() > uint64_t{1} << code.code_bits) {
        return Error{fmt::format("{} codes do not fit in the {} bits of a tag; instrument the kernel again",
                                 code.codes.size(), code.code_bits)};
    }
    if (ptx::has_exchanges(code.sites) && code.exchanges.size() != code.sites.size())
        return Error{fmt::format(
            "the kernel has {} sites and the operands of {} exchanges; instrument the kernel again",
            code.sites.size(), code.exchanges.size())};
    if (code.shapes.size() != code.sites.size()) {
        return Error{fmt::format("the kernel has {} sites and the shapes of {}; instrument the kernel again",
                                 code.sites.size(), code.shapes.size())};
    }
    for (const ptx::Code& c : code.codes) {
        const bool known =
            c.site < code.sites.size() && c.second < code.sites.size() && c.kind <= ptx::Code::Kind::Run;
        if (c.kind != ptx::Code::Kind::Pad && !c.of_groups() && !known) {
            return Error{fmt::format("a code stands for site {} of {}; instrument the kernel again", c.site,
                                     code.sites.size())};
        }
        if (c.kind == ptx::Code::Kind::Narrow && code.sites[c.site].space != Space::Shared &&
            code.sites[c.site].space != Space::Global) {
            return Error{fmt::format(
                "site {} asks for neither shared nor global memory; instrument the kernel again", c.site)};
        }
        if (!c.of_groups() && (c.kind == ptx::Code::Kind::Words) != (code.sites[c.site].words != 0) &&
            c.kind != ptx::Code::Kind::Pad) {
            return Error{fmt::format(
                "site {} has {} words beside its address, which its code says otherwise; instrument the "
                "kernel again",
                c.site, code.sites[c.site].words)};
        }
        if (c.kind == ptx::Code::Kind::Run && !is_run(code, c)) {
            return Error{
                fmt::format("the run from site {} to site {} cannot be read; instrument the kernel "
                            "again",
                            c.site, c.second)};
        }
    }
    return {};
}

Result<void> check_options(const ptx::Instrumented& code, const DeviceBuffer& buffer,
                           const DecodeOptions& options) {
    const Dim3& b = options.block;
    if (b.x == 0 || b.y == 0 || b.z == 0 || b.x > 1024 || b.y > 1024 || b.z > 1024 || b.count() > 1024)
        return Error{fmt::format("a block of {} × {} × {} threads cannot have been launched", b.x, b.y, b.z)};
    if (!options.arrays || !options.sites || options.sites->size() != code.sites.size())
        return Error{"a device trace buffer needs the kernel's arrays and sites to be read; give both"};
    if (!options.device_base.empty() && options.device_base.size() != options.arrays->size()) {
        return Error{fmt::format("{} arrays have {} device addresses; give one for each",
                                 options.arrays->size(), options.device_base.size())};
    }
    if (buffer.symbols.size() != code.symbols.size()) {
        return Error{fmt::format("{} variables have {} device addresses; give one for each",
                                 code.symbols.size(), buffer.symbols.size())};
    }
    return {};
}

Result<void> set_window(DeviceLayout& layout, const DeviceBuffer& buffer, const DecodeOptions& options) {
    const BlockWindow& w = options.window;
    layout.grid = options.grid;
    layout.cluster = options.cluster;
    layout.x0 = w.x0;
    layout.y0 = w.y0;
    const uint32_t x1 = std::min(w.x1, options.grid.x), y1 = std::min(w.y1, options.grid.y);
    layout.width = w.x0 < x1 ? x1 - w.x0 : 0;
    layout.height = w.y0 < y1 ? y1 - w.y0 : 0;
    if (layout.width == 0 || layout.height == 0 || options.grid.z == 0)
        return Error{"the window holds no block of the grid; choose one that does"};
    // A u32 a block of the window was on the device, so that a count beyond memory never gets here.
    if (buffer.dropped.size() / layout.width / layout.height != options.grid.z ||
        buffer.dropped.size() != layout.blocks()) {
        return Error{
            fmt::format("the window has {} × {} × {} blocks, and the device counted what {} dropped; "
                        "read as many counts as there are blocks",
                        layout.width, layout.height, options.grid.z, buffer.dropped.size())};
    }
    return {};
}

uint64_t device_base(const DecodeOptions& options, size_t array) {
    return options.device_base.empty() ? (*options.arrays)[array].base : options.device_base[array];
}

// Pairs and runs keep the low halves of addresses: all global arrays must share one high half.
Result<void> set_high(DeviceLayout& layout, const DecodeOptions& options) {
    const bool needed = std::any_of(layout.codes.begin(), layout.codes.end(), [&](const ptx::Code& c) {
        const auto global = [&](uint32_t site) {
            return !layout.sites[site].barrier && layout.sites[site].exchange == ptx::Exchange::None &&
                   layout.sites[site].space == Space::Global;
        };
        if (c.kind == ptx::Code::Kind::Pair) return global(c.site) || global(c.second);
        if (c.kind != ptx::Code::Kind::Run) return false;
        for (uint32_t s = c.site; s <= c.second; ++s)
            if (global(s)) return true;
        return false;
    });
    bool first = true;
    for (size_t i = 0; i < options.arrays->size() && needed; ++i) {
        if ((*options.arrays)[i].space != Space::Global) continue;
        const uint64_t high = device_base(options, i) >> 32 << 32;
        if (!first && high != layout.high) {
            return Error{fmt::format(
                "array '{}' lies in other 4 GiB of the device than those before it, so that "
                "requests recorded together cannot be told apart; instrument the kernel without same_high",
                (*options.arrays)[i].name)};
        }
        layout.high = high;
        first = false;
    }
    return {};
}

void set_moves(DeviceLayout& layout, const ptx::Instrumented& code, const DeviceBuffer& buffer,
               const DecodeOptions& options) {
    const auto add = [&](const Array& array, uint64_t address) {
        layout.moves[static_cast<size_t>(array.space)].push_back(
            {address, array.bytes(), array.base - address});
    };
    // Of a block of a cluster, or of none.
    const auto in_block = [&](const Array& array, uint64_t address) {
        return array.space == Space::Shared && options.cluster.count() > 1 ? offset_of_address(address)
                                                                           : address;
    };
    for (const DecodeOptions::Local& variable : options.local)
        for (size_t s = 0; s < code.symbols.size(); ++s)
            if (code.symbols[s] == variable.symbol)
                layout.moves[static_cast<size_t>(Space::Local)].push_back(
                    {buffer.symbols[s], variable.bytes, variable.offset - buffer.symbols[s]});
    for (size_t i = 0; i < options.arrays->size(); ++i) {
        const Array& array = (*options.arrays)[i];
        if (array.space == Space::Global) {
            add(array, device_base(options, i));
            continue;
        }
        for (size_t s = 0; s < code.symbols.size(); ++s)
            if (code.symbols[s] == array.symbol) add(array, in_block(array, buffer.symbols[s]));
    }
    for (std::vector<AddressShift>& moves : layout.moves)
        if (std::all_of(moves.begin(), moves.end(), [](const AddressShift& m) { return m.shift == 0; }))
            moves.clear();
}

void set_offsets(DeviceLayout& layout, const ptx::Instrumented& code, const Dim3& block) {
    const uint64_t threads = block.count();
    layout.warps = static_cast<uint32_t>((threads + kWarpSize - 1) / kWarpSize);
    layout.offsets.resize(layout.warps * layout.sites.size());
    for (uint32_t warp = 0; warp < layout.warps; ++warp) {
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
            const uint64_t thread = uint64_t{warp} * kWarpSize + lane;
            if (thread >= threads) break;
            layout.lanes[warp] |= 1u << lane;
            const uint64_t x = thread % block.x, y = thread / block.x % block.y,
                           z = thread / block.x / block.y;
            for (size_t site = 0; site < layout.sites.size(); ++site) {
                const ptx::LaneShape& shape = code.shapes[site];
                const auto known = code.distances.find(static_cast<uint32_t>(site));
                if (known != code.distances.end()) {
                    layout.offsets[warp * layout.sites.size() + site] = known->second;
                    continue;
                }
                layout.offsets[warp * layout.sites.size() + site][lane] = static_cast<uint64_t>(shape.x) * x +
                                                                          static_cast<uint64_t>(shape.y) * y +
                                                                          static_cast<uint64_t>(shape.z) * z;
            }
        }
    }
}

}  // namespace

const AddressShift* move_of(const std::vector<AddressShift>& moves, uint64_t address) {
    for (const AddressShift& move : moves)
        if (address - move.first < move.bytes) return &move;
    return nullptr;
}

bool place(const DeviceLayout& layout, uint32_t rank, uint32_t mask, Space space, Addresses& address) {
    const uint64_t keep = space == Space::Global ? UINT64_MAX : UINT32_MAX;
    for (uint64_t& a : address) a &= keep;
    const std::vector<AddressShift>& moves = layout.moves[static_cast<size_t>(space)];
    const bool clusters = space == Space::Shared && layout.cluster.count() > 1;
    if (moves.empty() && !clusters) return true;
    std::array<uint64_t, kWarpSize> block{};  // bits above the offset: which block of the cluster
    if (clusters)
        for_lanes(mask, [&](uint32_t lane) {
            const uint64_t kept = kept_shared(address[lane], rank);
            address[lane] = offset_of_address(kept);
            block[lane] = kept - address[lane];
        });
    const auto lowest = static_cast<size_t>(std::countr_zero(mask));
    const AddressShift* first = move_of(moves, address[lowest]);
    bool alike = true;
    for_lanes(mask, [&](uint32_t lane) {
        uint64_t& a = address[lane];
        const AddressShift* own = move_of(moves, a);
        alike = alike && own == first && block[lane] == block[lowest];
        own = own ? own : first;
        a = (own ? (a + own->shift) & keep : a) + block[lane];
    });
    return alike;
}

Result<DeviceLayout> device_layout(const ptx::Instrumented& code, const DeviceBuffer& buffer,
                                   const DecodeOptions& options) {
    if (auto ok = check_code(code); !ok) return ok.error();
    if (auto ok = check_options(code, buffer, options); !ok) return ok.error();
    DeviceLayout layout;
    layout.chunk_bytes = code.chunk_bytes;
    layout.code_bits = code.code_bits;
    layout.codes = code.codes;
    layout.places = code.places;
    layout.one_barrier = code.one_barrier;
    for (size_t i = 0; i < code.sites.size(); ++i) {
        const ptx::Site& site = code.sites[i];
        layout.sites.push_back(
            {site.kind == ptx::SiteKind::Barrier, site.kind == ptx::SiteKind::Atomic, site.lands_later(),
             site.bytes, code.shapes[i].affine, site.space, site.exchange,
             i < code.exchanges.size() ? code.exchanges[i] : ptx::ExchangeOperands{}, site.lanes(),
             ptx::narrow_addresses(site), site.words, site.signal, site.box});
    }
    if (auto ok = set_window(layout, buffer, options); !ok) return ok.error();
    if (auto ok = set_high(layout, options); !ok) return ok.error();
    set_moves(layout, code, buffer, options);
    set_offsets(layout, code, options.block);
    return layout;
}

}  // namespace tilescope::trace
