// The Compare screen's layout.
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

#include "app/compare/opening.h"
#include "app/compare/panels.h"
#include "app/draw/widgets.h"
#include "app/input/panels.h"
#include "app/session/playing.h"

namespace tilescope::compare {
namespace {

struct Layout {
    Rect bar, warning, heat[2], request[2], counters, bottom, strips, transport;
};

// The bar, the strips with their buttons, and between them three columns: as wide as the counters need, the
// maps of the two beside them. The requests go where there is no room for them.
Layout lay_out(const Ui& ui, const Rect& screen, bool warned, int maps) {
    Layout l;
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
    // A clicker has no mouse: where there is little room, its hearers see the strips alone.
    if (lowest && ui.session.lecture) l.transport = {inside.max, inside.max};
    const float above = l.transport.height() > 0 ? gap : 0;
    l.strips = {inside.min, {inside.max.x, l.transport.min.y - above}};

    const Rect middle{{x0, y}, {x1, l.bottom.min.y - gap}};
    const float counters = std::min(std::round(middle.width() * 0.42f), ui.px(832));
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

void choice(Ui& ui, const Rect& screen, bool busy) {
    const float gap = ui.px(8);
    Rect area{{screen.min.x + gap, screen.min.y + gap}, {screen.max.x - gap, screen.max.y - gap}};
    const float widest = ui.px(1320);
    if (area.width() > widest) {
        const float middle = (area.min.x + area.max.x) / 2;
        area.min.x = std::round(middle - widest / 2);
        area.max.x = std::round(middle + widest / 2);
    }
    compare_choice(ui, area, busy);
}

// What takes a while, in place of what it is for.
void wait(Ui& ui, const Rect& screen, const std::string& what) {
    const float gap = ui.px(8);
    const Rect area{{screen.min.x + gap, screen.min.y + gap}, {screen.max.x - gap, screen.min.y + ui.px(64)}};
    draw::surface(ui, area);
    const float y = area.min.y + (area.height() - draw::line_height(ui, draw::Size::Body)) / 2;
    draw::line(ui, {area.min.x + ui.px(16), y}, area.width() - ui.px(32), draw::Face::Text, draw::Size::Body,
               draw::Ink::TextQuiet, what);
}

}  // namespace

namespace {

void draw_screen(Ui& ui, const Rect& screen) {
    State& state = ui.state;
    const session::Session& session = ui.session;
    const bool coming = ready(state, ui.session, ui.context.still);
    ui.context.soon = ui.context.soon || coming;
    const bool there = state.other && session.recording && session.totals && state.totals && state.a.tally &&
                       state.b.tally && session.block && state.block && !session.trace().blocks.empty();
    if (choosing(state, session) || (!there && !coming)) return choice(ui, screen, coming);
    if (session.opening) return wait(ui, screen, session::opening_words(session));
    if (!there) return wait(ui, screen, "Counting the requests of both recordings\u2026");
    const auto faults = [](const auto& found) { return found ? found->steps.size() : 0; };
    const Run a{session.trace(), *state.a.tally, faults(session.faults)},
        b{*state.other->trace, *state.b.tally, faults(state.faults)};
    const std::string doubt = caveat(a, b);
    const auto wrong = [](const Run& one) {
        return one.trace.meta.result.checked && !one.trace.meta.result.verified;
    };
    const bool with_output = wrong(a) || wrong(b);
    const Layout l = lay_out(ui, screen, !doubt.empty(), with_output ? 3 : 2);
    if (!doubt.empty()) draw::warning_strip(ui, l.warning, doubt);
    const Pick& pick = ui.shown_pick();
    const Pane panes[] = {
        {'A', a.trace, session.recording->serial, *session.totals, *session.block, session.cursor,
         look::relations(a.trace, *session.block, session.replay.get(), pick, session.cursor.step), state.a,
         session.faults.get()},
        {'B', b.trace, state.other->serial, *state.totals, *state.block, state.cursor,
         look::relations(b.trace, *state.block, nullptr, look::same_pick(a.trace, b.trace, pick),
                         state.cursor.step),
         state.b, state.faults.get(), &a.trace},
    };
    Headline headline = compare::headline(a, b);
    // Where there is no room for the requests, a fault takes the headline's place at the step where it shows.
    for (const Pane& pane : panes) {
        if (l.request[0].height() > 0 || pane.faults == nullptr) continue;
        const std::string fault = look::fault_caption(pane.trace, *pane.faults, pane.cursor.step);
        if (!fault.empty()) headline.text = std::string(1, pane.letter) + ": " + fault;
    }
    if (compare_bar(ui, l.bar, headline)) {
        state.choosing = true;
        ui.context.another_frame = true;
    }
    const uint32_t most = std::max(most_loads(panes[0]), most_loads(panes[1]));
    for (const int i : {0, 1}) {
        heat_panel(ui, l.heat[i], panes[i], most, with_output);
        if (l.request[i].height() > 0) compare_request(ui, l.request[i], panes[i]);
    }
    counters_panel(
        ui, l.counters, panes[0], panes[1],
        counters(state.lock, a, *session.block, session.cursor.step, b, *state.block, state.cursor.step),
        most);
    draw::surface(ui, l.bottom);
    compare_strips(ui, l.strips, panes[0], panes[1]);
    if (l.transport.height() > 0) input::transport(ui, l.transport);
}

}  // namespace

const input::Screen<State> kScreen{.name = "Compare",
                                   .option = "compare",
                                   .about = "Two recordings on one playhead",
                                   .draw = draw_screen,
                                   .press = press,
                                   .actions = actions,
                                   .update = update};

}  // namespace tilescope::compare
