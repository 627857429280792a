#include "app/draw/request_picture.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::draw {
namespace {

using Lane = std::optional<uint32_t>;

Lane lanes_row(Ui& ui, const Rect& row, const RequestView& request, uint32_t lane_lit) {
    Lane under;
    const float pitch = row.width() / 32;
    const Rgba color = ui.ink(ink_of(request.kind));
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const Rect box{{std::round(row.min.x + pitch * static_cast<float>(lane)), row.min.y},
                       {std::round(row.min.x + pitch * static_cast<float>(lane + 1)) - 1, row.max.y}};
        const LaneView& of = request.lanes[lane];
        if (of.active) {
            ui.list.AddRectFilled(box.min, box.max, color);
        } else {
            ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Cell));
            hatch(ui, box, ui.ink(of.exists ? Ink::LineStrong : Ink::Line), ui.px(4));
        }
        if (lane == lane_lit) {
            ui.list.AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1},
                            ui.ink(Ink::Selected), 0, 0, ui.px(2));
        }
        if (ui.over({box.min, {box.max.x + 1, box.max.y}}) && of.exists) under = lane;
    }
    return under;
}

void lane_numbers(Ui& ui, const Rect& row, float y) {
    const float pitch = row.width() / 32;
    for (const uint32_t lane : {0u, 8u, 16u, 24u, 31u}) {
        line(ui, {row.min.x + pitch * (static_cast<float>(lane) + 0.5f), y}, ui.px(30), Face::Mono,
             Size::Small, Ink::TextFaint, std::to_string(lane), Align::Center);
    }
}

// Lines of 128 bytes, up to 8 in a row; returns the middle of the top edge of every sector.
std::vector<ImVec2> sector_lines(Ui& ui, const Rect& area, const RequestView& request, float& bottom) {
    std::vector<ImVec2> tops(request.sectors.size());
    const size_t count = request.lines.size();
    const size_t columns = count <= 4 ? std::max<size_t>(count, 2) : 8;
    const size_t rows = (count + columns - 1) / columns;
    const float gap = ui.px(6), row_gap = ui.px(8);
    const float width = (area.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    const float height = std::clamp(
        (area.height() - row_gap * static_cast<float>(rows)) / static_cast<float>(std::max<size_t>(rows, 1)),
        ui.px(8), ui.px(44));
    const Rgba color = ui.ink(ink_of(request.kind));
    for (size_t i = 0; i < count; ++i) {
        const ImVec2 at{area.min.x + static_cast<float>(i % columns) * (width + gap),
                        area.min.y + static_cast<float>(i / columns) * (height + row_gap)};
        bottom = at.y + height;
        for (size_t part = 0; part < 4; ++part) {
            const Rect box{{std::round(at.x + width * static_cast<float>(part) / 4), at.y},
                           {std::round(at.x + width * static_cast<float>(part + 1) / 4) - 1, at.y + height}};
            const int32_t sector = request.lines[i].sector[part];
            ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Cell));
            if (sector < 0) continue;
            const SectorView& of = request.sectors[static_cast<size_t>(sector)];
            const float used = static_cast<float>(of.bytes_used) / 32;
            ui.list.AddRectFilled(box.min, box.max, with_alpha(color, 0.22f));
            ui.list.AddRectFilled({box.min.x, box.max.y - height * used}, box.max, color);
            ui.list.AddRect(box.min, box.max, color);
            tops[static_cast<size_t>(sector)] = {(box.min.x + box.max.x) / 2, box.min.y};
            if (ui.over(box)) {
                ui.tip = fmt::format("sector {} of {}: {} of its 32 bytes used, by {}", grouped(of.number),
                                     request.array_name, of.bytes_used,
                                     counted(static_cast<uint64_t>(std::popcount(of.lanes)), "lane"));
            }
        }
        ui.list.AddRect({at.x - 2, at.y - 2}, {at.x + width + 1, at.y + height + 2}, ui.ink(Ink::LineStrong),
                        ui.px(2));
    }
    return tops;
}

Lane global_picture(Ui& ui, const Rect& area, const RequestView& request, uint32_t lane_lit) {
    const float small = line_height(ui, Size::Small);
    const Rect lanes{{area.min.x, area.min.y + small}, {area.max.x, area.min.y + small + ui.px(18)}};
    lane_numbers(ui, lanes, area.min.y);
    const float threads = std::clamp((area.height() - ui.px(60)) * 0.4f, ui.px(24), ui.px(130));
    const Rect sectors{{area.min.x + 2, lanes.max.y + threads}, {area.max.x - 2, area.max.y - small}};
    float bottom = sectors.min.y;
    const std::vector<ImVec2> tops = sector_lines(ui, sectors, request, bottom);
    const float pitch = lanes.width() / 32;
    const Rgba color = ui.ink(ink_of(request.kind));
    for (const bool lit : {false, true}) {
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (!request.lanes[lane].active || (lane == lane_lit) != lit) continue;
            const ImVec2 from{lanes.min.x + pitch * (static_cast<float>(lane) + 0.5f), lanes.max.y + 1};
            const ImVec2 to = tops[request.lanes[lane].sector];
            ui.list.AddLine(from, to, lit ? ui.ink(Ink::Selected) : with_alpha(color, 0.55f),
                            lit ? ui.px(2) : ui.px(1));
        }
    }
    const Lane under = lanes_row(ui, lanes, request, lane_lit);
    const std::string sectors_said = counted(request.sectors.size(), "sector"),
                      lines_said = counted(request.lines.size(), "line");
    line(ui, {area.min.x, bottom + ui.px(5)}, area.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fitting(ui.font(Face::Text, Size::Small),
                 {fmt::format("{} (32 bytes) in {} (128 bytes)", sectors_said, lines_said),
                  fmt::format("{} in {}", sectors_said, lines_said)},
                 area.width()));
    return under;
}

