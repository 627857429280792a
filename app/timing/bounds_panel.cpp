// The panels of what bounds a kernel: a sentence, a bar a time, the line of the measured one through them; or
// loads in flight, why warps wait, and what another compiler makes of the kernel.
#include "app/timing/bounds_panel.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/timing/latency.h"
#include "core/base/words.h"
#include "kernels/textbook/devices.h"

namespace tilescope::timing {
namespace {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Size;
using Ui = input::Ui<State>;

// The counters of the untiled kernel, which tiles are compared with.
const kernels::LevelCounterRow* untiled_of(const BoundsOf& of) {
    const kernels::KernelInfo* const info = kernels::find(of.kernel);
    if (info == nullptr || !info->tiled) return nullptr;
    return kernels::find_level_counters(of.device, "untiled", of.compiler, of.shape());
}

// As many bars as have room: that of the line and then the longest ones, in their order.
std::vector<BoundBar> fitting_bars(const std::vector<BoundBar>& all, size_t line_of, size_t room) {
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) {
        return std::pair(i == line_of || all[i].marked, all[i].value);
    });
    order.resize(std::min(order.size(), room));
    std::ranges::sort(order);
    std::vector<BoundBar> some;
    for (const size_t i : order) some.push_back(all[i]);
    return some;
}

// A row a bar: name, bar, figure. line_of: the bar whose value goes through all as a line, the first one; none
// past the end. Returns the height taken.
float bars(Ui& ui, const Rect& rect, const std::vector<BoundBar>& all, size_t line_of) {
    const float line_high = line_height(ui, Size::Small);
    const auto room = static_cast<size_t>(std::max(0.f, rect.height() / (line_high * 0.9f)));
    if (all.size() > room) {
        const std::vector<BoundBar> some = fitting_bars(all, line_of, room);
        return some.empty() ? 0 : bars(ui, rect, some, line_of < all.size() ? line_of : some.size());
    }
    if (all.empty()) return 0;
    float name = 0, figure = 0;
    double longest = 0;
    for (const BoundBar& bar : all) {
        name = std::max(
            name, text_size(ui.font(Face::Strong, Size::Small), (bar.marked ? "\u2192 " : "") + bar.name).x);
        figure = std::max(figure, text_size(ui.font(Face::Mono, Size::Small), bar.figure).x);
        longest = std::max(longest, bar.value);
    }
    if (longest <= 0) longest = 1;
    const float small = line_height(ui, Size::Small), count = static_cast<float>(all.size());
    const float row = std::min(small + ui.px(14), rect.height() / count);
    const float from = rect.min.x + name + ui.px(12), to = rect.max.x - figure - ui.px(12);
    const auto along = [&](double value) {
        return std::round(from + (to - from) * static_cast<float>(value / longest));
    };
    const float inset = std::round(std::max(ui.px(2), (row - small - ui.px(2)) / 2));
    const float thin = std::max(1.f, ui.px(1));
    for (size_t i = 0; i < all.size(); ++i) {
        const BoundBar& bar = all[i];
        const float top = std::round(rect.min.y + row * static_cast<float>(i));
        const float text = top + std::round((row - small) / 2);
        const bool strong = i == line_of || bar.marked;
        line(ui, {rect.min.x, text}, name + ui.px(4), strong ? Face::Strong : Face::Text, Size::Small,
             strong ? Ink::Text : Ink::TextQuiet, (bar.marked ? "\u2192 " : "") + bar.name);
        const Rect box{{from, top + inset}, {std::max(along(bar.value), from + 1), top + row - inset}};
        // Measured is solid; what is modelled is a frame around a pale fill.
        const draw::Rgba color = ui.ink(bar.measured ? (line_of < all.size() ? Ink::Text : Ink::TextQuiet)
                                        : bar.marked ? Ink::Accent
                                                     : Ink::TextQuiet);
        ui.list.AddRectFilled(box.min, box.max,
                              bar.measured ? color : draw::with_alpha(color, bar.marked ? 0.55f : 0.2f));
        if (!bar.measured) ui.list.AddRect(box.min, box.max, color, 0, 0, thin);
        line(ui, {rect.max.x, text}, figure + 1, Face::Mono, Size::Small, strong ? Ink::Text : Ink::TextQuiet,
             bar.figure, Align::Right);
        if (ui.over({{rect.min.x, top}, {rect.max.x, top + row}})) ui.tip = bar.rests_on;
    }
    if (line_of < all.size()) {
        const float x = along(all[line_of].value), bottom = rect.min.y + row * count;
        for (float y = rect.min.y + row * static_cast<float>(line_of + 1); y < bottom; y += ui.px(6))
            ui.list.AddLine({x, y}, {x, std::min(y + ui.px(3), bottom)}, ui.ink(Ink::Text), thin);
    }
    return row * count;
}

