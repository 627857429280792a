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
// The cells of M, N, P and the tiles have one size, as large as leaves all of the block's tiles in sight: a tile of
// 16 x 16 shows its values from 1600 x 1000 on. In a low window the threads stand beside Mds and Nds. A window
// narrower than 1100 pixels has the source, the request and the sums below the middle; one that is low as well
// folds the source to its current line.
//
// A stop of a lesson may show some panels alone, each from when it is explained: they have all of the room, and the
// strip above says what the sentence would.
//
// In lecture mode the screen shows what the back row can read. The warps' rows are small print and go, as do the
// buttons, since a clicker has no mouse; the sums go unless a stop of a lesson names them. Of the source the lines around
// the current one stay. At a stop its strip stands in place of the caption.
//
//   +-----------------------------------------------------------+
//   | what just happened, large           step 12 of 352        |
//   +--------------------------------------+--------------------+
//   |  M N P          |  Mds               |  the request       |
//   |                 |  Nds               |--------------------|
//   |                 |  threads           |  source            |
//   +--------------------------------------+--------------------+
//   | the phases, and where this is                             |
//   +-----------------------------------------------------------+
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/input/overlays.h"
#include "app/look/request.h"
#include "app/look/sums.h"
#include "app/look/timeline.h"
#include "app/session/playing.h"
#include "app/step/grids.h"
#include "app/step/zoom.h"

