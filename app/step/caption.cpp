#include "app/step/caption.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/look/request.h"

namespace tilescope::step {
namespace {

bool has_shared(const trace::Trace& trace) {
    return std::any_of(
        trace.launch.arrays.begin(), trace.launch.arrays.end(),
        [](const Array& a) { return a.space == Space::Shared; });
}

// "rows 0 and 1 of the M tile", "M[3,0..15]", "column 3 of Mds".
std::string place(const trace::Trace& trace, const BlockIndex& index, const look::RequestView& request) {
    if (request.array == trace::kNoArray) return "memory outside every array";
    const Array& array = trace.launch.arrays[request.array];
    const ElementBox& box = request.touched;
    const std::string exact = elements_text(array, box);
    if (array.rank != 2 || box.one() || box.empty()) return exact;
    CellRect whole{0, array.rows, 0, array.cols};
    std::string name = array.name;
    if (array.space == Space::Global) {
        // Of a product that goes through shared memory in tiles, relative to the tile.
        if (!index.product || !array.reads() || !has_shared(trace)) return exact;
        const CellRect tile = tile_of_phase(trace, index, request.array, index.phase_at(request.step));
        if (!tile.empty()) {
            whole = tile;
            name = fmt::format("the {} tile", array.name);
        }
    }
    const auto first_row = static_cast<uint32_t>(box.first.row),
               first_col = static_cast<uint32_t>(box.first.col);
    const auto rows = static_cast<uint32_t>(box.last.row) + 1 - first_row,
               cols = static_cast<uint32_t>(box.last.col) + 1 - first_col;
    const uint32_t row = first_row - std::min(whole.row0, first_row),
                   col = first_col - std::min(whole.col0, first_col);
    if (cols >= whole.cols() && rows >= whole.rows() && rows > 1) return "all of " + name;
    if (cols >= whole.cols()) return fmt::format("{} of {}", range_words("row", row, row + rows), name);
    if (rows >= whole.rows()) return fmt::format("{} of {}", range_words("column", col, col + cols), name);
    return exact;
}

uint32_t products_after(const playback::BlockReplay& replay, uint32_t step, uint32_t warp) {
    const auto& products = replay.products();
    const auto first = std::lower_bound(
        products.begin(), products.end(), step,
        [](const playback::MultiplyStep& product, uint32_t s) { return product.after_step < s; });
    const auto last = std::find_if(
        first, products.end(),
        [&](const playback::MultiplyStep& product) { return product.after_step != step; });
    return static_cast<uint32_t>(
        std::count_if(first, last, [&](const playback::MultiplyStep& p) { return p.warp == warp; }));
}

}  // namespace

std::string caption(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    uint32_t step) {
    if (step >= index.steps) return "This block recorded no step.";
    const look::RequestView request = look::request_view(trace, index, step);
    if (request.kind == StepKind::Barrier)
        return fmt::format("Warp {} comes to the barrier. {}", request.warp, request.verdict);
    const std::string where = place(trace, index, request);
    const std::string lanes = counted(static_cast<uint64_t>(std::popcount(request.mask)), "lane");
    const bool global = request.kind == StepKind::GlobalLoad || request.kind == StepKind::GlobalStore;
    const std::string cost = global ? counted(request.cost.global.sectors, "sector")
                                    : counted(request.cost.shared.wavefronts, "wavefront");
    const char* verb = "loads";
    if (request.kind == StepKind::GlobalStore) verb = index.product ? "writes its sums to" : "stores to";
    if (request.kind == StepKind::SharedLoad) verb = "reads";
    if (request.kind == StepKind::SharedStore) verb = "fills";
    std::string text = fmt::format("Warp {} {} {}: {}, {}.", request.warp, verb, where, lanes, cost);
    if (request.kind == StepKind::SharedStore && replay != nullptr && index.product) {
        // Zero fill is worth a word: the cell's source is outside the matrix.
        uint32_t zeros = 0;
        for (const look::LaneView& lane : request.lanes) {
            if (!lane.active) continue;
            const playback::CellState cell = replay->cell(request.array, lane.index, step);
            zeros += cell.written && cell.source.array == trace::kNoArray ? 1 : 0;
        }
        if (zeros > 0)
            text += fmt::format(" {} a zero: the element lies outside the matrix.",
                                zeros == 1 ? "One is" : fmt::format("{} are", zeros));
    }
    if (replay != nullptr && index.product) {
        const uint32_t products = products_after(*replay, step, request.warp);
        if (products == 1) text += " Then every lane adds one product to its sum.";
        if (products > 1) text += fmt::format(" Then every lane adds {} products to its sum.", products);
    }
    return text;
}

std::string hint(const BlockIndex& index, uint32_t step, bool playing) {
    if (playing) return "Space pauses.";
    if (step + 1 >= index.steps)
        return "The end of this block. Home starts it again; a full stop goes to the next block.";
    if (step == 0) return "Press \u2192 for the next request, Space to play, ? for all keys.";
    return "\u2190 \u2192 step, Shift+\u2190 \u2192 phase, [ ] barrier, Space plays.";
}

}  // namespace tilescope::step
