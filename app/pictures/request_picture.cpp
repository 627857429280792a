// A request as a picture: its title, its verdict, and a thread from every lane to what it meets.
//
//   lanes    [0][1][2] ...                   [31]
//             \  |  /                        /           a thread from every lane to its sector
//   sectors  [s s s s][s s s s] ...                      a box a line of 128 bytes, filled as far as used
//   banks    | | |#| | ...                               shared memory: 32 columns, words stacked; where
//            [||#|||||] [|#||||||] ...                    lanes are served in groups, once for each group
//   gets     [0][1][2] ...                   [31]        ldmatrix: the lanes above point to rows, these get words
//   halves   [64 bytes]      [64 bytes]                  an older GPU: the transactions of each half warp
//   addresses  |#| |                                     atomics, constant memory: a column an address, as
//                                                        high as lanes meet there
//                                                      (an exchange among lanes: exchange_picture.cpp)
//
// and of a barrier with clocks how long each warp stands at it: a row per warp, from its arrival on the left
// to the moment at which the barrier opens for all of them.
//
//   warp 0  |//////////////////////|   412
//   warp 1        |////////////////|   300
//   warp 2                        ||     0     the last to come does not wait
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "app/pictures/box_picture.h"
#include "app/pictures/lanes_picture.h"
#include "app/pictures/pipeline.h"
#include "core/base/words.h"

