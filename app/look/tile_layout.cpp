#include "app/look/tile_layout.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include <fmt/format.h>

#include "core/analysis/banks.h"

namespace tilescope::look {
namespace {

constexpr uint64_t kMostCellsLaidOut = 1u << 16;  // of an array that are looked at
constexpr int64_t kNone = -1;

using Places = std::map<std::pair<int64_t, int64_t>, int64_t>;  // row and column of the source -> byte

// The step at which to look: when the array is first read, or later.
uint32_t step_to_look(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint32_t step) {
    for (uint32_t at = step; at < index.steps; ++at) {
        const trace::Form& form = trace.form_of(index.first + at);
        if (form.array == array && trace.sites[form.site].kind == ptx::SiteKind::Load) return at;
    }
    return index.steps == 0 ? 0 : index.steps - 1;
}

bool holds_any(const playback::BlockReplay& replay, uint8_t array, uint32_t step) {
    return std::ranges::any_of(replay.shared_stores(), [&](const playback::BlockReplay::Store& store) {
        return store.to.array == array && store.step <= step;
    });
}

// Where elements of global arrays lie in it, by the array. A cell may hold several that are smaller.
std::map<uint8_t, Places> places_in(const trace::Trace& trace, const playback::BlockReplay& replay,
                                    uint8_t number, uint32_t step) {
    const Array& array = trace.launch.arrays[number];
    const uint64_t bytes = std::max(array.element_bytes(), 1u);
    std::map<uint8_t, Places> of_source;
    const auto place = [&](const playback::Element& element, uint64_t byte) {
        const Array& source = trace.launch.arrays[element.array];
        Position at = position_of(source, static_cast<int64_t>(element.index));
        if (source.rank < 2) at.row = at.col / kWarpSize, at.col %= kWarpSize;
        // Of an element that fills several cells, the first.
        of_source[element.array].try_emplace({at.slice * source.rows + at.row, at.col},
                                             static_cast<int64_t>(byte));
    };
    std::vector<std::pair<playback::Element, uint64_t>>
        behind;  // in a cell, unless they have one of their own
    for (uint64_t cell = 0; cell < std::min(array.elements(), kMostCellsLaidOut); ++cell) {
        const playback::CellState held = replay.cell(number, cell, step);
        if (!held.written || held.source.array == trace::kNoArray) continue;
        place(held.source, cell * bytes);
        const Array& source = trace.launch.arrays[held.source.array];
        const uint64_t element = std::max(source.element_bytes(), 1u);
        for (uint64_t k = 1; k * element < bytes && held.source.index + k < source.elements(); ++k)
            behind.push_back({{held.source.array, held.source.index + k}, cell * bytes + k * element});
    }
    for (const auto& [element, byte] : behind) place(element, byte);
    return of_source;
}

uint32_t widest_access(const trace::Trace& trace, uint8_t array) {
    uint32_t widest = 4;
    for (const trace::Form& form : trace.forms)
        if (const ptx::Site& site = trace.sites[form.site];
            form.array == array && site.bytes <= 16 && site.box == ptx::Box::None)
            widest = std::max(widest, std::bit_floor(site.bytes));
    return widest;
}

// In chunks of so many elements; nothing where these do not stay together.
std::optional<TileLayout> in_chunks(const Places& places, TileLayout tile, uint32_t element, uint32_t count) {
    int64_t last_row = 0, last_col = 0;
    tile.row = tile.col = INT64_MAX;
    for (const auto& [place, byte] : places) {
        tile.row = std::min(tile.row, place.first), last_row = std::max(last_row, place.first);
        tile.col = std::min(tile.col, place.second), last_col = std::max(last_col, place.second);
    }
    tile.elements = count, tile.chunk = count * element;
    const int64_t rows = last_row - tile.row + 1, cols = (last_col - tile.col) / count + 1;
    tile.rows = static_cast<uint32_t>(std::min<int64_t>(rows, kMostLaidOut));
    tile.cols = static_cast<uint32_t>(std::min<int64_t>(cols, kMostLaidOut));
    tile.cut = rows > kMostLaidOut || cols > kMostLaidOut;
    tile.at.assign(size_t{tile.rows} * tile.cols, kNone);
    std::vector<uint32_t> found(tile.at.size());
    for (const auto& [place, byte] : places) {
        const int64_t r = place.first - tile.row, c = (place.second - tile.col) / count;
        if (r >= tile.rows || c >= tile.cols) continue;
        const auto at = static_cast<size_t>(r * tile.cols + c);
        const int64_t first = byte - (place.second - tile.col) % count * element;
        if (found[at]++ > 0 && tile.at[at] != first) return std::nullopt;
        tile.at[at] = first;
        if (first < 0 || first % tile.chunk != 0) return std::nullopt;
    }
    const bool whole = std::ranges::all_of(found, [&](uint32_t of) { return of == 0 || of == count; });
    if (count > 1 && !whole) return std::nullopt;
    return tile;
}

analysis::RequestCost cost_along(const trace::Trace& trace, const TileLayout& layout, bool down) {
    std::array<uint64_t, kWarpSize> address{};
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < std::min<uint32_t>(down ? layout.rows : layout.cols, kWarpSize); ++lane) {
        const int64_t at = layout.byte(down ? lane : 0, down ? 0 : lane);
        if (at == kNone) continue;
        address[lane] = trace.launch.arrays[layout.array].base + static_cast<uint64_t>(at);
        mask |= 1u << lane;
    }
    const analysis::BankCost of = analysis::bank_cost(address.data(), mask, layout.chunk);
    return {of.wavefronts, of.ideal_wavefronts};
}

}  // namespace

