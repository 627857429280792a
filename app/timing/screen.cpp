// The Timing screen: what was measured, beside what bandwidth alone would allow.
//
//   +----------------------------------------------------------------+
//   | what the chosen kernel took, and where that was measured       |
//   | device   T   what is plotted                                   |
//   +-------------------------------+--------------------------------+
//   | a line a kernel over width    | bounds, ladder, or a roofline  |
//   +-------------------------------+--------------------------------+
//   | bytes asked -> L2 -> DRAM     | why bound and measurement differ
//   +----------------------------------------------------------------+
//
// No times ship of a recording that is no product: what is known of it instead stands in the place of all of this
// (unmeasured_panel.cpp).
#include <algorithm>
#include <cmath>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/draw/chart.h"
#include "app/draw/widgets.h"
#include "app/look/time_words.h"
#include "app/timing/bounds_panel.h"
#include "app/timing/ladder.h"
#include "app/timing/state.h"
#include "core/base/words.h"
#include "kernels/run/record.h"
#include "kernels/textbook/known_launch.h"

namespace tilescope::timing {
namespace {

using draw::Align, draw::Chart, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size;
using Ui = input::Ui<State>;

// What the screen shows in this frame.
struct ShownTimes {
    const Machine& machine;
    RooflineChart roofline;
    TrafficChain chain;
    std::string title;              // of the header
    std::vector<std::string> from;  // what it rests on, in sentences; the last one is left out first
    uint32_t width = 0;             // of the roofline and the chain
    std::vector<std::pair<std::string, std::string>> counted{};  // of a launch that is no product
    std::optional<Unmeasured> unmeasured{};                      // of the same
};

// --- a line a kernel over the width, labelled where it ends

void time_panel(Ui& ui, const Rect& rect, const ShownTimes& shown) {
    State& chosen = ui.state;
    TimeChart chart = time_chart(shown.machine, chosen);
    const Rect in = panel(ui, rect, chart.title, chart.nothing);
    if (!chart.nothing.empty()) return;
    std::vector<std::string> names;
    for (const TimeLine& l : chart.lines) names.push_back(l.label);
    const Chart axes = chart_axes(ui, in, chart, end_labels_width(ui, names));
    if (draw::holds(chart.x, shown.width)) {  // what the roofline and the chain are about
        const float x = std::round(draw::at(axes.x, shown.width));
        ui.list.AddLine({x, axes.plot.min.y}, {x, axes.plot.max.y},
                        draw::with_alpha(ui.ink(Ink::Accent), 0.5f), std::max(1.f, ui.px(1)));
    }
    // cuBLAS first, so that its name stays where not all have room. The chosen one last, above the others.
    std::ranges::stable_partition(chart.lines, [](auto& l) { return kernels::is_library(l.kernel); });
    std::ranges::stable_partition(chart.lines, [&](auto& l) { return l.kernel != chosen.kernel; });
    std::vector<draw::EndLabel> labels;
    std::vector<ImVec2> all;
    std::vector<std::pair<const TimeLine*, const TimePoint*>> of;
    for (const TimeLine& l : chart.lines) {
        // A kernel whose point is a fault has the time of a wrong result: dashed, as a bound is.
        const bool on = l.kernel == chosen.kernel, faulty = kernels::made_wrong(l.kernel);
        const Rgba color = color_of(ui.context.palette, l.kernel);
        const draw::PointShape shape = shape_of(l.kernel);
        std::vector<ImVec2> points;
        for (const TimePoint& point : l.points) {
            points.push_back(axes.point(point.width, point.value));
            of.emplace_back(&l, &point);
        }
        all.insert(all.end(), points.begin(), points.end());
        chart_line(ui, points, color, ui.px(on ? 3 : 1.5f), faulty || l.bound);
        for (const ImVec2& point : points) marker(ui, point, shape, color, ui.px(on ? 5 : 3.5f));
        labels.push_back({points.back(), l.label, color, on, shape});
    }
    const std::vector<Rect> boxes = end_labels(ui, axes, labels);
    for (size_t i = 0; i < boxes.size(); ++i) {
        if (ui.over(boxes[i])) ui.tip = chart.lines[i].points.back().exact;
        if (ui.clicked(boxes[i])) chosen.kernel = chart.lines[i].kernel;
    }
    const auto near = pointed_at(ui, axes, all);
    if (!near) return;
    const auto& [l, point] = of[*near];
    ui.tip = point->exact;
    if (ImGui::IsMouseClicked(0)) chosen.kernel = l->kernel, chosen.width = point->width;
}

// --- the chain of traffic as a small table, and beside it in words why bound and measurement differ

float traffic_height(Ui& ui) { return line_height(ui, Size::Small) * 10 + ui.px(58); }

// How many times fewer loads, and how many times less time, as two bars on one scale. Returns their height.
float savings_bars(Ui& ui, const Rect& in, const Savings& savings) {
    const float small = line_height(ui, Size::Small), high = small + ui.px(2), label = ui.px(88),
                value = ui.px(72);
    const double longest = std::max(savings.loads, savings.time);
    const float most = in.width() - label - value;
    float y = in.min.y;
    for (const auto& [what, times, text, ink] :
         {std::tuple{"fewer loads", savings.loads, draw::figure(savings.loads), Ink::GlobalLoad},
          {"less time", savings.time, ratio_text(savings.time), Ink::Text}}) {
        const float end = in.min.x + label + std::max(1.f, most * static_cast<float>(times / longest));
        line(ui, {in.min.x, y}, label, Face::Text, Size::Small, Ink::Text, what);
        ui.list.AddRectFilled({in.min.x + label, y + ui.px(3)}, {end, y + small - ui.px(2)}, ui.ink(ink),
                              ui.px(2));
        line(ui, {end + ui.px(6), y}, value, Face::Strong, Size::Small, Ink::Text, text + " ×");
        y += high;
    }
    return y - in.min.y;
}

// reasons: there is room for them too.
void traffic_panel(Ui& ui, const Rect& rect, const TrafficChain& chain, bool reasons) {
    const Rect in = panel(ui, rect);
    const float small = line_height(ui, Size::Small), row_height = small + ui.px(4);
    const float half = reasons ? std::round(in.width() * 0.47f) : in.width();
    const float column = std::min(ui.px(92), half * 0.19f);
    const float columns[] = {in.min.x + half - column * 2, in.min.x + half - column, in.min.x + half};
    const float head = half - column * 3;
    line(ui, in.min, head, Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body), {"Where the bytes are counted", "Bytes"}, head));
    float y = in.min.y + ui.px(4);
    const auto cell = [&](size_t at, Face face, Ink ink, std::string_view text) {
        line(ui, {columns[at], y}, column, face, Size::Small, ink, text, Align::Right);
    };
    constexpr const char* kHeads[] = {"loaded", "than asked", "FLOP/B"};
    for (size_t i = 0; i < 3 && !chain.rows.empty(); ++i) cell(i, Face::Text, Ink::TextFaint, kHeads[i]);
    y = in.min.y + line_height(ui, Size::Body) + ui.px(6);
    for (size_t i = 0; i < chain.rows.size(); ++i) {
        const ChainRow& row = chain.rows[i];
        if (i > 0) {  // an arrow down the chain
            const float x = in.min.x + ui.px(5), m = y + small / 2;
            ui.list.AddLine({x, m - row_height + ui.px(5)}, {x, m - ui.px(5)}, ui.ink(Ink::LineStrong),
                            ui.px(1));
            ui.list.AddTriangleFilled({x, m - ui.px(2)}, {x - ui.px(3), m - ui.px(7)},
                                      {x + ui.px(3), m - ui.px(7)}, ui.ink(Ink::LineStrong));
        }
        ui.list.AddCircleFilled({in.min.x + ui.px(5), y + small / 2}, ui.px(3), ui.ink(Ink::TextQuiet));
        const float from = in.min.x + ui.px(16);
        line(ui, {from, y}, columns[0] - column - from, Face::Text, Size::Small, Ink::Text, row.name);
        cell(0, Face::Mono, Ink::Text, bytes_text(row.bytes));
        cell(1, Face::Text, Ink::TextQuiet, row.beside_asked);
        cell(2, Face::Mono, Ink::Text, draw::figure(row.intensity));
        if (ui.over({{in.min.x, y}, {in.min.x + half, y + small}})) ui.tip = row.about;
        y += row_height;
    }
    paragraph(ui, {in.min.x, y}, half, Face::Text, Size::Small, Ink::TextQuiet, chain.note, 2);
    const float from = in.min.x + half + ui.px(40), width = in.max.x - from;
    if (!reasons || chain.reasons.empty()) return;
    line(ui, {from, in.min.y}, width, Face::Strong, Size::Body, Ink::Text, chain.why);
    y = in.min.y + line_height(ui, Size::Body) + ui.px(6);
    if (chain.savings) y += savings_bars(ui, {{from, y}, {in.max.x, in.max.y}}, *chain.savings) + ui.px(4);
    for (const std::string& reason : chain.reasons) {
        const int room = static_cast<int>((in.max.y - y + ui.px(6)) / small);
        if (room < 1) break;
        y +=
            paragraph(ui, {from, y}, width, Face::Text, Size::Small, Ink::TextQuiet, reason, room) + ui.px(2);
    }
}

