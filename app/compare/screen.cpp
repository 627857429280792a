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

#include <fmt/format.h>

#include "app/compare/panels.h"
#include "app/draw/widgets.h"
#include "app/input/panels.h"

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

// What the comparison comes to, how the two are locked, and the button to another pair: true when it is
// pressed.
bool bar(Ui& ui, const Rect& rect, const std::string& headline) {
    surface(ui, rect);
    State& state = ui.state;
    const float high = ui.px(30), top = rect.min.y + (rect.height() - high) / 2,
                left = rect.min.x + ui.px(16);
    float right = rect.max.x - ui.px(12);
    const auto place = [&](float width) {
        right -= width;
        return Rect{{right, top}, {right + width, top + high}};
    };
    const bool choose = button(ui, place(ui.px(84)), "Choose\u2026", false, true,
                               "Another pair of recordings (V; N and Shift + N go through them)");
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
    right -= ui.px(74);
    note(ui, {right, top + (high - line_height(ui, Size::Small)) / 2}, ui.px(74), "locked by");
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
    return choose;
}

// What takes a while, in place of what it is for.
void wait(Ui& ui, const Rect& screen, const std::string& what) {
    const float gap = ui.px(8), high = ui.px(56), body = line_height(ui, Size::Body);
    const Rect area{{screen.min.x + gap, screen.min.y + gap},
                    {screen.max.x - gap, screen.min.y + gap + high}};
    surface(ui, area);
    line(ui, {area.min.x + ui.px(16), area.min.y + (high - body) / 2}, area.width() - ui.px(32), Face::Text,
         Size::Body, Ink::TextQuiet, what);
}

void draw_screen(Ui& ui, const Rect& screen) {
    State& state = ui.state;
    const session::Session& session = ui.session;
    const bool coming = ready(state, ui.session, ui.context.still);
    ui.context.soon = ui.context.soon || coming;
    const bool there = state.other.recording && session.recording && session.totals && state.other.totals &&
                       state.a.tally && state.b.tally && session.block && state.other.block &&
                       !session.trace().blocks.empty();
    if (choosing(state, session) || (!there && !coming)) return compare_choice(ui, screen, coming);
    if (session.opening) return wait(ui, screen, session::opening_words(session));
    if (!there) return wait(ui, screen, "Counting the requests of both recordings\u2026");
    const auto faults = [](const auto& found) { return found ? found->steps.size() : 0; };
    const Run a{session.trace(), *state.a.tally, faults(session.faults), session.recording->notation},
        b{state.other.trace(), *state.b.tally, faults(state.other.faults), state.other.recording->notation};
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
        {'B', b.trace, state.other.recording->serial, *state.other.totals, *state.other.block,
         state.other.cursor,
         look::relations(b.trace, *state.other.block, nullptr, look::same_pick(a.trace, b.trace, pick),
                         state.other.cursor.step),
         state.b, state.other.faults.get(), &a.trace},
    };
    std::string words = headline(a, b).text;
    // Where there is no room for the requests, a fault takes the headline's place at the step where it shows.
    for (const Pane& pane : panes) {
        const std::string fault = l.request[0].height() > 0 ? "" : pane.fault();
        if (!fault.empty()) words = fmt::format("{}: {}", pane.letter, fault);
    }
    if (bar(ui, l.bar, words)) {
        state.choosing = true;
        ui.context.another_frame = true;
    }
    const uint32_t most = std::max(most_loads(panes[0]), most_loads(panes[1]));
    for (const int i : {0, 1}) {
        heat_panel(ui, l.heat[i], panes[i], most, with_output);
        if (l.request[i].height() > 0) compare_request(ui, l.request[i], panes[i]);
    }
    counters_panel(ui, l.counters, panes[0], panes[1],
                   counters(state.lock, a, *session.block, session.cursor.step, b, *state.other.block,
                            state.other.cursor.step),
                   most);
    surface(ui, l.bottom);
    compare_strips(ui, l.strips, panes[0], panes[1]);
    if (l.transport.height() > 0) input::transport(ui, l.transport);
}

}  // namespace

float badge(draw::Ui& ui, ImVec2 at, float size, char letter) {
    const ImVec2 middle{at.x + size / 2, at.y + size / 2};
    const Rgba fill = ui.ink(Ink::Accent);
    if (letter == 'A')
        ui.list.AddCircleFilled(middle, size / 2, fill);
    else
        ui.list.AddRectFilled({at.x + 1, at.y + 1}, {at.x + size - 1, at.y + size - 1}, fill, ui.px(2));
    const std::string text(1, letter);
    draw::draw_text_in(ui.list, ui.font(Face::Strong, Size::Small), at, {at.x + size, at.y + size},
                       ui.context.palette.text_on(fill), text);
    return size;
}

const input::Screen<State> kScreen{.name = "Compare",
                                   .option = "compare",
                                   .about = "Two recordings on one playhead",
                                   .draw = draw_screen,
                                   .press = press,
                                   .actions = actions,
                                   .update = update};

}  // namespace tilescope::compare
