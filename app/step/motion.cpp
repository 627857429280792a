// What moves on the Step screen (flights.h), by how fast steps go by:
//
//   one by one, up to 20 a second    elements travel from M to the threads that load them, from M into Mds,
//                                    products from Mds and Nds into P
//   up to 256 a second               trails of the last quarter of a second; P fills
//   faster                           how many have arrived in this phase, beside the arrays' names
//
// A cell changes when its value arrives, and is framed for a moment then. One product is followed with its four
// beats (Beats), those of the other lanes are dots. What travels goes around what is read, on a bus between the
// matrices and shared memory, and below M:
//
//          +---+ |  +-----+
//          | N |-+  | Mds |
//          +---+ +->|     |
//    +---+ +---+ |  +-----+
//    | M | | P |<+
//    +-+-+ +---+ |
//      +---------+
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
// Seconds that elements and products travel at most, and the share of its step that either may take.
constexpr double kElementSeconds = 0.6, kProductSeconds = 1.2, kShareOfStep = 0.7;
// Share of the motion's time at which the last has arrived; what is left shows where.
constexpr float kLanded = 0.88f;

const draw::GridView* view_of(const Ui& ui, uint8_t array) {
    const auto found = std::ranges::find(ui.state.places, array, &std::pair<uint8_t, draw::GridView>::first);
    return found == ui.state.places.end() ? nullptr : &found->second;
}

// Where an element stands in this frame; empty (width 0) where it is not in sight. An array in several panes has a
// place for each.
Rect place_of(const Ui& ui, const playback::Element& element) {
    for (const auto& [array, view] : ui.state.places) {
        if (array != element.array) continue;
        const CellRect cell =
            element.array == kOfThreads
                ? draw::cell_on_sheet(shape_of_threads(ui), element.index)
                : draw::cell_on_sheet(ui.trace().launch.arrays[element.array], element.index);
        const ImVec2 corner = draw::corner_of(view, cell.row0, cell.col0);
        const float half = view.pitch / 2;
        if (Rect{view.clip_min, view.clip_max}.contains({corner.x + half, corner.y + half}))
            return {corner, {corner.x + view.pitch, corner.y + view.pitch}};
    }
    return {};
}

Rgba color_of(const Ui& ui, const Flight& flight) {
    if (flight.from.array == kOfThreads) return ui.ink(Ink::Exchange);
    if (flight.to.array == kOfThreads) {
        const auto& arrays = ui.trace().launch.arrays;
        const bool shared =
            flight.from.array < arrays.size() && arrays[flight.from.array].space == Space::Shared;
        return ui.ink(shared ? Ink::SharedLoad : Ink::GlobalLoad);
    }
    return ui.ink(flight.product ? Ink::Product : Ink::SharedStore);
}

ImVec2 middle(const Rect& cell) { return {(cell.min.x + cell.max.x) / 2, (cell.min.y + cell.max.y) / 2}; }
Rect around(ImVec2 at, ImVec2 size) {
    return {{at.x - size.x / 2, at.y - size.y / 2}, {at.x + size.x / 2, at.y + size.y / 2}};
}

// The way from a place to another, in straight parts.
struct Route {
    std::vector<ImVec2> points;

    // The point at a share of its length, and whether that lies behind the first corner.
    std::pair<ImVec2, bool> at(float share) const {
        float all = 0;
        for (size_t i = 1; i < points.size(); ++i) all += length(i);
        float left = all * std::clamp(share, 0.f, 1.f);
        for (size_t i = 1; i < points.size(); ++i) {
            const float part = length(i);
            if (left <= part || i + 1 == points.size()) {
                const float t = part > 0 ? std::min(left / part, 1.f) : 1;
                return {{points[i - 1].x + (points[i].x - points[i - 1].x) * t,
                         points[i - 1].y + (points[i].y - points[i - 1].y) * t},
                        i > 1};
            }
            left -= part;
        }
        return {points.back(), true};
    }
    float length(size_t i) const {
        return std::hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
    }
};

