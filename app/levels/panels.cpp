// The Levels screen's table of sums, and its request.
#include "app/levels/panels.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/look/request.h"
#include "app/pictures/pictures.h"
#include "app/session/playing.h"
#include "core/base/words.h"

namespace tilescope::levels {
namespace {

// A bar split by where sectors were found, nearest first.
void split_bar(Ui& ui, const Rect& box, const analysis::LevelShare& share) {
    const auto all = static_cast<double>(std::max<uint64_t>(share.asked(), 1));
    uint64_t before = 0;
    for (size_t in = 0; in < kFoundIn; ++in) {
        if (share.sectors[in] == 0) continue;
        const auto edge = [&](uint64_t at) {
            return std::round(box.min.x + box.width() * static_cast<float>(static_cast<double>(at) / all));
        };
        const float from = edge(before), to = edge(before += share.sectors[in]);
        // What is there is seen, however little.
        ui.list.AddRectFilled({from, box.min.y}, {std::max(to, from + 1), box.max.y},
                              color_of(ui, static_cast<FoundIn>(in)));
    }
    ui.list.AddRect(box.min, box.max, ui.ink(Ink::LineStrong));
}

// Why a step's own sectors are not shown.
const char* asks_nothing(analysis::StepKind kind) {
    if (kind == analysis::StepKind::GlobalStore) return "A store passes L1 by; L2 takes it.";
    if (space_of(kind) == Space::Local || space_of(kind) == Space::Const)
        return "Local and constant memory are not replayed.";
    return "It asks for nothing in global memory, so no cache is asked.";
}

}  // namespace

Rgba color_of(const Ui& ui, FoundIn in) {
    constexpr float kHeat[kFoundIn] = {0.12f, 0.45f, 0.72f, 1.0f};
    return ui.context.palette.hot(kHeat[static_cast<size_t>(in)]);
}

float found_key(Ui& ui, ImVec2 at, float width) {
    const float small = line_height(ui, Size::Small), box = ui.px(12), from = at.x;
    for (size_t in = 0; in < kFoundIn; ++in) {
        const Rect square{{at.x, at.y + (small - box) / 2}, {at.x + box, at.y + (small + box) / 2}};
        ui.list.AddRectFilled(square.min, square.max, color_of(ui, static_cast<FoundIn>(in)));
        ui.list.AddRect(square.min, square.max, ui.ink(Ink::LineStrong));
        at.x += box + ui.px(5);
        at.x += note(ui, at, std::max(from + width - at.x, 0.f), kFoundNames[in]) + ui.px(12);
    }
    return at.x - from;
}

void shares_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    State& state = ui.state;
    const Rect in = rect.inset(ui.px(12));
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body), high = ui.px(26);
    ImVec2 at{in.min.x, in.min.y};
    if (ui.context.paper) {
        line(ui, at, in.width(), Face::Strong, Size::Body, Ink::Text,
             fmt::format("Sectors by {}", kByNames[static_cast<size_t>(state.by)]));
    } else {
        const float label = line(ui, {at.x, at.y + (high - body) / 2}, in.width(), Face::Strong, Size::Body,
                                 Ink::Text, "Sectors by");
        at.x += label + ui.px(10);
        const std::vector<std::string> names(std::begin(kByNames), std::end(kByNames));
        if (const auto chosen =
                choices(ui, at, high, names, static_cast<size_t>(state.by), "Site, array or phase (Y)"))
            state.by = static_cast<By>(*chosen);
    }
    const playback::Cursor& cursor = ui.session.cursor;
    const trace::Trace& trace = ui.trace();
    const uint64_t step = trace.blocks[cursor.block].first + cursor.step;
    const uint32_t phase = ui.index() != nullptr ? ui.index()->phase_at(cursor.step) : UINT32_MAX - 1;
    std::vector<ShareRow> rows = rows_of(trace, ui.notation(), *state.walked, state.by, step, phase);
    const ShareRow all{"all loads", state.walked->shares.all, false};
    float y = in.min.y + high + ui.px(8);
    const float bottom = in.max.y - small - ui.px(4);  // the key
    const float count = ui.px(88), rate = ui.px(62);
    float name = ui.px(60);
    for (const ShareRow& row : rows)
        name = std::max(name, draw::text_size(ui.font(Face::Text, Size::Small), row.name).x + ui.px(12));
    name = std::min(std::max(name, ui.px(72)), in.width() * 0.34f);
    const float right = in.max.x;
    note(ui, {right, y}, rate, "in L1", Align::Right);
    note(ui, {right - rate, y}, count, "sectors", Align::Right);
    y += small + ui.px(2);
    const float row_high = std::floor(
        std::clamp((bottom - y) / static_cast<float>(rows.size() + 1), small + ui.px(4), small + ui.px(22)));
    const auto draw_row = [&](const ShareRow& row) {
        if (row.now)
            ui.list.AddRectFilled({in.min.x - ui.px(6), y}, {in.max.x + ui.px(6), y + row_high - 1},
                                  ui.ink(Ink::Raised), ui.px(3));
        const float text = y + (row_high - small) / 2;
        line(ui, {in.min.x, text}, name - ui.px(6), row.now ? Face::Strong : Face::Text, Size::Small,
             Ink::Text, row.name);
        const Rect bar{{in.min.x + name, y + ui.px(4)},
                       {right - rate - count - ui.px(8), y + row_high - ui.px(4)}};
        if (bar.width() > ui.px(20)) split_bar(ui, bar, row.share);
        line(ui, {right - rate, text}, count, Face::Mono, Size::Small, Ink::Text,
             short_count(row.share.asked()), Align::Right);
        line(ui, {right, text}, rate, Face::Mono, Size::Small, Ink::Text, share_text(row.share.hit_rate()),
             Align::Right);
        if (ui.over({{in.min.x, y}, {in.max.x, y + row_high}}))
            ui.tip = fmt::format(
                "{}: {} of {} bytes ask for {} sectors: {} found in L1, {} under way for an SM nearby, {} in "
                "L2, {} from "
                "DRAM",
                row.name, counted(row.share.requests, "request"), grouped(row.share.bytes),
                grouped(row.share.asked()), grouped(row.share.sectors[0]), grouped(row.share.sectors[1]),
                grouped(row.share.sectors[2]), grouped(row.share.sectors[3]));
        y += row_high;
    };
    // All rows where they fit, else those around the step's own.
    const auto room = static_cast<size_t>(std::max(0.f, std::floor((bottom - y) / row_high)));
    const size_t shown = room > 1 ? std::min(rows.size(), room - 1) : 0;
    const auto now = std::ranges::find_if(rows, [](const ShareRow& row) { return row.now; });
    if (now != rows.end())
        state.first_row = static_cast<size_t>(now - rows.begin()) -
                          std::min<size_t>(static_cast<size_t>(now - rows.begin()), shown / 2);
    state.first_row = std::min(state.first_row, rows.size() - shown);
    for (size_t i = 0; i < shown; ++i) draw_row(rows[state.first_row + i]);
    if (room > 0) {
        ui.list.AddLine({in.min.x, y}, {in.max.x, y}, ui.ink(Ink::Line));
        draw_row(all);
    }
    const float key = found_key(ui, {in.min.x, in.max.y - small}, in.width());
    if (shown < rows.size())
        note(ui, {in.max.x, in.max.y - small}, in.width() - key,
             fmt::format("{} of {} rows", shown, rows.size()), Align::Right);
}

