// The block's time: phases, barriers, a row per warp, the playhead; click or drag to scrub.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/actions.h"
#include "app/panels/panels.h"
#include "app/view/timeline_view.h"

namespace tilescope::panels {
namespace {

void warp_row(Ui& ui, const view::TimelineView& time, const std::vector<view::TimelineMark>& marks,
              const Rect& row, double per_step) {
    for (const view::TimelineMark& mark : marks) {
        const float x0 = row.min.x + static_cast<float>((mark.first - time.first) * per_step);
        const float x1 = row.min.x + static_cast<float>((mark.end - time.first) * per_step);
        if (x1 - x0 < 0.5f) continue;
        sign(ui, {{x0, row.min.y}, {std::max(x1 - (x1 - x0 > 4 ? 1.f : 0.f), x0 + 1), row.max.y}}, mark.kind,
             mark.kind == view::StepKind::Barrier ? 0.75f : 0.9f);
    }
}

}  // namespace

void timeline_panel(Ui& ui, const Rect& rect) {
    const uint32_t steps = ui.index->steps;
    if (steps == 0) return;
    const float label = ui.px(64), small = line_height(ui, Size::Small);
    const Rect plot{{rect.min.x + label, rect.min.y}, rect.max};
    const auto columns = static_cast<uint32_t>(std::max(plot.width(), 1.f));
    app::TimelineCache& cache = ui.state.timeline;
    if (cache.of != ui.state.block || cache.view.columns != columns) {
        cache = {ui.state.block, view::timeline_view(ui.trace(), *ui.index, 0, steps, columns)};
    }
    const view::TimelineView& time = cache.view;
    const double per_step = static_cast<double>(plot.width()) / (time.end - time.first);
    const auto x_of = [&](uint32_t step) {
        return plot.min.x + static_cast<float>((step - time.first) * per_step);
    };

    // Phases: a band with its number where there is room for it.
    const Rect band{plot.min, {plot.max.x, plot.min.y + small}};
    line(ui, {rect.min.x, band.min.y}, label, Face::Text, Size::Small, Ink::TextQuiet, "phase");
    // Where a number is wider than its phase, only every so many phases have theirs.
    const draw::Font numbers = ui.font(Face::Mono, Size::Small);
    const float widest = draw::text_size(numbers, std::to_string(ui.index->phases.phases)).x + ui.px(4);
    const auto every = static_cast<size_t>(std::max(
        1.f, std::ceil(widest * static_cast<float>(ui.index->phases.phases) / std::max(plot.width(), 1.f))));
    const bool crowded =
        !time.phases.empty() && band.width() / static_cast<float>(time.phases.size()) < ui.px(6);
    for (size_t i = 0; i < time.phases.size(); ++i) {
        const view::PhaseSpan& span = time.phases[i];
        const Rect box{{x_of(std::max(span.first, time.first)), band.min.y},
                       {x_of(std::min(span.end, time.end)), band.max.y - 2}};
        const bool here = ui.step() >= span.first && ui.step() < span.end;
        if (crowded && !here) continue;
        ui.list.AddRectFilled(box.min, {std::max(box.max.x - 1, box.min.x + 1), box.max.y},
                              ui.ink(here ? Ink::Accent : Ink::Raised), ui.px(2));
    }
    for (size_t i = 0; i < time.phases.size() && !crowded; ++i) {
        const view::PhaseSpan& span = time.phases[i];
        const bool here = ui.step() >= span.first && ui.step() < span.end;
        const std::string text = span.phase == analysis::kAfter ? "after" : std::to_string(span.phase);
        const Rect box{{x_of(span.first), band.min.y}, {x_of(span.end), band.max.y - 2}};
        const Rgba color = here ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::TextQuiet);
        if (every == 1) {
            draw::draw_text_in(ui.list, numbers, box.min, box.max, color, text);
        } else if (!here && i % every == 0 && span.phase != analysis::kAfter) {
            draw::draw_text(ui.list, numbers, {box.min.x + ui.px(2), box.min.y}, color, text);
        }
    }
    if (crowded) {
        ui.list.AddRectFilled(band.min, {band.max.x, band.min.y + 2}, ui.ink(Ink::Line));
    }

