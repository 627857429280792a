// The path from the grid to a lane, and what leads along it (zoom.h).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/step/zoom.h"

namespace tilescope::step {
namespace {

constexpr const char* kBetween = "\u203a";

// Zooming out has come to its end: when they were last drawn all arrays of global memory were no larger than
// their viewports, or their cells as small as they get.
bool at_smallest(const State& state, const session::Session& session) {
    bool any = false;
    if (!session.recording) return false;
    const auto& arrays = session.trace().launch.arrays;
    for (const auto& [array, grid] : state.places) {
        if (array >= arrays.size() || arrays[array].space != Space::Global) continue;
        any = true;
        const Array& of = arrays[array];
        const draw::Sheet sheet(of);
        const auto rows = static_cast<float>(of.rank == 3 ? of.rows : sheet.rows),
                   cols = static_cast<float>(of.rank == 3 ? of.cols : sheet.cols);
        const bool fits = rows * grid.pitch <= grid.clip_max.y - grid.clip_min.y + 1 &&
                          cols * grid.pitch <= grid.clip_max.x - grid.clip_min.x + 1;
        const double pitch = session.recording->product    ? state.view.pitch
                             : array < state.arrays.size() ? state.arrays[array].pitch
                                                           : kMostPitch;
        if (!fits && pitch > 1) return false;
    }
    return any;
}

bool at_largest(const State& state, const session::Session& session) {
    if (!session.recording) return false;
    if (session.recording->product) return state.view.pitch >= kMostPitch;
    return std::ranges::any_of(state.arrays, [](const ArrayView& view) { return view.pitch >= kMostPitch; });
}

// The thread that is spoken of: one that the cell under the mouse is about, else the step's first.
std::optional<uint32_t> thread_here(const session::Session& session) {
    if (!session.block || !session.block->why_not.empty()) return std::nullopt;
    const trace::Trace& trace = session.trace();
    if (session.hover.kind != Pick::Kind::None) {
        const look::Relations about =
            look::relations(trace, *session.block, session.replay.get(), session.hover, session.cursor.step);
        if (!about.threads.empty()) return std::ranges::min(about.threads);
    }
    const look::RequestView request = look::request_view(trace, *session.block, session.cursor.step);
    return trace.warp_of(session.block->first + session.cursor.step) * kWarpSize +
           look::spoken_lane(request, {}, {});
}

}  // namespace

bool zoom_level(State& state, session::Session& session, bool in) {
    using Kind = Pick::Kind;
    if (session.question.open) return false;
    Pick& pin = session.pin;
    if (grid_shown(state, session)) {
        state.grid.shown = state.grid.shown && !in;
        return true;
    }
    if (!in && at_smallest(state, session)) {
        show_grid(state, session);
        return true;
    }
    if (!at_largest(state, session)) return false;
    if (!in && pin.kind != Kind::Thread && pin.kind != Kind::Warp) return false;
    if (!in) {
        pin = pin.kind == Kind::Thread ? Pick{.kind = Kind::Warp, .warp = pin.thread / kWarpSize} : Pick{};
        return true;
    }
    if (pin.kind == Kind::Thread) return true;
    const std::optional<uint32_t> thread = thread_here(session);
    if (!thread) return true;
    const uint32_t warp = *thread / kWarpSize;
    if (pin.kind != Kind::Warp)
        pin = {.kind = Kind::Warp, .warp = warp};
    else
        // Another warp than the one that is spoken of may be pinned: then its first lane.
        pin = {.kind = Kind::Thread,
               .thread = pin.warp == warp ? *thread : pin.warp * kWarpSize,
               .warp = pin.warp};
    return true;
}

void zoom_by_wheel(Ui& ui) {
    ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel == 0 || grid_shown(ui.state, ui.session) || !ui.session.recording) return;
    const auto& arrays = ui.trace().launch.arrays;
    const bool over = std::ranges::any_of(ui.state.places, [&](const auto& place) {
        return place.first < arrays.size() && arrays[place.first].space == Space::Global &&
               ui.over({place.second.clip_min, place.second.clip_max});
    });
    if (over && zoom_level(ui.state, ui.session, io.MouseWheel > 0)) io.MouseWheel = 0;  // taken
}

