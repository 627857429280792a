// The Program screen, and the strip above the other screens while a program runs.
#include "app/input/screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/input/program_list.h"
#include "app/programs/model.h"
#include "app/programs/state.h"

namespace tilescope::programs {
namespace {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Size;
using session::Program, session::Session;
using Ui = input::Ui<State>;

Progress progress_of(const Program& program, bool still) {
    Progress progress;
    const std::lock_guard lock(program.hearing->mutex);
    progress.begun = program.hearing->begun;
    progress.launches = program.hearing->launches;
    progress.recordings = program.hearing->recordings;
    if (!still)
        progress.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - program.began).count();
    return progress;
}

void run_again(Session& session) {
    if (session.program && !session.program->running) session::run_program(session, session.program->order);
}

// The wheel over a list, in rows; true where it was turned.
bool turned(Ui& ui, const Rect& area, double& first) {
    const float wheel = ImGui::GetIO().MouseWheel;
    if (wheel == 0 || !ui.over(area)) return false;
    first -= 3.0 * wheel;
    return true;
}

Rect strip_beside(Ui& ui, const Rect& area) {  // a list, for its scroll mark
    return {{area.max.x + ui.px(2), area.min.y}, {area.max.x + ui.px(6), area.max.y}};
}

// What was written so far, or all of it.
void take_lines(State& state, const Program& program, size_t columns) {
    const auto make = [&](const std::string& written, uint64_t bytes) {
        if (bytes == state.lines_bytes && columns == state.lines_columns) return;
        state.lines = lines_of(written, columns);
        state.lines_bytes = bytes;
        state.lines_columns = columns;
    };
    if (!program.running) return make(program.ended.written, program.ended.written.size());
    const std::lock_guard lock(program.hearing->mutex);
    make(program.hearing->written, program.hearing->bytes);
}

void output_panel(Ui& ui, const Rect& rect, const Program& program) {
    surface(ui, rect);
    State& state = ui.state;
    const Rect in = rect.inset(ui.px(12));
    line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text, "What was printed");
    const float small = line_height(ui, Size::Small);
    const Rect area{{in.min.x, in.min.y + line_height(ui, Size::Body) + ui.px(8)}, in.max};
    const draw::Font mono = ui.font(Face::Mono, Size::Small);
    const float letter = draw::text_size(mono, "0000000000").x / 10;
    take_lines(state, program, static_cast<size_t>(std::max(8.f, std::floor(area.width() / letter) - 1)));
    if (state.lines.empty()) {
        note(ui, area.min, area.width(), program.running ? "Nothing yet." : "Nothing.");
        return;
    }
    const auto fit = static_cast<double>(std::max(1.f, std::floor(area.height() / small)));
    const auto all = static_cast<double>(state.lines.size());
    const double last = std::max(0.0, all - fit);
    if (state.follows) state.line = last;
    if (turned(ui, area, state.line)) state.follows = state.line >= last;
    state.line = std::clamp(std::round(state.line), 0.0, last);
    const auto first = static_cast<size_t>(state.line);
    const size_t end = std::min(state.lines.size(), first + static_cast<size_t>(fit));
    float y = area.min.y;
    for (size_t at = first; at < end; ++at, y += small)
        line(ui, {area.min.x, y}, area.width(), Face::Mono, Size::Small, Ink::Text, state.lines[at]);
    scroll_mark(ui, ui.list, strip_beside(ui, area), state.line, fit, all, ui.px(12));
}

// --- the launches

using Heads = std::array<const char*, 7>;
Heads heads_of(const session::LaunchList& list) {
    return {"#", "kernel", "grid", "block", "shared", time_head(list), ""};
}
constexpr std::array<bool, 7> kRight = {true, false, true, true, true, true, false};
constexpr size_t kKernel = 1, kShared = 4, kState = 6;

std::array<const std::string*, 7> cells_of(const ProgramRow& row) {
    return {&row.number, &row.kernel, &row.grid, &row.block, &row.shared, &row.ms, &row.state};
}

