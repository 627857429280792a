// The Step screen in lecture mode: what the back row can read, and nothing else.
//
//   +-----------------------------------------------------------+
//   | what just happened, large           step 12 of 352        |
//   +--------------------------------------+--------------------+
//   |  M N P          |  Mds               |  the request       |
//   |                 |  Nds               |                    |
//   +--------------------------------------+--------------------+
//   | the phases, and where this is                             |
//   +-----------------------------------------------------------+
//
// The source, the sums, the warps' rows and the buttons go: they are small print, and a clicker has no mouse.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/panels.h"
#include "app/screens/screens.h"
#include "app/view/caption.h"
#include "app/view/sums_view.h"

namespace tilescope::app {
namespace {

using draw::Face;
using draw::Ink;
using draw::Size;
using panels::Rect;
using panels::Ui;

void caption(Ui& ui, const Rect& rect) {
    panels::surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y + ui.px(6)}, {rect.max.x - ui.px(16), rect.max.y}};
    const std::string where =
        fmt::format("step {} of {}", view::grouped(ui.step() + 1), view::grouped(ui.index->steps));
    const trace::Block& block = ui.trace().blocks[ui.state.cursor.block];
    const std::string phase =
        fmt::format("block ({},{})  {}", block.x, block.y, view::phase_text(*ui.index, ui.step()));
    const float side = std::max(draw::text_size(ui.font(Face::Mono, Size::Body), where).x,
                                draw::text_size(ui.font(Face::Mono, Size::Small), phase).x) +
                       ui.px(4);
    panels::line(ui, {in.max.x, in.min.y}, side, Face::Mono, Size::Body, Ink::Text, where,
                 draw::Align::Right);
    panels::line(ui, {in.max.x, in.min.y + panels::line_height(ui, Size::Body)}, side, Face::Mono,
                 Size::Small, Ink::TextQuiet, phase, draw::Align::Right);
    const std::string text = ui.state.message.empty()
                                 ? view::caption(ui.trace(), *ui.index, ui.state.replay.get(), ui.step())
                                 : ui.state.message;
    const float width = in.width() - side - ui.px(24);
    const bool two = panels::wrapped(ui.font(Face::Strong, Size::Title), text, width).size() > 1;
    const float y =
        two ? in.min.y : in.min.y + (rect.height() - ui.px(12) - panels::line_height(ui, Size::Title)) / 2;
    panels::paragraph(ui, {in.min.x, y}, width, Face::Strong, Size::Title,
                      ui.state.message.empty() ? Ink::Text : Ink::Fault, text, 2);
}

// Phases side by side as wide as their steps, numbered where there is room; a playhead over them.
void phases(Ui& ui, const Rect& rect) {
    panels::surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(12), rect.min.y + ui.px(6)},
                  {rect.max.x - ui.px(12), rect.max.y - ui.px(6)}};
    const float steps = static_cast<float>(std::max(1u, ui.index->steps));
    const auto x_of = [&](uint32_t step) {
        return std::round(in.min.x + in.width() * static_cast<float>(step) / steps);
    };
    for (size_t at = 0; at < ui.index->spans.size(); ++at) {
        const view::PhaseSpan& span = ui.index->spans[at];
        const Rect box{{x_of(span.first), in.min.y}, {x_of(span.end) - ui.px(1), in.max.y}};
        const bool here = ui.step() >= span.first && ui.step() < span.end;
        ui.list.AddRectFilled(box.min, box.max, ui.ink(here ? Ink::Accent : Ink::Raised), ui.px(2));
        const std::string name = span.phase == analysis::kAfter ? "P" : fmt::format("phase {}", span.phase);
        const std::string number = span.phase == analysis::kAfter ? "P" : std::to_string(span.phase);
        const draw::Rgba ink = here ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text);
        const draw::Font font = ui.font(Face::Text, Size::Small);
        for (const std::string& text : {name, number}) {
            if (draw::text_size(font, text).x > box.width() - ui.px(4)) continue;
            draw::draw_text_in(ui.list, font, box.min, box.max, ink, text);
            break;
        }
    }
    const float x = x_of(ui.step());
    ui.list.AddRectFilled({x - ui.px(2), rect.min.y + ui.px(1)}, {x + ui.px(2), rect.max.y - ui.px(1)},
                          ui.ink(Ink::Fault), ui.px(1));
}

}  // namespace

void lecture_step(Ui& ui, const Rect& screen) {
    const float gap = ui.px(8);
    const Rect in{{screen.min.x + gap, screen.min.y + gap}, {screen.max.x - gap, screen.max.y - gap}};
    const std::string warning = view::warning(ui.trace(), ui.state.cursor.block);
    float y = in.min.y;
    if (!warning.empty()) {
        panels::warning_strip(ui, {{in.min.x, y}, {in.max.x, y + ui.px(28)}}, warning);
        y += ui.px(28) + gap;
    }
    const Rect said{{in.min.x, y}, {in.max.x, y + ui.px(64)}};
    if (ui.index == nullptr) return panels::caption_bar(ui, said);
    caption(ui, said);
    y = said.max.y + gap;
    const Rect bar{{in.min.x, in.max.y - ui.px(34)}, in.max};
    const Rect middle{{in.min.x, y}, {in.max.x, bar.min.y - gap}};
    const Pick& shown = ui.state.hover.kind != Pick::Kind::None ? ui.state.hover : ui.state.pin;
    const view::Relations selected =
        view::relations(ui.trace(), *ui.index, ui.state.replay.get(), shown, ui.step());
    const bool tiles = ui.state.session->summary.shared_load.requests > 0;
    const float request = std::clamp(middle.width() * 0.27f, ui.px(260), ui.px(420));
    const Rect right{{middle.max.x - request, middle.min.y}, middle.max};
    Rect matrices{middle.min, {right.min.x - gap, middle.max.y}};
    if (tiles) {
        const float title = panels::line_height(ui, Size::Body), inset = ui.px(24);
        const float high = (middle.height() - inset - title * 2 - ui.px(6)) / 2;
        const float wide = (matrices.width() - inset * 2 - ui.px(12) - gap) / 3;
        matrices.max.x = std::floor(matrices.max.x - std::floor(std::min(high, wide)) - inset - gap);
        panels::tiles_panel(ui, {{matrices.max.x + gap, middle.min.y}, {right.min.x - gap, middle.max.y}},
                            selected, false);
    }
    panels::matrices_panel(ui, matrices, selected);
    panels::request_panel(ui, right, selected);
    phases(ui, bar);
    panels::motion(ui);
}

}  // namespace tilescope::app
