// What is known of a launch without times:
//
//   +----------------------------+--------------------------+
//   | counted from the recording | its bound on the         |
//   |                            | roofline of the device   |
//   +----------------------------+                          |
//   | the least     | to measure +--------------------------+
//   | time, as bars | it         | measured kernels, and    |
//   |               |            | the bound among them     |
//   +----------------------------+--------------------------+
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/timing/bounds_panel.h"

namespace tilescope::timing {
namespace {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Size;
using Ui = input::Ui<State>;

float heading(Ui& ui, const Rect& in, const std::vector<std::string>& wordings) {
    line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body), wordings, in.width()));
    return line_height(ui, Size::Body) + ui.px(6);
}

// As large as it takes with a size of type.
float counted_height(Ui& ui, size_t rows, Size size) {
    return ui.px(32) + line_height(ui, Size::Body) + ui.px(6) +
           static_cast<float>(rows) * (line_height(ui, size) + ui.px(size == Size::Body ? 6 : 2));
}

void counted_panel(Ui& ui, const Rect& rect, const LaunchShown& shown, Size size) {
    const Rect in = panel(ui, rect);
    float y = in.min.y + heading(ui, in, {"Counted from the recording"});
    const float row = line_height(ui, size) + ui.px(size == Size::Body ? 6 : 2),
                wide = std::min(in.width(), ui.px(480));
    for (const auto& [what, value] : shown.counted) {
        if (y + line_height(ui, size) > in.max.y + ui.px(4)) break;
        line(ui, {in.min.x, y}, wide * 0.6f, Face::Text, size, Ink::TextQuiet, what);
        line(ui, {in.min.x + wide, y}, wide * 0.4f, Face::Mono, size, Ink::Text, value, Align::Right);
        y += row;
    }
}

// Bars of one scale with their names before and their figures behind them.
struct BarColumns {
    float from = 0, most = 0;  // where bars begin, and how long the longest is
};
BarColumns bar_columns(Ui& ui, const Rect& in, float names, float values) {
    const float from = in.min.x + names + ui.px(12);
    return {from, std::max(in.max.x - values - ui.px(10) - from, ui.px(8))};
}
template <class Row>
float widest(const draw::Font& font, const std::vector<Row>& rows, std::string Row::*text) {
    float wide = 0;
    for (const Row& row : rows) wide = std::max(wide, draw::text_size(font, row.*text).x);
    return wide;
}

// What the bars mean, and what the bound says.
std::vector<std::string> said_of_least(const LaunchShown& shown) {
    std::vector<std::string> words = shown.chain.reasons;
    words.insert(words.begin(), shown.unmeasured.sentence);
    return words;
}
float least_height(Ui& ui, float width, const LaunchShown& shown) {
    const float small = line_height(ui, Size::Small);
    float high = line_height(ui, Size::Body) + ui.px(6) +
                 (small + ui.px(8)) * static_cast<float>(shown.unmeasured.least.size());
    for (const std::string& said : said_of_least(shown))
        high += small * static_cast<float>(wrapped(ui.font(Face::Text, Size::Small), said, width).size()) +
                ui.px(2);
    return high;
}

// A bar a thing that takes time; the longest, which bounds the launch, in the colour of what is measured. Then what it
// means, and what else there is room for.
void least_times(Ui& ui, const Rect& in, const LaunchShown& shown) {
    const std::vector<LeastTime>& least = shown.unmeasured.least;
    const float small = line_height(ui, Size::Small), row = small + ui.px(8);
    float y = in.min.y + heading(ui, in, {"The least time on this device", "The least time"});
    const BarColumns bars =
        bar_columns(ui, in, widest(ui.font(Face::Strong, Size::Small), least, &LeastTime::what),
                    widest(ui.font(Face::Mono, Size::Small), least, &LeastTime::text));
    const auto longest = std::ranges::max_element(least, {}, &LeastTime::ms);
    for (auto one = least.begin(); one != least.end(); ++one) {
        const bool bounds = one == longest;
        const float share = longest->ms > 0 ? static_cast<float>(one->ms / longest->ms) : 0,
                    end = bars.from + std::max(ui.px(1), bars.most * share);
        line(ui, {in.min.x, y}, bars.from - in.min.x, bounds ? Face::Strong : Face::Text, Size::Small,
             Ink::Text, one->what);
        ui.list.AddRectFilled({bars.from, y + ui.px(2)}, {end, y + small - ui.px(1)},
                              ui.ink(bounds ? Ink::Text : Ink::TextFaint), ui.px(2));
        line(ui, {end + ui.px(8), y}, in.max.x - end, Face::Mono, Size::Small, Ink::Text, one->text);
        if (ui.over({{in.min.x, y}, {in.max.x, y + row}})) ui.tip = one->of;
        y += row;
    }
    const draw::Font text = ui.font(Face::Text, Size::Small);
    for (const std::string& said : said_of_least(shown)) {
        const auto lines = wrapped(text, said, in.width()).size();
        if (y + small * static_cast<float>(lines) > in.max.y + ui.px(4)) break;
        y += paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet, said,
                       static_cast<int>(lines)) +
             ui.px(2);
    }
}

