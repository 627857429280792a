// Marks of steps, and a timeline of them: the band of phases, a row a warp, the playhead.
#include <algorithm>
#include <cmath>
#include <string>

#include "app/pictures/pictures.h"
#include "core/recording/phases.h"

namespace tilescope::pictures {

void sign(Ui& ui, const Rect& box, StepKind kind, float alpha) {
    const Rgba color = with_alpha(ui.ink(ink_of(kind)), alpha);
    const auto fill = [&](float x0, float y0, float x1, float y1) {
        ui.list.AddRectFilled({x0, y0}, {x1, y1}, color);
    };
    const auto [min, max] = box;
    const float middle = std::round((min.y + max.y) / 2);
    if (box.height() < 2 || kind == StepKind::GlobalLoad) {  // the former has no room for a pattern
        fill(min.x, min.y, max.x, max.y);
    } else if (kind == StepKind::GlobalStore) {
        const float t = std::max(1.f, std::min(ui.px(2), box.width() / 3));
        ui.list.AddRectFilled(min, max, with_alpha(color, alpha * 0.35f));
        fill(min.x, min.y, max.x, min.y + t);
        fill(min.x, max.y - t, max.x, max.y);
        fill(min.x, min.y, min.x + t, max.y);
        fill(max.x - t, min.y, max.x, max.y);
    } else if (kind == StepKind::Barrier) {
        const float half = std::max(1.f, ui.px(1));
        fill(min.x, middle - half, max.x, middle + half);
        fill(min.x, min.y, min.x + std::max(1.f, half * 1.5f), max.y);
    } else if (kind == StepKind::Exchange) {
        // No wider than high; a line goes on to the warp's next step.
        const float right = std::min(max.x, min.x + box.height()), half = std::max(1.f, ui.px(1));
        const ImVec2 center{(min.x + right) / 2, (min.y + max.y) / 2};
        ui.list.AddTriangleFilled(min, {right, min.y}, center, color);
        ui.list.AddTriangleFilled({min.x, max.y}, center, {right, max.y}, color);
        if (right + ui.px(2) < max.x) fill(center.x, middle - half / 2, max.x, middle + half / 2);
    } else if (is_of_mbarrier(kind)) {
        const float right = std::min(max.x, min.x + box.height());
        const float foot = kind == StepKind::Signal ? max.y : min.y,
                    tip = kind == StepKind::Signal ? min.y : max.y;
        ui.list.AddTriangleFilled({min.x, foot}, {right, foot}, {(min.x + right) / 2, tip}, color);
    } else if (kind == StepKind::GlobalAtomic || kind == StepKind::SharedAtomic) {
        // Read and written: both edges; of shared memory with a line between, which takes half as much.
        const float part = box.height() / (kind == StepKind::GlobalAtomic ? 3.f : 5.f);
        fill(min.x, min.y, max.x, min.y + part);
        fill(min.x, max.y - part, max.x, max.y);
        if (kind == StepKind::SharedAtomic) fill(min.x, middle - part / 2, max.x, middle + part / 2);
    } else if (space_of(kind) == Space::Local) {
        const float third = box.height() / 3;
        const float top = kind == StepKind::LocalLoad ? max.y - third : min.y;
        fill(min.x, top, max.x, top + third);
    } else if (kind == StepKind::ConstantLoad) {
        const float part = box.height() / 6;
        fill(min.x, middle - part, max.x, middle + part);
    } else {
        const bool load = kind == StepKind::SharedLoad;
        fill(min.x, load ? middle : min.y, max.x, load ? max.y : middle);
    }
}

void wait_bar(Ui& ui, const Rect& box) {
    const Rgba color = ui.ink(Ink::Barrier);
    ui.list.AddRectFilled(box.min, box.max, with_alpha(color, 0.16f));
    if (box.width() > ui.px(3)) hatch(ui, box, with_alpha(color, 0.85f), ui.px(5));
    ui.list.AddRectFilled(box.min, {box.min.x + std::min(ui.px(1.5f), box.width()), box.max.y}, color);
}

void phase_band(Ui& ui, const TimeScale& axis, uint32_t phases, const Rect& band, uint32_t phase,
                const Notation& notation) {
    const TimelineView& time = axis.time;
    const auto count = static_cast<float>(std::max<size_t>(time.phases.size(), 1));
    // Where a number is wider than its phase, only every so many phases have theirs.
    const Font numbers = ui.font(Face::Mono, Size::Small);
    const float widest = text_size(numbers, std::to_string(phases)).x + ui.px(4);
    const auto every = static_cast<size_t>(std::max(1.f, std::ceil(widest * count / axis.width)));
    const bool crowded = band.width() / count < ui.px(6);
    const auto here = [&](const PhaseSpan& span) { return span.phase == phase; };
    const auto box_of = [&](const PhaseSpan& span) {
        return Rect{{axis.x(std::max(span.first, time.first)), band.min.y},
                    {axis.x(std::min(span.end, time.end)), band.max.y - 2}};
    };
    for (const PhaseSpan& span : time.phases) {
        const Rect box = box_of(span);
        if (!crowded || here(span))
            ui.list.AddRectFilled(box.min, {std::max(box.max.x - 1, box.min.x + 1), box.max.y},
                                  ui.ink(here(span) ? Ink::Accent : Ink::Raised), ui.px(2));
    }
    if (crowded) return ui.list.AddRectFilled(band.min, {band.max.x, band.min.y + 2}, ui.ink(Ink::Line));
    // The numbers on top of all of it: one may reach over its neighbour, but not into its number.
    float free_from = band.min.x;
    for (size_t i = 0; i < time.phases.size(); ++i) {
        const PhaseSpan& span = time.phases[i];
        const bool after = span.phase == analysis::kAfter, is_here = here(span);
        const std::string text =
            after ? "after" : std::to_string(span.phase + (notation.phases_from_1 ? 1u : 0u));
        const Rect box = box_of(span);
        const Rgba color = is_here ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::TextQuiet);
        if (every == 1) {
            draw_text_in(ui.list, numbers, box.min, box.max, color, text);
        } else if (!is_here && i % every == 0 && !after && box.min.x >= free_from) {
            free_from = box.min.x + widest;
            draw_text(ui.list, numbers, {box.min.x + ui.px(2), box.min.y}, color, text);
        }
    }
}

