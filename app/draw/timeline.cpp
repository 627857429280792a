#include "app/draw/timeline.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/phases.h"

namespace tilescope::draw {

void phase_band(Ui& ui, const TimeScale& axis, uint32_t phases, const Rect& band, double now,
                const Notation& notation) {
    const TimelineView& time = axis.time;
    const auto count = static_cast<float>(std::max<size_t>(time.phases.size(), 1));
    // Where a number is wider than its phase, only every so many phases have theirs.
    const Font numbers = ui.font(Face::Mono, Size::Small);
    const float widest = text_size(numbers, std::to_string(phases)).x + ui.px(4);
    const auto every = static_cast<size_t>(std::max(1.f, std::ceil(widest * count / axis.width)));
    const bool crowded = band.width() / count < ui.px(6);
    const auto here = [&](const PhaseSpan& span) { return now >= span.first && now < span.end; };
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
        const bool after = span.phase == analysis::kAfter, now_here = here(span);
        const std::string text =
            after ? "after" : std::to_string(span.phase + (notation.phases_from_1 ? 1u : 0u));
        const Rect box = box_of(span);
        const Rgba color =
            now_here ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::TextQuiet);
        if (every == 1) {
            draw_text_in(ui.list, numbers, box.min, box.max, color, text);
        } else if (!now_here && i % every == 0 && !after && box.min.x >= free_from) {
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
        for (const TimelineWait& wait : time.waits[warp])
            wait_bar(ui, {{axis.x(wait.first), row.min.y}, {axis.x(wait.end), row.max.y}});
    }
    for (const TimelineMark& mark : time.warps[warp]) {
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

}  // namespace tilescope::draw
