#include "app/look/request.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/look/block_clock.h"

namespace tilescope::look {
namespace {

// Sectors and lines of a global request, lanes that straddle two sectors counted in both.
void lay_out_sectors(const trace::Trace& trace, RequestView& view) {
    const uint64_t base = view.array == trace::kNoArray ? 0 : trace.launch.arrays[view.array].base;
    // Sectors are numbered from the array's start; arrays begin on a 256-byte boundary.
    const uint64_t skew = base % analysis::kLineBytes;
    std::vector<std::pair<uint64_t, uint32_t>> touched;  // sector, lane
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!view.lanes[lane].active) continue;
        const uint64_t first = (view.lanes[lane].offset + skew) / analysis::kSectorBytes;
        const uint64_t last = (view.lanes[lane].offset + skew + view.bytes - 1) / analysis::kSectorBytes;
        for (uint64_t sector = first; sector <= last; ++sector) touched.emplace_back(sector, lane);
    }
    std::sort(touched.begin(), touched.end());
    std::array<uint32_t, 32> used{};  // bytes of a sector as bits, by sector
    for (const auto& [number, lane] : touched) {
        if (view.sectors.empty() || view.sectors.back().number != number) {
            view.sectors.push_back({number, 0, 0});
            const uint64_t line = number / 4;
            if (view.lines.empty() || view.lines.back().number != line)
                view.lines.push_back({line, {-1, -1, -1, -1}});
            view.lines.back().sector[number % 4] = static_cast<int32_t>(view.sectors.size() - 1);
            used.fill(0);
        }
        SectorView& sector = view.sectors.back();
        sector.lanes |= 1u << lane;
        const uint64_t from = view.lanes[lane].offset + skew;
        for (uint64_t byte = std::max(from, number * 32);
             byte < std::min(from + view.bytes, number * 32 + 32); ++byte)
            used[byte % 32] = 1;
        sector.bytes_used = static_cast<uint32_t>(std::count(used.begin(), used.end(), 1u));
        if (from / 32 == number) view.lanes[lane].sector = static_cast<uint32_t>(view.sectors.size() - 1);
    }
}

void lay_out_banks(const trace::Trace& trace, RequestView& view) {
    const uint64_t base = view.array == trace::kNoArray ? 0 : trace.launch.arrays[view.array].base;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!view.lanes[lane].active) continue;
        const uint64_t address = base + view.lanes[lane].offset;
        view.lanes[lane].bank = static_cast<uint32_t>(address / analysis::kBankBytes % analysis::kBanks);
        const uint64_t last = (address + view.bytes - 1) / analysis::kBankBytes;
        for (uint64_t word = address / analysis::kBankBytes; word <= last; ++word) {
            auto& bank = view.banks[word % analysis::kBanks];
            const auto found =
                std::find_if(bank.begin(), bank.end(), [&](const WordView& w) { return w.number == word; });
            if (found != bank.end())
                found->lanes |= 1u << lane;
            else
                bank.push_back({word, 1u << lane});
        }
    }
}

std::string mask_note(const RequestView& view, uint64_t threads) {
    if (view.mask == 0xFFFF'FFFFu) return "";
    const int active = std::popcount(view.mask);
    const uint64_t first = uint64_t{view.warp} * kWarpSize;
    const uint64_t here = threads > first ? std::min<uint64_t>(threads - first, kWarpSize) : 0;
    if (here < kWarpSize && static_cast<uint64_t>(active) == here) {
        return fmt::format("The block has only {} in this warp; its other {} idle.", counted(here, "thread"),
                           here == 31 ? "lane is" : fmt::format("{} lanes are", kWarpSize - here));
    }
    return fmt::format("{} of {} active; {} switched off by a branch.", active, counted(here, "lane"),
                       here - static_cast<uint64_t>(active));
}

const char* verb_of(StepKind kind) {
    switch (kind) {
        case StepKind::GlobalLoad:
            return "loads from";
        case StepKind::GlobalStore:
            return "stores to";
        case StepKind::SharedLoad:
            return "reads";
        case StepKind::SharedStore:
            return "fills";
        case StepKind::Barrier:
            return "waits at the barrier";
    }
    return "";
}

}  // namespace