namespace tilescope::pictures {
namespace {

std::string lanes_in(uint32_t mask) { return counted(static_cast<uint64_t>(std::popcount(mask)), "lane"); }

void barrier_picture(Ui& ui, const Rect& rect, const BarrierTimes& barrier, uint32_t current) {
    const float small = line_height(ui, Size::Small);
    const float pitch = std::floor(std::min((rect.height() - small) / f(barrier.arrivals.size()), ui.px(18)));
    if (pitch < ui.px(3) || barrier.opens == barrier.first) return;
    const bool numbers = pitch >= ui.px(12);
    const float left = numbers ? ui.px(62) : 0, right = ui.px(58);
    const Rect plot{{rect.min.x + left, rect.min.y + small}, {rect.max.x - right, rect.max.y}};
    note(ui, rect.min, rect.width() - right, "from arrival to opening");
    note(ui, {rect.max.x, rect.min.y}, right, "clocks", Align::Right);
    std::vector<BarrierTimes::WarpArrival> arrivals = barrier.arrivals;
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

void column_numbers(Ui& ui, const Rect& row, float y) {
    for (const size_t column : {0u, 8u, 16u, 24u, 31u})
        line(ui, {middle_of(row, column), y}, ui.px(30), Face::Mono, Size::Small, Ink::TextFaint,
             std::to_string(column), Align::Center);
}

// Lines of 128 bytes, up to 8 in a row; of very many the first ones.
void LanesPicture::sectors() const {
    const float free = std::clamp((area.height() - ui.px(60)) * 0.4f, ui.px(24), ui.px(130));
    const Rect room{{area.min.x + 2, lanes.max.y + free},
                    {area.max.x - 2, area.max.y - line_height(ui, Size::Small)}};
    const size_t count = request.lines.size();
    const size_t columns = count <= 4 ? std::max<size_t>(count, 2) : 8;
    const size_t rows = (count + columns - 1) / columns;
    const float gap = ui.px(6), row_gap = ui.px(8);
    const float width = (room.width() - gap * f(columns - 1)) / f(columns);
    const float height =
        std::clamp((room.height() - row_gap * f(rows)) / f(std::max<size_t>(rows, 1)), ui.px(8), ui.px(44));
    const auto rows_shown =
        static_cast<size_t>(std::max(1.f, (room.height() + row_gap) / (height + row_gap)));
    const size_t shown = std::min(count, rows_shown * columns);
    float bottom = room.min.y;
    std::vector<ImVec2> tops(request.sectors.size());  // the middle of the top edge of every sector
    for (size_t i = 0; i < shown; ++i) {
        const ImVec2 at{room.min.x + f(i % columns) * (width + gap),
                        room.min.y + f(i / columns) * (height + row_gap)};
        bottom = at.y + height;
        for (size_t part = 0; part < 4; ++part) {
            const Rect box{{std::round(at.x + width * f(part) / 4), at.y},
                           {std::round(at.x + width * f(part + 1) / 4) - 1, at.y + height}};
            const int32_t sector = request.lines[i].sector[part];
            ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Cell));
            if (sector < 0) continue;
            const look::SectorView& of = request.sectors[static_cast<size_t>(sector)];
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
    const ImVec2 below{(room.min.x + room.max.x) / 2, bottom};  // of lanes whose line is not drawn
    threads(0.55f, [&](uint32_t lane) {
        const ImVec2 top = tops[request.lanes[lane].sector];
        return top.y > 0 ? top : below;
    });
    const std::string sectors_said = counted(request.sectors.size(), "sector"),
                      lines_said = counted(request.lines.size(), "line");
    note(ui, {area.min.x, bottom + ui.px(5)}, area.width(),
         {fmt::format("{} (32 bytes) in {} (128 bytes){}", sectors_said, lines_said,
                      shown < count ? fmt::format(", of which {} are drawn", shown) : ""),
          fmt::format("{} in {}", sectors_said, lines_said)});
}

// Of what moves in bulk through shared memory: its array from end to end, and in it the part that each lane moves.
void LanesPicture::part_of_array() const {
    const float small = line_height(ui, Size::Small);
    const float free = std::clamp((area.height() - ui.px(60)) * 0.4f, ui.px(24), ui.px(90));
    const Rect bar{{area.min.x, lanes.max.y + free}, {area.max.x, lanes.max.y + free + ui.px(22)}};
    uint64_t first = UINT64_MAX, end = 0;
    for (const look::PieceView& piece : request.pieces)
        first = std::min(first, piece.offset), end = std::max(end, piece.offset + piece.bytes);
    if (end == 0) return;
    const uint64_t all = std::max(request.array_bytes, end);
    const auto x_of = [&](uint64_t byte) {
        return bar.min.x + bar.width() * static_cast<float>(byte) / static_cast<float>(all);
    };
    ui.list.AddRectFilled(bar.min, bar.max, ui.ink(Ink::Cell));
    std::array<ImVec2, kWarpSize> tops{};  // of each lane, the middle of its first piece
    for (const look::PieceView& piece : request.pieces) {
        const float x0 = x_of(piece.offset), x1 = std::max(x_of(piece.offset + piece.bytes), x0 + 1);
        const Rect part{{x0, bar.min.y}, {x1, bar.max.y}};
        ui.list.AddRectFilled(part.min, part.max, color);
        if (piece.lane == lane_lit)
            ui.list.AddRect(part.min, part.max, ui.ink(Ink::Selected), 0, 0, ui.px(2));
        if (ui.over(part))
            ui.tip = fmt::format("bytes {} to {} of {}", grouped(piece.offset),
                                 grouped(piece.offset + piece.bytes - 1), request.array_name);
        if (tops[piece.lane].y == 0) tops[piece.lane] = {(x0 + x1) / 2, bar.min.y};
    }
    ui.list.AddRect({bar.min.x - 1, bar.min.y - 1}, {bar.max.x + 1, bar.max.y + 1}, ui.ink(Ink::LineStrong));
    threads(0.55f, [&](uint32_t lane) { return tops[lane]; });
    const float y = bar.max.y + ui.px(5);
    note(ui, {area.min.x, y}, area.width(),
         {fmt::format("bytes {} to {} of the {} of {}", grouped(first), grouped(end - 1), grouped(all),
                      request.array_name),
          fmt::format("bytes {} to {}", grouped(first), grouped(end - 1))});
    if (!request.counted_by.empty() && y + small * 2 <= area.max.y)
        note(ui, {area.min.x, y + small}, area.width(),
             {fmt::format("{} counts the bytes that have landed", request.counted_by),
              fmt::format("counted by {}", request.counted_by)});
}

// Of an older GPU: what each half warp asks for, one transaction after the other. A box as wide as its bytes,
// filled as far as they are used.
void LanesPicture::transactions(const OlderView& older) const {
    const float small = line_height(ui, Size::Small);
    const float bracket = lanes.max.y + ui.px(4), words = bracket + ui.px(4);
    const float free = std::clamp((area.height() - ui.px(60)) * 0.4f, ui.px(24) + small, ui.px(130));
    const float top = lanes.max.y + free, gap = ui.px(3);
    const bool noted = area.max.y - top >= small + ui.px(30);  // else the boxes have the room
    const float bottom = area.max.y - (noted ? small + ui.px(6) : ui.px(2));
    uint32_t widest = 32;
    for (const OlderView::OlderTransaction& of : older.transactions) widest = std::max(widest, of.bytes);
    std::array<ImVec2, 32> ends{};
    std::array<size_t, 2> counts{};
    for (const bool second : {false, true}) {
        std::vector<const OlderView::OlderTransaction*> all;
        for (const OlderView::OlderTransaction& of : older.transactions)
            if ((of.lanes >> 16 != 0) == second) all.push_back(&of);
        counts[second ? 1 : 0] = all.size();
        const Rect half{{box_of(lanes, second ? 16 : 0).min.x, top},
                        {box_of(lanes, second ? 31 : 15).max.x - (second ? 0 : ui.px(6)), bottom}};
        ui.list.AddLine({half.min.x, bracket}, {half.max.x, bracket}, ui.ink(Ink::LineStrong), ui.px(1.5f));
        for (const float x : {half.min.x, half.max.x})
            ui.list.AddLine({x, bracket - ui.px(3)}, {x, bracket}, ui.ink(Ink::LineStrong), ui.px(1.5f));
        const size_t columns = all.size() <= 2 ? 2 : all.size() <= 4 ? 4 : 8;
        const size_t rows = std::max<size_t>((all.size() + columns - 1) / columns, 1);
        const float slot = (half.width() - gap * f(columns - 1)) / f(columns);
        const float high = std::clamp((half.height() - gap * f(rows - 1)) / f(rows), ui.px(8), ui.px(34));
        for (size_t i = 0; i < all.size(); ++i) {
            const OlderView::OlderTransaction& of = *all[i];
            const ImVec2 at{std::round(half.min.x + f(i % columns) * (slot + gap)),
                            std::round(half.min.y + f(i / columns) * (high + gap))};
            const float wide = std::max(slot * f(of.bytes) / f(widest), ui.px(4));
            const Rect box{at, {at.x + wide, at.y + high}};
            ui.list.AddRectFilled(box.min, box.max, with_alpha(color, 0.22f));
            ui.list.AddRectFilled({box.min.x, box.max.y - high * f(of.used) / f(of.bytes)}, box.max, color);
            ui.list.AddRect(box.min, box.max, color);
            const ImVec2 end{(box.min.x + box.max.x) / 2, box.min.y};
            for_lanes(of.lanes, [&](uint32_t lane) { ends[lane] = end; });
            if (ui.over(box))
                ui.tip = fmt::format("transaction {} of this half warp: bytes {} to {} of {}, {} used, by {}",
                                     i + 1, of.offset, of.offset + of.bytes - 1, request.array_name, of.used,
                                     lanes_in(of.lanes));
        }
    }
    threads(0.55f, [&](uint32_t lane) { return ends[lane]; });
    for (const bool second : {false, true}) {
        const Rect half{{box_of(lanes, second ? 16 : 0).min.x, words}, box_of(lanes, second ? 31 : 15).max};
        const std::string name = second ? "half warp 1" : "half warp 0";
        const float width = draw::text_size(ui.font(Face::Text, Size::Small), name).x;
        const float x = (half.min.x + half.max.x - width) / 2;
        ui.list.AddRectFilled({x - ui.px(3), words}, {x + width + ui.px(3), words + small},
                              ui.ink(Ink::Panel));
        note(ui, {x, words}, width + 1, name);
    }
    if (!noted) return;
    note(ui, {area.min.x, area.max.y - small}, area.width(),
         {fmt::format("{} by half warp 0, {} by half warp 1", counted(counts[0], "transaction"), counts[1]),
          fmt::format("transactions: {} and {}", counts[0], counts[1])});
}

// A strip of the 32 banks below each group of lanes, all drawn to one scale: the heights of their tallest stacks add
// up to the wavefronts of the verdict.
void LanesPicture::banks() const {
    const float small = line_height(ui, Size::Small);
    std::vector<size_t> tallest;  // of each group
    for (const uint32_t group : request.groups) tallest.push_back(tallest_of_group(request, group));
    const bool one = request.group_lanes == kWarpSize;  // the banks lie below the lanes, as wide as they
    const size_t most = tallest.empty() ? 0 : *std::ranges::max_element(tallest);
    // Below them the lanes that get the words, where there is room.
    const bool moves = request.matrices != 0 && area.height() >= ui.px(118);
    const float below_strips =
        moves ? lanes.height() + std::clamp(area.height() * 0.1f, ui.px(16), ui.px(60)) : 0;
    const float free = std::clamp((area.height() - below_strips - ui.px(60)) * 0.3f, ui.px(20), ui.px(110));
    const bool noted = one || area.height() >= ui.px(120);  // else the strips have the room
    const float floor_y = area.max.y - below_strips - small * (noted ? 2 : 1), ceiling = lanes.max.y + free;
    const size_t room = std::max<size_t>(most, 4);
    const float height = std::clamp((floor_y - ceiling) / f(room), ui.px(0.5f), ui.px(26));
    const float base = std::min(floor_y, ceiling + height * f(room));
    const float gap = height >= ui.px(3) ? std::min(1.f, height / 4) : 0;  // thinner words make one column
    std::vector<WordBox> boxes;
    std::vector<float> middles;  // of the strips
    const auto top_of = [&](size_t stacked) { return base - height * f(stacked); };
    std::array<ImVec2, kWarpSize> ends{};
    std::string sum;
    for (size_t strip = 0; strip < request.groups.size(); ++strip) {
        const uint32_t group = request.groups[strip];
        const auto first =
            static_cast<uint32_t>(std::countr_zero(group)) / request.group_lanes * request.group_lanes;
        const float side = one ? 0 : ui.px(3);  // between strips
        const Rect row{
            {one ? area.min.x : box_of(lanes, first).min.x + side, ceiling},
            {one ? area.max.x : box_of(lanes, first + request.group_lanes - 1).max.x - side, base}};
        const bool narrow = row.width() < 32 * ui.px(3);  // columns without a gap between them
        for (size_t bank = 0; bank < 32; ++bank) {
            const float x0 = box_of(row, bank).min.x, x1 = box_of(row, bank).max.x + (narrow ? 1 : 0);
            ui.list.AddRectFilled({x0, top_of(room)}, {x1, base}, with_alpha(ui.ink(Ink::Cell), 0.6f));
            const std::vector<look::WordView> stack = stack_of(request, group, bank);
            for (size_t i = 0; i < stack.size(); ++i) {
                const Rect box{{x0, top_of(i + 1)}, {x1, top_of(i) - gap}};
                ui.list.AddRectFilled(box.min, box.max, i > 0 ? ui.ink(Ink::Fault) : color);
                if (moves) boxes.push_back({stack[i], box});
                if (ui.over(box))
                    ui.tip =
                        fmt::format("bank {}, word {}: {}", bank, stack[i].number, lanes_in(stack[i].lanes));
                for_lanes(stack[i].lanes, [&](uint32_t lane) {
                    if (request.lanes[lane].bank == bank) ends[lane] = {middle_of(row, bank), box.min.y};
                });
            }
            ui.list.AddLine({x0, base}, {x1, base}, ui.ink(Ink::LineStrong));
        }
        if (one) continue;
        middles.push_back((row.min.x + row.max.x) / 2);
        sum += fmt::format("{}{}", sum.empty() ? "" : " + ", tallest[strip]);
    }
    threads(0.45f, [&](uint32_t lane) { return ends[lane]; });
    if (one) column_numbers(ui, area, base + ui.px(2));
    const auto heights = [&] {  // of the strips, over what goes to the lanes below
        for (size_t strip = 0; strip < middles.size(); ++strip) {
            const float half = ui.px(9);
            if (moves)
                ui.list.AddRectFilled({middles[strip] - half, base + ui.px(2)},
                                      {middles[strip] + half, base + ui.px(2) + small}, ui.ink(Ink::Panel));
            line(ui, {middles[strip], base + ui.px(2)}, ui.px(60), Face::Mono, Size::Small,
                 tallest[strip] > 1 ? Ink::Fault : Ink::TextQuiet, std::to_string(tallest[strip]),
                 Align::Center);
        }
    };
    if (!moves) heights();
    const std::string words = counted(most, "word");
    ImVec2 below{area.min.x, base + ui.px(2) + small};
    if (moves) {
        const float top = below.y + below_strips - lanes.height() - ui.px(2);
        receivers({{area.min.x, top}, {area.max.x, top + lanes.height()}}, boxes);
        heights();
        below.y = top + lanes.height() + ui.px(2);
        const char* const does = is_load(request.kind) ? "get" : "give";
        note(ui, below, area.width(),
             {fmt::format("above: lanes point to rows; below: lanes {} words; wavefronts: {}", does, sum),
              fmt::format("above point to rows, below {} words", does),
              fmt::format("point, and below {}", does)});
    } else if (one)
        note(
            ui, below, area.width(),
            {fmt::format("32 banks; the tallest stack: {}", words), fmt::format("tallest stack: {}", words)});
    else if (noted)
        note(ui, below, area.width(),
             {fmt::format("32 banks for each {} lanes; wavefronts: {}", request.group_lanes, sum),
              fmt::format("32 banks for each {} lanes", request.group_lanes)});
}

// Of a request that moves matrices the lanes that get its words, or give them, whoever pointed to them; of the lit lane
// the row that it points to, framed, and the elements that it gets, filled.
void LanesPicture::receivers(const Rect& row, const std::vector<WordBox>& words) const {
    const Rgba lit = ui.ink(Ink::Selected);
    const auto box_of_word = [&](uint32_t pointer, uint32_t number) -> const Rect* {
        const uint64_t word = request.lanes[pointer].word + number;
        const auto found = std::ranges::find_if(words, [&](const WordBox& of) {
            return of.word.number == word && (of.word.lanes >> pointer & 1) != 0;
        });
        return found == words.end() ? nullptr : &found->box;
    };
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const Rect box = box_of(row, lane);
        ui.list.AddRectFilled(box.min, box.max, with_alpha(color, 0.45f));
        if (ui.over({box.min, {box.max.x + 1, box.max.y}}) && request.lanes[lane].exists)
            ui.tip = fmt::format("lane {} {}", lane, moved_text(request, lane));
        if (lane == lane_lit)
            ui.list.AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1}, lit, 0, 0,
                            ui.px(2));
    }
    if (lane_lit >= kWarpSize) return;
    if (request.lanes[lane_lit].active)
        for (uint32_t word = 0; word < 4; ++word)
            if (const Rect* const box = box_of_word(lane_lit, word))
                ui.list.AddRect({box->min.x - 1, box->min.y - 1}, {box->max.x + 1, box->max.y + 1}, lit);
    for (uint32_t matrix = 0; matrix < request.matrices; ++matrix)
        for (const uint32_t element : {0u, 1u}) {
            const look::MovedElement moved = moved_element(request, lane_lit, matrix, element);
            const Rect* const box = box_of_word(moved.pointer, moved.column / 2);
            if (box == nullptr) continue;
            const float half = box->width() / 2, x = box->min.x + (moved.column % 2 == 0 ? 0 : half);
            ui.list.AddRectFilled({x, box->min.y}, {x + half, box->max.y}, lit);
            if (element == 1 && !request.transposed) continue;  // of the same word
            ui.list.AddLine({x + half / 2, box->max.y}, {middle_of(row, lane_lit), row.min.y - 1},
                            with_alpha(lit, 0.7f), ui.px(1));
        }
}