void where_strip(Ui& ui, const Rect& rect) {
    if (ui.index() == nullptr || ui.index()->steps == 0 || rect.width() < ui.px(120)) return;
    const trace::Block& block = ui.trace().blocks[ui.session.cursor.block];
    const std::string step = fmt::format("step {} of {}", grouped(ui.step() + 1), grouped(ui.index()->steps)),
                      of = block_name(ui.trace().launch.grid, {block.x, block.y, block.z}, ui.notation());
    const draw::Font font = ui.font(Face::Mono, Size::Small);
    const std::string words = fitting(font, {step + "  " + of, step, ""}, rect.width() * 0.45f);
    const float small = line_height(ui, Size::Small), wide = draw::text_size(font, words).x;
    line(ui, {rect.max.x, rect.min.y + (rect.height() - small) / 2}, wide + 1, Face::Mono, Size::Small,
         Ink::TextQuiet, words, Align::Right);
    const Rect plot{rect.min, {rect.max.x - wide - ui.px(12), rect.max.y}};
    const auto pressed =
        pictures::block_strip(ui, plot, ui.state.strip, ui.trace(), ui.session.block, ui.step());
    if (!pressed) return;
    if (*pressed != ui.step()) session::go_to(ui.session, *pressed);
    ui.context.another_frame = true;
}

