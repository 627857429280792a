// The fragment lens: the tiles of the warp's product of matrices with their values, and of the lane that is picked what
// it holds, register by register, and where that came from.
//
//   The fragment lens   mma.m16n8k16, warp 0                                 close
//   A 16 x 16           B 16 x 8          D 16 x 8
//   [   tile   ]        [  tile  ]        [  tile  ]
//   thread[0,5] is lane 5
//   a0 a1  %q6   A(1,2..3)  3, -2  As[1,2..3] = A[1,2..3]     d0  %c0  D(1,2)  12  C was 3
//   b0 b1  %q10  ..
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/pictures/fragments.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

using look::FragmentRow;

void keep_fragments(Ui& ui) {
    FragmentsState& state = ui.state.fragments;
    if (state.of == ui.session.block && state.replay == ui.session.replay && state.at == ui.step()) return;
    state.of = ui.session.block, state.replay = ui.session.replay, state.at = ui.step();
    const auto step = look::product_near(ui.trace(), *ui.index(), ui.step());
    state.view.reset();
    if (step) state.view = look::fragments_view(ui.trace(), *ui.index(), ui.session.replay.get(), *step);
    if (state.view && state.view->tiles.empty()) state.view.reset();
}

uint32_t lane_of(const Ui& ui, uint32_t warp) {
    const Pick& pick = ui.shown_pick();
    return pick.kind == Pick::Kind::Thread && pick.thread / kWarpSize == warp ? pick.thread % kWarpSize : 0;
}

constexpr size_t kFields = 5;
std::array<std::string, kFields> fields_of(const FragmentRow& row) {
    return {row.names, row.reg, row.elements, row.values, row.from};
}

// Rows in columns as wide as they need; where there is no room for all, the register's name goes, then the elements'.
void list_rows(Ui& ui, const Rect& rect, const std::vector<FragmentRow>& rows) {
    const draw::Font mono = ui.font(Face::Mono, Size::Small);
    const float small = line_height(ui, Size::Small), gap = ui.px(10);
    std::array<float, kFields> wide{};
    for (const FragmentRow& row : rows) {
        const auto fields = fields_of(row);
        for (size_t i = 0; i < kFields; ++i) wide[i] = std::max(wide[i], draw::text_size(mono, fields[i]).x);
    }
    const auto used = [&] {
        float sum = 0;
        for (const float of : wide) sum += of > 0 ? of + gap : 0;
        return sum - gap;
    };
    for (const size_t field : {1, 0})
        if (used() > rect.width()) wide[field] = 0;
    constexpr std::array kInk = {Ink::TextQuiet, Ink::TextFaint, Ink::Text, Ink::Text, Ink::TextQuiet};
    float y = rect.min.y;
    for (const FragmentRow& row : rows) {
        if (y + small > rect.max.y + 1) return;
        const auto fields = fields_of(row);
        float x = rect.min.x;
        for (size_t i = 0; i < kFields; ++i) {
            if (wide[i] == 0) continue;
            small_number(ui, {x, y}, std::min(wide[i] + 1, rect.max.x - x), kInk[i], fields[i], Align::Left);
            x += wide[i] + gap;
        }
        y += small;
    }
}

}  // namespace

void fragments_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    keep_fragments(ui);
    const std::optional<look::FragmentsView>& view = ui.state.fragments.view;
    float taken = 0;
    if (!ui.session.lecture && !ui.context.paper) {
        taken = draw::text_size(ui.font(Face::Text, Size::Small), "close").x + ui.px(16);
        if (button(ui, {{in.max.x - taken, in.min.y}, {in.max.x, in.min.y + body}}, "close", false, true,
                   "Back to the matrices (P)"))
            ui.state.middle = Middle::Matrices, ui.context.another_frame = true;
        taken += ui.px(8);
    }
    if (!view) {
        heading(ui, in.min, in.width() - taken, "The fragment lens", "");
        paragraph(ui, {in.min.x, in.min.y + body + ui.px(8)}, in.width(), Face::Text, Size::Small,
                  Ink::TextQuiet,
                  "This warp multiplies no matrices by mma or wmma, so no lane holds a fragment: P shows the "
                  "arrays "
                  "again.",
                  4);
        return;
    }
    const ptx::MatrixForm& form = view->tiles[0].form;
    const char* const when = view->step == ui.step()  ? "this step"
                             : view->step < ui.step() ? "the warp's last product"
                                                      : "the warp's next product";
    heading(ui, in.min, in.width() - taken, "The fragment lens",
            fmt::format("{}, warp {}: {}", look::form_name(form), view->warp, when));
    in.min.y += body + ui.px(6);

    const uint32_t lane = lane_of(ui, view->warp), thread = view->warp * kWarpSize + lane;
    std::vector<FragmentRow> left, right;  // of A and B, and of D
    for (size_t i = 0; i < view->tiles.size(); ++i)
        std::ranges::move(
            rows_of_lane(ui.trace(), *ui.index(), ui.session.replay.get(), *view, view->tiles[i], lane),
            std::back_inserter(i < 2 ? left : right));
    // The list has room below the tiles while these keep most of it.
    const auto rows = static_cast<float>(std::max(left.size(), right.size()));
    const float list = std::min(small * (rows + 1) + ui.px(8), in.height() * 0.45f);
    const Rect tiles{in.min, {in.max.x, in.max.y - list}};
    const auto under = pictures::fragments_picture(ui, tiles, {view->tiles, lane, true, view->values});
    float y = in.max.y - list + ui.px(8);
    note(ui, {in.min.x, y}, in.width(),
         {fmt::format("{} is lane {} of its warp and holds, register by register{}",
                      thread_name(ui.trace().launch.block, thread, ui.notation()), lane,
                      view->held != nullptr ? ", with where that came from:" : ":"),
          fmt::format("lane {} holds:", lane)});
    y += small;
    const float half = std::round(in.width() * 0.66f);
    list_rows(ui, {{in.min.x, y}, {in.min.x + half - ui.px(12), in.max.y}}, left);
    list_rows(ui, {{in.min.x + half, y}, in.max}, right);
    if (!under) return;
    const look::FragmentTile& tile = view->tiles[under->tile];
    ui.tip = element_text(ui.trace(), *ui.index(), ui.session.replay.get(), *view, tile, under->at);
    input::offer_pick(ui, {.kind = Pick::Kind::Thread,
                           .thread = view->warp * kWarpSize + tile.holder(under->at).lane,
                           .warp = view->warp});
}

}  // namespace tilescope::step
