#include "app/look/box.h"

#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/trace/access.h"

namespace tilescope::look {

namespace {

constexpr uint32_t kMostLines = 4096;

// Puts `bytes` at an address into its chunk; what came first there stays.
class Layout {
public:
    void put(uint32_t address, uint32_t row, uint32_t number, uint32_t bytes, bool outside) {
        BoxView::Chunk& chunk = chunks_[address / BoxView::kChunk];
        if (chunk.bytes == 0) chunk.row = row, chunk.number = number;
        chunk.bytes = std::min(chunk.bytes + bytes, BoxView::kChunk);
        if (outside) chunk.outside = std::min(chunk.outside + bytes, BoxView::kChunk);
    }
    void lay_out(BoxView& view) const {
        if (chunks_.empty()) return;
        constexpr uint32_t kPerLine = BoxView::kLine / BoxView::kChunk;
        const uint32_t first = chunks_.begin()->first / kPerLine * kPerLine;
        const uint32_t end = (chunks_.rbegin()->first / kPerLine + 1) * kPerLine;
        view.first = uint64_t{first} * BoxView::kChunk;
        view.chunks.resize(std::min(end - first, kMostLines * kPerLine));
        for (const auto& [number, chunk] : chunks_)
            if (number - first < view.chunks.size()) view.chunks[number - first] = chunk;
    }

private:
    std::map<uint32_t, BoxView::Chunk> chunks_;
};

std::string swizzle_words(ptx::Swizzle swizzle) {
    switch (swizzle) {
        case ptx::Swizzle::None: return "no swizzle: rows lie as they are";
        case ptx::Swizzle::B32: return "swizzle 32B: address bit 4 is xored with bit 7";
        case ptx::Swizzle::B64: return "swizzle 64B: address bits 4 and 5 are xored with bits 7 and 8";
        case ptx::Swizzle::B128: return "swizzle 128B: address bits 4 to 6 are xored with bits 7 to 9";
        default: return fmt::format("swizzle {}", ptx::name_of(swizzle));
    }
}

void lay_out_tensor(const trace::TensorCopy& copy, BoxView& view) {
    Layout layout;
    ptx::TensorRow row;
    uint32_t number = 0, zeros = 0;
    for (ptx::TensorRows rows(copy.map, copy.box); rows.next(row); ++number) {
        uint32_t at = 0;
        ptx::for_pieces(copy.map.swizzle, row, [&](const ptx::TensorPiece& piece) {
            layout.put(piece.shared, number, at / BoxView::kChunk, piece.bytes, piece.outside);
            if (piece.outside) zeros += piece.bytes;
            at += piece.bytes;
        });
    }
    layout.lay_out(view);
    const uint32_t bytes = ptx::row_elements(copy.map) * ptx::size_of(copy.map.type);
    view.rows = number;
    view.in_row = (bytes + BoxView::kChunk - 1) / BoxView::kChunk;
    view.verdict = fmt::format("{} of {}, {}.", counted(number, "row"), counted(bytes, "byte"),
                               swizzle_words(copy.map.swizzle));
    const uint32_t period = ptx::rule_of(copy.map.swizzle).period;
    if (copy.map.swizzle != ptx::Swizzle::None && copy.box.shared % period != 0)
        view.note = fmt::format(
            "The tile begins {} behind a boundary of {}, at which the pattern begins: readers must count "
            "rows from there.",
            counted(copy.box.shared % period, "byte"), grouped(period));
    else if (zeros > 0)
        view.note =
            fmt::format("{} lie outside the tensor and are filled with {}; they count for the barrier.",
                        counted(zeros, "byte"), copy.map.fills_with_nan ? "NaN" : "zeros");
}

std::string offsets_words(const ptx::MatrixDescriptor& descriptor, bool transposed) {
    const bool swizzled = descriptor.swizzle != ptx::Swizzle::None;
    const std::string stride = grouped(descriptor.stride), leading = grouped(descriptor.leading);
    if (!transposed && swizzled)
        return fmt::format("SBO {} bytes lead from 8 rows to the next 8; LBO is not used.", stride);
    if (!transposed)
        return fmt::format("LBO {} bytes lead 16 bytes along k, SBO {} from 8 rows to the next 8.", leading,
                           stride);
    return swizzled
               ? fmt::format("LBO {} bytes lead to the next {} of a row, SBO {} 8 along k.", leading,
                             ptx::rule_of(descriptor.swizzle).span, stride)
               : fmt::format("LBO {} bytes lead 8 along k, SBO {} 16 bytes along a row.", leading, stride);
}

void lay_out_tile(const trace::TileView& tile, BoxView& view) {
    Layout layout;
    const uint32_t piece = tile.piece();
    for (uint32_t row = tile.first; row < tile.first + tile.rows; ++row)
        for (uint32_t at = 0; at < tile.bytes; at += piece)
            layout.put(tile.address(row, at), row, at / BoxView::kChunk, piece, false);
    layout.lay_out(view);
    view.rows = tile.rows, view.in_row = tile.bytes / BoxView::kChunk;
    view.verdict = fmt::format("{}{} of {} along k, {}-major, {}.", tile.of_a ? "The warp's " : "",
                               counted(tile.rows, tile.of_a ? "row" : "column"), counted(tile.bytes, "byte"),
                               !tile.transposed ? "K"
                               : tile.of_a      ? "M"
                                                : "N",
                               swizzle_words(tile.descriptor.swizzle));
    view.note = offsets_words(tile.descriptor, tile.transposed);
}

}  // namespace

std::optional<BoxView> box_view(const trace::Trace& trace, uint64_t step) {
    const trace::Form& form = trace.form_of(step);
    const ptx::Site& site = trace.sites[form.site];
    if (form.space != Space::Shared || (site.box != ptx::Box::Tensor && site.box != ptx::Box::Tile))
        return {};
    const auto lane = static_cast<uint32_t>(std::countr_zero(form.mask));
    BoxView view;
    view.box = site.box;
    if (const auto tile = trace::tile_of(trace, step)) {
        lay_out_tile(*tile, view);
    } else if (auto copy = trace::tensor_copy(trace, trace::words_of(trace, step, lane))) {
        const trace::AccessView access(trace, step);
        copy->box.shared = static_cast<uint32_t>(access.addresses()[lane]);
        lay_out_tensor(*copy, view);
    }
    if (view.chunks.empty()) return {};
    return view;
}

}  // namespace tilescope::look
