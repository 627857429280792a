// DRAM bursts and carpooling: what a memory chip hands out at once, how long that takes, and who rides along.
//
//   opening a row      a column of it     the burst     the next one of that row: its burst alone
//   |#################|#################|######|######|
//
// Bytes a burst: GDDR5 (JEDEC JESD212) has 32 data pins and bursts of 8, HBM2 (JESD235A) pseudo channels of
// 64 and bursts of 4: 32 bytes both. A module of DDR4 (JESD79-4) has 64 and bursts of 8: 64 bytes. 128 are a
// line of a GPU's caches. Nanoseconds: JESD79-4, section "Speed Bins", DDR4-1600K: tRCD 13.75, CL 11 clocks
// of 1.25 = 13.75, and 8 beats at 1,600 million a second = 5.
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/base/launch.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kStride, kBurst, kApart, kKeeps };

constexpr uint32_t kBurstBytes[] = {32, 64, 128};
constexpr double kRowNs = 13.75, kColumnNs = 13.75, kBurstNs = 5;

uint32_t burst_bytes(std::span<const int> set) { return kBurstBytes[static_cast<size_t>(set[kBurst])]; }
Bursts of(std::span<const int> set) { return bursts_of(at(set, kStride), burst_bytes(set)); }
// Trips of two threads that want the same four elements, the second one so many steps later.
uint32_t trips(std::span<const int> set) { return set[kApart] <= set[kKeeps] ? 4 : 8; }

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const Bursts made = of(set);
    return {{"burst", burst_bytes(set)},
            {"bursts", made.bursts, "burst"},
            {"brought_bytes", made.brought, "byte"},
            {"used_bytes", made.used, "byte"},
            {"used_percent", made.used * 100 / made.brought, "%"},
            {"trips", trips(set), "trip"}};
}

std::string concludes(std::span<const int> set) {
    const Bursts made = of(set);
    std::string text = fmt::format("{} brought for {} that are used ({} %): {}.", bytes_text(made.brought),
                                   bytes_text(made.used), made.used * 100 / made.brought,
                                   set[kStride] == 1 ? "every neighbour in a burst is somebody's element"
                                                     : "what lies between is thrown away");
    text += trips(set) == 4 ? " The two threads follow the same schedule closely enough to share each trip."
                            : " The two threads are too far apart in time to share: 8 trips in place of 4.";
    return text;
}

// Bursts as frames, wrapped; a cell a float. framed: false leaves out where a burst begins and what comes
// along. Returns where they end.
float draw_bursts(draw::Ui& ui, const Rect& rect, const Bursts& made, size_t floats, bool framed) {
    const float between = framed ? ui.px(8) : 0;
    const size_t bursts = made.taken.size() / floats;
    size_t across = 1;  // bursts in a row
    float pitch = 0;
    for (size_t tried = 1; tried <= bursts; ++tried) {
        const float wide =
            (rect.width() - between * static_cast<float>(tried)) / static_cast<float>(tried * floats);
        const size_t rows = (bursts + tried - 1) / tried;
        const float tall = rect.height() / static_cast<float>(rows) - ui.px(6);
        if (const float fits = std::min({wide, tall, ui.px(rect.height() >= ui.px(280) ? 72 : 44)});
            fits > pitch)
            pitch = fits, across = tried;
    }
    const float wide = pitch * static_cast<float>(floats);
    for (size_t burst = 0; burst < bursts; ++burst) {
        const float x = rect.min.x + (wide + between) * static_cast<float>(burst % across),
                    y = rect.min.y + (pitch + ui.px(6)) * static_cast<float>(burst / across);
        bool any = false;
        for (size_t at = 0; at < floats; ++at) any |= framed && made.taken[burst * floats + at];
        for (size_t at = 0; at < floats; ++at) {
            const float left = x + pitch * static_cast<float>(at);
            const Rect cell{{left, y}, {left + pitch - std::min(ui.px(1), pitch / 4), y + pitch}};
            if (made.taken[burst * floats + at])
                fill(ui, cell, Ink::GlobalLoad);
            else if (any && pitch > ui.px(5))
                hatch(ui, cell, ui.ink(Ink::LineStrong), ui.px(5));
            else
                fill(ui, cell, any ? Ink::Inactive : Ink::Cell);
        }
        if (framed)
            ui.list.AddRect({x - ui.px(1), y - ui.px(1)}, {x + wide + ui.px(1), y + pitch + ui.px(1)},
                            ui.ink(any ? Ink::LineStrong : Ink::Line));
    }
    return rect.min.y + (pitch + ui.px(6)) * static_cast<float>((bursts + across - 1) / across);
}

// What the first burst of a row waits for, and the next one of that row does not.
void draw_times(draw::Ui& ui, const Rect& rect) {
    const float small = line_height(ui, Size::Small), high = rect.max.y - rect.min.y - small - ui.px(2);
    constexpr double kAll = kRowNs + kColumnNs + 2 * kBurstNs;
    struct BurstPart {
        const char* name;
        double ns;
        Ink ink;
    };
    constexpr BurstPart kParts[] = {{"the row opens", kRowNs, Ink::Barrier},
                                    {"a column of it", kColumnNs, Ink::SharedStore},
                                    {"burst", kBurstNs, Ink::GlobalLoad},
                                    {"next", kBurstNs, Ink::GlobalLoad}};
    float x = rect.min.x;
    for (const BurstPart& part : kParts) {
        const float wide = rect.width() * static_cast<float>(part.ns / kAll);
        const Rect box{{x, rect.min.y}, {x + wide - ui.px(2), rect.min.y + high}};
        fill(ui, box, part.ink, 2);
        text_in(ui, box, ui.font(Face::Strong, Size::Small), ui.ink(part.ink), part.name);
        note(ui, {(box.min.x + box.max.x) / 2, box.max.y + ui.px(2)}, wide + ui.px(20),
             fmt::format("{:.4g} ns", part.ns), Align::Center);
        x += wide;
    }
}

