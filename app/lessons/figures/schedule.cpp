// The warp schedule of one SM: all recorded blocks that ran on it, a row a warp, by the clocks that a GPU
// recorded (look/schedule.h). Nothing of it is modelled; without such a recording it says what to open.
//
//   8 warps   _____####____####____        how many are behind a global load, and at a barrier
//             block 0,0
//   warp 0    L L----S |///|mmmm L L---S
//   warp 1      L L-----S  |mmmm L L---S
//             0        1,000      2,000    clocks
#include "app/look/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "app/look/timeline.h"
#include "app/pictures/pictures.h"

namespace tilescope::lessons {
namespace {

using analysis::StepKind, look::SmSchedule, look::ScheduleView;

enum : uint8_t { kSm, kZoom, kFrom };

constexpr int kMostSms = 132;

const trace::Trace* recorded(const session::Session& session) {
    return session.recording ? &session.trace() : nullptr;
}

// The SM that the block at the cursor ran on, or so many behind it of those that have recorded blocks, from
// the first again behind the last. None where no block has clocks.
std::optional<uint32_t> sm_of(std::span<const int> set, const session::Session& session) {
    const trace::Trace* const trace = recorded(session);
    if (trace == nullptr) return std::nullopt;
    const std::vector<uint32_t> sms = look::sms_with_blocks(*trace);
    if (sms.empty()) return std::nullopt;
    const uint32_t own =
        session.cursor.block < trace->blocks.size() ? trace->blocks[session.cursor.block].sm : sms.front();
    const auto at = static_cast<size_t>(std::ranges::lower_bound(sms, own) - sms.begin());
    return sms[(at + static_cast<size_t>(set[kSm])) % sms.size()];
}

std::vector<NamedNumber> numbers(std::span<const int>) { return {}; }

std::string concludes(std::span<const int>) {
    return "This figure draws the clocks of a recording made on a GPU, and the one that is open has none. "
           "Open one that ships, such as tiled-64x64x64-t16, recorded on an NVIDIA H200.";
}

std::string share_of(uint64_t part, uint64_t whole) {
    return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string concludes_of(std::span<const int> set, const session::Session& session) {
    const auto sm = sm_of(set, session);
    if (!sm) return "";
    const trace::Trace& trace = session.trace();
    const SmSchedule schedule = look::sm_schedule(trace, *sm);
    if (schedule.blocks.empty())
        return fmt::format("The clocks of the blocks on SM {} run backwards: they cannot be drawn.", *sm);
    const look::SmTimes times = look::sm_times(trace, schedule);
    const std::string us = look::microseconds(trace.meta, static_cast<double>(schedule.clocks));
    std::string text =
        fmt::format("SM {} ran {} with {} in {}{}", *sm, counted(schedule.blocks.size(), "recorded block"),
                    counted(schedule.warps, "warp"), counted(schedule.clocks, "clock"),
                    us.empty() ? "" : fmt::format(" ({})", us));
    if (schedule.blocks.size() > 1)
        text += schedule.slots == 1 ? ", one after the other"
                                    : fmt::format(", up to {} at the same time", schedule.slots);
    text += ".";
    if (schedule.beyond > 0) text += fmt::format(" {} more are left out.", schedule.beyond);
    if (schedule.backwards > 0)
        text += fmt::format(" {} whose clocks run backwards cannot be drawn.",
                            counted(schedule.backwards, "block"));
    if (times.warps > 0)
        text += fmt::format(
            " Of the warps' time {} lies between a global load and the warp's next step, {} at a barrier.",
            share_of(times.behind_load, times.warps), share_of(times.at_barrier, times.warps));
    if (times.gap > 0)
        text += fmt::format(" In the longest gap no warp makes a step for {}.", counted(times.gap, "clock"));
    const Dim3& grid = trace.launch.grid;
    const bool all = trace.blocks.size() >= uint64_t{grid.x} * grid.y * grid.z;
    const trace::Price& price = trace.meta.price;
    text += " The clocks are those of the kernel with recording in it, ";
    text += all && price.plain_ms > 0 && price.recorded_ms > price.plain_ms
                ? fmt::format("{:.1f} times as long as without.", price.recorded_ms / price.plain_ms)
                : "which is slower than without.";
    if (!all) text += " Blocks that were not recorded may have run there, too.";
    if (!trace.meta.complete) text += " The recording is not whole: steps may be missing.";
    return text;
}

// --- the picture

struct SignKey {
    std::string means;
    Sign sign;
};

void baseline(draw::Ui& ui, const Rect& box, Ink ink, float thick) {
    const float middle = std::round((box.min.y + box.max.y) / 2);
    fill(ui,
         {{box.min.x, middle - std::floor(thick / 2)},
          {box.max.x, middle - std::floor(thick / 2) + std::max(1.f, std::round(thick))}},
         ink);
}
void behind_line(draw::Ui& ui, const Rect& box) { baseline(ui, box, Ink::GlobalLoad, ui.px(2)); }
void cut_line(draw::Ui& ui, float x, float top, float bottom) {
    for (float y = top; y < bottom; y += ui.px(8))
        ui.list.AddLine({x, y}, {x, std::min(bottom, y + ui.px(4))}, ui.ink(Ink::Text), ui.px(1.5f));
}

std::vector<SignKey> keys_of(const ScheduleView& view, bool cuts) {
    std::array<bool, analysis::kStepKinds> there{};
    bool held = false, behind = false;
    for (const auto& row : view.rows.warps)
        for (const look::TimelineMark& mark : row) there[static_cast<size_t>(mark.kind)] = true;
    for (const auto& row : view.rows.waits) held = held || !row.empty();
    for (const auto& row : view.behind) behind = behind || !row.empty();
    std::vector<SignKey> keys;
    for (const auto& row : analysis::kMemoryKindRows)
        if (there[static_cast<size_t>(row.kind)])
            keys.push_back({row.name, [kind = row.kind](draw::Ui& ui, const Rect& box) {
                                pictures::sign(ui, box, kind);
                            }});
    if (held) keys.push_back({"at a barrier", pictures::wait_bar});
    if (behind) keys.push_back({"behind a global load", behind_line});
    keys.push_back({"computes or waits: not recorded which",
                    [](draw::Ui& ui, const Rect& box) { baseline(ui, box, Ink::LineStrong, 1); }});
    if (cuts)
        keys.push_back({"time without a block, left out", [](draw::Ui& ui, const Rect& box) {
                            cut_line(ui, (box.min.x + box.max.x) / 2, box.min.y, box.max.y);
                        }});
    return keys;
}

// Lines of keys that `width` has room for: how many keys stand on each.
std::vector<size_t> key_lines(const draw::Ui& ui, const std::vector<SignKey>& keys, float width) {
    std::vector<size_t> lines;
    float x = 0;
    for (const SignKey& key : keys) {
        const float wide =
            ui.px(18) + draw::text_size(ui.font(Face::Text, Size::Small), key.means).x + ui.px(2);
        if (lines.empty() || x + wide > width) lines.push_back(0), x = 0;
        ++lines.back();
        x += wide + ui.px(18);
    }
    return lines;
}

// Where the rows of each slot stand, and how many of them there is room for.
struct SlotRows {
    std::vector<float> tops;      // of a slot's heading
    std::vector<uint32_t> warps;  // of a slot, as many as are drawn
    float pitch = 0, head = 0;
    uint32_t left_out = 0;  // warps of any block that are not drawn
};

SlotRows laid_out(const draw::Ui& ui, const SmSchedule& schedule, float top, float height) {
    SlotRows made;
    made.head = line_height(ui, Size::Small) + ui.px(2);
    std::vector<uint32_t> most(schedule.slots, 0);
    for (const SmSchedule::Resident& one : schedule.blocks)
        most[one.slot] = std::max(most[one.slot], one.warps);
    const auto rows = std::accumulate(most.begin(), most.end(), 0u);
    const float heads = made.head * static_cast<float>(schedule.slots);
    made.pitch = std::floor(
        std::clamp((height - heads) / static_cast<float>(std::max(rows, 1u)), ui.px(6), ui.px(44)));
    float y = top;
    for (const uint32_t warps : most) {
        const float room = top + height - y - made.head;
        const auto fit =
            std::min<uint32_t>(warps, room < made.pitch ? 0 : static_cast<uint32_t>(room / made.pitch));
        made.tops.push_back(y);
        made.warps.push_back(fit);
        y += fit == 0 ? 0 : made.head + made.pitch * static_cast<float>(fit);
        if (fit < warps) y = top + height;  // nothing below it
    }
    for (const SmSchedule::Resident& one : schedule.blocks)
        made.left_out += one.warps - std::min(one.warps, made.warps[one.slot]);
    return made;
}

// How many warps are there (a line), of them behind a global load (filled) and at a barrier (striped).
void draw_levels(draw::Ui& ui, const Rect& strip, const pictures::TimeScale& axis, const ScheduleView& view,
                 double most) {
    const auto high = [&](double warps) {
        return strip.height() * static_cast<float>(std::min(warps / most, 1.0));
    };
    fill(ui, {{strip.min.x, strip.max.y}, {strip.max.x, strip.max.y + 1}}, Ink::Line);
    const float stripe = std::max(3.f, std::round(ui.px(4)));
    float before = 0;
    for (uint32_t column = 0; column < view.levels.size(); ++column) {
        const ScheduleView::Level& level = view.levels[column];
        const float x0 = axis.x(column), x1 = axis.x(column + 1);
        const float load = high(level.behind_load), held = high(level.at_barrier), there = high(level.there);
        const float on = strip.max.y - load, top = on - held;
        fill(ui, {{x0, on}, {x1, strip.max.y}}, Ink::GlobalLoad);
        ui.list.AddRectFilled({x0, top}, {x1, on}, draw::with_alpha(ui.ink(Ink::Barrier), 0.45f));
        for (float x = std::ceil(x0 / stripe) * stripe; x < x1; x += stripe)
            fill(ui, {{x, top}, {x + 1, on}}, Ink::Barrier);
        const float line = std::round(strip.max.y - there);
        fill(ui, {{x0, line}, {std::max(x1, x0 + 1), line + std::max(1.f, ui.px(1))}}, Ink::Text);
        if (column > 0 && before != line)
            fill(ui, {{x0, std::min(before, line)}, {x0 + 1, std::max(before, line)}}, Ink::Text);
        before = line;
    }
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    if (asked(session)) return unknown(ui, rect);
    const float small = line_height(ui, Size::Small);
    const auto sm = sm_of(set, session);
    const SmSchedule schedule = sm ? look::sm_schedule(session.trace(), *sm) : SmSchedule{};
    if (schedule.clocks == 0) {
        ui.list.AddRect(rect.min, rect.max, ui.ink(Ink::Line), ui.px(4));
        line(ui, {(rect.min.x + rect.max.x) / 2, (rect.min.y + rect.max.y - small) / 2}, rect.width(),
             Face::Text, Size::Body, Ink::TextQuiet, "Nothing to draw: no clocks.", Align::Center);
        return;
    }
    const trace::Trace& trace = session.trace();
    const float label = ui.px(72);
    const float left = rect.min.x + label, width = std::max(rect.max.x - left, 1.f);
    const uint64_t shown = std::max<uint64_t>(schedule.clocks >> set[kZoom], 1);
    const uint64_t first =
        std::min(schedule.clocks * static_cast<uint64_t>(set[kFrom]) / 100, schedule.clocks - shown);
    const ScheduleView view =
        look::schedule_view(trace, schedule, first, first + shown, static_cast<uint32_t>(width));
    const pictures::TimeScale axis{view.rows, true, left, width,
                                   static_cast<double>(width) / view.rows.columns};
    const auto x_of = [&](uint64_t at) {
        return left + width * static_cast<float>(static_cast<double>(at - std::min(at, view.first)) /
                                                 static_cast<double>(view.end - view.first));
    };

    std::vector<SignKey> keys = keys_of(view, !schedule.cuts.empty());
    std::vector<size_t> lines = key_lines(ui, keys, rect.width());
    const auto bottom = [&] {
        return rect.max.y - (small + ui.px(2)) * static_cast<float>(lines.size()) - small - ui.px(10);
    };
    float y = rect.min.y;
    note(ui, {left, y}, width,
         {"warps there: behind a global load (filled), at a barrier (striped)",
          "warps behind a global load, at a barrier", "warps"});
    y += small + ui.px(4);
    const Rect strip{{left, y}, {rect.max.x, y + std::clamp(rect.height() * 0.18f, ui.px(24), ui.px(120))}};
    double most = 1;
    for (const ScheduleView::Level& level : view.levels) most = std::max(most, std::ceil(level.there - 1e-9));
    draw_levels(ui, strip, axis, view, most);
    note(ui, {rect.min.x, strip.min.y - small / 2 + ui.px(2)}, label,
         counted(static_cast<uint64_t>(most), "warp"));
    y = strip.max.y + ui.px(6);

    const auto no_room = [](uint32_t warps) {
        return fmt::format("No room here for {}.", counted(warps, "more warp"));
    };
    SlotRows rows = laid_out(ui, schedule, y, bottom() - y);
    if (rows.left_out > 0) {  // which is said behind the keys, and takes its room
        keys.push_back({no_room(schedule.warps), nullptr});
        lines = key_lines(ui, keys, rect.width());
        rows = laid_out(ui, schedule, y, bottom() - y);
    }
    const auto labelled = static_cast<uint32_t>(std::max(1.f, std::ceil(small / rows.pitch)));
    const float inner = std::max(2.f, rows.pitch - std::max(1.f, std::round(rows.pitch * 0.2f)));
    float end = y;
    for (uint32_t slot = 0; slot < schedule.slots; ++slot) {
        if (rows.warps[slot] == 0) continue;
        for (uint32_t warp = 0; warp < rows.warps[slot]; warp += labelled)
            note(ui,
                 {rect.min.x,
                  rows.tops[slot] + rows.head + rows.pitch * static_cast<float>(warp) + (inner - small) / 2},
                 label - ui.px(6), fmt::format("warp {}", warp));
        end = rows.tops[slot] + rows.head + rows.pitch * static_cast<float>(rows.warps[slot]);
    }
    // A block's name may reach as far as the next block in its slot.
    std::vector<float> room(schedule.blocks.size()), next_start(schedule.slots, rect.max.x);
    for (size_t at = schedule.blocks.size(); at-- > 0;) {
        room[at] = next_start[schedule.blocks[at].slot];
        next_start[schedule.blocks[at].slot] = std::clamp(x_of(schedule.blocks[at].at), left, rect.max.x);
    }
    for (size_t at = 0; at < schedule.blocks.size(); ++at) {
        const SmSchedule::Resident& one = schedule.blocks[at];
        if (one.at >= view.end || one.at + one.clocks <= view.first || rows.warps[one.slot] == 0) continue;
        const float x0 = std::max(x_of(one.at), left),
                    x1 = one.at + one.clocks >= view.end ? rect.max.x : x_of(one.at + one.clocks);
        const float top = rows.tops[one.slot], under = top + rows.head;
        const uint32_t warps = std::min(one.warps, rows.warps[one.slot]);
        const trace::Block& block = trace.blocks[one.block];
        const std::string name =
            block_name(trace.launch.grid, {block.x, block.y, block.z}, session.recording->notation);
        const draw::Font font = ui.font(Face::Strong, Size::Small);
        // Beside where playback stands, too.
        const float from = x0 + ui.px(8), wide = draw::text_size(font, name).x;
        if (from + wide + ui.px(4) <= room[at])
            line(ui, {from, top}, wide + 2, Face::Strong, Size::Small,
                 one.block == session.cursor.block ? Ink::Accent : Ink::Text, name);
        fill(ui, {{x0 - 1, top + ui.px(2)}, {x0, under + rows.pitch * static_cast<float>(warps)}},
             Ink::LineStrong);
        for (uint32_t warp = 0; warp < warps; ++warp) {
            const float row_top = under + rows.pitch * static_cast<float>(warp);
            const Rect row{{x0, row_top}, {x1, row_top + inner}};
            const size_t number = view.first_row[at] + warp;
            baseline(ui, row, Ink::LineStrong, 1);
            for (const look::TimelineMark& mark : view.behind[number])
                behind_line(ui, {{axis.x(mark.first), row.min.y}, {axis.x(mark.end), row.max.y}});
            warp_row(ui, axis, number, row);
        }
    }
    for (const SmSchedule::Cut& cut : schedule.cuts)
        if (cut.at >= view.first && cut.at < view.end) cut_line(ui, x_of(cut.at), strip.min.y, end);
    // Where playback stands.
    for (const SmSchedule::Resident& one : schedule.blocks) {
        const trace::Block& block = trace.blocks[one.block];
        if (one.block != session.cursor.block || session.cursor.step >= block.count) continue;
        const uint64_t now = one.at + trace.time[block.first + session.cursor.step] - trace.time[block.first];
        if (now >= view.first && now < view.end)
            playhead(ui, axis, strip.min.y, end, static_cast<double>(x_of(now) - left) / axis.scale);
    }
    // The clocks, with what is left out counted in.
    y = end + ui.px(4);
    note(ui, {rect.min.x, y}, label, "clocks");
    const float apart = ui.px(90);
    float free = left;
    const auto most_ticks = static_cast<uint32_t>(std::max(2.f, width / apart));
    if (view.end <= UINT32_MAX)
        for (const uint32_t tick :
             look::ticks(static_cast<uint32_t>(view.first), static_cast<uint32_t>(view.end), most_ticks)) {
            uint64_t clock = tick;
            for (const SmSchedule::Cut& cut : schedule.cuts) clock += cut.at <= tick ? cut.clocks : 0;
            const std::string text = grouped(clock);
            const float half = draw::text_size(ui.font(Face::Text, Size::Small), text).x / 2;
            const float x = std::clamp(x_of(tick), left + half, rect.max.x - half);
            fill(ui, {{x_of(tick), end}, {x_of(tick) + 1, end + ui.px(4)}}, Ink::LineStrong);
            if (x - half < free) continue;  // numbers are longer behind what is left out
            note(ui, {x, y}, half * 2 + 2, text, Align::Center);
            free = x + half + ui.px(8);
        }
    y += small + ui.px(6);
    size_t next = 0;
    for (const size_t count : lines) {
        ImVec2 at{rect.min.x, y};
        for (size_t i = 0; i < count; ++i, ++next) {
            if (keys[next].sign == nullptr) {
                note(ui, at, rect.max.x - at.x, no_room(rows.left_out));
                continue;
            }
            key_of(ui, at, keys[next].means, keys[next].sign);
            at.x -= ui.px(2);
        }
        y += small + ui.px(2);
    }
}

}  // namespace

Figure schedule_figure() {
    Figure figure{
        "schedule",
        "The warp schedule of an SM: who asks when",
        "A row is a warp, by the clocks of its SM, as a GPU recorded them: nothing here is modelled.",
        {{"sm", "SM", 0, kMostSms - 1, 0, 1, {"of the cursor's block", "the next one"}},
         {"zoom", "Time shown", 0, 6, 0, 1, {"all", "1/2", "1/4", "1/8", "1/16", "1/32", "1/64"}},
         {"from", "From", 0, 99, 0}},
        numbers,
        concludes,
        draw_figure,
        concludes_of,
        true};
    for (int sm = 2; sm < kMostSms; ++sm) figure.parameters[kSm].words.push_back(fmt::format("{} on", sm));
    for (int part = 0; part < 100; ++part)
        figure.parameters[kFrom].words.push_back(fmt::format("{} %", part));
    return figure;
}

}  // namespace tilescope::lessons
