// |<  <<  <  play  >  >>  >|   speed: the same actions as the keys. The signs are drawn, not typed.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/session/playing.h"

namespace tilescope::input {

using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Rgba;
using draw::Size;
namespace {

enum class Shape { Bar, Left, Right };

// Triangles and bars side by side, in the middle of a button.
void shapes(draw::Ui& ui, const Rect& rect, std::initializer_list<Shape> row, Rgba color) {
    const float size = ui.px(9), bar = ui.px(2.5f), gap = ui.px(1.5f);
    float width = -gap;
    for (const Shape shape : row) width += (shape == Shape::Bar ? bar : size * 0.85f) + gap;
    float x = (rect.min.x + rect.max.x - width) / 2;
    const float y = (rect.min.y + rect.max.y) / 2;
    for (const Shape shape : row) {
        if (shape == Shape::Bar) {
            ui.list.AddRectFilled({x, y - size / 2}, {x + bar, y + size / 2}, color);
            x += bar + gap;
            continue;
        }
        const float tip = shape == Shape::Right ? x + size * 0.85f : x,
                    back = shape == Shape::Right ? x : x + size * 0.85f;
        const ImVec2 a{back, y - size / 2}, b{tip, y}, c{back, y + size / 2};
        if (shape == Shape::Right)
            ui.list.AddTriangleFilled(a, b, c, color);
        else
            ui.list.AddTriangleFilled(a, c, b, color);
        x += size * 0.85f + gap;
    }
}

// "8 steps/s"; "512 clocks/s".
std::string rate_text(const Session& session, bool clocks) {
    const double rate = clocks ? session.playback.clocks_per_second : session.playback.steps_per_second;
    if (clocks) return fmt::format("{} clocks/s", grouped(static_cast<uint64_t>(rate)));
    return rate < 1 ? "1 step in 2 s" : fmt::format("{:.0f} steps/s", rate);
}

// A slider over powers of two; by clocks it says how much slower than the SM this is.
void speed(session::Ui& ui, const Rect& rect) {
    Session& session = ui.session;
    const bool clocks = session::by_clock(ui.session);
    const float text_y = rect.min.y + (rect.height() - line_height(ui, Size::Small)) / 2;
    const float from = rect.min.x + ui.px(44), to = rect.max.x - ui.px(clocks ? 136 : 96);
    if (to - from < ui.px(50)) return;
    line(ui, {rect.min.x, text_y}, ui.px(44), Face::Text, Size::Small, Ink::TextQuiet, "speed");
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

void transport(session::Ui& ui, const Rect& rect) {
    const float h = rect.height(), w = ui.px(38), gap = ui.px(4);
    float x = rect.min.x;
    const auto act = [&](const char* action, const char* tip, std::initializer_list<Shape> row, float width) {
        const Rect box{{x, rect.min.y}, {x + width, rect.max.y}};
        if (button(ui, box, "", false, true, tip)) session::ask(ui, action);
        shapes(ui, box, row, ui.ink(Ink::Text));
        x += width + gap;
    };
    using enum Shape;
    act("first", "First step of the block (Home)", {Bar, Left}, w);
    act("previous_phase", "Phase before (Shift + \u2190)", {Left, Left}, w);
    act("previous_step", "Step before (\u2190)", {Left}, w);
    {
        const Rect box{{x, rect.min.y}, {x + ui.px(64), rect.max.y}};
        if (button(ui, box, "", true, true, "Play or pause (Space)")) session::ask(ui, "play");
        const Rgba color = ui.context.palette.text_on(ui.ink(Ink::Accent));
        if (ui.session.playback.playing)
            shapes(ui, box, {Bar, Bar}, color);
        else
            shapes(ui, box, {Right}, color);
        x = box.max.x + gap;
    }
    act("next_step", "Next step (\u2192)", {Right}, w);
    act("next_phase", "Next phase (Shift + \u2192)", {Right, Right}, w);
    act("last", "Last step of the block (End)", {Right, Bar}, w);
    x += ui.px(12);

    const auto jump = [&](const char* back, const char* forth, const char* what, const char* tips[2]) {
        const float text = draw::text_size(ui.font(Face::Text, Size::Small), what).x;
        const float arrow = ui.px(26);
        const Rect left{{x, rect.min.y}, {x + arrow, rect.max.y}};
        const Rect right{{x + arrow + text + ui.px(12), rect.min.y},
                         {x + arrow * 2 + text + ui.px(12), rect.max.y}};
        if (right.max.x > rect.max.x) return;
        if (button(ui, left, "", false, true, tips[0])) session::ask(ui, back);
        shapes(ui, left, {Left}, ui.ink(Ink::Text));
        line(ui, {left.max.x + ui.px(6), rect.min.y + (h - line_height(ui, Size::Small)) / 2}, text + 2,
             Face::Text, Size::Small, Ink::TextQuiet, what);
        if (button(ui, right, "", false, true, tips[1])) session::ask(ui, forth);
        shapes(ui, right, {Right}, ui.ink(Ink::Text));
        x = right.max.x + ui.px(12);
    };
    const char* barrier_tips[2] = {"Barrier before ([)", "Next barrier (])"};
    const char* block_tips[2] = {"Block before (,)", "Next block (.)"};
    if (ui.session.summary().barriers_per_block > 0)
        jump("previous_barrier", "next_barrier", "barrier", barrier_tips);
    if (ui.trace().blocks.size() > 1) jump("previous_block", "next_block", "block", block_tips);

    speed(ui, {{x, rect.min.y}, rect.max});
}

}  // namespace tilescope::input
