#include "app/pictures/pipeline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::pictures {

namespace {

using Holds = look::StageView::Holds;

float text_width(Ui& ui, std::string_view text) {
    return draw::text_size(ui.font(Face::Text, Size::Small), text).x;
}

// Arrivals as dots, or in numbers where they are too many.
constexpr uint32_t kMostDots = 8;
std::string arrivals_text(const look::BarrierView& of) {
    return fmt::format("{} of {}", grouped(of.arrived), grouped(of.expected));
}
float arrivals_width(Ui& ui, const look::BarrierView& of) {
    return of.expected > kMostDots ? text_width(ui, arrivals_text(of))
                                   : ui.px(11) * static_cast<float>(of.expected);
}
void arrivals(Ui& ui, ImVec2 at, const look::BarrierView& of, Rgba color, Ink ink) {
    const float small = line_height(ui, Size::Small), middle = std::round(at.y + small / 2);
    const float dot = ui.px(4), step = ui.px(11);
    if (of.expected > kMostDots) return void(note(ui, at, arrivals_width(ui, of) + 1, arrivals_text(of)));
    for (uint32_t i = 0; i < of.expected; ++i) {
        const ImVec2 center{at.x + dot + step * static_cast<float>(i), middle};
        if (i < of.arrived)
            ui.list.AddCircleFilled(center, dot, color);
        else
            ui.list.AddCircle(center, dot, ui.ink(ink == Ink::Text ? Ink::TextQuiet : Ink::LineStrong), 0,
                              ui.px(1.5f));
    }
}

uint64_t come(const look::BarrierView& of) { return static_cast<uint64_t>(std::max<int64_t>(of.brought, 0)); }

// A barrier of a stage in a cell: its name, and below or behind it phase, arrivals and bytes. Hatched where warps wait.
void barrier_cell(Ui& ui, const Rect& cell, const look::BarrierView& of, bool two_lines, bool waited_for,
                  Rgba color) {
    const float small = line_height(ui, Size::Small);
    if (of.meant) ui.list.AddRectFilled(cell.min, cell.max, with_alpha(color, 0.16f));
    if (waited_for) hatch(ui, cell, with_alpha(ui.ink(Ink::Barrier), 0.45f), ui.px(6));
    const Ink ink = of.meant ? Ink::Text : Ink::TextQuiet;
    const Rect in{{cell.min.x + ui.px(4), cell.min.y}, {cell.max.x - ui.px(2), cell.max.y}};
    const float top = cell.min.y + (two_lines ? ui.px(1) : (cell.height() - small) / 2), gap = ui.px(6);
    const std::string phase = fmt::format("phase {}", of.phase);
    const float phase_wide = text_width(ui, phase) + gap, dots = arrivals_width(ui, of);
    // On one line the name gives way to its index, which the heading explains, and then the phase goes.
    const std::string index =
        of.name.find('[') < of.name.size() ? of.name.substr(of.name.find('[')) : of.name;
    const draw::Font strong = ui.font(of.meant ? Face::Strong : Face::Text, Size::Small);
    const auto fits = [&](const std::string& name, float more) {
        return draw::text_size(strong, name).x + gap + more <= in.width();
    };
    const bool whole = two_lines || fits(of.name, phase_wide + dots);
    const bool phased = two_lines ? phase_wide + dots <= in.width() : fits(index, phase_wide + dots);
    float x = in.min.x, y = top;
    const float name = line(ui, {x, y}, in.width(), of.meant ? Face::Strong : Face::Text, Size::Small, ink,
                            whole ? of.name : index);
    if (two_lines)
        y += small;
    else
        x += name + gap;
    if (phased) x += line(ui, {x, y}, in.max.x - x, Face::Text, Size::Small, ink, phase) + gap;
    if (x + dots <= in.max.x + 1) arrivals(ui, {x, y}, of, color, ink);
    if (of.asked > 0 && two_lines) {  // a bar along its foot
        const Rect bar{{in.min.x, cell.max.y - ui.px(4)}, {in.max.x, cell.max.y - ui.px(1)}};
        const float part = static_cast<float>(come(of)) / static_cast<float>(of.asked);
        ui.list.AddRectFilled(bar.min, bar.max, ui.ink(Ink::Line));
        ui.list.AddRectFilled(bar.min, {bar.min.x + bar.width() * std::min(part, 1.f), bar.max.y}, color);
    }
    if (ui.over(cell)) ui.tip = fmt::format("{}: {}", of.name, look::barrier_words(of));
}

// What is in a buffer: nothing, a fill under way, one that is there, or one that is read.
void buffer_cell(Ui& ui, const Rect& cell, const look::StageView& of) {
    const Rgba color = ui.ink(Ink::SharedStore);
    const Rect box = cell.inset(ui.px(1));
    ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Cell));
    Rgba ink = ui.ink(Ink::Text);
    if (of.holds == Holds::Landed) {
        ui.list.AddRectFilled(box.min, box.max, color);
        ink = ui.context.palette.text_on(color);
    } else if (of.holds == Holds::UnderWay) {
        ui.list.AddRectFilled(box.min, box.max, with_alpha(color, 0.18f));
        hatch(ui, box, with_alpha(color, 0.8f), ui.px(5));
    }
    ui.list.AddRect(box.min, box.max, of.meant ? ui.ink(Ink::Text) : color, 0, 0, ui.px(of.meant ? 2 : 1));
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const std::string text =
        fitting(font, {holds_words(of), fmt::format("trip {}", of.trip), std::to_string(of.trip)},
                box.width() - ui.px(6));
    const std::string shown = of.holds == Holds::Nothing ? "empty" : text;
    const ImVec2 size = draw::text_size(font, shown);
    const ImVec2 at{(box.min.x + box.max.x - size.x) / 2, (box.min.y + box.max.y - size.y) / 2};
    if (of.holds == Holds::UnderWay)  // on a ground of its own, so that it can be read
        ui.list.AddRectFilled({at.x - ui.px(3), at.y}, {at.x + size.x + ui.px(3), at.y + size.y},
                              ui.ink(Ink::Panel));
    if (size.x <= box.width()) put(ui, ui.list, font, at, ink, shown);
    if (ui.over(box)) ui.tip = fmt::format("{}: {}", of.name, holds_words(of, true));
}

