// This request: its lanes, what they meet, and the verdict.
//
//   lanes    [0][1][2] ...                   [31]
//             \  |  /                        /           a thread from every lane to its sector
//   sectors  [s s s s][s s s s] ...                      a box a line of 128 bytes, filled as far as used
//   banks    | | |#| | ...                               shared memory: 32 columns, words stacked
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/panels.h"
#include "app/view/block_clock.h"
#include "app/view/request_view.h"

namespace tilescope::panels {
namespace {

// The lane that the panel speaks of: the hovered or pinned thread's, else the first active one.
uint32_t spoken_lane(const Ui& ui, const view::RequestView& request) {
    for (const Pick& pick : {ui.state.hover, ui.state.pin}) {
        if (pick.kind == Pick::Kind::Thread && pick.thread / kWarpSize == request.warp)
            return pick.thread % kWarpSize;
    }
    return request.mask == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(request.mask));
}

void lanes_row(Ui& ui, const Rect& row, const view::RequestView& request, uint32_t lane_lit) {
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
            ui.tip = view::lane_text(ui.trace(), request, lane);
            offer_pick(ui, pick);
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

void global_picture(Ui& ui, const Rect& area, const view::RequestView& request, uint32_t lane_lit) {
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
    lanes_row(ui, lanes, request, lane_lit);
    line(ui, {area.min.x, bottom + ui.px(5)}, area.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fmt::format("{} (32 bytes) in {} (128 bytes)", view::counted(request.sectors.size(), "sector"),
                     view::counted(request.lines.size(), "line")));
}

void shared_picture(Ui& ui, const Rect& area, const view::RequestView& request, uint32_t lane_lit) {
    const float small = line_height(ui, Size::Small);
    const Rect lanes{{area.min.x, area.min.y + small}, {area.max.x, area.min.y + small + ui.px(18)}};
    lane_numbers(ui, lanes, area.min.y);
    size_t most = 1;
    for (const auto& bank : request.banks) most = std::max(most, bank.size());
    const float threads = std::clamp((area.height() - ui.px(60)) * 0.3f, ui.px(20), ui.px(110));
    const float floor_y = area.max.y - small * 2;
    const float ceiling = lanes.max.y + threads;
    const float height =
        std::clamp((floor_y - ceiling) / static_cast<float>(std::max<size_t>(most, 4)), ui.px(2), ui.px(26));
    const float pitch = area.width() / 32;
    const Rgba color = ui.ink(ink_of(request.kind));
    const float base = std::min(floor_y, ceiling + height * static_cast<float>(std::max<size_t>(most, 4)));
    const auto top_of = [&](size_t stacked) { return base - height * static_cast<float>(stacked); };
    for (size_t bank = 0; bank < 32; ++bank) {
        const float x0 = std::round(area.min.x + pitch * static_cast<float>(bank));
        const float x1 = std::round(area.min.x + pitch * static_cast<float>(bank + 1)) - 1;
        ui.list.AddRectFilled({x0, top_of(std::max<size_t>(most, 4))}, {x1, base},
                              draw::with_alpha(ui.ink(Ink::Cell), 0.6f));
        for (size_t word = 0; word < request.banks[bank].size(); ++word) {
            const Rect box{{x0, top_of(word + 1)}, {x1, top_of(word) - std::min(1.f, height / 4)}};
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
    lanes_row(ui, lanes, request, lane_lit);
    for (const uint32_t bank : {0u, 8u, 16u, 24u, 31u}) {
        line(ui, {area.min.x + pitch * (static_cast<float>(bank) + 0.5f), base + ui.px(2)}, ui.px(30),
             Face::Mono, Size::Small, Ink::TextFaint, std::to_string(bank), draw::Align::Center);
    }
    line(ui, {area.min.x, base + ui.px(2) + small}, area.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fmt::format("32 banks; the tallest stack: {}", view::counted(most, "word")));
}

}  // namespace

void request_panel(Ui& ui, const Rect& rect, const view::Relations& selected) {
    surface(ui, rect);
    const view::RequestView request = view::request_view(ui.trace(), *ui.index, ui.step());
    const Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    float y = in.min.y;
    const float mark = ui.px(14);
    sign(ui, {{in.min.x, y + (body - mark) / 2}, {in.min.x + mark, y + (body + mark) / 2}}, request.kind);
    line(ui, {in.min.x + mark + ui.px(8), y}, in.width() - mark - ui.px(8), Face::Strong, Size::Body,
         Ink::Text, request.title);
    y += body;
    std::string where = fmt::format("line {}", request.line);
    if (request.kind != view::StepKind::Barrier)
        where += fmt::format(", {} a lane", view::counted(request.bytes, "byte"));
    line(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet, where);
    y += small + ui.px(8);

    // The verdict, with a mark of its own shape: a disc where it is as good as can be, else a triangle.
    const float bullet = ui.px(12);
    const ImVec2 center{in.min.x + bullet / 2, y + body / 2};
    if (request.kind == view::StepKind::Barrier) {
    } else if (request.good) {
        ui.list.AddCircleFilled(center, bullet / 2, ui.ink(Ink::SharedLoad));
    } else {
        ui.list.AddTriangleFilled({center.x, center.y - bullet / 2},
                                  {center.x + bullet / 2, center.y + bullet / 2},
                                  {center.x - bullet / 2, center.y + bullet / 2}, ui.ink(Ink::Fault));
    }
    const float indent = request.kind == view::StepKind::Barrier ? 0 : bullet + ui.px(8);
    y += paragraph(ui, {in.min.x + indent, y}, in.width() - indent, Face::Text, Size::Body, Ink::Text,
                   request.verdict, 4);
    if (!request.mask_note.empty()) {
        y += paragraph(ui, {in.min.x + indent, y}, in.width() - indent, Face::Text, Size::Small,
                       Ink::TextQuiet, request.mask_note, 2);
    }
    y += ui.px(10);

    // From below: the selection, then the lane's address; the picture takes what is left.
    const uint32_t lane = spoken_lane(ui, request);
    const draw::Font small_text = ui.font(Face::Text, Size::Small);
    std::vector<std::string> foot;
    for (const std::string& said : selected.lines) {
        for (std::string& part : wrapped(small_text, said, in.width())) foot.push_back(std::move(part));
    }
    if (foot.size() > 7) foot.resize(7);
    std::vector<std::string> address =
        wrapped(ui.font(Face::Text, Size::Body), view::lane_text(ui.trace(), request, lane), in.width());
    // As many of the formula's steps on a line as fit.
    std::vector<std::string> steps;
    for (const std::string& part : view::lane_formula(ui.trace(), request, lane)) {
        const std::string longer = steps.empty() ? part : steps.back() + "   " + part;
        if (!steps.empty() && draw::text_size(ui.font(Face::Mono, Size::Small), longer).x <= in.width())
            steps.back() = longer;
        else
            steps.push_back(part);
    }
    // In a low panel the selection takes the place of the address, so that the picture stays.
    const float taken =
        body * static_cast<float>(address.size()) + small * static_cast<float>(steps.size() + foot.size());
    if (!foot.empty() && in.max.y - y - taken < ui.px(150)) {
        address.clear();
        steps.clear();
    }
    // So does the picture itself, where it would not have the height that it needs: the formula goes first,
    // then the address.
    const auto room = [&] {
        return in.max.y - y - body * static_cast<float>(address.size()) -
               small * static_cast<float>(steps.size() + foot.size()) - ui.px(foot.empty() ? 12 : 22);
    };
    const bool global =
        request.kind == view::StepKind::GlobalLoad || request.kind == view::StepKind::GlobalStore;
    const float least = ui.px(global ? 74 : 118);
    if (room() < least) steps.clear();
    if (room() < least) address.clear();
    float bottom = in.max.y;
    if (!foot.empty()) bottom -= small * static_cast<float>(foot.size()) + ui.px(10);
    bottom -= body * static_cast<float>(address.size()) + small * static_cast<float>(steps.size()) + ui.px(8);
    float at = bottom + ui.px(8);
    if (!address.empty())
        ui.list.AddLine({in.min.x, bottom + ui.px(2)}, {in.max.x, bottom + ui.px(2)}, ui.ink(Ink::Line));
    for (const std::string& text : address) {
        line(ui, {in.min.x, at}, in.width(), Face::Text, Size::Body, Ink::Text, text);
        at += body;
    }
    for (const std::string& text : steps) {
        line(ui, {in.min.x, at}, in.width(), Face::Mono, Size::Small, Ink::TextQuiet, text);
        at += small;
    }
    if (!foot.empty()) {
        ui.list.AddLine({in.min.x, at + ui.px(4)}, {in.max.x, at + ui.px(4)}, ui.ink(Ink::Line));
        at += ui.px(10);
        for (size_t i = 0; i < foot.size(); ++i) {
            line(ui, {in.min.x, at}, in.width(), i == 0 ? Face::Strong : Face::Text, Size::Small,
                 i == 0 ? Ink::Text : Ink::TextQuiet, foot[i]);
            at += small;
        }
    }

    const Rect picture{{in.min.x, y}, {in.max.x, bottom - ui.px(4)}};
    if (picture.height() < ui.px(70)) return;
    if (request.kind == view::StepKind::Barrier) {
        const Rect lanes{{in.min.x, y + small}, {in.max.x, y + small + ui.px(16)}};
        lane_numbers(ui, lanes, y);
        lanes_row(ui, lanes, request, lane);
        if (const view::BarrierTimes* barrier = view::barrier_of_step(*ui.index, ui.step()))
            barrier_picture(ui, {{picture.min.x, lanes.max.y + ui.px(8)}, picture.max}, *barrier,
                            request.warp);
    } else if (request.kind == view::StepKind::GlobalLoad || request.kind == view::StepKind::GlobalStore) {
        global_picture(ui, picture, request, lane);
    } else {
        shared_picture(ui, picture, request, lane);
    }
}

}  // namespace tilescope::panels