using Columns = std::array<Rect, 7>;  // x of each; an empty one has no room

// As wide as what is in sight asks for; the kernel's name takes the rest. Where that leaves it little, shared
// memory and the grid's and block's gaps go first.
Columns columns_of(Ui& ui, const Rect& area, const Heads& heads, const std::vector<ProgramRow>& rows) {
    const draw::Font mono = ui.font(Face::Mono, Size::Small), small = ui.font(Face::Text, Size::Small);
    std::array<float, 7> wide{};
    for (size_t at = 0; at < wide.size(); ++at) wide[at] = draw::text_size(small, heads[at]).x;
    for (const ProgramRow& row : rows)
        for (size_t at = 0; at < wide.size(); ++at)
            wide[at] = std::max(wide[at], draw::text_size(at == kState ? small : mono, *cells_of(row)[at]).x);
    wide[kState] = std::max(wide[kState], draw::text_size(small, "recorded").x + ui.px(14));
    const float gap = ui.px(16);
    const auto rest = [&] {
        float left = area.width();
        for (size_t at = 0; at < wide.size(); ++at)
            if (at != kKernel && wide[at] > 0) left -= wide[at] + gap;
        return left;
    };
    if (rest() < std::min(wide[kKernel], ui.px(96))) wide[kShared] = 0;
    wide[kKernel] = std::max(ui.px(48), std::min(wide[kKernel], rest()));
    Columns columns;
    float x = area.min.x;
    for (size_t at = 0; at < wide.size(); ++at) {
        columns[at] = {{x, area.min.y}, {x + wide[at], area.max.y}};
        if (wide[at] > 0) x += wide[at] + gap;
    }
    return columns;
}

void cell(Ui& ui, const Rect& column, float y, size_t at, Face face, Ink ink, std::string_view text) {
    if (column.width() <= 0) return;
    const Align align = kRight[at] ? Align::Right : Align::Left;
    line(ui, {kRight[at] ? column.max.x : column.min.x, y}, column.width() + ui.px(1), face, Size::Small, ink,
         text, align);
}

// A disc for what was recorded, a triangle for what went wrong: told apart without colour.
void state_sign(Ui& ui, ImVec2 middle, bool fault) {
    const float r = ui.px(4);
    if (fault)
        ui.list.AddTriangleFilled({middle.x, middle.y - r}, {middle.x + r, middle.y + r},
                                  {middle.x - r, middle.y + r}, ui.ink(Ink::Fault));
    else
        ui.list.AddCircleFilled(middle, r, ui.ink(Ink::Accent));
}