std::vector<std::string> path_names(const trace::Trace& trace, uint32_t block, const Pick& pin,
                                    const Notation& notation) {
    const trace::Block& of = trace.blocks[block];
    std::vector<std::string> names{"grid", block_name(trace.launch.grid, {of.x, of.y, of.z}, notation)};
    if (pin.kind == Pick::Kind::Warp) names.push_back(fmt::format("warp {}", pin.warp));
    if (pin.kind != Pick::Kind::Thread) return names;
    names.push_back(fmt::format("warp {}", pin.thread / kWarpSize));
    names.push_back(fmt::format("lane {}", pin.thread % kWarpSize));
    return names;
}

float path_strip(Ui& ui, const Rect& rect) {
    session::Session& session = ui.session;
    if (session.question.hides_any()) return 0;
    const float high = line_height(ui, Size::Small), gap = ui.px(6);
    const draw::Font font = ui.font(Face::Text, Size::Small), strong = ui.font(Face::Strong, Size::Small);
    const std::vector<std::string> names =
        path_names(ui.trace(), session.cursor.block, session.pin, ui.notation());
    // On one line, or on two where it is too long.
    const float sign = draw::text_size(font, kBetween).x + gap;
    std::vector<ImVec2> places;
    ImVec2 at = rect.min;
    for (size_t i = 0; i < names.size(); ++i) {
        const float width = draw::text_size(strong, names[i]).x + ui.px(2);
        if (i > 0 && at.x + sign + width > rect.max.x) at = {rect.min.x, at.y + high};
        if (i > 0) at.x += sign;
        if (at.x + width > rect.max.x || at.y > rect.min.y + high) return 0;
        places.push_back(at);
        at.x += width + gap;
    }
    for (size_t i = 0; i < names.size(); ++i) {
        const bool last = i + 1 == names.size();
        const ImVec2 place = places[i];
        const float width = draw::text_size(last ? strong : font, names[i]).x;
        const Rect box{{place.x - gap / 2, place.y}, {place.x + width + gap / 2, place.y + high}};
        const bool over = !last && ui.over(box);
        if (i > 0)
            line(ui, {place.x - sign, place.y}, sign, Face::Text, Size::Small, Ink::TextFaint, kBetween);
        line(ui, place, width + 2, last ? Face::Strong : Face::Text, Size::Small,
             last || over ? Ink::Text : Ink::TextQuiet, names[i]);
        if (!over) continue;
        ui.list.AddRectFilled({place.x, box.max.y - 1}, {place.x + width, box.max.y}, ui.ink(Ink::Text));
        ui.tip = i == 0 ? "The grid at work (O)" : "Back to this level";
        if (!ui.clicked(box)) continue;
        ui.context.another_frame = true;
        if (i == 0)
            show_grid(ui.state, session);
        else if (i == 1)
            session.pin = {};
        else
            session.pin = {.kind = Pick::Kind::Warp, .warp = session.pin.thread / kWarpSize};
    }
    return at.y - rect.min.y + high + ui.px(4);
}

std::optional<ImVec2> map_pressed(Ui& ui, const Rect& map, float pitch) {
    // Held: it goes on where the mouse leaves the map, as it does on any slider.
    if (!ui.mouse || !ImGui::IsMouseDown(0) || !map.contains(ImGui::GetIO().MouseClickedPos[0]))
        return std::nullopt;
    if (!ui.over(map) && !ImGui::IsMouseDragging(0, 0)) return std::nullopt;
    ui.context.another_frame = true;
    const ImVec2 at{std::clamp(ui.cursor().x, map.min.x, map.max.x),
                    std::clamp(ui.cursor().y, map.min.y, map.max.y)};
    return ImVec2{(at.x - map.min.x) / pitch, (at.y - map.min.y) / pitch};
}

}  // namespace tilescope::step