float traffic_strip_height(Ui& ui) {
    return line_height(ui, Size::Body) + line_height(ui, Size::Small) + ui.px(20);
}

void traffic_strip(Ui& ui, const Rect& rect, const TrafficChain& chain) {
    surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y + ui.px(8)}, {rect.max.x - ui.px(16), rect.max.y}};
    const float body = line_height(ui, Size::Body);
    if (chain.rows.empty()) {
        paragraph(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet, chain.note, 2);
        return;
    }
    const float part = in.width() / static_cast<float>(chain.rows.size());
    for (size_t i = 0; i < chain.rows.size(); ++i) {
        const ChainRow& row = chain.rows[i];
        const float x = std::round(in.min.x + part * static_cast<float>(i)), room = part - ui.px(40);
        const std::string share = row.beside_asked.empty() ? "" : "  " + row.beside_asked;
        line(ui, {x, in.min.y}, room, Face::Strong, Size::Body, Ink::Text, bytes_text(row.bytes) + share);
        line(ui, {x, in.min.y + body}, room, Face::Text, Size::Small, Ink::TextQuiet, row.name);
        if (ui.over({{x, rect.min.y}, {x + part, rect.max.y}})) ui.tip = row.about;
        if (i + 1 == chain.rows.size()) break;
        const float tip = x + part - ui.px(12), m = std::round((rect.min.y + rect.max.y) / 2), r = ui.px(5);
        ui.list.AddLine({tip - ui.px(18), m}, {tip - r, m}, ui.ink(Ink::LineStrong), ui.px(1.5f));
        ui.list.AddTriangleFilled({tip - r, m - r}, {tip + r * 0.6f, m}, {tip - r, m + r},
                                  ui.ink(Ink::LineStrong));
    }
}