void launches_panel(Ui& ui, const Rect& rect, const session::LaunchList& list) {
    surface(ui, rect);
    const std::vector<launched::LaunchLine>& launches = list.launches;
    State& state = ui.state;
    const Rect in = rect.inset(ui.px(12));
    const float small = line_height(ui, Size::Small), high = small + ui.px(8);
    const Rect area{{in.min.x, in.min.y + high}, in.max};
    const auto fit = static_cast<double>(std::max(1.f, std::floor(area.height() / high)));
    const double last = std::max(0.0, static_cast<double>(launches.size()) - fit);
    turned(ui, area, state.top);
    state.top = std::clamp(std::round(state.top), 0.0, last);
    const auto first = static_cast<size_t>(state.top);
    const size_t end = std::min(launches.size(), first + static_cast<size_t>(fit));
    std::vector<ProgramRow> rows;
    for (size_t at = first; at < end; ++at) rows.push_back(row_of(launches[at]));
    const Heads heads = heads_of(list);
    const Columns columns = columns_of(ui, area.inset(ui.px(8)), heads, rows);
    for (size_t at = 0; at < heads.size(); ++at)
        cell(ui, columns[at], in.min.y, at, Face::Text, Ink::TextQuiet, heads[at]);
    ui.list.AddLine({in.min.x, area.min.y - ui.px(3)}, {in.max.x, area.min.y - ui.px(3)}, ui.ink(Ink::Line));
    for (size_t at = first; at < end; ++at) {
        const ProgramRow& row = rows[at - first];
        const float y = area.min.y + high * static_cast<float>(at - first);
        const Rect box{{area.min.x, y}, {area.max.x, y + high}};
        const bool on = at == state.chosen;
        if (on || ui.over(box)) ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Raised), ui.px(4));
        if (on)
            ui.list.AddRectFilled(box.min, {box.min.x + ui.px(3), box.max.y}, ui.ink(Ink::Accent), ui.px(2));
        for (size_t column = 0; column < kState; ++column)
            cell(ui, columns[column], y + ui.px(4), column, Face::Mono, Ink::Text, *cells_of(row)[column]);
        if (!row.state.empty()) {
            const Rect& column = columns[kState];
            if (row.fault || row.recorded) state_sign(ui, {column.min.x + ui.px(5), y + high / 2}, row.fault);
            line(ui, {column.min.x + ui.px(14), y + ui.px(4)}, column.width(), Face::Text, Size::Small,
                 row.fault ? Ink::Fault : Ink::TextQuiet, row.state);
        }
        if (!ui.clicked(box)) continue;
        if (on) session::open_launch(ui.session, launches[at].number);
        state.chosen = at;
        ui.context.another_frame = true;
    }
    scroll_mark(ui, ui.list, strip_beside(ui, area), state.top, fit, static_cast<double>(launches.size()),
                ui.px(12));
}

// The chosen launch and its button. Returns the height that it takes; draws where `rect` has it.
struct Chosen {
    std::string title, about;
    const char* does;
    Ink ink;
};
Chosen chosen_of(const launched::LaunchLine& launch) {
    // What it repeats was recorded, or is when it is opened.
    return {title_of(launch), about(launch),
            launch.recorded.empty() && launch.same_as == 0 ? "Record it" : "Open it",
            launch.error.empty() ? Ink::TextQuiet : Ink::Fault};
}
constexpr int kMostLines = 6;

constexpr int kTitleLines = 2;  // a template's kernel has a long name

float chosen_height(Ui& ui, float width, const Chosen& chosen) {
    const auto lines = [&](Face face, const std::string& text, int most) {
        const size_t all = wrapped(ui.font(face, Size::Body), text, width - ui.px(24)).size();
        return line_height(ui, Size::Body) *
               static_cast<float>(std::min<size_t>(all, static_cast<size_t>(most)));
    };
    return lines(Face::Strong, chosen.title, kTitleLines) + lines(Face::Text, chosen.about, kMostLines) +
           ui.px(24 + 4 + 8 + 32);
}

void chosen_panel(Ui& ui, const Rect& rect, const Chosen& chosen, uint64_t number) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    float y = in.min.y;
    y += paragraph(ui, {in.min.x, y}, in.width(), Face::Strong, Size::Body, Ink::Text, chosen.title,
                   kTitleLines) +
         ui.px(4);
    paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Body, chosen.ink, chosen.about, kMostLines);
    const Rect box{{in.min.x, in.max.y - ui.px(32)}, {in.min.x + ui.px(112), in.max.y}};
    if (button(ui, box, chosen.does, true, true, "Enter")) session::open_launch(ui.session, number);
    const std::vector<std::string> hints{"Enter does it; \u2191 \u2193 choose another launch.",
                                         "\u2191 \u2193 choose another launch.", ""};
    note(ui, {box.max.x + ui.px(12), box.min.y + (ui.px(32) - line_height(ui, Size::Small)) / 2},
         in.max.x - box.max.x - ui.px(12), hints);
}

