// The block's time: phases, barriers, a row per warp, the playhead; click or drag to scrub, drag with Shift to mark
// steps for a film. By clocks the wheel zooms about the mouse.
//
//   whose time it is, how long it took, what recording cost                     [clocks] [steps]
//   phase    | 0              | 1              | 2
//   warp 0     marks and waits
//   ...
//   clocks   0      2,000      4,000      6,000                  by clocks only
//
// All places are of the axis that is shown (look::TimelineView).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/look/time_words.h"
#include "app/pictures/pipeline.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

const look::TimelineView& timeline(Ui& ui, const Rect& plot) {
    TimelineCache& cache = ui.state.timeline;
    const auto columns = static_cast<uint32_t>(std::max(plot.width(), 1.f));
    const bool clocks = session::by_clock(ui.session), same_block = cache.of == ui.session.block;
    const bool same =
        same_block && cache.view.columns == columns && clocks == (cache.view.axis == look::TimeAxis::Clocks);
    const look::ClockWindow before = cache.shown;
    if (!same_block || !clocks) cache.shown = {};
    const uint32_t length = clocks ? look::last_clock(ui.trace(), *ui.index()) + 1 : 0;
    if (cache.cursor != ui.session.cursor)
        cache.shown = look::following(cache.shown, length, session::clock_now(ui.session));
    cache.cursor = ui.session.cursor;
    const float wheel = ImGui::GetIO().MouseWheel;
    if (clocks && wheel != 0 && ui.over(plot))
        cache.shown = look::zoomed(cache.shown, length, (ui.cursor().x - plot.min.x) / plot.width(),
                                   std::exp2(wheel / 2));
    if (same && cache.shown == before) return cache.view;
    const uint32_t first = static_cast<uint32_t>(cache.shown.first),
                   end = cache.shown.whole() ? UINT32_MAX : static_cast<uint32_t>(std::ceil(cache.shown.end));
    cache.of = ui.session.block;
    cache.view = clocks ? look::clock_timeline(ui.trace(), *ui.index(), first, end, columns)
                        : look::timeline_view(ui.trace(), *ui.index(), 0, ui.index()->steps, columns);
    return cache.view;
}

// "steps 12 to 31"
std::string steps_words(uint32_t first, uint32_t end) {
    return end == first + 1 ? fmt::format("step {}", grouped(end))
                            : fmt::format("steps {} to {}", grouped(first + 1), grouped(end));
}

void header(Ui& ui, const Rect& rect, bool clocks, const std::optional<session::MarkedSteps>& marked) {
    float right = rect.max.x;
    if (ui.index()->clocked) {
        const float width = ui.px(56);
        for (const bool steps : {true, false}) {
            const Rect box{{right - width, rect.min.y}, {right, rect.max.y}};
            if (button(ui, box, steps ? "steps" : "clocks", steps != clocks, true,
                       "Time by clocks or by steps (C); the wheel zooms into the clocks") &&
                steps == clocks)
                input::ask(ui, "time");
            right = box.min.x - ui.px(2);
        }
        right -= ui.px(14);
    }
    if (marked && !ui.context.paper) {
        const float width = ui.px(60);
        const Rect box{{right - width, rect.min.y}, {right, rect.max.y}};
        if (button(ui, box, "Film\u2026", false, true, "A film of the marked steps (Ctrl + Shift + F)"))
            input::ask(ui, "film");
        right = box.min.x - ui.px(14);
    }
    const trace::Meta& meta = ui.trace().meta;
    const bool gpu = meta.backend == trace::Backend::Gpu;
    const std::string kind =
        gpu && !clocks ? "steps in the order of SM clocks, " + meta.device : look::time_kind(meta);
    float x = rect.min.x;
    x += line(ui, {x, rect.min.y}, right - x, Face::Strong, Size::Small, Ink::Text, kind) + ui.px(14);
    const std::string length =
        ui.index()->clocked ? look::block_time(ui.trace(), *ui.index()) : counted(ui.index()->steps, "step");
    if (!ui.session.question.hides_any()) x += note(ui, {x, rect.min.y}, right - x, length) + ui.px(20);
    if (marked) {  // instead of what the recording cost
        note(ui, {right, rect.min.y}, right - x,
             fmt::format("{} marked", steps_words(marked->first, marked->end)), Align::Right);
        return;
    }
    std::string price = look::price_short(meta);
    const auto width_of = [&] { return draw::text_size(ui.font(Face::Text, Size::Small), price).x; };
    if (!price.empty() && width_of() > right - x)
        price = fmt::format("recording: {} \u00d7 the kernel's time", look::price_times(meta.price));
    const float takes = width_of();
    if (price.empty() || takes > right - x) return;
    note(ui, {right, rect.min.y}, takes + 1, price, Align::Right);
    if (ui.over({{right - takes, rect.min.y}, {right, rect.max.y}})) ui.tip = look::price_text(meta);
}

