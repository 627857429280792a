// The path from the grid to a lane, and what leads along it (zoom.h).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/step/zoom.h"

namespace tilescope::step {
namespace {

constexpr const char* kBetween = "\u203a";

// All of the arrays of global memory lay in their viewports when they were last drawn.
bool whole_in_sight(const State& state, const session::Session& session) {
    bool any = false;
    if (!session.recording) return false;
    const auto& arrays = session.trace().launch.arrays;
    for (const auto& [array, grid] : state.places) {
        if (array >= arrays.size() || arrays[array].space != Space::Global) continue;
        any = true;
        const draw::Sheet sheet(arrays[array]);
        const float right = grid.x + static_cast<float>(sheet.cols) * grid.pitch,
                    bottom = grid.y + static_cast<float>(sheet.rows) * grid.pitch;
        if (grid.x < grid.clip_min.x - 1 || grid.y < grid.clip_min.y - 1 || right > grid.clip_max.x + 1 ||
            bottom > grid.clip_max.y + 1)
            return false;
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
    if (!in && whole_in_sight(state, session)) {
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
    const bool grid = grid_shown(ui.state, session);
    std::vector<std::string> names = path_names(ui.trace(), session.cursor.block, session.pin, ui.notation());
    if (grid) names.resize(1);
    float wide = 0;
    for (const std::string& name : names) wide += draw::text_size(strong, name).x + gap * 2 + ui.px(8);
    if (wide > rect.width()) return 0;
    float x = rect.min.x;
    for (size_t at = 0; at < names.size(); ++at) {
        const bool last = at + 1 == names.size();
        const float width = draw::text_size(last ? strong : font, names[at]).x;
        const Rect box{{x - gap / 2, rect.min.y - ui.px(2)}, {x + width + gap / 2, rect.min.y + high}};
        const bool over = !last && ui.over(box);
        line(ui, {x, rect.min.y}, width + 2, last ? Face::Strong : Face::Text, Size::Small,
             last || over ? Ink::Text : Ink::TextQuiet, names[at]);
        if (over)
            ui.list.AddRectFilled({x, rect.min.y + high - 1}, {x + width, rect.min.y + high},
                                  ui.ink(Ink::Text));
        if (over) ui.tip = at == 0 ? "The grid at work (O)" : "Back to this level";
        if (over && ui.clicked(box)) {
            if (at == 0)
                show_grid(ui.state, session);
            else if (at == 1)
                session.pin = {};
            else
                session.pin = {.kind = Pick::Kind::Warp, .warp = session.pin.thread / kWarpSize};
            ui.context.another_frame = true;
        }
        x += width + gap;
        if (last) break;
        x += line(ui, {x, rect.min.y}, ui.px(12), Face::Text, Size::Small, Ink::TextFaint, kBetween) + gap;
    }
    return high + ui.px(4);
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