std::vector<TileLayout> tile_layouts(const trace::Trace& trace, const BlockIndex& index,
                                     const playback::BlockReplay& replay, uint32_t step) {
    std::vector<TileLayout> layouts;
    for (size_t i = 0; i < trace.launch.arrays.size() && i < trace::kNoArray; ++i) {
        const Array& array = trace.launch.arrays[i];
        const auto number = static_cast<uint8_t>(i);
        if (array.space != Space::Shared) continue;
        uint32_t look = step;
        if (!holds_any(replay, number, look)) look = step_to_look(trace, index, number, step);
        const std::map<uint8_t, Places> of_source = places_in(trace, replay, number, look);
        for (const auto& [source, places] : of_source) {
            TileLayout tile;
            tile.array = number, tile.source = source;
            const uint32_t element = std::max(trace.launch.arrays[source].element_bytes(), 1u);
            for (uint32_t count = std::max(widest_access(trace, number) / element, 1u); count > 0; count /= 2)
                if (const auto made = in_chunks(places, tile, element, count)) {
                    layouts.push_back(*made);
                    break;
                }
        }
    }
    return layouts;
}

std::optional<LayoutRule> rule_of(const TileLayout& layout) {
    const auto lowest = [&](size_t row) {
        int64_t found = INT64_MAX;
        for (size_t c = 0; c < layout.cols; ++c)
            if (layout.byte(row, c) != kNone) found = std::min(found, layout.byte(row, c));
        return found;
    };
    if (layout.rows == 0 || layout.cols == 0 || layout.byte(0, 0) == kNone) return std::nullopt;
    const auto holds = [&](const LayoutRule& rule) {
        for (size_t r = 0; r < layout.rows; ++r)
            for (size_t c = 0; c < layout.cols; ++c) {
                if (layout.byte(r, c) == kNone) continue;
                const int64_t linear =
                    rule.start + static_cast<int64_t>(r) * rule.pitch + static_cast<int64_t>(c) * rule.step;
                if (linear < 0) return false;
                const auto byte = static_cast<uint64_t>(linear);
                if (std::cmp_not_equal(layout.byte(r, c), rule.swizzle ? rule.swizzle->moved(byte) : byte))
                    return false;
            }
        return true;
    };
    const int64_t step = layout.cols > 1 ? layout.byte(0, 1) - layout.byte(0, 0) : layout.chunk;
    const int64_t pitch = layout.rows > 1 ? layout.byte(1, 0) - layout.byte(0, 0) : step * layout.cols;
    LayoutRule rule{layout.byte(0, 0), pitch, step};
    if (holds(rule)) return rule;
    if (layout.rows < 2 || lowest(1) == INT64_MAX) return std::nullopt;
    rule = {lowest(0), lowest(1) - lowest(0), layout.chunk};
    if (holds(rule)) return rule;
    for (const analysis::Remedy& swizzle : analysis::swizzles_of_banks(uint64_t{1} << 16, layout.chunk)) {
        rule.swizzle = swizzle;
        if (holds(rule)) return rule;
    }
    return std::nullopt;
}

analysis::RequestCost cost_of_column(const trace::Trace& trace, const TileLayout& layout) {
    return cost_along(trace, layout, true);
}
analysis::RequestCost cost_of_row(const trace::Trace& trace, const TileLayout& layout) {
    return cost_along(trace, layout, false);
}

std::string layout_text(const trace::Trace& trace, const BlockIndex& index, const TileLayout& layout) {
    std::string text = fmt::format("{} in {}: ", name_in(index.notation, trace.launch.arrays[layout.source]),
                                   name_in(index.notation, trace.launch.arrays[layout.array]));
    const auto rule = rule_of(layout);
    const int64_t row_bytes = int64_t{layout.cols} * layout.chunk;
    if (!rule)
        text += "no padding and no swizzle gives these places";
    else if (rule->step != layout.chunk)
        text += fmt::format("columns of {} side by side, {} apart", counted(layout.rows, "element"),
                            counted(static_cast<uint64_t>(std::abs(rule->step)), "byte"));
    else if (rule->pitch > row_bytes && !layout.cut)
        text += fmt::format("rows of {} bytes, {} behind each of {} bytes", rule->pitch,
                            rule->pitch - row_bytes, row_bytes);
    else
        text += fmt::format("rows of {} bytes", rule->pitch);
    if (rule && rule->swizzle) text += fmt::format(", {} of their bytes", remedy_name(*rule->swizzle));
    const analysis::RequestCost down = cost_of_column(trace, layout), along = cost_of_row(trace, layout);
    const auto price = [](const analysis::RequestCost& of) {
        return of.cost == of.least
                   ? counted(of.cost, "wavefront")
                   : fmt::format("{} where {} would do", counted(of.cost, "wavefront"), of.least);
    };
    return text + fmt::format(". Lanes that read down a column, {} each, take {}; along a row {}.",
                              counted(layout.chunk, "byte"), price(down), price(along));
}

}  // namespace tilescope::look
