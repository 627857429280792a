// The Compare screen: its layout, the request at which each block stands, and their strips of steps.
//
//   +-----------------------------------------------------------+
//   | a warning, where one of the two is not whole              |
//   | what it comes to                locked by [..]   Choose   |
//   +----------------+-------------------------+----------------+
//   | A: M, N by     | scale of the loads      | B: M, N by     |
//   |    loads       | counters                |    loads       |
//   +----------------+                         +----------------+
//   | A: request     |                         | B: request     |
//   +----------------+-------------------------+----------------+
//   | strip of A                                                |
//   | strip of B                                                |
//   | transport                                                 |
//   +-----------------------------------------------------------+
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "app/compare/panels.h"
#include "app/draw/widgets.h"
#include "app/input/overlays.h"
#include "app/look/request.h"
#include "app/look/timeline.h"
#include "app/pictures/pictures.h"
#include "app/session/playing.h"

namespace tilescope::compare {
namespace {

// --- the block of one recording: its current request, with its verdict or fault, its picture, and what the
// selection says of it

// A fault in its own words, with the triangle of what is not as it should be.
float fault_words(Ui& ui, ImVec2 at, float width, const std::string& fault) {
    const float mark = ui.px(12), middle = at.y + line_height(ui, Size::Body) / 2, indent = mark + ui.px(8);
    ui.list.AddTriangleFilled({at.x + mark / 2, middle - mark / 2}, {at.x + mark, middle + mark / 2},
                              {at.x, middle + mark / 2}, ui.ink(Ink::Fault));
    return paragraph(ui, {at.x + indent, at.y}, width - indent, Face::Text, Size::Small, Ink::Fault, fault,
                     4);
}

void request_panel(Ui& ui, const Rect& rect, const Pane& pane) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    if (pane.step() >= pane.index.steps) {
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet, "This block recorded no step.");
        return;
    }
    const look::RequestView request = look::request_view(pane.trace, pane.index, pane.step());
    const float mark =
        badge(ui, {in.min.x, in.min.y + (body - ui.px(18)) / 2}, ui.px(18), pane.letter) + ui.px(8);
    pictures::request_title(ui, {in.min.x + mark, in.min.y}, in.width() - mark, request);
    float y = in.min.y + body + ui.px(4);
    // A fault is what the step is about, whatever its request costs.
    const std::string fault = pane.fault();
    const bool low = rect.height() < ui.px(240);
    if (fault.empty())
        y += pictures::request_verdict(ui, {in.min.x, y}, in.width(), request,
                                       low                          ? 2
                                       : rect.height() < ui.px(440) ? 3
                                                                    : 5,
                                       low);
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
        pictures::request_picture(ui, picture, request, look::barrier_of_step(pane.index, pane.step()), lane);
    if (!under) return;
    ui.tip = look::lane_text(pane.trace, request, *under);
    input::offer_pick(
        ui, pane.offered(
                {.kind = Pick::Kind::Thread, .thread = request.lanes[*under].thread, .warp = request.warp}));
}

// --- both blocks as strips of steps under one playhead
//
//   A  | 0 | 1 | 2 | ...          by step both have one scale, and the shorter one ends earlier;
//      warps                      by phase and by share each fills the width
//   B  |   0   |   1   | ...
//      warps