// The first sentence of some.
std::string first_of(const std::string& sentences) {
    const size_t end = sentences.find(". ");
    return sentences.substr(0, end == std::string::npos ? end : end + 1);
}

void bounds(Ui& ui, Rect in, const BoundChart& chart) {
    const float small = line_height(ui, Size::Small), gap = ui.px(8);
    // What binds comes first in the sentence, and the rest of it gives way to the bars.
    const size_t lines = wrapped(ui.font(Face::Text, Size::Body), chart.sentence, in.width()).size();
    const float left = in.height() - line_height(ui, Size::Body) * static_cast<float>(lines) - gap;
    const bool brief = left < small * 4;
    in.min.y += sentence(ui, in, brief ? first_of(chart.sentence) : chart.sentence, chart.rests_on);
    // The note has two lines where three bars stand above it; else its first sentence, and nothing of pointing.
    const bool low = in.height() < small * 5 + gap;
    const float foot = in.max.y - small * (low ? 1 : 2);
    bars(ui, {in.min, {in.max.x, foot - (low ? ui.px(2) : gap)}}, chart.bars,
         chart.bars.front().measured ? 0 : chart.bars.size());
    paragraph(ui, {in.min.x, foot}, in.width(), Face::Text, Size::Small, Ink::TextQuiet,
              low ? first_of(chart.note) : chart.note + " Point at a bar for its sources.", low ? 1 : 2);
}

// The compilers as a table of as many rows.
void compilers(Ui& ui, ImVec2 at, float part, const std::vector<CompilerRow>& rows) {
    const float small = line_height(ui, Size::Small);
    float y = at.y;
    const auto row = [&](const CompilerRow& one, Face face, Ink ink) {
        const auto cell = [&](float from, float to, Face shape, const std::string& text, Align align) {
            line(ui, {at.x + part * (align == Align::Right ? to : from), y}, part * (to - from), shape,
                 Size::Small, ink, text, align);
        };
        cell(0, 0.13f, Face::Text, one.compiler, Align::Left);
        cell(0.13f, 0.36f, face, one.loads, Align::Right);
        cell(0.36f, 0.57f, face, one.instructions, Align::Right);
        cell(0.61f, 0.82f, Face::Text, one.bound_by, Align::Left);
        cell(0.82f, 1, face, one.measured, Align::Right);
        y += small;
    };
    row({"PTX by", "loads in flight", "instructions", "bound by", "measured"}, Face::Text, Ink::TextFaint);
    for (size_t i = 0; i < rows.size(); ++i) row(rows[i], Face::Mono, i == 0 ? Ink::Text : Ink::TextQuiet);
}

void latency(Ui& ui, Rect in, const LatencyChart& chart) {
    in.min.y += sentence(ui, in, chart.sentence, chart.rests_on);
    const float small = line_height(ui, Size::Small), gap = ui.px(8);
    // What another compiler makes of it stands below, as far as the bars leave room.
    const auto rows = [](size_t count) { return static_cast<float>(count); };
    float spare = in.height() - small * rows(chart.flights.size() + 1) - gap;
    const float table = small * rows(chart.compilers.size() + 1) + ui.px(4);
    if (!chart.compilers.empty() && spare >= table) {
        spare -= table;
        const int lines =
            text_size(ui.font(Face::Text, Size::Small), chart.difference).x > in.width() ? 2 : 1;
        const float said = small * static_cast<float>(lines);
        if (spare >= said) {
            in.max.y -= said;
            paragraph(ui, {in.min.x, in.max.y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet,
                      chart.difference, lines);
        }
        in.max.y -= table;
        compilers(ui, {in.min.x, in.max.y}, in.width(), chart.compilers);
        in.max.y -= gap;
    }
    const float middle = std::round((in.min.x + in.max.x) / 2);
    const bool stalls = !chart.stalls.empty();
    const float right = stalls ? middle - ui.px(16) : in.max.x;
    line(ui, in.min, right - in.min.x, Face::Text, Size::Small, Ink::TextFaint, "Loads in flight on an SM");
    bars(ui, {{in.min.x, in.min.y + small}, {right, in.max.y}}, chart.flights, 0);
    if (!stalls) return;
    line(ui, {middle, in.min.y}, in.max.x - middle, Face::Text, Size::Small, Ink::TextFaint,
         chart.stalls_title);
    // Rows as high as those beside them.
    const float high = (in.max.y - in.min.y - small) * rows(chart.stalls.size()) / rows(chart.flights.size());
    const float top = in.min.y + small;
    bars(ui, {{middle, top}, {in.max.x, top + high}}, chart.stalls, chart.stalls.size());
}

}  // namespace