// Two threads, their wishes in time, and the trips.
void draw_carpool(draw::Ui& ui, const Rect& rect, std::span<const int> set, bool hidden) {
    constexpr float kSteps = 24;
    const float small = line_height(ui, Size::Small), label = ui.px(92),
                step = std::min((rect.width() - label) / kSteps, ui.px(48)),
                high = std::min(std::max(ui.px(34), step), rect.height() / 4);
    const auto wish = [&](int row, int from, Ink ink, const char* name, bool framed) {
        const float y = rect.min.y + high * static_cast<float>(row);
        note(ui, {rect.min.x, y + (high - small) / 2}, label, name);
        for (int element = 0; element < 4; ++element) {
            const float x = rect.min.x + label + step * static_cast<float>(from + element * 3);
            const Rect box{{x, y + ui.px(1)}, {x + step - ui.px(2), y + high - ui.px(1)}};
            if (framed)
                ui.list.AddRect(box.min, box.max, ui.ink(ink), ui.px(2), 0, ui.px(2));
            else
                fill(ui, box, ink, 2);
            draw::draw_text_in(ui.list, ui.font(Face::Mono, Size::Small), box.min, box.max,
                               framed ? ui.ink(Ink::Text) : ui.context.palette.text_on(ui.ink(ink)),
                               std::to_string(element));
        }
    };
    wish(0, 0, kPlain, "thread 0", false);
    wish(1, set[kApart], Ink::SharedStore, "thread 1", false);
    if (hidden) {
        const float y = rect.min.y + high * 2;
        note(ui, {rect.min.x, y + (high - small) / 2}, label, "trips");
        unknown(ui, {{rect.min.x + label, y + ui.px(1)}, {rect.max.x, y + high - ui.px(1)}});
        return;
    }
    wish(2, 0, Ink::GlobalLoad, "trips", true);
    if (trips(set) > 4) wish(3, set[kApart], Ink::GlobalLoad, "more trips", true);
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const bool hidden = asked(session);
    const Bursts made = of(set);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body), gap = ui.px(6);
    // A heading, and below it who shares a trip; beside that the time of a burst, where both have room.
    const float heads = 2 * (body + gap) + small + ui.px(12) + gap;
    const bool large = rect.height() >= ui.px(600);
    const float carpool = std::clamp((rect.height() - heads) * 0.48f, small * 4, ui.px(large ? 216 : 136));
    const float top = rect.min.y + body + gap, lowest = rect.max.y - carpool - body - 2 * gap;
    line(ui, rect.min, rect.width(), Face::Strong, Size::Body, Ink::Text,
         fmt::format("32 lanes read floats {} apart: {} of {} bytes", set[kStride],
                     hidden ? "? bursts" : counted(made.bursts, "burst"), burst_bytes(set)));
    const float legend = lowest - small - gap;
    const Rect floats{{rect.min.x, top}, {rect.max.x, legend}};
    const float end = hidden ? draw_bursts(ui, floats, bursts_of(at(set, kStride), 128), kWarpSize, false)
                             : draw_bursts(ui, floats, made, burst_bytes(set) / 4, true);
    ImVec2 at{rect.min.x, std::min(end + ui.px(6), legend)};
    key_of(ui, at, "a float that a lane asked for", Ink::GlobalLoad);
    if (!hidden) key_of(ui, at, "comes along and is thrown away", lost);
    const float under = std::min(lowest, at.y + small + ui.px(32));
    const float split = rect.min.x + rect.width() * 0.57f;
    line(ui, {rect.min.x, under + gap}, split - rect.min.x - ui.px(16), Face::Strong, Size::Body, Ink::Text,
         "Two threads want the same four elements");
    draw_carpool(ui, {{rect.min.x, under + body + 2 * gap}, {split - ui.px(24), rect.max.y}}, set, hidden);
    line(ui, {split, under + gap}, rect.max.x - split, Face::Strong, Size::Body, Ink::Text,
         "Time of a burst: DDR4-1600");
    const float times = under + body + 2 * gap,
                tall = std::min(ui.px(large ? 54 : 34) + small, rect.max.y - times - small);
    draw_times(ui, {{split, times}, {rect.max.x, times + tall}});
    note(ui, {split, times + tall + ui.px(4)}, rect.max.x - split,
         std::vector<std::string>{"JEDEC JESD79-4, speed bin 1600K. A processor's cycle: less than a ns.",
                                  "JEDEC JESD79-4, speed bin 1600K."});
}

}  // namespace

Figure bursts_figure() {
    Figure figure{"bursts",
                  "DRAM bursts: neighbours come along for free",
                  "A frame is a burst: the chip hands out all of it or nothing.",
                  {{"stride", "Floats from lane to lane", 1, 32, 1},
                   {"burst", "Bytes per burst", 0, 2, 1},
                   {"apart", "Steps that thread 1 is behind", 0, 12, 0},
                   {"keeps", "Steps that a trip can be shared", 0, 12, 2}},
                  numbers,
                  concludes,
                  draw_figure};
    for (const uint32_t bytes : kBurstBytes) figure.parameters[kBurst].words.push_back(std::to_string(bytes));
    return figure;
}

}  // namespace tilescope::lessons