// --- the screen

// What is measured on the chosen device may lack what was chosen on another.
void settle(State& chosen, const Machine& machine) {
    const auto take_last = [](const auto& all, auto& one) {
        if (!all.empty() && std::find(all.begin(), all.end(), one) == all.end()) one = all.back();
    };
    take_last(timed_tiles(machine), chosen.tile);
    take_last(timed_kernels(machine), chosen.kernel);
}

ShownTimes of_kernels(Ui& ui, const Machine& machine) {
    State& chosen = ui.state;
    settle(chosen, machine);
    const auto& counters = ui.session.assets.counters();
    const uint32_t width = shown_width(machine, counters, chosen);
    ShownTimes shown{machine,
                     roofline_chart(machine, counters, chosen, width),
                     traffic_chain(machine, counters, chosen.kernel, width, chosen.tile),
                     headline(machine, chosen, width),
                     {measured_words(machine)},
                     width};
    // What tiles gain is the headline where it is known; the figures that it rests on stand below it.
    if (shown.chain.savings)
        shown.from.insert(shown.from.begin(), std::exchange(shown.title, shown.chain.savings->sentence));
    if (std::string open = ui.session.recording ? open_elsewhere(*ui.session.recording, machine) : "";
        !open.empty())
        shown.from.insert(shown.from.begin(), std::move(open));
    return shown;
}

