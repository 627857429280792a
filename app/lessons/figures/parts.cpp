// The table of figures, and what several of them are drawn with.
//
//   100 % |          # # #        [#] slots used
//         |    # # # # # #
//         |  # # # # # # #
//           1 2 3 4 5 6 7         the value that is set is lit
#include "app/lessons/figures/parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tilescope::lessons {

// All figures, in the order in which the course meets them.
std::span<const Figure> figures() {
    static const std::vector<Figure> all{
        blocks_figure(),     partition_figure(), gate_figure(),     divergence_figure(), latency_figure(),
        schedule_figure(),   memory_figure(),    bursts_figure(),   reuse_figure(),      roof_figure(),
        tile_width_figure(), layout_figure(),    fragments_figure()};
    return all;
}

void fill(draw::Ui& ui, const Rect& box, Ink ink, float rounding) {
    ui.list.AddRectFilled(box.min, box.max, ui.ink(ink), ui.px(rounding));
    const bool narrow = std::min(box.width(), box.height()) < ui.px(3);
    if (const draw::Rgba edge = ui.context.palette.edge_of(ink);
        ink >= Ink::Product && !narrow && edge != ui.ink(ink))
        ui.list.AddRect(box.min, box.max, edge, ui.px(rounding), 0, std::max(1.f, ui.px(1)));
}

void lost(draw::Ui& ui, const Rect& box) {
    hatch(ui, box, ui.ink(Ink::LineStrong), ui.px(5));
    ui.list.AddRect(box.min, box.max, ui.ink(Ink::LineStrong));
}

void key_of(draw::Ui& ui, ImVec2& at, std::string_view text, const Sign& sign) {
    const float small = line_height(ui, Size::Small), side = ui.px(12), drop = (small - side) / 2;
    sign(ui, {{at.x, at.y + drop}, {at.x + side, at.y + drop + side}});
    at.x += side + ui.px(6);
    at.x += note(ui, at, ui.px(400), text) + ui.px(20);
}
void key_of(draw::Ui& ui, ImVec2& at, std::string_view text, Ink ink, float rounding) {
    key_of(ui, at, text, [&](draw::Ui&, const Rect& box) { fill(ui, box, ink, rounding); });
}

void text_in(draw::Ui& ui, const Rect& box, const std::optional<draw::Font>& font, draw::Rgba ground,
             const std::string& text) {
    if (font) draw::draw_text_in(ui.list, *font, box.min, box.max, ui.context.palette.text_on(ground), text);
}

void unknown(draw::Ui& ui, const Rect& box) {
    ui.list.AddRect(box.min, box.max, ui.ink(Ink::Line), ui.px(3));
    const auto font = ui.context.fonts.for_cells("?", box.width(), box.height(), Size::Body);
    if (!font) return;
    const ImVec2 middle{(box.min.x + box.max.x) / 2,
                        std::round((box.min.y + box.max.y - draw::text_size(*font, "?").y) / 2)};
    put(ui, ui.list, *font, middle, ui.ink(Ink::TextQuiet), "?", Align::Center);
}

void bars_over(draw::Ui& ui, const Rect& rect, const FigureParameter& along, int now,
               std::span<const Bars> bars) {
    const float small = line_height(ui, Size::Small), label = ui.px(76);
    if (rect.height() < small * 2 + ui.px(40)) return;
    const float most = ui.px(260);
    ImVec2 at{rect.min.x + label, rect.min.y};
    for (const Bars& kind : bars) key_of(ui, at, kind.means, kind.ink);
    const float left = rect.min.x + label, top = rect.min.y + small + ui.px(10),
                bottom = std::min(rect.max.y, rect.min.y + most) - small - ui.px(4);
    const auto count = static_cast<size_t>((along.most - along.least) / along.step + 1);
    const float pitch = std::min((rect.max.x - left) / static_cast<float>(count), ui.px(64));
    const float right = left + pitch * static_cast<float>(count);
    for (const int percent : {0, 50, 100}) {
        const float y = bottom - (bottom - top) * static_cast<float>(percent) / 100;
        ui.list.AddLine({left, y}, {right, y}, ui.ink(Ink::Line));
        note(ui, {left - ui.px(8), y - small / 2}, label, fmt::format("{} %", percent), Align::Right);
    }
    // A label where the next one does not touch it.
    const float wide =
        draw::text_size(ui.font(Face::Text, Size::Small), value_words(along, along.most)).x + ui.px(8);
    const auto every = static_cast<size_t>(std::max(1.f, std::ceil(wide / pitch)));
    const auto lit = static_cast<size_t>((now - along.least) / along.step);
    for (size_t value = 0; value < count; ++value) {
        const float x = left + pitch * static_cast<float>(value);
        if (value == lit) fill(ui, {{x, top - ui.px(4)}, {x + pitch, bottom}}, Ink::Raised);
        const float gap = std::max(1.f, pitch * 0.12f),
                    each = (pitch - 2 * gap) / static_cast<float>(bars.size());
        const int named = along.least + static_cast<int>(value) * along.step;
        for (size_t kind = 0; kind < bars.size(); ++kind) {
            const float from = x + gap + each * static_cast<float>(kind);
            const auto share = static_cast<float>(std::clamp(bars[kind].share(named), 0., 1.));
            const draw::Rgba ink = ui.ink(bars[kind].ink);
            ui.list.AddRectFilled({from, bottom - (bottom - top) * share}, {from + each, bottom},
                                  value == lit ? ink : draw::mix(ink, ui.ink(Ink::Panel), 0.45f));
        }
        // The value that is set keeps its label, and the others room for it.
        const bool near = value != lit && value + every > lit && lit + every > value;
        if (value == lit || (value % every == 0 && !near))
            line(ui, {x + pitch / 2, bottom + ui.px(4)}, ui.px(60), value == lit ? Face::Strong : Face::Text,
                 Size::Small, value == lit ? Ink::Text : Ink::TextQuiet, value_words(along, named),
                 Align::Center);
    }
}

}  // namespace tilescope::lessons
