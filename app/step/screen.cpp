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
//
// In lecture mode what the back row can read, and nothing else: the sums, the warps' rows and the buttons go:
// they are small print, and a clicker has no mouse. Of the source the lines around the current one stay.
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
#include <cmath>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/input/overlays.h"
#include "app/look/request.h"
#include "app/look/sums.h"
#include "app/look/timeline.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// "step 12 of 352" at the right of a line, block and phase on the line below. Returns their width.
float standing(Ui& ui, float right, float y, float below, const char* gap) {
    const trace::Block& block = ui.trace().blocks[ui.session.cursor.block];
    // While a question is open only where it is, and not of how many.
    const session::Question& asked = ui.session.question;
    std::string step, phase;
    if (!asked.hides(session::Hide::Standing)) {
        step = "step " + grouped(ui.step() + 1);
        if (!asked.hides_any()) step += " of " + grouped(ui.index()->steps);
        if (!asked.hides(session::Hide::Phases)) phase = look::phase_text(*ui.index(), ui.step());
        if (asked.hides_any()) phase.resize(std::min(phase.size(), phase.find(" (")));
        if (asked.hides_any()) phase.resize(std::min(phase.size(), phase.find(" of ")));
    }
    const std::string where = block_name(ui.trace().launch.grid, {block.x, block.y, block.z}, ui.notation()) +
                              (phase.empty() ? "" : gap + phase);
    const float width = std::max(draw::text_size(ui.font(Face::Mono, Size::Body), step).x,
                                 draw::text_size(ui.font(Face::Mono, Size::Small), where).x);
    line(ui, {right, y}, width + 1, Face::Mono, Size::Body, Ink::Text, step, Align::Right);
    line(ui, {right, below}, width + 1, Face::Mono, Size::Small, Ink::TextQuiet, where, Align::Right);
    return width;
}

// What just happened; while a question about it is open, only who does what.
std::string caption_of(const Ui& ui) {
    if (!ui.session.question.hides_any()) {
        const std::optional<look::OlderView> older = older_of(ui);
        return caption(ui.trace(), *ui.index(), ui.session.replay.get(), ui.step(),
                       older ? &*older : nullptr);
    }
    if (ui.session.question.hides(session::Hide::Standing)) return "";
    return look::request_view(ui.trace(), *ui.index(), ui.step()).title + ".";
}

// What just happened, in words, with where that is. faults: what is wrong at the step.
void caption_bar(Ui& ui, const Rect& rect, const std::vector<std::string>& faults) {
    surface(ui, rect);
    const session::Session& session = ui.session;
    const Rect in{{rect.min.x + ui.px(16), rect.min.y}, {rect.max.x - ui.px(16), rect.max.y}};
    const float title = line_height(ui, Size::Title), body = line_height(ui, Size::Body);
    const float small = line_height(ui, Size::Small);
    if (ui.index() == nullptr && session.block) {
        paragraph(ui, {in.min.x, rect.min.y + (rect.height() - body * 2) / 2}, in.width(), Face::Text,
                  Size::Body, Ink::Fault, session.block->why_not + ".", 2);
        return;
    }
    if (ui.index() == nullptr) {
        line(ui, {in.min.x, rect.min.y + (rect.height() - title) / 2}, in.width(), Face::Text, Size::Title,
             Ink::TextQuiet, "Reading this block\u2026");
        return;
    }
    const float y = rect.min.y + (rect.height() - title - small) / 2;
    const float width = in.width() - standing(ui, in.max.x, y + ui.px(3), y + title, "   ") - ui.px(24);
    const std::string text = caption_of(ui);
    const look::BarrierTimes* barrier = look::barrier_of_step(*ui.index(), ui.step());
    const draw::Font small_font = ui.font(Face::Text, Size::Small);
    const std::string below =
        !session.message.empty() ? session.message
        : session.question.hides_any()
            ? ui.context.paper ? "" : "The rest is shown once the question above is answered."
        : !faults.empty()            ? fitting(small_font, faults, width)
        : !session.no_values.empty() ? session.no_values
        : barrier != nullptr && !session.playback.playing
            ? look::wait_words(ui.trace(), *barrier, ui.trace().warp_of(ui.index()->first + ui.step()))
        : ui.context.paper ? ""
                           : hint(*ui.index(), ui.step(), session.playback.playing);
    // Where the line below needs two, the one above steps back.
    const bool two = draw::text_size(small_font, below).x > width;
    const bool fits = !two && draw::text_size(ui.font(Face::Strong, Size::Title), text).x <= width;
    const float top = below.empty() ? std::round((rect.min.y + rect.max.y - title) / 2)
                      : two         ? std::round((rect.min.y + rect.max.y - body - small * 2) / 2) + ui.px(1)
                                    : y + (fits ? 0 : ui.px(4));
    line(ui, {in.min.x, top}, width, Face::Strong, fits ? Size::Title : Size::Body, Ink::Text, text);
    paragraph(ui, {in.min.x, two ? top + body - ui.px(2) : y + title}, width, Face::Text, Size::Small,
              session.message.empty() && faults.empty() ? Ink::TextQuiet : Ink::Fault, below, two ? 2 : 1);
    if (!faults.empty() && ui.over(rect)) ui.tip = faults.front();
}

