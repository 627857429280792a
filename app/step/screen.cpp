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

#include "app/draw/widgets.h"
#include "app/input/panels.h"
#include "app/look/sums.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

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
    const float warps = ui.index() == nullptr ? 8 : static_cast<float>(ui.index()->warps);
    const float words =
        ui.px(session::by_clock(ui.session) ? 38 : 20);  // whose time it is, and the clocks' axis
    const float bottom =
        std::clamp(ui.px(100) + warps * ui.px(20) + words, ui.px(140) + words,
                   std::max(ui.px(low ? (warps > 16 ? 150 : 142) : 186) + words, h * 0.205f));
    const bool tiles = ui.session.recording && session::uses_shared(ui.trace());
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
    const float sums = std::max(bottom, sums_height(ui));
    const Rect right_column{{x3, y1}, {x4, y3 - sums - gap}};
    const float inset = ui.px(12) * 2, title = line_height(ui, Size::Body);
    // The threads have a panel below the request where that leaves the request its picture.
    const float threads = std::min(ui.px(216), right_column.height() - ui.px(370));
    l.own_threads = threads >= ui.px(110);
    l.request = right_column;
    if (l.own_threads) {
        l.threads = {{x3, right_column.max.y - threads}, right_column.max};
        l.request.max.y = l.threads.min.y - gap;
    }
    const Rect middle{{x2 + gap, y1}, {x3 - gap, y2}};
    l.matrices = middle;
    if (tiles || !l.own_threads) {
        const float high = (middle.height() - inset - title * 2 - ui.px(6)) / 2;
        const float wide = (middle.width() - inset * 2 - ui.px(12) - gap) / 3;
        const float low_tile = (middle.height() - inset - title * 3 - ui.px(12)) / 3;
        const float side = std::floor(std::min(high, wide));
        // Arrays of a launch that is no product are seldom square.
        const bool wide_ones = ui.session.recording && !ui.session.recording->product;
        const float column = (l.own_threads || wide_ones ? side : std::min(side, low_tile)) + inset;
        l.matrices.max.x = std::floor(middle.max.x - column - gap);
        l.tiles = {{l.matrices.max.x + gap, y1}, middle.max};
    }
    l.sums = {{x3, y3 - sums}, {x4, y3}};
    l.bottom = {{x1, y2 + gap}, {x3 - gap, y3}};
    const Rect in_bottom{{x1 + ui.px(12), l.bottom.min.y + ui.px(12)},
                         {l.bottom.max.x - ui.px(12), y3 - ui.px(10)}};
    l.transport = {{in_bottom.min.x, in_bottom.max.y - ui.px(30)}, in_bottom.max};
    l.time = {in_bottom.min, {in_bottom.max.x, l.transport.min.y - ui.px(10)}};
    return l;
}

// No recording, or one that stopped before its first block was done.
void nothing_to_step(Ui& ui, const Rect& screen) {
    constexpr const char* kActions[] = {"record", "open", "screen_lessons"};
    constexpr draw::EmptyButton kButtons[] = {{"Record a kernel (R)", "Choose a kernel and a size"},
                                              {"Open a recording (Ctrl+O)", "A .tsc file, or one that ships"},
                                              {"Lessons (5)", "Short walks through recordings"}};
    if (ui.session.opening && !ui.session.recording) {
        draw::empty_panel(ui, screen, session::opening_words(ui.session),
                          "A large recording takes a moment.");
        return;
    }
    const bool opened = ui.session.recording != nullptr;
    const auto pressed =
        draw::empty_panel(ui, screen, opened ? "This recording holds no block." : "No recording is open.",
                          opened ? "It ended before its first block was done: record the kernel again with "
                                   "R, or open another file."
                                 : "Press R to record a kernel, or drop a .tsc file on this window.",
                          ui.session.message, kButtons);
    if (pressed) session::ask(ui, kActions[*pressed]);
}

void draw_screen(Ui& ui, const Rect& screen) {
    State& state = ui.state;
    if (state.framing != 0 && state.framing != ui.session.framing) frame_again(state);
    state.framing = ui.session.framing;
    state.places.grids.clear();
    const std::string warning =
        ui.session.recording ? look::warning(ui.trace(), ui.session.cursor.block) : std::string();
    const Layout l = lay_out(ui, screen, !warning.empty());
    if (!ui.session.recording || ui.trace().blocks.empty()) return nothing_to_step(ui, screen);
    if (ui.session.lecture) return lecture_step(ui, screen);
    if (!warning.empty()) warning_strip(ui, l.warning, warning);
    caption_bar(ui, l.caption);
    if (ui.index() == nullptr) return;
    look::Relations selected =
        look::relations(ui.trace(), *ui.index(), ui.session.replay.get(), ui.shown_pick(), ui.step());
    if (has_provenance(ui.session)) {
        provenance_panel(ui, l.source);
        if (ui.session.hover.kind == Pick::Kind::None) selected.lines.clear();  // the panel says more
    } else {
        source_panel(ui, l.source);
    }
    matrices_panel(ui, l.matrices, selected);
    if (l.tiles.width() > 0) tiles_panel(ui, l.tiles, selected, !l.own_threads);
    if (l.own_threads) threads_panel(ui, l.threads, selected);
    request_panel(ui, l.request, selected);
    surface(ui, l.bottom);
    timeline_panel(ui, l.time);
    input::transport(ui, l.transport);
    sums_panel(ui, l.sums);
    motion(ui);
}

const input::Actions<State>& actions() {
    using input::Key, session::Session;
    static const input::Actions<State> all = [] {
        input::Actions<State> actions;
        const auto add = [&](const char* name, const char* help, const char* keys, Key key, auto what) {
            actions.emplace_back(name, help, keys, input::key(key), input::Chord{}, what, "Look");
        };
        add("previous_warp", "pin the warp above", "\u2191", Key::Up,
            [](Session& session) { session::pick_warp(session, -1); });
        add("next_warp", "pin the warp below", "\u2193", Key::Down,
            [](Session& session) { session::pick_warp(session, 1); });
        add("zoom_in", "zoom in", "W", Key::W, [](State& s, Session& of) { zoom(s, of, 1.25); });
        add("zoom_out", "zoom out", "S", Key::S, [](State& s, Session& of) { zoom(s, of, 0.8); });
        add("pan_left", "pan left", "A", Key::A, [](State& s) { pan(s, -1); });
        add("pan_right", "pan right", "D", Key::D, [](State& s) { pan(s, 1); });
        add("focus", "frame the block's tiles again", "F", Key::F, frame_again);
        add("time", "timeline by clocks or by steps", "C", Key::C, session::change_axis);
        return actions;
    }();
    return all;
}

}  // namespace

const input::Screen<State> kScreen{.name = "Step",
                                   .option = "step",
                                   .about = "One request after the other",
                                   .draw = draw_screen,
                                   .says_messages = true,
                                   .actions = actions};

}  // namespace tilescope::step
