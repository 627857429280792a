// The blocks that the two stand in: the current request of one of them, with its title, verdict or fault,
// picture, and what the selection says of it; and both as strips of steps under one playhead.
//
//   A  | 0 | 1 | 2 | ...          by step both have one scale, and the shorter one ends earlier;
//      warps                      by phase and by share each fills the width
//   B  |   0   |   1   | ...
//      warps
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "app/compare/panels.h"
#include "app/draw/widgets.h"
#include "app/look/request.h"
#include "app/look/timeline.h"
#include "app/session/playing.h"

namespace tilescope::compare {
namespace {

// A fault in its own words, with the triangle of what is not as it should be.
float fault_words(Ui& ui, ImVec2 at, float width, const std::string& fault) {
    const float mark = ui.px(12), middle = at.y + line_height(ui, Size::Body) / 2, indent = mark + ui.px(8);
    ui.list.AddTriangleFilled({at.x + mark / 2, middle - mark / 2}, {at.x + mark, middle + mark / 2},
                              {at.x, middle + mark / 2}, ui.ink(Ink::Fault));
    return paragraph(ui, {at.x + indent, at.y}, width - indent, Face::Text, Size::Small, Ink::Fault, fault,
                     4);
}

}  // namespace

void compare_request(Ui& ui, const Rect& rect, const Pane& pane) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    if (pane.step() >= pane.index.steps) {
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet, "This block recorded no step.");
        return;
    }
    const draw::RequestView request = look::request_view(pane.trace, pane.index, pane.step());
    const float mark =
        badge(ui, {in.min.x, in.min.y + (body - ui.px(18)) / 2}, ui.px(18), pane.letter) + ui.px(8);
    request_title(ui, {in.min.x + mark, in.min.y}, in.width() - mark, request);
    float y = in.min.y + body + ui.px(4);
    // A fault is what the step is about, whatever its request costs.
    const std::string fault = pane.fault();
    const bool low = rect.height() < ui.px(240);
    if (fault.empty())
        y += request_verdict(ui, {in.min.x, y}, in.width(), request, low ? 2 : 3, low);
    else
        y += fault_words(ui, {in.min.x, y}, in.width(), fault);
    y += ui.px(8);
    float bottom = in.max.y;
    // The selection has up to three lines, where they leave the picture its height.
    const auto lines = std::min<size_t>(pane.selected.lines.size(), 3);
    const float wanted = small * static_cast<float>(lines) + ui.px(8);
    if (lines > 0 && bottom - wanted - y >= ui.px(118)) {
        bottom -= wanted;
        ui.list.AddLine({in.min.x, bottom + ui.px(2)}, {in.max.x, bottom + ui.px(2)}, ui.ink(Ink::Line));
        for (size_t i = 0; i < lines; ++i) {
            line(ui, {in.min.x, bottom + ui.px(6) + small * static_cast<float>(i)}, in.width(),
                 i == 0 ? Face::Strong : Face::Text, Size::Small, i == 0 ? Ink::Text : Ink::TextQuiet,
                 pane.selected.lines[i]);
        }
    }
    const Rect picture{{in.min.x, y}, {in.max.x, bottom}};
    if (picture.height() < ui.px(70)) return;
    const uint32_t lane = look::spoken_lane(request, pane.here(ui.session.hover), pane.here(ui.session.pin));
    const auto under =
        draw::request_picture(ui, picture, request, look::barrier_of_step(pane.index, pane.step()), lane);
    if (!under) return;
    ui.tip = look::lane_text(pane.trace, request, *under);
    input::offer_pick(
        ui, pane.offered(
                {.kind = Pick::Kind::Thread, .thread = request.lanes[*under].thread, .warp = request.warp}));
}

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
// both: the steps that the whole width stands for; 0 for its own.
std::optional<uint32_t> one_strip(Ui& ui, const Rect& rect, const Pane& pane, Known& cache, uint32_t both,
                                  const std::shared_ptr<const look::BlockIndex>& index) {
    const uint32_t steps = index->steps;
    if (steps == 0) return std::nullopt;
    const float label = ui.px(40), small = line_height(ui, Size::Small);
    const float size = ui.px(18);
    badge(ui, {rect.min.x, rect.min.y + (rect.height() - size) / 2}, size, pane.letter);
    Rect plot{{rect.min.x + label, rect.min.y}, rect.max};
    plot.max.x =
        plot.min.x + plot.width() * static_cast<float>(steps) / static_cast<float>(both > 0 ? both : steps);
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
    const float half = (rect.height() - ui.px(8)) / 2;
    const uint32_t both = state.lock == Lock::Step ? std::max(a.index.steps, b.index.steps) : 0;
    auto step =
        one_strip(ui, {rect.min, {rect.max.x, rect.min.y + half}}, a, state.a, both, ui.session.block);
    const auto on_b =
        one_strip(ui, {{rect.min.x, rect.max.y - half}, rect.max}, b, state.b, both, state.other.block);
    if (on_b)
        step = leading_step(state.lock, {a.trace, *state.a.tally}, a.index, {b.trace, *state.b.tally},
                            b.index, *on_b);
    if (!step) return;
    if (*step != ui.step()) session::go_to(ui.session, *step);
    ui.context.another_frame = true;
}

}  // namespace tilescope::compare