void clock_axis(Ui& ui, const pictures::TimeScale& axis, float label_x, float top) {
    note(ui, {label_x, top}, axis.left - label_x, "clocks");
    const draw::Font numbers = ui.font(Face::Mono, Size::Small);
    const auto most = static_cast<uint32_t>(axis.width / ui.px(80));
    for (const uint32_t at : look::ticks(axis.time.first, axis.time.end, std::max(most, 1u))) {
        const float x = std::round(axis.x(at));
        ui.list.AddRectFilled({x, top - ui.px(2)}, {x + 1, top + ui.px(3)}, ui.ink(Ink::LineStrong));
        const std::string text = grouped(at);
        const float width = draw::text_size(numbers, text).x;
        const float from = std::clamp(x - width / 2, axis.left, axis.left + axis.width - width);
        put(ui, ui.list, numbers, {from, top + ui.px(1)}, ui.ink(Ink::TextQuiet), text);
    }
}

// The marked steps: a bracket at either end, and all that lies between.
void marked_band(Ui& ui, const pictures::TimeScale& axis, const session::MarkedSteps& marked, bool clocks,
                 float top, float end) {
    const auto place = [&](uint32_t step) -> double {  // behind the last step of the block where it is none
        if (!clocks) return step;
        if (step < ui.index()->steps) return look::clock_of(ui.trace(), *ui.index(), step);
        return look::last_clock(ui.trace(), *ui.index()) + 1.0;
    };
    const double from = place(marked.first), to = place(marked.end), first = axis.time.first,
                 last = axis.time.end;
    if (to <= first || from >= last) return;
    const float left = std::round(axis.x(std::max(from, first))),
                right = std::round(axis.x(std::min(to, last)));
    const Rgba color = ui.ink(Ink::Accent);
    const float thick = ui.px(2), arm = std::min(ui.px(6), (right - left) / 2);
    ui.list.AddRectFilled({left, top}, {right, end}, draw::with_alpha(color, 0.12f));
    const auto bracket = [&](float x, float inwards) {
        const float outer = x - inwards * thick;
        ui.list.AddRectFilled({std::min(x, outer), top}, {std::max(x, outer), end}, color);
        for (const float y : {top, end - thick})
            ui.list.AddRectFilled({std::min(x, x + inwards * arm), y},
                                  {std::max(x, x + inwards * arm), y + thick}, color);
    };
    if (from >= first) bracket(left, 1);
    if (to <= last) bracket(right, -1);
}

// "warp 3, global load"
std::string who_does_what(const Ui& ui, uint32_t step) {
    const uint64_t at = ui.index()->first + step;
    return fmt::format("warp {}, {}", ui.trace().warp_of(at), words_of(look::kind_of(ui.trace(), at)));
}

// What lies under the mouse, by clocks: the wait of a warp, or the latest request, of its row where there is one.
std::string clock_tip(const Ui& ui, uint32_t clock, uint32_t step, std::optional<uint32_t> warp) {
    const trace::Trace& trace = ui.trace();
    if (const auto* barrier = warp ? look::barrier_at(*ui.index(), *warp, clock) : nullptr)
        return look::wait_words(trace, *barrier, *warp);
    const std::string us = look::microseconds(trace.meta, clock);
    const bool own = warp && trace.warp_of(ui.index()->first + step) == *warp;
    return fmt::format("clock {}{}: the {} is step {}, {}", grouped(clock),
                       us.empty() ? "" : fmt::format(" ({})", us), own ? "row's latest" : "latest",
                       grouped(step + 1), who_does_what(ui, step));
}

