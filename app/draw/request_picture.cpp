#include "app/draw/request_picture.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::draw {
namespace {

using Lane = std::optional<uint32_t>;

float f(size_t number) { return static_cast<float>(number); }

// A row of 32 columns: of lanes, of banks.
float middle_of(const Rect& row, size_t column) { return row.min.x + row.width() / 32 * (f(column) + 0.5f); }
Rect box_of(const Rect& row, size_t column) {
    const auto edge = [&](size_t at) { return std::round(row.min.x + row.width() / 32 * f(at)); };
    return {{edge(column), row.min.y}, {edge(column + 1) - 1, row.max.y}};
}

void column_numbers(Ui& ui, const Rect& row, float y) {
    for (const size_t column : {0u, 8u, 16u, 24u, 31u})
        line(ui, {middle_of(row, column), y}, ui.px(30), Face::Mono, Size::Small, Ink::TextFaint,
             std::to_string(column), Align::Center);
}

// The row of lanes at the top of a picture, below their numbers.
Rect lanes_of(Ui& ui, const Rect& area, float height) {
    const float top = area.min.y + line_height(ui, Size::Small);
    const Rect lanes{{area.min.x, top}, {area.max.x, top + ui.px(height)}};
    column_numbers(ui, lanes, area.min.y);
    return lanes;
}

Lane lanes_row(Ui& ui, const Rect& row, const RequestView& request, uint32_t lane_lit) {
    Lane under;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const Rect box = box_of(row, lane);
        const LaneView& of = request.lanes[lane];
        ui.list.AddRectFilled(box.min, box.max, ui.ink(of.active ? ink_of(request.kind) : Ink::Cell));
        if (!of.active) hatch(ui, box, ui.ink(of.exists ? Ink::LineStrong : Ink::Line), ui.px(4));
        if (lane == lane_lit)
            ui.list.AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1},
                            ui.ink(Ink::Selected), 0, 0, ui.px(2));
        if (ui.over({box.min, {box.max.x + 1, box.max.y}}) && of.exists) under = lane;
    }
    return under;
}

// From every active lane to where `end` says that it goes, the lit one on top.
template <class End>
void threads(Ui& ui, const Rect& lanes, const RequestView& request, uint32_t lane_lit, float alpha, End end) {
    const Rgba quiet = with_alpha(ui.ink(ink_of(request.kind)), alpha);
    for (const bool lit : {false, true})
        for (uint32_t lane = 0; lane < 32; ++lane)
            if (request.lanes[lane].active && (lane == lane_lit) == lit)
                ui.list.AddLine({middle_of(lanes, lane), lanes.max.y + 1}, end(request.lanes[lane]),
                                lit ? ui.ink(Ink::Selected) : quiet, ui.px(lit ? 2 : 1));
}

// The words below a picture, in the first wording that has room.
void foot(Ui& ui, const Rect& area, float y, const std::vector<std::string>& wordings) {
    line(ui, {area.min.x, y}, area.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fitting(ui.font(Face::Text, Size::Small), wordings, area.width()));
}

std::string lanes_in(uint32_t mask) { return counted(static_cast<uint64_t>(std::popcount(mask)), "lane"); }

// Lines of 128 bytes, up to 8 in a row; returns the middle of the top edge of every sector.
std::vector<ImVec2> sector_lines(Ui& ui, const Rect& area, const RequestView& request, float& bottom) {
    std::vector<ImVec2> tops(request.sectors.size());
    const size_t count = request.lines.size();
    const size_t columns = count <= 4 ? std::max<size_t>(count, 2) : 8;
    const size_t rows = (count + columns - 1) / columns;
    const float gap = ui.px(6), row_gap = ui.px(8);
    const float width = (area.width() - gap * f(columns - 1)) / f(columns);
    const float height =
        std::clamp((area.height() - row_gap * f(rows)) / f(std::max<size_t>(rows, 1)), ui.px(8), ui.px(44));
    const Rgba color = ui.ink(ink_of(request.kind));
    for (size_t i = 0; i < count; ++i) {
        const ImVec2 at{area.min.x + f(i % columns) * (width + gap),
                        area.min.y + f(i / columns) * (height + row_gap)};
        bottom = at.y + height;
        for (size_t part = 0; part < 4; ++part) {
            const Rect box{{std::round(at.x + width * f(part) / 4), at.y},
                           {std::round(at.x + width * f(part + 1) / 4) - 1, at.y + height}};
            const int32_t sector = request.lines[i].sector[part];
            ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Cell));
            if (sector < 0) continue;
            const SectorView& of = request.sectors[static_cast<size_t>(sector)];
            ui.list.AddRectFilled(box.min, box.max, with_alpha(color, 0.22f));
            ui.list.AddRectFilled({box.min.x, box.max.y - height * (f(of.bytes_used) / 32)}, box.max, color);
            ui.list.AddRect(box.min, box.max, color);
            tops[static_cast<size_t>(sector)] = {(box.min.x + box.max.x) / 2, box.min.y};
            if (ui.over(box))
                ui.tip = fmt::format("sector {} of {}: {} of its 32 bytes used, by {}", grouped(of.number),
                                     request.array_name, of.bytes_used, lanes_in(of.lanes));
        }
        ui.list.AddRect({at.x - 2, at.y - 2}, {at.x + width + 1, at.y + height + 2}, ui.ink(Ink::LineStrong),
                        ui.px(2));
    }
    return tops;
}