void caption_large(Ui& ui, const Rect& rect, const std::vector<std::string>& faults) {
    surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y + ui.px(6)}, {rect.max.x - ui.px(16), rect.max.y}};
    const float body = line_height(ui, Size::Body), title = line_height(ui, Size::Title);
    const float width = in.width() - standing(ui, in.max.x, in.min.y, in.min.y + body, "  ") - ui.px(28);
    const bool told = !ui.session.message.empty();
    const std::string text = told ? ui.session.message : caption_of(ui);
    if (faults.empty()) {
        const bool two = wrapped(ui.font(Face::Strong, Size::Title), text, width).size() > 1;
        const float y = two ? in.min.y : in.min.y + (rect.height() - ui.px(12) - title) / 2;
        paragraph(ui, {in.min.x, y}, width, Face::Strong, Size::Title, told ? Ink::Fault : Ink::Text, text,
                  2);
        return;
    }
    line(ui, in.min, width, Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body), {text, text.substr(0, text.find(". ") + 1)}, width));
    const bool whole = wrapped(ui.font(Face::Text, Size::Body), faults.front(), width).size() <= 2;
    paragraph(ui, {in.min.x, in.min.y + body}, width, Face::Text, Size::Body, Ink::Fault,
              whole ? faults.front() : faults.back(), 2);
}

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

