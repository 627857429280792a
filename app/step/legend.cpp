// What stands for what: kinds of steps, the tile of this phase, signs of cells, scales of sums and loads.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/pictures/pipeline.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// "inputs loaded 16×", or each where they differ; "" where elements of an input do.
std::string even_loads(const Ui& ui, const analysis::Product& product, uint32_t most) {
    const session::Totals& totals = *ui.session.totals;
    if (!totals.even_loads[product.M] || !totals.even_loads[product.N]) return "";
    const auto &m = totals.loads[product.M], &n = totals.loads[product.N];
    const auto name = [&](uint8_t array) { return name_in(ui.notation(), ui.trace().launch.arrays[array]); };
    if (m.empty() || n.empty() || m[0] == n[0]) return fmt::format("inputs loaded {}\u00d7", most);
    return fmt::format("{} loaded {}\u00d7, {} {}\u00d7", name(product.M), m[0], name(product.N), n[0]);
}

// What the block's marked cells may be.
std::vector<std::string> kinds_of_faults(const Ui& ui) {
    std::vector<std::string> kinds;
    if (!ui.session.faults || ui.session.question.hides_any()) return kinds;
    for (const analysis::FaultyCell& cell : ui.session.faults->found.cells)
        if (std::ranges::find(kinds, analysis::name_of(cell.kind)) == kinds.end())
            kinds.emplace_back(analysis::name_of(cell.kind));
    if (!ui.session.faults->wrong.empty() && !ui.session.question.hides(session::Hide::Result))
        kinds.emplace_back("wrong element");
    return kinds;
}

}  // namespace

// The largest magnitude that the block stores: the end of the scale of running sums.
double largest_stored(const Ui& ui) {
    LargestStored& made = ui.state.largest;
    if (made.of == ui.session.replay) return made.largest;
    made = {ui.session.replay, 0};
    for (const auto& store : ui.session.replay->global_stores())
        if (is_output(ui, store.to.array))
            made.largest = std::max(made.largest, std::abs(number_of(store.value)));
    return made.largest;
}

// Colour of a running sum: heat, quieter than that of loads, since the step's marks lie on it. part: 0 to 1.
Rgba sum_color(const Ui& ui, float part) {
    return draw::mix(ui.ink(Ink::Cell), ui.context.palette.hot(part), 0.6f);
}

