// The menu of a panel: pictures of it alone, as files or for another program. It opens at the mouse by the right
// button or E, and is worked with the mouse or with the arrows and Enter.
//
//   +-----------------------------------+
//   | Picture of this panel: request    |
//   |  Copy                    Ctrl + C |
//   |  Save as PNG                      |
//   |  Save as SVG                      |
//   +-----------------------------------+
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/input/overlays.h"

namespace tilescope::input {
namespace {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

const std::vector<Command>& picture_rows() {
    static const std::vector<Command> rows = {
        {".png", "Copy", "Ctrl + C"}, {".png", "Save as PNG", ""}, {".svg", "Save as SVG", ""}};
    return rows;
}

void take_row(State& state, Session& session, size_t row) {
    state.panel.open = false;
    keep_panel(state, session, {picture_rows()[row].id, {}, row == 0});
}

// A click, and not the end of a drag, which moves what the panel shows.
bool right_clicked() {
    const ImGuiIO& io = ImGui::GetIO();
    return ImGui::IsMouseReleased(1) &&
           io.MouseDragMaxDistanceSqr[1] < io.MouseDragThreshold * io.MouseDragThreshold;
}

}  // namespace

void point_at_panels(SessionUi& ui, State& state, std::span<const draw::Panel> panels, const Rect& screen) {
    PanelMenu& menu = state.panel;
    if (overlay_open(state)) return;
    menu.pointed.reset();
    if (!ui.mouse) return;
    for (const draw::Panel& panel : panels) {  // the last one lies on top
        if (!panel.rect.contains(ui.cursor())) continue;
        const ImVec2 low = panel.rect.min, high = panel.rect.max;
        menu.pointed = session::PanelAt{panel.name, (low.x + high.x) / 2 / screen.width(),
                                        (low.y + high.y) / 2 / screen.height()};
        menu.box = panel.rect;
    }
    menu.at = ui.cursor();
    if (menu.pointed && right_clicked()) {
        open_panel_menu(state, ui.session);
        ui.context.another_frame = true;
    }
}

void open_panel_menu(State& state, Session& session) {
    if (!state.panel.pointed) {
        session.message = "Point at a panel with the mouse first; the pictures are of that one.";
        return;
    }
    state.panel.open = true;
    state.panel.chosen = 0;
}

void press_in_panel_menu(State& state, Session& session, const KeyPress& press) {
    PanelMenu& menu = state.panel;
    if (press.control && press.key == Key::Q)
        session.ask(session::wish::Quit{});
    else if (press.control && press.key == Key::C)
        take_row(state, session, 0);
    else if (press.key == Key::Escape || press.key == Key::E)
        menu.open = false;
    else if (press.key == Key::Enter || press.key == Key::Space)
        take_row(state, session, menu.chosen);
    else
        choose(menu.chosen, picture_rows().size(), press);
}

void keep_panel(State& state, Session& session, session::wish::SavePicture wanted) {
    if (!state.panel.pointed) return open_panel_menu(state, session);  // which says why not
    wanted.panel = state.panel.pointed;
    session.ask(std::move(wanted));
}

void panel_menu(Ui<State>& ui, const Rect& screen) {
    PanelMenu& menu = ui.state.panel;
    if (!menu.open) return;
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    const std::vector<Command>& rows = picture_rows();
    const std::string title = "Picture of this panel: " + draw::panel_word(menu.pointed->name.c_str());
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const float pad = ui.px(8), head = line_height(ui, Size::Small) + ui.px(8),
                width = std::max(draw::text_size(font, title).x + ui.px(24), ui.px(260)),
                height = head + overlay_row_height(ui) * static_cast<float>(rows.size());
    const auto within = [&](float at, float size, float low, float high) {
        return std::round(std::max(low, std::min(at, high - size - pad)));
    };
    const ImVec2 corner{within(menu.at.x, width + pad * 2, screen.min.x, screen.max.x),
                        within(menu.at.y, height + pad * 2, screen.min.y, screen.max.y)};
    const Rect box{corner, {corner.x + width + pad * 2, corner.y + height + pad * 2}}, in = box.inset(pad);
    // Which panel it is of.
    list.AddRect(menu.box.min, menu.box.max, ui.ink(Ink::Accent), ui.px(6), 0, ui.px(2));
    list.AddRectFilled(box.min, box.max, ui.ink(Ink::Panel), ui.px(8));
    list.AddRect(box.min, box.max, ui.ink(Ink::LineStrong), ui.px(8));
    put(ui, list, font, {in.min.x + ui.px(12), in.min.y}, ui.ink(Ink::TextQuiet), title);
    const Rect below{{in.min.x, in.min.y + head}, in.max};
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    if (ui.over(below) && (moved.x != 0 || moved.y != 0)) {
        const float row = (ui.cursor().y - below.min.y) / overlay_row_height(ui);
        menu.chosen = std::min(static_cast<size_t>(row), rows.size() - 1);
    }
    const int clicked = overlay_rows(ui, below, rows, static_cast<int>(menu.chosen));
    if (clicked >= 0)
        take_row(ui.state, ui.session, static_cast<size_t>(clicked));
    else if ((ImGui::IsMouseClicked(0) || ImGui::IsMouseClicked(1)) && !ui.over(box))
        menu.open = false;
    else
        return;
    ui.context.another_frame = true;
}

}  // namespace tilescope::input