namespace tilescope::step {
namespace {

// Phases side by side as wide as their steps, numbered where there is room; a playhead over them.
void phases(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    if (ui.session.question.hides(session::Hide::Phases)) return asked_sign(ui, rect);
    const look::BlockIndex& index = *ui.index();
    const Rect in{{rect.min.x + ui.px(12), rect.min.y + ui.px(6)},
                  {rect.max.x - ui.px(12), rect.max.y - ui.px(6)}};
    const auto x_of = [&](uint32_t step) {
        return std::round(in.min.x + in.width() * static_cast<float>(step) /
                                         static_cast<float>(std::max(1u, index.steps)));
    };
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const auto width_of = [&](const std::string& text) { return draw::text_size(font, text).x; };
    const float each = in.width() / static_cast<float>(std::max<size_t>(1, index.spans.size()));
    // All by name, or all by number; where all numbers do not fit, every so many.
    const std::string most = std::to_string(index.phases.phases);
    const bool named = width_of("phase " + most) + ui.px(8) <= each;
    const auto stride = static_cast<size_t>(std::max(1.f, std::ceil((width_of(most) + ui.px(6)) / each)));
    std::string end = "after";  // or what a product writes then
    if (index.product) end = name_in(ui.notation(), ui.trace().launch.arrays[index.product->P]);
    float drawn = in.min.x - ui.px(2);
    for (size_t i = 0; i < index.spans.size(); ++i) {
        const look::PhaseSpan& span = index.spans[i];
        const Rect box{{x_of(span.first), in.min.y}, {x_of(span.end) - ui.px(1), in.max.y}};
        if (box.max.x <= drawn) continue;  // narrower than a pixel
        drawn = box.max.x;
        const bool here = ui.step() >= span.first && ui.step() < span.end;
        ui.list.AddRectFilled(box.min, box.max, ui.ink(here ? Ink::Accent : Ink::Raised), ui.px(2));
        if (index.spans.size() == 1) continue;  // all of it is one
        const bool after = span.phase == analysis::kAfter;
        if (!after && i % stride != 0) continue;
        const std::string name = after ? end : phase_name(span.phase, ui.notation());
        const std::string text = named || after ? name : name.substr(std::size("phase"));
        const ImVec2 size = draw::text_size(font, text);
        if ((after || named) && size.x > box.width()) continue;
        // Beside the playhead, which would cover it.
        float left = (box.min.x + box.max.x - size.x) / 2;
        const float playhead = x_of(ui.step()), gap = ui.px(8);
        if (here && playhead > left - gap && playhead < left + size.x + gap) {
            const float before = playhead - gap - size.x, behind = playhead + gap;
            left = before >= box.min.x ? before : behind;
            if (left + size.x > box.max.x) continue;
        }
        put(ui, ui.list, font, {left, (box.min.y + box.max.y - size.y) / 2},
            here ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text), text);
    }
    if (const auto marked = session::marked_here(ui.session)) {
        const float left = x_of(marked->first), right = x_of(marked->end), thick = ui.px(2);
        for (const float y : {rect.min.y + ui.px(2), rect.max.y - ui.px(2) - thick})
            ui.list.AddRectFilled({left, y}, {right, y + thick}, ui.ink(Ink::Accent));
        for (const float edge : {left, right - thick})
            ui.list.AddRectFilled({edge, rect.min.y + ui.px(2)}, {edge + thick, rect.max.y - ui.px(2)},
                                  ui.ink(Ink::Accent));
    }
    // As on the timeline: a line with a head, in the colour of what can be moved; rimmed, as it stands on it.
    const float x = x_of(ui.step()), head = ui.px(7);
    const Rgba color = ui.ink(Ink::Accent);
    ui.list.AddRectFilled({x - ui.px(3), rect.min.y}, {x + ui.px(3), rect.max.y}, ui.ink(Ink::Panel));
    ui.list.AddRectFilled({x - ui.px(1.5f), rect.min.y}, {x + ui.px(1.5f), rect.max.y}, color);
    ui.list.AddTriangleFilled({x - head, rect.min.y}, {x + head, rect.min.y}, {x, rect.min.y + head}, color);
}

// Cuts a strip off a side of a rectangle. What is left of it keeps a gap from the strip.
Rect cut(Rect& rest, ImGuiDir side, float size, float gap) {
    Rect strip = rest;
    float ImVec2::*const axis = side == ImGuiDir_Up || side == ImGuiDir_Down ? &ImVec2::y : &ImVec2::x;
    if (side == ImGuiDir_Up || side == ImGuiDir_Left) {
        strip.max.*axis = strip.min.*axis + size;
        rest.min.*axis = strip.max.*axis + gap;
    } else {
        strip.min.*axis = strip.max.*axis - size;
        rest.max.*axis = strip.min.*axis - gap;
    }
    return strip;
}

// A panel without a rectangle is not shown.
struct StepLayout {
    Rect warning, caption, source, matrices, tiles, threads, request, bottom, time, transport, sums;
    bool threads_in_tiles = false;  // instead of in a panel of their own
};

// Shares the middle between the matrices and, on the right, the tiles. The matrices of a product and their tiles
// get cells of one size, as large as fits; arrays of another launch, which are seldom square, get the most.
void share_middle(Ui& ui, const Rect& rest, StepLayout& l) {
    l.matrices = rest;
    if (!session::uses_shared(ui.trace()) && !l.threads_in_tiles) return;
    const float gap = ui.px(8), inset = ui.px(24), high = rest.height() - inset;
    const float least = ui.px(72) + inset, most = rest.width() * 0.45f;
    MiddleShared& shared = ui.state.middle_shared;
    const ImVec2 room{rest.width(), rest.height()};
    const bool same = shared.of == ui.session.block && shared.room.x == room.x && shared.room.y == room.y &&
                      shared.scale == ui.context.scale && shared.threads == l.threads_in_tiles;
    float tiles = same ? shared.tiles : least;
    if (same) {
    } else if (ui.index() != nullptr && ui.index()->product) {
        // The smaller of both, in whole pixels from 2 on, then the matrices', then the tiles'.
        using Pitches = std::array<float, 3>;
        Pitches best{};
        for (float wide = least; wide <= most; wide += ui.px(10)) {
            const float of_m = product_pitch(ui, rest.width() - wide - gap - inset, high),
                        of_tiles = tiles_pitch(ui, wide - inset, high, l.threads_in_tiles);
            // What the matrices do not need is the tiles' and the threads'.
            const float least_of = std::min(of_m, of_tiles);
            const Pitches both{least_of < 2 ? least_of : std::floor(least_of), std::floor(of_m),
                               std::floor(of_tiles)};
            if (both > best || (both == best && l.threads_in_tiles && wide - tiles <= ui.px(120)))
                best = both, tiles = wide;
        }
    } else {
        tiles = std::max(least, std::min({high / 2, (rest.width() - gap) / 3, most}) + inset);
    }
    shared = {ui.session.block, room, ui.context.scale, tiles, l.threads_in_tiles};
    l.matrices.max.x = std::floor(rest.max.x - tiles - gap);
    l.tiles = {{l.matrices.max.x + gap, rest.min.y}, rest.max};
}

// What is seen beside the middle of a narrow window stands below it, or, in one that is low as well, goes, all but
// the current line of the source. Returns what is left.
Rect lay_out_narrow(Ui& ui, Rect rest, StepLayout& l) {
    const float gap = ui.px(8), line = line_height(ui, Size::Small);
    const float sums = sums_height(ui);
    if (rest.height() < ui.px(640)) {
        l.request = cut(rest, ImGuiDir_Right, ui.px(304), gap);
        l.source = cut(rest, ImGuiDir_Down, line + ui.px(16), gap);
        return rest;
    }
    const bool three = rest.width() >= ui.px(900);
    const float high = std::clamp(rest.height() * 0.4f, std::max(sums, ui.px(300)), ui.px(400));
    Rect lower = cut(rest, ImGuiDir_Down, high, gap);
    l.request = cut(lower, ImGuiDir_Left, std::max(ui.px(320), rest.width() * 0.36f), gap);
    if (three)
        l.sums = cut(lower, ImGuiDir_Right, ui.px(310), gap);
    else
        l.sums = cut(lower, ImGuiDir_Down, std::min(sums, high - gap - line * 2 - ui.px(24)), gap);
    l.source = lower;
    return rest;
}

// Some panels alone: source, request, sums and timeline around the matrices, as they lie on the whole screen; below
// them in a narrow window. In a lecture the sums give way where source and request would have too little room.
void lay_out_some(Ui& ui, Rect rest, StepLayout& l) {
    using session::Panel;
    const session::Session& session = ui.session;
    const float gap = ui.px(8), wide = rest.width();
    // What would stand there is room for one's own working, which the page has.
    const bool asked_on_paper = ui.context.paper && session.question.hides_any();
    const bool source = session.shows(Panel::Source),
               request = session.shows(Panel::Request) && !asked_on_paper,
               threads = session.shows(Panel::Threads), tiles = session.shows(Panel::Tiles),
               high = rest.height() > wide;
    if (session.shows(Panel::Timeline)) {
        const float warps = static_cast<float>(ui.index() == nullptr ? 8 : ui.index()->warps);
        l.bottom = cut(
            rest, ImGuiDir_Down,
            session.lecture ? ui.px(34) : std::clamp(ui.px(84) + warps * ui.px(20), ui.px(120), ui.px(200)),
            gap);
        l.time = l.bottom.inset(ui.px(12));
    }
    const bool low = session.lecture && (source || request) && rest.height() < sums_height(ui) + ui.px(280);
    const bool sums = session.shows(Panel::Sums) && !asked_on_paper && !low;
    if (high) {
        if (sums) l.sums = cut(rest, ImGuiDir_Down, sums_height(ui), gap);
        if (source || request) {
            Rect lower =
                cut(rest, ImGuiDir_Down, std::clamp(rest.height() * 0.36f, ui.px(220), ui.px(400)), gap);
            if (request)
                l.request = source ? cut(lower, ImGuiDir_Right, std::round(wide * 0.48f), gap) : lower;
            if (source) l.source = lower;
        }
    } else if (session.lecture) {  // the request above the source
        if (source || request || sums)
            l.request =
                cut(rest, ImGuiDir_Right, std::clamp(wide * 0.27f, ui.px(sums ? 304 : 240), ui.px(420)), gap);
        if (sums)
            l.sums = source || request ? cut(l.request, ImGuiDir_Down, sums_height(ui), gap)
                                       : std::exchange(l.request, {});
        const float lines = l.request.height() >= ui.px(460) ? 12 : l.request.height() >= ui.px(330) ? 5 : 2;
        if (source)
            l.source =
                request ? cut(l.request, ImGuiDir_Down, lines * line_height(ui, Size::Small) + ui.px(16), gap)
                        : std::exchange(l.request, {});
    } else {
        if (request || sums)
            l.request =
                cut(rest, ImGuiDir_Right, std::clamp(wide * 0.22f, ui.px(sums ? 304 : 280), ui.px(420)), gap);
        if (sums)
            l.sums =
                request ? cut(l.request, ImGuiDir_Down, sums_height(ui), gap) : std::exchange(l.request, {});
        if (source)
            l.source = cut(rest, ImGuiDir_Left, std::clamp(wide * 0.215f, ui.px(260), ui.px(400)), gap);
    }
    l.threads_in_tiles = threads && tiles;
    if (threads && !tiles)
        l.threads =
            high ? cut(rest, ImGuiDir_Down, std::clamp(rest.height() * 0.3f, ui.px(150), ui.px(300)), gap)
                 : cut(rest, ImGuiDir_Right, std::clamp(rest.width() * 0.28f, ui.px(200), ui.px(420)), gap);
    l.matrices = rest;
    if (tiles) share_middle(ui, rest, l);
}

StepLayout lay_out(Ui& ui, const Rect& screen, const std::string& warning,
                   const std::vector<std::string>& faults) {
    const float gap = ui.px(8), w = screen.width(), h = screen.max.y;
    const bool lecture = ui.session.lecture, low = h < ui.px(860);
    StepLayout l;
    Rect rest = screen.inset(gap);
    if (!warning.empty()) {
        const float high = warning_height(ui, rest.width(), warning);
        l.warning = {rest.min, {rest.max.x, rest.min.y + high}};
        rest.min.y += high + gap;
    }
    if (const float high = caption_height(ui, rest.width(), faults, low); high > 0)
        l.caption = cut(rest, ImGuiDir_Up, high, gap);
    if (ui.session.unfolds()) {
        lay_out_some(ui, rest, l);
        return l;
    }
    if (ui.state.subject) {
        l.threads_in_tiles = true;
        share_middle(ui, rest, l);
        return l;
    }
    // On paper nothing is pressed, and a question keeps its panels only where something stands in them.
    const bool paper = ui.context.paper;
    if (lecture) {
        l.bottom = cut(rest, ImGuiDir_Down, ui.px(34), gap);
        const float request = std::clamp(rest.width() * 0.27f, ui.px(260), ui.px(420));
        l.request = cut(rest, ImGuiDir_Right, request, gap);
        // In a low window the request keeps its picture, and of the source the current line stays.
        const float room = l.request.height();
        const float lines = room >= ui.px(460) ? 12 : room >= ui.px(330) ? 5 : room >= ui.px(200) ? 2 : 1;
        l.source = cut(l.request, ImGuiDir_Down, lines * line_height(ui, Size::Small) + ui.px(16), gap);
        l.threads_in_tiles = rest.height() >= ui.px(300);
        share_middle(ui, rest, l);
        return l;
    }
    // As high as its warps need, within bounds; what it leaves is the matrices'.
    const float warps = ui.index() == nullptr ? 8 : static_cast<float>(ui.index()->warps);
    const float stages = ui.index() == nullptr || !ui.index()->pipeline  // a row each, of a ring
                             ? 0
                             : static_cast<float>(std::min<size_t>(ui.index()->pipeline->stages.size(), 6));
    const float words =
        ui.px(session::by_clock(ui.session) ? 38 : 20) +  // whose time it is, and the clocks' axis
        stages * ui.px(low ? 6 : 12);
    const float bottom =
        std::clamp(ui.px(100) + warps * ui.px(20) + words, ui.px(140) + words,
                   std::max(ui.px(low ? (warps > 16 ? 150 : 142) : 186) + words, h * 0.205f));
    const bool narrow = w < ui.px(1100);
    if (!narrow) {
        l.request = cut(rest, ImGuiDir_Right, std::clamp(w * 0.22f, ui.px(304), ui.px(420)), gap);
        if (!paper || !ui.session.question.hides_any())
            l.sums = cut(l.request, ImGuiDir_Down, std::max(bottom, sums_height(ui)), gap);
        // The threads have a panel below the request where that leaves the request its picture.
        const float threads = std::min(ui.px(216), l.request.height() - ui.px(370));
        if (threads >= ui.px(110)) l.threads = cut(l.request, ImGuiDir_Down, threads, gap);
    }
    l.threads_in_tiles = l.threads.height() <= 0;
    if (!paper || !hides_timeline(ui.session.question)) {
        l.bottom = cut(rest, ImGuiDir_Down, bottom - (paper ? ui.px(40) : 0), gap);
        l.time = l.bottom.inset(ui.px(12));
        l.time.max.y += ui.px(2);
        if (!paper) l.transport = cut(l.time, ImGuiDir_Down, ui.px(30), ui.px(10));
    }
    if (narrow)
        rest = lay_out_narrow(ui, rest, l);
    else
        l.source = cut(rest, ImGuiDir_Left, std::clamp(w * 0.215f, ui.px(276), ui.px(400)), gap);
    share_middle(ui, rest, l);
    return l;
}

// No recording, or one that stopped before its first block was done.
void nothing_to_step(Ui& ui, const Rect& screen) {
    constexpr const char* kActions[] = {"record", "open", "screen_lessons"};
    const std::string lessons = input::with_key(ui, "Lessons", kActions[2]);
    const draw::EmptyButton buttons[] = {{"Record a kernel (R)", "Choose a kernel and a size"},
                                         {"Open a recording (Ctrl+O)", "A .tsc file, or one that ships"},
                                         {lessons.c_str(), "Short walks through recordings"}};
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
                          ui.session.message, buttons);
    if (pressed) input::ask(ui, kActions[*pressed]);
}

