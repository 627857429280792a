#include "app/look/relations.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "core/analysis/banks.h"
#include "core/base/contents.h"
#include "core/base/words.h"

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
            for_lanes(access.mask, [&](uint32_t lane) {
                if (access.offset[lane] / trace.launch.arrays[array].element_bytes() != element) return;
                ++loads.lanes;
                loads.first_step = std::min(loads.first_step, step);
                loads.threads.push_back(access.warp * kWarpSize + lane);
            });
        }
    }
    std::sort(loads.threads.begin(), loads.threads.end());
    loads.threads.erase(std::unique(loads.threads.begin(), loads.threads.end()), loads.threads.end());
    return loads;
}

// An element that a thread stores; of a product with the row of M and the column of N behind it.
void add_output(Relations& to, const trace::Trace& trace, const BlockIndex& index, uint8_t array,
                uint64_t element) {
    const CellRect cell = draw::cell_on_sheet(trace.launch.arrays[array], element);
    to.cells.emplace_back(array, cell);
    if (!index.product || array != index.product->P) return;
    const analysis::Product& product = *index.product;
    to.cells.emplace_back(product.M, CellRect{cell.row0, cell.row1, 0, product.k});
    to.cells.emplace_back(product.N, CellRect{0, product.k, cell.col0, cell.col1});
}

std::string output_text(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint64_t element) {
    const Array& output = trace.launch.arrays[array];
    const std::string name = element_name(output, element);
    if (!index.product || array != index.product->P) return "stores " + name;
    return fmt::format("{} = row {} of {} times column {} of {}", name, element / output.cols,
                       trace.launch.arrays[index.product->M].name, element % output.cols,
                       trace.launch.arrays[index.product->N].name);
}

void thread_relations(Relations& to, const trace::Trace& trace, const BlockIndex& index,
                      const playback::BlockReplay* replay, uint32_t thread, uint32_t step) {
    to.threads.push_back(thread);
    to.lines.push_back(fmt::format("{}: warp {}, lane {}", thread_name(trace.launch.block, thread),
                                   thread / kWarpSize, thread % kWarpSize));
    const auto output = output_of(index, thread);
    if (!output) {
        to.lines.emplace_back(
            index.product
                ? fmt::format(
                      "It has no element of {}: it lies beyond the matrix, and only loads for others.",
                      trace.launch.arrays[index.product->P].name)
                : std::string("It stores to no array."));
        return;
    }
    add_output(to, trace, index, output->array, output->index);
    to.lines.push_back(output_text(trace, index, output->array, output->index));
    if (replay == nullptr) return;
    const auto sum = replay->running_sum(thread, step);
    if (sum)
        to.lines.push_back(fmt::format("its sum so far: {}", short_value(*sum)));
    else if (index.product)
        to.lines.emplace_back("no product added yet");
}

void element_relations(Relations& to, const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, const Pick& pick, uint32_t step) {
    const Array& array = trace.launch.arrays[pick.array];
    if (array.writes()) {
        for (uint32_t thread = 0; thread < index.output.size(); ++thread) {
            if (index.output[thread] != playback::Element{pick.array, pick.index}) continue;
            thread_relations(to, trace, index, replay, thread, step);
            std::swap(to.lines[0], to.lines[1]);
            return;
        }
    }
    if (!array.reads()) {
        add_output(to, trace, index, pick.array, pick.index);
        if (index.product)
            to.lines = {output_text(trace, index, pick.array, pick.index), "Another block computes it."};
        else
            to.lines = {element_name(array, pick.index), "This block does not store it."};
        return;
    }
    to.cells.emplace_back(pick.array, draw::cell_on_sheet(array, pick.index));
    to.lines.push_back(fmt::format("{} = {}", element_name(array, pick.index),
                                   short_value(initial_value(array, pick.index))));
    const Loads loads = loads_of(trace, index, pick.array, pick.index);
    to.threads = loads.threads;
    if (loads.lanes == 0) {
        to.lines.emplace_back("This block does not load it.");
    } else if (loads.threads.size() == 1) {
        to.lines.push_back(fmt::format(
            "loaded {} by {}, at step {}", loads.lanes == 1 ? "once" : fmt::format("{} times", loads.lanes),
            thread_name(trace.launch.block, loads.threads[0]), grouped(loads.first_step + 1)));
    } else {
        to.lines.push_back(fmt::format("loaded {} times by {} of this block, first at step {}",
                                       grouped(loads.lanes), counted(loads.threads.size(), "thread"),
                                       grouped(loads.first_step + 1)));
    }
    if (replay == nullptr) return;
    for (const uint8_t shared : index.roles.shared) {
        const Array& tile = trace.launch.arrays[shared];
        for (uint64_t cell = 0; cell < tile.elements(); ++cell) {
            const playback::CellState state = replay->cell(shared, cell, step);
            if (!state.written || state.source != playback::Element{pick.array, pick.index}) continue;
            to.cells.emplace_back(shared, draw::cell_on_sheet(tile, cell));
            to.lines.push_back(
                fmt::format("now in {}, read {} times from there", element_name(tile, cell), state.reads));
        }
    }
}

