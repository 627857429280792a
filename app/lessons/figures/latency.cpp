// Latency hiding: warps take turns, and while one waits for its load the others issue.
//
//            slots of 4 cycles ->
//   warp 0   #   #   #   L----------#---#---#--   #  an instruction     L  a load
//   warp 1     #   #   #   L----------#---#---#   -  its load is on the way
//   issued   # # # # # # # # . . . .# # # # # #   the scheduler: an instruction, or nothing
//
// With a device's numbers, Little's law (J. D. C. Little, A Proof for the Queuing Formula: L = lambda W,
// Operations Research 9(3), 1961) says how many bytes have to be on their way so that memory is never idle.
// What the chip saves: CUDA C++ Programming Guide, section 1.1 "The Benefits of Using GPUs".
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/limits/presets.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kWarps, kIssue, kLatency, kEvery, kDevice };

const FigureParameter& warps_parameter() {
    static const FigureParameter all{"warps", "Warps", 1, 32, 8, 1, {}, "warp"};
    return all;
}

IssueTrace traced(std::span<const int> set, size_t slots) {
    return issue_trace(at(set, kWarps), at(set, kIssue), at(set, kLatency), at(set, kEvery), slots);
}
uint32_t needed(std::span<const int> set) {
    return analysis::warps_that_hide(at(set, kLatency), at(set, kEvery), at(set, kIssue));
}
// Null where none is set.
const analysis::DeviceSpec* device_of(std::span<const int> set) {
    return set[kDevice] == 0 ? nullptr : &kernels::devices()[at(set, kDevice) - 1];
}
// The part of an SM's share of the bandwidth that so many warps ask for: a load of 128 bytes each time.
double bandwidth_share(std::span<const int> set, const analysis::DeviceSpec& device, uint32_t warps) {
    const double between =
        std::max<double>(at(set, kIssue) * at(set, kEvery), static_cast<double>(at(set, kLatency)) / warps);
    return kWarpSize * 4 / between / in_flight(device, at(set, kLatency)).bytes_a_cycle;
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const IssueTrace trace = traced(set, 0);
    const analysis::DeviceSpec* const device = device_of(set);
    const BytesInFlight little = device == nullptr ? BytesInFlight{} : in_flight(*device, at(set, kLatency));
    return {{"needed_warps", needed(set), "warp"},
            {"cycles_between_loads", at(set, kIssue) * at(set, kEvery), "cycle"},
            {"busy_percent", 100 - (trace.idle * 100 + trace.window / 2) / trace.window, "%"},
            {"load_bytes", kWarpSize * 4},
            {"bytes_a_cycle", static_cast<uint64_t>(std::llround(little.bytes_a_cycle * 100)), "", 2},
            {"bytes_in_flight", little.bytes},
            {"loads_in_flight", little.loads}};
}

std::string concludes(std::span<const int> set) {
    const IssueTrace trace = traced(set, 0);
    const uint32_t each = at(set, kIssue) * at(set, kEvery), warps = at(set, kWarps);
    std::string text = fmt::format(
        "Each warp has {} cycles of work between two loads: {} / {} = {:.1f}, so {} hide the latency.", each,
        at(set, kLatency), each, static_cast<double>(at(set, kLatency)) / each, counted(needed(set), "warp"));
    if (trace.idle == 0)
        text += fmt::format(" With {} every slot is used.", counted(warps, "warp"));
    else
        text +=
            fmt::format(" With {}, {} of {} slots stay empty ({:.0f} % are used).", counted(warps, "warp"),
                        trace.idle, trace.window, 100.0 * (trace.window - trace.idle) / trace.window);
    if (const analysis::DeviceSpec* const device = device_of(set)) {
        const BytesInFlight little = in_flight(*device, at(set, kLatency));
        text += fmt::format(
            " Little's law: an SM of the {} gets {:.2f} bytes a cycle, so {} \u00d7 {:.2f} = {} have to be "
            "on "
            "their way, {} of a warp.",
            device->name, little.bytes_a_cycle, at(set, kLatency), little.bytes_a_cycle,
            counted(little.bytes, "byte"), counted(little.loads, "load"));
    }
    return text;
}

