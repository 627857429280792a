// DRAM bursts and carpooling: what a memory chip hands out at once, and who rides along.
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/base/launch.h"

namespace tilescope::lessons {
namespace {

enum At : uint8_t { kStride, kBurst, kApart, kKeeps };

Bursts of(std::span<const int> set) {
    return bursts_of(static_cast<uint32_t>(set[kStride]), static_cast<uint32_t>(set[kBurst]));
}
// Trips of two threads that want the same four elements, the second one so many steps later.
uint32_t trips(std::span<const int> set) { return set[kApart] <= set[kKeeps] ? 4 : 8; }

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const Bursts made = of(set);
    return {{"bursts", made.bursts},
            {"brought_bytes", made.brought},
            {"used_bytes", made.used},
            {"used_percent", made.used * 100 / made.brought},
            {"trips", trips(set)}};
}

std::string concludes(std::span<const int> set) {
    const Bursts made = of(set);
    std::string text = fmt::format("{} brought for {} that are used ({} %): {}.", bytes_text(made.brought),
                                   bytes_text(made.used), made.used * 100 / made.brought,
                                   set[kStride] == 1 ? "every neighbour in a burst is somebody's element"
                                                     : "what lies between is thrown away");
    text += trips(set) == 4
                ? " The two threads follow the same schedule closely enough to share each trip."
                : " The two threads are too far apart in time to share: each element travels twice.";
    return text;
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session&) {
    const Bursts made = of(set);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    line(ui, rect.min, rect.width(), Face::Strong, Size::Body, Ink::Text,
         fmt::format("32 lanes read floats {} apart: {} of {} bytes", set[kStride],
                     counted(made.bursts, "burst"), set[kBurst]));
    // Bursts as frames, wrapped; a cell a float.
    const auto floats = static_cast<size_t>(set[kBurst] / 4);
    const float top = rect.min.y + body + ui.px(8), half = rect.min.y + rect.height() * 0.56f;
    const size_t bursts = made.taken.size() / floats;
    size_t across = 1;  // bursts in a row
    float pitch = 0;
    for (size_t tried = 1; tried <= bursts; ++tried) {
        const float wide =
            (rect.width() - ui.px(8) * static_cast<float>(tried)) / static_cast<float>(tried * floats);
        const size_t rows = (bursts + tried - 1) / tried;
        const float tall = (half - top) / static_cast<float>(rows) - ui.px(6);
        if (const float fits = std::min({wide, tall, ui.px(22)}); fits > pitch) pitch = fits, across = tried;
    }
    for (size_t burst = 0; burst < bursts; ++burst) {
        const float x =
            rect.min.x + (pitch * static_cast<float>(floats) + ui.px(8)) * static_cast<float>(burst % across);
        const float y = top + (pitch + ui.px(6)) * static_cast<float>(burst / across);
        bool any = false;
        for (size_t at = 0; at < floats; ++at) any |= made.taken[burst * floats + at];
        for (size_t at = 0; at < floats; ++at) {
            const float left = x + pitch * static_cast<float>(at);
            const Rect cell{{left, y}, {left + pitch - std::min(ui.px(1), pitch / 4), y + pitch}};
            if (made.taken[burst * floats + at])
                ui.list.AddRectFilled(cell.min, cell.max, ui.ink(Ink::GlobalLoad));
            else if (any)
                pitch > ui.px(5) ? hatch(ui, cell, ui.ink(Ink::Inactive), ui.px(4))
                                 : ui.list.AddRectFilled(cell.min, cell.max, ui.ink(Ink::Inactive));
            else
                ui.list.AddRectFilled(cell.min, cell.max, ui.ink(Ink::Cell));
        }
        ui.list.AddRect({x - ui.px(1), y - ui.px(1)},
                        {x + pitch * static_cast<float>(floats) + ui.px(1), y + pitch + ui.px(1)},
                        ui.ink(any ? Ink::LineStrong : Ink::Line));
    }
    // Two threads, their wishes in time, and the trips.
    float y = half + ui.px(20);
    line(ui, {rect.min.x, y}, rect.width(), Face::Strong, Size::Body, Ink::Text,
         "Two threads want the same four elements: carpooling");
    y += body + ui.px(8);
    const float label = ui.px(92), step = std::min((rect.width() - label) / 24, ui.px(40)),
                high = std::min(ui.px(22), (rect.max.y - small - ui.px(12) - y) / 4);
    const auto wish = [&](float row, int from, Ink ink, const char* name, bool framed) {
        note(ui, {rect.min.x, row + (high - small) / 2}, label, name);
        for (int element = 0; element < 4; ++element) {
            const float x = rect.min.x + label + step * static_cast<float>(from + element * 3);
            const Rect box{{x, row}, {x + step - ui.px(2), row + high - ui.px(2)}};
            if (framed)
                ui.list.AddRect(box.min, box.max, ui.ink(ink), ui.px(2));
            else
                ui.list.AddRectFilled(box.min, box.max, ui.ink(ink), ui.px(2));
            draw::draw_text_in(ui.list, ui.font(Face::Mono, Size::Small), box.min, box.max,
                               framed ? ui.ink(Ink::Text) : ui.context.palette.text_on(ui.ink(ink)),
                               std::to_string(element));
        }
    };
    wish(y, 0, Ink::Product, "thread 0", false);
    wish(y + high, set[kApart], Ink::SharedStore, "thread 1", false);
    wish(y + high * 2, 0, Ink::GlobalLoad, "trips", true);
    if (trips(set) > 4) wish(y + high * 3, set[kApart], Ink::GlobalLoad, "more trips", true);
    ImVec2 at{rect.min.x, rect.max.y - small};
    key_of(
        ui, at, "a float that a lane asked for",
        [&](const Rect& box) { ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::GlobalLoad)); });
    key_of(ui, at, "comes along and is thrown away",
           [&](const Rect& box) { hatch(ui, box, ui.ink(Ink::Inactive), ui.px(4)); });
}

}  // namespace

Figure bursts_figure() {
    return {"bursts",
            "DRAM bursts: neighbours come along for free",
            "A frame is a burst: the chip hands out all of it or nothing.",
            {{"stride", "Floats from lane to lane", 1, 32, 1},
             {"burst", "Bytes a burst", 32, 128, 64, 32},
             {"apart", "Steps that thread 1 is behind", 0, 12, 0},
             {"keeps", "Steps that a trip can be shared", 0, 12, 2}},
            numbers,
            concludes,
            draw_figure};
}

}  // namespace tilescope::lessons
