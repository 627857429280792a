// The chart of a race: bytes loaded over the progress of both, drawn through up to now and dashed ahead.
//
//   [|<] [>]  Bytes loaded from global memory          loads of an element  0 [ramp] 64
//        |                           - - - - - (A) 2.10 MB
//        |            .----------o-
//        |-----------=[]========- - - - - - -  [B] 131 kB
//        0 %         50 %         100 % of the product
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/chart.h"
#include "app/draw/widgets.h"
#include "app/race/panels.h"
#include "core/base/words.h"

namespace tilescope::race {
namespace {

constexpr uint32_t kEvery = 4;  // moments between two points of a line

float x_of(const Rect& plot, double share) { return plot.min.x + plot.width() * static_cast<float>(share); }

float y_of(const Rect& plot, const Race& race, uint64_t bytes) {
    const double most = std::max(race.wider(), 1.0);
    return plot.max.y - plot.height() * static_cast<float>(static_cast<double>(bytes) / most);
}

void curve(Ui& ui, const Rect& plot, const Race& race, const Side& side, uint32_t moment) {
    std::vector<ImVec2> made, ahead;
    const auto point = [&](uint32_t at) {
        return ImVec2{x_of(plot, static_cast<double>(at) / kMoments), y_of(plot, race, side.bytes[at])};
    };
    for (uint32_t at = 0; at < moment; at += kEvery) made.push_back(point(at));
    made.push_back(point(moment));
    ahead.push_back(point(moment));
    for (uint32_t at = moment / kEvery * kEvery + kEvery; at < kMoments; at += kEvery)
        ahead.push_back(point(at));
    ahead.push_back(point(kMoments));
    const Rgba color = ui.ink(Ink::GlobalLoad);
    draw::chart_line(ui, ahead, draw::with_alpha(color, 0.75f), ui.px(1.5f), true);
    draw::chart_line(ui, made, color, ui.px(3));
    const draw::PointShape shape = side.letter == "A" ? draw::PointShape::Circle : draw::PointShape::Square;
    draw::marker(ui, made.back(), shape, ui.ink(Ink::Accent), ui.px(6));
}

// What the ends of the lines are, right of the plot.
void end_labels(Ui& ui, const Rect& plot, float right, const Race& race) {
    const float high = line_height(ui, Size::Body);
    std::vector<float> wanted;
    for (const Side* side : {&race.a, &race.b}) wanted.push_back(y_of(plot, race, side->bytes.back()));
    const bool turned = wanted[0] > wanted[1];
    if (turned) std::swap(wanted[0], wanted[1]);
    std::vector<float> middles =
        draw::spread(wanted, high + ui.px(2), plot.min.y - ui.px(4), plot.max.y + ui.px(6));
    if (turned) std::swap(middles[0], middles[1]);
    float y = 0;
    for (const Side* side : {&race.a, &race.b}) {
        y = middles[side == &race.a ? 0 : 1];
        const float size = ui.px(18), left = plot.max.x + ui.px(12);
        const float mark = draw::badge(ui, {left, y - size / 2}, size, side->letter[0]) + ui.px(6);
        line(ui, {left + mark, y - high / 2}, right - left - mark, Face::Strong, Size::Body, Ink::Text,
             bytes_text(side->bytes.back()));
    }
}

// The colours of the maps: 0 to the most loads of an element, at the right end of a row. Returns its width.
float scale(Ui& ui, ImVec2 right, float room, const Race& race) {
    const draw::Font font = ui.font(Face::Text, Size::Small), mono = ui.font(Face::Mono, Size::Small);
    const std::string most = grouped(race.most());
    const float number = draw::text_size(mono, most).x, zero = draw::text_size(mono, "0").x,
                ramp = ui.px(110), gap = ui.px(6);
    const std::vector<std::string> wordings{"loads of an element so far", "loads so far", "loads"};
    const float bar = zero + ramp + number + gap * 2;
    const std::string& words = fitting(font, wordings, room - bar - gap * 2);
    const float wide = draw::text_size(font, words).x + gap * 2;
    if (bar + wide > room) return 0;
    const float y = right.y, high = ui.px(12), small = line_height(ui, Size::Small);
    line(ui, {right.x - number, y}, number + 2, Face::Mono, Size::Small, Ink::Text, most);
    const float x1 = right.x - number - gap, x0 = x1 - ramp;
    draw::heat_ramp(ui, {{x0, y + (small - high) / 2}, {x1, y + (small + high) / 2}});
    line(ui, {x0 - gap - zero, y}, zero + 2, Face::Mono, Size::Small, Ink::TextQuiet, "0");
    note(ui, {x0 - gap * 3 - zero - draw::text_size(font, words).x, y}, wide, words);
    return bar + wide;
}

// Back to the start, and play or pause. Returns the width taken.
float buttons(Ui& ui, const Rect& row) {
    State& state = ui.state;
    const Rect first{row.min, {row.min.x + ui.px(38), row.max.y}},
        play{{first.max.x + ui.px(4), row.min.y}, {first.max.x + ui.px(68), row.max.y}};
    if (button(ui, first, "", false, true, "To the start (Home)")) state.at = 0, state.playing = false;
    if (button(ui, play, "", state.playing, true, "Play or pause (Space)")) toggle(state);
    const Rgba quiet = ui.ink(Ink::Text),
               ink = state.playing ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : quiet;
    using enum draw::ButtonShape;
    button_shapes(ui, first, {Bar, Left}, quiet);
    if (state.playing)
        button_shapes(ui, play, {Bar, Bar}, ink);
    else
        button_shapes(ui, play, {Right}, ink);
    return play.max.x + ui.px(16) - row.min.x;
}

void scrub(Ui& ui, const Rect& plot) {
    const Rect wide{{plot.min.x - ui.px(12), plot.min.y - ui.px(8)},
                    {plot.max.x + ui.px(12), plot.max.y + ui.px(8)}};
    const bool held = ui.mouse && ImGui::IsMouseDown(0) && wide.contains(ImGui::GetIO().MouseClickedPos[0]);
    if (!held) return;
    ui.state.playing = false;
    ui.state.at = std::clamp((ui.cursor().x - plot.min.x) / plot.width(), 0.f, 1.f);
    ui.context.another_frame = true;
}

}  // namespace

void chart_panel(Ui& ui, const Rect& rect, const Race& race, uint32_t moment) {
    surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y + ui.px(10)},
                  {rect.max.x - ui.px(16), rect.max.y - ui.px(8)}};
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    const float row = ui.context.paper ? body : ui.px(32);
    float left = in.min.x;
    if (!ui.context.paper) left += buttons(ui, {in.min, {in.max.x, in.min.y + row}});
    const std::vector<std::string> titles{"Bytes loaded from global memory", "Bytes loaded"};
    const draw::Font strong = ui.font(Face::Strong, Size::Body);
    const std::string& title = fitting(strong, titles, (in.max.x - left) * 0.55f);
    left += line(ui, {left, in.min.y + (row - body) / 2}, in.max.x - left, Face::Strong, Size::Body,
                 Ink::Text, title);
    scale(ui, {in.max.x, in.min.y + (row - small) / 2}, in.max.x - left - ui.px(24), race);

    float labels = 0;
    for (const Side* side : {&race.a, &race.b})
        labels = std::max(labels, draw::text_size(strong, bytes_text(side->bytes.back())).x);
    const float right = in.max.x - labels - ui.px(40);
    const Rect plot{{in.min.x + ui.px(10), in.min.y + row + ui.px(14)}, {right, in.max.y - small - ui.px(8)}};
    if (plot.height() < ui.px(20)) return;
    ui.list.AddLine({plot.min.x, plot.max.y}, {plot.max.x, plot.max.y}, ui.ink(Ink::LineStrong), ui.px(1));
    const char* of = race.clock == Clock::Work ? " of the product" : " of the steps of each";
    for (const int quarter : {0, 1, 2, 3, 4}) {
        const float x = x_of(plot, quarter / 4.0);
        ui.list.AddLine({x, plot.max.y}, {x, plot.max.y + ui.px(4)}, ui.ink(Ink::LineStrong), ui.px(1));
        const std::string number = fmt::format("{} %", quarter * 25);
        const float wide = draw::text_size(ui.font(Face::Text, Size::Small), number).x,
                    from = quarter == 0 ? plot.min.x - ui.px(4) : x - wide / 2;
        // What the middle says may need the room of the next one.
        const float end =
            x_of(plot, 0.5) + draw::text_size(ui.font(Face::Text, Size::Small), std::string("50 %") + of).x;
        if (quarter == 3 && end > from) continue;
        note(ui, {from, plot.max.y + ui.px(5)}, ui.px(300), quarter == 2 ? number + of : number);
    }
    const float x = x_of(plot, static_cast<double>(moment) / kMoments);
    ui.list.AddRectFilled({x - ui.px(0.75f), plot.min.y - ui.px(8)}, {x + ui.px(0.75f), plot.max.y},
                          ui.ink(Ink::Text));
    // The lower one lies on top: at the start both are at one place.
    const bool a_lower = race.a.bytes.back() < race.b.bytes.back();
    curve(ui, plot, race, a_lower ? race.b : race.a, moment);
    curve(ui, plot, race, a_lower ? race.a : race.b, moment);
    end_labels(ui, plot, in.max.x, race);
    scrub(ui, plot);
}

}  // namespace tilescope::race
