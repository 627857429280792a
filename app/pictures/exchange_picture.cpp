// An exchange among the lanes of a warp: who gives, above, and what each gets, below.
//
//   lanes    [0][1][2] ...                   [31]
//             \  |  /                        /           a thread from the lane that gives
//   gets     [0][1][2] ...                   [31]        or a box for the lanes that all get the same
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "app/pictures/fragments.h"
#include "app/pictures/lanes_picture.h"
#include "core/base/words.h"

namespace tilescope::pictures {

// The row, or the one box, of what the lanes get. lines: of words below it; fewer where they would take the room
// of the threads.
Rect LanesPicture::getting(int& lines) const {
    const float small = line_height(ui, Size::Small), high = lanes.height() + ui.px(4);
    const auto free = [&] {
        return area.max.y - small * static_cast<float>(lines) - ui.px(4) - high - lanes.max.y;
    };
    while (lines > 0 && free() < ui.px(20)) --lines;
    const float top = lanes.max.y + std::clamp(free(), ui.px(8), ui.px(150));
    return {{area.min.x, top}, {area.max.x, top + high}};
}

// Type in which all that lanes give and get, of as many boxes as there are lanes, has room.
std::optional<Font> LanesPicture::type_of_lanes(bool gets) const {
    const look::ExchangeView& of = request.exchange;
    std::string longest;
    for_lanes(of.mask, [&](uint32_t lane) {
        for (const std::string& value : {of.gives[lane], gets ? of.gets[lane] : std::string()})
            if (value.size() > longest.size()) longest = value;
    });
    const Rect box = box_of(lanes, 0);
    if (longest.empty()) return std::nullopt;
    return ui.context.fonts.for_cells(longest, box.width() - 1, box.height());
}

void LanesPicture::write(const std::optional<Font>& font, const Rect& box, const std::string& value,
                         Rgba fill) const {
    if (font) draw::draw_text_in(ui.list, *font, box.min, box.max, ui.context.palette.text_on(fill), value);
}

// Whose number stands below the row of those that get.
void LanesPicture::shuffle() const {
    const look::ExchangeView& of = request.exchange;
    int lines = 2;
    const Rect row = getting(lines);
    const std::optional<Font> type = type_of_lanes(true);
    const uint32_t moved = of.moved();
    const Rgba fault = ui.ink(Ink::Fault), quiet = ui.ink(Ink::LineStrong);
    // The lit lane's on top, then those that bring another value.
    for (const int turn : {0, 1, 2})
        for_lanes(of.mask, [&](uint32_t lane) {
            const bool lit = lane == lane_lit, moves = (moved >> lane & 1) != 0,
                       absent = (of.absent >> lane & 1) != 0;
            if (turn != (lit ? 2 : moves || absent ? 1 : 0)) return;
            const Rgba ink = absent ? fault : moves ? with_alpha(color, 0.6f) : quiet;
            ui.list.AddLine({middle_of(lanes, of.from[lane]), lanes.max.y + 1},
                            {middle_of(row, lane), row.min.y - 1},
                            lit && !absent ? ui.ink(Ink::Selected) : ink, ui.px(lit ? 2 : 1));
        });
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const Rect box = box_of(row, lane);
        const bool active = (of.mask >> lane & 1) != 0, absent = (of.absent >> lane & 1) != 0;
        const Rgba fill = absent ? fault : (moved >> lane & 1) != 0 ? color : ui.ink(Ink::Cell);
        ui.list.AddRectFilled(box.min, box.max, fill);
        if (!active)
            hatch(ui, box, ui.ink(request.lanes[lane].exists ? Ink::LineStrong : Ink::Line), ui.px(4));
        if (active && fill == ui.ink(Ink::Cell))  // it keeps its own
            ui.list.AddRect(box.min, box.max, with_alpha(color, 0.7f), 0, 0, ui.px(1.5f));
        if (absent) {
            ui.list.AddLine(box.min, box.max, ui.context.palette.text_on(fault), ui.px(1.5f));
            ui.list.AddLine({box.min.x, box.max.y}, {box.max.x, box.min.y}, ui.context.palette.text_on(fault),
                            ui.px(1.5f));
        } else if (active) {
            write(type, box, of.gets[lane], fill);
        }
        if (active) write(type, box_of(lanes, lane), of.gives[lane], color);
        if (lane == lane_lit && active)
            ui.list.AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1},
                            ui.ink(Ink::Selected), 0, 0, ui.px(2));
        if (ui.over({box.min, {box.max.x + 1, box.max.y}}) && active) ui.tip = exchange_of_lane(of, lane);
    }
    if (lines > 0) column_numbers(ui, row, row.max.y + ui.px(2));
    if (lines < 2) return;
    note(ui, {area.min.x, row.max.y + ui.px(2) + line_height(ui, Size::Small)}, area.width(),
         of.absent != 0 ? std::vector<std::string>{"lanes above give, lanes below get; a cross: undefined",
                                                   "above give, below get; a cross: undefined"}
                        : std::vector<std::string>{"lanes above give, lanes below get; a frame keeps its own",
                                                   "above give, below get; framed: own"});
}

// The tiles of a product of matrices, in each cell who holds it. Returns the lane under the mouse.
std::optional<uint32_t> LanesPicture::fragments(std::optional<uint32_t> under) const {
    std::vector<look::FragmentTile> tiles;
    for (const ptx::MatrixRole role : {ptx::MatrixRole::A, ptx::MatrixRole::B, ptx::MatrixRole::D})
        tiles.push_back(look::fragment_tile(*request.exchange.form, role));
    const auto at = fragments_picture(ui, {{area.min.x, lanes.max.y + ui.px(6)}, area.max},
                                      {.tiles = tiles, .lane = lane_lit});
    if (!at) return under;
    return tiles[at->tile].holder(at->at).lane;
}