// What the keys do to where arrays are looked at.
void zoom(State& state, session::Session& session, double by) {
    if (zoom_level(state, session, by > 1)) return;
    // About the upper left corner plus half a tile: what is framed stays in sight.
    const double half =
        session.recording && session.recording->product ? session.recording->product->tile / 2.0 : 0;
    if (state.middle == Middle::Cube) return zoom_cube(state.cube, by > 1 ? 1 : -1);
    const auto closer = [&](ArrayView& view) {
        const double about = half * view.pitch, keep = about * view.zoom(by);
        for (double* corner : {&view.row, &view.col, &view.m_k, &view.n_k}) *corner += keep;
    };
    closer(state.view);
    std::ranges::for_each(state.arrays, closer);
}

void pan(State& state, int by) {
    if (state.middle == Middle::Cube) {
        state.cube.camera = pictures::turned(state.cube.camera, -0.12f * static_cast<float>(by), 0);
        return;
    }
    const double cells = by * std::max(1.0, std::round(64 / std::max(state.view.pitch, 1.0)));
    for (double* corner : {&state.view.col, &state.view.m_k, &state.view.n_k}) *corner += cells;
    state.view.fit = false;
    for (ArrayView& array : state.arrays) array.col += cells, array.fit = false;
}

// Of so many, in turn.
template <class Choice>
Choice next_of(Choice now, int all) {
    return static_cast<Choice>((static_cast<int>(now) + 1) % all);
}

