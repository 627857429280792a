// The Step screen's layout.
//
//   +-----------------------------------------------------------+
//   | a warning, where the recording is not whole or wrong      |
//   | caption: what just happened                               |
//   +----------+--------------------------------+---------------+
//   | source   |  map   N  | Mds                | request       |
//   |          |  M     P  | Nds                |---------------|
//   |          |           |                    | threads       |
//   +----------+--------------------------------+---------------+
//   | timeline: phases, warps                   | sums          |
//   | transport                                 |               |
//   +-------------------------------------------+---------------+
//
// The five matrices are squares of one size, as large as the middle allows: a tile of 16 x 16 shows its
// values from 1600 x 1000 on. In a low window the threads stand below Mds and Nds.
#include <algorithm>
#include <cmath>

#include "app/actions.h"
#include "app/panels/empty_panel.h"
#include "app/panels/panels.h"
#include "app/screens/screens.h"
#include "app/view/provenance_rows.h"
#include "app/view/sums_view.h"

namespace tilescope::app {
namespace {

using panels::Rect;
using panels::Ui;

struct Layout {
    bool own_threads = true;  // a panel of their own
    Rect warning, caption, source, matrices, tiles, threads, request, bottom, time, transport, sums;
};

// warned: there is a strip with a warning.
Layout lay_out(Ui& ui, const Rect& screen, bool warned) {
    const float gap = ui.px(8), w = screen.width(), h = screen.max.y;
    const bool low = h < ui.px(860);
    const float caption = ui.px(low ? 52 : 58);
    const float left = std::clamp(w * 0.215f, ui.px(276), ui.px(400));
    const float right = std::clamp(w * 0.22f, ui.px(304), ui.px(420));
    // As high as its warps need, within bounds; what it leaves is the matrices'.
    const float warps = ui.index == nullptr ? 8 : static_cast<float>(ui.index->warps);
    const float words = ui.px(by_clock(ui.state) ? 38 : 20);  // whose time it is, and the clocks' axis
    const float bottom =
        std::clamp(ui.px(100) + warps * ui.px(20) + words, ui.px(140) + words,
                   std::max(ui.px(low ? (warps > 16 ? 150 : 142) : 186) + words, h * 0.205f));
    const bool tiles = ui.state.session && ui.state.session->summary.shared_load.requests > 0;
    Layout l;
    float y0 = screen.min.y + gap;
    if (warned) {
        l.warning = {{screen.min.x + gap, y0}, {screen.max.x - gap, y0 + ui.px(28)}};
        y0 = l.warning.max.y + gap;
    }
    l.caption = {{screen.min.x + gap, y0}, {screen.max.x - gap, y0 + caption}};
    const float y1 = l.caption.max.y + gap, y3 = screen.max.y - gap, y2 = y3 - bottom - gap;
    const float x1 = screen.min.x + gap, x2 = x1 + left, x3 = screen.max.x - gap - right,
                x4 = screen.max.x - gap;
    l.source = {{x1, y1}, {x2, y2}};
    const float sums = std::max(bottom, panels::sums_height(ui));
    const Rect right_column{{x3, y1}, {x4, y3 - sums - gap}};
    const float inset = ui.px(12) * 2, title = panels::line_height(ui, draw::Size::Body);
    // The threads have a panel below the request where that leaves the request its picture.
    const float threads = std::min(ui.px(216), right_column.height() - ui.px(370));
    l.own_threads = threads >= ui.px(110);
    if (l.own_threads) {
        l.request = {right_column.min, {x4, right_column.max.y - threads - gap}};
        l.threads = {{x3, right_column.max.y - threads}, right_column.max};
    } else {
        l.request = right_column;
    }
    const Rect middle{{x2 + gap, y1}, {x3 - gap, y2}};
    l.matrices = middle;
    if (tiles || !l.own_threads) {
        const float high = (middle.height() - inset - title * 2 - ui.px(6)) / 2;
        const float wide = (middle.width() - inset * 2 - ui.px(12) - gap) / 3;
        const float low_tile = (middle.height() - inset - title * 3 - ui.px(12)) / 3;
        const float side = std::floor(std::min(high, wide));
        const float column = (l.own_threads ? side : std::min(side, low_tile)) + inset;
        l.matrices.max.x = std::floor(middle.max.x - column - gap);
        l.tiles = {{l.matrices.max.x + gap, y1}, middle.max};
    }
    l.sums = {{x3, y3 - sums}, {x4, y3}};
    const Rect bottom_left{{x1, y2 + gap}, {x3 - gap, y3}};
    l.bottom = bottom_left;
    const float buttons = ui.px(30);
    l.transport = {{x1 + ui.px(12), bottom_left.max.y - buttons - ui.px(10)},
                   {bottom_left.max.x - ui.px(12), bottom_left.max.y - ui.px(10)}};
    l.time = {{x1 + ui.px(12), bottom_left.min.y + ui.px(12)},
              {bottom_left.max.x - ui.px(12), l.transport.min.y - ui.px(10)}};
    return l;
}

// No recording, or one that stopped before its first block was done.
void nothing_to_step(Ui& ui, const Rect& screen) {
    constexpr panels::EmptyAction kNext[] = {
        {"record", "Record a kernel (R)", "Choose a kernel and a size"},
        {"open", "Open a recording (Ctrl+O)", "A .tsc file, or one that ships"},
        {"screen_lessons", "Lessons (5)", "Short walks through recordings"}};
    panels::empty_panel(
        ui, screen, ui.state.session ? "This recording holds no block." : "No recording is open.",
        ui.state.session ? "It ended before its first block was done: record the kernel again with "
                           "R, or open another file."
                         : "Press R to record a kernel, or drop a .tsc file on this window.",
        kNext);
}

}  // namespace

void step_screen(Ui& ui, const Rect& screen) {
    const std::string warning =
        ui.state.session ? view::warning(ui.trace(), ui.state.cursor.block) : std::string();
    const Layout l = lay_out(ui, screen, !warning.empty());
    if (!ui.state.session || ui.trace().blocks.empty()) return nothing_to_step(ui, screen);
    if (ui.state.teach.lecture) return lecture_step(ui, screen);
    if (!warning.empty()) panels::warning_strip(ui, l.warning, warning);
    panels::caption_bar(ui, l.caption);
    if (ui.index == nullptr) return;
    const Pick& shown = ui.state.hover.kind != Pick::Kind::None ? ui.state.hover : ui.state.pin;
    view::Relations selected =
        view::relations(ui.trace(), *ui.index, ui.state.replay.get(), shown, ui.step());
    if (view::has_provenance(ui.state)) {
        panels::provenance_panel(ui, l.source);
        if (ui.state.hover.kind == Pick::Kind::None) selected.lines.clear();  // the panel says more
    } else {
        panels::source_panel(ui, l.source);
    }
    panels::matrices_panel(ui, l.matrices, selected);
    if (l.tiles.width() > 0) panels::tiles_panel(ui, l.tiles, selected, !l.own_threads);
    if (l.own_threads) panels::threads_panel(ui, l.threads, selected);
    panels::request_panel(ui, l.request, selected);
    panels::surface(ui, l.bottom);
    panels::timeline_panel(ui, l.time);
    panels::transport(ui, l.transport);
    panels::sums_panel(ui, l.sums);
    panels::motion(ui);
}

}  // namespace tilescope::app
