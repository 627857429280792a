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

#include "app/draw/widgets.h"
#include "app/input/panels.h"
#include "app/look/faults.h"
#include "app/look/sums.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// Phases side by side as wide as their steps, numbered where there is room; a playhead over them.
void phases(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const look::BlockIndex& index = *ui.index();
    const Rect in{{rect.min.x + ui.px(12), rect.min.y + ui.px(6)},
                  {rect.max.x - ui.px(12), rect.max.y - ui.px(6)}};
    const auto x_of = [&](uint32_t step) {
        return std::round(in.min.x + in.width() * static_cast<float>(step) /
                                         static_cast<float>(std::max(1u, index.steps)));
    };
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const auto width_of = [&](const std::string& text) { return draw::text_size(font, text).x; };
    const float each = in.width() / static_cast<float>(std::max<size_t>(1, index.spans.size()));
    // All by name, or all by number; where all numbers do not fit, every so many.
    const std::string most = std::to_string(index.phases.phases);
    const bool named = width_of("phase " + most) + ui.px(8) <= each;
    const auto stride = static_cast<size_t>(std::max(1.f, std::ceil((width_of(most) + ui.px(6)) / each)));
    const std::string end =
        index.roles.p >= 0 ? name_in(ui.notation(), ui.trace().launch.arrays[index.roles.p]) : "after";
    for (size_t i = 0; i < index.spans.size(); ++i) {
        const draw::PhaseSpan& span = index.spans[i];
        const Rect box{{x_of(span.first), in.min.y}, {x_of(span.end) - ui.px(1), in.max.y}};
        const bool here = ui.step() >= span.first && ui.step() < span.end;
        ui.list.AddRectFilled(box.min, box.max, ui.ink(here ? Ink::Accent : Ink::Raised), ui.px(2));
        if (index.spans.size() == 1) continue;  // all of it is one
        const bool after = span.phase == analysis::kAfter;
        if (!after && i % stride != 0) continue;
        const std::string name = after ? end : phase_name(span.phase, ui.notation());
        const std::string text = named || after ? name : name.substr(std::size("phase"));
        const ImVec2 size = draw::text_size(font, text);
        if ((after || named) && size.x > box.width()) continue;
        put(ui, ui.list, font, {(box.min.x + box.max.x - size.x) / 2, (box.min.y + box.max.y - size.y) / 2},
            here ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text), text);
    }
    // As on the timeline: a line with a head, in the colour of what can be moved; rimmed, as it stands on it.
    const float x = x_of(ui.step()), head = ui.px(7);
    const Rgba color = ui.ink(Ink::Accent);
    ui.list.AddRectFilled({x - ui.px(3), rect.min.y}, {x + ui.px(3), rect.max.y}, ui.ink(Ink::Panel));
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
        const float high = warning_height(ui, in.width(), warning);
        warning_strip(ui, {{in.min.x, y}, {in.max.x, y + high}}, warning);
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
        const float title = line_height(ui, Size::Body), inset = ui.px(24);
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
