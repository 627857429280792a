// |<  <<  <  play  >  >>  >|   speed: the same actions as the keys. The signs are drawn, not typed.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/session/playing.h"

namespace tilescope::input {

using draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size;
namespace {

enum class Shape { Bar, Left, Right };

// Triangles and bars side by side, in the middle of a button.
void shapes(draw::Ui& ui, const Rect& rect, std::initializer_list<Shape> row, Rgba color) {
    const float size = ui.px(9), bar = ui.px(2.5f), gap = ui.px(1.5f), wide = size * 0.85f;
    float width = -gap;
    for (const Shape shape : row) width += (shape == Shape::Bar ? bar : wide) + gap;
    float x = (rect.min.x + rect.max.x - width) / 2;
    const float y = (rect.min.y + rect.max.y) / 2;
    for (const Shape shape : row) {
        if (shape == Shape::Bar)
            ui.list.AddRectFilled({x, y - size / 2}, {x + bar, y + size / 2}, color);
        else if (shape == Shape::Right)
            ui.list.AddTriangleFilled({x, y - size / 2}, {x + wide, y}, {x, y + size / 2}, color);
        else
            ui.list.AddTriangleFilled({x + wide, y - size / 2}, {x + wide, y + size / 2}, {x, y}, color);
        x += (shape == Shape::Bar ? bar : wide) + gap;
    }
}

// "8 steps/s"; "512 clocks/s".
std::string rate_text(const Session& session, bool clocks) {
    const double rate = clocks ? session.playback.clocks_per_second : session.playback.steps_per_second;
    if (clocks) return fmt::format("{} clocks/s", grouped(static_cast<uint64_t>(rate)));
    return rate < 1 ? "1 step in 2 s" : fmt::format("{:.0f} steps/s", rate);
}

// A slider over powers of two; by clocks it says how much slower than the SM this is.
void speed(SessionUi& ui, const Rect& rect) {
    Session& session = ui.session;
    const bool clocks = session::by_clock(ui.session);
    const float text_y = rect.min.y + (rect.height() - line_height(ui, Size::Small)) / 2;
    const float from = rect.min.x + ui.px(44), to = rect.max.x - ui.px(clocks ? 136 : 96);
    if (to - from < ui.px(50)) return;
    note(ui, {rect.min.x, text_y}, ui.px(44), "speed");
    const float end = std::min(to, from + ui.px(220)), y = (rect.min.y + rect.max.y) / 2;
    ui.list.AddRectFilled({from, y - ui.px(1.5f)}, {end, y + ui.px(1.5f)}, ui.ink(Ink::LineStrong), ui.px(2));
    double& rate = clocks ? session.playback.clocks_per_second : session.playback.steps_per_second;
    const double low = std::log2(clocks ? session::kSlowestClock : session::kSlowest);
    const double high = std::log2(clocks ? session::kFastestClock : session::kFastest);
    const auto part = static_cast<float>((std::log2(rate) - low) / (high - low));
    ui.list.AddCircleFilled({from + (end - from) * part, y}, ui.px(7), ui.ink(Ink::Accent));
    const Rect slider{{from - ui.px(8), rect.min.y}, {end + ui.px(8), rect.max.y}};
    if (ui.mouse && ImGui::IsMouseDown(0) && slider.contains(ImGui::GetIO().MouseClickedPos[0])) {
        const double at = std::clamp((ui.cursor().x - from) / (end - from), 0.f, 1.f);
        rate = std::exp2(std::round(low + at * (high - low)));
    } else if (ui.over(slider)) {
        ui.tip = "Speed of playing (+ and -)";
        const double mhz = ui.trace().meta.price.clock_mhz;
        if (clocks && mhz > 0)
            ui.tip += fmt::format(": {} times slower than it ran",
                                  short_count(static_cast<uint64_t>(mhz * 1e6 / rate)));
    }
    line(ui, {end + ui.px(14), text_y}, rect.max.x - end - ui.px(14), Face::Mono, Size::Small, Ink::Text,
         rate_text(session, clocks));
}

}  // namespace

void transport(SessionUi& ui, const Rect& rect) {
    using enum Shape;
    using Row = std::initializer_list<Shape>;
    float x = rect.min.x;
    const auto act = [&](const char* action, const char* tip, Row row, float width, bool on = false) {
        const Rect box{{x, rect.min.y}, {x + width, rect.max.y}};
        if (button(ui, box, "", on, true, tip)) ask(ui, action);
        shapes(ui, box, row, on ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text));
        x = box.max.x;
    };
    const float gap = ui.px(4), w = ui.px(38);
    const auto walk = [&](const char* action, const char* tip, Row row) {
        act(action, tip, row, w);
        x += gap;
    };
    walk("first", "First step of the block (Home)", {Bar, Left});
    walk("previous_phase", "Phase before (Shift + \u2190)", {Left, Left});
    walk("previous_step", "Step before (\u2190)", {Left});
    const char* play = "Play or pause (Space)";
    ui.session.playback.playing ? act("play", play, {Bar, Bar}, ui.px(64), true)
                                : act("play", play, {Right}, ui.px(64), true);
    x += gap;
    walk("next_step", "Next step (\u2192)", {Right});
    walk("next_phase", "Next phase (Shift + \u2192)", {Right, Right});
    walk("last", "Last step of the block (End)", {Right, Bar});
    x += ui.px(12);

    const auto jump = [&](const char* what, const char* back, const char* back_tip, const char* forth,
                          const char* forth_tip) {
        const float text = draw::text_size(ui.font(Face::Text, Size::Small), what).x, arrow = ui.px(26);
        if (x + arrow * 2 + text + ui.px(12) > rect.max.x) return;
        act(back, back_tip, {Left}, arrow);
        note(ui, {x + ui.px(6), rect.min.y + (rect.height() - line_height(ui, Size::Small)) / 2}, text + 2,
             what);
        x += text + ui.px(12);
        act(forth, forth_tip, {Right}, arrow);
        x += ui.px(12);
    };
    if (ui.session.summary().barriers_per_block > 0)
        jump("barrier", "previous_barrier", "Barrier before ([)", "next_barrier", "Next barrier (])");
    if (ui.trace().blocks.size() > 1)
        jump("block", "previous_block", "Block before (,)", "next_block", "Next block (.)");
    speed(ui, {{x, rect.min.y}, rect.max});
}

}  // namespace tilescope::input