// Marks what must wait: for atomics all lanes but one at an address, for constant memory all addresses but
// one.
void LanesPicture::addresses() const {
    const size_t count = std::max<size_t>(request.addresses.size(), 1);
    size_t most = 1;
    for (const look::WordView& word : request.addresses)
        most = std::max(most, static_cast<size_t>(std::popcount(word.lanes)));
    const float small = line_height(ui, Size::Small);
    const float free = std::clamp((area.height() - ui.px(60)) * 0.3f, ui.px(20), ui.px(110));
    const float floor_y = area.max.y - small * 1.5f, ceiling = lanes.max.y + free;
    const size_t room = std::max<size_t>(most, 4);
    const float height = std::clamp((floor_y - ceiling) / f(room), ui.px(0.5f), ui.px(26));
    const float base = std::min(floor_y, ceiling + height * f(room));
    const float gap = height >= ui.px(3) ? std::min(1.f, height / 4) : 0;
    const float pitch = std::min(area.width() / f(count), ui.px(40));
    const float left = (area.min.x + area.max.x - pitch * f(count)) / 2;
    const auto x_of = [&](size_t column) { return std::round(left + pitch * f(column)); };
    const auto top_of = [&](size_t stacked) { return base - height * f(stacked); };
    const bool atomic = is_atomic(request.kind);
    std::array<ImVec2, 32> ends{};
    for (size_t at = 0; at < request.addresses.size(); ++at) {
        const look::WordView& word = request.addresses[at];
        const Rect column{{x_of(at), top_of(room)}, {x_of(at + 1) - 1, base}};
        ui.list.AddRectFilled(column.min, column.max, with_alpha(ui.ink(Ink::Cell), 0.6f));
        size_t stacked = 0;
        for_lanes(word.lanes, [&](uint32_t lane) {
            const Rect box{{column.min.x, top_of(stacked + 1)}, {column.max.x, top_of(stacked) - gap}};
            const bool waits = atomic ? stacked > 0 : at > 0;
            ui.list.AddRectFilled(box.min, box.max, waits ? ui.ink(Ink::Fault) : color);
            ends[lane] = {(column.min.x + column.max.x) / 2, box.min.y};
            ++stacked;
        });
        ui.list.AddLine({column.min.x, base}, {column.max.x, base}, ui.ink(Ink::LineStrong));
        if (ui.over(column))
            ui.tip = fmt::format("byte {} of {}: {}", grouped(word.number), request.array_name,
                                 lanes_in(word.lanes));
    }
    threads(0.45f, [&](uint32_t lane) { return ends[lane]; });
    const std::string said = fmt::format("{} different address{}", count, count == 1 ? "" : "es");
    const std::string tallest = counted(most, "lane");
    note(ui, {area.min.x, base + ui.px(4)}, area.width(),
         {fmt::format("{}; at most {} at one", said, tallest), said});
}