ShownTimes of_launch(Ui& ui, const std::vector<Machine>& all, const Machine& machine,
                     const analysis::RecordedWork& work) {
    const trace::Meta& meta = ui.trace().meta;
    const Launched launch{meta.kernel, work, meta.backend == trace::Backend::Gpu ? meta.price.plain_ms : 0};
    return {
        machine,
        roofline_chart(machine, launch),
        traffic_chain(machine, launch),
        fmt::format("{}: {} FLOP, {} loaded, {} stored", launch.kernel, grouped(work.flops),
                    bytes_text(work.loaded), bytes_text(work.stored)),
        {launch.own_ms > 0 ? fmt::format("Measured in this launch on {}: {}; what is drawn is a bound",
                                         meta.device, look::milliseconds(launch.own_ms))
                           : fmt::format("No measured times ship for {}: what is drawn is a bound, from {}",
                                         launch.kernel, machine.source)},
        0,
        counted_rows(machine, launch),
        unmeasured(all, machine, launch, ui.state.tile)};
}

// The highest rung of a type that was timed there.
std::string top_of(const Machine& machine, ElementType input) {
    const std::vector<std::string> timed = timed_kernels(machine);
    for (const Rung& rung : std::views::reverse(rungs(input)))
        if (std::ranges::find(timed, rung.kernel) != timed.end()) return std::string(rung.kernel);
    return std::string(kernels::library_of(input));
}

// Two machines that are one device are told apart by the compiler of the PTX.
std::string name_among(const std::vector<Machine>& all, const Machine& one) {
    const bool by_clang = other_compiler(all, one) != nullptr && one.times->compiler == "clang";
    return name_of(one) + (by_clang ? ", PTX by clang" : "");
}

void controls(Ui& ui, const Rect& rect, const std::vector<Machine>& all, const ShownTimes& shown) {
    State& chosen = ui.state;
    ImVec2 at = rect.min;
    const float h = rect.height();
    std::vector<std::string> names;
    for (const Machine& one : all)
        names.push_back(name_among(all, one) + (one.times != nullptr ? ", measured" : ""));
    const std::vector<ElementType> inputs = timed_inputs(shown.machine);
    const bool both = shown.counted.empty() && inputs.size() > 1;
    // In a narrow window the device's name gives way to what stands beside it.
    const float most =
        std::clamp(rect.width() - ui.px(both ? 650 : 522), ui.px(both ? 120 : 160), ui.px(330));
    const float wide = chooser_width(ui, names, most);
    control_label(ui, at, h, "Device");
    if (const auto picked = chooser(ui, {at, {at.x + wide, at.y + h}}, "##timed_device", names,
                                    static_cast<size_t>(&shown.machine - all.data())))
        chosen.device = all[*picked].name;
    if (!shown.counted.empty()) return;
    at.x += wide + ui.px(16);
    if (both) {
        std::vector<std::string> types;
        for (const ElementType input : inputs) types.emplace_back(words_of(input));
        const auto here = std::ranges::find(inputs, kernels::input_of(chosen.kernel)) - inputs.begin();
        if (const auto picked = choices(ui, at, h, types, static_cast<size_t>(here),
                                        "What is multiplied: fp32, or halves on tensor cores"))
            chosen.kernel = top_of(shown.machine, inputs[*picked]);
    }
    const std::vector<uint32_t> tiles = timed_tiles(shown.machine);
    std::vector<std::string> words;
    for (const uint32_t tile : tiles) words.push_back(std::to_string(tile));
    const auto current = std::find(tiles.begin(), tiles.end(), chosen.tile) - tiles.begin();
    control_label(ui, at, h, "T");
    const std::string tip = "Tile width, and the block's (+ and -). " + left_out_tiles(shown.machine);
    if (const auto picked = choices(ui, at, h, words, static_cast<size_t>(current), tip.c_str()))
        chosen.tile = tiles[*picked];
    const std::string plots[] = {"time", "GFLOP/s", "× untiled", "× swapped"};
    control_label(ui, at, h, "Plot");
    if (const auto picked = choices(ui, at, h, plots, static_cast<size_t>(chosen.plot)))
        chosen.plot = static_cast<State::Plot>(*picked);
    const char* keys = "\u2191 \u2193 kernel   \u2190 \u2192 width   + - tile width";
    const float takes = text_size(ui.font(Face::Text, Size::Small), keys).x;
    if (rect.max.x - at.x > takes && !ui.context.paper)
        line(ui, {rect.max.x, at.y + ui.px(6)}, takes + 1, Face::Text, Size::Small, Ink::TextFaint, keys,
             Align::Right);
}

