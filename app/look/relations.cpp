#include "app/look/relations.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "kernels/record.h"

namespace tilescope::look {
namespace {

struct Loads {
    uint32_t lanes = 0;  // lane loads of the element by this block
    uint32_t first_step = playback::kNever;
    std::vector<uint32_t> threads;
};

// Who in the block loaded an element of a global array. Looks at no more than kMost requests.
Loads loads_of(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint64_t element) {
    constexpr size_t kMost = 20'000;
    Loads loads;
    size_t seen = 0;
    for (const ptx::Site& site : trace.sites) {
        if (site.kind != ptx::SiteKind::Load || site.space != Space::Global) continue;
        for (const uint32_t step : index.steps_of_site[site.id]) {
            if (++seen > kMost) return loads;
            if (trace.form_of(index.first + step).array != array) continue;
            const trace::Access access = trace::decode(trace, index.first + step);
            for (uint32_t mask = access.mask; mask != 0; mask &= mask - 1) {
                const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
                if (access.offset[lane] / std::max(trace.arrays[array].element_bytes, 1u) != element)
                    continue;
                ++loads.lanes;
                loads.first_step = std::min(loads.first_step, step);
                loads.threads.push_back(access.warp * kWarpSize + lane);
            }
        }
    }
    std::sort(loads.threads.begin(), loads.threads.end());
    loads.threads.erase(std::unique(loads.threads.begin(), loads.threads.end()), loads.threads.end());
    return loads;
}

// The row of M and column of N behind an element of P.
void add_factors(Relations& to, const trace::Trace& trace, const Roles& roles, uint64_t element) {
    const Array& P = trace.arrays[static_cast<size_t>(roles.p)];
    const auto row = static_cast<uint32_t>(element / P.cols), col = static_cast<uint32_t>(element % P.cols);
    to.cells.emplace_back(static_cast<uint8_t>(roles.p), CellRect{row, row + 1, col, col + 1});
    if (roles.m >= 0) {
        to.cells.emplace_back(static_cast<uint8_t>(roles.m),
                              CellRect{row, row + 1, 0, trace.arrays[static_cast<size_t>(roles.m)].cols});
    }
    if (roles.n >= 0) {
        to.cells.emplace_back(static_cast<uint8_t>(roles.n),
                              CellRect{0, trace.arrays[static_cast<size_t>(roles.n)].rows, col, col + 1});
    }
}

std::string factors_text(const trace::Trace& trace, const Roles& roles, uint64_t element) {
    const Array& P = trace.arrays[static_cast<size_t>(roles.p)];
    return fmt::format("{} = row {} of M times column {} of N", element_name(P, element), element / P.cols,
                       element % P.cols);
}

void thread_relations(Relations& to, const trace::Trace& trace, const BlockIndex& index,
                      const playback::BlockReplay* replay, const Roles& roles, uint32_t thread,
                      uint32_t step) {
    to.threads.push_back(thread);
    to.lines.push_back(fmt::format("{}: warp {}, lane {}", thread_name(trace.meta, thread),
                                   thread / kWarpSize, thread % kWarpSize));
    const int64_t element = output_of(index, thread);
    if (element < 0 || roles.p < 0) {
        to.lines.emplace_back(
            "It has no element of P: it lies beyond the matrix, and only loads for others.");
        return;
    }
    add_factors(to, trace, roles, static_cast<uint64_t>(element));
    to.lines.push_back(factors_text(trace, roles, static_cast<uint64_t>(element)));
    if (replay == nullptr) return;
    const auto sum = replay->running_sum(thread, step);
    to.lines.push_back(sum ? fmt::format("its sum so far: {}", short_value(*sum))
                           : std::string("no product added yet"));
}

void element_relations(Relations& to, const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, const Roles& roles, const Pick& pick,
                       uint32_t step) {
    const Array& array = trace.arrays[pick.array];
    if (array.role == ArrayRole::Output) {
        for (uint32_t thread = 0; thread < index.output.size(); ++thread) {
            if (index.output[thread] != static_cast<int64_t>(pick.index)) continue;
            thread_relations(to, trace, index, replay, roles, thread, step);
            std::swap(to.lines[0], to.lines[1]);
            return;
        }
        add_factors(to, trace, roles, pick.index);
        to.lines = {factors_text(trace, roles, pick.index), "Another block computes it."};
        return;
    }
    const auto row = static_cast<uint32_t>(pick.index / array.cols),
               col = static_cast<uint32_t>(pick.index % array.cols);
    to.cells.emplace_back(pick.array, CellRect{row, row + 1, col, col + 1});
    const float value = kernels::input_value(trace.meta.seed, pick.array == roles.m ? 0 : 1, pick.index);
    to.lines.push_back(fmt::format("{} = {}", element_name(array, pick.index), short_value(value)));
    const Loads loads = loads_of(trace, index, pick.array, pick.index);
    to.threads = loads.threads;
    if (loads.lanes == 0) {
        to.lines.emplace_back("This block does not load it.");
    } else if (loads.threads.size() == 1) {
        to.lines.push_back(fmt::format(
            "loaded {} by {}, at step {}", loads.lanes == 1 ? "once" : fmt::format("{} times", loads.lanes),
            thread_name(trace.meta, loads.threads[0]), grouped(loads.first_step + 1)));
    } else {
        to.lines.push_back(fmt::format("loaded {} times by {} of this block, first at step {}",
                                       grouped(loads.lanes), counted(loads.threads.size(), "thread"),
                                       grouped(loads.first_step + 1)));
    }
    if (replay == nullptr) return;
    for (const uint8_t shared : roles.shared) {
        const Array& tile = trace.arrays[shared];
        for (uint64_t cell = 0; cell < uint64_t{tile.rows} * tile.cols; ++cell) {
            const playback::CellState state = replay->cell(shared, cell, step);
            if (!state.written || state.source_array != pick.array || state.source_index != pick.index)
                continue;
            const auto r = static_cast<uint32_t>(cell / tile.cols),
                       c = static_cast<uint32_t>(cell % tile.cols);
            to.cells.emplace_back(shared, CellRect{r, r + 1, c, c + 1});
            to.lines.push_back(
                fmt::format("now in {}, read {} times from there", element_name(tile, cell), state.reads));
        }
    }
}

void shared_relations(Relations& to, const trace::Trace& trace, const playback::BlockReplay* replay,
                      const Pick& pick, uint32_t step) {
    const Array& tile = trace.arrays[pick.array];
    const auto row = static_cast<uint32_t>(pick.index / tile.cols),
               col = static_cast<uint32_t>(pick.index % tile.cols);
    to.cells.emplace_back(pick.array, CellRect{row, row + 1, col, col + 1});
    const std::string name = element_name(tile, pick.index);
    const uint64_t word = (tile.base + pick.index * tile.element_bytes) / analysis::kBankBytes;
    const std::string bank = fmt::format("bank {}", word % analysis::kBanks);
    if (replay == nullptr) {
        to.lines = {fmt::format("{}, {}", name, bank), "Its values are being worked out."};
        return;
    }
    const playback::CellState state = replay->cell(pick.array, pick.index, step);
    if (!state.written) {
        to.lines = {fmt::format("{}, {}", name, bank), "Nothing has been stored here yet."};
        return;
    }
    to.threads.push_back(state.thread);
    to.lines.push_back(fmt::format("{} = {}, {}", name, short_value(state.value), bank));
    std::string from = "a computed value";
    if (state.source_array != trace::kNoArray) {
        const Array& source = trace.arrays[state.source_array];
        from = element_name(source, state.source_index);
        const auto r = static_cast<uint32_t>(state.source_index / source.cols);
        const auto c = static_cast<uint32_t>(state.source_index % source.cols);
        to.cells.emplace_back(state.source_array, CellRect{r, r + 1, c, c + 1});
    } else if (state.value == 0) {
        from = "a zero, for an element outside the matrix";
    }
    to.lines.push_back("holds " + from);
    to.lines.push_back(fmt::format("stored by {} at step {}", thread_name(trace.meta, state.thread),
                                   grouped(state.step + 1)));
    to.lines.push_back(state.reads == 1 ? std::string("read once since")
                                        : fmt::format("read {} times since", grouped(state.reads)));
}

}  // namespace

bool Relations::has_thread(uint32_t thread) const {
    return std::find(threads.begin(), threads.end(), thread) != threads.end();
}

Relations relations(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    const Pick& pick, uint32_t step) {
    Relations to;
    const Roles roles = roles_of(trace);
    const uint64_t threads = trace.meta.block.count();
    switch (pick.kind) {
        case Pick::Kind::Thread:
            if (pick.thread < threads) thread_relations(to, trace, index, replay, roles, pick.thread, step);
            break;
        case Pick::Kind::Warp: {
            CellRect owned;
            for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
                const uint32_t thread = pick.warp * kWarpSize + lane;
                if (thread >= threads) break;
                to.threads.push_back(thread);
                const int64_t element = output_of(index, thread);
                if (element < 0 || roles.p < 0) continue;
                const uint32_t cols = trace.arrays[static_cast<size_t>(roles.p)].cols;
                owned.include(static_cast<uint32_t>(element) / cols, static_cast<uint32_t>(element) % cols);
            }
            if (to.threads.empty()) break;
            to.lines.push_back(fmt::format("warp {}: {} to {}", pick.warp,
                                           thread_name(trace.meta, to.threads.front()),
                                           thread_name(trace.meta, to.threads.back()).substr(7)));
            if (!owned.empty()) {
                to.cells.emplace_back(static_cast<uint8_t>(roles.p), owned);
                to.lines.push_back(fmt::format("computes P{}", rect_text(owned)));
            }
            break;
        }
        case Pick::Kind::Element:
            if (pick.array < trace.arrays.size() &&
                pick.index * trace.arrays[pick.array].element_bytes < trace.arrays[pick.array].bytes()) {
                element_relations(to, trace, index, replay, roles, pick, step);
            }
            break;
        case Pick::Kind::SharedCell:
            if (pick.array < trace.arrays.size() &&
                pick.index * trace.arrays[pick.array].element_bytes < trace.arrays[pick.array].bytes()) {
                shared_relations(to, trace, replay, pick, step);
            }
            break;
        case Pick::Kind::Site:
            if (pick.site < trace.sites.size()) {
                const ptx::Site& site = trace.sites[pick.site];
                to.lines.push_back(fmt::format("line {}: {} by this block so far, {} in all", site.line,
                                               counted(hits_so_far(index, pick.site, step), "request"),
                                               grouped(index.steps_of_site[pick.site].size())));
            }
            break;
        default:
            break;
    }
    return to;
}

}  // namespace tilescope::look
