// The Limits screen: how many blocks an SM holds, by the lecture's sum and by the hardware's, and where the
// cliffs are.
//
//   +-------------------------------------------------------------+
//   | the case, its device, the block that is asked about         |
//   +------------------------------+------------------------------+
//   | the lecture's sum            | the hardware's sum           |
//   +---------------+--------------+--+---------------------------+
//   | over threads  | over registers  | over shared memory        |
//   +---------------+-----------------+---------------------------+
//   | further figures of the case                                 |
//   +-------------------------------------------------------------+
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/chart.h"
#include "app/panels/chooser.h"
#include "app/screens/screens.h"
#include "app/view/limits_view.h"
#include "app/view/words.h"
#include "kernels/devices.h"

namespace tilescope::app {
namespace {

using analysis::Parameter;
using draw::Face;
using draw::Ink;
using draw::Size;
using panels::Rect;
using panels::Ui;

void controls(Ui& ui, const Rect& rect, const analysis::DeviceSpec& device) {
    LimitsState& state = ui.state.limits;
    const auto& devices = kernels::devices();
    const auto& presets = analysis::limit_presets();
    ImVec2 at = rect.min;
    const float h = rect.height();
    std::vector<std::string> names, titles;
    size_t current = 0, chosen = presets.size();
    for (const analysis::DeviceSpec& one : devices) {
        if (one.id == device.id) current = names.size();
        names.push_back(fmt::format("{} ({})", one.name, one.sm.capability()));
    }
    for (const analysis::LimitPreset& preset : presets) {
        if (preset.id == state.preset) chosen = titles.size();
        titles.push_back(preset.title);
    }
    titles.emplace_back("No case: this device as it is");
    const float wide = std::min(ui.px(420), rect.width() * 0.36f),
                narrow = std::min(ui.px(210), rect.width() * 0.18f);
    panels::control_label(ui, at, h, "Case");
    if (const auto picked = panels::chooser(ui, {at, {at.x + wide, at.y + h}}, "##case", titles, chosen)) {
        if (*picked < presets.size())
            take_preset(state, presets[*picked].id);
        else
            take_device(state, device.id);
    }
    at.x += wide + ui.px(12);
    panels::control_label(ui, at, h, "Device");
    if (const auto picked = panels::chooser(ui, {at, {at.x + narrow, at.y + h}}, "##sm", names, current))
        take_device(state, devices[*picked].id);
    at.x += narrow + ui.px(12);
    const analysis::LimitPreset* preset = analysis::find_limit_preset(state.preset);
    if (preset == nullptr || preset->blocks.size() < 2) return;
    std::vector<std::string> blocks;
    size_t here = preset->blocks.size();
    for (const analysis::PresetBlock& block : preset->blocks) {
        if (block.use == state.use) here = blocks.size();
        blocks.push_back(block.label);
    }
    if (const auto picked = panels::choices(ui, at, h, blocks, here)) take_preset(state, preset->id, *picked);
}

void sum_panel(Ui& ui, const Rect& rect, const view::SumColumn& column) {
    panels::surface(ui, rect);
    const Rect in = rect.inset(ui.px(16));
    const float small = panels::line_height(ui, Size::Small), title = panels::line_height(ui, Size::Title);
    panels::line(ui, in.min, in.width() * 0.5f, Face::Strong, Size::Body, Ink::Text, column.title);
    panels::line(ui, {in.max.x, in.min.y}, in.width() - ui.px(150), Face::Text,
                 column.refused ? Size::Small : Size::Body, column.refused ? Ink::Fault : Ink::Text,
                 column.words, draw::Align::Right);
    float y = in.min.y + ui.px(28);
    panels::line(ui, {in.min.x, y}, in.width(), Face::Strong, Size::Title, Ink::Text,
                 fmt::format("{} blocks, {} threads, {} warps: {}", column.blocks, column.threads,
                             column.warps, column.share));
    y += title + ui.px(6);
    const float name = ui.px(124), fits = ui.px(84), used = ui.px(150);
    const float from = in.min.x + name, to = in.max.x - fits - used;
    const float row = std::min(small + ui.px(8), (in.max.y - y) / static_cast<float>(column.bars.size()));
    for (const view::LimitBar& bar : column.bars) {
        panels::line(ui, {in.min.x, y}, name, bar.limits ? Face::Strong : Face::Text, Size::Small,
                     bar.limits ? Ink::Text : Ink::TextQuiet, (bar.limits ? "\u2192 " : "") + bar.name);
        const Rect box{{from, y + ui.px(2)}, {to, y + small - ui.px(2)}};
        ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Raised));
        const float part = static_cast<float>(std::clamp(bar.share, 0.0, 1.0));
        ui.list.AddRectFilled(box.min, {box.min.x + part * box.width(), box.max.y},
                              ui.ink(bar.limits ? Ink::Accent : Ink::Inactive));
        panels::line(ui, {in.max.x - fits, y}, used, Face::Mono, Size::Small, Ink::Text, bar.used,
                     draw::Align::Right);
        panels::line(ui, {in.max.x, y}, fits, Face::Mono, Size::Small,
                     bar.limits ? Ink::Text : Ink::TextQuiet, bar.fits, draw::Align::Right);
        y += row;
    }
}

