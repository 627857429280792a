// Stops in small (stop_picture.h): arrays with what is touched of them, a gate, an exchange; a figure's shapes without
// its words; a case of the Limits screen as the blocks that fit on an SM.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/lessons/panels.h"
#include "app/lessons/questions.h"
#include "app/pictures/storyboard.h"
#include "core/base/launch.h"

namespace tilescope::lessons {

using draw::Face, draw::Ink, draw::Rect, draw::Rgba;
using Part = StopPicture::Part;

namespace {

void frame(Ui& ui, const Rect& box) { ui.list.AddRect(box.min, box.max, ui.ink(Ink::Line), ui.px(4)); }

void part(Ui& ui, const Rect& box, const Part& of, Ink ink) {
    pictures::small_matrix(ui, box, {of.rows, of.cols, of.tile_rows, of.tile_cols, of.tile, of.lit, ink});
}

// Parts in a column, all of one width.
void stacked(Ui& ui, const Rect& box, const std::vector<Part>& parts, Ink ink) {
    const float gap = ui.px(3), n = static_cast<float>(std::max<size_t>(parts.size(), 1));
    const float high = (box.height() - gap * (n - 1)) / n;
    float y = box.min.y;
    for (const Part& of : parts) {
        part(ui, {{box.min.x, y}, {box.max.x, y + high}}, of, ink);
        y += high + gap;
    }
}

// M left, N above, P in the corner, of one scale; no side is drawn shorter than a quarter of the longest.
void product(Ui& ui, const Rect& box, const std::vector<Part>& parts, Ink ink) {
    const float m = static_cast<float>(parts[2].rows), n = static_cast<float>(parts[2].cols),
                k = static_cast<float>(parts[0].cols), least = std::max({m, n, k}) / 4, gap = ui.px(3);
    const float high = std::max(m, least), wide = std::max(n, least), deep = std::max(k, least);
    const float unit = std::min((box.width() - gap) / (deep + wide), (box.height() - gap) / (deep + high));
    const ImVec2 inner{std::round(box.min.x + deep * unit + gap), std::round(box.min.y + deep * unit + gap)};
    part(ui, {{inner.x, box.min.y}, {inner.x + wide * unit, inner.y - gap}}, parts[1], ink);
    part(ui, {{box.min.x, inner.y}, {inner.x - gap, inner.y + high * unit}}, parts[0], ink);
    part(ui, {inner, {inner.x + wide * unit, inner.y + high * unit}}, parts[2], ink);
}

// A row a warp, up to the bar where it has come; the bar alone where no warps are told.
void gate(Ui& ui, const Rect& box, const look::GateView& of) {
    const size_t rows = of.warps.size();
    const float bar = ui.px(3), x = box.max.x - bar,
                pitch = std::min(box.height() / static_cast<float>(std::max<size_t>(rows, 1)), ui.px(14));
    const float top = (box.min.y + box.max.y - pitch * static_cast<float>(rows)) / 2;
    ui.list.AddRectFilled({x, box.min.y}, box.max, ui.ink(of.open ? Ink::Line : Ink::Barrier));
    for (size_t row = 0; row < rows; ++row) {
        const bool held = of.warps[row].held;
        const float y = top + pitch * static_cast<float>(row),
                    end = held ? x - ui.px(1) : box.min.x + (x - box.min.x) * 0.45f;
        ui.list.AddRectFilled({box.min.x, y + pitch * 0.15f}, {end, y + pitch * 0.85f},
                              ui.ink(held ? Ink::Barrier : Ink::LineStrong));
    }
}

// Lanes above that give, lanes below that get; all of them, without who gives to whom, where that is not told.
void exchange(Ui& ui, const Rect& box, const look::ExchangeView& of) {
    const float pitch = box.width() / kWarpSize, side = std::max(2.f, pitch * 0.8f);
    const auto x_of = [&](uint32_t lane) { return box.min.x + pitch * (static_cast<float>(lane) + 0.5f); };
    const Rgba color = ui.ink(Ink::Exchange);
    const auto row = [&](float y) {
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
            ui.list.AddRectFilled({x_of(lane) - side / 2, y}, {x_of(lane) + side / 2, y + ui.px(6)},
                                  of.mask == 0 || (of.mask >> lane & 1) != 0 ? color : ui.ink(Ink::Cell));
    };
    row(box.min.y);
    row(box.max.y - ui.px(6));
    const float from = box.min.y + ui.px(6), to = box.max.y - ui.px(6);
    for_lanes(of.mask, [&](uint32_t lane) {
        const float start = of.shuffles() ? x_of(of.from[lane]) : (box.min.x + box.max.x) / 2;
        ui.list.AddLine({start, from}, {x_of(lane), to}, draw::with_alpha(color, 0.7f), ui.px(1));
    });
}

void recorded(Ui& ui, const Rect& box, const StopPicture& of, bool asks) {
    using analysis::StepKind;
    const Ink ink = pictures::ink_of(of.kind);
    const bool waits = of.gate || (asks && of.kind == StepKind::Barrier),
               exchanges = of.exchange || (asks && of.kind == StepKind::Exchange);
    const bool beside = !of.shared.empty() || waits || exchanges;
    const float gap = ui.px(8), right = beside ? std::round(std::min(box.width() * 0.3f, box.height())) : 0;
    const Rect left{box.min, {box.max.x - right - (beside ? gap : 0), box.max.y}};
    const Rect side{{box.max.x - right, box.min.y}, box.max};
    if (of.product) {
        product(ui, left, of.arrays, ink);
    } else if (!of.arrays.empty()) {
        const auto n = static_cast<float>(of.arrays.size());
        const float each = (left.width() - ui.px(6) * (n - 1)) / n;
        float x = left.min.x;
        for (const Part& array : of.arrays) {
            part(ui, {{x, left.min.y}, {x + each, left.max.y}}, array, ink);
            x += each + ui.px(6);
        }
    }
    if (waits)
        gate(ui, side, of.gate.value_or(look::GateView{}));
    else if (exchanges)
        exchange(ui, of.arrays.empty() ? box : side, of.exchange.value_or(look::ExchangeView{}));
    else
        stacked(ui, side, of.shared, ink);
}

// The thread slots of an SM, and how many of them its blocks take; of a stop that asks, what a single one takes.
void occupied(Ui& ui, const Rect& box, const LessonStop& stop) {
    const Modelled of = modelled(stop);
    const auto number = [&](const char* name) { return static_cast<float>(number_at(of, name).value_or(0)); };
    const float slots = number("thread_slots"), threads = number(stop.ask ? "threads" : "sm_threads"),
                blocks = stop.ask ? 1 : number("sm_blocks");
    if (slots <= 0) return;
    const float high = std::min(box.height() * 0.5f, ui.px(36)), y = (box.min.y + box.max.y - high) / 2;
    ui.list.AddRectFilled({box.min.x, y}, {box.max.x, y + high}, ui.ink(Ink::Cell));
    const float each = box.width() * std::min(1.f, threads / slots) / std::max(blocks, 1.f),
                gap = std::min(ui.px(2), each / 4);
    for (float block = 0; block < blocks; ++block)
        ui.list.AddRectFilled({box.min.x + each * block, y}, {box.min.x + each * (block + 1) - gap, y + high},
                              ui.ink(Ink::Accent));
    ui.list.AddRect({box.min.x, y}, {box.max.x, y + high}, ui.ink(Ink::LineStrong));
}

// The figure as it is drawn on a page so much larger, its words left out: in small they are no words. Of a stop that
// asks as its open question has it.
SmallFigure drawn_small(Ui& ui, const Figure& figure, const LessonStop& stop, ImVec2 size) {
    constexpr float kLarger = 4;
    ImDrawList list(ImGui::GetDrawListSharedData());
    list._ResetForNewFrame();
    list._CmdHeader = ui.list._CmdHeader;
    list.Flags = 0;  // no smooth edges, which are triangles that fade
    list.PushClipRect({-1e5f, -1e5f}, {1e5f, 1e5f});
    draw::DrawContext context{ui.context.scale, ui.context.palette, ui.context.fonts, ui.context.grids};
    context.still = true;
    draw::Ui quiet{context, list};
    const Rect rect{{0, 0}, {size.x * kLarger, size.y * kLarger}};
    const session::Question kept =
        std::exchange(ui.session.question, stop.ask ? opened(*stop.ask, nullptr) : session::Question());
    figure.draw(quiet, rect, stop.set.empty() ? first_set(figure) : stop.set, ui.session);
    ui.session.question = kept;
    SmallFigure made{{}, &ui.context.palette, ui.context.scale, size};
    const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
    const auto is_shape = [&](const ImDrawVert& at) { return at.uv.x == white.x && at.uv.y == white.y; };
    for (int at = 0; at + 2 < list.IdxBuffer.Size; at += 3) {
        const ImDrawVert* const corner[] = {&list.VtxBuffer[list.IdxBuffer[at]],
                                            &list.VtxBuffer[list.IdxBuffer[at + 1]],
                                            &list.VtxBuffer[list.IdxBuffer[at + 2]]};
        if (!std::ranges::all_of(corner, [&](const ImDrawVert* of) { return is_shape(*of); })) continue;
        for (const ImDrawVert* const of : corner)
            made.corners.push_back({{of->pos.x / rect.max.x, of->pos.y / rect.max.y}, of->col});
    }
    return made;
}

void figure_in_small(Ui& ui, const Rect& box, const Figure& figure, const LessonStop& stop, size_t lesson,
                     size_t at) {
    SmallFigure& small = ui.state.small_figures[{lesson, at}];
    const ImVec2 size{box.width(), box.height()};
    if (small.palette != &ui.context.palette || small.scale != ui.context.scale || small.size.x != size.x ||
        small.size.y != size.y)
        small = drawn_small(ui, figure, stop, size);
    ui.list.PushClipRect(box.min, box.max, true);
    const auto place = [&](const SmallFigure::Corner& corner) {
        return ImVec2{box.min.x + corner.at.x * size.x, box.min.y + corner.at.y * size.y};
    };
    for (size_t i = 0; i + 2 < small.corners.size(); i += 3)
        ui.list.AddTriangleFilled(place(small.corners[i]), place(small.corners[i + 1]),
                                  place(small.corners[i + 2]), small.corners[i].color);
    ui.list.PopClipRect();
}

}  // namespace

void stop_picture(Ui& ui, const Rect& box, size_t lesson, size_t at) {
    const LessonStop& stop = (*ui.state.lessons)[lesson].stops[at];
    frame(ui, box);
    const Rect in = box.inset(ui.px(5));
    if (const Figure* const figure = find_figure(stop.figure))
        return figure_in_small(ui, in, *figure, stop, lesson, at);
    if (!stop.limits.empty()) return occupied(ui, in, stop);
    const auto& worked_out = ui.state.pictures[lesson];
    if (at < worked_out.size() && worked_out[at] != nullptr)
        recorded(ui, in, *worked_out[at], stop.ask.has_value());
}

}  // namespace tilescope::lessons
