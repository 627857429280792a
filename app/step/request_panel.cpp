// This request: its title, the verdict, the picture of its lanes (request_picture.h), and below them the
// address of one lane and what the selection has to say.
#include <algorithm>

#include <fmt/format.h>

#include "app/draw/request_picture.h"
#include "app/input/panels.h"
#include "app/look/block_clock.h"
#include "app/look/request.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {

void request_panel(Ui& ui, const Rect& rect, const look::Relations& selected) {
    surface(ui, rect);
    const look::RequestView request = look::request_view(ui.trace(), *ui.index(), ui.step());
    const Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    float y = in.min.y;
    request_title(ui, {in.min.x, y}, in.width(), request);
    y += body;
    std::string where = fmt::format("line {}", request.line);
    if (request.kind != StepKind::Barrier)
        where += fmt::format(", {} a lane", counted(request.bytes, "byte"));
    const bool lecture = ui.session.lecture;  // the small print goes
    if (!lecture) small_text(ui, {in.min.x, y}, in.width(), Ink::TextQuiet, where);
    y += (lecture ? 0 : small) + ui.px(8);

    y += request_verdict(ui, {in.min.x, y}, in.width(), request, lecture ? 6 : 4) + ui.px(10);

    // From below: the selection, then the lane's address; the picture takes what is left.
    const uint32_t lane = look::spoken_lane(request, ui.session.hover, ui.session.pin);
    std::vector<std::string> foot, steps, address;
    for (const std::string& about : selected.lines)
        std::ranges::move(wrapped(ui.font(Face::Text, Size::Small), about, in.width()),
                          std::back_inserter(foot));
    if (foot.size() > 7) foot.resize(7);
    if (!lecture) {
        address =
            wrapped(ui.font(Face::Text, Size::Body), look::lane_text(ui.trace(), request, lane), in.width());
        // As many of the formula's steps on a line as fit.
        for (const std::string& part : look::lane_formula(ui.trace(), request, lane)) {
            const std::string longer = steps.empty() ? part : steps.back() + "   " + part;
            if (!steps.empty() && draw::text_size(ui.font(Face::Mono, Size::Small), longer).x <= in.width())
                steps.back() = longer;
            else
                steps.push_back(part);
        }
    }
    const float foot_high = foot.empty() ? 0 : small * static_cast<float>(foot.size()) + ui.px(10);
    const auto address_high = [&] {
        return body * static_cast<float>(address.size()) + small * static_cast<float>(steps.size());
    };
    const auto room = [&] { return in.max.y - y - address_high() - foot_high - ui.px(12); };
    // In a low panel the selection takes the place of the address. So does the picture, where it would not
    // have the height that it needs: the formula goes first, then the address.
    const bool global = request.kind == StepKind::GlobalLoad || request.kind == StepKind::GlobalStore;
    const float least = ui.px(global ? 74 : 118);
    const bool low = !foot.empty() && room() + ui.px(22) < ui.px(150);
    if (low || room() < least) steps.clear();
    if (low || room() < least) address.clear();
    const float bottom = in.max.y - foot_high - address_high() - ui.px(8);
    float text_y = bottom + ui.px(8);
    const auto rule = [&](float at) { ui.list.AddLine({in.min.x, at}, {in.max.x, at}, ui.ink(Ink::Line)); };
    if (!address.empty()) rule(bottom + ui.px(2));
    for (const std::string& text : address) {
        line(ui, {in.min.x, text_y}, in.width(), Face::Text, Size::Body, Ink::Text, text);
        text_y += body;
    }
    for (const std::string& text : steps) {
        small_number(ui, {in.min.x, text_y}, in.width(), Ink::TextQuiet, text, Align::Left);
        text_y += small;
    }
    if (!foot.empty()) rule(text_y + ui.px(4));
    text_y += ui.px(10);
    for (const std::string& text : foot) {
        const bool head = &text == &foot.front();
        line(ui, {in.min.x, text_y}, in.width(), head ? Face::Strong : Face::Text, Size::Small,
             head ? Ink::Text : Ink::TextQuiet, text);
        text_y += small;
    }

    const Rect picture{{in.min.x, y}, {in.max.x, bottom - ui.px(4)}};
    if (picture.height() < ui.px(70)) return;
    const auto under =
        draw::request_picture(ui, picture, request, look::barrier_of_step(*ui.index(), ui.step()), lane);
    if (!under) return;
    ui.tip = look::lane_text(ui.trace(), request, *under);
    session::offer_pick(
        ui, {.kind = Pick::Kind::Thread, .thread = request.lanes[*under].thread, .warp = request.warp});
}

}  // namespace tilescope::step