void request_title(Ui& ui, ImVec2 at, float width, const RequestView& request) {
    const float mark = ui.px(14), body = line_height(ui, Size::Body);
    sign(ui, {{at.x, at.y + (body - mark) / 2}, {at.x + mark, at.y + (body + mark) / 2}}, request.kind);
    line(ui, {at.x + mark + ui.px(8), at.y}, width - mark - ui.px(8), Face::Strong, Size::Body, Ink::Text,
         request.title);
}

float request_verdict(Ui& ui, ImVec2 at, float width, const RequestView& request, int most, bool tight) {
    if (is_judged(request) || request.kind == StepKind::Exchange) {
        const float half = ui.px(6);
        const ImVec2 center{at.x + half, at.y + line_height(ui, Size::Body) / 2};
        if (request.good && request.least)
            ui.list.AddCircleFilled(center, half, ui.ink(Ink::SharedLoad));
        else if (request.good)  // a ring: the block's shape allows no less, but less would do
            ui.list.AddCircle(center, half - ui.px(1), ui.ink(Ink::TextQuiet), 0, ui.px(2));
        else
            ui.list.AddTriangleFilled({center.x, center.y - half}, {center.x + half, center.y + half},
                                      {center.x - half, center.y + half}, ui.ink(Ink::Fault));
        at.x += half * 2 + ui.px(8), width -= half * 2 + ui.px(8);
    }
    const bool small = tight && wrapped(ui.font(Face::Text, Size::Body), request.verdict, width).size() >
                                    static_cast<size_t>(most);
    const float height = paragraph(ui, at, width, Face::Text, small ? Size::Small : Size::Body, Ink::Text,
                                   request.verdict, small ? most + 1 : most);
    if (request.mask_note.empty() || tight) return height;
    return height + paragraph(ui, {at.x, at.y + height}, width, Face::Text, Size::Small, Ink::TextQuiet,
                              request.mask_note, 3);
}