void warp_row(Ui& ui, const TimeScale& axis, size_t warp, const Rect& row) {
    const TimelineView& time = axis.time;
    if (axis.clocks) {
        const float middle = std::round((row.min.y + row.max.y) / 2);
        ui.list.AddRectFilled({row.min.x, middle}, {row.max.x, middle + 1}, ui.ink(Ink::Line));
    }
    if (warp < time.waits.size())
        for (const look::TimelineMark& wait : time.waits[warp])
            if (axis.clocks || wait.kind == StepKind::SignalWait)
                wait_bar(ui, {{axis.x(wait.first), row.min.y}, {axis.x(wait.end), row.max.y}});
    for (const look::TimelineMark& mark : time.warps[warp]) {
        const float x0 = axis.x(mark.first);
        float x1 = axis.x(mark.end);
        if (axis.clocks) {
            // A request is a moment: its mark is as narrow as can be seen.
            if (mark.kind == StepKind::Barrier) continue;  // its wait begins here
            x1 = std::max(x1, x0 + ui.px(2));
        } else {
            if (x1 - x0 < 0.5f) continue;
            x1 = std::max(x1 - (x1 - x0 > 4 ? 1.f : 0.f), x0 + 1);
        }
        sign(ui, {{x0, row.min.y}, {x1, row.max.y}}, mark.kind,
             mark.kind == StepKind::Barrier ? 0.75f : 0.9f);
    }
}

void playhead(Ui& ui, const TimeScale& axis, float top, float bottom, double now) {
    const float x = axis.x(now),
                width = std::max(axis.clocks ? 0.f : static_cast<float>(axis.scale), ui.px(2));
    const float middle = x + width / 2;
    const Rgba color = ui.ink(Ink::Selected);
    ui.list.AddRectFilled({x, top}, {x + width, bottom}, with_alpha(color, 0.25f));
    ui.list.AddRectFilled({std::round(middle - ui.px(1)), top}, {std::round(middle + ui.px(1)), bottom},
                          color);
    ui.list.AddTriangleFilled({middle - ui.px(6), top - ui.px(2)}, {middle + ui.px(6), top - ui.px(2)},
                              {middle, top + ui.px(7)}, color);
}

std::optional<uint32_t> block_strip(Ui& ui, const Rect& plot, look::BlockStrip& kept,
                                    const trace::Trace& trace,
                                    const std::shared_ptr<const look::BlockIndex>& block, uint32_t step) {
    const look::BlockIndex& index = *block;
    if (index.steps == 0) return std::nullopt;
    const auto columns = static_cast<uint32_t>(std::max(plot.width(), 1.f));
    if (kept.of != block || kept.view.columns != columns)
        kept = {block, look::timeline_view(trace, index, 0, index.steps, columns)};
    const TimelineView& time = kept.view;
    const TimeScale axis{time, false, plot.min.x, std::max(plot.width(), 1.f),
                         static_cast<double>(plot.width()) / (time.end - time.first)};
    const Rect band{plot.min, {plot.max.x, std::min(plot.max.y, plot.min.y + line_height(ui, Size::Small))}};
    phase_band(ui, axis, index.phases.phases, band, index.phase_at(step), index.notation);
    const float top = band.max.y + ui.px(2);
    const auto warps = static_cast<float>(std::max<size_t>(time.warps.size(), 1));
    const float pitch = (plot.max.y - top) / warps;
    for (size_t warp = 0; warp < time.warps.size() && pitch > 0; ++warp) {
        const float y = top + pitch * static_cast<float>(warp);
        const float high = pitch >= 3 ? std::max(1.f, std::round(pitch * 0.8f)) : pitch;
        warp_row(ui, axis, warp, {{plot.min.x, y}, {plot.max.x, y + high}});
    }
    playhead(ui, axis, band.min.y, plot.max.y, step);
    if (!ui.mouse || !ImGui::IsMouseDown(0) || !plot.contains(ImGui::GetIO().MouseClickedPos[0]))
        return std::nullopt;
    return look::step_at(time, static_cast<double>((ui.cursor().x - plot.min.x) / plot.width()));
}

}  // namespace tilescope::pictures
