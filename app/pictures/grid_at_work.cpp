#include "app/pictures/grid_at_work.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/look/timeline.h"
#include "core/base/words.h"

namespace tilescope::pictures {
namespace {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size, draw::Ui;
using look::BlockState, look::GridAtWork, look::state_at;

Rgba color_of(const Ui& ui, BlockState state) {
    constexpr std::array<Ink, 3> kInks = {Ink::Cell, Ink::Accent, Ink::LineStrong};
    return ui.ink(kInks[static_cast<size_t>(state)]);
}

// Of many blocks in one cell: running where one is, done where all are.
BlockState together(BlockState a, BlockState b) {
    return a == b                                              ? a
           : a == BlockState::Done && b == BlockState::Waiting ? b
           : a == BlockState::Running                          ? a
           : b == BlockState::Running                          ? b
                                                               : BlockState::Waiting;
}

constexpr uint64_t kMostFramed = 256;  // recorded blocks of a larger grid

// A frame around a cell or a bar that is seen on any of the colours: a rim of the ground on either side.
void framed(Ui& ui, const Rect& box, float px) {
    const auto frame = [&](float by, float thick, Ink ink) {
        ui.list.AddRect({box.min.x - by, box.min.y - by}, {box.max.x + by, box.max.y + by}, ui.ink(ink), 0, 0,
                        thick);
    };
    frame(px, px * 3, Ink::Panel);
    frame(px, px, Ink::Selected);
}

}  // namespace

CellPlan cell_plan(const Dim3& grid, uint64_t shown, float width, float height, float least) {
    CellPlan plan;
    const uint64_t lines = uint64_t{grid.y} * grid.z;
    const double aspect = static_cast<double>(width) / std::max(height, 1.f);
    const double own = static_cast<double>(grid.x) / static_cast<double>(lines);
    plan.wraps = shown < grid.count() || own > aspect * 6 || own < aspect / 6;
    if (plan.wraps) {
        // Multiples of 8 blocks a line, as nearly square cells as that allows.
        const double across = std::sqrt(static_cast<double>(shown) * aspect);
        plan.cols = static_cast<uint32_t>(
            std::clamp(std::ceil(across / 8) * 8, 8.0, std::max(8.0, static_cast<double>(shown))));
        plan.rows = static_cast<uint32_t>((shown + plan.cols - 1) / plan.cols);
    } else {
        plan.cols = grid.x, plan.rows = static_cast<uint32_t>(lines);
    }
    const auto pitch = [&] {
        return std::min(width / static_cast<float>((plan.cols + plan.merged - 1) / plan.merged),
                        height / static_cast<float>((plan.rows + plan.merged - 1) / plan.merged));
    };
    while (pitch() < least && plan.merged < std::max(plan.cols, plan.rows)) ++plan.merged;
    plan.pitch = pitch();
    return plan;
}

std::optional<uint64_t> grid_cells(Ui& ui, const Rect& rect, const GridAtWork& grid, const GridMarked& marked,
                                   const Notation& notation) {
    const uint64_t shown = grid.runs.size(), now = time_at(grid, marked.now);
    if (rect.width() < 2 || rect.height() < 2) return std::nullopt;
    const CellPlan plan = cell_plan(grid.grid, shown, rect.width(), rect.height(), 2);
    const float pitch = std::min(plan.pitch, ui.px(104));
    const uint32_t cols = (plan.cols + plan.merged - 1) / plan.merged,
                   rows = (plan.rows + plan.merged - 1) / plan.merged;
    const auto state_of = [&](uint32_t row, uint32_t col) {
        std::optional<BlockState> state;
        for (uint32_t y = row * plan.merged; y < std::min(plan.rows, (row + 1) * plan.merged); ++y)
            for (uint32_t x = col * plan.merged; x < std::min(plan.cols, (col + 1) * plan.merged); ++x)
                if (const uint64_t block = uint64_t{y} * plan.cols + x; block < shown) {
                    const BlockState own = state_at(grid.runs[block], now);
                    state = state ? together(*state, own) : own;
                }
        return state;
    };
    // Neighbours of one state are one rectangle; the lines between cells are drawn over them.
    const auto x_of = [&](uint32_t col) { return std::floor(rect.min.x + pitch * static_cast<float>(col)); };
    const auto y_of = [&](uint32_t row) { return std::floor(rect.min.y + pitch * static_cast<float>(row)); };
    for (uint32_t row = 0; row < rows; ++row) {
        std::optional<BlockState> state = state_of(row, 0), after;
        for (uint32_t col = 0, next = 0; col < cols; col = next, state = after) {
            for (next = col + 1; next < cols && (after = state_of(row, next)) == state;) ++next;
            if (state)
                ui.list.AddRectFilled({x_of(col), y_of(row)}, {x_of(next), y_of(row + 1)},
                                      color_of(ui, *state));
        }
    }
    if (pitch >= 4) {
        const float gap = pitch >= 12 ? std::max(1.f, std::round(ui.px(1.5f))) : 1;
        for (uint32_t col = 1; col <= cols; ++col)
            ui.list.AddRectFilled({x_of(col) - gap, rect.min.y}, {x_of(col), y_of(rows)}, ui.ink(Ink::Panel));
        for (uint32_t row = 1; row <= rows; ++row)
            ui.list.AddRectFilled({rect.min.x, y_of(row) - gap}, {x_of(cols), y_of(row)}, ui.ink(Ink::Panel));
    }
    const auto cell_of = [&](uint64_t block) {
        const auto row = static_cast<uint32_t>(block / plan.cols / plan.merged),
                   col = static_cast<uint32_t>(block % plan.cols / plan.merged);
        return Rect{{x_of(col), y_of(row)}, {x_of(col + 1), y_of(row + 1)}};
    };
    // Their indices where the longest has room.
    const auto index_text = [&](uint64_t block) {
        return block_index(grid.grid, look::index_of(grid.grid, block), notation);
    };
    const std::string longest = index_text(shown - 1);
    if (plan.merged == 1)
        if (const auto font =
                ui.context.fonts.for_cells(longest, pitch - ui.px(4), pitch - ui.px(2), Size::Small))
            for (uint64_t block = 0; block < shown; ++block) {
                const Rect cell = cell_of(block);
                const std::string text = index_text(block);
                const ImVec2 size = draw::text_size(*font, text);
                put(ui, ui.list, *font,
                    {(cell.min.x + cell.max.x - size.x) / 2, (cell.min.y + cell.max.y - size.y) / 2},
                    ui.context.palette.text_on(color_of(ui, state_at(grid.runs[block], now))), text);
            }
    // Of a part of the grid that was recorded, which blocks those are.
    if (grid.recorded_blocks < shown && grid.recorded_blocks <= kMostFramed)
        for (uint64_t block = 0; block < shown; ++block)
            if (grid.recorded[block] != look::kNotRecorded) framed(ui, cell_of(block), ui.px(0.75f));
    if (marked.selected && *marked.selected < shown) framed(ui, cell_of(*marked.selected), ui.px(2));
    if (marked.hovered && *marked.hovered < shown) framed(ui, cell_of(*marked.hovered), ui.px(1));
    const Rect all{rect.min, {x_of(cols), y_of(rows)}};
    if (!ui.over(all)) return std::nullopt;
    const auto row = static_cast<uint32_t>((ui.cursor().y - rect.min.y) / pitch) * plan.merged,
               col = static_cast<uint32_t>((ui.cursor().x - rect.min.x) / pitch) * plan.merged;
    const uint64_t block = uint64_t{row} * plan.cols + col;
    return row < plan.rows && col < plan.cols && block < shown ? std::optional(block) : std::nullopt;
}

namespace {

// Where the columns stand.
struct ColumnPlan {
    Rect box;
    uint32_t sms = 1, slots = 1;
    float pitch = 1, wide = 1;  // of an SM, and of what is drawn of it
    bool each_slot = false;     // slots stand side by side, else how many are taken is a width
    double scale = 1;           // pixels per unit of time
    float x(uint32_t sm) const { return box.min.x + pitch * static_cast<float>(sm); }
    float y(uint64_t time) const { return box.min.y + static_cast<float>(static_cast<double>(time) * scale); }
};

// A block's bar in its slot. Bars that are too low to be told apart are drawn as one.
void slot_bars(Ui& ui, const ColumnPlan& plan, const GridAtWork& grid, uint64_t now) {
    const float wide = plan.wide / static_cast<float>(plan.slots);
    const float between = wide >= 4 ? 1.f : 0.f;
    struct Bar {
        float top = 0, bottom = -1;
        BlockState state{};
    };
    std::vector<Bar> open(plan.slots);
    for (uint32_t sm = 0; sm < plan.sms; ++sm) {
        const auto close = [&](uint32_t slot) {
            Bar& bar = open[slot];
            const float x = plan.x(sm) + wide * static_cast<float>(slot);
            if (bar.bottom > bar.top)
                ui.list.AddRectFilled({x, bar.top}, {x + wide - between, bar.bottom},
                                      color_of(ui, bar.state));
            bar = {};
        };
        for (const uint32_t block : grid.of_sm[sm]) {
            const analysis::BlockRun& run = grid.runs[block];
            const float top = plan.y(run.begin), bottom = plan.y(run.end);
            const BlockState state = state_at(run, now);
            Bar& bar = open[run.slot];
            const bool low = bottom - top < 4;
            if (low && bar.bottom > bar.top && bar.state == state && top - bar.bottom < 1) {
                bar.bottom = bottom;
                continue;
            }
            close(run.slot);
            // A line of the ground between a block and the next one.
            bar = {top, std::max(bottom - (low ? 0.f : 1.f), top + 1), state};
        }
        for (uint32_t slot = 0; slot < plan.slots; ++slot) close(slot);
    }
}

// Where slots have no room side by side: how many of an SM's are taken in each line of pixels, as the width of its
// bar, in the colour of what most of them are.
void wide_bars(Ui& ui, const ColumnPlan& plan, const GridAtWork& grid, uint64_t now) {
    const auto lines = static_cast<size_t>(std::max(1.f, plan.box.height()));
    std::vector<std::array<int32_t, 3>> changes(lines + 1);
    for (uint32_t sm = 0; sm < plan.sms; ++sm) {
        std::ranges::fill(changes, std::array<int32_t, 3>{});
        for (const uint32_t block : grid.of_sm[sm]) {
            const analysis::BlockRun& run = grid.runs[block];
            const auto line_of = [&](uint64_t time) {
                return std::min(lines - 1, static_cast<size_t>(plan.y(time) - plan.box.min.y));
            };
            const auto state = static_cast<size_t>(state_at(run, now));
            const size_t first = line_of(run.begin);
            ++changes[first][state], --changes[std::max(first + 1, line_of(run.end))][state];
        }
        std::array<int32_t, 3> here{};
        const float x = plan.x(sm);
        for (size_t line = 0, next = 0; line < lines; line = next) {
            for (size_t state = 0; state < 3; ++state) here[state] += changes[line][state];
            for (next = line + 1; next < lines && changes[next] == std::array<int32_t, 3>{};) ++next;
            const int32_t taken = here[0] + here[1] + here[2];
            if (taken == 0) continue;
            const auto most = static_cast<size_t>(std::ranges::max_element(here) - here.begin());
            const float share = std::min(1.f, static_cast<float>(taken) / static_cast<float>(plan.slots));
            ui.list.AddRectFilled(
                {x, plan.box.min.y + static_cast<float>(line)},
                {x + std::ceil(plan.wide * share), plan.box.min.y + static_cast<float>(next)},
                color_of(ui, static_cast<BlockState>(most)));
        }
    }
}

}  // namespace

SmPointed sm_columns(Ui& ui, const Rect& rect, const GridAtWork& grid, const GridMarked& marked) {
    const float small = line_height(ui, Size::Small);
    const uint64_t now = time_at(grid, marked.now);
    // Ticks of time on the left, the SMs' numbers below.
    const auto last = static_cast<uint32_t>(std::min<uint64_t>(grid.end, UINT32_MAX - 1));
    std::vector<uint32_t> ticks =
        look::ticks(0, last + 1, static_cast<uint32_t>(std::max(2.f, rect.height() / ui.px(52))));
    const auto tick_text = [&](uint32_t tick) {
        return grid.equal_times ? fmt::format("{:g}", static_cast<double>(tick) / look::kBlockTime)
                                : grouped(tick);
    };
    float label = 0;
    for (const uint32_t tick : ticks)
        label = std::max(label, draw::text_size(ui.font(Face::Mono, Size::Small), tick_text(tick)).x);
    ColumnPlan plan;
    plan.box = {{rect.min.x + label + ui.px(10), rect.min.y}, {rect.max.x, rect.max.y - small - ui.px(6)}};
    if (plan.box.width() < 2 || plan.box.height() < 2) return {};
    plan.sms = grid.sms, plan.slots = grid.slots;
    plan.scale = plan.box.height() / static_cast<double>(std::max<uint64_t>(grid.end, 1));
    plan.pitch = plan.box.width() / static_cast<float>(plan.sms);
    if (plan.pitch >= 4) plan.pitch = std::min(std::floor(plan.pitch * 2) / 2, ui.px(72));
    plan.wide = plan.pitch >= 4 ? plan.pitch - (plan.pitch >= 12 ? 3.f : 1.f) : plan.pitch;
    plan.each_slot = plan.wide / static_cast<float>(plan.slots) >= 1.5f;
    const float right = plan.x(plan.sms);

    for (const uint32_t tick : ticks) {
        const float y = std::round(plan.y(tick));
        ui.list.AddRectFilled({plan.box.min.x - ui.px(6), y}, {right, y + 1}, ui.ink(Ink::Line));
        const float top = std::clamp(y - small / 2, rect.min.y - small / 4, plan.box.max.y - small * 0.6f);
        line(ui, {plan.box.min.x - ui.px(8), top}, label + 1, Face::Mono, Size::Small, Ink::TextQuiet,
             tick_text(tick), Align::Right);
    }
    if (plan.each_slot)
        slot_bars(ui, plan, grid, now);
    else
        wide_bars(ui, plan, grid, now);

    // Numbers of SMs, as many as have room.
    const float name =
        draw::text_size(ui.font(Face::Mono, Size::Small), std::to_string(plan.sms - 1)).x + ui.px(10);
    const auto every = static_cast<uint32_t>(std::max(1.f, std::ceil(name / plan.pitch)));
    uint32_t stride = 1;
    for (const uint32_t step : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u}) {
        stride = step;
        if (step >= every) break;
    }
    for (uint32_t sm = 0; sm < plan.sms; sm += stride)
        line(ui, {plan.x(sm) + plan.wide / 2, plan.box.max.y + ui.px(4)}, name, Face::Mono, Size::Small,
             Ink::TextQuiet, std::to_string(sm), Align::Center);

