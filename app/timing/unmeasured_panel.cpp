// Three columns, or as many as have room: the least times as bars, what they mean, and how to measure; and the bound
// of the launch among the measured kernels.
#include <algorithm>
#include <cmath>

#include "app/timing/bounds_panel.h"

namespace tilescope::timing {
namespace {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size;
using Ui = input::Ui<State>;

float heading(Ui& ui, const Rect& in, std::string_view text) {
    line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text, text);
    return line_height(ui, Size::Body) + ui.px(6);
}

// A bar a thing that takes time; the longest in the colour of what was measured, since it bounds the launch.
void least_times(Ui& ui, const Rect& in, const Unmeasured& shown) {
    const float small = line_height(ui, Size::Small), row = small + ui.px(8);
    float y = in.min.y + heading(ui, in, "The least time on this device");
    float name = 0, value = 0;
    double longest = 0;
    const draw::Font text = ui.font(Face::Text, Size::Small), mono = ui.font(Face::Mono, Size::Small);
    for (const LeastTime& one : shown.least) {
        name = std::max(name, draw::text_size(text, one.what).x);
        value = std::max(value, draw::text_size(mono, one.text).x);
        longest = std::max(longest, one.ms);
    }
    const float from = in.min.x + name + ui.px(12), most = in.max.x - value - ui.px(8) - from;
    for (const LeastTime& one : shown.least) {
        const bool bounds = one.ms == longest;
        const float end =
            from + std::max(ui.px(1), most * static_cast<float>(longest > 0 ? one.ms / longest : 0));
        line(ui, {in.min.x, y}, name + 2, bounds ? Face::Strong : Face::Text, Size::Small, Ink::Text,
             one.what);
        ui.list.AddRectFilled({from, y + ui.px(2)}, {end, y + small - ui.px(1)},
                              ui.ink(bounds ? Ink::Text : Ink::TextFaint), ui.px(2));
        line(ui, {end + ui.px(8), y}, value + 2, Face::Mono, Size::Small, Ink::Text, one.text);
        if (ui.over({{in.min.x, y}, {in.max.x, y + row}})) ui.tip = one.of;
        y += row;
    }
    paragraph(ui, {in.min.x, y + ui.px(2)}, in.width(), Face::Text, Size::Small, Ink::TextQuiet,
              shown.sentence, static_cast<int>((in.max.y - y) / small));
}

// The launch's bound among the kernels that were measured.
void among_measured(Ui& ui, const Rect& in, const Unmeasured& shown) {
    const float small = line_height(ui, Size::Small);
    float y = in.min.y + heading(ui, in,
                                 fitting(ui.font(Face::Strong, Size::Body),
                                         {shown.compared_title, "Measured kernels, GFLOP/s"}, in.width()));
    const draw::Font strong = ui.font(Face::Strong, Size::Small), mono = ui.font(Face::Mono, Size::Small);
    float name = 0, value = 0;
    double most = 1;
    for (const ComparedKernel& one : shown.compared) {
        name = std::max(name, draw::text_size(strong, one.name).x);
        value = std::max(value, draw::text_size(mono, one.rate).x);
        most = std::max(most, one.gflops);
    }
    const float pitch =
        std::min(small + ui.px(6), (in.max.y - y) / static_cast<float>(shown.compared.size()));
    if (pitch < small * 0.9f) return;
    const float from = in.min.x + name + ui.px(12), room = in.max.x - value - ui.px(8) - from;
    for (const ComparedKernel& one : shown.compared) {
        const float end = from + std::max(ui.px(2), room * static_cast<float>(one.gflops / most));
        const ImVec2 min{from, y + ui.px(3)}, max{end, y + small - ui.px(2)};
        line(ui, {in.min.x, y}, name + 2, one.bound ? Face::Strong : Face::Text, Size::Small, Ink::Text,
             one.name);
        if (one.bound) {
            ui.list.AddRect(min, max, ui.ink(Ink::Text), ui.px(2), 0, ui.px(1.5f));
        } else {
            ui.list.AddRectFilled(min, max, color_of(ui.context.palette, one.kernel), ui.px(2));
        }
        line(ui, {end + ui.px(8), y}, value + 2, Face::Mono, Size::Small, Ink::Text, one.rate);
        if (ui.over({{in.min.x, y}, {in.max.x, y + pitch}}))
            ui.tip =
                one.bound
                    ? "The most that the bandwidth and the peak of that device allow this launch, by the "
                      "bytes that its threads load"
                    : "Measured; it computes a product, and this launch something else";
        y += pitch;
    }
}

// What the bound says, and how to measure the launch.
void words(Ui& ui, const Rect& in, const Unmeasured& shown, const TrafficChain& chain) {
    const float small = line_height(ui, Size::Small);
    float y = in.min.y + heading(ui, in, chain.why);
    const float measure =
        small *
            static_cast<float>(wrapped(ui.font(Face::Text, Size::Small), shown.measure, in.width()).size()) +
        line_height(ui, Size::Body) + small + ui.px(16);
    const bool both = in.max.y - y > measure + small * 2;
    const float end = both ? in.max.y - measure : in.max.y;
    for (const std::string& reason : chain.reasons) {
        const auto lines = wrapped(ui.font(Face::Text, Size::Small), reason, in.width()).size();
        if (y + small * static_cast<float>(lines) > end) break;
        y += paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet, reason, 4) +
             ui.px(2);
    }
    if (!both) return;
    y = end + ui.px(4);
    y += heading(ui, {{in.min.x, y}, in.max}, "To measure it");
    y += paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet, shown.measure, 5) +
         ui.px(2);
    line(ui, {in.min.x, y}, in.width(), Face::Mono, Size::Small, Ink::Text, shown.command);
}

}  // namespace

void unmeasured_panel(Ui& ui, const Rect& rect, const Unmeasured& shown, const TrafficChain& chain) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(16));
    const size_t columns = in.width() >= ui.px(1000) && !shown.compared.empty() ? 3
                           : in.width() >= ui.px(560)                           ? 2
                                                                                : 1;
    const float gap = ui.px(40), wide = std::floor((in.width() - gap * static_cast<float>(columns - 1)) /
                                                   static_cast<float>(columns));
    const auto column = [&](size_t at) {
        const float left = in.min.x + static_cast<float>(at) * (wide + gap);
        return Rect{{left, in.min.y}, {left + wide, in.max.y}};
    };
    least_times(ui, column(0), shown);
    if (columns > 1) words(ui, column(columns - 1), shown, chain);
    if (columns > 2) among_measured(ui, column(1), shown);
}

}  // namespace tilescope::timing