float sentence(Ui& ui, const Rect& rect, const std::string& words, const std::string& rests_on, int most) {
    const float said = paragraph(ui, rect.min, rect.width(), Face::Text, Size::Body, Ink::Text, words, most);
    if (ui.over({rect.min, {rect.max.x, rect.min.y + said}})) ui.tip = rests_on;
    return said + ui.px(8);
}

float beside_choice(Ui& ui, const Rect& in) {
    if (ui.context.paper) return 0;
    constexpr const char* kTip = "What bounds it, latency, the ladder to cuBLAS, or the roofline (U)";
    const std::string words[] = {"bounds", "latency", "ladder", "roofline"};
    const float wide = choices_width(ui, words);
    ImVec2 at{in.max.x - wide + ui.px(12), in.min.y - ui.px(4)};
    if (const auto picked = choices(ui, at, ui.px(26), words, static_cast<size_t>(ui.state.beside), kTip))
        ui.state.beside = static_cast<State::Beside>(*picked);
    return wide + ui.px(8);
}

void bounds_panel(Ui& ui, const Rect& rect, const BoundsShown& shown) {
    const Machine& machine = shown.machine;
    const bool of_latency = ui.state.beside == State::Beside::Latency;
    surface(ui, rect);
    Rect in = rect.inset(ui.px(16));
    const float room = in.width() - beside_choice(ui, in);
    const std::string kernel = shown_name(ui.state.kernel);
    const std::string with_tile = name_with_tile(ui.state.kernel, ui.state.tile);
    const char* const what = of_latency ? "Latency of" : "What bounds";
    line(ui, in.min, room, Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body),
                 {fmt::format("{} {}, width {}", what, with_tile, grouped(shown.width)),
                  fmt::format("{} {}", what, with_tile), fmt::format("{} {}", what, kernel),
                  of_latency ? "Latency" : "What bounds it"},
                 room));
    in.min.y += line_height(ui, Size::Body) + ui.px(8);
    const auto say = [&](const std::string& words) {
        paragraph(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet, words);
    };
    const auto of = bounds_of(machine, ui.state.kernel, ui.state.tile, shown.width);
    if (!of)
        return say(kernels::find(ui.state.kernel) == nullptr
                       ? fmt::format("What {} runs is not known here, and so neither is what bounds it; "
                                     "choose another kernel.",
                                     kernel)
                       : "This launch was not timed; choose another width or kernel.");
    const Result<analysis::Levels>* const made = ui.state.bounds.find(*of);
    if (made == nullptr) {
        const uint64_t begun =
            ui.state.bounds.working.begun() ? ui.state.bounds.working.control().done.load() : 0;
        return say(fmt::format("Its blocks are being replayed through L1, L2 and DRAM: {} begun.",
                               counted(begun, "block")));
    }
    if (!*made) return say(made->error().message + ".");
    const analysis::LevelDevice on{*leveled_device(machine), *kernels::find_levels(of->device)};
    const BoundsBeside beside{row_of(machine, of->kernel, of->width, of->tile), machine.times,
                              kernels::find_level_counters(of->device, of->kernel, of->compiler, of->shape()),
                              untiled_of(*of)};
    if (!of_latency) return bounds(ui, in, bound_chart(*of, **made, on, beside));
    ByCompiler by;
    const Machine* const other = other_compiler(shown.all, machine);
    const auto other_of =
        other == nullptr ? std::nullopt : bounds_of(*other, ui.state.kernel, ui.state.tile, shown.width);
    const Result<analysis::Levels>* const other_made = other_of ? ui.state.bounds.find(*other_of) : nullptr;
    const bool there = other_made != nullptr && *other_made;
    if (there) by = {*other_of, &**other_made, row_of(*other, of->kernel, of->width, of->tile)};
    latency(ui, in, latency_chart(*of, **made, on, beside, there ? &by : nullptr));
}

}  // namespace tilescope::timing
