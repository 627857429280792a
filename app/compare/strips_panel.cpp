// The block of A and the block of B as strips of steps, one above the other, under one playhead.
//
//   A  | 0 | 1 | 2 | ...          by step both have one scale, and the shorter one ends earlier;
//      warps                      by phase and by share each fills the width
//   B  |   0   |   1   | ...
//      warps
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "app/compare/opening.h"
#include "app/compare/panels.h"
#include "app/draw/timeline.h"
#include "app/input/panels.h"
#include "app/session/playing.h"

namespace tilescope::compare {
namespace {

// Where a fault comes about: a tick on the edge of the band.
void fault_ticks(Ui& ui, const draw::TimeScale& axis, const look::BlockFaults& faults, float bottom) {
    float latest = -1e9f;
    for (const uint32_t step : faults.steps) {
        const float x = axis.x(step + 0.5);
        if (x - latest < ui.px(4)) continue;
        latest = x;
        ui.list.AddTriangleFilled({x - ui.px(3), bottom - ui.px(6)}, {x + ui.px(3), bottom - ui.px(6)},
                                  {x, bottom}, ui.ink(Ink::Fault));
    }
}

// The step under the mouse while it is held down from this strip on.
std::optional<uint32_t> one_strip(Ui& ui, const Rect& rect, const Pane& pane, Known& cache, uint32_t longest,
                                  const std::shared_ptr<const look::BlockIndex>& index) {
    const uint32_t steps = index->steps;
    if (steps == 0) return std::nullopt;
    const float label = ui.px(40), small = line_height(ui, Size::Small);
    const float size = ui.px(18);
    badge(ui, {rect.min.x, rect.min.y + (rect.height() - size) / 2}, size, pane.letter);
    Rect plot{{rect.min.x + label, rect.min.y}, rect.max};
    plot.max.x = plot.min.x + plot.width() * static_cast<float>(steps) / static_cast<float>(longest);
    const auto columns = static_cast<uint32_t>(std::max(plot.width(), 1.f));
    if (cache.strip_of != index || cache.strip.columns != columns) {
        cache.strip_of = index;
        cache.strip = look::timeline_view(pane.trace, *index, 0, steps, columns);
    }
    const draw::TimelineView& time = cache.strip;
    const draw::TimeScale axis{time, false, plot.min.x, std::max(plot.width(), 1.f),
                               static_cast<double>(plot.width()) / (time.end - time.first)};
    const Rect band{plot.min, {plot.max.x, plot.min.y + small}};
    phase_band(ui, axis, index->phases.phases, band, pane.step(), index->notation);
    const auto warps = static_cast<float>(std::max<size_t>(time.warps.size(), 1));
    const float top = band.max.y + ui.px(2), pitch = (plot.max.y - top) / warps;
    for (size_t warp = 0; warp < time.warps.size(); ++warp) {
        const float y = top + pitch * static_cast<float>(warp);
        const float high = pitch >= 3 ? std::max(1.f, std::round(pitch * 0.8f)) : pitch;
        warp_row(ui, axis, warp, {{plot.min.x, y}, {plot.max.x, y + high}});
    }
    if (pane.faults != nullptr) fault_ticks(ui, axis, *pane.faults, top + ui.px(2));
    playhead(ui, axis, band.min.y, plot.max.y, pane.step());

    const ImVec2 pressed = ImGui::GetIO().MouseClickedPos[0];
    const uint32_t step =
        look::step_at(time, static_cast<double>((ui.cursor().x - plot.min.x) / plot.width()));
    if (ui.mouse && ImGui::IsMouseDown(0) && plot.contains(pressed)) return step;
    if (ui.over(plot)) {
        ui.tip = fmt::format("{}, step {}: warp {}, {}", pane.letter, grouped(step + 1),
                             pane.trace.warp_of(index->first + step),
                             words_of(look::kind_of(pane.trace, index->first + step)));
    }
    return std::nullopt;
}

}  // namespace

void compare_strips(Ui& ui, const Rect& rect, const Pane& a, const Pane& b) {
    State& state = ui.state;
    const float gap = ui.px(8), half = (rect.height() - gap) / 2;
    const bool one_scale = state.lock == Lock::Step;
    const uint32_t both = std::max({a.index.steps, b.index.steps, 1u});
    const auto on_a = one_strip(ui, {rect.min, {rect.max.x, rect.min.y + half}}, a, state.a,
                                one_scale ? both : std::max(a.index.steps, 1u), ui.session.block);
    const auto on_b = one_strip(ui, {{rect.min.x, rect.max.y - half}, rect.max}, b, state.b,
                                one_scale ? both : std::max(b.index.steps, 1u), state.block);
    std::optional<uint32_t> step = on_a;
    if (on_b)
        step = leading_step(state.lock, {a.trace, *state.a.tally}, a.index, {b.trace, *state.b.tally},
                            b.index, *on_b);
    if (!step) return;
    if (*step != ui.step()) session::go_to(ui.session, *step);
    ui.context.another_frame = true;
}

}  // namespace tilescope::compare
