// The pipe of a race: from global memory to an SM, as wide as the bytes that were loaded for each share of the
// work, on one scale for both recordings; and below it what the SM keeps them in.
#include <algorithm>
#include <cmath>

#include "app/race/panels.h"
#include "core/base/words.h"

namespace tilescope::race {
namespace {

constexpr double kFlow = 24;  // lengths of the pipe that a square goes in a race

double part(double of) { return of - std::floor(of); }

// Squares as dense in a narrow pipe as in a wide one; where they are depends on the moment alone.
void squares(Ui& ui, const Rect& pipe, double share) {
    const float size = std::min(ui.px(7), pipe.width() - ui.px(2));
    if (size < 1) return;
    const double rooms = pipe.width() * pipe.height() / (ui.px(7) * ui.px(7) * 15);
    const auto count = std::max(1L, std::lround(rooms));
    for (long i = 0; i < count; ++i) {
        // Fractions of multiples of the plastic number's inverse and of its square are spread evenly.
        const double n = static_cast<double>(i), x = part(n * 0.7548776662),
                     y = part(n * 0.5698402910 + share * kFlow);
        const ImVec2 at{pipe.min.x + ui.px(1) + (pipe.width() - ui.px(2) - size) * static_cast<float>(x),
                        pipe.min.y + (pipe.height() - size) * static_cast<float>(y)};
        ui.list.AddRectFilled(at, {at.x + size, at.y + size}, ui.ink(Ink::Panel));
    }
}

void sm(Ui& ui, const Rect& box, const Pane& pane) {
    ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Raised), ui.px(6));
    const Rect in = box.inset(ui.px(6));
    const float small = line_height(ui, Size::Small);
    if (pane.side.shared.empty()) {
        const std::string words = "no shared memory";
        const auto lines =
            static_cast<float>(draw::wrapped(ui.font(Face::Text, Size::Small), words, in.width()).size());
        float y = (in.min.y + in.max.y - small * lines) / 2;
        for (const std::string& one : draw::wrapped(ui.font(Face::Text, Size::Small), words, in.width())) {
            note(ui, {(in.min.x + in.max.x) / 2, y}, in.width(), one, Align::Center);
            y += small;
        }
        return;
    }
    const size_t count = std::min<size_t>(pane.side.shared.size(), 2);
    const float gap = ui.px(4),
                wide = (in.width() - gap * static_cast<float>(count - 1)) / static_cast<float>(count);
    for (size_t i = 0; i < count; ++i) {
        const float left = in.min.x + (wide + gap) * static_cast<float>(i);
        const Rgba fill = draw::mix(ui.ink(Ink::Raised), ui.ink(Ink::SharedStore), 0.55f);
        ui.list.AddRectFilled({left, in.min.y}, {left + wide, in.max.y}, fill, ui.px(3));
        const Array& array = pane.array(pane.side.shared[i]);
        const draw::Font font = ui.font(Face::Strong, Size::Small);
        const std::string name = draw::elided(font, name_in(pane.notation(), array), wide - ui.px(4));
        put(ui, ui.list, font, {left + wide / 2, (in.min.y + in.max.y - small) / 2},
            ui.context.palette.text_on(fill), name, Align::Center, name_in(pane.notation(), array));
    }
}

}  // namespace

void pipe(Ui& ui, const Rect& rect, const Pane& pane) {
    const float small = line_height(ui, Size::Small), middle = (rect.min.x + rect.max.x) / 2;
    note(ui, {middle, rect.min.y}, rect.width(), "global memory", Align::Center);
    const Rect memory{{rect.min.x, rect.min.y + small + ui.px(2)},
                      {rect.max.x, rect.min.y + small + ui.px(16)}};
    ui.list.AddRectFilled(memory.min, memory.max, ui.ink(Ink::Line), ui.px(6));
    const float box = std::clamp(rect.height() * 0.18f, small * 2 + ui.px(16), ui.px(84));
    const Rect inside{{rect.min.x, rect.max.y - box}, rect.max};
    const Rect room{{rect.min.x, memory.max.y}, {rect.max.x, inside.min.y - small - ui.px(4)}};
    note(ui, {middle, inside.min.y - small - ui.px(2)}, rect.width(), "an SM", Align::Center);
    sm(ui, inside, pane);
    const double width = pipe_width(pane.race, pane.side, pane.moment);
    if (width <= 0) return;
    const float half = std::max(static_cast<float>(width) * rect.width() * 0.82f / 2, ui.px(1));
    const Rect full{{middle - half, room.min.y}, {middle + half, room.max.y}};
    ui.list.AddRectFilled(full.min, full.max, ui.ink(Ink::GlobalLoad));
    squares(ui, full, ui.state.at);
    if (ui.over(full))
        ui.tip = "As wide as the bytes loaded so far for this much work; both pipes have one scale";
}

}  // namespace tilescope::race
