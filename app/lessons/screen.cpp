// The Lessons screen: what there is to learn, and where each lesson leads; walking through a lesson, whose
// stops stand on a recording each; and the strip above the other screens while it runs. What stops say before
// anybody walks comes from recordings made for that, a few milliseconds each, or from those that ship.
//
//   +----------------------+------------------------------------------+
//   | lessons, a row each  | title, the sentence that it teaches      |
//   |                      | its stops: what each says, and shows on  |
//   |                      | [ Walk through it ]                      |
//   +----------------------+------------------------------------------+
//
// Below the lessons stand the programs that ship: whole ones, to be opened, run and walked through.

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/lessons/asking.h"
#include "app/lessons/own.h"
#include "app/lessons/panels.h"

namespace tilescope::lessons {
namespace {

using draw::Face, draw::Ink, draw::Rect, draw::Size;
using session::Session;

// The recording is the stop's, of those that are opened rather than made.
bool is_of(const session::Recording& recording, const LessonStop& stop) {
    if (!stop.path.empty()) return recording.origin == stop.path;
    const auto* const found = kernels::find_shipped_recording(stop.recording);
    return found != nullptr && recording.origin == found->label;
}

// The recording that a stop is shown on is there already: nothing to record again.
bool shows(const Session& session, const LessonStop& stop) {
    if (!session.recording || stop.kernel.empty()) return false;
    const trace::Trace& trace = session.trace();
    const auto& product = session.recording->product;
    return trace.meta.kernel == stop.kernel && product && kernels::shape_of(*product) == stop.shape &&
           trace.meta.backend == trace::Backend::Cpu && trace.meta.complete &&
           trace.blocks.size() == trace.launch.grid.count();
}

// The sentences of a lesson's end, of the recording that is shown where that is its last stop's.
std::vector<std::string> end_of(const Lesson& lesson, const Session& session) {
    const LessonStop& last = lesson.stops.back();
    if (const auto& shown = session.recording; shown && (shows(session, last) || is_of(*shown, last)))
        if (auto said = summary_of(lesson, shown.get()); !said.empty()) return said;
    std::shared_ptr<const session::Recording> recording;
    if (!is_modelled(last))
        if (auto made = recording_of(last)) recording = session::worded(std::move(*made), session.wording);
    return summary_of(lesson, recording.get());
}

// Brings the stop's recording. True while it is opened.
bool open_stop(State& state, Session& session, const LessonStop& stop, bool wait) {
    if (!stop.path.empty() && session.recording && is_of(*session.recording, stop)) return false;
    if (!stop.recording.empty() || !stop.path.empty()) {
        if (!state.opening && stop.path.empty())
            session::open_shipped(session, stop.recording);
        else if (!state.opening)
            session::open(session, stop.file, "", false, [path = stop.path](session::Control&) {
                return session::read_recording(path, path);
            });
        state.opening = session.opening.has_value();
        if (state.opening && wait) {
            session::update(session, true);
            state.opening = false;
        }
        return state.opening;
    }
    session.message.clear();
    if (shows(session, stop)) return false;
    if (auto recording = recording_of(stop))
        session::show(session, std::move(*recording));
    else
        session.message = recording.error().message;
    return false;
}

void stand_at(State& state, Session& session, const LessonStop& stop) {
    state.standing = standing_of(*session.recording, stop);
    session.cursor = state.standing.at;
    static_cast<session::MadeBlock&>(session) = {look::index_block(*session.recording, session.cursor.block)};
    session.pin = session.hover = {};
    session.ask(session::wish::FrameAnew{});
    if (state.standing.words.empty())
        state.note = "This recording has no such step; it stands at the first one.";
    session.screen = stop.screen;
    // Beside it the same product without tiles, or with them, whatever was there.
    if (stop.screen == session::kRaceScreen && session::open_counterpart(session)) session.pair.other = {};
    for (const std::string& act : stop.acts) session.ask_to(act);
    state.acted = !stop.acts.empty();
    state.raced = state.acted && stop.screen == session::kRaceScreen;
    open_question(state, session);
}

void stand_on_model(State& state, Session& session, const LessonStop& stop) {
    state.standing = standing_on(stop);
    show_model(state, session, stop);
    open_question(state, session);
}

// What a stop did beside its recording is not left to the next one, or to whoever ends the lesson there.
void take_back(State& state, Session& session) {
    if (std::exchange(state.acted, false)) session.ask_to("plain_look");
    if (std::exchange(state.raced, false)) session.ask_to("race_start");
}

// Goes to the next stop or the one before; behind the last one to the end, and from there to the next lesson.
void walk(State& state, Session& session, int by) {
    if (take_walk(state, session, by)) return;
    if (by > 0 && at_end(state, session))
        go_to_stop(state, session, next_lesson(state, state.lesson).value_or(state.lessons->size()), 0);
    else if (by > 0)
        go_to_stop(state, session, state.lesson, state.stop + 1);
    else if (state.stop > 0)
        go_to_stop(state, session, state.lesson, state.stop - 1);
}

void grant(State& state, Session& session, const session::Wish& wish) {
    if (const auto* const lessons = std::get_if<session::wish::OpenLessons>(&wish)) {
        auto opened = open_own(state, session, lessons->path);
        session.message = opened ? *opened : opened.error().message;
    } else if (const auto* const lesson = std::get_if<session::wish::BeginLesson>(&wish)) {
        begin_own(state, session, lesson->path);
    } else if (const auto* const walked = std::get_if<session::wish::GoOn>(&wish)) {
        walk(state, session, walked->by);
    }
}

// The lesson that is walked, else the one that the list stands on, as the command line names it.
std::string lesson_at_hand(const State& state, const Session& session) {
    const bool listed = session.screen == kScreen.option && state.listed < state.lessons->size();
    if (session.walking ? state.quiz : !listed) return "";
    const Lesson& lesson = (*state.lessons)[session.walking ? state.lesson : state.listed];
    return lesson.path.empty() ? lesson.name : lesson.path;
}

// Shows the stop that was walked to. True while its recording is being opened.
bool show_stop(State& state, Session& session, bool wait) {
    session.lesson = lesson_at_hand(state, session);
    session.at_stop = false;  // until the strip says so
    if (!session.walking) take_back(state, session);
    if (!session.walking && (state.asked || state.quiz || session.question.later != 0)) {
        drop_question(state, session);
        state.quiz = false;
    }
    if (!session.walking || !state.wanted) return false;
    const LessonStop& stop = (*state.lessons)[state.lesson].stops[state.stop];
    take_back(state, session);
    if (is_modelled(stop)) {
        state.wanted = false;
        stand_on_model(state, session, stop);
        return false;
    }
    if (open_stop(state, session, stop, wait)) return true;
    state.wanted = false;
    if (!session.message.empty() || !session.recording)
        session.walking = false;
    else
        stand_at(state, session, stop);
    return false;
}

// The panels of Step that a stop shows.
uint8_t panels_of(const State& state, const LessonStop* stop) {
    using session::Panel;
    if (stop == nullptr) return session::kAllPanels;
    if (!state.on_paper) return stop->panels;
    const auto bit = [](Panel panel) { return static_cast<uint8_t>(panel); };
    return bit(Panel::Matrices) | bit(Panel::Threads) | bit(Panel::Tiles) | bit(Panel::Request);
}

bool update(State& state, Session& session, bool wait) {
    leave_elsewhere(state, session);
    const bool coming = show_stop(state, session, wait);
    const LessonStop* const stop = session.walking ? stop_shown(state) : nullptr;
    if (!state.wanted || !session.walking) session.panels = panels_of(state, stop);
    return coming;
}

void lesson(Ui& ui, const Rect& rect, size_t number) {
    surface(ui, rect);
    const Lesson& of = (*ui.state.lessons)[number];
    const Rect in = rect.inset(ui.px(24));
    const float width = list_type(ui, in).width;
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    float y = in.min.y;
    y += paragraph(ui, {in.min.x, y}, width, Face::Strong, Size::Display, Ink::Text, of.title, 2) + ui.px(12);
    y += paragraph(ui, {in.min.x, y}, width, Face::Text, Size::Title, Ink::Text, of.teaches, 4) + ui.px(20);
    const Rect start{{in.min.x, y}, {in.min.x + ui.px(168), y + ui.px(36)}};
    if (button(ui, start, "Walk through it", true, true, "Begin at the first stop (Enter)"))
        go_to_stop(ui.state, ui.session, number, 0);
    const std::vector<std::string> hints{
        "Enter begins; Page Down and Page Up walk; \u2191 \u2193 choose another lesson.",
        "Enter begins; Page Down and Page Up walk.", "Enter begins."};
    const float beside = in.max.x - start.max.x - ui.px(16);
    note(ui, {start.max.x + ui.px(16), y + (ui.px(36) - small) / 2}, beside, hints);
    y = start.max.y + ui.px(24);
    const auto questions =
        std::ranges::count_if(of.stops, [](const LessonStop& stop) { return stop.ask.has_value(); });
    const float head =
        line(ui, {in.min.x, y}, width, Face::Strong, Size::Body, Ink::Text, "Stops") + ui.px(12);
    note(ui, {in.min.x + head, y + body - small - ui.px(1)}, width - head,
         fmt::format("about {}, {}", counted(minutes_of(of), "minute"),
                     counted(static_cast<uint64_t>(questions), "question")));
    y += body + ui.px(8);
    stop_list(ui, {{in.min.x, y}, {in.min.x + width, in.max.y}}, number);
}

void draw_screen(Ui& ui, const Rect& area) {
    const float gap = ui.px(8), left = std::clamp(area.width() * 0.3f, ui.px(260),
                                                  ui.px(area.width() > ui.px(1600) ? 560 : 420));
    const Rect in = area.inset(gap);
    if (ui.state.lessons->empty()) return;
    State& place = ui.state;
    if (place.shown) return figure_page(ui, area);
    if (at_end(place, ui.session)) return end_page(ui, area);
    place.listed = std::min(place.listed, rows_of(place, ui.session) - 1);
    lesson_list_panel(ui, {in.min, {in.min.x + left, in.max.y}});
    const Rect rest{{in.min.x + left + gap, in.min.y}, in.max};
    if (lists_figures(place)) return figure_list_panel(ui, rest);
    lists_programs(place, ui.session) ? input::programs(ui, rest, place.programs)
                                      : lesson(ui, rest, place.listed);
}

// The strip of the lesson that runs, above the other screens: which stop this is, what to look at, and where
// to go on. Returns its height, 0 where none runs.
float strip(Ui& ui, const Rect& area) {
    constexpr size_t kLines = 3;
    if (ui.session.screen != kScreen.option) {  // there only a figure has one, that of the stop
        if (const float height = adding_strip(ui, area); height > 0) return height;
        if (const float height = welcome_strip(ui, area); height > 0) return height;
    }
    const State& place = ui.state;
    if (!ui.session.walking || place.lesson >= place.lessons->size()) return 0;
    const Lesson& lesson = (*place.lessons)[place.lesson];
    const LessonStop* const stop = stop_shown(place);
    if (stop == nullptr) return 0;
    // The figures are those of the step where the stop stands; beside any other step it says so.
    Standing& here = ui.state.standing;
    std::string about = place.note;
    if (ui.session.recording && !place.wanted && !is_modelled(*stop)) {
        const session::Recording& shown = *ui.session.recording;
        if (shown.serial != here.serial)
            about = "about another recording";
        else if (shown.notation != here.notation)
            here = place.quiz ? standing_at(shown, *ui.session.block, here.at.step, *stop)
                              : standing_of(shown, *stop);
        if (about.empty() && ui.session.cursor != here.at)
            about = fmt::format("about step {}{}", grouped(uint64_t{here.at.step} + 1),
                                ui.session.cursor.block == here.at.block ? "" : " of another block");
    }
    ui.session.at_stop = about.empty() && !place.wanted;
    const std::string title =
        place.quiz ? "Ask me"
                   : fmt::format("{}   {} of {}", lesson.title, place.stop + 1, lesson.stops.size());
    if (place.asked && !place.wanted)
        return question_strip(ui, area, title + (about.empty() ? "" : "   " + about));
    const std::string& words = here.words;
    if (ui.session.unfolds() && about.empty()) return unfolding_strip(ui, area, words);
    const float room = area.width() - ui.px(16 * 2 + 24) - ui.px(3 * 84 + 2 * 6);
    const auto lines_in = [&](Size in) { return wrapped(ui.font(Face::Text, in), words, room).size(); };
    const bool large = ui.session.lecture && lines_in(Size::Title) <= kLines;
    const Size size = large ? Size::Title : Size::Body;
    const size_t lines = std::clamp<size_t>(lines_in(size), 1, kLines);
    const float small = line_height(ui, Size::Small);
    const float height = small + line_height(ui, size) * static_cast<float>(lines) + ui.px(16);
    const Rect rect{area.min, {area.max.x, area.min.y + height}};
    strip_ground(ui, rect, Ink::Product);
    const float x = rect.min.x + ui.px(16), y = rect.min.y + ui.px(7);
    line(ui, {x, y}, room, Face::Strong, Size::Small, Ink::TextQuiet,
         fmt::format("{}{}{}{}{}", title, place.tally.answered == 0 ? "" : "   ", tally_words(place.tally),
                     about.empty() ? "" : "   ", about));
    paragraph(ui, {x, y + small}, room, Face::Text, size, Ink::Text, words, kLines);
    const bool last = place.stop + 1 == lesson.stops.size();
    strip_buttons(ui, rect, last ? "Done" : "Next",
                  last ? "The end of the lesson (Page Down)" : "Next stop (Page Down)");
    return height;
}

// The arrows choose a lesson and Enter begins it; to the right and left they choose a program.
bool press(State& state, Session& session, const input::KeyPress& press) {
    using input::Key;
    if (state.lessons->empty()) return false;
    if (at_end(state, session)) {
        if (press.key == Key::Enter) session.ask(session::wish::GoOn{1});
        return press.key == Key::Enter;
    }
    if (press_figure(state, session, press)) return true;
    if (lists_programs(state, session) && press_in_programs(state.programs, session, press)) return true;
    if (press.key == Key::Down)
        state.listed = std::min(state.listed + 1, rows_of(state, session) - 1);
    else if (press.key == Key::Up)
        state.listed -= state.listed > 0 ? 1 : 0;
    else if (press.key == Key::Home)
        state.listed = 0;
    else if (press.key == Key::End)
        state.listed = rows_of(state, session) - 1;
    else if (press.key == Key::Enter)
        go_to_stop(state, session, state.listed, 0);
    else
        return false;
    return true;
}

// One for each lesson, in the palette.
const input::Actions<State>& actions() {
    static const input::Actions<State> all = [] {
        input::Actions<State> each =
            input::under<State>("Walk", {{"ask_me", "ask me a question about this recording", "Q",
                                          input::key(input::Key::Q), input::Chord(), ask_me}});
        for (const Figure& figure : figures())
            each.emplace_back("figure:" + std::string(figure.name), "Figure: " + std::string(figure.title),
                              "", input::Chord(), [&figure](State& state, Session& session) {
                                  session.walking = false;
                                  show_figure(state, session, figure);
                              });
        for (size_t at = 0; at < lesson_list().size(); ++at)
            each.emplace_back("lesson:" + lesson_list()[at].name, "Lesson: " + lesson_list()[at].title, "",
                              input::Chord(),
                              [at](State& state, Session& session) { go_to_stop(state, session, at, 0); });
        each.emplace_back("add_stop", "add a stop of your own here", "Ctrl + N",
                          input::control(input::Key::N), begin_adding);
        each.back().group = "Recordings";
        each.back().needs = &platform::Abilities::paths;
        return each;
    }();
    return all;
}

// A stop that is written has the keys, then a question that waits.
bool listens(State& state, Session& session, const input::KeyPress& key) {
    if (type_stop(state, session, key) || take_key(state, session, key) || begin_welcome(state, session, key))
        return true;
    // Esc closes a figure that was opened by itself.
    if (key.key != input::Key::Escape || !state.shown || session.walking || session.screen != kScreen.option)
        return false;
    state.shown.reset();
    return true;
}

}  // namespace

bool at_end(const State& state, const Session& session) {
    return session.walking && !state.quiz && state.lesson < state.lessons->size() &&
           state.stop == (*state.lessons)[state.lesson].stops.size();
}

std::optional<size_t> next_lesson(const State& state, size_t lesson) {
    for (size_t at = lesson + 1; at < state.lessons->size(); ++at)
        if ((*state.lessons)[at].folder == (*state.lessons)[lesson].folder) return at;
    return std::nullopt;
}

void show_model(State& state, Session& session, const LessonStop& stop) {
    if (const Figure* const figure = find_figure(stop.figure))
        show_figure(state, session, *figure, stop.set);
    else
        session.ask_to(stop.which == 0 ? "limits:" + stop.limits
                                       : fmt::format("limits:{}:{}", stop.limits, stop.which + 1));
}

void go_to_stop(State& state, Session& session, size_t lesson, size_t stop) {
    state.opening = false;
    if (!session.walking || state.quiz || lesson != state.lesson) begin_tally(state);
    drop_question(state, session);
    state.quiz = false;
    state.shown.reset();
    if (lesson >= state.lessons->size() || stop > (*state.lessons)[lesson].stops.size()) {
        session.walking = false;  // beyond the end: back to the list
        session.screen = kScreen.option;
        return;
    }
    const bool ends = stop == (*state.lessons)[lesson].stops.size();
    if (ends) state.summary = end_of((*state.lessons)[lesson], session);
    session.walking = true;
    state.lesson = state.listed = lesson;
    state.stop = stop;
    state.standing = {};
    state.note.clear();
    session.playback.playing = false;
    state.wanted = !ends;
    if (ends) session.screen = kScreen.option;
    if (ends && lesson == 0) state.walked = true;
    const Lesson& of = (*state.lessons)[lesson];
    if (ends && of.path.empty() && std::ranges::find(state.done, of.name) == state.done.end())
        state.done.push_back(of.name);
}

const input::Screen<State> kScreen{.name = "Lessons",
                                   .option = "lessons",
                                   .about = "Short walks through recordings",
                                   .draw = draw_screen,
                                   .press = press,
                                   .actions = actions,
                                   .update = update,
                                   .grant = grant,
                                   .strip = strip,
                                   .keeps_strip = [](const State& state) { return state.shown.has_value(); },
                                   .listens = listens,
                                   .hides_itself = [](const session::Question&) { return true; }};

}  // namespace tilescope::lessons