// An instruction is a low bar, a load a high one.
Rect bar_in(const Rect& cell, bool load) {
    const float cut = load ? 0 : cell.height() * 0.22f;
    return {{cell.min.x, cell.min.y + cut}, {cell.max.x, cell.max.y - cut}};
}

void legend(draw::Ui& ui, ImVec2 at, bool hidden) {
    const auto bar = [&](bool load) {
        return [&ui, load](draw::Ui&, const Rect& box) {
            const Rect in = bar_in(box, load);
            fill(ui, in, load ? Ink::GlobalLoad : Ink::Product);
        };
    };
    key_of(ui, at, "an instruction", bar(false));
    key_of(ui, at, "a load", bar(true));
    key_of(ui, at, "on its way", [&](draw::Ui&, const Rect& box) {
        const float y = (box.min.y + box.max.y) / 2;
        ui.list.AddLine({box.min.x, y}, {box.max.x, y}, ui.ink(Ink::GlobalLoad), ui.px(2));
    });
    if (hidden) return;
    key_of(ui, at, "nothing can be issued",
           [&](draw::Ui&, const Rect& box) { hatch(ui, box, ui.ink(Ink::Fault), ui.px(4)); });
}

// Slots used by so many warps, and of a device's bandwidth what they ask for.
void draw_shares(draw::Ui& ui, const Rect& rect, std::span<const int> set) {
    const FigureParameter& along = warps_parameter();
    const analysis::DeviceSpec* const device = device_of(set);
    std::vector<Bars> bars{{"slots used, by the number of warps", Ink::Product, [&](int warps) {
                                return used_share(static_cast<uint32_t>(warps), at(set, kIssue),
                                                  at(set, kLatency), at(set, kEvery));
                            }}};
    if (device != nullptr)
        bars.push_back({"bandwidth of the " + device->name + " used", Ink::GlobalLoad, [&](int warps) {
                            return bandwidth_share(set, *device, static_cast<uint32_t>(warps));
                        }});
    bars_over(ui, rect, along, set[kWarps], bars);
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const bool hidden = asked(session);
    const uint32_t warps = at(set, kWarps);
    // Long enough for a warp's second load to come back, in cells that can be seen.
    const auto wanted = static_cast<size_t>(2 * (at(set, kLatency) / at(set, kIssue) + at(set, kEvery)));
    const float label = ui.px(76), small = line_height(ui, Size::Small);
    const float width = rect.width() - label;
    const size_t columns = std::clamp<size_t>(wanted, 16, static_cast<size_t>(width / ui.px(4)));
    // While it is asked about, the way of one warp alone is told.
    const IssueTrace trace =
        issue_trace(hidden ? 1 : warps, at(set, kIssue), at(set, kLatency), at(set, kEvery), columns);
    const float foot = small + ui.px(14), pitch = width / static_cast<float>(columns);
    // The shares below take what the warps leave, and a third of it all where that can be.
    const float rows = static_cast<float>(warps) + 1.6f, least = ui.px(110);
    float high = std::clamp((rect.height() * 0.62f - foot) / rows, ui.px(5), ui.px(40));
    if (rect.height() - high * rows - foot < least)
        high = std::clamp((rect.height() - foot) / rows, ui.px(5), ui.px(30));
    const auto cell = [&](size_t column, float y) {
        const float x = rect.min.x + label + pitch * static_cast<float>(column),
                    gap = pitch > ui.px(6) ? ui.px(1) : 0;
        return Rect{{x, y + ui.px(1)}, {x + pitch - gap, y + high - ui.px(1)}};
    };
    const float y = rect.min.y + high * (static_cast<float>(warps) + 0.4f), named = y + (high - small) / 2;
    line(ui, {rect.min.x, named}, label, Face::Strong, Size::Small, Ink::Text, "scheduler");
    const size_t takes = (at(set, kLatency) + at(set, kIssue) - 1) / at(set, kIssue);
    for (uint32_t warp = 0; warp < warps; ++warp) {
        const float top = rect.min.y + high * static_cast<float>(warp);
        const auto every = static_cast<uint32_t>(std::ceil(small / high));
        const float at = top + (every == 1 ? (high - small) / 2 : 0);
        if (warp % every == 0 && at + small <= named + ui.px(2))
            note(ui, {rect.min.x, at}, label, fmt::format("warp {}", warp));
        if (hidden && warp > 0) continue;
        const auto of_warp = [&](size_t column) {
            return trace.slots[column].warp == static_cast<int>(warp);
        };
        for (size_t column = 0; column < columns; ++column) {
            if (!of_warp(column) || !trace.slots[column].load) continue;
            const float to =
                std::min(cell(column, top).min.x + pitch * static_cast<float>(takes), rect.max.x);
            ui.list.AddLine({cell(column, top).max.x, top + high / 2}, {to, top + high / 2},
                            ui.ink(Ink::GlobalLoad), ui.px(1.5f));
        }
        for (size_t column = 0; column < columns; ++column) {
            if (!of_warp(column)) continue;
            const bool load = trace.slots[column].load;
            const Rect box = bar_in(cell(column, top), load);
            fill(ui, box, load ? Ink::GlobalLoad : Ink::Product);
        }
    }
    if (hidden) {
        unknown(ui, {{rect.min.x + label, y}, {rect.max.x, y + high}});
        if (warps > 1)
            unknown(ui, {{rect.min.x + label, rect.min.y + high + ui.px(1)},
                         {rect.max.x, rect.min.y + high * static_cast<float>(warps) - ui.px(1)}});
    }
    for (size_t column = 0; column < columns && !hidden; ++column) {
        const Rect box = cell(column, y);
        if (trace.slots[column].warp >= 0)
            fill(ui, box, Ink::Text);
        else
            hatch(ui, box, ui.ink(Ink::Fault), ui.px(4));
    }
    const float below = y + high * 1.2f + ui.px(6);
    legend(ui, {rect.min.x + label, below}, hidden);
    const float under = below + foot + ui.px(6);
    if (rect.max.y - under < least - foot) return;
    // What the chip saves by it, where there is a line to spare.
    const bool says = rect.max.y - under > least + small;
    const Rect shares{{rect.min.x, under}, {rect.max.x, rect.max.y - (says ? small + ui.px(6) : 0)}};
    if (hidden)
        unknown(ui, {{rect.min.x + label, under}, shares.max});
    else
        draw_shares(ui, shares, set);
    if (says)
        note(ui, {rect.min.x + label, rect.max.y - small}, width,
             "Waits that others fill need no large caches and no branch prediction: the chip's area holds "
             "arithmetic in their place.");
}

}  // namespace

Figure latency_figure() {
    Figure figure{"latency",
                  "Latency hiding: other warps issue while one waits",
                  "A column is a slot in which the scheduler may issue one instruction of any warp; changing "
                  "the warp costs nothing.",
                  {warps_parameter(),
                   {"issue", "Cycles per instruction", 1, 8, 4},
                   {"latency", "Cycles a load takes", 20, 800, 200, 20},
                   {"every", "Instructions per load", 1, 16, 4},
                   {"device", "Bandwidth of", 0, static_cast<int>(kernels::devices().size()), 0}},
                  numbers,
                  concludes,
                  draw_figure};
    std::vector<std::string>& words = figure.parameters[kDevice].words;
    words.emplace_back("no device");
    for (const analysis::DeviceSpec& device : kernels::devices()) words.push_back(device.name);
    return figure;
}

}  // namespace tilescope::lessons