// The most wanted first: a low corner leaves out the last.
std::vector<LegendEntry> legend_entries(Ui& ui) {
    std::vector<LegendEntry> list;
    const auto add = [&](const std::string& words, const LegendEntry::Mark& mark, float wide = 11) {
        const float width = mark ? ui.px(wide + 7) : 0;
        const draw::Font font = ui.font(Face::Text, Size::Small);
        list.push_back({words, mark, width, width + draw::text_size(font, words).x});
    };
    const analysis::Summary& summary = ui.session.summary();
    const session::Question& asked = ui.session.question;
    const auto there = [&](Sign sign) { return (ui.state.signs_before & static_cast<uint16_t>(sign)) != 0; };
    // The timeline shows all kinds of steps; without it the screen shows the step's own, and what the ones before
    // left in the cells.
    const bool lecture = ui.session.lecture;
    const std::optional<StepKind> now =
        ui.step() < ui.index()->steps && !asked.hides(session::Hide::Standing)
            ? std::optional(look::kind_of(ui.trace(), ui.index()->first + ui.step()))
            : std::nullopt;
    const auto is_seen = [&](StepKind of) {
        return !lecture || of == now || (of == StepKind::GlobalLoad && there(Sign::Loaded)) ||
               (of == StepKind::SharedStore && there(Sign::Filled)) ||
               (of == StepKind::GlobalStore && there(Sign::Stored));
    };
    const auto kind = [&](StepKind of, uint64_t requests) {
        if (requests > 0 && is_seen(of))
            add(words_of(of), [of](Ui& to, const Rect& box) { pictures::sign(to, box, of); });
    };
    for (const StepKind of : analysis::kOrderOfLegend) kind(of, summary[of].requests);
    if (summary.barriers_per_block > 0 && session::by_clock(ui.session) && !lecture)
        add("waits at a barrier", pictures::wait_bar);  // as long as it was
    else
        kind(StepKind::Barrier, summary.barriers_per_block);
    kind(StepKind::Exchange, summary.exchanges);
    kind(StepKind::Signal, summary.signals);
    kind(StepKind::SignalWait, summary.signal_waits);
    if (const analysis::Pipeline* const ring = ui.index()->pipeline.get(); ring != nullptr && !lecture) {
        if (summary.signal_waits > 0) add("waits for an mbarrier", pictures::wait_bar);
        for (const analysis::WarpRole role :
             {analysis::WarpRole::Producer, analysis::WarpRole::Consumer, analysis::WarpRole::Both})
            if (std::ranges::count(ring->roles, role) > 0)
                add(look::name_of(role),
                    [role](Ui& to, const Rect& box) { pictures::role_strip(to, box, role); });
    }
    if (there(Sign::Tile))
        add(ui.index()->product && ui.index()->shared.empty() ? "what this trip needs"
            : ui.index()->product                             ? "tile of this phase"
            : ui.index()->spans.size() > 1                    ? "touched in this phase"
                                                              : "touched by this block",
            [](Ui& to, const Rect& box) {
                to.list.AddRect(box.min, box.max, to.ink(Ink::Accent), 0.f, 0, to.px(2));
            });
    if (there(Sign::Output))
        add("threads' own output", [](Ui& to, const Rect& box) {
            to.list.AddRect(box.min, box.max, to.ink(Ink::Text), 0.f, 0, to.px(3));
            to.list.AddRect(box.min, box.max, to.ink(Ink::Product), 0.f, 0, to.px(2));
        });
    for (const std::string& fault : kinds_of_faults(ui)) add(fault, draw::fault_sign);
    if (there(Sign::Outside))
        add("inactive, outside", [](Ui& to, const Rect& box) {
            to.list.AddRect(box.min, box.max, to.ink(Ink::LineStrong));
            hatch(to, box, to.ink(Ink::LineStrong), to.px(4));
        });
    if (there(Sign::Stale)) add(draw::kStaleMark.means, draw::stale_sign);
    if (there(Sign::Zero))
        add(draw::kZeroMark.means, [](Ui& to, const Rect& box) {
            to.list.AddRectFilled(box.min, box.max, to.ink(Ink::Outside));
            zero_sign(to, box);
        });
    if (!ui.index()->product) return list;
    const analysis::Product& product = *ui.index()->product;
    const auto ramp = [](bool sums) {
        return [sums](Ui& to, const Rect& box) {
            draw::heat_ramp(to, box, [&](float part) {
                return sums ? sum_color(to, part) : to.context.palette.hot(part);
            });
        };
    };
    if (ui.session.replay && there(Sign::Sums))
        add(fmt::format("sums, to \u00b1{}", short_value(value_of(largest_stored(ui)))), ramp(true), 22);
    if (!ui.session.totals || asked.hides(session::Hide::Loads) || asked.hides(session::Hide::Numbers))
        return list;
    const auto& loads = ui.session.totals->most_loads;
    const uint32_t most = std::max(loads[product.M], loads[product.N]);
    if (most == 0) return list;
    const std::string even = even_loads(ui, product, most);
    if (even.empty())
        add(fmt::format("up to {} loads", most), ramp(false), 44);
    else
        add(even, nullptr);
    return list;
}

void legend_entry(Ui& ui, const LegendEntry& entry, ImVec2 corner, float width) {
    const float size = ui.px(11), top = std::round(corner.y + (line_height(ui, Size::Small) - size) / 2);
    const float used = entry.mark_width;
    if (entry.mark) entry.mark(ui, {{corner.x, top}, {corner.x + used - ui.px(7), top + size}});
    note(ui, {corner.x + used, corner.y}, width - used, entry.words);
}

// In lines as wide as the rectangle. Returns the height that it takes.
float legend_lines(Ui& ui, const Rect& rect, bool drawn) {
    const float small = line_height(ui, Size::Small);
    ImVec2 corner = rect.min;
    for (const LegendEntry& entry : legend_entries(ui)) {
        if (corner.x > rect.min.x && corner.x + entry.width > rect.max.x)
            corner = {rect.min.x, corner.y + small};
        if (drawn) legend_entry(ui, entry, corner, entry.width + 1);
        corner.x += entry.width + ui.px(16);
    }
    return corner.y + small - rect.min.y;
}

}  // namespace tilescope::step
