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

#include "app/draw/widgets.h"
#include "app/input/panels.h"
#include "app/look/faults.h"
#include "app/look/sums.h"
#include "app/session/playing.h"
#include "app/step/caption.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

void caption_large(Ui& ui, const Rect& rect, const std::vector<std::string>& faults) {
    draw::surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y + ui.px(6)}, {rect.max.x - ui.px(16), rect.max.y}};
    const std::string where =
        fmt::format("step {} of {}", grouped(ui.step() + 1), grouped(ui.index()->steps));
    const trace::Block& block = ui.trace().blocks[ui.session.cursor.block];
    const std::string phase =
        fmt::format("{}  {}", block_name(ui.trace().launch.grid, block.x, block.y, block.z),
                    look::phase_text(*ui.index(), ui.step()));
    const float side = std::max(draw::text_size(ui.font(Face::Mono, Size::Body), where).x,
                                draw::text_size(ui.font(Face::Mono, Size::Small), phase).x) +
                       ui.px(4);
    draw::line(ui, {in.max.x, in.min.y}, side, Face::Mono, Size::Body, Ink::Text, where, draw::Align::Right);
    draw::line(ui, {in.max.x, in.min.y + draw::line_height(ui, Size::Body)}, side, Face::Mono, Size::Small,
               Ink::TextQuiet, phase, draw::Align::Right);
    const std::string text = ui.session.message.empty()
                                 ? caption(ui.trace(), *ui.index(), ui.session.replay.get(), ui.step())
                                 : ui.session.message;
    const float width = in.width() - side - ui.px(24);
    if (!faults.empty()) {
        const float body = draw::line_height(ui, Size::Body);
        const std::vector<std::string> wordings{text, text.substr(0, text.find(". ") + 1)};
        draw::line(ui, in.min, width, Face::Strong, Size::Body, Ink::Text,
                   draw::fitting(ui.font(Face::Strong, Size::Body), wordings, width));
        const auto lines = [&](const std::string& said) {
            return draw::wrapped(ui.font(Face::Text, Size::Body), said, width).size();
        };
        draw::paragraph(ui, {in.min.x, in.min.y + body}, width, Face::Text, Size::Body, Ink::Fault,
                        lines(faults.front()) <= 2 ? faults.front() : faults.back(), 2);
        return;
    }
    const bool two = draw::wrapped(ui.font(Face::Strong, Size::Title), text, width).size() > 1;
    const float y =
        two ? in.min.y : in.min.y + (rect.height() - ui.px(12) - draw::line_height(ui, Size::Title)) / 2;
    draw::paragraph(ui, {in.min.x, y}, width, Face::Strong, Size::Title,
                    ui.session.message.empty() ? Ink::Text : Ink::Fault, text, 2);
}