// high: of what travels, so that it passes below M's last row.
Route route(const Ui& ui, const playback::Element& from, ImVec2 start, const playback::Element& to,
            ImVec2 end, float high) {
    if (!ui.index()->product) return {{start, end}};
    const uint8_t left = product_arrays(ui)[0], output = product_arrays(ui)[2];
    const draw::GridView *const m = view_of(ui, left), *const p = view_of(ui, output);
    if (m == nullptr || p == nullptr) return {{start, end}};
    const float bus = p->clip_max.x + ui.px(16);
    const float low = std::max(m->clip_max.y, p->clip_max.y) + std::max(high / 2 + 1, ui.px(5));
    // Threads beside the tiles are reached from below, those in the tiles' own column straight from the bus.
    const draw::GridView* const threads = view_of(ui, kOfThreads);
    const draw::GridView* const tile =
        ui.index()->shared.empty() ? nullptr : view_of(ui, ui.index()->shared[0]);
    const bool apart = threads != nullptr && tile != nullptr && threads->clip_min.x >= tile->clip_max.x;
    const float beside = threads != nullptr ? threads->clip_min.x - ui.px(8) : 0;
    const auto outwards = [&](const playback::Element& of, ImVec2 at) -> std::vector<ImVec2> {
        if (of.array == left) return {{at.x, low}, {bus, low}};
        if (of.array == kOfThreads && apart) return {{beside, at.y}, {beside, low}, {bus, low}};
        return {{bus, at.y}};
    };
    Route made{{start}};
    std::ranges::copy(outwards(from, start), std::back_inserter(made.points));
    std::vector<ImVec2> in = outwards(to, end);
    std::ranges::reverse(in);
    std::ranges::copy(in, std::back_inserter(made.points));
    made.points.push_back(end);
    return made;
}

void note_moving(Ui& ui, const Rect& box) {
    if (ui.context.inspection != nullptr)
        ui.context.inspection->moving.push_back({box.min.x, box.min.y, box.max.x, box.max.y});
}

void chip(Ui& ui, const Rect& box, Rgba color, const std::optional<draw::Font>& font,
          const std::string& text) {
    note_moving(ui, box);
    ui.list.AddRectFilled(box.min, box.max, color, ui.px(3));
    if (!font) return;
    ui.list.AddRect(box.min, box.max, ui.ink(Ink::Panel), ui.px(3));
    draw::draw_text_in(ui.list, *font, box.min, box.max, ui.context.palette.text_on(color), text);
}

void dot(Ui& ui, ImVec2 at, Rgba color, float radius) {
    note_moving(ui, around(at, {radius * 2, radius * 2}));
    ui.list.AddCircleFilled(at, radius, color, 12);
}

// Fast at first and slow at the end, where one looks for it.
float eased(float own) { return 1 - std::pow(1 - std::clamp(own, 0.f, 1.f), 2.f); }

std::optional<draw::Font> font_of(const Ui& ui, uint8_t array) {
    const auto found = ui.state.cell_fonts.find(array);
    return found == ui.state.cell_fonts.end() ? std::nullopt : std::optional(found->second);
}

// Where a factor sets out: from the thread, where that read it at an earlier step and is in sight.
playback::Element origin_of_flight(const Ui& ui, const Flight& flight) {
    const playback::Element thread{kOfThreads, flight.thread};
    const bool held = flight.product && flight.read_step < ui.step() && place_of(ui, thread).width() > 0;
    const auto& arrays = ui.trace().launch.arrays;
    return held && flight.from.array < arrays.size() && arrays[flight.from.array].space == Space::Shared
               ? thread
               : flight.from;
}