// A row for each stage of the ring: what its buffer holds when.
void stage_rows(Ui& ui, const pictures::TimeScale& axis, const Rect& rows, size_t labelled) {
    const look::BlockIndex& index = *ui.index();
    const std::vector<analysis::PipelineStage>& stages = index.pipeline->stages;
    const float small = line_height(ui, Size::Small),
                pitch = rows.height() / static_cast<float>(stages.size());
    const float inner = std::max(1.f, std::round(pitch * 0.8f));
    const auto place = [&](uint32_t step) -> double {
        if (!axis.clocks) return step;
        if (step < index.steps) return look::clock_of(ui.trace(), index, step);
        return look::last_clock(ui.trace(), index) + 1.0;
    };
    std::optional<look::PipelineView> now;  // worked out once the mouse asks
    for (uint32_t stage = 0; stage < stages.size(); ++stage) {
        const float top = std::round(rows.min.y + pitch * static_cast<float>(stage));
        const Rect row{{axis.left, top}, {rows.max.x, top + inner}};
        stage_row(ui, axis, row, look::stage_spans(index, stage), place);
        if ((index.steps_of_warp.size() + stage) % labelled == 0)
            small_text(ui, {rows.min.x, top + (inner - small) / 2}, axis.left - rows.min.x - ui.px(8),
                       Ink::TextQuiet, fmt::format("stage {}", stage));
        if (!ui.over({{rows.min.x, top}, {row.max.x, top + pitch}})) continue;
        if (!now) now = look::pipeline_view(ui.trace(), index, ui.step());
        if (stage < now->stages.size())
            ui.tip = fmt::format("stage {}, {}: {}", stage, now->stages[stage].name,
                                 look::holds_words(now->stages[stage], true));
    }
}

// With Shift: from where the mouse was pressed to where it is; a click takes the mark away. True while it goes on.
bool mark_by_mouse(Ui& ui, const Rect& touch, uint32_t step) {
    std::optional<uint32_t>& from = ui.state.timeline.marks_from;
    if (ui.clicked(touch) && ImGui::GetIO().KeyShift) {
        from = step;
        ui.session.marked.reset();
    }
    if (!ui.mouse || !ImGui::IsMouseDown(0)) from.reset();
    if (!from) return false;
    if (ImGui::IsMouseDragging(0))
        session::mark(ui.session, std::min(*from, step), std::max(*from, step) + 1);
    if (const auto marked = session::marked_here(ui.session))
        ui.tip =
            fmt::format("{} marked, for a film (Ctrl + Shift + F)", steps_words(marked->first, marked->end));
    ui.context.another_frame = true;
    return true;
}

}  // namespace

