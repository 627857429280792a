// Latency hiding: warps take turns, and while one waits for its load the others issue.
//
//            slots of 4 cycles ->
//   warp 0   #   #   #   L----------#---#---#--   #  an instruction     L  a load
//   warp 1     #   #   #   L----------#---#---#   -  its load is on the way
//   issued   # # # # # # # # . . . .# # # # # #   the scheduler: an instruction, or nothing
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"

namespace tilescope::lessons {
namespace {

enum At : uint8_t { kWarps, kIssue, kLatency, kEvery };

uint32_t of(std::span<const int> set, At at) { return static_cast<uint32_t>(set[at]); }

IssueTrace traced(std::span<const int> set, size_t slots) {
    return issue_trace(of(set, kWarps), of(set, kIssue), of(set, kLatency), of(set, kEvery), slots);
}
// The lecture's sum: the warps whose instructions fill the time that one waits.
uint32_t needed(std::span<const int> set) {
    const uint32_t each = of(set, kIssue) * of(set, kEvery);
    return (of(set, kLatency) + each - 1) / each;
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const IssueTrace trace = traced(set, 0);
    return {{"needed_warps", needed(set)},
            {"cycles_between_loads", of(set, kIssue) * of(set, kEvery)},
            {"busy_percent", 100 - (trace.idle * 100 + trace.window / 2) / trace.window}};
}

std::string concludes(std::span<const int> set) {
    const IssueTrace trace = traced(set, 0);
    const uint32_t each = of(set, kIssue) * of(set, kEvery), warps = of(set, kWarps);
    const std::string sum = fmt::format(
        "Each warp has {} cycles of work between two loads: {} / {} = {:.1f}, so {} hide the latency.", each,
        of(set, kLatency), each, static_cast<double>(of(set, kLatency)) / each, counted(needed(set), "warp"));
    if (trace.idle == 0) return sum + fmt::format(" With {} every slot is used.", counted(warps, "warp"));
    return sum + fmt::format(" With {}, {} of {} slots stay empty ({:.0f} % are used).",
                             counted(warps, "warp"), trace.idle, trace.window,
                             100.0 * (trace.window - trace.idle) / trace.window);
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session&) {
    const uint32_t warps = of(set, kWarps);
    // Long enough for a warp's second load to come back, in cells that can be seen.
    const auto wanted = static_cast<size_t>(2 * (of(set, kLatency) / of(set, kIssue) + of(set, kEvery)));
    const float label = ui.px(76), small = line_height(ui, Size::Small);
    const float width = rect.width() - label;
    const size_t columns = std::clamp<size_t>(wanted, 16, static_cast<size_t>(width / ui.px(4)));
    const IssueTrace trace = traced(set, columns);
    const float foot = small * 2 + ui.px(12);
    const float pitch = width / static_cast<float>(columns);
    const float high =
        std::clamp((rect.height() - foot) / static_cast<float>(warps + 2), ui.px(5), ui.px(30));
    const auto cell = [&](size_t column, float y) {
        const float x = rect.min.x + label + pitch * static_cast<float>(column),
                    gap = pitch > ui.px(6) ? ui.px(1) : 0;
        return Rect{{x, y + ui.px(1)}, {x + pitch - gap, y + high - ui.px(1)}};
    };
    for (uint32_t warp = 0; warp < warps; ++warp) {
        const float y = rect.min.y + high * static_cast<float>(warp);
        if (high >= small || warp % 4 == 0)
            note(ui, {rect.min.x, y + std::min(0.f, (high - small) / 2)}, label,
                 fmt::format("warp {}", warp));
        const size_t takes = (of(set, kLatency) + of(set, kIssue) - 1) / of(set, kIssue);
        for (size_t column = 0; column < columns; ++column) {
            const IssueTrace::Slot& slot = trace.slots[column];
            if (slot.warp != static_cast<int>(warp) || !slot.load) continue;
            const float to = std::min(cell(column, y).min.x + pitch * static_cast<float>(takes), rect.max.x);
            ui.list.AddLine({cell(column, y).max.x, y + high / 2}, {to, y + high / 2},
                            ui.ink(Ink::GlobalLoad), ui.px(1.5f));
        }
        for (size_t column = 0; column < columns; ++column) {
            const IssueTrace::Slot& slot = trace.slots[column];
            if (slot.warp != static_cast<int>(warp)) continue;
            const Rect box = cell(column, y);
            ui.list.AddRectFilled(box.min, box.max, ui.ink(slot.load ? Ink::GlobalLoad : Ink::Product));
            if (slot.load && pitch > ui.px(9) && high > ui.px(12))
                draw::draw_text_in(ui.list, ui.font(Face::Mono, Size::CellTiny), box.min, box.max,
                                   ui.context.palette.text_on(ui.ink(Ink::GlobalLoad)), "L");
        }
    }
    const float y = rect.min.y + high * (static_cast<float>(warps) + 0.6f);
    line(ui, {rect.min.x, y + (high - small) / 2}, label, Face::Strong, Size::Small, Ink::Text, "scheduler");
    for (size_t column = 0; column < columns; ++column) {
        const Rect box = cell(column, y);
        if (trace.slots[column].warp >= 0)
            ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Text));
        else
            hatch(ui, box, ui.ink(Ink::Fault), ui.px(4));
    }
    ImVec2 at{rect.min.x + label, y + high + ui.px(8)};
    key_of(
        ui, at, "an instruction",
        [&](const Rect& box) { ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Product)); });
    key_of(
        ui, at, "L  a load",
        [&](const Rect& box) { ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::GlobalLoad)); });
    key_of(
        ui, at, "its load is on the way",
        [&](const Rect& box) {
            ui.list.AddLine({box.min.x, (box.min.y + box.max.y) / 2},
                            {box.max.x, (box.min.y + box.max.y) / 2}, ui.ink(Ink::LineStrong), ui.px(1));
        });
    key_of(ui, at, "nothing can be issued",
           [&](const Rect& box) { hatch(ui, box, ui.ink(Ink::Fault), ui.px(4)); });
}

}  // namespace

Figure latency_figure() {
    return {"latency",
            "Latency hiding: other warps issue while one waits",
            "A column is a slot in which the scheduler may issue one instruction of one warp.",
            {{"warps", "Warps", 1, 32, 8},
             {"issue", "Cycles an instruction", 1, 8, 4},
             {"latency", "Cycles a load takes", 20, 800, 200, 20},
             {"every", "Instructions from load to load", 1, 16, 4}},
            numbers,
            concludes,
            draw_figure};
}

}  // namespace tilescope::lessons
