// How long each warp stands at a barrier, by the clocks of the SM: a row per warp, from its arrival on the
// left to the moment at which the barrier opens for all of them.
//
//   warp 0  |//////////////////////|   412
//   warp 1        |////////////////|   300
//   warp 2                        ||     0     the last to come does not wait
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/panels.h"

namespace tilescope::panels {

void barrier_picture(Ui& ui, const Rect& rect, const view::BarrierTimes& barrier, uint32_t current) {
    const float small = line_height(ui, Size::Small);
    const auto warps = static_cast<float>(barrier.arrivals.size());
    const float pitch = std::floor(std::min((rect.height() - small) / warps, ui.px(18)));
    if (pitch < ui.px(3) || barrier.opens == barrier.first) return;
    const bool numbers = pitch >= ui.px(12);
    const float left = numbers ? ui.px(62) : 0, right = ui.px(58);
    const Rect plot{{rect.min.x + left, rect.min.y + small}, {rect.max.x - right, rect.max.y}};
    line(ui, rect.min, rect.width() - right, Face::Text, Size::Small, Ink::TextQuiet,
         "from arrival to opening");
    line(ui, {rect.max.x, rect.min.y}, right, Face::Text, Size::Small, Ink::TextQuiet, "clocks",
         draw::Align::Right);
    std::vector<view::BarrierTimes::Arrival> arrivals = barrier.arrivals;
    std::sort(arrivals.begin(), arrivals.end(), [](const auto& a, const auto& b) { return a.warp < b.warp; });
    const float scale = plot.width() / static_cast<float>(barrier.opens - barrier.first);
    for (size_t i = 0; i < arrivals.size(); ++i) {
        const float y = plot.min.y + pitch * static_cast<float>(i),
                    inner = std::max(pitch - ui.px(2), ui.px(2));
        const bool own = arrivals[i].warp == current;
        const float x = plot.min.x + static_cast<float>(arrivals[i].clock - barrier.first) * scale;
        if (own) ui.list.AddRectFilled({rect.min.x, y - 1}, {rect.max.x, y + inner + 1}, ui.ink(Ink::Raised));
        wait_bar(ui, {{x, y}, {plot.max.x, y + inner}});
        const float text = y + (inner - small) / 2;
        if (numbers)
            line(ui, {rect.min.x, text}, left, Face::Text, Size::Small, own ? Ink::Text : Ink::TextQuiet,
                 fmt::format("warp {}", arrivals[i].warp));
        if (numbers || own)
            line(ui, {rect.max.x, text}, right, Face::Mono, Size::Small, own ? Ink::Text : Ink::TextQuiet,
                 view::grouped(barrier.opens - arrivals[i].clock), draw::Align::Right);
    }
}

}  // namespace tilescope::panels
