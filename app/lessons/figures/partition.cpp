// An SM's thread slots, handed out in fixed parts or as the blocks need them, and what each way wastes.
//
//   fixed     |####....|####....|####....|####....|   a part for each block slot
//   dynamic   |####|####|####|####|               |   the rest stays together, for more or larger blocks
//
// Since the first CUDA device slots are handed out dynamically: CUDA C Programming Guide 4.2, section 4.2
// "Hardware Multithreading".
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kThreads, kThreadSlots, kBlockSlots };

Partition of(std::span<const int> set) {
    return partition(at(set, kThreads), at(set, kThreadSlots), at(set, kBlockSlots));
}

struct Slots {
    uint32_t fixed = 0, dynamic = 0;  // thread slots in use
};
Slots used(std::span<const int> set) {
    const Partition made = of(set);
    const auto threads = at(set, kThreads);
    return {made.fixed_blocks * threads, made.blocks * threads};
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const Partition made = of(set);
    const Slots slots = used(set);
    const auto all = static_cast<uint64_t>(set[kThreadSlots]);
    return {{"part_slots", made.part},
            {"fixed_blocks", made.fixed_blocks},
            {"dynamic_blocks", made.blocks},
            {"fixed_threads", slots.fixed},
            {"dynamic_threads", slots.dynamic},
            {"fixed_lost", all - slots.fixed},
            {"dynamic_lost", all - slots.dynamic}};
}

std::string concludes(std::span<const int> set) {
    const Partition made = of(set);
    const Slots slots = used(set);
    const auto threads = at(set, kThreads), all = at(set, kThreadSlots), most = at(set, kBlockSlots);
    std::string text =
        made.fixed_blocks == 0
            ? fmt::format("Fixed: a block of {} threads does not fit a part of {}, and none runs.",
                          grouped(threads), grouped(made.part))
            : fmt::format("Fixed: {} run, and each leaves {} of its part empty.",
                          counted(made.fixed_blocks, "block"), counted(made.part - threads, "slot"));
    if (made.blocks == 0)
        return text + fmt::format(" Dynamic: none runs either, with {} slots in all.", grouped(all));
    text += fmt::format(" Dynamic: {} {}, {} of {} slots are used", counted(made.blocks, "block"),
                        made.blocks == 1 ? "runs" : "run", grouped(slots.dynamic), grouped(all));
    if (slots.dynamic == all) return text + ".";
    return text + (made.blocks == most ? ": no block slot is left for more."
                                       : ": what is left is too little for one more block.");
}

// A row of slots from left to right: blocks at `pitch` threads, each of so many.
void row(draw::Ui& ui, const Rect& bar, std::span<const int> set, uint32_t blocks, uint32_t pitch) {
    const auto all = static_cast<float>(set[kThreadSlots]);
    const auto threads = at(set, kThreads);
    const auto x = [&](uint32_t slot) {
        return bar.min.x + bar.width() * std::min(1.f, static_cast<float>(slot) / all);
    };
    const auto most = at(set, kBlockSlots);
    for (uint32_t at = 0; at < blocks; ++at) {
        const Rect box{{x(at * pitch) + ui.px(1), bar.min.y},
                       {x(at * pitch + threads) - ui.px(1), bar.max.y}};
        fill(ui, box, kPlain, 3);
        for (const std::string& name : {fmt::format("block {}", at), std::to_string(at)})
            if (const auto font = ui.context.fonts.for_cells(name, box.width() - ui.px(4),
                                                             box.height() - ui.px(2), Size::Body)) {
                text_in(ui, box, font, ui.ink(kPlain), name);
                break;
            }
        if (pitch > threads) lost(ui, {{box.max.x + ui.px(1), bar.min.y}, {x((at + 1) * pitch), bar.max.y}});
    }
    if (blocks * pitch < at(set, kThreadSlots) && blocks > 0)
        lost(ui, {{x(blocks * pitch) + ui.px(1), bar.min.y}, bar.max});
    if (blocks > 0) return;
    if (pitch < threads)  // fixed parts that are too small, all of them
        for (uint32_t at = 0; at < most; ++at)
            lost(ui, {{x(at * pitch) + ui.px(1), bar.min.y}, {x((at + 1) * pitch) - ui.px(1), bar.max.y}});
    else
        lost(ui, bar);
}

const FigureParameter& threads_parameter() {
    static const FigureParameter all{"threads", "Threads of a block", 32, 1024, 128, 32, {}, "thread"};
    return all;
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const bool hidden = asked(session);
    const Partition made = of(set);
    const Slots slots = used(set);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    const float foot = small + ui.px(12), gap = ui.px(10);
    // Both rows, and below them the same over all sizes of a block where there is room.
    const float room = rect.height() - foot - 2 * (body + ui.px(2) + gap);
    const bool charted = room >= ui.px(190);
    const float high = std::clamp(room / (charted ? 4.4f : 2.f), ui.px(20), ui.px(72));
    float y = rect.min.y;
    const auto bar = [&](const char* name, const std::string& what, uint32_t in_use, uint32_t blocks,
                         uint32_t pitch) {
        const float wide =
            line(ui, {rect.min.x, y}, rect.width() / 2, Face::Strong, Size::Body, Ink::Text, name);
        const std::string count = fmt::format("{} of {}", hidden ? "?" : grouped(in_use),
                                              counted(static_cast<uint64_t>(set[kThreadSlots]), "slot"));
        const float number = line(ui, {rect.max.x, y}, rect.width() / 3, Face::Strong, Size::Body, Ink::Text,
                                  count, Align::Right);
        note(ui, {rect.min.x + wide + ui.px(12), y + body - small}, rect.width() - wide - number - ui.px(24),
             what);
        y += body + ui.px(2);
        const Rect slots_of{{rect.min.x, y}, {rect.max.x, y + high}};
        if (hidden)
            unknown(ui, slots_of);
        else
            row(ui, slots_of, set, blocks, pitch);
        y += high + gap;
    };
    bar("fixed parts", fmt::format("each block gets {}, whatever it needs", counted(made.part, "slot")),
        slots.fixed, made.fixed_blocks, made.part);
    bar("dynamic", "each block gets what it needs", slots.dynamic, made.blocks, at(set, kThreads));
    ImVec2 at{rect.min.x, y};
    key_of(ui, at, "threads of a block", kPlain, 2);
    key_of(ui, at, "slots that nobody uses", lost);
    if (!charted) return;
    y += foot + ui.px(8);
    if (hidden) return unknown(ui, {{rect.min.x, y}, rect.max});
    const FigureParameter& along = threads_parameter();
    const auto share = [&](uint32_t Slots::*of) {
        return [set, of](int threads) {
            const int one[] = {threads, set[kThreadSlots], set[kBlockSlots]};
            return static_cast<double>(used(one).*of) / set[kThreadSlots];
        };
    };
    const Bars both[] = {{"slots used in fixed parts", Ink::SharedStore, share(&Slots::fixed)},
                         {"dynamically", kPlain, share(&Slots::dynamic)}};
    bars_over(ui, {{rect.min.x, y}, rect.max}, along, set[kThreads], both);
}

}  // namespace

Figure partition_figure() {
    return {"partition",
            "An SM's slots: fixed parts or as blocks need them",
            "A row is all thread slots of one SM; a fixed part belongs to a block slot.",
            {threads_parameter(),
             {"thread_slots", "Thread slots of the SM", 512, 2048, 1536, 256},
             {"block_slots", "Block slots of the SM", 1, 32, 8}},
            numbers,
            concludes,
            draw_figure};
}

}  // namespace tilescope::lessons
