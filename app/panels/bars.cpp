// The top bar (screens, the recording's name, record, theme, keys) and the caption below it: what just
// happened, in words.
#include <algorithm>

#include <fmt/format.h>

#include "app/actions.h"
#include "app/panels/panels.h"
#include "app/screens/screens.h"
#include "app/session.h"
#include "app/view/block_clock.h"
#include "app/view/caption.h"

namespace tilescope::panels {

void top_bar(Ui& ui, const Rect& rect) {
    ui.list.AddRectFilled(rect.min, rect.max, ui.ink(Ink::Panel));
    ui.list.AddLine({rect.min.x, rect.max.y}, rect.max, ui.ink(Ink::Line));
    const float h = ui.px(28), top = rect.min.y + (rect.height() - h) / 2;
    const float body = line_height(ui, Size::Body), text_y = rect.min.y + (rect.height() - body) / 2;
    float x = rect.min.x + ui.px(16);
    x += line(ui, {x, text_y}, ui.px(120), Face::Strong, Size::Body, Ink::Text, "Tilescope") + ui.px(20);
    for (const app::ScreenInfo& info : app::screens()) {
        const bool here = &info == &app::screen_of(ui.state);
        const float tab = draw::text_size(ui.font(Face::Strong, Size::Body), info.name).x;
        const Rect box{{x - ui.px(6), rect.min.y}, {x + tab + ui.px(6), rect.max.y}};
        const Ink ink = here || ui.over(box) ? Ink::Text : Ink::TextQuiet;
        line(ui, {x, text_y}, tab + 2, Face::Strong, Size::Body, ink, info.name);
        if (here)
            ui.list.AddRectFilled({x, rect.max.y - ui.px(3)}, {x + tab, rect.max.y}, ui.ink(Ink::Accent));
        if (ui.over(box)) ui.tip = info.about;
        if (ui.clicked(box)) ui.state.screen = info.screen;
        x += tab + ui.px(20);
    }
    x += ui.px(4);

    float right = rect.max.x - ui.px(12);
    const auto place = [&](float width) {
        right -= width;
        const Rect box{{right, top}, {right + width, top + h}};
        right -= ui.px(6);
        return box;
    };
    if (button(ui, place(ui.px(30)), "?", ui.state.show_keys, true, "All keys (?)"))
        app::perform(ui.state, "keys");
    const bool light = ui.state.theme == app::Theme::Light;
    if (button(ui, place(ui.px(56)), light ? "Dark" : "Light", false, true, "Light or dark (T)"))
        app::perform(ui.state, "theme");
    if (button(ui, place(ui.px(92)), "Record\u2026", ui.state.form.open, true,
               "Record another kernel or size (R)")) {
        app::perform(ui.state, "record");
    }
    right -= ui.px(14);
    if (ui.state.session) {
        const std::vector<std::string> names = view::recording_names(ui.trace().meta);
        line(ui, {x, text_y + ui.px(1)}, right - x, Face::Mono, Size::Body, Ink::TextQuiet,
             fitting(ui.font(Face::Mono, Size::Body), names, right - x));
        if (ui.over({{x, rect.min.y}, {right, rect.max.y}})) ui.tip = names.front();
    }
}

float warning_height(Ui& ui, float width, const std::string& warning) {
    const float room = width - ui.px(52);
    const bool two = draw::text_size(ui.font(Face::Strong, Size::Small), warning).x > room;
    return ui.px(28) + (two ? line_height(ui, Size::Small) : 0);
}

void warning_strip(Ui& ui, const Rect& rect, const std::string& warning) {
    const Rgba fault = ui.ink(Ink::Fault);
    ui.list.AddRectFilled(rect.min, rect.max, draw::mix(ui.ink(Ink::Panel), fault, 0.14f), ui.px(6));
    ui.list.AddRectFilled(rect.min, {rect.min.x + ui.px(4), rect.max.y}, fault, ui.px(2));
    const float small = line_height(ui, Size::Small), r = ui.px(6);
    const int lines = rect.height() > small * 2 ? 2 : 1;
    const float y = rect.min.y + (rect.height() - small * static_cast<float>(lines)) / 2;
    const float x = rect.min.x + ui.px(22), m = y + small / 2;
    ui.list.AddTriangleFilled({x, m - r}, {x + r, m + r * 0.8f}, {x - r, m + r * 0.8f}, fault);
    const float from = x + r + ui.px(8);
    paragraph(ui, {from, y}, rect.max.x - ui.px(16) - from, Face::Strong, Size::Small, Ink::Text, warning,
              lines);
    if (ui.over(rect)) ui.tip = warning;
}

void caption_bar(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y}, {rect.max.x - ui.px(16), rect.max.y}};
    const float title = line_height(ui, Size::Title), small = line_height(ui, Size::Small);
    if (ui.index == nullptr) {
        line(ui, {in.min.x, rect.min.y + (rect.height() - title) / 2}, in.width(), Face::Text, Size::Title,
             Ink::TextQuiet, "Reading this block\u2026");
        return;
    }
    const trace::Block& block = ui.trace().blocks[ui.state.cursor.block];
    const std::string where =
        fmt::format("step {} of {}", view::grouped(ui.step() + 1), view::grouped(ui.index->steps));
    const std::string phase =
        fmt::format("block ({},{})   {}", block.x, block.y, view::phase_text(*ui.index, ui.step()));
    const float side = std::max(draw::text_size(ui.font(Face::Mono, Size::Body), where).x,
                                draw::text_size(ui.font(Face::Mono, Size::Small), phase).x) +
                       ui.px(8);
    const float y = rect.min.y + (rect.height() - title - small) / 2;
    line(ui, {in.max.x, y + ui.px(3)}, side, Face::Mono, Size::Body, Ink::Text, where, draw::Align::Right);
    line(ui, {in.max.x, y + title}, side, Face::Mono, Size::Small, Ink::TextQuiet, phase, draw::Align::Right);
    const std::string text = view::caption(ui.trace(), *ui.index, ui.state.replay.get(), ui.step());
    const float width = in.width() - side - ui.px(16);
    const view::BarrierTimes* barrier = view::barrier_of_step(*ui.index, ui.step());
    const std::vector<std::string> faults =
        ui.state.faults && ui.state.message.empty()
            ? view::fault_captions(ui.trace(), *ui.state.faults, ui.step())
            : std::vector<std::string>();
    const draw::Font small_font = ui.font(Face::Text, Size::Small);
    const std::string below =
        !ui.state.message.empty()     ? ui.state.message
        : !faults.empty()             ? fitting(small_font, faults, width)
        : !ui.state.no_values.empty() ? ui.state.no_values
        : barrier != nullptr && !ui.state.playback.playing
            ? view::wait_words(ui.trace(), *barrier, ui.trace().warp_of(ui.index->first + ui.step()))
            : view::hint(*ui.index, ui.step(), ui.state.playback.playing);
    // Where the line below needs two, the one above steps back.
    const bool two = draw::text_size(small_font, below).x > width;
    const bool fits = !two && draw::text_size(ui.font(Face::Strong, Size::Title), text).x <= width;
    const float body = line_height(ui, Size::Body);
    const float top = two ? std::round((rect.min.y + rect.max.y - body - small * 2) / 2) + ui.px(1)
                          : y + (fits ? 0 : ui.px(4));
    line(ui, {in.min.x, top}, width, Face::Strong, fits ? Size::Title : Size::Body, Ink::Text, text);
    paragraph(ui, {in.min.x, two ? top + body - ui.px(2) : y + title}, width, Face::Text, Size::Small,
              ui.state.message.empty() && faults.empty() ? Ink::TextQuiet : Ink::Fault, below, two ? 2 : 1);
    if (!faults.empty() && ui.over(rect)) ui.tip = faults.front();
}

}  // namespace tilescope::panels
