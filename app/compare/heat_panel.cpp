// The panel of one recording: which it is, where it stands, and the maps of its matrices (compare_maps.cpp).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/compare/opening.h"
#include "app/compare/panels.h"
#include "app/input/panels.h"
#include "app/session/playing.h"

namespace tilescope::compare {

namespace {

// Which recording it is, and where it stands; as much of both as fits. Returns the height taken.
float whose(Ui& ui, const Rect& in, const Pane& pane) {
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    const trace::Meta& meta = pane.trace.meta;
    const float mark = badge(ui, {in.min.x, in.min.y}, body, pane.letter) + ui.px(8);
    const float title = line(ui, {in.min.x + mark, in.min.y}, in.width() - mark, Face::Strong, Size::Body,
                             Ink::Text, pane.index.product ? fmt::format("{} T={}", meta.kernel, pane.index.product->tile) : meta.kernel);
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const std::string device = meta.backend == trace::Backend::Gpu ? meta.device : "CPU lockstep";
    const float room = in.width() - mark - title - ui.px(8);
    if (draw::text_size(font, device).x <= room)
        line(ui, {in.max.x, in.min.y + ui.px(3)}, room, Face::Text, Size::Small, Ink::TextQuiet, device,
             draw::Align::Right);
    const trace::Block& block = pane.trace.blocks[pane.cursor.block];
    const std::string step =
        fmt::format("block ({},{}), step {}", block.x, block.y, grouped(pane.cursor.step + 1));
    const std::string of = step + " of " + grouped(pane.index.steps);
    const std::string all = of + ", " + look::phase_text(pane.index, pane.cursor.step);
    const auto fits = [&](const std::string& text) { return draw::text_size(font, text).x <= in.width(); };
    line(ui, {in.min.x, in.min.y + body}, in.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fits(all)  ? all
         : fits(of) ? of
                    : step);
    return body + small + ui.px(8);
}

}  // namespace

uint32_t most_loads(const Pane& pane) {
    uint32_t most = 0;
    for (const uint32_t loads : pane.totals.most_loads) most = std::max(most, loads);
    return most;
}

void heat_panel(Ui& ui, const Rect& rect, const Pane& pane, uint32_t most, bool with_output) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float top = in.min.y + whose(ui, in, pane);
    const look::Roles& roles = pane.index.roles;
    if (roles.m < 0 || roles.n < 0) {
        line(ui, {in.min.x, top}, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
             "This recording names no matrices M and N.");
        return;
    }
    // What is wrong is of P; where three would be too small to read, N goes.
    const bool with_p = with_output && roles.p >= 0, with_n = !with_p || in.width() >= ui.px(296);
    const float gap = ui.px(16), columns = 1 + (with_n ? 1.f : 0.f) + (with_p ? 1.f : 0.f);
    const float width = std::floor((in.width() - gap * (columns - 1)) / columns);
    float left = in.min.x;
    const auto next = [&] {
        const Rect column{{left, top}, {left + width, in.max.y}};
        left += width + gap;
        return column;
    };
    input_map(ui, next(), pane, static_cast<uint8_t>(roles.m), most);
    if (with_n) input_map(ui, next(), pane, static_cast<uint8_t>(roles.n), most);
    if (with_p) output_map(ui, next(), pane, static_cast<uint8_t>(roles.p));
}

}  // namespace tilescope::compare
