// The Timing screen: what was measured, beside what bandwidth alone would allow.
//
//   +----------------------------------------------------------------+
//   | what the chosen kernel took, and where that was measured       |
//   | device   T   what is plotted                                   |
//   +-------------------------------+--------------------------------+
//   | a line a kernel over width    | roofline                       |
//   +-------------------------------+--------------------------------+
//   | bytes asked -> L2 -> DRAM     | why bound and measurement differ
//   +----------------------------------------------------------------+
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/chooser.h"
#include "app/panels/empty_panel.h"
#include "app/panels/timing_panels.h"
#include "app/screens/screens.h"
#include "kernels/devices.h"

namespace tilescope::app {
namespace {

using panels::Rect;
using panels::Ui;

// What is measured on the chosen device may lack what was chosen on another.
void settle(TimingState& chosen, const view::Machine& machine) {
    const std::vector<uint32_t> tiles = view::timed_tiles(machine);
    if (!tiles.empty() && std::find(tiles.begin(), tiles.end(), chosen.tile) == tiles.end())
        chosen.tile = tiles.back();
    const std::vector<std::string> kernels = view::timed_kernels(machine);
    if (!kernels.empty() && std::find(kernels.begin(), kernels.end(), chosen.kernel) == kernels.end())
        chosen.kernel = kernels.back();
}

void controls(Ui& ui, const Rect& rect, const std::vector<view::Machine>& all, const view::Machine& machine) {
    TimingState& chosen = ui.state.timing;
    ImVec2 at = rect.min;
    const float h = rect.height();
    std::vector<std::string> names;
    for (const view::Machine& one : all)
        names.push_back(one.name + (one.times != nullptr ? ", measured" : ""));
    const float wide = panels::chooser_width(ui, names, ui.px(280));
    panels::control_label(ui, at, h, "Device");
    if (const auto picked = panels::chooser(ui, {at, {at.x + wide, at.y + h}}, "##timed_device", names,
                                            static_cast<size_t>(&machine - all.data())))
        chosen.device = all[*picked].name;
    at.x += wide + ui.px(16);
    const std::vector<uint32_t> tiles = view::timed_tiles(machine);
    std::vector<std::string> words;
    size_t current = tiles.size();
    for (size_t i = 0; i < tiles.size(); ++i) {
        words.push_back(std::to_string(tiles[i]));
        if (tiles[i] == chosen.tile) current = i;
    }
    panels::control_label(ui, at, h, "T");
    if (const auto picked =
            panels::choices(ui, at, h, words, current, "Tile width, and the block's (+ and -)"))
        chosen.tile = tiles[*picked];
    const std::string plots[] = {"time", "GFLOP/s", "x untiled", "x swapped"};
    panels::control_label(ui, at, h, "Plot");
    if (const auto picked = panels::choices(ui, at, h, plots, static_cast<size_t>(chosen.plot)))
        chosen.plot = static_cast<TimingState::Plot>(*picked);
    const char* keys = "\u2191 \u2193 kernel   \u2190 \u2192 width   + - tile width";
    const float takes = draw::text_size(ui.font(draw::Face::Text, draw::Size::Small), keys).x;
    if (rect.max.x - at.x > takes)
        panels::line(ui, {rect.max.x, at.y + ui.px(6)}, takes + 1, draw::Face::Text, draw::Size::Small,
                     draw::Ink::TextFaint, keys, draw::Align::Right);
}

}  // namespace

void timing_screen(Ui& ui, const Rect& area) {
    TimingState& chosen = ui.state.timing;
    const auto& timings = ui.state.timings != nullptr ? *ui.state.timings : kernels::shipped_timings();
    const auto& counters = chosen.counters != nullptr ? *chosen.counters : kernels::shipped_counters();
    const auto& devices = ui.state.limits.devices != nullptr ? *ui.state.limits.devices : kernels::devices();
    const std::vector<view::Machine> all = view::machines(timings, devices);
    const view::Machine* machine = view::find_machine(all, chosen.device);
    const float gap = ui.px(8);
    const Rect header{{area.min.x + gap, area.min.y + gap},
                      {area.max.x - gap, area.min.y + gap + ui.px(100)}};
    if (machine == nullptr)
        return panels::empty_panel(
            ui, area, "No measured times and no devices are known here.",
            "Run \u201ctilescope time\u201d on a machine with an NVIDIA GPU to measure the "
            "kernels, and build with assets/timings and assets/devices in their place.");
    panels::surface(ui, header);
    const Rect in{{header.min.x + ui.px(16), header.min.y + ui.px(8)},
                  {header.max.x - ui.px(16), header.max.y - ui.px(10)}};
    settle(chosen, *machine);
    const panels::Timed timed{*machine, counters, view::shown_width(*machine, counters, chosen)};
    panels::line(ui, in.min, in.width(), draw::Face::Strong, draw::Size::Title, draw::Ink::Text,
                 view::headline(*machine, chosen, timed.width));
    const float below = in.min.y + panels::line_height(ui, draw::Size::Title);
    // The source of stated figures may be long: pointing at the line says all of it.
    const std::string from = view::measured_words(*machine);
    const std::vector<std::string> wordings{from, from.substr(0, from.find(", from "))};
    const float small = panels::line_height(ui, draw::Size::Small);
    panels::line(ui, {in.min.x, below}, in.width(), draw::Face::Text, draw::Size::Small, draw::Ink::TextQuiet,
                 panels::fitting(ui.font(draw::Face::Text, draw::Size::Small), wordings, in.width()));
    if (ui.over({{in.min.x, below}, {in.max.x, below + small}})) ui.tip = from;
    controls(ui, {{in.min.x, in.max.y - ui.px(28)}, in.max}, all, *machine);

    // In a low window the charts keep their height, and of the table there is the chain alone.
    const bool low = area.height() < ui.px(600);
    const float bottom = low ? panels::traffic_strip_height(ui) : panels::traffic_height(ui);
    const Rect charts{{header.min.x, header.max.y + gap}, {header.max.x, area.max.y - gap * 2 - bottom}};
    const float middle = std::round((charts.min.x + charts.max.x) / 2);
    panels::time_panel(ui, {charts.min, {middle - gap / 2, charts.max.y}}, timed);
    panels::roofline_panel(ui, {{middle + gap / 2, charts.min.y}, charts.max}, timed);
    const Rect below_charts{{charts.min.x, charts.max.y + gap}, {charts.max.x, area.max.y - gap}};
    if (low)
        panels::traffic_strip(ui, below_charts, timed);
    else
        panels::traffic_panel(ui, below_charts, timed);
}

}  // namespace tilescope::app
