// What the Step screen shows of a step while a question about it is open (session/question.h): the lanes, and
// where lanes or banks are predicted, boxes to take; a quiet "?" for all that is hidden.
//
//   lanes    [0][1][2] ...                   [31]        taken lanes are framed
//                        ?
//   banks    | | | | | ...                               where a bank is asked for
#include <cmath>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/pictures/pictures.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

using Takes = session::Question::Takes;

Rect box_of(const Rect& row, uint32_t column) {
    const auto edge = [&](uint32_t at) {
        return std::round(row.min.x + row.width() / 32 * static_cast<float>(at));
    };
    return {{edge(column), row.min.y}, {edge(column + 1) - 1, row.max.y}};
}

void column_numbers(Ui& ui, const Rect& row, float y) {
    for (const uint32_t column : {0u, 8u, 16u, 24u, 31u}) {
        const Rect box = box_of(row, column);
        line(ui, {(box.min.x + box.max.x) / 2, y}, ui.px(30), Face::Mono, Size::Small, Ink::TextFaint,
             std::to_string(column), Align::Center);
    }
}

void taken_frame(Ui& ui, const Rect& box, bool taken, bool at) {
    if (taken)
        ui.list.AddRectFilled({box.min.x + ui.px(2), box.min.y + ui.px(3)},
                              {box.max.x - ui.px(1), box.max.y - ui.px(3)}, ui.ink(Ink::Selected));
    if (taken || at)
        ui.list.AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1},
                        ui.ink(at ? Ink::Accent : Ink::Selected), 0, 0, ui.px(2));
}

void asked_lanes(Ui& ui, const Rect& row, const look::RequestView& request) {
    session::Question& asked = ui.session.question;
    const bool hidden = asked.hides(session::Hide::Lanes), taking = asked.takes == Takes::Lanes;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const Rect box = box_of(row, lane);
        const look::LaneView& of = request.lanes[lane];
        const bool lit = !hidden && of.active;
        ui.list.AddRectFilled(box.min, box.max, ui.ink(lit ? pictures::ink_of(request.kind) : Ink::Cell));
        if (!hidden && !of.active) hatch(ui, box, ui.ink(of.exists ? Ink::LineStrong : Ink::Line), ui.px(4));
        if (!taking) continue;
        taken_frame(ui, box, (asked.lanes >> lane & 1) != 0, asked.at == lane);
        if (ui.over(box)) ui.tip = fmt::format("lane {}", lane);
        if (ui.clicked({box.min, {box.max.x + 1, box.max.y}})) asked.take_lane(lane);
    }
}

void asked_banks(Ui& ui, const Rect& row) {
    session::Question& asked = ui.session.question;
    for (uint32_t bank = 0; bank < kWarpSize; ++bank) {
        const Rect box = box_of(row, bank);
        ui.list.AddRectFilled(box.min, box.max, draw::with_alpha(ui.ink(Ink::Cell), 0.6f));
        ui.list.AddLine({box.min.x, box.max.y}, box.max, ui.ink(Ink::LineStrong));
        taken_frame(ui, box, asked.bank == bank, asked.at == bank && asked.bank != bank);
        if (ui.over(box)) ui.tip = fmt::format("bank {}", bank);
        if (ui.clicked({box.min, {box.max.x + 1, box.max.y}})) asked.take_bank(bank);
    }
}

}  // namespace

void asked_sign(Ui& ui, const Rect& box) {
    if (ui.context.paper) {
        note(ui, {box.min.x, box.min.y + ui.px(8)}, box.width(), draw::kRoomToWork);
        return;
    }
    const Size size = box.height() < line_height(ui, Size::Display) ? Size::Body : Size::Display;
    const float high = line_height(ui, size);
    if (box.height() < high) return;
    line(ui, {(box.min.x + box.max.x) / 2, (box.min.y + box.max.y - high) / 2}, ui.px(40), Face::Strong, size,
         Ink::TextFaint, "?", Align::Center);
}

void asked_request(Ui& ui, const Rect& rect, const look::RequestView& request) {
    const float small = line_height(ui, Size::Small), lanes = ui.px(18);
    const Rect row{{rect.min.x, rect.min.y + small}, {rect.max.x, rect.min.y + small + lanes}};
    const bool lanes_there = request.kind != StepKind::Barrier;
    Rect rest = rect;
    if (lanes_there) {
        column_numbers(ui, row, rect.min.y);
        asked_lanes(ui, row, request);
        rest.min.y = row.max.y;
    }
    if (ui.session.question.takes == Takes::Bank) {
        const float base = std::min(rest.max.y - small * 2, rest.min.y + ui.px(230));
        const Rect banks{{rect.min.x, base - ui.px(64)}, {rect.max.x, base}};
        asked_banks(ui, banks);
        column_numbers(ui, banks, base + ui.px(2));
        note(ui, {rect.min.x, base + ui.px(2) + small}, rect.width(), "32 banks");
        rest.max.y = banks.min.y;
    }
    asked_sign(ui, rest);
}

void prediction_marks(const Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array, float pitch) {
    const session::Question& asked = ui.session.question;
    if (asked.takes != Takes::Cells || asked.array != array) return;
    const draw::Sheet sheet(ui.trace().launch.arrays[array]);
    const float edge = std::min(ui.px(3), std::max(pitch / 5, 1.f));
    for (const uint64_t cell : asked.cells) {
        marks.push_back(draw::frame_mark(sheet.cell(cell), ui.ink(Ink::Selected), edge));
        if (asked.open) marks.back().fill = draw::with_alpha(ui.ink(Ink::Selected), 0.35f);
    }
    if (asked.open && asked.at)
        marks.push_back(draw::frame_mark(sheet.cell(*asked.at), ui.ink(Ink::Accent), edge, true));
}

}  // namespace tilescope::step
