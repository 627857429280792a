// Which element of P a thread computes: the usual formulas, held against what the recording stores.
//
//   Row = by T + ty   Col = bx T + tx      thread x walks the columns of P
//   Row = bx T + tx   Col = by T + ty      swapped: thread x walks the rows
//   Row = by T + tx   Col = bx T + ty      swapped inside the block alone, and
//   Row = bx T + ty   Col = by T + tx      among the blocks alone
#include <algorithm>
#include <array>

#include "core/recording/product.h"

namespace tilescope::analysis {
namespace {

// Visits what a block stores to P: visit(thread x, thread y, element); ends where visit says false.
template <class Visit>
bool each_store(const trace::Trace& trace, const Product& product, const trace::Block& block, Visit visit) {
    const Array& P = trace.launch.arrays[product.P];
    bool good = true;
    for (uint64_t step = block.first; good && step < block.first + block.count; ++step) {
        const trace::Form& form = trace.form_of(step);
        if (form.array != product.P || trace.sites[form.site].kind != ptx::SiteKind::Store) continue;
        const trace::Access access = trace::decode(trace, step);
        for_lanes(access.mask, [&](uint32_t lane) {
            const uint32_t thread = access.warp * kWarpSize + lane, T = product.tile;
            good = good && visit(thread % T, thread / T, access.offset[lane] / P.element_bytes());
        });
    }
    return good;
}

uint64_t value_of(const Mapping::Index& index, uint32_t T, const trace::Block& block, uint32_t tx,
                  uint32_t ty) {
    return uint64_t{index.block_y ? block.y : block.x} * T + (index.thread_y ? ty : tx);
}

}  // namespace

std::optional<Mapping> mapping_of(const trace::Trace& trace, const Product& product) {
    if (trace.blocks.empty() || product.n == 0 || product.tile == 0) return std::nullopt;
    std::vector<const trace::Block*> blocks{&trace.blocks.front(), &trace.blocks.back()};
    const auto off = std::ranges::find_if(trace.blocks, [](const trace::Block& b) { return b.x != b.y; });
    if (off != trace.blocks.end()) blocks.push_back(&*off);
    constexpr std::array<Mapping, 4> kMappings{{{{true, true}, {false, false}},
                                                {{false, false}, {true, true}},
                                                {{true, false}, {false, true}},
                                                {{false, true}, {true, false}}}};
    bool any = false;
    for (const Mapping& mapping : kMappings) {
        const bool good = std::ranges::all_of(blocks, [&](const trace::Block* block) {
            return each_store(trace, product, *block, [&](uint32_t tx, uint32_t ty, uint64_t element) {
                any = true;
                return element / product.n == value_of(mapping.row, product.tile, *block, tx, ty) &&
                       element % product.n == value_of(mapping.col, product.tile, *block, tx, ty);
            });
        });
        if (!any) return std::nullopt;
        if (good) return mapping;
    }
    return std::nullopt;
}

}  // namespace tilescope::analysis
