// The gate at a barrier: warps come when their work is done, and it opens when the last one is there.
//
//   warp 0  #######|==========       #  on its way    =  held
//   warp 3  #################|-->    the gate opens for all at once
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "app/pictures/pictures.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kTime, kUneven, kMissing };

constexpr uint32_t kWarps = 4, kFirstWork = 6;

// When each warp comes to the barrier; the one under a condition that it does not meet never does.
uint32_t arrives(std::span<const int> set, uint32_t warp) { return kFirstWork + warp * at(set, kUneven); }
bool comes(std::span<const int> set, uint32_t warp) { return set[kMissing] == 0 || warp != kWarps - 1; }

struct Now {
    uint32_t arrived = 0, on_the_way = 0, opens = 0;
    bool open = false, never = false;
};
Now now(std::span<const int> set) {
    Now n;
    const auto time = at(set, kTime);
    for (uint32_t warp = 0; warp < kWarps; ++warp) {
        n.opens = std::max(n.opens, arrives(set, warp));
        if (comes(set, warp) && arrives(set, warp) <= time) ++n.arrived;
    }
    n.never = set[kMissing] != 0;
    if (n.never) n.opens = 0;
    n.open = !n.never && time >= n.opens;
    n.on_the_way = kWarps - n.arrived;
    return n;
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const Now n = now(set);
    return {{"warps_arrived", n.arrived, "warp"},
            {"warps_on_the_way", n.on_the_way, "warp"},
            {"opens_at", n.opens},
            {"first_held_for", n.never ? 0 : n.opens - arrives(set, 0)}};
}

std::string concludes(std::span<const int> set) {
    const Now n = now(set);
    if (n.never)
        return fmt::format(
            "Warp {} never comes: the barrier stands under a condition that it does not meet, so the {} "
            "others are held for ever. CUDA calls this undefined; the recorder names the warp.",
            kWarps - 1, kWarps - 1);
    if (n.open)
        return fmt::format(
            "All {} warps have arrived, and the gate opened at {}: warp 0 was held for {}, warp {} not at "
            "all.",
            kWarps, n.opens, n.opens - arrives(set, 0), kWarps - 1);
    return fmt::format(
        "{} of {} warps have arrived and {} held; the block's other warps are on the way. The gate opens at "
        "{}.",
        n.arrived, kWarps, n.arrived == 1 ? "is" : "are", n.opens);
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const Now n = now(set);
    const bool hidden = asked(session);
    const auto time = at(set, kTime);
    const float small = line_height(ui, Size::Small), label = ui.px(84), state = ui.px(120);
    const float span = rect.width() - label - state;
    const uint32_t whole = kFirstWork + 3 * 6 + 4;
    const auto x_of = [&](uint32_t at) {
        return rect.min.x + label + span * static_cast<float>(at) / static_cast<float>(whole);
    };
    const float high = std::min((rect.height() - small * 3 - ui.px(30)) / kWarps, ui.px(88));
    for (uint32_t warp = 0; warp < kWarps; ++warp) {
        const float y = rect.min.y + high * static_cast<float>(warp), mid = y + high / 2;
        line(ui, {rect.min.x, mid - small / 2}, label, Face::Strong, Size::Small, Ink::Text,
             fmt::format("warp {}", warp));
        // While it is asked about, the first warp's way alone is told, and nobody's end.
        if (hidden)
            unknown(ui,
                    {{rect.max.x - state + ui.px(16), mid - small * 0.6f}, {rect.max.x, mid + small * 0.6f}});
        if (hidden && warp > 0) {
            unknown(ui, {{x_of(0), y + high * 0.25f}, {x_of(whole), y + high * 0.75f}});
            continue;
        }
        const uint32_t comes_at = arrives(set, warp);
        const bool there = comes(set, warp) && comes_at <= time;
        const uint32_t works = std::min(time, comes_at);
        ui.list.AddRect({x_of(0), y + high * 0.25f}, {x_of(comes_at), y + high * 0.75f},
                        ui.ink(Ink::LineStrong));
        fill(ui, {{x_of(0), y + high * 0.25f}, {x_of(works), y + high * 0.75f}}, kPlain);
        if (hidden) continue;
        const uint32_t until = n.open ? n.opens : time;
        if (there && until > comes_at)
            pictures::wait_bar(ui, {{x_of(comes_at), y + high * 0.3f}, {x_of(until), y + high * 0.7f}});
        if (n.open && time > n.opens)
            fill(ui, {{x_of(n.opens), y + high * 0.25f}, {x_of(std::min(time, whole)), y + high * 0.75f}},
                 kOther);
        const char* const says = n.open              ? "goes on"
                                 : !comes(set, warp) ? "never comes"
                                 : there             ? "held"
                                                     : "on the way";
        line(ui, {rect.max.x - state + ui.px(16), mid - small / 2}, state - ui.px(16), Face::Strong,
             Size::Small, comes(set, warp) ? Ink::Text : Ink::Fault, says);
    }
    // The gate: a bar across all rows, broken once it is open.
    const float bottom = rect.min.y + high * kWarps, gate = x_of(n.opens);
    if (!n.never && !hidden) {
        for (float y = rect.min.y; y < bottom; y += n.open ? ui.px(16) : bottom)
            fill(
                ui,
                {{gate - ui.px(2), y}, {gate + ui.px(2), std::min(bottom, y + (n.open ? ui.px(6) : bottom))}},
                Ink::Barrier);
        note(ui, {gate, bottom + small + ui.px(6)}, ui.px(160),
             n.open ? "the gate is open" : "the gate is closed", Align::Center);
    }
    // Time, by the steps that the slider has.
    for (uint32_t at = 0; at <= whole; at += 4)
        note(ui, {x_of(at), bottom + ui.px(4)}, ui.px(40), std::to_string(at), Align::Center);
    ui.list.AddLine({x_of(time), rect.min.y - ui.px(4)}, {x_of(time), bottom + ui.px(4)}, ui.ink(Ink::Accent),
                    ui.px(2));
    ImVec2 at{rect.min.x + label, bottom + small * 2 + ui.px(18)};
    key_of(ui, at, "works before the barrier", kPlain);
    if (!hidden) key_of(ui, at, "held", pictures::wait_bar);
    if (!hidden) key_of(ui, at, "behind the barrier", kOther);
    key_of(ui, at, "now", [&](draw::Ui&, const Rect& box) {
        ui.list.AddLine({(box.min.x + box.max.x) / 2, box.min.y}, {(box.min.x + box.max.x) / 2, box.max.y},
                        ui.ink(Ink::Accent), ui.px(2));
    });
}

}  // namespace

Figure gate_figure() {
    return {"gate",
            "The gate at a barrier: nobody passes before all are there",
            "A row is a warp of one block; as its time runs, one sees who has arrived.",
            {{"time", "Time", 0, 28, 10, 1, {}, {}, true},
             {"uneven", "More work from warp to warp", 0, 6, 4},
             {"missing", "The last warp", 0, 1, 0, 1, {"comes", "does not come"}}},
            numbers,
            concludes,
            draw_figure};
}

}  // namespace tilescope::lessons