void controls(Ui& ui, const Rect& row, const Program& program) {
    float x = row.min.x;
    const auto press = [&](const char* label, bool on, const char* tip) {
        const float wide = draw::text_size(ui.font(Face::Text, Size::Small), label).x + ui.px(28);
        const Rect box{{x, row.min.y}, {x + wide, row.max.y}};
        x = box.max.x + ui.px(8);
        return button(ui, box, label, on, true, tip);
    };
    if (program.running) {
        const bool ending = program.hearing->cancelled;
        if (press(ending ? "Ending\u2026" : "Cancel", !ending, "End it; what was recorded is kept (Esc)"))
            session::cancel_program(ui.session);
        return;
    }
    if (press("Run again", false, "Compile and run it as its file is now")) run_again(ui.session);
    if (press("Other arguments\u2026", false, "Arguments, kernels, launches and blocks (R)"))
        input::ask(ui, "form:program");
    if (press("Open another\u2026", false, "Another program or a recording (Ctrl + O)"))
        input::ask(ui, "open");
}

// What to do, and beside that, or below it in a high window, the programs that ship.
void draw_empty(Ui& ui, Rect area) {
    if (!ui.session.assets.examples().empty()) {
        Rect list = area.inset(ui.px(8));
        if (area.height() > area.width())
            list.min.y = area.max.y = std::round(area.min.y + area.height() * 0.3f);
        else
            list.min.x = area.max.x = std::round(area.min.x + area.width() * 0.4f);
        input::programs(ui, list, ui.state.shipped);
    }
    constexpr draw::EmptyButton kOpen{"Open\u2026", "Type or choose its path (Ctrl + O)"};
    if (empty_panel(
            ui, area, "No program is open.",
            "Drop a .cu file with a main on the window, or press Ctrl+O and choose it: it is compiled and "
            "run here, and its launches are recorded.",
            ui.session.message, {&kOpen, 1}))
        input::ask(ui, "open");
}

void draw_screen(Ui& ui, const Rect& area) {
    if (!ui.session.program) return draw_empty(ui, area);
    const Program& program = *ui.session.program;
    State& state = ui.state;
    if (program.running) ui.context.soon = true;
    const auto head = screen_head(
        ui, area, program.name,
        program.running ? progress_words(progress_of(program, ui.context.still)) : ended_words(program.ended),
        program.order.path);
    controls(ui, head.controls, program);
    const float gap = ui.px(8);
    Rect rest{{head.rect.min.x, head.rect.max.y + gap}, {head.rect.max.x, area.max.y - gap}};
    const std::string& trouble = !ui.session.message.empty() ? ui.session.message : program.ended.problem;
    if (!program.running && !trouble.empty()) {
        const float high = draw::warning_height(ui, rest.width(), trouble);
        draw::warning_strip(ui, {rest.min, {rest.max.x, rest.min.y + high}}, trouble);
        rest.min.y += high + gap;
    }
    const auto& list = program.ended.list;
    if (program.running || !list || list->launches.empty()) return output_panel(ui, rest, program);
    const auto& launches = list->launches;
    state.chosen = std::min(state.chosen, launches.size() - 1);
    const float middle = std::round(rest.min.x + rest.width() * 0.58f);
    const Chosen chosen = chosen_of(launches[state.chosen]);
    const float foot = chosen_height(ui, middle - rest.min.x, chosen);
    const uint64_t number = launches[state.chosen].number;
    launches_panel(ui, {rest.min, {middle, rest.max.y - foot - gap}}, *list);
    chosen_panel(ui, {{rest.min.x, rest.max.y - foot}, {middle, rest.max.y}}, chosen, number);
    output_panel(ui, {{middle + gap, rest.min.y}, rest.max}, program);
}

