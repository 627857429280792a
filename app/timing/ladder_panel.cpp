// The ladder as a picture: a rung a row, and between two what the upper one does about the lower one's cost.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/chart.h"
#include "app/timing/bounds_panel.h"
#include "app/timing/ladder.h"
#include "core/base/words.h"

namespace tilescope::timing {

using Ui = input::Ui<State>;

namespace {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Size;

// Where the columns are: sign and name, bar, share, GFLOP/s, what bounds it.
struct LadderColumns {
    float name = 0, bar = 0, bar_end = 0, share = 0, rate = 0, bound = 0;  // share and rate: right edges
};

constexpr const char *kShare = "of cuBLAS", *kRate = "GFLOP/s", *kBound = "bound by";

LadderColumns columns_of(Ui& ui, const Rect& in, const std::vector<LadderRow>& rows) {
    // As wide as what stands there until a bound is known, so that nothing moves as they fill in.
    float name = 0, bound = text_size(ui.font(Face::Text, Size::Small), kToBeKnown).x;
    float share = text_size(ui.font(Face::Text, Size::Small), kShare).x,
          rate = text_size(ui.font(Face::Text, Size::Small), kRate).x;
    for (const LadderRow& row : rows) {
        name = std::max(name, text_size(ui.font(Face::Strong, Size::Small), row.name).x);
        share = std::max(share, text_size(ui.font(Face::Mono, Size::Small), row.share).x);
        rate = std::max(rate, text_size(ui.font(Face::Mono, Size::Small), row.rate).x);
        bound = std::max(bound, text_size(ui.font(Face::Strong, Size::Small), row.bound).x);
    }
    const float gap = ui.px(12);
    LadderColumns at;
    at.name = in.min.x + ui.px(18);
    at.bar = at.name + name + gap;
    at.bound = in.max.x - bound;
    at.rate = at.bound - gap;
    at.share = at.rate - rate - gap;
    at.bar_end = at.share - share - gap;
    return at;
}

void heads(Ui& ui, const LadderColumns& at, float y, float right) {
    const auto head = [&](float x, const char* words, Align align) {
        line(ui, {x, y}, right, Face::Text, Size::Small, Ink::TextFaint, words, align);
    };
    head(at.share, kShare, Align::Right);
    head(at.rate, kRate, Align::Right);
    head(at.bound, kBound, Align::Left);
}

struct Scale {
    double library = 0, longest = 1;  // GFLOP/s; library 0: not measured
};

void rung(Ui& ui, const Rect& box, const LadderColumns& at, const LadderRow& row, const Scale& scale) {
    const float small = line_height(ui, Size::Small), middle = std::round((box.min.y + box.max.y) / 2);
    const float text = middle - std::round(small / 2);
    const bool on = row.kernel == ui.state.kernel, timed = row.gflops > 0;
    const Ink ink = on ? Ink::Text : timed ? Ink::TextQuiet : Ink::TextFaint;
    const draw::Rgba color = timed ? color_of(ui.context.palette, row.kernel) : ui.ink(Ink::TextFaint);
    marker(ui, {box.min.x + ui.px(6), middle}, shape_of(row.kernel), color, ui.px(on ? 5 : 4), timed);
    line(ui, {at.name, text}, at.bar - at.name, on ? Face::Strong : Face::Text, Size::Small, ink, row.name);
    if (timed) {
        const auto to = [&](double gflops) {
            return std::round(at.bar + (at.bar_end - at.bar) * static_cast<float>(gflops / scale.longest));
        };
        const float inset = std::max(ui.px(2), std::round((box.max.y - box.min.y - small) / 2));
        const float from = box.min.y + inset, end = box.max.y - inset;
        // Behind a bar the library's, so that what is missing is seen.
        if (scale.library > 0)
            ui.list.AddRectFilled({at.bar, from}, {to(scale.library), end}, ui.ink(Ink::Raised));
        ui.list.AddRectFilled({at.bar, from}, {std::max(to(row.gflops), at.bar + 1), end}, color);
        line(ui, {at.share, text}, box.max.x, Face::Mono, Size::Small, ink, row.share, Align::Right);
        line(ui, {at.rate, text}, box.max.x, Face::Mono, Size::Small, ink, row.rate, Align::Right);
    } else {
        line(ui, {at.bar, text}, at.bar_end - at.bar, Face::Text, Size::Small, Ink::TextFaint, "not timed");
    }
    line(ui, {at.bound, text}, box.max.x - at.bound + 1, on && row.known ? Face::Strong : Face::Text,
         Size::Small, row.known ? ink : Ink::TextFaint, row.bound);
    if (!ui.over(box)) return;
    ui.tip = ui.cursor().x >= at.bound ? row.bound_rests_on : row.measured;
    if (timed && ImGui::IsMouseClicked(0)) ui.state.kernel = row.kernel;
}

// Rows, and if there is room what leads from one to the next: all, the one above the chosen kernel, or none.
void ladder(Ui& ui, const Rect& in, const LadderChart& chart, double library) {
    const float small = line_height(ui, Size::Small), least = small + ui.px(2);
    const LadderColumns at = columns_of(ui, in, chart.rows);
    heads(ui, at, in.min.y, in.width());
    const float top = in.min.y + small + ui.px(2);
    const auto count = static_cast<float>(chart.rows.size());
    const auto steps = static_cast<float>(
        std::ranges::count_if(chart.rows, [](const LadderRow& row) { return !row.step.empty(); }));
    const float spare = in.max.y - top - count * least;
    const bool all = spare >= steps * small, next = spare >= small;
    const auto from_chosen = [&](size_t row) {
        return row + 1 < chart.rows.size() && chart.rows[row + 1].kernel == ui.state.kernel;
    };
    const auto said = [&](size_t row) {
        return !chart.rows[row].step.empty() && (all || (next && from_chosen(row)));
    };
    float taken = 0;
    for (size_t row = 0; row < chart.rows.size(); ++row) taken += said(row) ? small : 0;
    const float high = std::min(std::floor((in.max.y - top - taken) / count), small + ui.px(18));
    double longest = 1;
    for (const LadderRow& row : chart.rows) longest = std::max(longest, row.gflops);
    float y = top;
    for (size_t row = 0; row < chart.rows.size(); ++row) {
        rung(ui, {{in.min.x, y}, {in.max.x, y + high}}, at, chart.rows[row], {library, longest});
        y += high;
        if (!said(row)) continue;
        line(ui, {at.name, y}, in.max.x - at.name, Face::Text, Size::Small,
             from_chosen(row) ? Ink::Text : Ink::TextFaint, "\u2191 " + chart.rows[row].step);
        y += small;
    }
}

}  // namespace

void ladder_panel(Ui& ui, const Rect& rect, const BoundsShown& shown) {
    surface(ui, rect);
    Rect in = rect.inset(ui.px(16));
    const float room = in.width() - beside_choice(ui, in);
    const ElementType input = kernels::input_of(ui.state.kernel);
    const std::string whole = fmt::format("From {} to cuBLAS", shown_name(rungs(input).front().kernel));
    line(ui, in.min, room, Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body),
                 {fmt::format("{}, width {}", whole, grouped(shown.width)), whole, "To cuBLAS"}, room));
    in.min.y += line_height(ui, Size::Body) + ui.px(8);
    const LadderChart chart = ladder_chart(shown.machine, input, ui.state.tile, shown.width, ui.state.bounds);
    in.min.y += sentence(ui, in, chart.sentence, chart.rests_on, 4);
    const auto lines =
        static_cast<int>(draw::wrapped(ui.font(Face::Text, Size::Small), chart.note, in.width()).size());
    const float foot = in.max.y - line_height(ui, Size::Small) * static_cast<float>(lines);
    ladder(ui, {in.min, {in.max.x, foot - ui.px(8)}}, chart,
           kernels::is_library(chart.rows.front().kernel) ? chart.rows.front().gflops : 0);
    paragraph(ui, {in.min.x, foot}, in.width(), Face::Text, Size::Small, Ink::TextQuiet, chart.note, lines);
}

}  // namespace tilescope::timing