void request_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    const State& state = ui.state;
    const bool empty = ui.index() != nullptr && ui.index()->steps == 0;
    if (ui.index() == nullptr || !state.view || ui.step() >= ui.index()->steps) {
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
             empty ? "This block recorded no step." : "Looking at this block\u2026");
        return;
    }
    const StepView& view = *state.view;
    const look::RequestView request = look::request_view(ui.trace(), *ui.index(), ui.step());
    pictures::request_title(ui, in.min, in.width(), request);
    float y = in.min.y + body + ui.px(4);
    // A load's sectors stay while its block does what no cache is asked for.
    const float alpha = view.loads ? 1 : 0.55f;
    if (!view.loads) {
        y += paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet,
                       asks_nothing(request.kind), 2);
        if (!view.request) return;
        y += ui.px(6);
        const look::RequestView before = look::request_view(ui.trace(), *ui.index(), *view.request);
        y += paragraph(ui, {in.min.x, y}, in.width(), Face::Strong, Size::Small, Ink::Text,
                       fmt::format("The last load, step {}: {}.", grouped(*view.request + 1), before.title),
                       2);
    }
    y += paragraph(ui, {in.min.x, y}, in.width(), Face::Text, view.loads ? Size::Body : Size::Small,
                   Ink::Text, view.sentence, 2);
    if (is_atomic(request.kind)) {
        note(ui, {in.min.x, y}, in.width(), "L2 carries atomics out; this replay takes them for loads.");
        y += small;
    }
    y += ui.px(8);
    // A line of memory a row: four boxes, and its elements.
    const float room = in.max.y - y;
    const size_t count = view.lines.size();
    size_t columns = 1;
    float pitch = std::min(ui.px(30), room / static_cast<float>(count));
    while (columns < 4 && pitch < small + ui.px(2)) {
        ++columns;
        pitch = std::min(ui.px(30), room / static_cast<float>((count + columns - 1) / columns));
    }
    const size_t rows = (count + columns - 1) / columns;
    const float wide =
        (in.width() - ui.px(12) * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    float box = std::min(ui.px(56), wide * (columns == 1 ? 0.13f : 0.15f)),
          gap = pitch > ui.px(14) ? ui.px(4) : 1;
    float longest = 0;
    for (const FoundLine& row : view.lines)
        longest = std::max(longest, draw::text_size(ui.font(Face::Mono, Size::Small), row.name).x);
    const bool named = pitch >= small && longest <= wide - box * 4 - ui.px(8);
    if (!named) box = wide / 4;
    for (size_t i = 0; i < count; ++i) {
        const ImVec2 from{in.min.x + static_cast<float>(i / rows) * (wide + ui.px(12)),
                          y + pitch * static_cast<float>(i % rows)};
        const FoundLine& row = view.lines[i];
        for (size_t sector = 0; sector < 4; ++sector) {
            const Rect cell{
                {std::round(from.x + box * static_cast<float>(sector)), from.y},
                {std::round(from.x + box * static_cast<float>(sector + 1)) - 1, from.y + pitch - gap}};
            const auto in_level = row.sectors[sector];
            const Rgba fill =
                in_level ? draw::mix(ui.ink(Ink::Panel), color_of(ui, *in_level), alpha) : ui.ink(Ink::Cell);
            ui.list.AddRectFilled(cell.min, cell.max, fill);
            ui.list.AddRect(cell.min, cell.max, ui.ink(in_level ? Ink::LineStrong : Ink::Line));
            if (!in_level) continue;
            if (cell.height() >= small - 2)
                draw::draw_text_in(
                    ui.list, ui.font(Face::Text, Size::Small), cell.min, cell.max,
                    ui.context.palette.text_on(fill),
                    *in_level == FoundIn::InFlight ? "\u2026" : kFoundNames[static_cast<size_t>(*in_level)]);
            if (ui.over(cell))
                ui.tip =
                    fmt::format("sector {} of the line {}: found in {}", sector, row.name,
                                *in_level == FoundIn::InFlight ? "flight, for an SM nearby"
                                                               : kFoundNames[static_cast<size_t>(*in_level)]);
        }
        const float text = from.x + box * 4 + ui.px(8);
        if (named)
            line(ui, {text, from.y + (pitch - gap - small) / 2}, from.x + wide - text, Face::Mono,
                 Size::Small, Ink::TextQuiet, row.name);
    }
}

}  // namespace tilescope::levels