// Above another screen, while a program runs.
float strip(Ui& ui, const Rect& area) {
    if (!ui.session.program || !ui.session.program->running) return 0;
    const Program& program = *ui.session.program;
    ui.context.soon = true;
    const float height = ui.px(44), small = line_height(ui, Size::Small);
    const Rect rect{area.min, {area.max.x, area.min.y + height}};
    ui.list.AddRectFilled(rect.min, rect.max, draw::mix(ui.ink(Ink::Panel), ui.ink(Ink::Accent), 0.12f),
                          ui.px(6));
    float right = rect.max.x - ui.px(8);
    const auto press = [&](const char* label, const char* tip) {
        const Rect box{{right - ui.px(84), rect.min.y + ui.px(7)}, {right, rect.max.y - ui.px(7)}};
        right = box.min.x - ui.px(6);
        return button(ui, box, label, false, true, tip);
    };
    if (press("Cancel", "End the program; what was recorded is kept")) session::cancel_program(ui.session);
    if (press("Show", "What it prints")) ui.session.screen = kScreen.option;
    const float x = rect.min.x + ui.px(16), y = rect.min.y + (height - small) / 2;
    std::vector<std::string> wordings = progress_words(progress_of(program, ui.context.still));
    for (std::string& words : wordings) words = program.name + "   " + words;
    note(ui, {x, y}, right - x - ui.px(8), wordings);
    return height;
}

// The arrows choose a launch, Enter opens it; Esc ends a program that runs.
bool press(State& state, Session& session, const input::KeyPress& press) {
    using input::Key;
    if (!session.program) return input::press_in_programs(state.shipped, session, press);
    const bool running = session.program->running;
    if (press.key == Key::Escape && running) {
        session::cancel_program(session);
        return true;
    }
    if (press.key == Key::PageUp || press.key == Key::PageDown) {
        state.line += press.key == Key::PageUp ? -10 : 10;
        state.follows = state.line + 10 > static_cast<double>(state.lines.size());
        return true;
    }
    const auto& list = session.program->ended.list;
    if (running || !list || list->launches.empty()) {
        if (press.key != Key::Enter || running) return false;
        run_again(session);
        return true;
    }
    const size_t last = list->launches.size() - 1;
    if (press.key == Key::Enter) {
        session::open_launch(session, list->launches[std::min(state.chosen, last)].number);
        return true;
    }
    if (press.key == Key::Down)
        state.chosen = std::min(state.chosen + 1, last);
    else if (press.key == Key::Up)
        state.chosen -= state.chosen > 0 ? 1 : 0;
    else if (press.key == Key::Home)
        state.chosen = 0;
    else if (press.key == Key::End)
        state.chosen = last;
    else
        return false;
    // It stays in sight: a list of at least some rows is seen.
    constexpr double kAbove = 5;
    const auto at = static_cast<double>(state.chosen);
    state.top = std::clamp(state.top, std::max(0.0, at - kAbove), at);
    return true;
}

// A run that has begun is followed; one that has ended stands on what matters.
bool update(State& state, Session& session, bool) {
    if (!session.program) return false;
    const Program& program = *session.program;
    if (std::exchange(state.began, program.began) != program.began) {
        state.follows = true;
        state.lines.clear();
        state.lines_bytes = 0;
    }
    if (std::exchange(state.was_running, program.running) && !program.running) {
        state.chosen = first_choice(program);
        state.top = std::max(0.0, static_cast<double>(state.chosen) - 5);
        state.lines_columns = 0;
        // A compiler's first error is the one to read.
        state.follows = program.ended.list.has_value();
        if (!state.follows) state.line = 0;
    }
    return false;
}

const input::Actions<State>& actions() {
    static const input::Actions<State> all = {
        {"program:again", "run the program again, as its file is now", "", input::Chord(), run_again},
        {"program:cancel", "end the program that runs", "", input::Chord(), session::cancel_program},
    };
    return all;
}

}  // namespace

const input::Screen<State> kScreen{.name = "Program",
                                   .option = session::kProgramScreen,
                                   .about = "The program that was opened, and its launches",
                                   .draw = draw_screen,
                                   .says_messages = true,
                                   .press = press,
                                   .actions = actions,
                                   .update = update,
                                   .strip = strip,
                                   .hides_itself = [](const session::Question&) { return true; },
                                   .there = [](const Session& s) { return s.program.has_value(); }};

}  // namespace tilescope::programs