StepLayout lay_out(Ui& ui, const Rect& screen, const std::string& warning, bool faults) {
    const float gap = ui.px(8), w = screen.width(), h = screen.max.y;
    const bool lecture = ui.session.lecture, low = h < ui.px(860);
    StepLayout l;
    Rect rest = screen.inset(gap);
    if (!warning.empty()) {
        const float high = warning_height(ui, rest.width(), warning);
        l.warning = {rest.min, {rest.max.x, rest.min.y + high}};
        rest.min.y += high + gap;
    }
    const float caption = lecture ? (faults ? 80 : 64) : low ? 52 : 58;
    l.caption = cut(rest, ImGuiDir_Up, ui.px(caption), gap);
    if (lecture) {
        l.bottom = cut(rest, ImGuiDir_Down, ui.px(34), gap);
        const float request = std::clamp(rest.width() * 0.27f, ui.px(260), ui.px(420));
        l.request = cut(rest, ImGuiDir_Right, request, gap);
        // In a low window the request keeps its picture, and the tiles their cells.
        if (const float room = l.request.height(); room >= ui.px(330)) {
            const float lines = room < ui.px(460) ? 5 : 12;  // of the source
            l.source = cut(l.request, ImGuiDir_Down, lines * line_height(ui, Size::Small) + ui.px(24), gap);
        }
        l.threads_in_tiles = rest.height() >= ui.px(300);
    } else {
        // As high as its warps need, within bounds; what it leaves is the matrices'.
        const float warps = ui.index() == nullptr ? 8 : static_cast<float>(ui.index()->warps);
        const float words =
            ui.px(session::by_clock(ui.session) ? 38 : 20);  // whose time it is, and the clocks' axis
        const float bottom =
            std::clamp(ui.px(100) + warps * ui.px(20) + words, ui.px(140) + words,
                       std::max(ui.px(low ? (warps > 16 ? 150 : 142) : 186) + words, h * 0.205f));
        l.request = cut(rest, ImGuiDir_Right, std::clamp(w * 0.22f, ui.px(304), ui.px(420)), gap);
        // On paper nothing is pressed, and a question keeps its panels only where something stands in them.
        const bool paper = ui.context.paper;
        if (!paper || !ui.session.question.hides_any())
            l.sums = cut(l.request, ImGuiDir_Down, std::max(bottom, sums_height(ui)), gap);
        // The threads have a panel below the request where that leaves the request its picture.
        const float threads = std::min(ui.px(216), l.request.height() - ui.px(370));
        l.threads_in_tiles = threads < ui.px(110);
        if (!l.threads_in_tiles) l.threads = cut(l.request, ImGuiDir_Down, threads, gap);
        if (!paper || !hides_timeline(ui.session.question)) {
            l.bottom = cut(rest, ImGuiDir_Down, bottom - (paper ? ui.px(40) : 0), gap);
            l.time = l.bottom.inset(ui.px(12));
            l.time.max.y += ui.px(2);
            if (!paper) l.transport = cut(l.time, ImGuiDir_Down, ui.px(30), ui.px(10));
        }
        l.source = cut(rest, ImGuiDir_Left, std::clamp(w * 0.215f, ui.px(276), ui.px(400)), gap);
    }
    l.matrices = rest;
    if (session::uses_shared(ui.trace()) || l.threads_in_tiles) {
        // The matrices and tiles are squares: two on top of each other, three beside each other.
        const float inset = ui.px(24), title = line_height(ui, Size::Body);
        const float high = (rest.height() - inset - title * 2 - ui.px(6)) / 2;
        const float wide = (rest.width() - inset * 2 - ui.px(12) - ui.px(8)) / 3;
        float side = std::floor(std::min(high, wide));
        // Three below each other, unless arrays of a launch that is no product: they are seldom square.
        if (l.threads_in_tiles && ui.session.recording->product)
            side = std::min(side, (rest.height() - inset - title * 3 - ui.px(12)) / 3);
        const float tiles = std::max(side, ui.px(72));  // their headings need that much
        l.matrices.max.x = std::floor(rest.max.x - tiles - inset - gap);
        l.tiles = {{l.matrices.max.x + gap, rest.min.y}, rest.max};
    }
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

// That the recording is not whole or its result wrong; else its faults, where neither a question nor paper forbids.
std::string warning_of(const Ui& ui) {
    const session::Session& session = ui.session;
    std::string text = look::warning(ui.trace(), session.cursor.block, ui.notation());
    const bool told = session.question.open || ui.context.paper;  // it might tell the answer
    return text.empty() && session.said && !told ? look::strip_text(ui.trace(), *session.said, ui.notation())
                                                 : text;
}

void draw_screen(Ui& ui, const Rect& screen) {
    State& state = ui.state;
    const session::Session& session = ui.session;
    state.places.clear();
    state.gate_named = false;
    if (!session.recording || ui.trace().blocks.empty()) return nothing_to_step(ui, screen);
    const bool asked = session.question.hides_any();
    const std::string warning = asked || session.question.hides(session::Hide::Result) ? "" : warning_of(ui);
    std::vector<std::string> faults;  // unless there is a message to say
    if (ui.index() != nullptr && session.faults && session.message.empty() && !asked)
        faults = look::fault_captions(ui.trace(), *session.faults, ui.step(), ui.notation());
    StepLayout l = lay_out(ui, screen, warning, !faults.empty());
    if (!warning.empty()) warning_strip(ui, l.warning, warning);
    if (!warning.empty() && session.said && session.said->placed && ui.clicked(l.warning))
        input::ask(ui, "next_fault");
    if (!session.lecture || ui.index() == nullptr)
        caption_bar(ui, l.caption, faults);
    else
        caption_large(ui, l.caption, faults);
    if (ui.index() == nullptr) return;
    state.selected = session.question.open ? look::Relations()
                                           : look::relations(ui.trace(), *ui.index(), session.replay.get(),
                                                             ui.shown_pick(), ui.step());
    const Middle shown = session.question.open ? Middle::Matrices : state.middle;
    // In a low window the solid has the source's room too, unless something is said there.
    const bool wide_solid = shown == Middle::Cube && !session.lecture && l.matrices.height() < ui.px(520);
    const bool source = session.lecture ? l.source.height() > 0 : asked || !provenance_panel(ui, l.source);
    if (source && wide_solid)
        l.matrices.min.x = l.source.min.x;
    else if (source)
        source_panel(ui, l.source);
    else if (!session.lecture && session.hover.kind == Pick::Kind::None)
        state.selected.lines.clear();  // the panel says more
    // On the desk the matrices are drawn first, in the lecture after the tiles: the order of their texts.
    // Table and solid would tell what a question asks, and its cells are picked in the matrices.
    const auto middle = shown == Middle::Matrices ? matrices_panel
                        : shown == Middle::Cube   ? cube_panel
                                                  : phase_table_panel;
    if (!session.lecture) middle(ui, l.matrices);
    if (l.tiles.width() > 0) tiles_panel(ui, l.tiles, l.threads_in_tiles);
    if (session.lecture) middle(ui, l.matrices);
    if (l.threads.width() > 0) threads_panel(ui, l.threads);
    request_panel(ui, l.request);
    if (session.lecture) {
        phases(ui, l.bottom);
    } else {
        if (l.bottom.height() > 0) {
            surface(ui, l.bottom);
            timeline_panel(ui, l.time);
        }
        if (l.transport.height() > 0) input::transport(ui, l.transport);
        if (l.sums.height() > 0) sums_panel(ui, l.sums);
    }
    motion(ui);
}

const input::Actions<State>& actions() {
    using input::key, input::Key, session::pick_warp, session::Session;
    static const input::Actions<State> all = input::under<State>(
        "Look",
        {{"previous_warp", "pin the warp above", "\u2191", key(Key::Up),
          [](Session& of) { pick_warp(of, -1); }},
         {"next_warp", "pin the warp below", "\u2193", key(Key::Down), [](Session& of) { pick_warp(of, 1); }},
         {"zoom_in", "zoom in", "W", key(Key::W), [](State& s, Session& of) { zoom(s, of, 1.25); }},
         {"zoom_out", "zoom out", "S", key(Key::S), [](State& s, Session& of) { zoom(s, of, 0.8); }},
         {"pan_left", "pan left, or turn the solid", "A", key(Key::A), [](State& s) { pan(s, -1); }},
         {"pan_right", "pan right, or turn the solid", "D", key(Key::D), [](State& s) { pan(s, 1); }},
         {"focus", "frame the block's tiles again", "F", key(Key::F), frame_again},
         {"phase_table", "phase table, with values, the product as a solid, off", "P", key(Key::P),
          [](State& s) { s.middle = next_of(s.middle, 4); }},
         {"cube", "the product as a solid: a block is a column of it, a phase a slab", "", input::Chord(),
          [](State& s) { s.middle = Middle::Cube; }},
         {"older_gpu", "the request as older GPUs would make it", "J", key(Key::J),
          [](State& s) { s.judged_by = next_of(s.judged_by, 3); }},
         {"time", "timeline by clocks or by steps", "C", key(Key::C), session::change_axis},
         {"plain_look", "no phase table or solid, and requests as this GPU makes them", "", input::Chord(),
          [](State& s) { s.middle = Middle::Matrices, s.judged_by = JudgedAs::Today; }}});
    return all;
}

}  // namespace

const input::Screen<State> kScreen{.name = "Step",
                                   .option = "step",
                                   .about = "One request after the other",
                                   .draw = draw_screen,
                                   .says_messages = true,
                                   .actions = actions,
                                   .grant = grant,
                                   .hides_itself = [](const session::Question&) { return true; }};

}  // namespace tilescope::step