Lane shared_picture(Ui& ui, const Rect& area, const RequestView& request, uint32_t lane_lit) {
    const float small = line_height(ui, Size::Small);
    const Rect lanes{{area.min.x, area.min.y + small}, {area.max.x, area.min.y + small + ui.px(18)}};
    lane_numbers(ui, lanes, area.min.y);
    size_t most = 1;
    for (const auto& bank : request.banks) most = std::max(most, bank.size());
    const float threads = std::clamp((area.height() - ui.px(60)) * 0.3f, ui.px(20), ui.px(110));
    const float floor_y = area.max.y - small * 2;
    const float ceiling = lanes.max.y + threads;
    const float height = std::clamp((floor_y - ceiling) / static_cast<float>(std::max<size_t>(most, 4)),
                                    ui.px(0.5f), ui.px(26));
    const float pitch = area.width() / 32;
    const Rgba color = ui.ink(ink_of(request.kind));
    const float base = std::min(floor_y, ceiling + height * static_cast<float>(std::max<size_t>(most, 4)));
    const float gap = height >= ui.px(3) ? std::min(1.f, height / 4) : 0;  // thinner words make one column
    const auto top_of = [&](size_t stacked) { return base - height * static_cast<float>(stacked); };
    for (size_t bank = 0; bank < 32; ++bank) {
        const float x0 = std::round(area.min.x + pitch * static_cast<float>(bank));
        const float x1 = std::round(area.min.x + pitch * static_cast<float>(bank + 1)) - 1;
        ui.list.AddRectFilled({x0, top_of(std::max<size_t>(most, 4))}, {x1, base},
                              with_alpha(ui.ink(Ink::Cell), 0.6f));
        for (size_t word = 0; word < request.banks[bank].size(); ++word) {
            const Rect box{{x0, top_of(word + 1)}, {x1, top_of(word) - gap}};
            ui.list.AddRectFilled(box.min, box.max, word == 0 ? color : ui.ink(Ink::Fault));
            const uint32_t by = request.banks[bank][word].lanes;
            if (ui.over(box)) {
                ui.tip = fmt::format("bank {}, word {}: {}", bank, request.banks[bank][word].number,
                                     counted(static_cast<uint64_t>(std::popcount(by)), "lane"));
            }
        }
        ui.list.AddLine({x0, base}, {x1, base}, ui.ink(Ink::LineStrong));
    }
    for (const bool lit : {false, true}) {
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (!request.lanes[lane].active || (lane == lane_lit) != lit) continue;
            const uint32_t bank = request.lanes[lane].bank;
            size_t stacked = 0;
            for (size_t word = 0; word < request.banks[bank].size(); ++word)
                if ((request.banks[bank][word].lanes >> lane & 1) != 0) stacked = word + 1;
            const ImVec2 from{lanes.min.x + pitch * (static_cast<float>(lane) + 0.5f), lanes.max.y + 1};
            const ImVec2 to{area.min.x + pitch * (static_cast<float>(bank) + 0.5f), top_of(stacked)};
            ui.list.AddLine(from, to, lit ? ui.ink(Ink::Selected) : with_alpha(color, 0.45f),
                            lit ? ui.px(2) : ui.px(1));
        }
    }
    const Lane under = lanes_row(ui, lanes, request, lane_lit);
    for (const uint32_t bank : {0u, 8u, 16u, 24u, 31u}) {
        line(ui, {area.min.x + pitch * (static_cast<float>(bank) + 0.5f), base + ui.px(2)}, ui.px(30),
             Face::Mono, Size::Small, Ink::TextFaint, std::to_string(bank), Align::Center);
    }
    line(ui, {area.min.x, base + ui.px(2) + small}, area.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fitting(ui.font(Face::Text, Size::Small),
                 {fmt::format("32 banks; the tallest stack: {}", counted(most, "word")),
                  fmt::format("tallest stack: {}", counted(most, "word"))},
                 area.width()));
    return under;
}

void barrier_picture(Ui& ui, const Rect& rect, const BarrierTimes& barrier, uint32_t current) {
    const float small = line_height(ui, Size::Small);
    const auto warps = static_cast<float>(barrier.arrivals.size());
    const float pitch = std::floor(std::min((rect.height() - small) / warps, ui.px(18)));
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
        const float y = plot.min.y + pitch * static_cast<float>(i),
                    inner = std::max(pitch - ui.px(2), ui.px(2));
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
    if (request.kind == StepKind::Barrier) {
    } else if (request.good) {
        ui.list.AddCircleFilled(center, bullet / 2, ui.ink(Ink::SharedLoad));
    } else {
        ui.list.AddTriangleFilled({center.x, center.y - bullet / 2},
                                  {center.x + bullet / 2, center.y + bullet / 2},
                                  {center.x - bullet / 2, center.y + bullet / 2}, ui.ink(Ink::Fault));
    }
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
    const float small = line_height(ui, Size::Small);
    const Rect lanes{{picture.min.x, picture.min.y + small},
                     {picture.max.x, picture.min.y + small + ui.px(16)}};
    lane_numbers(ui, lanes, picture.min.y);
    const Lane under = lanes_row(ui, lanes, request, lane_lit);
    if (barrier != nullptr)
        barrier_picture(ui, {{picture.min.x, lanes.max.y + ui.px(8)}, picture.max}, *barrier, request.warp);
    return under;
}

}  // namespace tilescope::draw
