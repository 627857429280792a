#include "core/trace/access.h"

#include <algorithm>
#include <bit>

#include "core/base/cluster.h"
#include "core/ptx/forms.h"

namespace tilescope::trace {

AccessView::AccessView(const Trace& trace, uint64_t step)
    : site_(&trace.sites[trace.form_of(step).site]),
      space_(trace.form_of(step).space),
      access_(decode(trace, step)) {
    if (is_box()) lay_out_box(trace, step);
    if (access_.array != kNoArray) move(static_cast<int64_t>(trace.launch.arrays[access_.array].base));
}

std::optional<TileView> tile_of(const Trace& trace, uint64_t step) {
    const Form& of_step = trace.form_of(step);
    const ptx::Site& site = trace.sites[of_step.site];
    const ptx::Kernel* const kernel = trace.module ? kernel_of(trace, *trace.module) : nullptr;
    if (site.box != ptx::Box::Tile || kernel == nullptr || site.instruction >= kernel->instructions.size())
        return std::nullopt;
    const ptx::Instruction& instruction = kernel->instructions[site.instruction];
    const auto form = ptx::warpgroup_form(instruction);
    if (!form) return std::nullopt;
    TileView tile;
    // That of A comes first, where it has one.
    const bool first = site.id == 0 || trace.sites[site.id - 1].instruction != site.instruction;
    tile.of_a = first && ptx::descriptor_of_a(instruction) != nullptr;
    const ptx::Operand* const flag =
        tile.of_a ? ptx::transposes_a(instruction) : ptx::transposes_b(instruction);
    tile.transposed = flag != nullptr && flag->bits != 0;
    tile.element_bits = ptx::bits_of(form->type(tile.of_a ? ptx::MatrixRole::A : ptx::MatrixRole::B));
    constexpr uint32_t kOwn = ptx::kWarpgroupRows / ptx::kWarpsOfGroup;
    tile.first = tile.of_a ? trace.warp_of(step) % ptx::kWarpsOfGroup * kOwn : 0;
    tile.rows = tile.of_a ? kOwn : form->n;
    tile.bytes = !tile.of_a && form->sparse ? 2 * ptx::kBytesAlongK : ptx::kBytesAlongK;
    const auto words = words_of(trace, step, static_cast<uint32_t>(std::countr_zero(of_step.mask)));
    tile.descriptor = ptx::matrix_descriptor(uint64_t{words[1]} << 32 | words[0]);
    return tile;
}

// Addresses as the step has them: offsets in its array, where it names one.
void AccessView::lay_out_box(const Trace& trace, uint64_t step) {
    const StepWords of_step(trace, step);
    for_lanes(access_.mask, [&](uint32_t lane) {
        const auto words = of_step.of(lane);
        if (site_->box == ptx::Box::Row) {
            pieces_.push_back({lane, words[0], access_.offset[lane]});
            return;
        }
        const uint64_t base = access_.array == kNoArray ? 0 : trace.launch.arrays[access_.array].base;
        const auto add = [&](uint64_t address, uint32_t bytes) {
            if (!pieces_.empty() && pieces_.back().lane == lane &&
                pieces_.back().address + pieces_.back().bytes == address - base)
                pieces_.back().bytes += bytes;
            else
                pieces_.push_back({lane, bytes, address - base});
        };
        if (const auto tile = tile_of(trace, step)) {
            const uint32_t steps = tile->bytes / tile->piece();
            for (uint32_t i = 0; i < tile->rows * steps; ++i) {
                const uint32_t row = tile->transposed ? i % tile->rows : i / steps,
                               at = tile->transposed ? i / tile->rows : i % steps;
                add(tile->address(tile->first + row, at * tile->piece()), tile->piece());
            }
            return;
        }
        auto copy = site_->box == ptx::Box::Tensor ? tensor_copy(trace, words) : std::nullopt;
        if (!copy) return;
        const uint64_t first = access_.offset[lane] + base, behind = first - static_cast<uint32_t>(first);
        if (space_ == Space::Shared) copy->box.shared = static_cast<uint32_t>(first);
        ptx::TensorRow row;
        for (ptx::TensorRows rows(copy->map, copy->box); rows.next(row);) {
            if (space_ != Space::Shared) {
                if (row.inside_bytes > 0) pieces_.push_back({lane, row.inside_bytes, row.global - base});
                continue;
            }
            ptx::for_pieces(copy->map.swizzle, row, [&](const ptx::TensorPiece& piece) {
                if (copy->box.stores && piece.outside) return;
                add(piece.shared + behind, piece.bytes);  // perhaps in another block (core/base/cluster.h)
            });
        }
    });
}

PlaceElsewhere place_elsewhere(const Trace& trace, const Dim3& block, uint64_t address) {
    PlaceElsewhere place;
    place.block = is_of_other_block(address) ? block_of_rank(trace.launch.cluster, block,
                                                             static_cast<uint32_t>(rank_of_address(address)))
                                             : block;
    place.offset = offset_of_address(address);
    for (size_t i = 0; i < trace.launch.arrays.size() && i < kNoArray; ++i) {
        const Array& array = trace.launch.arrays[i];
        if (array.space != Space::Shared || place.offset < array.base ||
            place.offset - array.base >= array.bytes())
            continue;
        place.array = static_cast<uint8_t>(i);
        place.offset -= array.base;
        break;
    }
    return place;
}

ClusterBarrier at_cluster_barrier(const Trace& trace, const ptx::Site& site) {
    if (site.kind != ptx::SiteKind::Barrier) return ClusterBarrier::None;
    const ptx::Kernel* const kernel = trace.module ? kernel_of(trace, *trace.module) : nullptr;
    if (!kernel || site.instruction >= kernel->instructions.size()) return ClusterBarrier::None;
    const ptx::Op op = kernel->instructions[site.instruction].op;
    return op == ptx::Op::ClusterArrive ? ClusterBarrier::Arrives
           : op == ptx::Op::ClusterWait ? ClusterBarrier::Waits
                                        : ClusterBarrier::None;
}

bool shares_memory_in_clusters(const Trace& trace) {
    const std::string& ptx = trace.meta.ptx;
    return has_clusters(trace.launch) &&
           (ptx.find("mapa") != std::string::npos || ptx.find("multicast::cluster") != std::string::npos);
}

Arrivals::Arrivals(const Trace& trace, const Block& block) {
    if (trace.arrival.empty()) return;
    uint64_t number = block.first_arrival;
    for (uint32_t step = 0; step < block.count; ++step)
        if (lands_later(trace, block.first + step)) {
            later_.push_back({step, number < trace.arrival.size() ? trace.arrival[number] : kNeverWaited});
            ++number;
        }
}

std::optional<uint32_t> Arrivals::visible_from(uint32_t step) const {
    const auto at = std::ranges::lower_bound(later_, step, {}, &Later::step);
    if (at == later_.end() || at->step != step) return step + 1;
    return at->visible_from == kNeverWaited ? std::nullopt : std::optional(at->visible_from);
}

ArrivalCursor::ArrivalCursor(const Arrivals& arrivals) : later_(arrivals.later()) {
    for (uint32_t i = 0; i < later_.size(); ++i)
        if (later_[i].visible_from != kNeverWaited) order_.push_back(i);
    std::ranges::stable_sort(order_, {}, [&](uint32_t i) { return later_[i].visible_from; });
}

bool lands_later(const Trace& trace, uint64_t step) {
    return trace.sites[trace.form_of(step).site].lands_later();
}

bool has_arrivals(const Trace& trace) { return std::ranges::any_of(trace.sites, &ptx::Site::past_registers); }

std::optional<Transfer> transfer_of(const Trace& trace, uint64_t step) {
    const ptx::Site& site = trace.sites[trace.form_of(step).site];
    if (!site.past_registers()) return std::nullopt;
    const bool reads = ptx::reads(site.kind);
    Transfer transfer;
    (reads ? transfer.read : transfer.written) = step;
    const Block& block = trace.blocks[block_of(trace, step)];
    const uint32_t warp = trace.warp_of(step), other = reads ? site.id + 1 : site.id - 1;
    // The warp's next step, or its one before.
    for (uint64_t at = step; reads ? ++at < block.first + block.count : at-- > block.first;)
        if (trace.warp_of(at) == warp) {
            if (trace.form_of(at).site == other) (reads ? transfer.written : transfer.read) = at;
            break;
        }
    return transfer;
}

}  // namespace tilescope::trace