float measure_height(Ui& ui, float width, const Unmeasured& shown) {
    const auto lines = wrapped(ui.font(Face::Text, Size::Small), shown.measure, width).size();
    return line_height(ui, Size::Body) + ui.px(12) +
           line_height(ui, Size::Small) * static_cast<float>(lines + 1);
}

void to_measure(Ui& ui, const Rect& in, const Unmeasured& shown) {
    float y = in.min.y + heading(ui, in, {"To measure it"});
    y +=
        paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet, shown.measure, 12) +
        ui.px(4);
    line(ui, {in.min.x, y}, in.width(), Face::Mono, Size::Small, Ink::Text, shown.command);
}

// The bound of the launch among the kernels that were measured.
void among_measured(Ui& ui, const Rect& in, const Unmeasured& shown) {
    const float small = line_height(ui, Size::Small);
    float y =
        in.min.y +
        heading(ui, in,
                {fmt::format("Measured kernels on {}, width {}, GFLOP/s", shown.compared_on,
                             shown.compared_width),
                 fmt::format("Measured on {}, width {}, GFLOP/s", shown.compared_on, shown.compared_width),
                 fmt::format("Measured at width {}, GFLOP/s", shown.compared_width), "Measured, GFLOP/s"});
    const BarColumns bars =
        bar_columns(ui, in, widest(ui.font(Face::Strong, Size::Small), shown.compared, &ComparedKernel::name),
                    widest(ui.font(Face::Mono, Size::Small), shown.compared, &ComparedKernel::rate));
    double most = 1;
    for (const ComparedKernel& one : shown.compared) most = std::max(most, one.gflops);
    const float pitch =
        std::min(small + ui.px(10), (in.max.y + ui.px(6) - y) / static_cast<float>(shown.compared.size()));
    for (const ComparedKernel& one : shown.compared) {
        const float end = bars.from + std::max(ui.px(2), bars.most * static_cast<float>(one.gflops / most));
        const ImVec2 min{bars.from, y + ui.px(3)}, max{end, y + small - ui.px(2)};
        line(ui, {in.min.x, y}, bars.from - in.min.x, one.bound ? Face::Strong : Face::Text, Size::Small,
             Ink::Text, one.name);
        if (one.bound)
            ui.list.AddRect(min, max, ui.ink(Ink::Text), ui.px(2), 0, ui.px(1.5f));
        else
            ui.list.AddRectFilled(min, max, color_of(ui.context.palette, one.kernel), ui.px(2));
        line(ui, {end + ui.px(8), y}, in.max.x - end, Face::Mono, Size::Small, Ink::Text, one.rate);
        if (ui.over({{in.min.x, y}, {in.max.x, y + pitch}}))
            ui.tip = one.bound
                         ? "The most that bandwidth and peak allow, by the bytes that its threads load: a "
                           "bound, not a time"
                         : "A product of that width, by the median of measured runs";
        y += pitch;
    }
}

}  // namespace