std::optional<uint32_t> request_picture(Ui& ui, const Rect& whole, const RequestView& request,
                                        const BarrierTimes* barrier, uint32_t lane_lit,
                                        const OlderView* older) {
    const float top = whole.min.y + line_height(ui, Size::Small);
    const float high = ui.px(request.kind == StepKind::Barrier ? 16 : 18);
    // A copy into a ring has its stages below it, where there is room for both.
    const float ring = request.box && !request.lies && older == nullptr
                           ? pipeline_height(ui, request.pipeline, whole.height() - ui.px(124))
                           : 0;
    const Rect area{whole.min, {whole.max.x, whole.max.y - ring - (ring > 0 ? ui.px(8) : 0)}};
    if (ring > 0)
        pipeline_picture(ui, {{whole.min.x, whole.max.y - ring}, whole.max}, request.pipeline,
                         ui.ink(ink_of(request.kind)));
    // Where the stages need it, they have the room of the lanes.
    if (is_of_mbarrier(request.kind) && !request.pipeline.empty() &&
        pipeline_height(ui, request.pipeline, area.max.y - top - high - ui.px(12)) <= 0) {
        pipeline_picture(ui, area, request.pipeline, ui.ink(ink_of(request.kind)));
        return std::nullopt;
    }
    const LanesPicture picture{ui, area, request, lane_lit, {{area.min.x, top}, {area.max.x, top + high}}};
    column_numbers(ui, picture.lanes, area.min.y);
    if (request.kind == StepKind::Exchange) {  // which writes what lanes give into their boxes
        const std::optional<uint32_t> under = picture.lanes_row();
        if (request.exchange.shuffles())
            picture.shuffle();
        else if (request.exchange.what == ptx::Exchange::Transpose)
            picture.transposed();
        else if (request.exchange.form)
            return picture.fragments(under);
        else
            picture.together();
        return under;
    }
    if (is_of_mbarrier(request.kind)) {
        const Rect below{{area.min.x, picture.lanes.max.y + ui.px(12)}, area.max};
        if (request.pipeline.empty())
            barriers_picture(ui, below, request.signal, picture.color);
        else if (pipeline_height(ui, request.pipeline, below.height()) > 0)
            pipeline_picture(ui, below, request.pipeline, picture.color);
    } else if (request.kind != StepKind::Barrier) {
        if (older != nullptr)
            picture.transactions(*older);
        else if (!request.addresses.empty())
            picture.addresses();
        else if (analysis::has_sectors(space_of(request.kind)))
            picture.sectors();
        else if (request.lies) {
            const Rect below{{area.min.x, picture.lanes.max.y + ui.px(12)}, area.max};
            if (const std::string chunk = box_picture(ui, below, *request.lies, picture.color);
                !chunk.empty())
                ui.tip = chunk;
        } else if (request.box)
            picture.part_of_array();
        else
            picture.banks();
    } else if (barrier != nullptr) {
        barrier_picture(ui, {{area.min.x, top + high + ui.px(8)}, area.max}, *barrier, request.warp);
    }
    return picture.lanes_row();
}

}  // namespace tilescope::pictures