void curve_panel(Ui& ui, const Rect& rect, const analysis::SmLimits& sm, Parameter parameter) {
    LimitsState& state = ui.state.limits;
    panels::surface(ui, rect);
    if (state.parameter == parameter)
        ui.list.AddRect(rect.min, rect.max, ui.ink(Ink::Accent), ui.px(6), 0, ui.px(2));
    if (ui.clicked(rect)) state.parameter = parameter;
    const Rect in = rect.inset(ui.px(16));
    const view::LimitCurve curve = view::limit_curve(sm, state.use, parameter);
    const float h = ui.px(26), small = panels::line_height(ui, Size::Small);
    panels::line(ui, in.min, in.width() - h * 2 - ui.px(12), Face::Strong, Size::Body, Ink::Text,
                 view::value_words(parameter, curve.today));
    const Rect more{{in.max.x - h, in.min.y}, {in.max.x, in.min.y + h}};
    const Rect less{{more.min.x - h - ui.px(4), in.min.y}, {more.min.x - ui.px(4), more.max.y}};
    if (panels::button(ui, less, "-")) change_parameter(state, sm, parameter, -1);
    if (panels::button(ui, more, "+")) change_parameter(state, sm, parameter, 1);
    panels::line(ui, {in.min.x, in.min.y + ui.px(26)}, in.width(), Face::Text, Size::Small, Ink::TextQuiet,
                 curve.cliff.empty() ? "no cliff beyond this" : curve.cliff);
    const panels::Chart axes =
        panels::chart_axes(ui, {{in.min.x, in.min.y + ui.px(34) + small}, in.max},
                           {{}, curve.title, ui.px(4)}, curve.x, curve.y, curve.x_ticks, curve.y_ticks);
    const auto draw_curve = [&](const std::vector<analysis::CurvePoint>& values, Ink ink, float width,
                                bool dashed) {
        std::vector<ImVec2> points;
        for (const analysis::CurvePoint& point : values)
            points.push_back(axes.point(point.value, point.threads));
        panels::step_line(ui, points, ui.ink(ink), ui.px(width), dashed);
    };
    draw_curve(curve.hardware, Ink::Text, 2, false);
    draw_curve(curve.lecture, Ink::GlobalLoad, 1.5f, true);
    const auto today = [&](analysis::Sum sum, view::Shape shape, Ink ink, float r) {
        const analysis::Occupancy o = analysis::occupancy(sm, state.use, sum);
        panels::marker(ui, axes.point(curve.today, o.threads), shape, ui.ink(ink), ui.px(r));
    };
    if (!view::holds(axes.x, curve.today)) return;
    const float x = std::round(view::at(axes.x, curve.today));
    ui.list.AddLine({x, axes.plot.min.y}, {x, axes.plot.max.y}, draw::with_alpha(ui.ink(Ink::Accent), 0.4f));
    today(analysis::Sum::Hardware, view::Shape::Circle, Ink::Text, 6);
    today(analysis::Sum::Lecture, view::Shape::Diamond, Ink::GlobalLoad, 4);
    if (!ui.over(axes.plot)) return;
    for (const analysis::CurvePoint& point : curve.hardware) {
        if (point.value < view::value_at(axes.x, ui.cursor().x)) continue;
        ui.tip = fmt::format("{}: {} blocks, {} threads by the hardware's sum",
                             view::value_words(parameter, point.value), point.blocks,
                             view::grouped(point.threads));
        break;
    }
}