bool waited_for(const look::PipelineView& view, const look::BarrierView& barrier) {
    return std::ranges::any_of(view.waiting,
                               [&](const look::WaitingWarps& of) { return of.barrier == barrier.offset; });
}

float row_height(Ui& ui, bool two_lines) {
    return two_lines ? line_height(ui, Size::Small) * 2 + ui.px(8) : line_height(ui, Size::Small) + ui.px(6);
}

}  // namespace

float pipeline_height(Ui& ui, const look::PipelineView& view, float most) {
    if (view.empty()) return 0;
    const float small = line_height(ui, Size::Small), head = small + ui.px(2);
    const auto rows = static_cast<float>(view.stages.size());
    const float one = head + rows * row_height(ui, false);
    if (one > most) return 0;
    const float words = small * 2 * static_cast<float>(view.waiting.size());
    return std::min(most, head + rows * row_height(ui, true) + words + ui.px(4));
}

void pipeline_picture(Ui& ui, const Rect& rect, const look::PipelineView& view, Rgba color) {
    const float small = line_height(ui, Size::Small);
    const auto count = static_cast<float>(view.stages.size());
    float words = 0;
    for (const look::WaitingWarps& of : view.waiting)
        words += small * static_cast<float>(
                             wrapped(ui.font(Face::Text, Size::Small), of.sentence, rect.width()).size());
    const float head = small + ui.px(2), room = rect.height() - head;
    // The sentences have their room first; stages that have none are left out.
    const bool two_lines = room - words >= count * row_height(ui, true);
    const float pitch = row_height(ui, two_lines);
    const float gap = ui.px(6), left = rect.width() * 0.36f, right = rect.width() * 0.34f;
    const float buffer0 = rect.min.x + left + gap, buffer1 = rect.max.x - right - gap;
    note(ui, rect.min, left, "full");
    note(ui, {buffer0, rect.min.y}, buffer1 - buffer0, "stage");
    note(ui, {buffer1 + gap, rect.min.y}, right, "empty");
    float y = rect.min.y + head;
    // Of more than have room those from the one on that the step is about.
    const auto shown = static_cast<size_t>(std::max(1.f, std::floor((room + ui.px(3)) / pitch)));
    const auto meant = std::ranges::find(view.stages, true, &look::StageView::meant);
    size_t first = shown >= view.stages.size() || meant == view.stages.end()
                       ? 0
                       : static_cast<size_t>(meant - view.stages.begin());
    first = std::min(first, view.stages.size() - std::min(shown, view.stages.size()));
    for (size_t at = first; at < std::min(first + shown, view.stages.size()); ++at) {
        const look::StageView& of = view.stages[at];
        const float bottom = y + pitch - ui.px(3);
        barrier_cell(ui, {{rect.min.x, y}, {rect.min.x + left, bottom}}, of.full, two_lines,
                     waited_for(view, of.full), color);
        buffer_cell(ui, {{buffer0, y}, {buffer1, bottom}}, of);
        if (of.empty)
            barrier_cell(ui, {{buffer1 + gap, y}, {rect.max.x, bottom}}, *of.empty, two_lines,
                         waited_for(view, *of.empty), color);
        y += pitch;
    }
    for (const look::WaitingWarps& of : view.waiting) {
        const auto lines = static_cast<int>((rect.max.y - y) / small);
        if (lines < 1) break;
        y += paragraph(ui, {rect.min.x, y}, rect.width(), Face::Text, Size::Small, Ink::Text, of.sentence,
                       lines);
    }
}