void frame_again(State& state) {
    state.view = {};
    state.arrays.clear();
    state.cube.camera = {};
}

void grant(State& state, session::Session&, const session::Wish& wish) {
    if (std::holds_alternative<session::wish::FrameAnew>(wish)) frame_again(state);
}

// What would free requests, once somebody asks. True while it is worked out.
bool update(State& state, session::Session& session, bool wait) {
    Freeing& freeing = state.freeing;
    if (!session.recording) return false;
    if (freeing.serial != session.recording->serial) {
        freeing.working.stop();
        freeing = {.serial = session.recording->serial};
    }
    freeing.wanted = freeing.wanted || state.judged_by != JudgedAs::Today;
    if (!freeing.wanted || freeing.made) return false;
    if (!freeing.working.begun())
        freeing.working = session.jobs->start([recording = session.recording](session::Control& control) {
            return analysis::improvements_of(*recording->trace, {&control.stop});
        });
    auto found = freeing.working.take(wait || session.trace().steps() <= session::kCountedAtOnce);
    if (!found) return true;
    freeing.made = std::make_shared<const analysis::Improvements>(*found ? std::move(**found)
                                                                         : analysis::Improvements());
    return false;
}

// That the recording is not whole or its result wrong; else its faults, where no question forbids.
std::string warning_of(const Ui& ui) {
    const session::Session& session = ui.session;
    std::string text = look::warning(ui.trace(), session.cursor.block, ui.notation());
    // It might tell the answer, of a question that is open, or of a handout's.
    const bool told = session.question.open || (ui.context.paper && !session.lesson.empty());
    return text.empty() && session.said && !told ? look::strip_text(ui.trace(), *session.said, ui.notation())
                                                 : text;
}

