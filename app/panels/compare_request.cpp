// The current request of one of the two: title, verdict, picture, and what the selection says of it.
#include <algorithm>

#include "app/panels/compare_panels.h"

namespace tilescope::panels {

void compare_request(Ui& ui, const Rect& rect, const Side& side) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    const Shown& shown = side.shown;
    if (shown.step >= shown.index.steps) {
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet, "This block recorded no step.");
        return;
    }
    const view::RequestView request = view::request_view(shown.trace, shown.index, shown.step);
    const float mark =
        badge(ui, {in.min.x, in.min.y + (body - ui.px(18)) / 2}, ui.px(18), side.letter) + ui.px(8);
    request_title(ui, {in.min.x + mark, in.min.y}, in.width() - mark, request);
    float y = in.min.y + body + ui.px(4);
    y += request_verdict(ui, {in.min.x, y}, in.width(), request, rect.height() < ui.px(230) ? 2 : 3) +
         ui.px(8);
    float bottom = in.max.y;
    // The selection has up to three lines, where they leave the picture its height.
    const auto lines = std::min<size_t>(side.selected.lines.size(), 3);
    const float wanted = small * static_cast<float>(lines) + ui.px(8);
    if (lines > 0 && bottom - wanted - y >= ui.px(118)) {
        bottom -= wanted;
        ui.list.AddLine({in.min.x, bottom + ui.px(2)}, {in.max.x, bottom + ui.px(2)}, ui.ink(Ink::Line));
        for (size_t i = 0; i < lines; ++i) {
            line(ui, {in.min.x, bottom + ui.px(6) + small * static_cast<float>(i)}, in.width(),
                 i == 0 ? Face::Strong : Face::Text, Size::Small, i == 0 ? Ink::Text : Ink::TextQuiet,
                 side.selected.lines[i]);
        }
    }
    const Rect picture{{in.min.x, y}, {in.max.x, bottom}};
    if (picture.height() >= ui.px(70))
        request_picture(ui, picture, shown, request, spoken_lane(ui, shown, request));
}

}  // namespace tilescope::panels