    // From when on an SM is idle for good: the tail.
    const bool tail = grid.first_idle > 0 && grid.first_idle < grid.end;
    if (tail) {
        const float y = std::round(plan.y(grid.first_idle));
        for (float x = plan.box.min.x; x < right; x += ui.px(8))
            ui.list.AddRectFilled({x, y}, {std::min(x + ui.px(4), right), y + std::max(1.f, ui.px(1))},
                                  ui.ink(Ink::Text));
    }
    const auto bar_of = [&](uint64_t block) {
        const analysis::BlockRun& run = grid.runs[block];
        const float wide = plan.wide / static_cast<float>(plan.slots);
        const float x = plan.x(run.sm) + (plan.each_slot ? wide * static_cast<float>(run.slot) : 0);
        return Rect{{x, plan.y(run.begin)}, {x + (plan.each_slot ? wide : plan.wide), plan.y(run.end)}};
    };
    if (marked.selected && *marked.selected < grid.runs.size())
        framed(ui, bar_of(*marked.selected), ui.px(1.5f));
    if (marked.hovered && *marked.hovered < grid.runs.size()) framed(ui, bar_of(*marked.hovered), ui.px(1));
    if (tail) {
        const float y = std::round(plan.y(grid.first_idle));
        const std::string words =
            fmt::format("first SM idle, {:.0f} %",
                        100.0 * static_cast<double>(grid.first_idle) / static_cast<double>(grid.end));
        const float wide = draw::text_size(ui.font(Face::Text, Size::Small), words).x;
        const float top = y + ui.px(3) + small < plan.box.max.y ? y + ui.px(3) : y - small - ui.px(2);
        if (wide + ui.px(12) < right - plan.box.min.x) {
            ui.list.AddRectFilled({right - wide - ui.px(8), top}, {right, top + small}, ui.ink(Ink::Panel),
                                  ui.px(3));
            line(ui, {right - ui.px(4), top}, wide + 1, Face::Text, Size::Small, Ink::Text, words,
                 Align::Right);
        }
    }
    // Now: a line with a head, in the colour of what can be moved, rimmed where it stands on bars.
    const float y = std::round(plan.y(now)), head = ui.px(6), left = plan.box.min.x;
    ui.list.AddRectFilled({left - head, y - ui.px(2.5f)}, {right + ui.px(4), y + ui.px(2.5f)},
                          ui.ink(Ink::Panel));
    ui.list.AddRectFilled({left - head, y - ui.px(1)}, {right + ui.px(4), y + ui.px(1)}, ui.ink(Ink::Text));
    ui.list.AddTriangleFilled({left - head, y - head}, {left, y}, {left - head, y + head}, ui.ink(Ink::Text));

