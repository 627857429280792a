#include "app/pictures/box_picture.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/pictures/pictures.h"
#include "core/base/words.h"

namespace tilescope::pictures {

using look::BoxView;

namespace {

constexpr size_t kPerLine = BoxView::kLine / BoxView::kChunk;

std::string chunk_words(const BoxView& box, size_t index) {
    const BoxView::Chunk& chunk = box.chunks[index];
    const uint64_t byte = box.first + index * BoxView::kChunk;
    if (chunk.bytes == 0) return fmt::format("byte {} of shared memory: nothing of the box", grouped(byte));
    const char* const row = box.box == ptx::Box::Tile ? "row (column of B)" : "row";
    return fmt::format("byte {} of shared memory: chunk {} of {} {}{}", grouped(byte), chunk.number, row,
                       chunk.row,
                       chunk.outside == 0            ? ""
                       : chunk.outside < chunk.bytes ? ", a part outside the tensor"
                                                     : ", outside the tensor");
}

}  // namespace

std::string box_picture(Ui& ui, const Rect& area, const BoxView& box, Rgba color) {
    std::string under;
    const float small = line_height(ui, Size::Small);
    const Font font = ui.font(Face::Mono, Size::Small);
    const float label = draw::text_size(font, fmt::format("row {}", box.rows)).x + ui.px(8);
    const float width = std::min((area.width() - label) / static_cast<float>(kPerLine), ui.px(56));
    const bool wide = width >= draw::text_size(font, "0").x + ui.px(4);
    // Numbers are worth more than lines: the pattern comes again.
    constexpr float kFewest = 4;
    const float room = area.height() - 2 * small, named = small + ui.px(2);
    const float high =
        wide && room >= kFewest * named
            ? named
            : std::clamp(room / static_cast<float>(std::max<size_t>(box.lines(), 1)), ui.px(6), named);
    const bool numbers = wide && high >= small;
    const auto fitting = static_cast<size_t>(std::max(0.f, (area.height() - 2 * small) / high));
    const size_t lines = std::min(box.lines(), fitting);
    note(ui, {area.min.x + label, area.min.y}, area.width() - label,
         {"128 bytes a line: which chunk of its row is where", "which chunk of its row is where",
          "chunks of rows"});
    float y = area.min.y + small;
    for (size_t at = 0; at < lines; ++at, y += high) {
        const BoxView::Chunk* const first = &box.chunks[at * kPerLine];
        const auto held =
            std::find_if(first, first + kPerLine, [](const BoxView::Chunk& c) { return c.bytes > 0; });
        if (numbers && held != first + kPerLine)
            line(ui, {area.min.x, y}, label, Face::Mono, Size::Small, Ink::TextFaint,
                 fmt::format("row {}", held->row));
        for (size_t i = 0; i < kPerLine; ++i) {
            const BoxView::Chunk& chunk = first[i];
            const float x = area.min.x + label + width * static_cast<float>(i);
            const Rect cell{{std::round(x), std::round(y)},
                            {std::round(x + width) - 1, std::round(y + high) - 1}};
            const float strength = 0.12f + 0.8f * static_cast<float>(chunk.number) /
                                               static_cast<float>(std::max(box.in_row, 2u));
            ui.list.AddRectFilled(cell.min, cell.max,
                                  chunk.bytes == 0 ? ui.ink(Ink::Cell) : with_alpha(color, strength));
            if (chunk.outside > 0) hatch(ui, cell, ui.ink(Ink::LineStrong), ui.px(4));
            if (numbers && chunk.bytes > 0)
                draw_text_in(ui.list, font, cell.min, cell.max,
                             strength > 0.6f ? ui.context.palette.text_on(color) : ui.ink(Ink::Text),
                             std::to_string(chunk.number));
            if (ui.over(cell)) under = chunk_words(box, at * kPerLine + i);
        }
    }
    if (lines < box.lines())
        note(ui, {area.min.x + label, y}, area.width() - label,
             fmt::format("and {} more", counted(box.lines() - lines, "line")));
    return under;
}

}  // namespace tilescope::pictures
