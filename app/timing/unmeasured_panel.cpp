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
    std::vector<std::string> words = shown.chain.reasons;
    words.insert(words.begin(), shown.unmeasured.sentence);
    for (const std::string& said : words) {
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
void among_measured(Ui& ui, const Rect& rect, const Unmeasured& shown) {
    const Rect in = panel(ui, rect);
    const float small = line_height(ui, Size::Small);
    float y =
        in.min.y + heading(ui, in,
                           {"Measured kernels " + shown.compared_title, "Measured " + shown.compared_title,
                            shown.compared_title, "Measured, GFLOP/s"});
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
            ui.tip =
                one.bound
                    ? "The most that bandwidth and peak of that device allow this launch, by the bytes that "
                      "its threads load"
                    : "Measured; it computes a product, and this launch something else";
        y += pitch;
    }
}

}  // namespace

void launch_panels(Ui& ui, const Rect& area, const LaunchShown& shown) {
    const float gap = ui.px(8), middle = std::round((area.min.x + area.max.x) / 2);
    const Rect left{area.min, {middle - gap / 2, area.max.y}},
        right{{middle + gap / 2, area.min.y}, area.max};
    // Small type for what was counted where the rest would have less than half of the height.
    const size_t rows = shown.counted.size();
    const bool large = counted_height(ui, rows, Size::Body) <= area.height() * 0.54f;
    const Size size = large ? Size::Body : Size::Small;
    const float counted = std::min(counted_height(ui, rows, size), std::round(area.height() * 0.54f));
    counted_panel(ui, {left.min, {left.max.x, left.min.y + counted}}, shown, size);
    const Rect below{{left.min.x, left.min.y + counted + gap}, left.max};
    surface(ui, below);
    const Rect in = below.inset(ui.px(16));
    const bool beside = in.width() >= ui.px(520);
    const float between = ui.px(32), half = (in.width() - between) / 2;
    const float measure = measure_height(ui, beside ? half : in.width(), shown.unmeasured);
    const bool told = measure <= in.height() * (beside ? 1.f : 0.55f);
    if (!told) {
        least_times(ui, in, shown);
    } else if (beside) {
        least_times(ui, {in.min, {in.min.x + half, in.max.y}}, shown);
        to_measure(ui, {{in.max.x - half, in.min.y}, in.max}, shown.unmeasured);
    } else {
        least_times(ui, {in.min, {in.max.x, in.max.y - measure - ui.px(8)}}, shown);
        to_measure(ui, {{in.min.x, in.max.y - measure}, in.max}, shown.unmeasured);
    }
    if (shown.unmeasured.compared.empty()) return roofline_panel(ui, right, shown.roofline, false);
    // The roofline has what the bars leave.
    const float all = static_cast<float>(shown.unmeasured.compared.size());
    const float bars =
        std::clamp(ui.px(32) + line_height(ui, Size::Body) + (line_height(ui, Size::Small) + ui.px(8)) * all,
                   right.height() * 0.3f, right.height() * 0.48f);
    const float part = std::round(right.max.y - bars);
    roofline_panel(ui, {right.min, {right.max.x, part - gap}}, shown.roofline, false);
    among_measured(ui, {{right.min.x, part}, right.max}, shown.unmeasured);
}

}  // namespace tilescope::timing
