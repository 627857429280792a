#include "app/panels/request_picture.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/panels.h"
#include "app/view/block_clock.h"
#include "app/view/compare_pick.h"

namespace tilescope::panels {
namespace {

void lanes_row(Ui& ui, const Rect& row, const Shown& shown, const view::RequestView& request,
               uint32_t lane_lit) {
    const float pitch = row.width() / 32;
    const Rgba color = ui.ink(ink_of(request.kind));
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const Rect box{{std::round(row.min.x + pitch * static_cast<float>(lane)), row.min.y},
                       {std::round(row.min.x + pitch * static_cast<float>(lane + 1)) - 1, row.max.y}};
        const view::LaneView& of = request.lanes[lane];
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
        if (ui.over({box.min, {box.max.x + 1, box.max.y}}) && of.exists) {
            Pick pick;
            pick.kind = Pick::Kind::Thread;
            pick.thread = of.thread;
            pick.warp = request.warp;
            ui.tip = view::lane_text(shown.trace, request, lane);
            offer_pick(ui, shown.pick_in ? view::same_pick(shown.trace, *shown.pick_in, pick) : pick);
        }
    }
}

void lane_numbers(Ui& ui, const Rect& row, float y) {
    const float pitch = row.width() / 32;
    for (const uint32_t lane : {0u, 8u, 16u, 24u, 31u}) {
        line(ui, {row.min.x + pitch * (static_cast<float>(lane) + 0.5f), y}, ui.px(30), Face::Mono,
             Size::Small, Ink::TextFaint, std::to_string(lane), draw::Align::Center);
    }
}

// Lines of 128 bytes, up to 8 in a row; returns the middle of the top edge of every sector.
std::vector<ImVec2> sector_lines(Ui& ui, const Rect& area, const view::RequestView& request, float& bottom) {
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
            const view::SectorView& of = request.sectors[static_cast<size_t>(sector)];
            const float used = static_cast<float>(of.bytes_used) / 32;
            ui.list.AddRectFilled(box.min, box.max, draw::with_alpha(color, 0.22f));
            ui.list.AddRectFilled({box.min.x, box.max.y - height * used}, box.max, color);
            ui.list.AddRect(box.min, box.max, color);
            tops[static_cast<size_t>(sector)] = {(box.min.x + box.max.x) / 2, box.min.y};
            if (ui.over(box)) {
                ui.tip = fmt::format("sector {} of {}: {} of its 32 bytes used, by {}",
                                     view::grouped(of.number), request.array_name, of.bytes_used,
                                     view::counted(static_cast<uint64_t>(std::popcount(of.lanes)), "lane"));
            }
        }
        ui.list.AddRect({at.x - 2, at.y - 2}, {at.x + width + 1, at.y + height + 2}, ui.ink(Ink::LineStrong),
                        ui.px(2));
    }
    return tops;
}

void global_picture(Ui& ui, const Rect& area, const Shown& shown, const view::RequestView& request,
                    uint32_t lane_lit) {
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
            ui.list.AddLine(from, to, lit ? ui.ink(Ink::Selected) : draw::with_alpha(color, 0.55f),
                            lit ? ui.px(2) : ui.px(1));
        }
    }
    lanes_row(ui, lanes, shown, request, lane_lit);
    const std::string sectors_said = view::counted(request.sectors.size(), "sector"),
                      lines_said = view::counted(request.lines.size(), "line");
    line(ui, {area.min.x, bottom + ui.px(5)}, area.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fitting(ui.font(Face::Text, Size::Small),
                 {fmt::format("{} (32 bytes) in {} (128 bytes)", sectors_said, lines_said),
                  fmt::format("{} in {}", sectors_said, lines_said)},
                 area.width()));
}