// Phases side by side as wide as their steps, numbered where there is room; a playhead over them.
void phases(Ui& ui, const Rect& rect) {
    draw::surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(12), rect.min.y + ui.px(6)},
                  {rect.max.x - ui.px(12), rect.max.y - ui.px(6)}};
    const float steps = static_cast<float>(std::max(1u, ui.index()->steps));
    const auto x_of = [&](uint32_t step) {
        return std::round(in.min.x + in.width() * static_cast<float>(step) / steps);
    };
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const float each = in.width() / static_cast<float>(std::max<size_t>(1, ui.index()->spans.size()));
    const float widest = draw::text_size(font, std::to_string(ui.index()->phases.phases)).x + ui.px(6);
    // All by name, or all by number.
    const std::string longest = fmt::format("phase {}", ui.index()->phases.phases);
    const bool named = draw::text_size(font, longest).x + ui.px(8) <= each;
    const auto stride = static_cast<size_t>(std::max(1.f, std::ceil(widest / each)));
    for (size_t at = 0; at < ui.index()->spans.size(); ++at) {
        const draw::PhaseSpan& span = ui.index()->spans[at];
        const Rect box{{x_of(span.first), in.min.y}, {x_of(span.end) - ui.px(1), in.max.y}};
        const bool here = ui.step() >= span.first && ui.step() < span.end;
        ui.list.AddRectFilled(box.min, box.max, ui.ink(here ? Ink::Accent : Ink::Raised), ui.px(2));
        const bool after = span.phase == analysis::kAfter;
        const std::string number = after ? "P" : std::to_string(span.phase);
        const draw::Rgba ink = here ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text);
        const std::string text = after || !named ? number : "phase " + number;
        if (!after && at % stride != 0) continue;  // where all do not fit, every so many
        const ImVec2 size = draw::text_size(font, text);
        if ((after || named) && size.x > box.width()) continue;
        draw::put(ui, ui.list, font,
                  {(box.min.x + box.max.x - size.x) / 2, (box.min.y + box.max.y - size.y) / 2}, ink, text);
    }
    // As on the timeline: a line with a head, in the colour of what can be moved; rimmed, as it stands on it.
    const float x = x_of(ui.step()), head = ui.px(7);
    const draw::Rgba rim = ui.ink(Ink::Panel), color = ui.ink(Ink::Accent);
    ui.list.AddRectFilled({x - ui.px(3), rect.min.y}, {x + ui.px(3), rect.max.y}, rim);
    ui.list.AddRectFilled({x - ui.px(1.5f), rect.min.y}, {x + ui.px(1.5f), rect.max.y}, color);
    ui.list.AddTriangleFilled({x - head, rect.min.y}, {x + head, rect.min.y}, {x, rect.min.y + head}, color);
}

}  // namespace

void lecture_step(Ui& ui, const Rect& screen) {
    const float gap = ui.px(8);
    const Rect in{{screen.min.x + gap, screen.min.y + gap}, {screen.max.x - gap, screen.max.y - gap}};
    const std::string warning = look::warning(ui.trace(), ui.session.cursor.block);
    float y = in.min.y;
    if (!warning.empty()) {
        const float high = draw::warning_height(ui, in.width(), warning);
        draw::warning_strip(ui, {{in.min.x, y}, {in.max.x, y + high}}, warning);
        y += high + gap;
    }
    std::vector<std::string> faults;
    if (ui.index() != nullptr && ui.session.faults && ui.session.message.empty())
        faults = look::fault_captions(ui.trace(), *ui.session.faults, ui.step());
    const Rect said{{in.min.x, y}, {in.max.x, y + ui.px(faults.empty() ? 64 : 80)}};
    if (ui.index() == nullptr) return caption_bar(ui, said);
    caption_large(ui, said, faults);
    y = said.max.y + gap;
    const Rect bar{{in.min.x, in.max.y - ui.px(34)}, in.max};
    const Rect middle{{in.min.x, y}, {in.max.x, bar.min.y - gap}};
    const look::Relations selected =
        look::relations(ui.trace(), *ui.index(), ui.session.replay.get(), ui.shown_pick(), ui.step());
    const bool tiles = session::uses_shared(ui.trace());
    const float request = std::clamp(middle.width() * 0.27f, ui.px(260), ui.px(420));
    const Rect right{{middle.max.x - request, middle.min.y}, middle.max};
    Rect matrices{middle.min, {right.min.x - gap, middle.max.y}};
    if (tiles) {
        const float title = draw::line_height(ui, Size::Body), inset = ui.px(24);
        const float high = (middle.height() - inset - title * 2 - ui.px(6)) / 2;
        const float wide = (matrices.width() - inset * 2 - ui.px(12) - gap) / 3;
        matrices.max.x = std::floor(matrices.max.x - std::floor(std::min(high, wide)) - inset - gap);
        tiles_panel(ui, {{matrices.max.x + gap, middle.min.y}, {right.min.x - gap, middle.max.y}}, selected,
                    false);
    }
    matrices_panel(ui, matrices, selected);
    request_panel(ui, right, selected);
    phases(ui, bar);
    motion(ui);
}

}  // namespace tilescope::step