// movmatrix: each lane gets an element of two others.
void LanesPicture::transposed() const {
    const look::ExchangeView& of = request.exchange;
    int lines = 2;
    const Rect row = getting(lines);
    const std::optional<Font> type = type_of_lanes(true);
    for (const bool lit : {false, true})
        for_lanes(of.mask, [&](uint32_t lane) {
            if ((lane == lane_lit) != lit) return;
            for (const uint32_t element : {0u, 1u})
                ui.list.AddLine({middle_of(lanes, look::giver_of(lane, element)), lanes.max.y + 1},
                                {middle_of(row, lane), row.min.y - 1},
                                lit ? ui.ink(Ink::Selected) : with_alpha(color, 0.35f), ui.px(lit ? 2 : 1));
        });
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const Rect box = box_of(row, lane);
        ui.list.AddRectFilled(box.min, box.max, color);
        write(type, box, of.gets[lane], color);
        write(type, box_of(lanes, lane), of.gives[lane], color);
        if (lane == lane_lit)
            ui.list.AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1},
                            ui.ink(Ink::Selected), 0, 0, ui.px(2));
        if (ui.over({box.min, {box.max.x + 1, box.max.y}})) ui.tip = exchange_of_lane(of, lane);
    }
    if (lines > 0) column_numbers(ui, row, row.max.y + ui.px(2));
    if (lines == 2)
        note(ui, {area.min.x, row.max.y + ui.px(2) + line_height(ui, Size::Small)}, area.width(),
             {std::string("lanes above give, lanes below get: a half of two lanes each"),
              "above give, below get halves"});
}

// A box for the lanes that are together, with what all of them get.
void LanesPicture::together() const {
    const look::ExchangeView& of = request.exchange;
    int lines = 1;
    const Rect row = getting(lines);
    const std::optional<Font> type = type_of_lanes(false);
    const bool vote = ptx::is_vote(of.what);
    const auto count = static_cast<uint32_t>(of.groups.size());
    std::array<ImVec2, 32> ends{};
    // Lanes of a group may lie between those of others: then the boxes share the row evenly.
    bool apart = true;
    uint32_t last = 0;
    for (const uint32_t lanes_of : of.groups) {
        apart = apart && (lanes_of & last) == 0 &&
                (last == 0 || std::countr_zero(lanes_of) > 31 - std::countl_zero(last));
        last |= lanes_of;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t lanes_of = of.groups[i];
        const auto first = static_cast<size_t>(std::countr_zero(lanes_of)),
                   end = static_cast<size_t>(31 - std::countl_zero(lanes_of));
        Rect box{{box_of(row, first).min.x, row.min.y}, {box_of(row, end).max.x, row.max.y}};
        if (!apart)
            box = {{std::round(row.min.x + row.width() * f(i) / f(count)), row.min.y},
                   {std::round(row.min.x + row.width() * f(i + 1) / f(count)) - ui.px(2), row.max.y}};
        ui.list.AddRectFilled(box.min, box.max, color);
        write(ui.context.fonts.for_cells(of.gets[first], box.width() - ui.px(2), box.height()), box,
              of.gets[first], color);
        for_lanes(lanes_of, [&](uint32_t lane) {
            const float wide = box.width() * 0.8f;
            ends[lane] = {apart ? std::clamp(middle_of(lanes, lane), box.min.x + 2, box.max.x - 2)
                                : (box.min.x + box.max.x) / 2 + wide * (f(lane) / 31 - 0.5f) * 0.2f,
                          box.min.y - 1};
        });
        if (ui.over(box))
            ui.tip = of.valued ? fmt::format("{}: each gets {}", lanes_named(lanes_of), of.gets[first])
                               : lanes_named(lanes_of);
    }
    threads(0.5f, [&](uint32_t lane) { return ends[lane]; });
    for_lanes(of.mask, [&](uint32_t lane) {
        const Rect box = box_of(lanes, lane);
        const bool against = vote && (of.yes >> lane & 1) == 0;
        if (against) {  // hollow
            const float edge = std::max(ui.px(2), 1.f);
            ui.list.AddRectFilled({box.min.x + edge, box.min.y + edge}, {box.max.x - edge, box.max.y - edge},
                                  ui.ink(Ink::Panel));
        }
        if (!vote) write(type, box, of.gives[lane], color);
    });
    if (lines == 0) return;
    const float y = row.max.y + ui.px(2);
    if (vote)
        note(ui, {area.min.x, y}, area.width(),
             {std::string("full: votes for it; hollow: against it; below: what each gets"),
              "full: for it; hollow: against it"});
    else if (ptx::is_match(of.what))
        note(ui, {area.min.x, y}, area.width(),
             {fmt::format("{}; below: the lanes that hold each", counted(count, "different value")),
              counted(count, "different value")});
    else if (of.what == ptx::Exchange::Multiply)
        note(ui, {area.min.x, y}, area.width(),
             {std::string("each lane gives its fragments, and gets its own of D"),
              "each gives and gets fragments"});
    else
        note(ui, {area.min.x, y}, area.width(),
             {std::string("all lanes give; each gets what stands below"),
              "all lanes give, all get one value"});
}

}  // namespace tilescope::pictures