void timeline_panel(Ui& ui, const Rect& rect) {
    const uint32_t steps = ui.index()->steps;
    if (steps == 0) return;
    const float label = ui.px(64), small = line_height(ui, Size::Small);
    const Rect plot{{rect.min.x + label, rect.min.y + small + ui.px(4)}, rect.max};
    const look::TimelineView& time = timeline(ui, plot);
    const bool clocks = time.axis == look::TimeAxis::Clocks;
    if (time.end <= time.first) return;
    const pictures::TimeScale axis{time, clocks, plot.min.x, std::max(plot.width(), 1.f),
                                   static_cast<double>(plot.width()) / (time.end - time.first)};
    const double now = clocks ? session::clock_now(ui.session) : ui.step();

    if (hides_timeline(ui.session.question)) return asked_sign(ui, rect);
    const auto marked = session::marked_here(ui.session);
    header(ui, {rect.min, {rect.max.x, rect.min.y + small}}, clocks, marked);
    const bool phases = ui.index()->spans.size() > 1;  // else all of it is one, and nothing is said of it
    const Rect band{plot.min, {plot.max.x, plot.min.y + (phases ? small : ui.px(6))}};
    if (phases) {
        note(ui, {rect.min.x, band.min.y}, label, "phase");
        phase_band(ui, axis, ui.index()->phases.phases, band, ui.index()->phase_at(ui.step()), ui.notation());
    }

    // Below the warps the stages of a ring, where there is room for both.
    const analysis::Pipeline* const ring = ui.index()->pipeline.get();
    const size_t all_rows = time.warps.size() + (ring == nullptr ? 0 : ring->stages.size());
    const float room = plot.max.y - band.max.y - (clocks ? small : 0);
    const bool stages = ring != nullptr && !ring->empty() && room / static_cast<float>(all_rows) >= ui.px(7);
    const size_t warps = std::max<size_t>(stages ? all_rows : time.warps.size(), 1);
    const Rect rows{{plot.min.x, band.max.y + ui.px(2)},
                    {plot.max.x, plot.max.y - (clocks ? small + ui.px(2) : 0)}};
    const float pitch = std::min(rows.height() / static_cast<float>(warps), ui.px(48));
    const float end = rows.min.y + pitch * static_cast<float>(std::max<size_t>(time.warps.size(), 1));
    const float foot = rows.min.y + pitch * static_cast<float>(warps);  // of the stages too
    const uint32_t current = ui.step() < steps ? ui.trace().warp_of(ui.index()->first + ui.step()) : 0;
    // Only every so many warps have their number where there is no room for all.
    const float apart = small + (pitch < small * 0.4f ? ui.px(5) : 0);
    const auto labelled = static_cast<size_t>(std::max(1.f, std::ceil(apart / std::max(pitch, 1.f))));
    const float inner = std::max(1.f, std::round(pitch * 0.8f));
    std::optional<uint32_t> under;
    for (size_t warp = 0; warp < time.warps.size(); ++warp) {
        const float top = std::round(rows.min.y + pitch * static_cast<float>(warp));
        const Rect row{{plot.min.x, top}, {plot.max.x, top + inner}};
        const bool pinned = ui.session.pin.kind == Pick::Kind::Warp && ui.session.pin.warp == warp;
        if (warp == current || pinned)
            ui.list.AddRectFilled({rect.min.x, top}, row.max,
                                  draw::with_alpha(ui.ink(Ink::Accent), pinned ? 0.16f : 0.08f));
        warp_row(ui, axis, warp, row);
        const analysis::WarpRole role =
            ring == nullptr ? analysis::WarpRole::None : ring->role_of(static_cast<uint32_t>(warp));
        pictures::role_strip(ui, {{plot.min.x - ui.px(6), top}, {plot.min.x - ui.px(2), top + inner}}, role);
        if (warp % labelled == 0)
            small_text(ui, {rect.min.x, std::max(top + (inner - small) / 2, rows.min.y - ui.px(2))},
                       label - ui.px(8), warp == current ? Ink::Text : Ink::TextQuiet,
                       fmt::format("warp {}", warp));
        if (ui.over({{rect.min.x, top}, {plot.min.x, top + pitch}}) && role != analysis::WarpRole::None)
            ui.tip = fmt::format("warp {}: {}", warp, look::name_of(role));
        if (ui.over({{rect.min.x, top}, {plot.min.x, top + pitch}}))
            input::offer_pick(ui, {.kind = Pick::Kind::Warp, .warp = static_cast<uint32_t>(warp)});
        if (ui.over({{plot.min.x, top}, {plot.max.x, top + pitch}})) under = static_cast<uint32_t>(warp);
    }
    // Barriers: a line through all warps where the last one has come.
    for (const uint32_t at : time.barriers) {
        if (time.barriers.size() * 4 >= time.columns) break;
        const float x = std::round(axis.x(clocks ? at : at + 1));
        ui.list.AddLine({x, rows.min.y}, {x, end}, ui.ink(Ink::Barrier), ui.px(1.5f));
    }
    // The one at which warps gather now, as a gate: who has come and who has not.
    if (const auto gate = look::gate_at(ui.trace(), *ui.index(), ui.step())) {
        const auto& arrivals = ui.index()->arrivals[gate->number];
        const double opens =
            clocks ? look::clock_of(ui.trace(), *ui.index(), arrivals.back()) : arrivals.back() + 1;
        const float x = axis.x(opens), wide = ui.px(pictures::kGateWidth);
        if (opens >= time.first && opens <= time.end)
            pictures::slim_gate(ui, {{x + ui.px(3) - wide, rows.min.y}, {x + ui.px(3), end}}, *gate,
                                [&](const look::GateView::WarpAtGate& warp) {
                                    return rows.min.y + pitch * static_cast<float>(warp.warp) + inner / 2;
                                });
    }
    if (stages) stage_rows(ui, axis, {{rect.min.x, end}, {plot.max.x, foot}}, labelled);
    if (clocks) clock_axis(ui, axis, rect.min.x, foot + ui.px(2));
    if (marked) marked_band(ui, axis, *marked, clocks, band.min.y, foot);
    if (now >= time.first && now <= time.end) playhead(ui, axis, band.min.y, foot, now);

    // A click takes what the row under it shows there; dragged on, the mouse scrubs through the steps of all warps,
    // wherever it goes.
    const Rect touch{{plot.min.x, band.min.y - ui.px(4)}, {plot.max.x, end}};
    const ImVec2 pressed = ImGui::GetIO().MouseClickedPos[0];
    const bool held = ui.mouse && ImGui::IsMouseDown(0) && touch.contains(pressed);
    const uint32_t at = look::step_at(time, static_cast<double>((ui.cursor().x - plot.min.x) / plot.width()));
    uint32_t step = clocks ? look::step_at_clock(ui.trace(), *ui.index(), at) : at;
    if (mark_by_mouse(ui, touch, step)) return;
    if (under && !(held && ImGui::IsMouseDragging(0)))
        step = look::step_of_warp(*ui.index(), *under, step).value_or(step);
    if (held) {
        if (step != ui.step()) session::go_to(ui.session, step);
        ui.context.another_frame = true;
    } else if (ui.over(touch)) {
        ui.tip = clocks ? clock_tip(ui, at, step, under)
                        : fmt::format("step {}: {}", grouped(step + 1), who_does_what(ui, step));
    }
}

}  // namespace tilescope::step