void shared_relations(Relations& to, const trace::Trace& trace, const BlockIndex& index,
                      const playback::BlockReplay* replay, const Pick& pick, uint32_t step) {
    const Array& tile = trace.launch.arrays[pick.array];
    to.cells.emplace_back(pick.array, draw::cell_on_sheet(tile, pick.index));
    const std::string name = element_name(tile, pick.index);
    const uint64_t word = (tile.base + pick.index * tile.element_bytes()) / analysis::kBankBytes;
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
    if (state.source.array != trace::kNoArray) {
        const Array& source = trace.launch.arrays[state.source.array];
        from = element_name(source, state.source.index);
        to.cells.emplace_back(state.source.array, draw::cell_on_sheet(source, state.source.index));
    } else if (number_of(state.value) == 0) {
        from = index.product ? "a zero, for an element outside the matrix" : "a zero";
    }
    to.lines.push_back("holds " + from);
    to.lines.push_back(fmt::format("stored by {} at step {}", thread_name(trace.launch.block, state.thread),
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
    const uint64_t threads = trace.launch.block.count();
    switch (pick.kind) {
        case Pick::Kind::Thread:
            if (pick.thread < threads) thread_relations(to, trace, index, replay, pick.thread, step);
            break;
        case Pick::Kind::Warp: {
            CellRect owned;
            ElementBox box;
            uint8_t output = trace::kNoArray;  // that its threads store to
            for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
                const uint32_t thread = pick.warp * kWarpSize + lane;
                if (thread >= threads) break;
                to.threads.push_back(thread);
                const auto element = output_of(index, thread);
                if (!element || (output != trace::kNoArray && output != element->array)) continue;
                output = element->array;
                owned.include(draw::cell_on_sheet(trace.launch.arrays[output], element->index));
                box.include(position_of(trace.launch.arrays[output], static_cast<int64_t>(element->index)));
            }
            if (to.threads.empty()) break;
            to.lines.push_back(fmt::format("warp {}: {} to {}", pick.warp,
                                           thread_name(trace.launch.block, to.threads.front()),
                                           thread_index(trace.launch.block, to.threads.back())));
            if (!owned.empty()) {
                to.cells.emplace_back(output, owned);
                to.lines.push_back(fmt::format("{} {}", index.product ? "computes" : "stores",
                                               elements_text(trace.launch.arrays[output], box)));
            }
            break;
        }
        case Pick::Kind::Element:
            if (pick.array < trace.launch.arrays.size() &&
                pick.index < trace.launch.arrays[pick.array].elements())
                element_relations(to, trace, index, replay, pick, step);
            break;
        case Pick::Kind::SharedCell:
            if (pick.array < trace.launch.arrays.size() &&
                pick.index < trace.launch.arrays[pick.array].elements())
                shared_relations(to, trace, index, replay, pick, step);
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