void shared_picture(Ui& ui, const Rect& area, const Shown& shown, const view::RequestView& request,
                    uint32_t lane_lit) {
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
                              draw::with_alpha(ui.ink(Ink::Cell), 0.6f));
        for (size_t word = 0; word < request.banks[bank].size(); ++word) {
            const Rect box{{x0, top_of(word + 1)}, {x1, top_of(word) - gap}};
            ui.list.AddRectFilled(box.min, box.max, word == 0 ? color : ui.ink(Ink::Fault));
            const uint32_t by = request.banks[bank][word].lanes;
            if (ui.over(box)) {
                ui.tip = fmt::format("bank {}, word {}: {}", bank, request.banks[bank][word].number,
                                     view::counted(static_cast<uint64_t>(std::popcount(by)), "lane"));
            }
        }
        ui.list.AddLine({x0, base}, {x1, base}, ui.ink(Ink::LineStrong));
    }
    for (const bool lit : {false, true}) {
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (!request.lanes[lane].active || (lane == lane_lit) != lit) continue;
            const uint32_t bank = request.lanes[lane].bank;
            size_t stacked = 0;
            for (size_t word = 0; word < request.banks[bank].size(); ++word) {
                if ((request.banks[bank][word].lanes >> lane & 1) != 0) stacked = word + 1;
            }
            const ImVec2 from{lanes.min.x + pitch * (static_cast<float>(lane) + 0.5f), lanes.max.y + 1};
            const ImVec2 to{area.min.x + pitch * (static_cast<float>(bank) + 0.5f), top_of(stacked)};
            ui.list.AddLine(from, to, lit ? ui.ink(Ink::Selected) : draw::with_alpha(color, 0.45f),
                            lit ? ui.px(2) : ui.px(1));
        }
    }
    lanes_row(ui, lanes, shown, request, lane_lit);
    for (const uint32_t bank : {0u, 8u, 16u, 24u, 31u}) {
        line(ui, {area.min.x + pitch * (static_cast<float>(bank) + 0.5f), base + ui.px(2)}, ui.px(30),
             Face::Mono, Size::Small, Ink::TextFaint, std::to_string(bank), draw::Align::Center);
    }
    line(ui, {area.min.x, base + ui.px(2) + small}, area.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fitting(ui.font(Face::Text, Size::Small),
                 {fmt::format("32 banks; the tallest stack: {}", view::counted(most, "word")),
                  fmt::format("tallest stack: {}", view::counted(most, "word"))},
                 area.width()));
}

}  // namespace

uint32_t spoken_lane(const Ui& ui, const Shown& shown, const view::RequestView& request) {
    for (const Pick& pick : {ui.state.hover, ui.state.pin}) {
        const Pick here = shown.pick_in ? view::same_pick(*shown.pick_in, shown.trace, pick) : pick;
        if (here.kind == Pick::Kind::Thread && here.thread / kWarpSize == request.warp)
            return here.thread % kWarpSize;
    }
    return request.mask == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(request.mask));
}

void request_title(Ui& ui, ImVec2 at, float width, const view::RequestView& request) {
    const float mark = ui.px(14), body = line_height(ui, Size::Body);
    sign(ui, {{at.x, at.y + (body - mark) / 2}, {at.x + mark, at.y + (body + mark) / 2}}, request.kind);
    line(ui, {at.x + mark + ui.px(8), at.y}, width - mark - ui.px(8), Face::Strong, Size::Body, Ink::Text,
         request.title);
}

float request_verdict(Ui& ui, ImVec2 at, float width, const view::RequestView& request, int most,
                      bool tight) {
    const float bullet = ui.px(12);
    const ImVec2 center{at.x + bullet / 2, at.y + line_height(ui, Size::Body) / 2};
    if (request.kind == view::StepKind::Barrier) {
    } else if (request.good) {
        ui.list.AddCircleFilled(center, bullet / 2, ui.ink(Ink::SharedLoad));
    } else {
        ui.list.AddTriangleFilled({center.x, center.y - bullet / 2},
                                  {center.x + bullet / 2, center.y + bullet / 2},
                                  {center.x - bullet / 2, center.y + bullet / 2}, ui.ink(Ink::Fault));
    }
    const float indent = request.kind == view::StepKind::Barrier ? 0 : bullet + ui.px(8);
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

void request_picture(Ui& ui, const Rect& picture, const Shown& shown, const view::RequestView& request,
                     uint32_t lane_lit) {
    const float small = line_height(ui, Size::Small);
    if (request.kind == view::StepKind::Barrier) {
        const Rect lanes{{picture.min.x, picture.min.y + small},
                         {picture.max.x, picture.min.y + small + ui.px(16)}};
        lane_numbers(ui, lanes, picture.min.y);
        lanes_row(ui, lanes, shown, request, lane_lit);
        if (const view::BarrierTimes* barrier = view::barrier_of_step(shown.index, shown.step))
            barrier_picture(ui, {{picture.min.x, lanes.max.y + ui.px(8)}, picture.max}, *barrier,
                            request.warp);
    } else if (request.kind == view::StepKind::GlobalLoad || request.kind == view::StepKind::GlobalStore) {
        global_picture(ui, picture, shown, request, lane_lit);
    } else {
        shared_picture(ui, picture, shown, request, lane_lit);
    }
}

}  // namespace tilescope::panels
