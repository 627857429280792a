// What moves on the Step screen (flights.h), by how fast steps go by:
//
//   one by one, up to 20 a second    elements travel from M to the threads that load them, from M into Mds,
//                                    products from Mds and Nds into P
//   up to 256 a second               trails of the last quarter of a second; P fills
//   faster                           how many have arrived in this phase, beside the arrays' names
//
// M switches it off.
#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "app/step/panels.h"

namespace tilescope::step {
namespace {

constexpr double kFastestTrails = 256;  // steps a second; faster ones are counted

// Where an element stands in this frame; empty (width 0) where it is not in sight.
Rect place_of(const Ui& ui, const playback::Element& element) {
    const auto found =
        std::ranges::find(ui.state.places, element.array, &std::pair<uint8_t, draw::GridView>::first);
    if (found == ui.state.places.end()) return {};
    const draw::GridView& view = found->second;
    const CellRect cell = element.array == kOfThreads
                              ? draw::cell_on_sheet(shape_of_threads(ui.trace()), element.index)
                              : draw::cell_on_sheet(ui.trace().launch.arrays[element.array], element.index);
    const ImVec2 corner = draw::corner_of(view, cell.row0, cell.col0);
    const float half = view.pitch / 2;
    if (!Rect{view.clip_min, view.clip_max}.contains({corner.x + half, corner.y + half})) return {};
    return {corner, {corner.x + view.pitch, corner.y + view.pitch}};
}

Rgba color_of(const Ui& ui, const Flight& flight) {
    if (flight.from.array == kOfThreads) return ui.ink(Ink::Exchange);
    if (flight.to.array == kOfThreads) return ui.ink(Ink::GlobalLoad);
    return ui.ink(flight.product ? Ink::Product : Ink::SharedStore);
}

ImVec2 middle(const Rect& cell) { return {(cell.min.x + cell.max.x) / 2, (cell.min.y + cell.max.y) / 2}; }

// part: of the motion's time. False where nothing of it is in sight, or nothing travels.
bool travel(Ui& ui, double part) {
    bool any = false;
    std::vector<Flight> all = loads_to_threads(ui.trace(), *ui.index(), *ui.session.replay, ui.step());
    std::ranges::copy(flights(ui.trace(), *ui.index(), *ui.session.replay, ui.step()),
                      std::back_inserter(all));
    for (const Flight& flight : all) {
        const Rect from = place_of(ui, flight.from), to = place_of(ui, flight.to);
        if (from.width() <= 0 || to.width() <= 0) continue;
        any = true;
        const double own = (part - flight.leaves) / (flight.arrives - flight.leaves);
        if (own < 0 || own >= 1) continue;
        // Fast at first and slow at the end, where one looks for it.
        const auto eased = static_cast<float>(1 - std::pow(1 - own, 3));
        const auto between = [&](float a, float b) { return a + (b - a) * eased; };
        const ImVec2 min{between(from.min.x, to.min.x), between(from.min.y, to.min.y)};
        const float size = between(from.width(), to.width()) * 0.86f;
        const ImVec2 max{min.x + size, min.y + size};
        const Rgba color = color_of(ui, flight);
        ui.list.AddRectFilled(min, max, color, ui.px(2));
        if (size < ui.px(14) || all.size() > 2 * kWarpSize) continue;
        ui.list.AddRect(min, max, ui.ink(Ink::Panel), ui.px(2));
        const std::string value = short_value(flight.value);
        if (const auto font = ui.context.fonts.for_cells(value, size - ui.px(2), size))
            draw::draw_text_in(ui.list, *font, min, max, ui.context.palette.text_on(color), value);
    }
    return any;
}

// Trails of the steps of the last quarter of a second, the latest ones strongest.
void trails(Ui& ui) {
    constexpr double kSeconds = 0.25;
    constexpr size_t kMostLines = 320;  // software OpenGL draws as many in two milliseconds
    const double speed = session::steps_per_second(ui.session);
    const auto most = static_cast<uint32_t>(std::clamp(speed * kSeconds, 4.0, 64.0));
    size_t lines = 0;
    for (uint32_t age = 0; age < most && age <= ui.step() && lines < kMostLines; ++age) {
        const float alpha = 0.5f * (1 - static_cast<float>(age) / static_cast<float>(most));
        for (const Flight& flight : flights(ui.trace(), *ui.index(), *ui.session.replay, ui.step() - age)) {
            const Rect from = place_of(ui, flight.from), to = place_of(ui, flight.to);
            if (from.width() <= 0 || to.width() <= 0 || ++lines > kMostLines) continue;
            ui.list.AddLine(middle(from), middle(to), draw::with_alpha(color_of(ui, flight), alpha),
                            ui.px(1.2f));
        }
    }
}

// "1,024 products" over the array that they go into.
void counts(Ui& ui) {
    State& state = ui.state;
    if (state.flown.of != ui.session.replay) state.flown = flight_sums(ui.session.replay);
    const std::vector<look::PhaseSpan>& spans = ui.index()->spans;
    const auto here = std::ranges::find_if(
        spans, [&](const look::PhaseSpan& span) { return span.first <= ui.step() && ui.step() < span.end; });
    if (here == spans.end()) return;
    for (const FlightSums::Into& into : state.flown.into) {
        const auto place =
            std::ranges::find(state.places, into.array, &std::pair<uint8_t, draw::GridView>::first);
        if (place == state.places.end()) continue;
        const uint64_t count = arrived(into, here->first, ui.step() + 1);
        const std::string text = counted(count, into.products ? "product" : "element");
        const draw::Font font = ui.font(Face::Strong, Size::Small);
        const ImVec2 size = draw::text_size(font, text), right = place->second.clip_max;
        const float pad = ui.px(6), high = line_height(ui, Size::Body);
        const Rect box{{right.x - size.x - 2 * pad, place->second.clip_min.y - high},
                       {right.x, place->second.clip_min.y - ui.px(1)}};
        const Rgba color = ui.ink(into.products ? Ink::Product : Ink::SharedStore);
        ui.list.AddRectFilled(box.min, box.max, color, ui.px(4));
        put(ui, ui.list, font, {box.min.x + pad, std::round((box.min.y + box.max.y - size.y) / 2)},
            ui.context.palette.text_on(color), text);
    }
}

}  // namespace

void motion(Ui& ui) {
    constexpr double kSeconds = 0.2;
    const session::Session& session = ui.session;
    State& state = ui.state;
    state.travels = false;
    // What travels would tell what a question asks.
    const bool there = session.replay && ui.step() < ui.index()->steps && !session.question.open;
    if (state.film) {
        if (there) state.travels = travel(ui, *state.film);
        return;
    }
    const bool rushes = rushing(ui);
    if (state.moving != session.cursor) {
        const bool one_step =
            state.moving.block == session.cursor.block && session.cursor.step == state.moving.step + 1;
        const bool starts = one_step && !rushes && session.motion && !ui.context.still;
        state.moving = session.cursor;
        state.moves_since = starts ? ui.context.time : -1;
    }
    if (!there) return;
    if (rushes) return session::steps_per_second(session) > kFastestTrails ? counts(ui) : trails(ui);
    if (state.moves_since < 0) return;
    const double part = (ui.context.time - state.moves_since) / kSeconds;
    if (part >= 1 || part < 0) return;
    ui.context.another_frame = true;
    state.travels = travel(ui, part);
}

}  // namespace tilescope::step