Lane global_picture(Ui& ui, const Rect& area, const RequestView& request, uint32_t lane_lit) {
    const Rect lanes = lanes_of(ui, area, 18);
    const float free = std::clamp((area.height() - ui.px(60)) * 0.4f, ui.px(24), ui.px(130));
    const Rect sectors{{area.min.x + 2, lanes.max.y + free},
                       {area.max.x - 2, area.max.y - line_height(ui, Size::Small)}};
    float bottom = sectors.min.y;
    const std::vector<ImVec2> tops = sector_lines(ui, sectors, request, bottom);
    threads(ui, lanes, request, lane_lit, 0.55f, [&](const LaneView& lane) { return tops[lane.sector]; });
    const std::string sectors_said = counted(request.sectors.size(), "sector"),
                      lines_said = counted(request.lines.size(), "line");
    foot(ui, area, bottom + ui.px(5),
         {fmt::format("{} (32 bytes) in {} (128 bytes)", sectors_said, lines_said),
          fmt::format("{} in {}", sectors_said, lines_said)});
    return lanes_row(ui, lanes, request, lane_lit);
}

Lane shared_picture(Ui& ui, const Rect& area, const RequestView& request, uint32_t lane_lit) {
    const Rect lanes = lanes_of(ui, area, 18);
    const float small = line_height(ui, Size::Small);
    size_t most = 1;
    for (const auto& bank : request.banks) most = std::max(most, bank.size());
    const float free = std::clamp((area.height() - ui.px(60)) * 0.3f, ui.px(20), ui.px(110));
    const float floor_y = area.max.y - small * 2, ceiling = lanes.max.y + free;
    const size_t room = std::max<size_t>(most, 4);
    const float height = std::clamp((floor_y - ceiling) / f(room), ui.px(0.5f), ui.px(26));
    const float base = std::min(floor_y, ceiling + height * f(room));
    const float gap = height >= ui.px(3) ? std::min(1.f, height / 4) : 0;  // thinner words make one column
    const auto top_of = [&](size_t stacked) { return base - height * f(stacked); };
    for (size_t bank = 0; bank < 32; ++bank) {
        const auto [x0, x1] = std::pair{box_of(area, bank).min.x, box_of(area, bank).max.x};
        ui.list.AddRectFilled({x0, top_of(room)}, {x1, base}, with_alpha(ui.ink(Ink::Cell), 0.6f));
        for (size_t i = 0; i < request.banks[bank].size(); ++i) {
            const WordView& word = request.banks[bank][i];
            const Rect box{{x0, top_of(i + 1)}, {x1, top_of(i) - gap}};
            ui.list.AddRectFilled(box.min, box.max, ui.ink(i == 0 ? ink_of(request.kind) : Ink::Fault));
            if (ui.over(box))
                ui.tip = fmt::format("bank {}, word {}: {}", bank, word.number, lanes_in(word.lanes));
        }
        ui.list.AddLine({x0, base}, {x1, base}, ui.ink(Ink::LineStrong));
    }
    threads(ui, lanes, request, lane_lit, 0.45f, [&](const LaneView& of) {
        const uint32_t lane = static_cast<uint32_t>(&of - request.lanes.data());
        size_t stacked = 0;
        for (size_t i = 0; i < request.banks[of.bank].size(); ++i)
            if ((request.banks[of.bank][i].lanes >> lane & 1) != 0) stacked = i + 1;
        return ImVec2{middle_of(area, of.bank), top_of(stacked)};
    });
    column_numbers(ui, area, base + ui.px(2));
    const std::string words = counted(most, "word");
    foot(ui, area, base + ui.px(2) + small,
         {fmt::format("32 banks; the tallest stack: {}", words), fmt::format("tallest stack: {}", words)});
    return lanes_row(ui, lanes, request, lane_lit);
}

