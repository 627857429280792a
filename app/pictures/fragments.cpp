// The tiles of a product of a warp.
//
//   A 16 x 16, f16        B 16 x 8, f16     D 16 x 8, f32          or, where that is the larger one      B
//        0  1  2  3 ..         0  1 ..           0  1 ..                                               A D
//    0   0  0  1  1        0   0  4 ..       0   0  0 ..
//    1   4  4 a0 a1        1   0  4 ..       1   4  4 ..
//
// A cell is an element; of 8 bits or fewer a register, whose elements lie side by side.
#include "app/pictures/fragments.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::pictures {
namespace {

using look::FragmentTile;
using ptx::FragmentPlace, ptx::MatrixPlace;

float as_float(size_t number) { return static_cast<float>(number); }

size_t letters_of(std::string_view text) {
    return static_cast<size_t>(std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

// A tile in cells.
struct CellsOfTile {
    uint32_t rows = 0, columns = 0, each = 1;  // elements of a cell
    std::string longest = "31";                // of what stands in one: a lane, or a value

    explicit CellsOfTile(const FragmentTile& tile)
        : rows(tile.rows),
          columns(tile.columns),
          each(ptx::bits_of(tile.form.type(tile.role)) < 16 ? tile.beside : 1) {
        (tile.down ? rows : columns) /= each;
    }
    float letters() const { return as_float(letters_of(longest) + 1); }  // with room beside them
};

// Where the cells of each tile begin, and their size: as high in all, as wide as what stands in them asks for.
struct TilesLaidOut {
    float letter = 0, high = 0;
    std::vector<float> wide;
    std::vector<ImVec2> at;
    float worth() const { return std::min(letter * 3, high * 1.6f); }
};

struct Rulers {
    float left = 0, top = 0, gap = 0;  // beside the rows; above the columns, with the head; between tiles
};

constexpr float kWidest = 58, kHighest = 30;  // logical pixels of a cell

float in_halves(float pixels) { return std::floor(pixels * 2) / 2; }

TilesLaidOut side_by_side(Ui& ui, const Rect& rect, std::span<const CellsOfTile> cells,
                          const Rulers& rulers) {
    float letters = 0;
    size_t rows = 1;
    for (const CellsOfTile& of : cells)
        letters += of.letters() * as_float(of.columns), rows = std::max<size_t>(rows, of.rows);
    const float labels = rulers.left * as_float(cells.size()) + rulers.gap * as_float(cells.size() - 1);
    TilesLaidOut made;
    made.letter = (rect.width() - labels) / letters;
    made.high = in_halves(std::min((rect.height() - rulers.top) / as_float(rows), ui.px(kHighest)));
    float x = rect.min.x;
    for (const CellsOfTile& of : cells) {
        made.wide.push_back(in_halves(std::min(made.letter * of.letters(), ui.px(kWidest))));
        made.at.push_back({x + rulers.left, rect.min.y + rulers.top});
        x += rulers.left + made.wide.back() * as_float(of.columns) + rulers.gap;
    }
    return made;
}

// A left of D, B above it.
TilesLaidOut as_a_product(Ui& ui, const Rect& rect, std::span<const CellsOfTile> cells,
                          const Rulers& rulers) {
    TilesLaidOut made;
    const CellsOfTile &a = cells[0], &b = cells[1];
    const float of_right = std::max(b.letters(), cells[2].letters());
    made.letter = (rect.width() - rulers.left * 2 - rulers.gap) /
                  (as_float(a.columns) * a.letters() + as_float(b.columns) * of_right);
    const auto wide = [&](float letters) {
        return in_halves(std::min(made.letter * letters, ui.px(kWidest)));
    };
    made.wide = {wide(a.letters()), wide(of_right), wide(of_right)};
    made.high = in_halves(std::min(
        (rect.height() - rulers.top * 2 - rulers.gap / 2) / as_float(a.rows + b.rows), ui.px(kHighest)));
    const float x = rect.min.x + rulers.left, y = rect.min.y + rulers.top;
    const float right = x + made.wide[0] * as_float(a.columns) + rulers.gap + rulers.left,
                low = y + made.high * as_float(b.rows) + rulers.gap / 2 + rulers.top;
    made.at = {{x, low}, {right, y}, {right, low}};
    return made;
}

// Every how manyth cell has room for its number.
uint32_t every(float pitch, float room) {
    uint32_t step = 1;
    while (pitch * static_cast<float>(step) < room) step *= 2;
    return step;
}

}  // namespace

std::optional<FragmentUnder> fragments_picture(Ui& ui, const Rect& rect, const FragmentsShown& shown) {
    const float small = line_height(ui, Size::Small);
    const draw::Font mono = ui.font(Face::Mono, Size::Small);
    std::vector<CellsOfTile> cells;
    uint32_t most = 0;
    for (const FragmentTile& tile : shown.tiles) {
        cells.emplace_back(tile);
        most = std::max(most, std::max(tile.rows, tile.columns) - 1);
    }
    if (cells.empty()) return std::nullopt;
    std::string longest_named = "a0";
    for (size_t i = 0; i < shown.tiles.size(); ++i) {
        const FragmentTile& tile = shown.tiles[i];
        const std::string last =
            fmt::format("a{}", tile.form.registers(tile.role) * tile.form.elements(tile.role) - 1);
        if (last.size() > longest_named.size()) longest_named = last;
        if (i < shown.values.size() && cells[i].each == 1)
            for (const std::string& value : shown.values[i])
                if (letters_of(value) > letters_of(cells[i].longest)) cells[i].longest = value;
    }
    const float number = draw::text_size(mono, std::to_string(most)).x;
    const Rulers rulers{number + ui.px(6), small * 2 + ui.px(2), ui.px(rect.width() < ui.px(800) ? 8 : 28)};
    TilesLaidOut laid = side_by_side(ui, rect, cells, rulers);
    if (cells.size() == 3)
        if (TilesLaidOut other = as_a_product(ui, rect, cells, rulers); other.worth() > laid.worth())
            laid = std::move(other);
    if (*std::ranges::min_element(laid.wide) < 2 || laid.high < 2) return std::nullopt;
    const uint8_t product = shown.lane ? look::product_of_lane(shown.tiles[0].form, *shown.lane) : 0;

    std::optional<FragmentUnder> under;
    for (size_t i = 0; i < shown.tiles.size(); ++i) {
        const FragmentTile& tile = shown.tiles[i];
        const CellsOfTile& of = cells[i];
        const ImVec2 at = laid.at[i];
        const float wide = laid.wide[i];
        const Rect all{at, {at.x + wide * as_float(of.columns), at.y + laid.high * as_float(of.rows)}};
        if (!ui.over(all)) continue;
        const ImVec2 mouse = ui.cursor();
        const auto along = [&](float from, float pitch, uint32_t each) {
            return static_cast<uint16_t>(std::max(0.f, (from) / pitch * as_float(each)));
        };
        const MatrixPlace place{std::min(along(mouse.y - at.y, laid.high, tile.down ? of.each : 1),
                                         static_cast<uint16_t>(tile.rows - 1)),
                                std::min(along(mouse.x - at.x, wide, tile.down ? 1 : of.each),
                                         static_cast<uint16_t>(tile.columns - 1)),
                                product};
        under = FragmentUnder{i, place};
    }

    for (size_t i = 0; i < shown.tiles.size(); ++i) {
        const FragmentTile& tile = shown.tiles[i];
        const CellsOfTile& of = cells[i];
        const ImVec2 from = laid.at[i];
        const float wide = laid.wide[i];
        const auto font = ui.context.fonts.for_cells(of.longest, wide - ui.px(1), laid.high - 1, Size::Body),
                   name_font =
                       ui.context.fonts.for_cells(longest_named, wide - ui.px(1), laid.high - 1, Size::Body);
        const uint32_t down = tile.down ? of.each : 1, across = tile.down ? 1 : of.each;
        const char letter = "ABCD"[static_cast<size_t>(tile.role)];
        const char* const type = ptx::name_of(tile.form.type(tile.role));
        const float room = wide * as_float(of.columns) + rulers.left;
        line(
            ui, {from.x - rulers.left, from.y - rulers.top}, room, Face::Strong, Size::Small, Ink::Text,
            fitting(ui.font(Face::Strong, Size::Small),
                    {fmt::format("{}  {} \u00d7 {}, {}", letter, tile.rows, tile.columns, type),
                     fmt::format("{} {} \u00d7 {}", letter, tile.rows, tile.columns), std::string(1, letter)},
                    room));
        const uint32_t column_step = every(wide, number + ui.px(5)),
                       row_step = every(laid.high, small - ui.px(2));
        for (uint32_t c = 0; c < of.columns; c += column_step)
            line(ui, {from.x + wide * (as_float(c) + 0.5f), from.y - small}, number + ui.px(8), Face::Mono,
                 Size::Small, Ink::TextFaint, std::to_string(c * across), Align::Center);
        for (uint32_t r = 0; r < of.rows; r += row_step)
            line(ui, {from.x - ui.px(4), from.y + laid.high * (as_float(r) + 0.5f) - small / 2}, rulers.left,
                 Face::Mono, Size::Small, Ink::TextFaint, std::to_string(r * down), Align::Right);
        for (uint32_t r = 0; r < of.rows; ++r)
            for (uint32_t c = 0; c < of.columns; ++c) {
                const MatrixPlace place{static_cast<uint16_t>(r * down), static_cast<uint16_t>(c * across),
                                        product};
                const FragmentPlace& held = tile.holder(place);
                // Elements of one register stand together.
                const uint32_t within = tile.beside > of.each ? held.element : 0;
                const float gap_x = tile.down || within + 1 == tile.beside / of.each ? 1.f : 0.f,
                            gap_y = !tile.down || within + 1 == tile.beside / of.each ? 1.f : 0.f;
                const ImVec2 corner{std::round(from.x + wide * as_float(c)),
                                    std::round(from.y + laid.high * as_float(r))};
                const Rect box{corner,
                               {std::round(from.x + wide * as_float(c + 1)) - gap_x,
                                std::round(from.y + laid.high * as_float(r + 1)) - gap_y}};
                const bool lit = shown.lane == held.lane;
                const Rgba ground = lit           ? ui.ink(Ink::Accent)
                                    : shown.named ? draw::mix(ui.context.palette.heat[held.lane * 8 + 4],
                                                              ui.ink(Ink::Panel), 0.55f)
                                                  : ui.ink(Ink::Cell);
                ui.list.AddRectFilled(box.min, box.max, ground);
                const bool valued = of.each == 1 && i < shown.values.size() && !shown.values[i].empty();
                const std::string said =
                    valued ? shown.values[i][(size_t{product} * tile.rows + place.row) * tile.columns +
                                             place.column]
                    : !shown.named || (!shown.values.empty() && !lit) ? ""
                    : lit ? look::fragment_name(tile.form, tile.role, held)
                          : std::to_string(held.lane);
                if (const auto& type_of = lit && !valued ? name_font : font; type_of && !said.empty())
                    draw::draw_text_in(ui.list, *type_of, box.min, box.max,
                                       ui.context.palette.text_on(ground), said);
                if (under && tile.holder(place).lane == shown.tiles[under->tile].holder(under->at).lane)
                    ui.list.AddRect(box.min, box.max, ui.ink(Ink::Selected), 0, 0, ui.px(1.5f));
            }
    }
    return under;
}

}  // namespace tilescope::pictures