bool no_product(const session::Session& session) {
    return session.recording != nullptr && !session.recording->product;
}

void draw_screen(Ui& ui, const Rect& area) {
    const State& chosen = ui.state;
    const std::vector<Machine> all = machines(ui.session.assets.timings(), ui.session.assets.devices());
    const Machine* machine = find_machine(all, chosen.device);
    if (machine == nullptr) {
        empty_panel(ui, area, "No measured times and no devices are known here.",
                    "Run \u201ctilescope time\u201d on a machine with an NVIDIA GPU to measure the "
                    "kernels, and build with assets/timings and assets/devices in their place.",
                    ui.session.message);
        return;
    }
    const bool launch = no_product(ui.session), counted = launch && chosen.work && *chosen.work;
    if (launch && !counted) {
        empty_panel(ui, area, "No measured times of this kernel ship.",
                    chosen.work ? chosen.work->error().message
                                : "Its operations are being counted: its recorded blocks run again.",
                    ui.session.message);
        return;
    }
    ShownTimes shown = counted ? of_launch(ui, all, *machine, **chosen.work) : of_kernels(ui, *machine);
    const float gap = ui.px(8);
    // The source of stated figures may be long: pointing at the line says all of it.
    const std::string from = fmt::format("{}", fmt::join(shown.from, ". ")), &first = shown.from.front();
    const auto [header, row] =
        screen_head(ui, area, shown.title, {from, first, first.substr(0, first.find(", from "))}, from);
    controls(ui, row, all, shown);
    if (counted) {
        launch_panels(ui, {{header.min.x, header.max.y + gap}, {header.max.x, area.max.y - gap}},
                      {shown.counted, *shown.unmeasured, shown.chain, shown.roofline});
        return;
    }

    // In a low window the charts keep their height, and of the table there is the chain alone. The ladder
    // goes down to the end and leaves the table half the width; a low window has room for nothing else.
    const bool low = area.height() < ui.px(600);
    const bool either = leveled_device(*machine) != nullptr;
    const bool ladder = either && chosen.beside == State::Beside::Ladder, alone = ladder && low;
    const float end = area.max.y - gap, bottom = low ? traffic_strip_height(ui) : traffic_height(ui);
    const Rect charts{{header.min.x, header.max.y + gap}, {header.max.x, end - gap - bottom}};
    const float middle = std::round((charts.min.x + charts.max.x) / 2);
    if (!alone) time_panel(ui, {charts.min, {middle - gap / 2, charts.max.y}}, shown);
    const Rect right{{alone ? charts.min.x : middle + gap / 2, charts.min.y},
                     {charts.max.x, ladder ? end : charts.max.y}};
    const BoundsShown bounds{all, *machine, shown.width};
    if (!either || chosen.beside == State::Beside::Roofline) {
        roofline_panel(ui, right, shown.roofline, either);
    } else {
        const auto panel = ladder ? ladder_panel : bounds_panel;
        const bool both = right.height() >= ui.px(ladder ? 800 : 640);  // there is room for the roofline too
        const float part =
            both ? std::round(right.min.y + right.height() * (ladder ? 0.58f : 0.46f)) : right.max.y;
        panel(ui, {right.min, {right.max.x, part}}, bounds);
        if (both) roofline_panel(ui, {{right.min.x, part + gap}, right.max}, shown.roofline, false);
    }
    if (alone) return;
    const Rect foot{{charts.min.x, charts.max.y + gap}, {ladder ? middle - gap / 2 : charts.max.x, end}};
    const Unmeasured others = machine->times == nullptr && !low && !ladder
                                  ? unmeasured(all, *machine, chosen.kernel, shown.width, chosen.tile)
                                  : Unmeasured{};
    if (low)
        traffic_strip(ui, foot, shown.chain);
    else if (!others.compared.empty())
        unmeasured_panel(ui, foot, others, shown.chain);
    else
        traffic_panel(ui, foot, shown.chain, !ladder);
}