void barrier_picture(Ui& ui, const Rect& rect, const BarrierTimes& barrier, uint32_t current) {
    const float small = line_height(ui, Size::Small);
    const float pitch = std::floor(std::min((rect.height() - small) / f(barrier.arrivals.size()), ui.px(18)));
    if (pitch < ui.px(3) || barrier.opens == barrier.first) return;
    const bool numbers = pitch >= ui.px(12);
    const float left = numbers ? ui.px(62) : 0, right = ui.px(58);
    const Rect plot{{rect.min.x + left, rect.min.y + small}, {rect.max.x - right, rect.max.y}};
    line(ui, rect.min, rect.width() - right, Face::Text, Size::Small, Ink::TextQuiet,
         "from arrival to opening");
    line(ui, {rect.max.x, rect.min.y}, right, Face::Text, Size::Small, Ink::TextQuiet, "clocks",
         Align::Right);
    std::vector<BarrierTimes::Arrival> arrivals = barrier.arrivals;
    std::sort(arrivals.begin(), arrivals.end(), [](const auto& a, const auto& b) { return a.warp < b.warp; });
    const float scale = plot.width() / static_cast<float>(barrier.opens - barrier.first);
    for (size_t i = 0; i < arrivals.size(); ++i) {
        const float y = plot.min.y + pitch * f(i), inner = std::max(pitch - ui.px(2), ui.px(2));
        const bool own = arrivals[i].warp == current;
        const float x = plot.min.x + static_cast<float>(arrivals[i].clock - barrier.first) * scale;
        if (own) ui.list.AddRectFilled({rect.min.x, y - 1}, {rect.max.x, y + inner + 1}, ui.ink(Ink::Raised));
        wait_bar(ui, {{x, y}, {plot.max.x, y + inner}});
        const float text = y + (inner - small) / 2;
        if (numbers)
            line(ui, {rect.min.x, text}, left, Face::Text, Size::Small, own ? Ink::Text : Ink::TextQuiet,
                 fmt::format("warp {}", arrivals[i].warp));
        if (numbers || own)
            line(ui, {rect.max.x, text}, right, Face::Mono, Size::Small, own ? Ink::Text : Ink::TextQuiet,
                 grouped(barrier.opens - arrivals[i].clock), Align::Right);
    }
}

}  // namespace

void request_title(Ui& ui, ImVec2 at, float width, const RequestView& request) {
    const float mark = ui.px(14), body = line_height(ui, Size::Body);
    sign(ui, {{at.x, at.y + (body - mark) / 2}, {at.x + mark, at.y + (body + mark) / 2}}, request.kind);
    line(ui, {at.x + mark + ui.px(8), at.y}, width - mark - ui.px(8), Face::Strong, Size::Body, Ink::Text,
         request.title);
}

float request_verdict(Ui& ui, ImVec2 at, float width, const RequestView& request, int most, bool tight) {
    const float bullet = ui.px(12);
    const ImVec2 center{at.x + bullet / 2, at.y + line_height(ui, Size::Body) / 2};
    if (request.kind != StepKind::Barrier && request.good)
        ui.list.AddCircleFilled(center, bullet / 2, ui.ink(Ink::SharedLoad));
    else if (request.kind != StepKind::Barrier)
        ui.list.AddTriangleFilled({center.x, center.y - bullet / 2},
                                  {center.x + bullet / 2, center.y + bullet / 2},
                                  {center.x - bullet / 2, center.y + bullet / 2}, ui.ink(Ink::Fault));
    const float indent = request.kind == StepKind::Barrier ? 0 : bullet + ui.px(8);
    const ImVec2 text{at.x + indent, at.y};
    const bool small =
        tight && wrapped(ui.font(Face::Text, Size::Body), request.verdict, width - indent).size() >
                     static_cast<size_t>(most);
    float height = paragraph(ui, text, width - indent, Face::Text, small ? Size::Small : Size::Body,
                             Ink::Text, request.verdict, small ? most + 1 : most);
    if (!request.mask_note.empty() && !tight) {
        height += paragraph(ui, {text.x, text.y + height}, width - indent, Face::Text, Size::Small,
                            Ink::TextQuiet, request.mask_note, 3);
    }
    return height;
}

std::optional<uint32_t> request_picture(Ui& ui, const Rect& picture, const RequestView& request,
                                        const BarrierTimes* barrier, uint32_t lane_lit) {
    if (request.kind == StepKind::GlobalLoad || request.kind == StepKind::GlobalStore)
        return global_picture(ui, picture, request, lane_lit);
    if (request.kind != StepKind::Barrier) return shared_picture(ui, picture, request, lane_lit);
    const Rect lanes = lanes_of(ui, picture, 16);
    const Lane under = lanes_row(ui, lanes, request, lane_lit);
    if (barrier != nullptr)
        barrier_picture(ui, {{picture.min.x, lanes.max.y + ui.px(8)}, picture.max}, *barrier, request.warp);
    return under;
}

}  // namespace tilescope::draw
