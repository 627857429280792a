// L1 of the SM that the cursor's block runs on, as it is at the step.
//
//   set      0 1 2 3 ...
//   newest  +------------     a column a set; the line on top was used last, the lowest is evicted next
//           | # # . #         # filled as far as its four sectors are there
//   oldest  | # . . #         framed: the request's own; a thin frame: this unit brought it
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "app/levels/panels.h"
#include "core/base/words.h"

namespace tilescope::levels {
namespace {

// Arrays are told apart by how strong their colour is; the tip says which one a line is of.
float strength(size_t nth) {
    constexpr float kOf[] = {0.85f, 0.5f, 0.3f, 0.2f};
    return kOf[std::min<size_t>(nth, std::size(kOf) - 1)];
}

// What the signs of the map are. Returns its width.
void map_key(Ui& ui, ImVec2 at, float width, const std::vector<uint8_t>& slots) {
    const float small = line_height(ui, Size::Small), box = ui.px(12), end = at.x + width;
    const auto sign = [&](Rgba fill, Ink edge, float thick, const std::string& words) {
        const float wide = draw::text_size(ui.font(Face::Text, Size::Small), words).x;
        if (at.x + box + ui.px(5) + wide > end) return;
        const Rect square{{at.x, at.y + (small - box) / 2}, {at.x + box, at.y + (small + box) / 2}};
        ui.list.AddRectFilled(square.min, square.max, fill);
        ui.list.AddRect(square.min, square.max, ui.ink(edge), 0, 0, thick);
        at.x += box + ui.px(5);
        at.x += note(ui, at, wide + 1, words) + ui.px(12);
    };
    const auto& arrays = ui.trace().launch.arrays;
    for (size_t i = 0; i < slots.size() && i < 4; ++i)
        sign(draw::with_alpha(ui.ink(Ink::GlobalLoad), strength(i)), Ink::LineStrong, 1,
             slots[i] < arrays.size() ? name_in(ui.notation(), arrays[slots[i]]) : "no array");
    sign(ui.ink(Ink::Panel), Ink::Selected, ui.px(2), "this request");
    sign(ui.ink(Ink::Panel), Ink::Text, 1, "come with this unit");
}

}  // namespace

void map_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const State& state = ui.state;
    if (!state.view) return;
    const StepView& view = *state.view;
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text, fmt::format("L1 of {}", view.where));
    note(ui, {in.min.x, in.min.y + body}, in.width(),
         {fmt::format("{} of {} lines hold something; {} cache sets of {}; cycle {}, modelled",
                      grouped(view.held), grouped(view.map.size()), view.sets, view.ways,
                      grouped(static_cast<uint64_t>(view.place.at))),
          fmt::format("{} of {} lines; {} cache sets of {}", grouped(view.held), grouped(view.map.size()),
                      view.sets, view.ways)});
    float y = in.min.y + body + small + ui.px(4);
    std::vector<uint8_t> slots;  // arrays that are there
    for (const HeldLine& held : view.map)
        if (held.sectors != 0 && std::ranges::find(slots, held.slot) == slots.end())
            slots.push_back(held.slot);
    std::ranges::sort(slots);
    map_key(ui, {in.min.x, y}, in.width(), slots);
    y += small + ui.px(6);

    // Who had to go has a line each below the map, where there is room.
    const float at_least = ui.px(64);
    const auto lines_fit = static_cast<size_t>(std::max(0.f, (in.max.y - y - at_least) / small - 1));
    const size_t gone = std::min(view.gone.size(), std::min<size_t>(lines_fit, 3));
    const float list = small * static_cast<float>(gone + 1) + ui.px(6);
    const Rect room{{in.min.x, y}, {in.max.x, in.max.y - list}};
    // Only the rows in use, and some more: of an L1 that a small recording leaves all but empty one would see a
    // grey field. By powers of two, so that the picture stands still while lines come.
    const uint32_t rows = std::min(view.ways, std::max(4u, std::bit_ceil(view.deepest)));
    const float across = static_cast<float>(view.sets), down = static_cast<float>(rows);
    const float wide = std::min(room.width() / across, ui.px(24)),
                high = std::min(std::max(room.height(), 0.f) / down, ui.px(40));
    const auto x_of = [&](uint32_t set) { return std::round(room.min.x + wide * static_cast<float>(set)); };
    const auto y_of = [&](uint32_t way) { return std::round(room.min.y + high * static_cast<float>(way)); };
    const Rect map{room.min, {x_of(view.sets), y_of(rows)}};
    ui.list.AddRectFilled(map.min, map.max, ui.ink(Ink::Cell));
    const float gap = std::min(wide, high) >= ui.px(4) ? 1.f : 0.f;
    std::vector<Rgba> fill;
    for (size_t i = 0; i < slots.size(); ++i)
        fill.push_back(draw::mix(ui.ink(Ink::Cell), ui.ink(Ink::GlobalLoad), strength(i)));
    for (uint32_t set = 0; set < view.sets; ++set)
        for (uint32_t way = 0; way < rows; ++way) {
            const HeldLine& held = view.map[size_t{set} * view.ways + way];
            if (held.sectors == 0) continue;
            const Rect cell{{x_of(set), y_of(way)}, {x_of(set + 1) - gap, y_of(way + 1) - gap}};
            const auto nth = static_cast<size_t>(std::ranges::find(slots, held.slot) - slots.begin());
            const float full = static_cast<float>(std::popcount(held.sectors)) / 4;
            ui.list.AddRectFilled({cell.min.x, cell.max.y - cell.height() * full}, cell.max, fill[nth]);
            if (held.came) ui.list.AddRect(cell.min, cell.max, ui.ink(Ink::Text));
            if (held.mine)
                ui.list.AddRect({cell.min.x - 1, cell.min.y - 1}, {cell.max.x + 1, cell.max.y + 1},
                                ui.ink(Ink::Selected), 0, 0, ui.px(2));
        }
    if (ui.over(map) && wide > 0 && high > 0) {
        const auto set = std::min(static_cast<uint32_t>((ui.cursor().x - map.min.x) / wide), view.sets - 1);
        const auto way = std::min(static_cast<uint32_t>((ui.cursor().y - map.min.y) / high), rows - 1);
        const HeldLine& held = view.map[size_t{set} * view.ways + way];
        ui.tip = held.sectors == 0 ? fmt::format("set {}: empty", set)
                                   : fmt::format("set {}, {} used last: {}, {} of its 4 sectors", set,
                                                 way == 0 ? "the line" : ordinal(way + 1),
                                                 line_name(ui.trace(), ui.notation(), held.line),
                                                 std::popcount(held.sectors));
    }

    y = in.max.y - list + ui.px(6);
    if (view.evicted == 0) {
        const std::string empty =
            rows < view.ways ? fmt::format("; {} more rows are empty", view.ways - rows) : "";
        note(ui, {in.min.x, y}, in.width(),
             {"No line had to go for what this unit has asked for so far" + empty + ".",
              "No line had to go so far" + empty + ".", "No line had to go so far."});
        return;
    }
    line(ui, {in.min.x, y}, in.width(), Face::Strong, Size::Small, Ink::Text,
         fmt::format("{} evicted by this unit so far", counted(view.evicted, "line")));
    for (size_t i = 0; i < gone; ++i) {
        y += small;
        const Gone& one = view.gone[i];
        note(ui, {in.min.x, y}, in.width(),
             {fmt::format("{} for {}: {}", one.line, one.by, one.back),
              fmt::format("{}: {}", one.line, one.back)});
    }
}

}  // namespace tilescope::levels