    const size_t warps = std::max<size_t>(time.warps.size(), 1);
    const Rect rows{{plot.min.x, band.max.y + ui.px(2)}, plot.max};
    const float pitch = std::min(rows.height() / static_cast<float>(warps), ui.px(48));
    const float end = rows.min.y + pitch * static_cast<float>(warps);
    const uint32_t current = ui.step() < steps ? ui.trace().warp_of(ui.index->first + ui.step()) : 0;
    for (size_t warp = 0; warp < time.warps.size(); ++warp) {
        const float top = std::round(rows.min.y + pitch * static_cast<float>(warp));
        const float inner = std::max(1.f, std::round(pitch * 0.8f));
        const Rect row{{plot.min.x, top}, {plot.max.x, top + inner}};
        const bool pinned = ui.state.pin.kind == Pick::Kind::Warp && ui.state.pin.warp == warp;
        if (warp == current || pinned) {
            ui.list.AddRectFilled({rect.min.x, top}, {plot.max.x, top + inner},
                                  draw::with_alpha(ui.ink(Ink::Accent), pinned ? 0.16f : 0.08f));
        }
        warp_row(ui, time, time.warps[warp], row, per_step);
        const size_t labelled =
            std::max<size_t>(1, static_cast<size_t>(std::ceil(small / std::max(pitch, 1.f))));
        if (warp % labelled == 0) {
            line(ui, {rect.min.x, top + (inner - small) / 2}, label - ui.px(8), Face::Text, Size::Small,
                 warp == current ? Ink::Text : Ink::TextQuiet, fmt::format("warp {}", warp));
        }
        if (ui.over({{rect.min.x, top}, {plot.min.x, top + pitch}})) {
            Pick pick;
            pick.kind = Pick::Kind::Warp;
            pick.warp = static_cast<uint32_t>(warp);
            offer_pick(ui, pick);
        }
    }
    // Barriers: a line through all warps where the last one has come.
    if (time.barriers.size() * 4 < columns) {
        for (const uint32_t step : time.barriers) {
            const float x = std::round(x_of(step + 1));
            ui.list.AddLine({x, rows.min.y}, {x, end}, ui.ink(Ink::Barrier), ui.px(1.5f));
        }
    }
    const float x = x_of(ui.step()), width = std::max(static_cast<float>(per_step), ui.px(2));
    ui.list.AddRectFilled({x, band.min.y}, {x + width, end}, draw::with_alpha(ui.ink(Ink::Selected), 0.25f));
    ui.list.AddRectFilled({std::round(x + width / 2 - ui.px(1)), band.min.y},
                          {std::round(x + width / 2 + ui.px(1)), end}, ui.ink(Ink::Selected));
    ui.list.AddTriangleFilled({x + width / 2 - ui.px(6), band.min.y - ui.px(2)},
                              {x + width / 2 + ui.px(6), band.min.y - ui.px(2)},
                              {x + width / 2, band.min.y + ui.px(7)}, ui.ink(Ink::Selected));

    // Scrubbing: begins on the plot, goes on wherever the mouse is dragged.
    const Rect touch{{plot.min.x, band.min.y - ui.px(4)}, {plot.max.x, end}};
    const ImVec2 pressed = ImGui::GetIO().MouseClickedPos[0];
    if (ui.mouse && ImGui::IsMouseDown(0) && touch.contains(pressed)) {
        const uint32_t to =
            view::step_at(time, static_cast<double>((ui.cursor().x - plot.min.x) / plot.width()));
        if (to != ui.step()) app::go_to(ui.state, to);
        ui.context.another_frame = true;
    } else if (ui.over(touch)) {
        const uint32_t at =
            view::step_at(time, static_cast<double>((ui.cursor().x - plot.min.x) / plot.width()));
        ui.tip = fmt::format("step {}: warp {}, {}", view::grouped(at + 1),
                             ui.trace().warp_of(ui.index->first + at),
                             words_of(view::kind_of(ui.trace(), ui.index->first + at)));
    }
}

}  // namespace tilescope::panels