void draw_screen(Ui& ui, const Rect& screen) {
    State& state = ui.state;
    const session::Session& session = ui.session;
    zoom_by_wheel(ui);
    state.places.clear();
    state.gate_named = false;
    state.common.clear();
    state.cell_fonts.clear();
    state.signs_before = std::exchange(state.signs, 0);
    if (!session.recording || ui.trace().blocks.empty()) return nothing_to_step(ui, screen);
    if (grid_shown(state, session)) return grid_view(ui, screen);
    if (ui.index() != nullptr) begin_motion(ui);
    const bool asked = session.question.hides_any();
    const std::string warning = asked || session.question.hides(session::Hide::Result) ? "" : warning_of(ui);
    std::vector<std::string> faults;  // unless there is a message to say
    if (ui.index() != nullptr && session.faults && session.message.empty() && !asked)
        faults = look::fault_captions(ui.trace(), *session.faults, ui.step(), ui.notation());
    StepLayout l = lay_out(ui, screen, warning, faults);
    if (!warning.empty()) warning_strip(ui, l.warning, warning);
    if (!warning.empty() && session.said && session.said->placed && ui.clicked(l.warning))
        input::ask(ui, "next_fault");
    if (l.caption.height() > 0 && (!session.lecture || ui.index() == nullptr))
        caption_bar(ui, l.caption, faults);
    else if (l.caption.height() > 0)
        caption_large(ui, l.caption, faults);
    if (ui.index() == nullptr) return;
    state.selected = session.question.open ? look::Relations()
                                           : look::relations(ui.trace(), *ui.index(), session.replay.get(),
                                                             ui.shown_pick(), ui.step());
    if (state.subject) {
        matrices_panel(ui, l.matrices);
        tiles_panel(ui, l.tiles, true);
        return motion(ui);
    }
    const Middle shown = session.question.open ? Middle::Matrices : state.middle;
    // In a low window the solid has the source's room too, unless something is said there.
    const bool wide_solid = shown == Middle::Cube && !session.lecture && l.matrices.height() < ui.px(520) &&
                            l.source.width() > 0 && l.source.max.x <= l.matrices.min.x;
    const bool provenance = !session.lecture && !asked && !session.unfolds();
    const bool source = l.source.height() > 0 && !(provenance && provenance_panel(ui, l.source));
    if (source && wide_solid)
        l.matrices.min.x = l.source.min.x;
    else if (source)
        source_panel(ui, l.source);
    else if (!session.lecture && session.hover.kind == Pick::Kind::None)
        state.selected.lines.clear();  // the panel says more
    // On the desk the matrices are drawn first, in the lecture after the tiles: the order of their texts.
    // Table and solid would tell what a question asks, and its cells are picked in the matrices.
    const auto middle = shown == Middle::Matrices    ? matrices_panel
                        : shown == Middle::Cube      ? cube_panel
                        : shown == Middle::Fragments ? fragments_panel
                                                     : phase_table_panel;
    if (shown == Middle::Fragments &&
        l.tiles.width() > 0)  // whose cells need the room, and values of their own
        l.matrices.max = l.tiles.max, l.tiles = {};
    if (!session.lecture) middle(ui, l.matrices);
    if (l.tiles.width() > 0) tiles_panel(ui, l.tiles, l.threads_in_tiles);
    if (session.lecture) middle(ui, l.matrices);
    if (l.threads.width() > 0) threads_panel(ui, l.threads);
    if (l.request.height() > 0) request_panel(ui, l.request);
    if (session.lecture) {
        if (l.bottom.height() > 0) phases(ui, l.bottom);
    } else {
        if (l.bottom.height() > 0) {
            surface(ui, l.bottom, "timeline");
            timeline_panel(ui, l.time);
        }
        if (l.transport.height() > 0) input::transport(ui, l.transport);
    }
    if (l.sums.height() > 0) sums_panel(ui, l.sums);
    motion(ui);
    // The legend is of what the frame before drew.
    if (state.signs != state.signs_before) ui.context.another_frame = true;
}