void figures_panel(Ui& ui, const Rect& rect) {
    panels::surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float small = panels::line_height(ui, Size::Small);
    const analysis::LimitPreset* preset = analysis::find_limit_preset(ui.state.limits.preset);
    std::vector<std::string> words{
        "Threads on an SM, dashed with a diamond: the lecture's sum; solid with a circle: the hardware's, "
        "with "
        "allocation granularity.   Keys: \u2191 \u2193 case, \u2190 \u2192 parameter, + - its value."};
    if (preset != nullptr) {
        if (const auto answer = analysis::answer(*preset, kernels::devices())) {
            for (const analysis::Figure& figure : answer->figures)
                words.push_back(view::figure_words(figure));
        }
    }
    panels::line(ui, in.min, in.width(), Face::Text, Size::Small, Ink::TextQuiet, words[0]);
    const float column = in.width() / 3;
    for (size_t i = 1; i < words.size(); ++i) {
        const ImVec2 at{in.min.x + column * static_cast<float>((i - 1) % 3),
                        in.min.y + small * static_cast<float>(1 + (i - 1) / 3)};
        if (at.y + small > in.max.y + ui.px(4)) break;
        panels::line(ui, at, column - ui.px(16), Face::Text, Size::Small, Ink::Text, words[i]);
    }
}

}  // namespace

void limits_screen(Ui& ui, const Rect& area) {
    const LimitsState& state = ui.state.limits;
    const analysis::DeviceSpec device = view::limits_device(state, kernels::devices());
    const float gap = ui.px(8);
    const Rect header{{area.min.x + gap, area.min.y + gap},
                      {area.max.x - gap, area.min.y + gap + ui.px(100)}};
    panels::surface(ui, header);
    const Rect in{{header.min.x + ui.px(16), header.min.y + ui.px(8)},
                  {header.max.x - ui.px(16), header.max.y - ui.px(10)}};
    if (kernels::devices().empty()) {
        panels::line(ui, in.min, in.width(), Face::Strong, Size::Title, Ink::Text,
                     "No devices ship with this program.");
        return;
    }
    const analysis::LimitPreset* preset = analysis::find_limit_preset(state.preset);
    panels::line(ui, in.min, in.width(), Face::Strong, Size::Title, Ink::Text,
                 preset != nullptr ? preset->title
                                   : fmt::format("How many blocks does an SM of {} hold?", device.name));
    panels::line(
        ui, {in.min.x, in.min.y + panels::line_height(ui, Size::Title)}, in.width(), Face::Text, Size::Small,
        Ink::TextQuiet,
        fmt::format("{}, compute capability {}{}; sums of an SM's slots, nothing is measured", device.name,
                    device.sm.capability(), state.change.any() ? ", changed as the case says" : ""));
    controls(ui, {{in.min.x, in.max.y - ui.px(28)}, in.max}, device);
    const float sums = ui.px(190), foot = ui.px(92), middle = std::round((header.min.x + header.max.x) / 2);
    const float y = header.max.y + gap;
    sum_panel(ui, {{header.min.x, y}, {middle - gap / 2, y + sums}},
              view::sum_column(device.sm, state.use, analysis::Sum::Lecture));
    sum_panel(ui, {{middle + gap / 2, y}, {header.max.x, y + sums}},
              view::sum_column(device.sm, state.use, analysis::Sum::Hardware));
    const float top = y + sums + gap, bottom = area.max.y - gap * 2 - foot;
    const float third = (header.width() - gap * 2) / 3;
    for (int i = 0; i < 3; ++i) {
        const float x = std::round(header.min.x + static_cast<float>(i) * (third + gap));
        curve_panel(ui, {{x, top}, {std::round(x + third), bottom}}, device.sm, static_cast<Parameter>(i));
    }
    figures_panel(ui, {{header.min.x, bottom + gap}, {header.max.x, area.max.y - gap}});
}

}  // namespace tilescope::app