void launch_panels(Ui& ui, const Rect& area, const LaunchShown& shown) {
    const float gap = ui.px(8), pad = ui.px(32), middle = std::round((area.min.x + area.max.x) / 2);
    const Rect left{area.min, {middle - gap / 2, area.max.y}},
        right{{middle + gap / 2, area.min.y}, area.max};
    const size_t rows = shown.counted.size();
    const float width = left.width() - pad, between = ui.px(32);
    const bool beside = width >= ui.px(520);
    const float half = beside ? (width - between) / 2 : width;
    const float least = least_height(ui, half, shown), measure = measure_height(ui, half, shown.unmeasured);
    const float known = pad + (beside ? std::max(least, measure) : least + measure + ui.px(8));
    const auto& compared = shown.unmeasured.compared;
    const float bars = pad + line_height(ui, Size::Body) +
                       (line_height(ui, Size::Small) + ui.px(8)) * static_cast<float>(compared.size());
    // In a high window all of it stands below each other at the left, and the roofline has the whole height. Small
    // type for what was counted where the rest would have less than half of the height.
    const bool high =
        !compared.empty() && counted_height(ui, rows, Size::Body) + known + bars + gap * 2 <= area.height();
    const float most = std::round(area.height() * 0.54f);
    const Size size = high || counted_height(ui, rows, Size::Body) <= most ? Size::Body : Size::Small;
    const float counted =
        high ? counted_height(ui, rows, size) : std::min(counted_height(ui, rows, size), most);
    counted_panel(ui, {left.min, {left.max.x, left.min.y + counted}}, shown, size);
    const float top = left.min.y + counted + gap;
    const Rect below{{left.min.x, top}, {left.max.x, high ? top + known : left.max.y}};
    surface(ui, below);
    const Rect in = below.inset(ui.px(16));
    if (measure > in.height() * (beside || high ? 1.f : 0.55f)) {
        // The command at least, in one line.
        const float small = line_height(ui, Size::Small);
        const std::string command = "To measure it: " + shown.unmeasured.command;
        const bool room = draw::text_size(ui.font(Face::Text, Size::Small), command).x <= in.width();
        least_times(ui, {in.min, {in.max.x, in.max.y - (room ? small + ui.px(8) : 0)}}, shown);
        if (room)
            line(ui, {in.min.x, in.max.y - small}, in.width(), Face::Text, Size::Small, Ink::Text, command);
    } else if (beside) {
        least_times(ui, {in.min, {in.min.x + half, in.max.y}}, shown);
        to_measure(ui, {{in.max.x - half, in.min.y}, in.max}, shown.unmeasured);
    } else {
        least_times(ui, {in.min, {in.max.x, in.max.y - measure - ui.px(8)}}, shown);
        to_measure(ui, {{in.min.x, in.max.y - measure}, in.max}, shown.unmeasured);
    }
    if (compared.empty()) return roofline_panel(ui, right, shown.roofline, false);
    if (high) {
        among_measured(ui, panel(ui, {{left.min.x, below.max.y + gap}, left.max}), shown.unmeasured);
        return roofline_panel(ui, right, shown.roofline, false);
    }
    // The roofline has what the bars leave.
    const float part =
        std::round(right.max.y - std::clamp(bars, right.height() * 0.3f, right.height() * 0.48f));
    roofline_panel(ui, {right.min, {right.max.x, part - gap}}, shown.roofline, false);
    among_measured(ui, panel(ui, {{right.min.x, part}, right.max}), shown.unmeasured);
}

void unmeasured_panel(Ui& ui, const Rect& rect, const Unmeasured& shown, const TrafficChain& chain) {
    const Rect in = panel(ui, rect);
    const float small = line_height(ui, Size::Small), between = ui.px(40),
                half = std::floor((in.width() - between) / 2);
    among_measured(ui, {in.min, {in.min.x + half, in.max.y}}, shown);
    const Rect right{{in.max.x - half, in.min.y}, in.max};
    float y = right.min.y + heading(ui, right, {chain.why});
    std::vector<std::string> words = chain.reasons;
    words.push_back(chain.note);
    const float end = right.max.y - measure_height(ui, half, shown);
    for (const std::string& said : words) {
        const auto lines = wrapped(ui.font(Face::Text, Size::Small), said, half).size();
        if (y + small * static_cast<float>(lines) > end) break;
        y += paragraph(ui, {right.min.x, y}, half, Face::Text, Size::Small, Ink::TextQuiet, said,
                       static_cast<int>(lines)) +
             ui.px(2);
    }
    to_measure(ui, {{right.min.x, end}, right.max}, shown);
}

}  // namespace tilescope::timing
