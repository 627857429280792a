// What the maps and the sentence are of, the scale of the maps, and the counters of both beside each other: so far
// and in the whole run.
//
//   Loads of an element so far, step 12 of 1,032            [so far] [whole run]
//   0 ===A=====B================================ 16
//
//                      block so far          whole run
//                      A     B         B has       A      B         B has
//   load requests     512  ( 32)  16 × fewer  16,384 (1,024)  16 × fewer      ( ): fewer, where fewer is better
//
// As large as the panel has room for. Where not even small type has it, the group goes of which the maps are not,
// then the rows that say least. Below it, where there is room, how much faster one is.
#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/compare/panels.h"
#include "app/draw/widgets.h"
#include "app/pictures/pictures.h"

namespace tilescope::compare {
namespace {

using enum Size;

// What is counted, in words, and the switch between the two. Returns the height taken.
float span_head(Ui& ui, const Rect& in, const Pane& a, const Counters& counters) {
    static const std::vector<std::string> kSpans = {"so far", "whole run"};
    const float high = ui.px(26), small = line_height(ui, Small);
    ImVec2 at{in.max.x + ui.px(16) - choices_width(ui, kSpans), in.min.y};  // with the room behind them
    const float room = at.x - in.min.x - ui.px(8);
    if (const auto picked =
            choices(ui, at, high, kSpans, ui.state.whole_run ? 1 : 0,
                    "Maps, sentence and scale: of what was done so far, or of the whole run (H)"))
        ui.state.whole_run = *picked == 1;
    const uint64_t step = (counters.of_run ? a.index.first : 0) + a.step() + 1,
                   steps = counters.of_run ? a.trace.steps() : a.index.steps;
    const std::string so_far = fmt::format("so far, step {} of {}", grouped(step), grouped(steps));
    const std::string of_run = counters.of_run ? so_far + " of the run" : so_far;
    const std::vector<std::string> words =
        ui.state.whole_run
            ? std::vector<std::string>{"Loads of an element in the whole run", "Loads, whole run"}
            : std::vector<std::string>{"Loads of an element " + of_run, "Loads " + of_run, "Loads " + so_far,
                                       so_far, "Loads so far"};
    line(ui, {in.min.x, in.min.y + (high - small) / 2}, room, Face::Strong, Small, Ink::Text,
         fitting(ui.font(Face::Strong, Small), words, room));
    return high;
}

// The ramp of cividis with its numbers, and where the two recordings lie on it. Returns the height taken.
float scale(Ui& ui, const Rect& in, const Pane& a, const Pane& b, uint32_t most) {
    const float body = line_height(ui, Body);
    const float size = ui.px(18), ramp = in.min.y + size + ui.px(6), high = ui.px(12);
    const Rect bar{{in.min.x + size / 2, ramp}, {in.max.x - size / 2, ramp + high}};
    draw::heat_ramp(ui, bar);
    const auto x_of = [&](uint32_t loads) {
        return std::round(bar.min.x +
                          bar.width() * static_cast<float>(loads) / static_cast<float>(std::max(most, 1u)));
    };
    const uint32_t at[] = {most_now(a), most_now(b)};
    const bool same = at[0] == at[1];
    for (int i = 0; i < 2; ++i) {
        const float x = x_of(at[i]);
        // Two at one place stand beside each other.
        const float shift = same ? (i == 0 ? -size : 0) : -size / 2;
        float left = std::clamp(x + shift, in.min.x, in.max.x - size * (same && i == 0 ? 2.f : 1.f));
        if (!same && std::abs(x_of(at[0]) - x_of(at[1])) < size)
            left += i == (at[0] < at[1] ? 0 : 1) ? -size / 2 : size / 2;
        badge(ui, {left, ramp - size - ui.px(4)}, size, i == 0 ? 'A' : 'B');
        ui.list.AddRectFilled({x - 1, ramp - ui.px(4)}, {x + 1, bar.max.y + ui.px(2)}, ui.ink(Ink::Text));
    }
    const float text = bar.max.y + ui.px(2);
    line(ui, {bar.min.x, text}, ui.px(60), Face::Mono, Body, Ink::TextQuiet, "0", Align::Center);
    float taken_to = bar.min.x + ui.px(12);
    for (const uint32_t loads : std::set{at[0], at[1], most}) {
        if (loads == 0) continue;
        const std::string number = short_count(loads);
        const float width = draw::text_size(ui.font(Face::Mono, Body), number).x;
        const float left = std::clamp(x_of(loads) - width / 2, taken_to, in.max.x - width);
        line(ui, {left, text}, width + 2, Face::Mono, Body, Ink::Text, number);
        taken_to = left + width + ui.px(6);
    }
    return text + body - in.min.y;
}

struct CountersTable {
    Size size = Small;
    bool whole = true;         // both groups are there, else the one of which the maps are
    bool so_far_times = true;  // how many times fewer stands in the first of both groups as well
    float name = 0, count = 0, times = 0, gap = 0;
    float width(float between) const {
        const float counts = 2 * (count + gap), group = counts + times + gap;
        return name + group + (whole ? (so_far_times ? group : counts) + between : 0);
    }
};

// "16,384", "1.05 M"; of bytes "131 kB", but "640": that they are bytes the row says. of: what a share is of.
std::string count_text(const CounterRow& row, uint64_t count, uint64_t of) {
    if (row.share) return counter_text(row, count, of);
    return row.bytes && count >= 1000 ? bytes_text(count) : short_count(count);
}

Size name_size(Size size) { return size == Title ? Body : size; }

// The rows that have room; those that say least are left out first.
std::vector<CounterRow> rows_for(std::vector<CounterRow> rows, size_t most) {
    const auto drop = [&](auto says_least) {
        for (size_t i = rows.size(); i-- > 0 && rows.size() > most;)
            if (says_least(rows[i])) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    };
    drop([](const CounterRow& row) { return row.least; });
    drop([](const CounterRow& row) { return row.bytes && row.kind != look::StepKind::GlobalLoad; });
    drop([](const CounterRow& row) { return row.whole.a == row.whole.b; });
    drop([](const CounterRow&) { return true; });
    return rows;
}

CountersTable measured(Ui& ui, const std::vector<CounterRow>& rows, Size size, bool whole,
                       bool so_far_times) {
    CountersTable table{size, whole, so_far_times};
    const float digit = draw::text_size(ui.font(Face::Mono, size), "0").x;
    table.count = digit * 7;             // count_text
    if (ui.session.lecture && !whole) {  // as wide as the counts of the whole run, so that it stays as it is
        size_t most = 0;
        for (const CounterRow& row : rows)
            most = std::max({most, count_text(row, row.whole.a, row.whole_of.a).size(),
                             count_text(row, row.whole.b, row.whole_of.b).size()});
        table.count = digit * static_cast<float>(most);
    }
    // As wide as any factor is, so that it stays as it is while the cursor moves.
    table.times = draw::text_size(ui.font(Face::Strong, name_size(size)), "88.8 × fewer").x;
    table.gap = ui.px(size == Small ? 12 : 16);
    for (const CounterRow& row : rows)
        table.name = std::max(table.name, draw::text_size(ui.font(Face::Text, name_size(size)), row.what).x);
    table.name += ui.px(20);
    return table;
}

// Around the better of two numbers.
void good_frame(Ui& ui, ImVec2 min, ImVec2 max) {
    const Rgba good = ui.ink(Ink::SharedLoad);
    ui.list.AddRectFilled(min, max, draw::with_alpha(good, 0.18f), ui.px(6));
    ui.list.AddRect(min, max, good, ui.px(6), 0, ui.px(1));
}

float heading_height(Ui& ui) { return line_height(ui, Small) + ui.px(32); }

// What the frames and the marked elements mean, at the foot of the panel. Returns its height.
float key_of_marks(Ui& ui, const Rect& in, const Counters& counters, bool wrong) {
    const bool any = std::ranges::any_of(counters.rows, [](const CounterRow& row) {
        return row.merit && (row.so_far.fewer() != 0 || row.whole.fewer() != 0);
    });
    const float small = line_height(ui, Small), high = ui.px(14);
    if (!(any || wrong) || (ui.session.lecture && !wrong) || in.height() < ui.px(240)) return 0;
    const float y = in.max.y - small, top = y + (small - high) / 2;
    float left = in.min.x;
    if (any) {
        good_frame(ui, {left, top}, {left + ui.px(24), top + high});
        left += ui.px(32);
        left += note(ui, {left, y}, in.max.x - left,
                     counters.products ? "fewer, for the same work" : "fewer, for as many bytes stored") +
                ui.px(16);
    }
    if (wrong) {
        fault_sign(ui, {{left, top}, {left + high, top + high}});
        note(ui, {left + ui.px(22), y}, in.max.x - left - ui.px(22), "wrong element");
    }
    return small + ui.px(8);
}

// Rows that must be there; the others go where there is no room.
size_t telling(const Counters& counters) {
    return static_cast<size_t>(std::ranges::count(counters.rows, false, &CounterRow::least));
}

// How much faster one is, and why, above the key: where all rows still have room. Returns its height.
float speed(Ui& ui, const Rect& in, const Pane& a, const Pane& b, const Counters& counters) {
    const auto& assets = ui.session.assets;
    const std::string text = speed_text(a.run(), b.run(), assets.timings(), assets.counters());
    if (text.empty()) return 0;
    const float small = line_height(ui, Small);
    const auto lines = wrapped(ui.font(Face::Text, Small), text, in.width()).size();
    const float high = small * static_cast<float>(lines) + ui.px(8);
    const float row = line_height(ui, ui.session.lecture ? Title : Small);
    const float rows = heading_height(ui) + row * static_cast<float>(telling(counters));
    if (in.height() - high < rows) return 0;
    paragraph(ui, {in.min.x, in.max.y - high + ui.px(8)}, in.width(), Face::Text, Small, Ink::Text, text,
              static_cast<int>(lines));
    return high;
}

float between_groups(Ui& ui) { return ui.px(16); }

// The largest that fits with both groups; where not even small type has room for them, the one alone of which the
// headline speaks. For the back row large numbers are then worth more than all rows.
CountersTable fitting(Ui& ui, const Rect& in, const Counters& counters) {
    struct Way {
        Size size;
        bool whole, so_far_times = true;
    };
    static constexpr Way kNear[] = {{Title, true},        {Body, true},  {Small, true},
                                    {Small, true, false}, {Body, false}, {Small, false}};
    static constexpr Way kFar[] = {{Title, true},  {Body, true},  {Small, true},
                                   {Title, false}, {Body, false}, {Small, false}};
    constexpr size_t kFewest = 4;  // rows of the lecture
    const float room = in.height() - heading_height(ui);
    CountersTable table;
    for (const auto& [size, whole, so_far_times] :
         ui.session.lecture ? std::span<const Way>(kFar) : std::span<const Way>(kNear)) {
        const bool few = ui.session.lecture && !whole;
        const size_t wanted = few ? std::min(kFewest, counters.rows.size()) : telling(counters);
        const auto most = static_cast<size_t>(std::max(room, 0.f) / line_height(ui, size));
        table = measured(ui, few ? rows_for(counters.rows, most) : counters.rows, size, whole, so_far_times);
        if (table.width(between_groups(ui)) <= in.width() && wanted <= most) break;
    }
    return table;
}

void number(Ui& ui, float right, float y, const CountersTable& table, const std::string& text, bool better,
            Ink ink) {
    const draw::Font font = ui.font(Face::Mono, table.size);
    const float width = draw::text_size(font, text).x, pad = table.gap / 2 - ui.px(1);
    if (better)
        good_frame(ui, {right - width - pad, y + 1}, {right + pad, y + line_height(ui, table.size) - 1});
    draw::draw_text(ui.list, font, {right, y}, ui.ink(ink), text, Align::Right);
}

// Neither has any: dim, so that the rows in which something is stand out.
bool nothing(const Count& count) { return count.a == 0 && count.b == 0; }

// Where the columns of a group end.
struct RowEnds {
    float left = 0, a = 0, b = 0, times = 0;
};

void headings(Ui& ui, const RowEnds& ends, float y, const char* title) {
    const float small = line_height(ui, Small), size = ui.px(18);
    line(ui, {ends.left, y}, ends.times - ends.left, Face::Strong, Small, Ink::Text, title);
    ui.list.AddRectFilled({ends.left, y + small + ui.px(1)}, {ends.times, y + small + ui.px(2)},
                          ui.ink(Ink::LineStrong));
    const float top = y + small + ui.px(6);
    badge(ui, {ends.a - size, top}, size, 'A');
    badge(ui, {ends.b - size, top}, size, 'B');
    if (ends.times > ends.b) note(ui, {ends.times, top}, ends.times - ends.b, "B has", Align::Right);
}

void group(Ui& ui, const CountersTable& table, const RowEnds& ends, float y, const CounterRow& row,
           bool whole) {
    const Count &count = whole ? row.whole : row.so_far, &of = whole ? row.whole_of : row.so_far_of;
    const Ink ink = nothing(count) ? Ink::TextFaint : Ink::Text;
    number(ui, ends.a, y, table, count_text(row, count.a, of.a), row.merit && count.fewer() < 0, ink);
    number(ui, ends.b, y, table, count_text(row, count.b, of.b), row.merit && count.fewer() > 0, ink);
    if (ends.times <= ends.b || row.share) return;
    const bool same = count.a == count.b;
    const float shift = (line_height(ui, table.size) - line_height(ui, name_size(table.size))) / 2;
    line(ui, {ends.times, y + shift}, table.times + table.gap, same ? Face::Text : Face::Strong,
         name_size(table.size), same ? Ink::TextQuiet : Ink::Text,
         times_fewer(static_cast<double>(count.a), static_cast<double>(count.b)), Align::Right);
}

// What a row is, where its name does not say all.
const char* about(const CounterRow& row) {
    if (row.what == kEfficiency)
        return ", bytes that lanes ask for of those that sectors move; above 100 % lanes share bytes";
    if (row.what == kIdle || row.what == kIdleShare)
        return ", lanes of a request's warp that touch nothing, of 32 each";
    return "";
}

void counters_table(Ui& ui, const Rect& in, const Counters& counters) {
    if (counters.rows.empty()) {
        line(ui, in.min, in.width(), Face::Text, Body, Ink::TextQuiet, "Neither recording has a request.");
        return;
    }
    const CountersTable table = fitting(ui, in, counters);
    const float high = line_height(ui, table.size);
    const float room = std::max(0.f, in.height() - heading_height(ui));
    const std::vector<CounterRow> rows = rows_for(counters.rows, static_cast<size_t>(room / high));
    const float each = room / static_cast<float>(std::max<size_t>(rows.size(), 1));
    const float pitch = std::clamp(std::floor(each), high, std::round(high * 1.75f));
    // Columns stand at the right; what room is left goes between them.
    const int groups = table.whole ? 2 : 1;
    const float left = in.width() - table.width(between_groups(ui));
    const float spare = std::clamp(left / static_cast<float>(3 * groups), 0.f, ui.px(24));
    RowEnds ends[2];
    float right = in.max.x;
    for (int i = groups; i-- > 0;) {
        ends[i].times = right;
        const bool times = i + 1 == groups || table.so_far_times;
        ends[i].b = times ? std::round(right - table.times - table.gap - spare) : right;
        ends[i].a = std::round(ends[i].b - table.count - table.gap - spare);
        ends[i].left = std::round(ends[i].a - table.count - table.gap / 2);
        right = std::round(ends[i].left - table.gap / 2 - spare - between_groups(ui));
    }
    const char* const so_far = counters.of_run ? "run so far" : "block so far";
    const bool whole_alone = !table.whole && ui.state.whole_run;
    headings(ui, ends[0], in.min.y, whole_alone ? "whole run" : so_far);
    if (table.whole) headings(ui, ends[1], in.min.y, "whole run");
    float y = in.min.y + heading_height(ui);
    const float mark = ui.px(10), shift = (high - line_height(ui, name_size(table.size))) / 2;
    for (const CounterRow& row : rows) {
        if (row.what != kIdle && row.what != kIdleShare)  // of requests of all kinds
            pictures::sign(ui, {{in.min.x, y + (high - mark) / 2}, {in.min.x + mark, y + (high + mark) / 2}},
                           row.kind);
        line(ui, {in.min.x + mark + ui.px(8), y + shift}, ends[0].left - in.min.x - mark - ui.px(8),
             Face::Text, name_size(table.size),
             !table.whole && nothing(whole_alone ? row.whole : row.so_far) ? Ink::TextFaint
             : row.least                                                   ? Ink::TextQuiet
                                                                           : Ink::Text,
             row.what);
        group(ui, table, ends[0], y, row, whole_alone);
        if (table.whole) group(ui, table, ends[1], y, row, true);
        if (ui.over({{in.min.x, y}, {in.max.x, y + pitch}}))
            ui.tip = fmt::format("{}{}: {} in A, {} in B; of the whole run {} and {}", row.what, about(row),
                                 counter_text(row, row.so_far.a, row.so_far_of.a),
                                 counter_text(row, row.so_far.b, row.so_far_of.b),
                                 counter_text(row, row.whole.a, row.whole_of.a),
                                 counter_text(row, row.whole.b, row.whole_of.b));
        y += pitch;
    }
}

}  // namespace

void counters_panel(Ui& ui, const Rect& rect, const Pane& a, const Pane& b, const Counters& counters,
                    uint32_t most, bool wrong) {
    surface(ui, rect);
    Rect in = rect.inset(ui.px(12));
    in.min.y += span_head(ui, in, a, counters) + ui.px(2);
    if (most > 0) in.min.y += scale(ui, in, a, b, most) + ui.px(12);
    in.max.y -= key_of_marks(ui, in, counters, wrong);
    in.max.y -= speed(ui, in, a, b, counters);
    counters_table(ui, in, counters);
}

}  // namespace tilescope::compare
