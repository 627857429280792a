// Blocks on SMs: dealt in any order, never moved, and without a meeting point before the grid's end. Of a
// recording from a GPU the SM that each recorded block ran on, as the block itself read it there (%smid).
//
// The model plays: blocks are dealt one after the other, to each SM in turn, until all slots are taken; a block that
// has ended makes room for the next. All take the same time.
//
//     SM 0  |####|#   |    |       ended, running, a slot that waits      12 of 60 blocks have ended, 32 run,
//     SM 1  |####|    |    |                                              16 wait
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "app/look/grid_at_work.h"
#include "core/trace/trace.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kBlocks, kSms, kSlots, kOrder, kTime, kShows };
constexpr int kPlayed = 240;       // of the time: as many pictures as it is played in
constexpr double kDealing = 0.35;  // until all slots are taken, in times of a block

Dealt dealt(std::span<const int> set) {
    return deal(at(set, kBlocks), at(set, kSms), at(set, kSlots), at(set, kOrder));
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
    return {{"most_blocks", s.most, "block"},
            {"least_blocks", s.least, "block"},
            {"sms_with_most", s.with_most, "SM"},
            {"sms_with_least", s.others, "SM"},
            {"waves", s.waves, "wave"}};
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

// The recording whose blocks are shown: one from a GPU, where the figure is set to it.
const trace::Trace* recorded(std::span<const int> set, const session::Session& session) {
    if (set[kShows] == 0 || !session.recording) return nullptr;
    const trace::Trace& trace = session.trace();
    return trace.meta.backend == trace::Backend::Gpu && !trace.blocks.empty() ? &trace : nullptr;
}
// SMs of the device that it ran on; as many as are named where that device is not known.
uint32_t sms_of(const trace::Trace& trace) {
    uint32_t named = 0;
    for (const trace::Block& block : trace.blocks) named = std::max(named, block.sm + 1);
    const analysis::DeviceSpec* const device = kernels::find_driver_name(trace.meta.device);
    return std::max(named, device == nullptr ? 0 : device->sms);
}
uint64_t number_of(const trace::Trace& trace, const trace::Block& block) {
    return look::number_of(trace.launch.grid, block);
}
// Only so many blocks of a large grid are shown, so that each can be seen.
constexpr size_t kMostShown = 264;

Dealt placed(const trace::Trace& trace) {
    const uint32_t sms = sms_of(trace);
    Dealt made;
    made.waves.emplace_back(sms);
    made.of_sm.assign(sms, 0);
    for (size_t at = 0; at < std::min(trace.blocks.size(), kMostShown); ++at) {
        const trace::Block& block = trace.blocks[at];
        made.waves[0][block.sm].push_back(static_cast<uint32_t>(number_of(trace, block)));
        ++made.of_sm[block.sm];
    }
    return made;
}

std::string concludes_of(std::span<const int> set, const session::Session& session) {
    const trace::Trace* const trace = recorded(set, session);
    if (trace == nullptr) return "";
    std::vector<uint32_t> of_sm(sms_of(*trace), 0);
    for (const trace::Block& block : trace->blocks) ++of_sm[block.sm];
    const auto used = of_sm.size() - static_cast<size_t>(std::ranges::count(of_sm, 0u));
    std::string text = fmt::format("{} of {} ran on {} of the {} SMs of the {}",
                                   counted(trace->blocks.size(), "recorded block"), trace->meta.kernel, used,
                                   of_sm.size(), trace->meta.device);
    text += fmt::format(", at most {} on each:", std::ranges::max(of_sm));
    for (size_t at = 0; at < std::min<size_t>(trace->blocks.size(), 3); ++at)
        text += fmt::format("{} block {} on SM {}", at == 0 ? "" : ",", number_of(*trace, trace->blocks[at]),
                            trace->blocks[at].sm);
    return text + ". Another run may deal them otherwise.";
}

// The model at a moment.
struct Moment {
    double now = 0;  // in times of a block, from the first one's begin
    size_t sms = 1, slots = 1;

    // How much of a block is done: below 0 before it is dealt, from 1 on once it has ended.
    double done(size_t wave, size_t sm, size_t place) const {
        const double turn = static_cast<double>(place * sms + sm) / static_cast<double>(sms * slots);
        return now - static_cast<double>(wave) - kDealing * turn;
    }
};
// none: not while it is played.
std::optional<Moment> moment_of(std::span<const int> set, const Dealt& made) {
    if (set[kTime] >= kPlayed) return std::nullopt;
    const double all = static_cast<double>(made.waves.size()) + kDealing;
    return Moment{all * set[kTime] / kPlayed, made.of_sm.size(), static_cast<size_t>(set[kSlots])};
}

// "12 of 60 blocks have ended, 32 run, 16 wait to be dealt."; and shorter.
std::vector<std::string> moment_words(const Moment& moment, const Dealt& made) {
    uint32_t ended = 0, run = 0, all = 0;
    for (size_t wave = 0; wave < made.waves.size(); ++wave)
        for (size_t sm = 0; sm < made.waves[wave].size(); ++sm)
            for (size_t place = 0; place < made.waves[wave][sm].size(); ++place) {
                const double done = moment.done(wave, sm, place);
                ++all;
                ended += done >= 1 ? 1 : 0;
                run += done >= 0 && done < 1 ? 1 : 0;
            }
    const uint32_t wait = all - ended - run;
    return {fmt::format("{} of {} {} ended, {} {}, {} {} to be dealt.", ended, counted(all, "block"),
                        ended == 1 ? "has" : "have", run, run == 1 ? "runs" : "run", wait,
                        wait == 1 ? "waits" : "wait"),
            fmt::format("{} ended, {} running, {} to come", ended, run, wait)};
}

// Blocks in a column of an SM side by side, and the slots that a wave has there.
struct SmLayout {
    size_t rows = 1, columns = 1;  // of SMs
    float pitch = 0, high = 0;     // of an SM, and of a block
    size_t beside = 1;             // blocks side by side
    bool all_slots = false;        // the empty ones too
    std::string longest;           // of the blocks' numbers
};

size_t lines(size_t blocks, size_t beside) { return (blocks + beside - 1) / beside; }
size_t most_of(const std::vector<std::vector<uint32_t>>& wave) {
    size_t most = 0;
    for (const auto& sm : wave) most = std::max(most, sm.size());
    return most;
}

SmLayout laid_out(const draw::Ui& ui, const Rect& rect, const Dealt& dealt, size_t slots) {
    const size_t sms = dealt.of_sm.size();
    SmLayout made;
    made.rows = sms > 66 ? 3 : sms > 24 ? 2 : 1;
    made.columns = lines(sms, made.rows);
    made.pitch = rect.width() / static_cast<float>(made.columns);
    made.beside =
        std::clamp<size_t>(static_cast<size_t>(made.pitch / ui.px(64)), 1, std::max<size_t>(slots, 1));
    uint32_t last = 0;
    for (const auto& wave : dealt.waves)
        for (const auto& sm : wave)
            for (const uint32_t block : sm) last = std::max(last, block);
    made.longest = std::to_string(last);
    size_t used = 0;  // lines of blocks of a column, over all waves
    for (const auto& wave : dealt.waves) used += lines(most_of(wave), made.beside);
    const float gaps = ui.px(10) * static_cast<float>(dealt.waves.size() - 1);
    const float room =
        rect.height() / static_cast<float>(made.rows) - line_height(ui, Size::Small) - ui.px(20) - gaps;
    const size_t whole = dealt.waves.size() * lines(slots, made.beside);
    made.all_slots = slots > 0 && room / static_cast<float>(whole) >= ui.px(16);
    made.high = std::clamp(room / static_cast<float>(std::max<size_t>(made.all_slots ? whole : used, 1)),
                           ui.px(3), ui.px(76));
    return made;
}

// One SM with its blocks, wave below wave; at a moment those alone that were dealt, as full as they are done.
void draw_sm(draw::Ui& ui, const Rect& box, const SmLayout& layout, const Dealt& dealt, size_t sm,
             size_t slots, const std::optional<Moment>& moment) {
    const float wide = (box.width() - ui.px(4)) / static_cast<float>(layout.beside);
    float y = box.min.y + line_height(ui, Size::Small) + ui.px(4);
    for (size_t wave = 0; wave < dealt.waves.size(); ++wave) {
        const auto& blocks = dealt.waves[wave][sm];
        const size_t places = layout.all_slots ? slots : most_of(dealt.waves[wave]);
        for (size_t at = 0; at < places; ++at) {
            const float left = box.min.x + ui.px(2) + wide * static_cast<float>(at % layout.beside),
                        top = y + layout.high * static_cast<float>(at / layout.beside);
            const Rect block{{left + ui.px(1), top + ui.px(1)}, {left + wide - ui.px(1), top + layout.high}};
            const double done = moment && at < blocks.size() ? moment->done(wave, sm, at) : 1;
            if (at >= blocks.size() || done < 0) {
                if (layout.all_slots)
                    ui.list.AddRect(block.min, block.max, ui.ink(Ink::LineStrong), ui.px(2));
                continue;
            }
            const draw::Rgba color =
                draw::mix(ui.ink(kPlain), ui.ink(Ink::Panel), 0.25f * static_cast<float>(wave % 3));
            if (done < 1) {
                ui.list.AddRectFilled(block.min, block.max, ui.ink(Ink::Panel), ui.px(2));
                ui.list.AddRectFilled(block.min,
                                      {block.min.x + block.width() * static_cast<float>(done), block.max.y},
                                      ui.ink(Ink::Accent), ui.px(2));
                ui.list.AddRect(block.min, block.max, ui.ink(Ink::Accent), ui.px(2), 0, ui.px(1));
                continue;
            }
            ui.list.AddRectFilled(block.min, block.max, color, ui.px(2));
            // Numbers where the longest of them has room.
            text_in(ui, block,
                    ui.context.fonts.for_cells(layout.longest, block.width() - ui.px(2),
                                               block.height() - ui.px(1), Size::Body),
                    color, std::to_string(blocks[at]));
        }
        y += layout.high * static_cast<float>(lines(places, layout.beside)) + ui.px(10);
    }
}

// The grid's blocks while they wait to be dealt, from the bottom of `rect` up. Returns where they begin.
float draw_waiting(draw::Ui& ui, const Rect& rect, uint32_t blocks) {
    const float small = line_height(ui, Size::Small);
    const size_t rows = blocks > 132 ? 3 : blocks > 40 ? 2 : 1, across = lines(blocks, rows);
    const float pitch = std::min(rect.width() / static_cast<float>(across), ui.px(44));
    const float high = std::min(pitch, ui.px(26)), gap = ui.px(2);
    const float top = rect.max.y - (high + gap) * static_cast<float>(rows);
    const std::string longest = std::to_string(blocks - 1);
    for (uint32_t at = 0; at < blocks; ++at) {
        const float x = rect.min.x + pitch * static_cast<float>(at % across),
                    y = top + (high + gap) * static_cast<float>(at / across);
        const Rect box{{x, y}, {x + pitch - gap, y + high}};
        fill(ui, box, kPlain, 2);
        text_in(ui, box, ui.context.fonts.for_cells(longest, box.width(), box.height(), Size::Small),
                ui.ink(kPlain), std::to_string(at));
    }
    const float head = top - small - ui.px(6);
    line(ui, {rect.min.x, head}, rect.width(), Face::Strong, Size::Small, Ink::Text,
         fmt::format("the grid: {}, not dealt yet", counted(blocks, "block")));
    return head - ui.px(10);
}

// SMs whose blocks are not told: an empty wave on each.
Dealt untold(uint32_t sms) {
    Dealt made;
    made.waves.emplace_back(sms);
    made.of_sm.assign(sms, 0);
    return made;
}

void draw_figure(draw::Ui& ui, const Rect& area, std::span<const int> set, const session::Session& session) {
    const bool hidden = asked(session);
    const trace::Trace* const trace = hidden ? nullptr : recorded(set, session);
    const Dealt made = hidden ? untold(at(set, kSms)) : trace != nullptr ? placed(*trace) : dealt(set);
    Rect rect = area;
    if (hidden) rect.max.y = draw_waiting(ui, area, at(set, kBlocks));
    const std::optional<Moment> moment = hidden || trace != nullptr ? std::nullopt : moment_of(set, made);
    const size_t slots = trace != nullptr ? 0 : static_cast<size_t>(set[kSlots]), sms = made.of_sm.size();
    const float small = line_height(ui, Size::Small);
    const Rect room{rect.min, {rect.max.x, rect.max.y - small - ui.px(8)}};
    const SmLayout layout = laid_out(ui, room, made, slots);
    float used = small + ui.px(10);  // height of an SM
    for (const auto& wave : made.waves)
        used +=
            layout.high * static_cast<float>(lines(layout.all_slots ? slots : most_of(wave), layout.beside));
    if (hidden && !layout.all_slots) used += ui.px(24);
    used += ui.px(10) * static_cast<float>(made.waves.size() - 1);
    const float row_height = std::min(room.height() / static_cast<float>(layout.rows), used + ui.px(10));
    for (size_t sm = 0; sm < sms; ++sm) {
        const float x = rect.min.x + layout.pitch * static_cast<float>(sm % layout.columns),
                    top = rect.min.y + row_height * static_cast<float>(sm / layout.columns);
        const Rect box{{x + ui.px(1), top}, {x + layout.pitch - ui.px(2), top + row_height - ui.px(8)}};
        fill(ui, box, Ink::Raised, 3);
        const std::string name = layout.pitch > ui.px(52) ? fmt::format("SM {}", sm) : std::to_string(sm);
        // Each name where it has room, every second or fourth else.
        const size_t every = layout.pitch > ui.px(26) ? 1 : layout.pitch > ui.px(13) ? 2 : 4;
        if (sm % layout.columns % every == 0)
            note(ui, {(box.min.x + box.max.x) / 2, box.min.y + ui.px(2)}, ui.px(60), name, Align::Center);
        draw_sm(ui, box, layout, made, sm, slots, moment);
        const float under = box.min.y + small + ui.px(4);
        if (hidden)
            unknown(ui,
                    {{box.min.x + ui.px(3), under},
                     {box.max.x - ui.px(3), layout.all_slots ? under + layout.high : box.max.y - ui.px(3)}});
    }
    ImVec2 at{rect.min.x, rect.min.y + row_height * static_cast<float>(layout.rows)};
    if (!hidden) key_of(ui, at, moment ? "ended" : "a block, by its number", kPlain, 2);
    if (layout.all_slots)
        key_of(ui, at, "a slot without one", [&](draw::Ui&, const Rect& box) {
            fill(ui, box, Ink::Raised, 2);
            ui.list.AddRect(box.min, box.max, ui.ink(Ink::LineStrong), ui.px(2));
        });
    const float left = rect.max.x - at.x;
    if (hidden) return;
    if (moment) {
        key_of(ui, at, "running", [&](draw::Ui&, const Rect& box) {
            ui.list.AddRectFilled(box.min, {(box.min.x + box.max.x) / 2, box.max.y}, ui.ink(Ink::Accent),
                                  ui.px(2));
            ui.list.AddRect(box.min, box.max, ui.ink(Ink::Accent), ui.px(2));
        });
        line(ui, at, rect.max.x - at.x, Face::Strong, Size::Small, Ink::Text,
             fitting(ui.font(Face::Strong, Size::Small), moment_words(*moment, made), rect.max.x - at.x));
        return;
    }
    if (set[kShows] != 0 && trace == nullptr)
        note(ui, at, left, "No recording from a GPU is open: this is the model.");
    else if (trace != nullptr && trace->blocks.size() > kMostShown)
        note(ui, at, left, fmt::format("The first {} of them are drawn.", kMostShown));
    else if (made.waves.size() > 1)
        note(ui, at, left, "A gap between blocks is the end of a wave.");
}

}  // namespace

Figure blocks_figure() {
    return {"blocks",
            "Blocks on SMs: any order, no meeting point",
            "The same grid runs on few SMs or on many; which block goes where is not promised.",
            {{"blocks", "Blocks of the grid", 1, 264, 60, 1, {}, "block"},
             {"sms", "SMs", 1, 132, 16},
             {"slots", "Blocks an SM holds", 1, 32, 8},
             {"order",
              "Order",
              0,
              9,
              0,
              1,
              {"by number", "another", "another one", "a third", "a fourth", "a fifth", "a sixth",
               "a seventh", "an eighth", "a ninth"}},
             {"time", "", 0, kPlayed, kPlayed, 1, {}, {}, true},
             {"shows", "Shows", 0, 1, 0, 1, {"the model", "the recording"}}},
            numbers,
            concludes,
            draw_figure,
            concludes_of,
            false,
            // A recording has its own grid, device and order.
            [](size_t parameter, std::span<const int> set, const session::Session& session) {
                return parameter != kShows && recorded(set, session) != nullptr;
            }};
}

}  // namespace tilescope::lessons