// The two factors meet, become their product, and that falls into the sum. own: of the product's time.
void followed_product(Ui& ui, const Flight& a, const Flight& b, float own) {
    // M's factor stands on the left, as it does in the sum's formula.
    const uint8_t M = product_arrays(ui)[0];
    const auto of_m = [&](const Flight& of) {
        return of.from.array == M ||
               ui.session.replay->cell(of.from.array, of.from.index, ui.step()).source.array == M;
    };
    const bool swapped = of_m(b) && !of_m(a);
    const Flight &left = swapped ? b : a, &right = swapped ? a : b;
    const Rect to = place_of(ui, a.to);
    const draw::GridView* const ground = view_of(ui, a.to.array);
    if (to.width() <= 0 || ground == nullptr) return;
    const draw::Font font = font_of(ui, a.to.array).value_or(ui.font(Face::Mono, Size::Small));
    const auto size_of = [&](const std::string& text) {
        const ImVec2 size = draw::text_size(font, text);
        return ImVec2{size.x + ui.px(8), size.y * 0.9f + ui.px(2)};
    };
    const std::string values[] = {short_value(left.value), short_value(right.value)};
    const double made = number_of(left.value) * number_of(right.value);
    const std::string sum = (made < 0 ? "" : "+") + short_value(value_of(made));
    const ImVec2 sizes[] = {size_of(values[0]), size_of(values[1])};
    const float sign = ui.px(14), wide = sizes[0].x + sign + sizes[1].x, high = sizes[0].y;
    // Above the cell where P has room there, else below it; inside P, whose name and rulers stay free.
    ImVec2 meet = middle(to);
    const float above = to.min.y - high / 2 - ui.px(3), below = to.max.y + high / 2 + ui.px(3);
    if (above - high / 2 >= ground->clip_min.y)
        meet.y = above;
    else if (below + high / 2 <= ground->clip_max.y)
        meet.y = below;
    else
        meet.y = std::clamp(meet.y, ground->clip_min.y + high / 2,
                            std::max(ground->clip_min.y + high / 2, ground->clip_max.y - high / 2));
    const float least = ground->clip_min.x + wide / 2;
    meet.x = std::clamp(meet.x, least, std::max(least, ground->clip_max.x - wide / 2));
    const Rgba color = ui.ink(Ink::Product);
    if (own >= Beats::kTimes) {
        const float fall = std::clamp((own - Beats::kDrop) / (1 - Beats::kDrop), 0.f, 1.f);
        const ImVec2 end = middle(to), size = size_of(sum);
        const ImVec2 at{meet.x + (end.x - meet.x) * fall, meet.y + (end.y - meet.y) * fall};
        const ImVec2 now{size.x + (std::min(size.x, to.width()) - size.x) * fall,
                         size.y + (std::min(size.y, to.height()) - size.y) * fall};
        chip(ui, around(at, now), color, font, sum);
        return;
    }
    const ImVec2 places[] = {{meet.x - wide / 2 + sizes[0].x / 2, meet.y},
                             {meet.x + wide / 2 - sizes[1].x / 2, meet.y}};
    const Flight* const factors[] = {&left, &right};
    const float share = eased(own / Beats::kMeet);
    for (size_t i = 0; i < 2; ++i) {
        const playback::Element from = origin_of_flight(ui, *factors[i]);
        const Rect start = place_of(ui, from);
        if (start.width() <= 0) continue;
        const auto [at, past] =
            route(ui, from, middle(start), factors[i]->to, places[i], sizes[i].y).at(std::max(share, 0.f));
        // As small as its cell until it has left the rows of its array.
        const ImVec2 size =
            past ? sizes[i]
                 : ImVec2{std::min(sizes[i].x, start.width()), std::min(sizes[i].y, start.height())};
        chip(ui, around(at, size), color, font, values[i]);
    }
    if (own < Beats::kMeet) return;
    const ImVec2 size = draw::text_size(font, "\u00d7");
    const ImVec2 at{places[0].x + sizes[0].x / 2 + sign / 2, meet.y};
    ui.list.AddRectFilled({at.x - sign / 2, at.y - high / 2}, {at.x + sign / 2, at.y + high / 2},
                          ui.ink(Ink::Panel));
    draw::draw_text(ui.list, font, {at.x - size.x / 2, at.y - size.y / 2}, ui.ink(Ink::Text), "\u00d7");
}

// The cell in which something has just arrived.
void flash(Ui& ui, const Rect& cell) {
    ui.list.AddRect({cell.min.x - 1, cell.min.y - 1}, cell.max, ui.ink(Ink::Text), 0.f, 0, ui.px(2));
}

// False where nothing of it is in sight, or nothing travels.
bool travel(Ui& ui) {
    const MotionOfStep& motion = ui.state.motion;
    const float part = motion.part / kLanded;
    bool any = false;
    std::optional<uint32_t> pinned;
    if (ui.state.selected.threads.size() == 1) pinned = ui.state.selected.threads.front();
    const std::optional<size_t> first = followed(motion.flights, pinned);
    std::optional<float> followed_now;
    for (const std::vector<Flight>* list : {&motion.to_threads, &motion.flights})
        for (size_t i = 0; i < list->size(); ++i) {
            const Flight& flight = (*list)[i];
            const playback::Element source = origin_of_flight(ui, flight);
            const Rect from = place_of(ui, source), to = place_of(ui, flight.to);
            if (from.width() <= 0 || to.width() <= 0) continue;
            any = true;
            const float own = (part - flight.leaves) / (flight.arrives - flight.leaves);
            const bool chosen = list == &motion.flights && first && (i == *first || i == *first + 1);
            if (chosen) {
                if (i == *first && own >= 0 && own < 1) followed_now = own;  // over all else
                continue;
            }
            if (own < 0 || own >= 1) continue;
            const Rgba color = color_of(ui, flight);
            if (flight.product) {
                const float radius = std::clamp(from.width() * 0.16f, ui.px(1.5f), ui.px(4));
                dot(ui,
                    route(ui, source, middle(from), flight.to, middle(to), radius * 2)
                        .at(eased(own / Beats::kDrop))
                        .first,
                    color, radius);
                continue;
            }
            const float size = std::min(from.width(), to.width()) * 0.86f;
            const auto [at, past] =
                route(ui, source, middle(from), flight.to, middle(to), size).at(eased(own));
            const bool told = size >= ui.px(14) && list->size() <= 2 * kWarpSize;
            chip(ui, around(at, {size, size}), color, told ? font_of(ui, flight.from.array) : std::nullopt,
                 short_value(flight.value));
        }
    if (followed_now) followed_product(ui, motion.flights[*first], motion.flights[*first + 1], *followed_now);
    // Just arrived. Of products the followed one's cell alone, of which one sees that something came.
    for (const Landing& landing : motion.landings) {
        const bool product = !motion.flights.empty() && motion.flights[0].product;
        if (product && (!first || motion.flights[*first].to != landing.to)) continue;
        if (part < landing.arrives || motion.part >= 1) continue;
        if (const Rect cell = place_of(ui, landing.to); cell.width() > 0) flash(ui, cell);
    }
    return any;
}