    SmPointed pointed;
    const Rect over{{left - ui.px(8), plan.box.min.y - ui.px(4)},
                    {right + ui.px(4), plan.box.max.y + ui.px(4)}};
    if (!ui.over(over)) return pointed;
    pointed.now = std::clamp((ui.cursor().y - plan.box.min.y) / plan.box.height(), 0.f, 1.f);
    const auto sm = static_cast<uint32_t>(std::max(0.f, (ui.cursor().x - left) / plan.pitch));
    if (sm >= plan.sms || ui.cursor().x < left) return pointed;
    for (const uint32_t block : grid.of_sm[sm]) {
        const Rect bar = bar_of(block);
        if (ui.cursor().y >= bar.min.y && ui.cursor().y < bar.max.y &&
            (!plan.each_slot || (ui.cursor().x >= bar.min.x && ui.cursor().x < bar.max.x)))
            pointed.block = block;
    }
    return pointed;
}

float grid_legend(Ui& ui, ImVec2 at, bool drawn) {
    constexpr std::pair<BlockState, const char*> kStates[] = {
        {BlockState::Done, "done"}, {BlockState::Running, "running"}, {BlockState::Waiting, "waits"}};
    const float side = ui.px(11), small = line_height(ui, Size::Small), begin = at.x;
    for (const auto& [state, words] : kStates) {
        if (state != BlockState::Done) at.x += ui.px(14);
        const float wide = draw::text_size(ui.font(Face::Text, Size::Small), words).x + 2;
        const float top = std::round(at.y + (small - side) / 2);
        if (drawn) {
            ui.list.AddRectFilled({at.x, top}, {at.x + side, top + side}, color_of(ui, state), ui.px(2));
            note(ui, {at.x + side + ui.px(6), at.y}, wide, words);
        }
        at.x += side + ui.px(6) + wide;
    }
    return at.x - begin;
}

}  // namespace tilescope::pictures
