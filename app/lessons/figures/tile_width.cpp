// The tile width from a device's limits: what a block of T x T threads takes, and how many fit an SM.
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/limits/occupancy.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kDevice, kRegisters };

constexpr uint32_t kTiles[] = {2, 4, 8, 12, 16, 20, 24, 28, 32, 36};

const std::vector<analysis::DeviceSpec>& devices() { return kernels::devices(); }

struct TileFit {
    uint32_t tile = 0;
    analysis::Occupancy fits;
};
std::vector<TileFit> rows(std::span<const int> set) {
    const analysis::SmLimits& sm = devices()[static_cast<size_t>(set[kDevice])].sm;
    std::vector<TileFit> all;
    for (const uint32_t tile : kTiles) {
        const analysis::BlockUse use{tile * tile, static_cast<uint32_t>(set[kRegisters]), 2 * tile * tile * 4,
                                     -1};
        all.push_back({tile, analysis::occupancy(sm, use, analysis::Sum::Lecture)});
    }
    return all;
}

// The widest tile among those with which most threads are resident: it divides the loads the most.
const TileFit* best(const std::vector<TileFit>& all) {
    const TileFit* chosen = nullptr;
    for (const TileFit& row : all)
        if (row.fits.blocks > 0 && (chosen == nullptr || row.fits.threads >= chosen->fits.threads))
            chosen = &row;
    return chosen;
}
const TileFit* widest(const std::vector<TileFit>& all) {
    const TileFit* chosen = nullptr;
    for (const TileFit& row : all)
        if (row.fits.blocks > 0) chosen = &row;
    return chosen;
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const auto all = rows(set);
    const TileFit *of = best(all), *most = widest(all);
    return {{"best_tile", of == nullptr ? 0 : of->tile},
            {"best_threads", of == nullptr ? 0 : of->fits.threads, "thread"},
            {"widest_tile", most == nullptr ? 0 : most->tile}};
}

std::string concludes(std::span<const int> set) {
    const auto all = rows(set);
    const TileFit *of = best(all), *most = widest(all);
    if (of == nullptr) return "No block fits this SM with so many registers a thread.";
    std::string text = fmt::format(
        "T = {} keeps most threads resident ({} of {}) with the widest tile: global loads "
        "are divided by {}.",
        of->tile, grouped(of->fits.threads), grouped(of->fits.most_threads), of->tile);
    if (most->tile != of->tile)
        text += fmt::format(" T = {} divides them further, with {} threads resident.", most->tile,
                            grouped(most->fits.threads));
    return text;
}

// In full where there is room for each of them; without the block, which its row names, else.
std::string_view refused_words(const draw::Ui& ui, const std::vector<TileFit>& all, const TileFit& row,
                               float room) {
    const draw::Font font = ui.font(Face::Text, Size::Body);
    const bool fit = std::ranges::all_of(
        all, [&](const TileFit& one) { return draw::text_size(font, one.fits.refused).x <= room; });
    const std::string_view whole = row.fits.refused;
    const size_t verb = whole.find(" do");  // "does not launch: ...", "do not fit: ..."
    return fit || verb == std::string::npos ? whole : whole.substr(verb + 1);
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const auto all = rows(set);
    const bool hidden = asked(session);
    const TileFit* const chosen = hidden ? nullptr : best(all);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    struct TileColumn {
        const char *head, *brief;
        float at;
    };
    const float w = rect.width();
    const TileColumn columns[] = {{"T", "T", 0.05f},
                                  {"threads per block", "threads", 0.2f},
                                  {"shared memory per block", "shared memory", 0.38f},
                                  {"blocks per SM", "blocks", 0.52f},
                                  {"loads divided by", "loads / by", 0.66f}};
    for (const TileColumn& column : columns)
        note(ui, {rect.min.x + w * column.at, rect.min.y}, w * 0.175f,
             fitting(ui.font(Face::Text, Size::Small), {column.head, column.brief}, w * 0.175f),
             Align::Right);
    note(ui, {rect.min.x + w * 0.69f, rect.min.y}, w * 0.3f, "threads resident");
    const float high =
        std::min((rect.height() - small - ui.px(8)) / static_cast<float>(all.size()), body + ui.px(40));
    float y = rect.min.y + small + ui.px(8);
    for (const TileFit& row : all) {
        const Rect band{{rect.min.x, y}, {rect.max.x, y + high - ui.px(2)}};
        const bool on = &row == chosen;
        if (on) fill(ui, band, Ink::Raised, 4);
        if (on)
            ui.list.AddRectFilled(band.min, {band.min.x + ui.px(3), band.max.y}, ui.ink(Ink::Accent),
                                  ui.px(2));
        const float text = y + (high - body) / 2;
        const auto cell = [&](size_t column, const std::string& words, Ink ink = Ink::Text) {
            line(ui, {rect.min.x + w * columns[column].at, text}, w * 0.15f, on ? Face::Strong : Face::Mono,
                 Size::Body, ink, words, Align::Right);
        };
        const bool runs = hidden || row.fits.blocks > 0;
        cell(0, std::to_string(row.tile), runs ? Ink::Text : Ink::TextFaint);
        cell(1, grouped(row.tile * row.tile), runs ? Ink::Text : Ink::TextFaint);
        cell(2, grouped(2 * row.tile * row.tile * 4) + " B", runs ? Ink::Text : Ink::TextFaint);
        if (hidden) {
            unknown(ui,
                    {{rect.min.x + w * 0.42f, band.min.y + ui.px(2)}, {rect.max.x, band.max.y - ui.px(2)}});
        } else if (!runs) {
            line(ui, {rect.min.x + w * 0.42f, text}, w * 0.57f, Face::Text, Size::Body, Ink::Fault,
                 refused_words(ui, all, row, w * 0.57f));
        } else {
            cell(3, std::to_string(row.fits.blocks));
            cell(4, std::to_string(row.tile));
            const float from = rect.min.x + w * 0.69f, room = w * 0.3f - ui.px(70);
            const auto length = [&](uint32_t threads) {
                return room * static_cast<float>(threads) / static_cast<float>(row.fits.most_threads);
            };
            ui.list.AddRect({from, text + ui.px(3)}, {from + room, text + body - ui.px(3)},
                            ui.ink(Ink::Line));
            fill(ui, {{from, text + ui.px(3)}, {from + length(row.fits.threads), text + body - ui.px(3)}},
                 Ink::SharedLoad);
            line(ui, {rect.max.x - ui.px(8), text}, ui.px(60), Face::Mono, Size::Body, Ink::Text,
                 grouped(row.fits.threads), Align::Right);
        }
        y += high;
    }
}

}  // namespace

Figure tile_width_figure() {
    Figure figure{"tile_width",
                  "The tile width from a device's limits",
                  "A row is a tile width: what its block takes, and how many threads an SM then holds.",
                  {{"device", "Device", 0, static_cast<int>(devices().size()) - 1, 0},
                   {"registers", "Registers per thread", 8, 128, 16, 2}},
                  numbers,
                  concludes,
                  draw_figure};
    for (const analysis::DeviceSpec& device : devices())
        figure.parameters[kDevice].words.push_back(name_of(device));
    return figure;
}

}  // namespace tilescope::lessons
