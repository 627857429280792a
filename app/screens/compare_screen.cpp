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

#include "app/compare_session.h"
#include "app/panels/compare_panels.h"
#include "app/panels/panels.h"
#include "app/screens/screens.h"
#include "app/view/compare_pick.h"

namespace tilescope::app {
namespace {

using panels::Rect;
using panels::Side;
using panels::Ui;

struct Layout {
    Rect bar, warning, heat[2], request[2], counters, bottom, strips, transport;
};

Layout lay_out(const Ui& ui, const Rect& screen, bool warned) {
    Layout l;
    const float gap = ui.px(8), low = screen.height() < ui.px(760) ? 1.f : 0.f;
    const float x0 = screen.min.x + gap, x1 = screen.max.x - gap;
    float y = screen.min.y + gap;
    if (warned) {
        l.warning = {{x0, y}, {x1, y + ui.px(28)}};
        y = l.warning.max.y + gap;
    }
    l.bar = {{x0, y}, {x1, y + ui.px(low > 0 ? 52 : 58)}};
    y = l.bar.max.y + gap;
    const float bottom = std::clamp(screen.height() * 0.24f, ui.px(148), ui.px(300));
    l.bottom = {{x0, screen.max.y - gap - bottom}, {x1, screen.max.y - gap}};
    const Rect inside = l.bottom.inset(ui.px(12));
    l.transport = {{inside.min.x, inside.max.y - ui.px(30)}, inside.max};
    l.strips = {inside.min, {inside.max.x, l.transport.min.y - ui.px(10)}};

    const Rect middle{{x0, y}, {x1, l.bottom.min.y - gap}};
    const float counters = std::clamp(middle.width() * 0.37f, ui.px(300), ui.px(720));
    const float side = std::floor((middle.width() - counters - gap * 2) / 2);
    const float heat = std::floor(std::min((middle.height() - gap) * 0.5f, side / 2 + ui.px(92)));
    l.counters = {{x0 + side + gap, y}, {x1 - side - gap, middle.max.y}};
    for (const int i : {0, 1}) {
        const float left = i == 0 ? x0 : x1 - side;
        l.heat[i] = {{left, y}, {left + side, y + heat}};
        l.request[i] = {{left, y + heat + gap}, {left + side, middle.max.y}};
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
    area.max.y = std::min(area.max.y, area.min.y + ui.px(640));
    panels::compare_choice(ui, area, busy);
}

}  // namespace

void compare_screen(Ui& ui, const Rect& screen) {
    State& state = ui.state;
    Compare& compare = state.compare;
    const bool coming = ready_compare(state, ui.context.still);
    ui.context.soon = ui.context.soon || coming;
    ui.index = state.block.get();
    const bool there = compare.other && state.session && compare.a.side && compare.b.side && state.block &&
                       compare.block && !state.session->trace->blocks.empty();
    if (!there || compare.choosing) {
        choice(ui, screen, coming);
        return;
    }
    const view::Compared a{*state.session->trace, *compare.a.side}, b{*compare.other->trace, *compare.b.side};
    const std::string caveat = view::caveat(a, b);
    const Layout l = lay_out(ui, screen, !caveat.empty());
    if (!caveat.empty()) panels::warning_strip(ui, l.warning, caveat);
    const Pick& pick = state.hover.kind != Pick::Kind::None ? state.hover : state.pin;
    const Side sides[] = {
        {'A',
         *state.session,
         {a.trace, *state.block, state.cursor.step},
         state.cursor,
         view::relations(a.trace, *state.block, state.replay.get(), pick, state.cursor.step)},
        {'B',
         *compare.other,
         {b.trace, *compare.block, compare.cursor.step, &a.trace},
         compare.cursor,
         view::relations(b.trace, *compare.block, nullptr, view::same_pick(a.trace, b.trace, pick),
                         compare.cursor.step)},
    };
    if (panels::compare_bar(ui, l.bar, view::headline(a, b))) {
        compare.choosing = true;
        ui.context.another_frame = true;
    }
    const uint32_t most = std::max(panels::most_loads(sides[0]), panels::most_loads(sides[1]));
    for (const int i : {0, 1}) {
        panels::heat_panel(ui, l.heat[i], sides[i], most);
        panels::compare_request(ui, l.request[i], sides[i]);
    }
    panels::counters_panel(ui, l.counters, sides[0], sides[1],
                           view::counters(compare.lock, a, *state.block, state.cursor.step, b, *compare.block,
                                          compare.cursor.step),
                           most);
    panels::surface(ui, l.bottom);
    panels::compare_strips(ui, l.strips, sides[0], sides[1]);
    panels::transport(ui, l.transport);
}

}  // namespace tilescope::app