void barriers_picture(Ui& ui, const Rect& rect, const look::SignalView& view, Rgba color) {
    const float small = line_height(ui, Size::Small), high = small + ui.px(8);
    float y = rect.min.y, names = 0;
    for (const look::BarrierView& of : view.barriers) names = std::max(names, text_width(ui, of.name));
    names = std::min(names, rect.width() * 0.4f);
    const float phase = text_width(ui, "phase 0000");
    for (const look::BarrierView& of : view.barriers) {
        if (y + high > rect.max.y) {
            note(ui, {rect.min.x, y}, rect.width(), "...");
            break;
        }
        const Rect row{{rect.min.x, y}, {rect.max.x, y + small}};
        const Ink ink = of.meant ? Ink::Text : Ink::TextQuiet;
        if (of.meant)
            ui.list.AddRectFilled({row.min.x - ui.px(4), row.min.y - ui.px(2)},
                                  {row.max.x, row.max.y + ui.px(2)}, with_alpha(color, 0.14f));
        line(ui, row.min, names, of.meant ? Face::Strong : Face::Text, Size::Small, ink, of.name);
        float x = row.min.x + names + ui.px(10);
        line(ui, {x, y}, phase, Face::Text, Size::Small, ink, fmt::format("phase {}", of.phase));
        x += phase + ui.px(8);
        arrivals(ui, {x, y}, of, color, ink);
        x += arrivals_width(ui, of) + ui.px(8);
        if (of.asked > 0)
            line(
                ui, {x, y}, row.max.x - x, Face::Text, Size::Small, ink,
                fmt::format("{} of {}", grouped(come(of)), counted(static_cast<uint64_t>(of.asked), "byte")));
        if (ui.over(row)) ui.tip = fmt::format("{}: {}", of.name, look::barrier_words(of));
        y += high;
    }
}

Ink ink_of(analysis::WarpRole role) {
    return role == analysis::WarpRole::Producer ? Ink::GlobalLoad : Ink::SharedLoad;
}

void role_strip(Ui& ui, const Rect& rect, analysis::WarpRole role) {
    if (role == analysis::WarpRole::None) return;
    ui.list.AddRectFilled(rect.min, rect.max, ui.ink(ink_of(role)));
    if (role == analysis::WarpRole::Both)
        ui.list.AddRectFilled(rect.min, {rect.max.x, (rect.min.y + rect.max.y) / 2}, ui.ink(Ink::GlobalLoad));
}

void stage_row(Ui& ui, const TimeScale& axis, const Rect& row, std::span<const look::StageSpan> spans,
               const std::function<double(uint32_t)>& place) {
    const Rgba color = ui.ink(Ink::SharedStore);
    const float middle = std::round((row.min.y + row.max.y) / 2);
    ui.list.AddRectFilled({row.min.x, middle}, {row.max.x, middle + 1}, ui.ink(Ink::Line));
    const draw::Font numbers = ui.font(Face::Mono, Size::Small);
    const auto x_of = [&](uint32_t step) { return std::clamp(axis.x(place(step)), row.min.x, row.max.x); };
    for (const look::StageSpan& span : spans) {
        const float asked = x_of(span.asked), landed = x_of(span.landed),
                    freed = x_of(std::max(span.freed, span.landed));
        if (freed <= row.min.x || asked >= row.max.x) continue;
        if (landed > asked) {
            ui.list.AddRectFilled({asked, row.min.y}, {landed, row.max.y}, with_alpha(color, 0.18f));
            if (landed - asked > ui.px(3))
                hatch(ui, {{asked, row.min.y}, {landed, row.max.y}}, with_alpha(color, 0.8f), ui.px(5));
        }
        ui.list.AddRectFilled({landed, row.min.y}, {std::max(freed, landed + 1), row.max.y}, color);
        ui.list.AddRect({asked, row.min.y}, {std::max(freed, landed + 1), row.max.y}, color);
        const std::string text = std::to_string(span.trip);
        const ImVec2 size = draw::text_size(numbers, text);
        if (size.x + ui.px(4) > freed - landed || size.y > row.height() + ui.px(2)) continue;
        put(ui, ui.list, numbers, {(landed + freed - size.x) / 2, (row.min.y + row.max.y - size.y) / 2},
            ui.context.palette.text_on(color), text);
    }
}

}  // namespace tilescope::pictures