// Where a fault comes about: a tick on the edge of the band.
void fault_ticks(Ui& ui, const pictures::TimeScale& axis, const look::BlockFaults& faults, float bottom) {
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
std::optional<uint32_t> one_strip(Ui& ui, const Rect& rect, const Pane& pane, uint32_t both) {
    const look::BlockIndex& index = pane.index;
    Known& cache = pane.known;
    const uint32_t steps = index.steps;
    if (steps == 0) return std::nullopt;
    const float label = ui.px(40), small = line_height(ui, Size::Small);
    const float size = ui.px(18);
    badge(ui, {rect.min.x, rect.min.y + (rect.height() - size) / 2}, size, pane.letter);
    Rect plot{{rect.min.x + label, rect.min.y}, rect.max};
    plot.max.x =
        plot.min.x + plot.width() * static_cast<float>(steps) / static_cast<float>(both > 0 ? both : steps);
    const auto columns = static_cast<uint32_t>(std::max(plot.width(), 1.f));
    if (cache.strip_of != pane.shown.block || cache.strip.columns != columns) {
        cache.strip_of = pane.shown.block;
        cache.strip = look::timeline_view(pane.trace, index, 0, steps, columns);
    }
    const look::TimelineView& time = cache.strip;
    const pictures::TimeScale axis{time, false, plot.min.x, std::max(plot.width(), 1.f),
                                   static_cast<double>(plot.width()) / (time.end - time.first)};
    const Rect band{plot.min, {plot.max.x, plot.min.y + small}};
    phase_band(ui, axis, index.phases.phases, band, index.phase_at(pane.step()), index.notation);
    const auto warps = static_cast<float>(std::max<size_t>(time.warps.size(), 1));
    const float top = band.max.y + ui.px(2), pitch = (plot.max.y - top) / warps;
    for (size_t warp = 0; warp < time.warps.size(); ++warp) {
        const float y = top + pitch * static_cast<float>(warp);
        const float high = pitch >= 3 ? std::max(1.f, std::round(pitch * 0.8f)) : pitch;
        warp_row(ui, axis, warp, {{plot.min.x, y}, {plot.max.x, y + high}});
    }
    if (pane.shown.faults) fault_ticks(ui, axis, *pane.shown.faults, top + ui.px(2));
    playhead(ui, axis, band.min.y, plot.max.y, pane.step());

    const ImVec2 pressed = ImGui::GetIO().MouseClickedPos[0];
    const uint32_t step =
        look::step_at(time, static_cast<double>((ui.cursor().x - plot.min.x) / plot.width()));
    if (ui.mouse && ImGui::IsMouseDown(0) && plot.contains(pressed)) return step;
    if (ui.over(plot)) {
        ui.tip = fmt::format("{}, step {}: warp {}, {}", pane.letter, grouped(step + 1),
                             pane.trace.warp_of(index.first + step),
                             words_of(look::kind_of(pane.trace, index.first + step)));
    }
    return std::nullopt;
}

void strips(Ui& ui, const Rect& rect, const Pane& a, const Pane& b) {
    const Lock lock = ui.state.lock;
    const float half = (rect.height() - ui.px(8)) / 2;
    const uint32_t both = lock == Lock::Step ? std::max(a.index.steps, b.index.steps) : 0;
    auto step = one_strip(ui, {rect.min, {rect.max.x, rect.min.y + half}}, a, both);
    const auto on_b = one_strip(ui, {{rect.min.x, rect.max.y - half}, rect.max}, b, both);
    if (on_b) step = leading_step(lock, a.run(), a.index, b.run(), b.index, *on_b);
    if (!step) return;
    if (*step != ui.step()) session::go_to(ui.session, *step);
    ui.context.another_frame = true;
}

// --- the screen

struct CompareLayout {
    Rect bar, warning, heat[2], request[2], counters, bottom, strips, transport;
};

// The bar, the strips with their buttons, and between them three columns: as wide as the counters need, the
// maps of the two beside them. The requests go where there is no room for them.
CompareLayout lay_out(const Ui& ui, const Rect& screen, bool warned, int maps) {
    CompareLayout l;
    const float gap = ui.px(8);
    const bool low = screen.height() < ui.px(760), lowest = screen.height() < ui.px(560);
    const float x0 = screen.min.x + gap, x1 = screen.max.x - gap;
    float y = screen.min.y + gap;
    if (warned) {
        l.warning = {{x0, y}, {x1, y + ui.px(28)}};
        y = l.warning.max.y + gap;
    }
    l.bar = {{x0, y}, {x1, y + ui.px(low ? 52 : 56)}};
    y = l.bar.max.y + gap;
    const float bottom =
        std::clamp(std::round(screen.height() * 0.24f), ui.px(lowest ? 120 : 148), ui.px(296));
    l.bottom = {{x0, screen.max.y - gap - bottom}, {x1, screen.max.y - gap}};
    const Rect inside = l.bottom.inset(ui.px(12));
    l.transport = {{inside.min.x, inside.max.y - ui.px(32)}, inside.max};
    // A clicker has no mouse: where there is little room, its hearers see the strips alone; so does paper.
    if ((lowest && ui.session.lecture) || ui.context.paper) l.transport = {inside.max, inside.max};
    const float above = l.transport.height() > 0 ? gap : 0;
    l.strips = {inside.min, {inside.max.x, l.transport.min.y - above}};

    const Rect middle{{x0, y}, {x1, l.bottom.min.y - gap}};
    const float least_counters = std::min(ui.px(384), middle.width() / 2);
    const float counters =
        std::clamp(std::round(middle.width() * 0.42f), std::round(least_counters), ui.px(832));
    const float side = std::floor((middle.width() - counters - gap * 2) / 2);
    l.counters = {{x0 + side + gap, y}, {x1 - side - gap, middle.max.y}};
    const float least_request = ui.px(200);
    float heat =
        std::min(middle.height() - gap - least_request, side / static_cast<float>(maps) + ui.px(104));
    const bool with_request = heat >= ui.px(148);
    if (!with_request) heat = middle.height();
    heat = std::floor(heat);
    for (const int i : {0, 1}) {
        const float left = i == 0 ? x0 : x1 - side;
        l.heat[i] = {{left, y}, {left + side, y + heat}};
        l.request[i] = {{left, y + heat + gap}, {left + side, middle.max.y}};
        if (!with_request) l.request[i] = {l.heat[i].max, l.heat[i].max};
    }
    return l;
}

// What the comparison comes to, how the two are locked, and the button to another pair.
void bar(Ui& ui, const Rect& rect, const std::string& headline) {
    surface(ui, rect);
    State& state = ui.state;
    const float high = ui.px(30), top = rect.min.y + (rect.height() - high) / 2,
                left = rect.min.x + ui.px(16);
    float right = rect.max.x - ui.px(12);
    const auto place = [&](float width) {
        right -= width;
        return Rect{{right, top}, {right + width, top + high}};
    };
    if (button(ui, place(ui.px(84)), "Choose\u2026", false, true,
               "Another pair of recordings (V; N and Shift + N go through them)"))
        ui.context.another_frame = state.choosing = true;
    right -= ui.px(16);
    constexpr const char* kTips[] = {
        "The same number of steps into both blocks (K)",
        "The same part of the phases in both, scaled to each other (K)",
        "The same share of the whole run in both, over all blocks (K)",
    };
    for (size_t i = std::size(kLockNames); i-- > 0;) {
        const auto lock = static_cast<Lock>(i);
        if (button(ui, place(ui.px(60)), kLockNames[i], state.lock == lock, true, kTips[i]))
            state.lock = lock;
        right -= ui.px(2);
    }
    const float words_y = top + (high - line_height(ui, Size::Small)) / 2;
    if (ui.context.paper) {
        right = rect.max.x - ui.px(16);
        right -= note(ui, {right, words_y}, ui.px(140),
                      fmt::format("locked by {}", kLockNames[static_cast<size_t>(state.lock)]), Align::Right);
    } else {
        right -= ui.px(74);
        note(ui, {right, words_y}, ui.px(74), "locked by");
    }
    // As large as it can be said on as many lines as there is room for; as a title on one.
    const float width = right - left - ui.px(16);
    for (const Size size : {Size::Title, Size::Body, Size::Small}) {
        const float one = line_height(ui, size);
        const int room = size == Size::Title ? 1 : std::max(1, static_cast<int>(rect.height() / one));
        const auto lines = static_cast<int>(wrapped(ui.font(Face::Strong, size), headline, width).size());
        if (lines > room && size != Size::Small) continue;
        const float y = rect.min.y + (rect.height() - one * static_cast<float>(std::min(lines, room))) / 2;
        paragraph(ui, {left, y}, width, Face::Strong, size, Ink::Text, headline, room);
        break;
    }
}

// What takes a while, in place of what it is for.
void wait(Ui& ui, const Rect& screen, const std::string& what) {
    const float gap = ui.px(8), high = ui.px(56), body = line_height(ui, Size::Body);
    const Rect area{{screen.min.x + gap, screen.min.y + gap},
                    {screen.max.x - gap, screen.min.y + gap + high}};
    surface(ui, area, "waiting");
    line(ui, {area.min.x + ui.px(16), area.min.y + (high - body) / 2}, area.width() - ui.px(32), Face::Text,
         Size::Body, Ink::TextQuiet, what);
}

void draw_screen(Ui& ui, const Rect& screen) {
    State& state = ui.state;
    const session::Session& session = ui.session;
    const bool coming = ready(state, ui.session, ui.context.waits);
    ui.context.soon = ui.context.soon || coming;
    const session::Pair& pair = session.pair;
    const auto whole = [](const session::Shown& one) { return one.recording && one.totals && one.block; };
    const bool there = session::are_tallied(session) && whole(session) && whole(pair.other);
    if (choosing(state, session) || (!there && !coming)) return compare_choice(ui, screen, coming);
    if (session.opening) return wait(ui, screen, session::opening_words(session));
    if (!there) return wait(ui, screen, "Counting the requests of both recordings\u2026");
    Pane panes[] = {{'A', session, state.a, state.whole_run, *pair.a.tally},
                    {'B', pair.other, state.b, state.whole_run, *pair.b.tally, &session.trace()}};
    for (Pane& pane : panes)
        pane.selected = look::relations(pane.trace, pane.index, pane.shown.replay.get(),
                                        pane.here(ui.shown_pick()), pane.step());
    const Run a = panes[0].run(), b = panes[1].run();
    const std::string doubt = caveat(a, b);
    const auto wrong = [](const Run& one) {
        return one.trace.meta.result.checked && !one.trace.meta.result.verified;
    };
    const bool with_output = wrong(a) || wrong(b);
    const CompareLayout l = lay_out(ui, screen, !doubt.empty(), with_output ? 3 : 2);
    if (!doubt.empty()) draw::warning_strip(ui, l.warning, doubt);
    const Costs so_far =
        costs_so_far(state.lock, a, panes[0].index, panes[0].step(), b, panes[1].index, panes[1].step());
    std::string words = headline(a, b, state.whole_run ? nullptr : &so_far);
    // Where there is no room for the requests, a fault takes the headline's place at the step where it shows.
    for (const Pane& pane : panes) {
        const std::string fault = l.request[0].height() > 0 ? "" : pane.fault();
        if (!fault.empty()) words = fmt::format("{}: {}", pane.letter, fault);
    }
    bar(ui, l.bar, words);
    const bool of_run = state.lock == Lock::Share;
    const uint32_t most = std::max(most_loads(panes[0], of_run), most_loads(panes[1], of_run));
    for (const int i : {0, 1}) {
        heat_panel(ui, l.heat[i], panes[i], most, with_output);
        if (l.request[i].height() > 0) request_panel(ui, l.request[i], panes[i]);
    }
    counters_panel(
        ui, l.counters, panes[0], panes[1],
        counters(state.lock, a, panes[0].index, panes[0].step(), b, panes[1].index, panes[1].step()), most,
        with_output);
    surface(ui, l.bottom, "playhead");
    strips(ui, l.strips, panes[0], panes[1]);
    if (l.transport.height() > 0) input::transport(ui, l.transport);
}

}  // namespace

const input::Screen<State> kScreen{.name = "Compare",
                                   .option = "compare",
                                   .about = "Two recordings on one playhead",
                                   .draw = draw_screen,
                                   .press = press,
                                   .actions = actions,
                                   .grant = grant};

}  // namespace tilescope::compare
