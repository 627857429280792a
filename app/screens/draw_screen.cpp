// One frame: input, the work beside the window, the top bar, the chosen screen, and what lies over it.
#include <algorithm>
#include <cmath>

#include "app/actions.h"
#include "app/exporting.h"
#include "app/panels/lesson_panel.h"
#include "app/panels/panels.h"
#include "app/requests.h"
#include "app/screens/screens.h"
#include "app/session.h"
#include "app/view/lessons.h"

namespace tilescope::app {
namespace {

using panels::Rect;
using panels::Ui;

constexpr ScreenInfo kScreens[] = {
    {Screen::Step, "Step", "step", "One request after the other", step_screen},
    {Screen::Compare, "Compare", "compare", "Two recordings on one playhead", compare_screen},
    {Screen::Timing, "Timing", "timing", "Measured times, and what bandwidth allows", timing_screen},
    {Screen::Limits, "Limits", "limits", "What an SM holds, and what keeps it from more", limits_screen},
    {Screen::Lessons, "Lessons", "lessons", "Short walks through recordings", lessons_screen},
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

// The Step screen says what went wrong in its caption; the others have none.
void notice(Ui& ui, const Rect& screen) {
    if (ui.state.message.empty() || ui.state.screen == Screen::Step) return;
    ImDrawList& over = *ImGui::GetForegroundDrawList();
    const draw::Font font = ui.font(draw::Face::Text, draw::Size::Body);
    const float pad = ui.px(12), most = screen.width() - ui.px(64);
    const std::string text = panels::elided(font, ui.state.message, most - pad * 2);
    const ImVec2 size = draw::text_size(font, text);
    const ImVec2 at{std::round((screen.min.x + screen.max.x - size.x) / 2),
                    screen.max.y - size.y - ui.px(32)};
    over.AddRectFilled({at.x - pad, at.y - pad / 2}, {at.x + size.x + pad, at.y + size.y + pad / 2},
                       ui.ink(draw::Ink::Text), ui.px(4));
    draw::draw_text(over, font, at, ui.context.palette.text_on(ui.ink(draw::Ink::Text)), text);
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
    const bool recording = poll_background(state), exporting = poll_export(state);
    for (const std::string& path : input.dropped) open_path(state, path);
    // A list that lies open, or a line of text, has the keyboard.
    const bool theirs = context.typing || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
    if (!theirs || overlay_open(state))
        handle_input(state, input, do_requests);
    else if (state.form.open)
        state.form.keys.insert(state.form.keys.end(), input.presses.begin(), input.presses.end());
    context.another_frame = context.another_frame || !state.form.keys.empty();
    do_requests(state);
    advance(state, input.dt);
    const bool coming = ready_block(state, context.still);
    context.another_frame = context.another_frame || state.playback.playing;
    context.soon = context.soon || recording || exporting || coming;
    context.quit = context.quit || state.quit;

    const ImVec2 size{static_cast<float>(context.canvas.width), static_cast<float>(context.canvas.height)};
    const Rect screen{{0, 0}, size};
    Ui ui{state, context, *ImGui::GetBackgroundDrawList(), state.block.get(), false, {}, {}, {}};
    // Panels have the mouse unless a form or a list of keys lies over them.
    ui.mouse = !ImGui::GetIO().WantCaptureMouse &&
               ((!state.show_keys && !overlay_open(state)) || context.still) && ImGui::IsMousePosValid();
    const float top = ui.px(screen.height() < ui.px(860) ? 40 : 44);
    const Rect bar{screen.min, {screen.max.x, screen.min.y + top}};
    panels::top_bar(ui, bar);
    // The lesson's strip lies between the bar and the screen that it speaks of.
    float below = bar.max.y;
    if (state.screen != Screen::Lessons) {
        const float strip = panels::lesson_height(ui, screen.width() - ui.px(16));
        if (strip > 0) {
            panels::lesson_strip(
                ui, {{ui.px(8), below + ui.px(8)}, {screen.max.x - ui.px(8), below + ui.px(8) + strip}});
            below += strip + ui.px(8);
        }
    }
    screen_of(state).draw(ui, {{screen.min.x, below}, screen.max});
    if (state.hover != ui.hovered) context.another_frame = true;
    state.hover = ui.hovered;
    ui.mouse = ImGui::IsMousePosValid();
    panels::record_form(ui, screen, ui.px(52));
    panels::keys_overlay(ui, screen);
    panels::command_palette(ui, screen);
    panels::path_box(ui, screen);
    notice(ui, screen);
    tooltip(ui, screen);
    if (state.teach.blank)
        ImGui::GetForegroundDrawList()->AddRectFilled(screen.min, screen.max, draw::rgb(0));
}

}  // namespace tilescope::app