RequestView request_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    RequestView view;
    if (step >= index.steps) return view;
    const trace::Access access = trace::decode(trace, index.first + step);
    const ptx::Site& site = trace.sites[access.site];
    view.kind = kind_of(trace, index.first + step);
    view.step = step;
    view.site = access.site;
    view.line = site.line;
    view.warp = access.warp;
    view.mask = access.mask;
    view.bytes = site.bytes;
    view.array = access.array;
    const bool known = access.array != trace::kNoArray;
    view.array_name = known ? trace.launch.arrays[access.array].name : std::string("no array");

    const uint64_t threads = trace.launch.block.count();
    const uint32_t element = known ? std::max(trace.launch.arrays[access.array].element_bytes(), 1u) : 4;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        LaneView& to = view.lanes[lane];
        to.thread = access.warp * kWarpSize + lane;
        to.exists = to.thread < threads;
        to.active = (access.mask >> lane & 1) != 0;
        if (!to.active || view.kind == StepKind::Barrier) continue;
        to.offset = access.offset[lane];
        to.index = to.offset / element;
        if (known)
            view.touched.include(
                position_of(trace.launch.arrays[access.array], static_cast<int64_t>(to.index)));
    }
    if (view.kind == StepKind::Barrier) {
        view.title = fmt::format("Warp {} {}", view.warp, verb_of(view.kind));
        view.verdict = barrier_verdict(index, step);
        if (const BarrierTimes* barrier = barrier_of_step(index, step))
            view.mask_note = wait_words(trace, *barrier, view.warp);
        return view;
    }
    view.cost = analysis::cost_of(trace, index.first + step);
    if (view.kind == StepKind::GlobalLoad || view.kind == StepKind::GlobalStore) {
        lay_out_sectors(trace, view);
        view.good = view.cost.global.sectors <= view.cost.global.ideal_sectors;
    } else {
        lay_out_banks(trace, view);
        view.good = view.cost.shared.wavefronts <= view.cost.shared.ideal_wavefronts;
    }
    view.title = fmt::format("Warp {} {} {}", view.warp, verb_of(view.kind), view.array_name);
    view.mask_note = mask_note(view, threads);
    view.verdict = request_verdict(trace, view);
    return view;
}

std::string lane_text(const trace::Trace& trace, const RequestView& request, uint32_t lane) {
    const LaneView& view = request.lanes[lane];
    if (!view.exists) return fmt::format("lane {}: the block has no thread here", lane);
    const std::string thread = thread_name(trace.launch.block, view.thread);
    if (request.kind == StepKind::Barrier)
        return thread + (view.active ? ": waits with its warp" : ": has left the kernel");
    if (!view.active) return thread + ": switched off in this request";
    if (request.array == trace::kNoArray)
        return fmt::format("{}: address {}, in no array", thread, view.offset);
    const Array& array = trace.launch.arrays[request.array];
    const std::string place = array.space == Space::Global
                                  ? fmt::format("sector {}", grouped(request.sectors[view.sector].number))
                                  : fmt::format("bank {}", view.bank);
    return fmt::format("{}: {} = byte {} of {}, {}", thread, element_name(array, view.index),
                       grouped(view.offset), array.name, place);
}

std::vector<std::string> lane_formula(const trace::Trace& trace, const RequestView& request, uint32_t lane) {
    const LaneView& view = request.lanes[lane];
    if (!view.active || request.array == trace::kNoArray || request.kind == StepKind::Barrier) return {};
    const Array& array = trace.launch.arrays[request.array];
    const Position at = position_of(array, static_cast<int64_t>(view.index));
    std::vector<std::string> lines;
    if (array.rank == 2)
        lines.push_back(fmt::format("{}\u00b7{} + {} = {}", at.row, array.cols, at.col, view.index));
    if (array.rank == 3)
        lines.push_back(fmt::format("({}\u00b7{} + {})\u00b7{} + {} = {}", at.slice, array.rows, at.row,
                                    array.cols, at.col, view.index));
    lines.push_back(fmt::format("{}\u00b7{} = byte {}", view.index, array.element_bytes(), view.offset));
    const uint64_t word = (array.base + view.offset) / analysis::kBankBytes;
    lines.push_back(array.space == Space::Global
                        ? fmt::format("{}/32 = sector {}", view.offset, request.sectors[view.sector].number)
                        : fmt::format("word {} mod 32 = bank {}", word, view.bank));
    return lines;
}

}  // namespace tilescope::look
