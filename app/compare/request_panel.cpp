// The current request of one of the two: title, verdict or fault, picture, and what the selection says of it.
#include <algorithm>

#include "app/compare/opening.h"
#include "app/compare/panels.h"
#include "app/draw/request_picture.h"
#include "app/input/panels.h"
#include "app/look/block_clock.h"
#include "app/look/request.h"
#include "app/session/playing.h"

namespace tilescope::compare {
namespace {

// A fault in its own words, with the triangle of what is not as it should be.
float fault_words(Ui& ui, ImVec2 at, float width, const std::string& fault) {
    const float mark = ui.px(12), middle = at.y + line_height(ui, Size::Body) / 2, indent = mark + ui.px(8);
    ui.list.AddTriangleFilled({at.x + mark / 2, middle - mark / 2}, {at.x + mark, middle + mark / 2},
                              {at.x, middle + mark / 2}, ui.ink(Ink::Fault));
    return paragraph(ui, {at.x + indent, at.y}, width - indent, Face::Text, Size::Small, Ink::Fault, fault,
                     4);
}

}  // namespace

void compare_request(Ui& ui, const Rect& rect, const Pane& pane) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    if (pane.step() >= pane.index.steps) {
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet, "This block recorded no step.");
        return;
    }
    const draw::RequestView request = look::request_view(pane.trace, pane.index, pane.step());
    const float mark =
        badge(ui, {in.min.x, in.min.y + (body - ui.px(18)) / 2}, ui.px(18), pane.letter) + ui.px(8);
    request_title(ui, {in.min.x + mark, in.min.y}, in.width() - mark, request);
    float y = in.min.y + body + ui.px(4);
    // A fault is what the step is about, whatever its request costs.
    const std::string fault =
        pane.faults != nullptr ? look::fault_caption(pane.trace, *pane.faults, pane.step()) : "";
    const bool low = rect.height() < ui.px(240);
    if (fault.empty())
        y += request_verdict(ui, {in.min.x, y}, in.width(), request, low ? 2 : 3, low);
    else
        y += fault_words(ui, {in.min.x, y}, in.width(), fault);
    y += ui.px(8);
    float bottom = in.max.y;
    // The selection has up to three lines, where they leave the picture its height.
    const auto lines = std::min<size_t>(pane.selected.lines.size(), 3);
    const float wanted = small * static_cast<float>(lines) + ui.px(8);
    if (lines > 0 && bottom - wanted - y >= ui.px(118)) {
        bottom -= wanted;
        ui.list.AddLine({in.min.x, bottom + ui.px(2)}, {in.max.x, bottom + ui.px(2)}, ui.ink(Ink::Line));
        for (size_t i = 0; i < lines; ++i) {
            line(ui, {in.min.x, bottom + ui.px(6) + small * static_cast<float>(i)}, in.width(),
                 i == 0 ? Face::Strong : Face::Text, Size::Small, i == 0 ? Ink::Text : Ink::TextQuiet,
                 pane.selected.lines[i]);
        }
    }
    const Rect picture{{in.min.x, y}, {in.max.x, bottom}};
    if (picture.height() < ui.px(70)) return;
    const uint32_t lane = look::spoken_lane(request, pane.here(ui.session.hover), pane.here(ui.session.pin));
    const auto under =
        draw::request_picture(ui, picture, request, look::barrier_of_step(pane.index, pane.step()), lane);
    if (!under) return;
    ui.tip = look::lane_text(pane.trace, request, *under);
    session::offer_pick(
        ui, pane.offered(
                {.kind = Pick::Kind::Thread, .thread = request.lanes[*under].thread, .warp = request.warp}));
}

}  // namespace tilescope::compare
