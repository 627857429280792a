// Blocks on SMs: dealt in any order, never moved, and without a meeting point before the grid's end.
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"

namespace tilescope::lessons {
namespace {

enum At : uint8_t { kBlocks, kSms, kSlots, kOrder };

Dealt dealt(std::span<const int> set) {
    return deal(static_cast<uint32_t>(set[kBlocks]), static_cast<uint32_t>(set[kSms]),
                static_cast<uint32_t>(set[kSlots]), static_cast<uint32_t>(set[kOrder]));
}

struct Shares {
    uint32_t most = 0, least = 0;        // blocks of an SM
    uint32_t with_most = 0, others = 0;  // SMs
    size_t waves = 0;
};
Shares shares(std::span<const int> set) {
    const Dealt made = dealt(set);
    Shares s;
    s.most = std::ranges::max(made.of_sm), s.least = std::ranges::min(made.of_sm);
    s.with_most = static_cast<uint32_t>(std::ranges::count(made.of_sm, s.most));
    s.others = static_cast<uint32_t>(made.of_sm.size()) - s.with_most;
    s.waves = made.waves.size();
    return s;
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const Shares s = shares(set);
    return {{"most_blocks", s.most},
            {"least_blocks", s.least},
            {"sms_with_most", s.with_most},
            {"sms_with_least", s.others},
            {"waves", s.waves}};
}

std::string concludes(std::span<const int> set) {
    const Shares s = shares(set);
    std::string text = s.others == 0
                           ? fmt::format("Each SM runs {}.", counted(s.most, "block"))
                           : fmt::format("{} {} {}, {} {} {}.", counted(s.with_most, "SM"),
                                         s.with_most == 1 ? "runs" : "run", counted(s.most, "block"),
                                         s.others, s.others == 1 ? "runs" : "run", s.least);
    if (s.waves > 1)
        text += fmt::format(" They take {} waves: a block that ended makes room for the next.", s.waves);
    return text +
           " A block stays on its SM, and none may wait for another: all of them have ended only when the"
           " grid has, and what needs all results is a kernel of its own.";
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session&) {
    const Dealt made = dealt(set);
    const auto sms = static_cast<size_t>(set[kSms]);
    const float small = line_height(ui, Size::Small);
    // SMs side by side, in as many rows as keep them legible.
    const size_t rows = sms > 66 ? 3 : sms > 24 ? 2 : 1, columns = (sms + rows - 1) / rows;
    const float foot = small + ui.px(14);
    const float row_height = (rect.height() - foot) / static_cast<float>(rows);
    const float pitch = std::min(rect.width() / static_cast<float>(columns), ui.px(72));
    size_t stacked = 0;  // slots that a column has to show: of all waves
    for (const auto& wave : made.waves) {
        size_t most = 0;
        for (const auto& sm : wave) most = std::max(most, sm.size());
        stacked += most;
    }
    const float gaps = ui.px(10) * static_cast<float>(made.waves.size() - 1);
    const float high =
        std::clamp((row_height - small - ui.px(12) - gaps) / static_cast<float>(std::max<size_t>(stacked, 1)),
                   ui.px(3), ui.px(30));
    for (size_t sm = 0; sm < sms; ++sm) {
        const float x = rect.min.x + pitch * static_cast<float>(sm % columns);
        const float top = rect.min.y + row_height * static_cast<float>(sm / columns);
        const Rect box{{x + ui.px(1), top}, {x + pitch - ui.px(2), top + row_height - ui.px(8)}};
        ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Raised), ui.px(3));
        const std::string name = pitch > ui.px(44) ? fmt::format("SM {}", sm) : std::to_string(sm);
        if (pitch > ui.px(20) || sm % 4 == 0)
            note(ui, {(box.min.x + box.max.x) / 2, box.min.y + ui.px(2)}, ui.px(60), name, Align::Center);
        float y = box.min.y + small + ui.px(4);
        for (size_t wave = 0; wave < made.waves.size(); ++wave) {
            size_t most = 0;
            for (const auto& of : made.waves[wave]) most = std::max(most, of.size());
            for (size_t at = 0; at < made.waves[wave][sm].size(); ++at) {
                const float y0 = y + high * static_cast<float>(at);
                const Rect block{{box.min.x + ui.px(3), y0 + ui.px(1)}, {box.max.x - ui.px(3), y0 + high}};
                const draw::Rgba color = draw::mix(ui.ink(Ink::SharedLoad), ui.ink(Ink::Panel),
                                                   0.25f * static_cast<float>(wave % 3));
                ui.list.AddRectFilled(block.min, block.max, color, ui.px(2));
                const std::string number = std::to_string(made.waves[wave][sm][at]);
                if (const auto font = ui.context.fonts.for_cells(number, block.width() - ui.px(2),
                                                                 block.height() - ui.px(1), Size::Body))
                    draw::draw_text_in(ui.list, *font, block.min, block.max,
                                       ui.context.palette.text_on(color), number);
            }
            y += high * static_cast<float>(most) + ui.px(10);
        }
    }
    ImVec2 at{rect.min.x, rect.max.y - small};
    key_of(ui, at, "a block, by its number", [&](const Rect& box) {
        ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::SharedLoad), ui.px(2));
    });
    if (made.waves.size() > 1) note(ui, at, rect.max.x - at.x, "A gap between blocks is the end of a wave.");
}

}  // namespace

Figure blocks_figure() {
    return {"blocks",
            "Blocks on SMs: any order, no meeting point",
            "The same grid runs on few SMs or on many; which block goes where is not promised.",
            {{"blocks", "Blocks of the grid", 1, 264, 60},
             {"sms", "SMs", 1, 132, 16},
             {"slots", "Blocks an SM holds", 1, 32, 8},
             {"order",
              "Order",
              0,
              9,
              0,
              1,
              {"by number", "another", "another one", "a third", "a fourth", "a fifth", "a sixth",
               "a seventh", "an eighth", "a ninth"}}},
            numbers,
            concludes,
            draw_figure};
}

}  // namespace tilescope::lessons
