// One frame: input, the work beside the window, the top bar, the chosen screen, and what lies over it.
#include <algorithm>

#include "app/actions.h"
#include "app/panels/panels.h"
#include "app/screens/screens.h"
#include "app/session.h"

namespace tilescope::app {
namespace {

using panels::Rect;
using panels::Ui;

constexpr ScreenInfo kScreens[] = {
    {Screen::Step, "Step", "step", "One request after the other", step_screen},
};

void tooltip(Ui& ui, const Rect& screen) {
    if (ui.tip.empty() || ui.context.still) return;
    ImDrawList& over = *ImGui::GetForegroundDrawList();
    const draw::Font font = ui.font(draw::Face::Text, draw::Size::Small);
    const float pad = ui.px(8);
    const ImVec2 size = draw::text_size(font, ui.tip);
    ImVec2 at{ui.cursor().x + ui.px(14), ui.cursor().y + ui.px(18)};
    at.x = std::clamp(at.x, screen.min.x, std::max(screen.min.x, screen.max.x - size.x - pad * 2));
    if (at.y + size.y + pad * 2 > screen.max.y) at.y = ui.cursor().y - size.y - pad * 2 - ui.px(8);
    over.AddRectFilled(at, {at.x + size.x + pad * 2, at.y + size.y + pad}, ui.ink(draw::Ink::Text), ui.px(4));
    draw::draw_text(over, font, {at.x + pad, at.y + pad / 2},
                    ui.context.palette.text_on(ui.ink(draw::Ink::Text)), ui.tip);
}

}  // namespace

std::span<const ScreenInfo> screens() { return kScreens; }

const ScreenInfo& screen_of(const State& state) {
    for (const ScreenInfo& info : kScreens) {
        if (info.screen == state.screen) return info;
    }
    return kScreens[0];
}

const ScreenInfo* find_screen(std::string_view option) {
    const auto found = std::find_if(std::begin(kScreens), std::end(kScreens),
                                    [&](const ScreenInfo& info) { return option == info.option; });
    return found == std::end(kScreens) ? nullptr : found;
}

void draw_screen(State& state, const platform::Input& input, DrawContext& context) {
    const bool recording = poll_background(state);
    for (const std::string& path : input.dropped) open_file(state, path);
    if (!context.typing) handle_input(state, input);
    advance(state, input.dt);
    const bool coming = ready_block(state, context.still);
    context.another_frame = context.another_frame || state.playback.playing;
    context.soon = context.soon || recording || coming;
    context.quit = context.quit || state.quit;

    const ImVec2 size{static_cast<float>(context.canvas.width), static_cast<float>(context.canvas.height)};
    const Rect screen{{0, 0}, size};
    Ui ui{state, context, *ImGui::GetBackgroundDrawList(), state.block.get(), false, {}, {}, {}};
    // Panels have the mouse unless a form or a list of keys lies over them.
    ui.mouse =
        !ImGui::GetIO().WantCaptureMouse && (!state.show_keys || context.still) && ImGui::IsMousePosValid();
    const float top = ui.px(screen.height() < ui.px(860) ? 40 : 44);
    const Rect bar{screen.min, {screen.max.x, screen.min.y + top}};
    panels::top_bar(ui, bar);
    screen_of(state).draw(ui, {{screen.min.x, bar.max.y}, screen.max});
    if (state.hover != ui.hovered) context.another_frame = true;
    state.hover = ui.hovered;
    ui.mouse = ImGui::IsMousePosValid();
    panels::record_form(ui, screen, ui.px(52));
    panels::keys_overlay(ui, screen);
    tooltip(ui, screen);
}

}  // namespace tilescope::app
