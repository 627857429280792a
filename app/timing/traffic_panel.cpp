// The chain of traffic as a small table, and beside it in words why the bound and the measurement differ.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/timing/panels.h"

namespace tilescope::timing {

float traffic_height(Ui& ui) { return line_height(ui, Size::Small) * 8 + ui.px(40); }

void traffic_panel(Ui& ui, const Rect& rect, const Timed& timed) {
    surface(ui, rect);
    const State& chosen = ui.state;
    const TrafficChain chain =
        traffic_chain(timed.machine, timed.counters, chosen.kernel, timed.width, chosen.tile);
    const Rect in = rect.inset(ui.px(16));
    const float small = line_height(ui, Size::Small), row_height = small + ui.px(4);
    const float half = std::round(in.width() * 0.47f);
    const float column = std::min(ui.px(92), half * 0.19f);
    const float columns[] = {in.min.x + half - column * 2, in.min.x + half - column, in.min.x + half};
    line(ui, in.min, half - column * 3, Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body), {"Where the bytes are counted", "Bytes"},
                 half - column * 3));
    float y = in.min.y + ui.px(4);
    constexpr const char* kHeads[] = {"loaded", "of asked", "FLOP/B"};
    for (size_t i = 0; i < 3 && !chain.rows.empty(); ++i)
        line(ui, {columns[i], y}, column, Face::Text, Size::Small, Ink::TextFaint, kHeads[i],
             draw::Align::Right);
    y = in.min.y + line_height(ui, Size::Body) + ui.px(6);
    for (size_t i = 0; i < chain.rows.size(); ++i) {
        const ChainRow& row = chain.rows[i];
        if (i > 0) {  // an arrow down the chain
            const float x = in.min.x + ui.px(5), m = y + small / 2;
            ui.list.AddLine({x, m - row_height + ui.px(5)}, {x, m - ui.px(5)}, ui.ink(Ink::LineStrong),
                            ui.px(1));
            ui.list.AddTriangleFilled({x, m - ui.px(2)}, {x - ui.px(3), m - ui.px(7)},
                                      {x + ui.px(3), m - ui.px(7)}, ui.ink(Ink::LineStrong));
        }
        ui.list.AddCircleFilled({in.min.x + ui.px(5), y + small / 2}, ui.px(3), ui.ink(Ink::TextQuiet));
        const float from = in.min.x + ui.px(16);
        line(ui, {from, y}, columns[0] - column - from, Face::Text, Size::Small, Ink::Text, row.name);
        line(ui, {columns[0], y}, column, Face::Mono, Size::Small, Ink::Text, bytes_short(row.bytes),
             draw::Align::Right);
        const std::string share = i == 0              ? "1"
                                  : row.of_asked >= 1 ? draw::ratio_text(row.of_asked)
                                                      : "1/" + draw::ratio_text(1 / row.of_asked);
        line(ui, {columns[1], y}, column, Face::Mono, Size::Small, Ink::TextQuiet, share, draw::Align::Right);
        line(ui, {columns[2], y}, column, Face::Mono, Size::Small, Ink::Text, draw::figure(row.intensity),
             draw::Align::Right);
        if (ui.over({{in.min.x, y}, {in.min.x + half, y + small}})) ui.tip = row.about;
        y += row_height;
    }
    paragraph(ui, {in.min.x, y}, half, Face::Text, Size::Small, Ink::TextQuiet, chain.note, 2);
    const float from = in.min.x + half + ui.px(40), width = in.max.x - from;
    if (chain.reasons.empty()) return;
    line(ui, {from, in.min.y}, width, Face::Strong, Size::Body, Ink::Text,
         "Why the bound and the measurement differ");
    y = in.min.y + line_height(ui, Size::Body) + ui.px(6);
    for (const std::string& reason : chain.reasons) {
        const int room = static_cast<int>((in.max.y - y + ui.px(6)) / small);
        if (room < 1) break;
        y +=
            paragraph(ui, {from, y}, width, Face::Text, Size::Small, Ink::TextQuiet, reason, room) + ui.px(2);
    }
}

float traffic_strip_height(Ui& ui) {
    return line_height(ui, Size::Body) + line_height(ui, Size::Small) + ui.px(20);
}

void traffic_strip(Ui& ui, const Rect& rect, const Timed& timed) {
    surface(ui, rect);
    const State& chosen = ui.state;
    const TrafficChain chain =
        traffic_chain(timed.machine, timed.counters, chosen.kernel, timed.width, chosen.tile);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y + ui.px(8)}, {rect.max.x - ui.px(16), rect.max.y}};
    const float body = line_height(ui, Size::Body);
    if (chain.rows.empty()) {
        paragraph(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet, chain.note, 2);
        return;
    }
    const float part = in.width() / static_cast<float>(chain.rows.size());
    for (size_t i = 0; i < chain.rows.size(); ++i) {
        const ChainRow& row = chain.rows[i];
        const float x = std::round(in.min.x + part * static_cast<float>(i)), room = part - ui.px(40);
        const std::string share =
            i == 0 || row.of_asked >= 1 ? "" : "  1/" + draw::ratio_text(1 / row.of_asked);
        line(ui, {x, in.min.y}, room, Face::Strong, Size::Body, Ink::Text, bytes_short(row.bytes) + share);
        line(ui, {x, in.min.y + body}, room, Face::Text, Size::Small, Ink::TextQuiet, row.name);
        if (ui.over({{x, rect.min.y}, {x + part, rect.max.y}})) ui.tip = row.about;
        if (i + 1 == chain.rows.size()) break;
        const float tip = x + part - ui.px(12), m = std::round((rect.min.y + rect.max.y) / 2), r = ui.px(5);
        ui.list.AddLine({tip - ui.px(18), m}, {tip - r, m}, ui.ink(Ink::LineStrong), ui.px(1.5f));
        ui.list.AddTriangleFilled({tip - r, m - r}, {tip + r * 0.6f, m}, {tip - r, m + r},
                                  ui.ink(Ink::LineStrong));
    }
}

}  // namespace tilescope::timing