bool press(State& chosen, session::Session& session, const input::KeyPress& press) {
    using input::along, input::Key, input::neighbour;
    const std::vector<Machine> all = machines(session.assets.timings(), session.assets.devices());
    const Machine* machine = find_machine(all, chosen.device);
    if (machine == nullptr || no_product(session)) return false;
    const uint32_t width = shown_width(*machine, session.assets.counters(), chosen);
    const int kernel = along(press, Key::Up, Key::Down), wider = along(press, Key::Left, Key::Right),
              tile = along(press, Key::Minus, Key::Plus);
    if (kernel != 0) chosen.kernel = neighbour(timed_kernels(*machine), chosen.kernel, kernel);
    if (wider != 0) chosen.width = neighbour(timed_widths(*machine), width, wider);
    if (tile != 0) chosen.tile = neighbour(timed_tiles(*machine), chosen.tile, tile);
    return kernel != 0 || wider != 0 || tile != 0;
}

// Works out what bounds the chosen kernel, or all of the ladder, where that is shown.
bool update_bounds(State& state, session::Session& session, bool wait) {
    const std::vector<Machine> all = machines(session.assets.timings(), session.assets.devices());
    const Machine* const machine = find_machine(all, state.device);
    if (machine == nullptr || leveled_device(*machine) == nullptr) return false;
    settle(state, *machine);
    const uint32_t width = shown_width(*machine, session.assets.counters(), state);
    if (state.beside == State::Beside::Ladder) {
        for (const BoundsOf& of : bounds_of_ladder(*machine, state, width))
            if (state.bounds.ask(of, *session.jobs, wait)) return true;
        return false;
    }
    const auto of = bounds_of(*machine, state.kernel, state.tile, width);
    if (!of) return false;
    if (state.bounds.ask(*of, *session.jobs, wait)) return true;
    // Latency is compared with that of another compiler's PTX.
    const Machine* const other = other_compiler(all, *machine);
    if (state.beside != State::Beside::Latency || other == nullptr) return false;
    const auto beside = bounds_of(*other, state.kernel, state.tile, width);
    return beside && state.bounds.ask(*beside, *session.jobs, wait);
}

// The times of a machine by the compiler whose PTX a recording has, where that is one of those: of the device
// on which it was recorded, else of the machine's own. The machine itself where there are none.
const Machine& machine_of(const std::vector<Machine>& all, const Machine& machine,
                          const session::Recording& recording) {
    const trace::Meta& meta = recording.trace->meta;
    const std::string compiler = kernels::compiler_of(*recording.trace, recording.product->tile);
    if (machine.times == nullptr || compiler.empty()) return machine;
    for (const std::string& device : {meta.device, machine.times->device})
        for (const Machine& one : all)
            if (one.times != nullptr && one.times->device == device && one.times->compiler == compiler)
                return one;
    return machine;
}

// The kernel, tile and width of a recording that has come are chosen, where they were timed, and with them the
// compiler of its PTX: what is said of its time elsewhere is said of the same.
void choose_open(State& state, const session::Session& session) {
    if (!session.recording || state.opened_on == session.recording->serial) return;
    state.opened_on = session.recording->serial;
    if (!session.recording->product) return;
    const std::vector<Machine> all = machines(session.assets.timings(), session.assets.devices());
    const Machine* const shown = find_machine(all, state.device);
    if (shown == nullptr) return;
    const Machine* const machine = &machine_of(all, *shown, *session.recording);
    const std::string& kernel = session.recording->trace->meta.kernel;
    const analysis::Product& product = *session.recording->product;
    const auto has = [](const auto& list, const auto& one) {
        return std::ranges::find(list, one) != list.end();
    };
    if (!has(timed_kernels(*machine), kernel)) return;
    state.kernel = kernel;
    if (machine != shown) state.device = machine->name;
    if (has(timed_tiles(*machine), product.tile)) state.tile = product.tile;
    if (product.m == product.n && product.m == product.k && has(timed_widths(*machine), product.n))
        state.width = product.n;
}