const input::Actions<State>& actions() {
    using input::key, input::Key, session::pick_warp, session::Session;
    static const input::Actions<State> all =
        input::under<
            State>("Look",
                   {{"previous_warp", "pin the warp above", "\u2191", key(Key::Up),
                     [](Session& of) { pick_warp(of, -1); }},
                    {"next_warp", "pin the warp below", "\u2193", key(Key::Down),
                     [](Session& of) { pick_warp(of, 1); }},
                    {"zoom_in", "zoom in", "W", key(Key::W),
                     [](State& s, Session& of) { zoom(s, of, 1.25); }},
                    {"zoom_out", "zoom out", "S", key(Key::S),
                     [](State& s, Session& of) { zoom(s, of, 0.8); }},
                    {"pan_left", "pan left, or turn the solid", "A", key(Key::A),
                     [](State& s) { pan(s, -1); }},
                    {"pan_right", "pan right, or turn the solid", "D", key(Key::D),
                     [](State& s) { pan(s, 1); }},
                    {"focus", "frame the block's tiles again", "F", key(Key::F), frame_again},
                    {"grid", "the grid at work, and back", "O", key(Key::O), show_grid},
                    {"phase_table",
                     "phase table, with values, the product as a solid, the fragment lens, off", "P",
                     key(Key::P),
                     [](State& s, Session& of) {
                         s.middle =
                             next_of(s.middle, of.recording && look::multiplies_matrices(of.trace()) ? 5 : 4);
                     }},
                    {"cube", "the product as a solid: a block is a column of it, a phase a slab", "",
                     input::Chord(), [](State& s) { s.middle = Middle::Cube; }},
                    {"fragments", "the fragment lens: which lane holds what of a product of matrices", "",
                     input::Chord(), [](State& s) { s.middle = Middle::Fragments; }},
                    {"older_gpu", "the request as older GPUs would make it, or freed of conflicts", "J",
                     key(Key::J), [](State& s) { s.judged_by = next_of(s.judged_by, 3); }},
                    {"time", "timeline by clocks or by steps", "C", key(Key::C), session::change_axis},
                    {"plain_look", "no phase table or solid, and requests as this GPU makes them", "",
                     input::Chord(),
                     [](State& s) { s.middle = Middle::Matrices, s.judged_by = JudgedAs::Today; }}});
    return all;
}

}  // namespace

const input::Screen<State> kScreen{.name = "Step",
                                   .option = "step",
                                   .about = "One request after the other",
                                   .draw = draw_screen,
                                   .says_messages = true,
                                   .press = press_in_grid,
                                   .actions = actions,
                                   .update = update,
                                   .grant = grant,
                                   .hides_itself = [](const session::Question&) { return true; }};

}  // namespace tilescope::step
