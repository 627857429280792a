// A barrier as a gate:
//
//   on the way   held |
//               > w 0 #          a filled mark against the bar: it has arrived and is held
//   o - - - - - - -   #          a hollow mark, far from it: it has not come yet
//               > w 2 #
//                     |          the last one takes the bar away, and all go on
//
// Filled against hollow and near against far say the same as the colour.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/pictures/pictures.h"

namespace tilescope::pictures {
namespace {

void mark(Ui& ui, ImVec2 tip, float size, bool filled) {
    const ImVec2 a{tip.x - size, tip.y - size * 0.6f}, b{tip.x - size, tip.y + size * 0.6f};
    if (filled)
        ui.list.AddTriangleFilled(a, tip, b, ui.ink(Ink::Barrier));
    else
        ui.list.AddTriangle(a, tip, b, ui.ink(Ink::TextQuiet), ui.px(1));
}

// Closed it is a bar between two posts; open the posts alone.
void bar(Ui& ui, float x, float top, float bottom, bool open) {
    const float half = ui.px(1.5f), post = std::min(ui.px(5), (bottom - top) / 4);
    if (!open) ui.list.AddRectFilled({x - half, top}, {x + half, bottom}, ui.ink(Ink::Barrier));
    for (const auto& [from, to] : {std::pair{top, top + post}, {bottom - post, bottom}})
        ui.list.AddRectFilled({x - half * 2, from}, {x + half * 2, to}, ui.ink(Ink::Barrier));
}

}  // namespace

void slim_gate(Ui& ui, const Rect& rect, const GateView& gate,
               const std::function<float(const GateView::WarpAtGate&)>& middle) {
    const float x = rect.max.x - ui.px(3);
    bar(ui, x, rect.min.y, rect.max.y, gate.open);
    const float size = std::min(ui.px(7), rect.height() / static_cast<float>(gate.warps.size()));
    if (size < ui.px(2)) return;
    for (const GateView::WarpAtGate& warp : gate.warps)
        mark(ui, {x + (gate.open ? ui.px(3) : -ui.px(1.5f)), middle(warp)}, size, warp.held);
}

void gate_picture(Ui& ui, const Rect& rect, const GateView& gate) {
    const float small = line_height(ui, Size::Small);
    const float words = rect.height() >= small * 3 ? small + ui.px(2) : 0;
    const auto count = static_cast<float>(gate.warps.size());
    const float pitch = std::min((rect.height() - words) / count, small + ui.px(2));
    if (pitch < ui.px(3)) return;
    const bool named = pitch >= small * 0.9f;
    const float name = ui.px(56), size = std::min(ui.px(9), pitch * 0.8f);
    const float top = rect.min.y + words, bottom = top + pitch * count;
    const float x = rect.max.x - (gate.open ? name + ui.px(18) : ui.px(8));
    if (words > 0) {
        const float held = draw::text_size(ui.font(Face::Text, Size::Small), gate.open ? "open" : "held").x;
        note(ui, rect.min, rect.width() - held - ui.px(12), gate.open ? "" : "on the way");
        note(ui, {rect.max.x, rect.min.y}, held + 1, gate.open ? "open" : "held", Align::Right);
    }
    for (size_t i = 0; i < gate.warps.size(); ++i) {
        const GateView::WarpAtGate& warp = gate.warps[i];
        const float y = std::round(top + pitch * (static_cast<float>(i) + 0.5f));
        const std::string called = fmt::format("warp {}", warp.warp);
        const float text = y - small / 2;
        if (gate.open) {  // all of them behind it
            mark(ui, {x + ui.px(14), y}, size, true);
            if (named) note(ui, {x + ui.px(18), text}, name, called);
        } else if (warp.held) {
            mark(ui, {x - ui.px(3), y}, size, true);
            if (named)
                line(ui, {x - ui.px(7) - size, text}, name, Face::Text, Size::Small, Ink::Text, called,
                     Align::Right);
        } else {
            const float from = rect.min.x + size;
            mark(ui, {from, y}, size, false);
            const float start =
                named ? from + ui.px(6) + note(ui, {from + ui.px(4), text}, name, called) : from + ui.px(4);
            for (float dot = start + ui.px(4); dot < x - ui.px(10); dot += ui.px(7))
                ui.list.AddRectFilled({dot, y}, {dot + ui.px(2), y + 1}, ui.ink(Ink::LineStrong));
        }
    }
    bar(ui, x, top, bottom, gate.open);
}

}  // namespace tilescope::pictures