// Counts what a launch that is no product did, once a recording, while this screen is shown.
bool update(State& state, session::Session& session, bool wait) {
    if (session.screen != kScreen.option) return false;
    choose_open(state, session);
    if (!no_product(session))
        return state.beside != State::Beside::Roofline && update_bounds(state, session, wait);
    if (state.counted != session.recording->serial) {
        state.counting.stop();
        state.work.reset();
        if (session::count(session, *session.jobs, wait, session.message)) return true;
        state.counted = session.recording->serial;
        if (!session.totals) {
            state.work = Error{session.uncounted};
            return false;
        }
        state.counting =
            session.jobs->start([recording = session.recording, totals = session.totals](
                                    session::Control& control) -> Result<analysis::RecordedWork> {
                const auto flop = kernels::count_flop(*recording->trace, {&control.stop});
                if (!flop) return flop.error();
                return analysis::recorded_work(*recording, totals->summary, *flop);
            });
    }
    if (auto work = state.counting.take(wait)) state.work = std::move(*work);
    return state.counting.begun();
}

// A kernel on the ladder, at the width that says most of it.
void show_rung(State& state, session::Session& session, const std::string& kernel) {
    const std::vector<Machine> all = machines(session.assets.timings(), session.assets.devices());
    const Machine* const machine = find_machine(all, state.device);
    if (machine != nullptr && leveled_device(*machine) == nullptr) state.device.clear();
    state.kernel = kernel;
    state.width = 0;
    state.beside = State::Beside::Ladder;
    if (session.recording) state.opened_on = session.recording->serial;  // it does not choose its own again
    session.screen = kScreen.option;
}

// Devices and the rungs of the ladder, in the palette.
const input::Actions<State>& actions() {
    static const input::Actions<State> all = [] {
        input::Actions<State> each;
        each.emplace_back("bounds", "bounds, latency, ladder, roofline", "U", input::key(input::Key::U),
                          [](State& state, session::Session& session) {
                              using enum State::Beside;
                              if (session.screen == kScreen.option)
                                  state.beside =
                                      state.beside == Roofline
                                          ? Bounds
                                          : static_cast<State::Beside>(static_cast<int>(state.beside) + 1);
                              session.screen = kScreen.option;
                          });
        each.back().group = "Timing";
        each.emplace_back("slow", "why is my kernel slow: what bounds it, on the Timing screen", "",
                          input::Chord(), [](State& state, session::Session& session) {
                              state.beside = State::Beside::Bounds;
                              session.screen = kScreen.option;
                          });
        each.back().group = "Timing";
        const auto add = [&](std::string_view name, const std::string& help, auto apply) {
            each.emplace_back(fmt::format("timing:{}", name), help, "", input::Chord(), apply);
        };
        const std::vector<Machine> all_machines = machines(kernels::shipped_timings(), kernels::devices());
        for (const Machine& machine : all_machines)
            add(machine.name, "Timing of " + name_among(all_machines, machine),
                [name = machine.name](State& state, session::Session& session) {
                    state.device = name;
                    session.screen = kScreen.option;
                });
        for (const ElementType input : {ElementType::F32, ElementType::F16})
            for (const Rung& rung : rungs(input))
                add(rung.kernel,
                    fmt::format("Timing of {}, on the ladder of kernels", shown_name(rung.kernel)),
                    [kernel = std::string(rung.kernel)](State& state, session::Session& session) {
                        show_rung(state, session, kernel);
                    });
        return each;
    }();
    return all;
}

}  // namespace

const input::Screen<State> kScreen{.name = "Timing",
                                   .option = "timing",
                                   .about = "Measured times, and what bandwidth allows",
                                   .draw = draw_screen,
                                   .press = press,
                                   .actions = actions,
                                   .update = update};

}  // namespace tilescope::timing
