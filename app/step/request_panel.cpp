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
    if (request.kind != draw::StepKind::Barrier)
        where += fmt::format(", {} a lane", counted(request.bytes, "byte"));
    const bool lecture = ui.session.lecture;  // the small print goes
    if (!lecture) line(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet, where);
    y += (lecture ? 0 : small) + ui.px(8);

    y += request_verdict(ui, {in.min.x, y}, in.width(), request, lecture ? 6 : 4);
    y += ui.px(10);

    // From below: the selection, then the lane's address; the picture takes what is left.
    const uint32_t lane = look::spoken_lane(request, ui.session.hover, ui.session.pin);
    const draw::Font small_text = ui.font(Face::Text, Size::Small);
    std::vector<std::string> foot;
    for (const std::string& said : selected.lines)
        for (std::string& part : wrapped(small_text, said, in.width())) foot.push_back(std::move(part));
    if (foot.size() > 7) foot.resize(7);
    std::vector<std::string> address =
        wrapped(ui.font(Face::Text, Size::Body), look::lane_text(ui.trace(), request, lane), in.width());
    // As many of the formula's steps on a line as fit.
    std::vector<std::string> steps;
    for (const std::string& part : look::lane_formula(ui.trace(), request, lane)) {
        const std::string longer = steps.empty() ? part : steps.back() + "   " + part;
        if (!steps.empty() && draw::text_size(ui.font(Face::Mono, Size::Small), longer).x <= in.width())
            steps.back() = longer;
        else
            steps.push_back(part);
    }
    if (lecture) {
        address.clear();
        steps.clear();
    }
    // In a low panel the selection takes the place of the address, so that the picture stays.
    const float taken =
        body * static_cast<float>(address.size()) + small * static_cast<float>(steps.size() + foot.size());
    if (!foot.empty() && in.max.y - y - taken < ui.px(150)) {
        address.clear();
        steps.clear();
    }
    // So does the picture itself, where it would not have the height that it needs: the formula goes first,
    // then the address.
    const auto room = [&] {
        return in.max.y - y - body * static_cast<float>(address.size()) -
               small * static_cast<float>(steps.size() + foot.size()) - ui.px(foot.empty() ? 12 : 22);
    };
    const bool global =
        request.kind == draw::StepKind::GlobalLoad || request.kind == draw::StepKind::GlobalStore;
    const float least = ui.px(global ? 74 : 118);
    if (room() < least) steps.clear();
    if (room() < least) address.clear();
    float bottom = in.max.y;
    if (!foot.empty()) bottom -= small * static_cast<float>(foot.size()) + ui.px(10);
    bottom -= body * static_cast<float>(address.size()) + small * static_cast<float>(steps.size()) + ui.px(8);
    float at = bottom + ui.px(8);
    if (!address.empty())
        ui.list.AddLine({in.min.x, bottom + ui.px(2)}, {in.max.x, bottom + ui.px(2)}, ui.ink(Ink::Line));
    for (const std::string& text : address) {
        line(ui, {in.min.x, at}, in.width(), Face::Text, Size::Body, Ink::Text, text);
        at += body;
    }
    for (const std::string& text : steps) {
        line(ui, {in.min.x, at}, in.width(), Face::Mono, Size::Small, Ink::TextQuiet, text);
        at += small;
    }
    if (!foot.empty()) {
        ui.list.AddLine({in.min.x, at + ui.px(4)}, {in.max.x, at + ui.px(4)}, ui.ink(Ink::Line));
        at += ui.px(10);
        for (size_t i = 0; i < foot.size(); ++i) {
            line(ui, {in.min.x, at}, in.width(), i == 0 ? Face::Strong : Face::Text, Size::Small,
                 i == 0 ? Ink::Text : Ink::TextQuiet, foot[i]);
            at += small;
        }
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
