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

#include "app/draw/widgets.h"
#include "app/timing/panels.h"
#include "kernels/textbook/devices.h"

namespace tilescope::timing {
namespace {

// What is measured on the chosen device may lack what was chosen on another.
void settle(State& chosen, const Machine& machine) {
    const std::vector<uint32_t> tiles = timed_tiles(machine);
    if (!tiles.empty() && std::find(tiles.begin(), tiles.end(), chosen.tile) == tiles.end())
        chosen.tile = tiles.back();
    const std::vector<std::string> kernels = timed_kernels(machine);
    if (!kernels.empty() && std::find(kernels.begin(), kernels.end(), chosen.kernel) == kernels.end())
        chosen.kernel = kernels.back();
}

void controls(Ui& ui, const Rect& rect, const std::vector<Machine>& all, const Machine& machine) {
    State& chosen = ui.state;
    ImVec2 at = rect.min;
    const float h = rect.height();
    std::vector<std::string> names;
    for (const Machine& one : all) names.push_back(one.name + (one.times != nullptr ? ", measured" : ""));
    const float wide = draw::chooser_width(ui, names, ui.px(280));
    draw::control_label(ui, at, h, "Device");
    if (const auto picked = draw::chooser(ui, {at, {at.x + wide, at.y + h}}, "##timed_device", names,
                                          static_cast<size_t>(&machine - all.data())))
        chosen.device = all[*picked].name;
    at.x += wide + ui.px(16);
    const std::vector<uint32_t> tiles = timed_tiles(machine);
    std::vector<std::string> words;
    size_t current = tiles.size();
    for (size_t i = 0; i < tiles.size(); ++i) {
        words.push_back(std::to_string(tiles[i]));
        if (tiles[i] == chosen.tile) current = i;
    }
    draw::control_label(ui, at, h, "T");
    if (const auto picked = draw::choices(ui, at, h, words, current, "Tile width, and the block's (+ and -)"))
        chosen.tile = tiles[*picked];
    const std::string plots[] = {"time", "GFLOP/s", "x untiled", "x swapped"};
    draw::control_label(ui, at, h, "Plot");
    if (const auto picked = draw::choices(ui, at, h, plots, static_cast<size_t>(chosen.plot)))
        chosen.plot = static_cast<State::Plot>(*picked);
    const char* keys = "\u2191 \u2193 kernel   \u2190 \u2192 width   + - tile width";
    const float takes = draw::text_size(ui.font(draw::Face::Text, draw::Size::Small), keys).x;
    if (rect.max.x - at.x > takes)
        draw::line(ui, {rect.max.x, at.y + ui.px(6)}, takes + 1, draw::Face::Text, draw::Size::Small,
                   draw::Ink::TextFaint, keys, draw::Align::Right);
}

void draw_screen(Ui& ui, const Rect& area) {
    State& chosen = ui.state;
    const auto& timings = ui.session.assets.timings();
    const auto& counters = ui.session.assets.counters();
    const auto& devices = ui.session.assets.devices();
    const std::vector<Machine> all = machines(timings, devices);
    const Machine* machine = find_machine(all, chosen.device);
    const float gap = ui.px(8);
    const Rect header{{area.min.x + gap, area.min.y + gap},
                      {area.max.x - gap, area.min.y + gap + ui.px(100)}};
    if (machine == nullptr) {
        draw::empty_panel(ui, area, "No measured times and no devices are known here.",
                          "Run \u201ctilescope time\u201d on a machine with an NVIDIA GPU to measure the "
                          "kernels, and build with assets/timings and assets/devices in their place.",
                          ui.session.message);
        return;
    }
    draw::surface(ui, header);
    const Rect in{{header.min.x + ui.px(16), header.min.y + ui.px(8)},
                  {header.max.x - ui.px(16), header.max.y - ui.px(10)}};
    settle(chosen, *machine);
    const Timed timed{*machine, counters, shown_width(*machine, counters, chosen)};
    draw::line(ui, in.min, in.width(), draw::Face::Strong, draw::Size::Title, draw::Ink::Text,
               headline(*machine, chosen, timed.width));
    const float below = in.min.y + draw::line_height(ui, draw::Size::Title);
    // The source of stated figures may be long: pointing at the line says all of it.
    const std::string from = measured_words(*machine);
    const std::vector<std::string> wordings{from, from.substr(0, from.find(", from "))};
    const float small = draw::line_height(ui, draw::Size::Small);
    draw::line(ui, {in.min.x, below}, in.width(), draw::Face::Text, draw::Size::Small, draw::Ink::TextQuiet,
               draw::fitting(ui.font(draw::Face::Text, draw::Size::Small), wordings, in.width()));
    if (ui.over({{in.min.x, below}, {in.max.x, below + small}})) ui.tip = from;
    controls(ui, {{in.min.x, in.max.y - ui.px(28)}, in.max}, all, *machine);

    // In a low window the charts keep their height, and of the table there is the chain alone.
    const bool low = area.height() < ui.px(600);
    const float bottom = low ? traffic_strip_height(ui) : traffic_height(ui);
    const Rect charts{{header.min.x, header.max.y + gap}, {header.max.x, area.max.y - gap * 2 - bottom}};
    const float middle = std::round((charts.min.x + charts.max.x) / 2);
    time_panel(ui, {charts.min, {middle - gap / 2, charts.max.y}}, timed);
    roofline_panel(ui, {{middle + gap / 2, charts.min.y}, charts.max}, timed);
    const Rect below_charts{{charts.min.x, charts.max.y + gap}, {charts.max.x, area.max.y - gap}};
    if (low)
        traffic_strip(ui, below_charts, timed);
    else
        traffic_panel(ui, below_charts, timed);
}

bool press(State& chosen, session::Session& session, const input::KeyPress& press) {
    using input::Key, input::neighbour;
    const std::vector<Machine> all = machines(session.assets.timings(), session.assets.devices());
    const Machine* machine = find_machine(all, chosen.device);
    if (machine == nullptr) return false;
    const Key key = press.key;
    const int by = key == Key::Right || key == Key::Down || key == Key::Plus ? 1 : -1;
    if (key == Key::Up || key == Key::Down)
        chosen.kernel = neighbour(timed_kernels(*machine), chosen.kernel, by);
    else if (key == Key::Left || key == Key::Right)
        chosen.width =
            neighbour(timed_widths(*machine), shown_width(*machine, session.assets.counters(), chosen), by);
    else if (key == Key::Plus || key == Key::Minus)
        chosen.tile = neighbour(timed_tiles(*machine), chosen.tile, by);
    else
        return false;
    return true;
}

}  // namespace

const input::Screen<State> kScreen{.name = "Timing",
                                   .option = "timing",
                                   .about = "Measured times, and what bandwidth allows",
                                   .draw = draw_screen,
                                   .press = press};

}  // namespace tilescope::timing
