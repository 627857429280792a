#include "app/draw/timeline.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/phases.h"

namespace tilescope::draw {

void phase_band(Ui& ui, const TimeScale& axis, uint32_t phases, const Rect& band, double now) {
    const TimelineView& time = axis.time;
    // Where a number is wider than its phase, only every so many phases have theirs.
    const Font numbers = ui.font(Face::Mono, Size::Small);
    const float widest = text_size(numbers, std::to_string(phases)).x + ui.px(4);
    const auto every = static_cast<size_t>(
        std::max(1.f, std::ceil(widest * static_cast<float>(time.phases.size()) / axis.width)));
    const bool crowded =
        !time.phases.empty() && band.width() / static_cast<float>(time.phases.size()) < ui.px(6);
    for (size_t i = 0; i < time.phases.size(); ++i) {
        const PhaseSpan& span = time.phases[i];
        const Rect box{{axis.x(std::max(span.first, time.first)), band.min.y},
                       {axis.x(std::min(span.end, time.end)), band.max.y - 2}};
        const bool here = now >= span.first && now < span.end;
        if (crowded && !here) continue;
        ui.list.AddRectFilled(box.min, {std::max(box.max.x - 1, box.min.x + 1), box.max.y},
                              ui.ink(here ? Ink::Accent : Ink::Raised), ui.px(2));
    }
    // The numbers on top of all of it: one may reach over its neighbour, but not into its number.
    float free_from = band.min.x;
    for (size_t i = 0; i < time.phases.size() && !crowded; ++i) {
        const PhaseSpan& span = time.phases[i];
        const bool here = now >= span.first && now < span.end;
        const std::string text = span.phase == analysis::kAfter ? "after" : std::to_string(span.phase);
        const Rect box{{axis.x(std::max(span.first, time.first)), band.min.y},
                       {axis.x(std::min(span.end, time.end)), band.max.y - 2}};
        const Rgba color = here ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::TextQuiet);
        if (every == 1) {
            draw_text_in(ui.list, numbers, box.min, box.max, color, text);
        } else if (!here && i % every == 0 && span.phase != analysis::kAfter && box.min.x >= free_from) {
            free_from = box.min.x + widest;
            draw_text(ui.list, numbers, {box.min.x + ui.px(2), box.min.y}, color, text);
        }
    }
    if (crowded) ui.list.AddRectFilled(band.min, {band.max.x, band.min.y + 2}, ui.ink(Ink::Line));
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
    const float x = axis.x(now);
    const float width = std::max(axis.clocks ? 0.f : static_cast<float>(axis.scale), ui.px(2));
    ui.list.AddRectFilled({x, top}, {x + width, bottom}, with_alpha(ui.ink(Ink::Selected), 0.25f));
    ui.list.AddRectFilled({std::round(x + width / 2 - ui.px(1)), top},
                          {std::round(x + width / 2 + ui.px(1)), bottom}, ui.ink(Ink::Selected));
    ui.list.AddTriangleFilled({x + width / 2 - ui.px(6), top - ui.px(2)},
                              {x + width / 2 + ui.px(6), top - ui.px(2)}, {x + width / 2, top + ui.px(7)},
                              ui.ink(Ink::Selected));
}

}  // namespace tilescope::draw