// What threads have read and not used yet, on them.
void resting(Ui& ui) {
    for (const Flight& flight : ui.state.motion.to_threads) {
        const Rect cell = place_of(ui, flight.to);
        if (cell.width() < ui.px(14)) return;
        const float size = cell.width() * 0.86f;
        chip(ui, around(middle(cell), {size, size}), color_of(ui, flight), font_of(ui, flight.from.array),
             short_value(flight.value));
    }
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
        const draw::GridView* const place = view_of(ui, into.array);
        if (place == nullptr) continue;
        const uint64_t count = arrived(into, here->first, ui.step() + 1);
        const std::string text = counted(count, into.products ? "product" : "element");
        const draw::Font font = ui.font(Face::Strong, Size::Small);
        const ImVec2 size = draw::text_size(font, text), right = place->clip_max;
        const float pad = ui.px(6), high = line_height(ui, Size::Body);
        const Rect box{{right.x - size.x - 2 * pad, place->clip_min.y - high},
                       {right.x, place->clip_min.y - ui.px(1)}};
        const Rgba color = ui.ink(into.products ? Ink::Product : Ink::SharedStore);
        ui.list.AddRectFilled(box.min, box.max, color, ui.px(4));
        put(ui, ui.list, font, {box.min.x + pad, std::round((box.min.y + box.max.y - size.y) / 2)},
            ui.context.palette.text_on(color), text);
    }
}

}  // namespace

void begin_motion(Ui& ui) {
    const session::Session& session = ui.session;
    State& state = ui.state;
    MotionOfStep& motion = state.motion;
    motion.part = 1;
    motion.rests = false;
    // What travels would tell what a question asks.
    const bool there = session.replay && ui.step() < ui.index()->steps && !session.question.open;
    const bool rushes = rushing(ui);
    if (!state.film && state.moving != session.cursor) {
        const bool one_step =
            state.moving.block == session.cursor.block && session.cursor.step == state.moving.step + 1;
        const bool starts = one_step && !rushes && session.motion && !ui.context.still;
        state.moving = session.cursor;
        state.moves_since = starts ? ui.context.time : -1;
    }
    const bool moves = state.film || (state.moves_since >= 0 && !rushes && session.motion);
    if (!there || !moves) return;
    if (motion.of != session.replay || motion.step != ui.step()) {
        motion.of = session.replay, motion.step = ui.step();
        motion.flights = flights(ui.trace(), *ui.index(), *session.replay, ui.step());
        motion.landings = landings(motion.flights);
        motion.to_threads = loads_to_threads(ui.trace(), *ui.index(), *session.replay, ui.step());
        std::ranges::copy(reads_to_threads(ui.trace(), *ui.index(), *session.replay, ui.step()),
                          std::back_inserter(motion.to_threads));
    }
    const bool products = !motion.flights.empty() && motion.flights[0].product;
    motion.seconds = std::min(products ? kProductSeconds : kElementSeconds,
                              kShareOfStep * session::seconds_of_step(session));
    const double gone = motion.seconds > 0 ? (ui.context.time - state.moves_since) / motion.seconds : 1;
    motion.part = state.film ? *state.film : static_cast<float>(std::clamp(gone, 0.0, 1.0));
    motion.rests = !ui.context.still || state.film;
}

std::optional<uint32_t> step_of_cell(const State& state, uint32_t step, const playback::Element& element) {
    const MotionOfStep& motion = state.motion;
    if (motion.part >= 1 || motion.step != step) return step;
    const auto at =
        std::ranges::lower_bound(motion.landings, std::pair(element.array, element.index), {},
                                 [](const Landing& of) { return std::pair(of.to.array, of.to.index); });
    if (at == motion.landings.end() || at->to != element || motion.part / kLanded >= at->arrives) return step;
    return step > 0 ? std::optional(step - 1) : std::nullopt;
}

void motion(Ui& ui) {
    const session::Session& session = ui.session;
    State& state = ui.state;
    state.travels = false;
    const bool there = session.replay && ui.step() < ui.index()->steps && !session.question.open;
    if (!there) return;
    if (!state.film && rushing(ui))
        return session::steps_per_second(session) > kFastestTrails ? counts(ui) : trails(ui);
    if (state.motion.step != ui.step() || state.motion.of != session.replay) return;
    if (state.motion.part < 1) {
        if (!state.film) ui.context.another_frame = true;
        state.travels = travel(ui);
    } else if (state.motion.rests) {
        resting(ui);
    }
}

}  // namespace tilescope::step
