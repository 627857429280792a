// What the Lessons screen keeps between frames: the lesson that runs, the question of its stop, and the list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/input/overlays.h"
#include "app/input/program_list.h"
#include "app/lessons/model.h"
#include "app/lessons/stop_picture.h"

namespace tilescope::lessons {

// Questions of a walk that were answered: how many were predicted, and how many rightly.
struct QuestionTally {
    uint32_t right = 0, predicted = 0, answered = 0;
};

// The question of the stop that is shown.
struct AskedQuestion {
    bool revealed = false;
    bool right = false, predicted = false;
    std::string verdict;      // set once the answer is revealed
    session::Question hands;  // what was predicted, once it is revealed
};

// A stop that is written (adding.cpp): the line, and what it would say at the step that is shown.
struct Adding {
    bool open = false;
    input::TextField say;
    std::string problem;  // one sentence
    std::string heard;    // what the line says; the fields below say for which line, recording and step
    std::string heard_text;
    uint64_t heard_serial = 0;
    playback::Cursor heard_at;
    Notation heard_in;
};

// A figure in small: its shapes without its words, in a box of 1 by 1; and what it was drawn for.
struct SmallFigure {
    struct Corner {
        ImVec2 at;
        draw::Rgba color = 0;
    };
    std::vector<Corner> corners;  // three a triangle
    const draw::Palette* palette = nullptr;
    float scale = 0;
    ImVec2 size;  // of the box that it is for, in framebuffer pixels
};

// A figure in place of the list and what is beside it.
struct FigureShown {
    const Figure* figure = nullptr;
    std::vector<int> set;
    size_t parameter = 0;  // the parameter that the keys change
    // While its time runs: what it was when it set out, and when that was (DrawContext::time; -1: not yet known).
    std::optional<int> plays_from{};
    double plays_since = -1;
};

// The lesson that runs (Session::walking says whether one does), and what the Lessons screen shows.
struct State {
    const std::vector<Lesson>* lessons = &lesson_list();  // or a test's own, which must outlive it
    // With a lecturer's own behind them, once some were opened: `lessons` is this then.
    std::shared_ptr<const std::vector<Lesson>> with_own;
    size_t lesson = 0, stop = 0;       // stop: as many as the lesson has: its end
    std::vector<std::string> summary;  // sentences of the lesson's end, as they are said
    Adding adding;
    Standing standing;
    // The first row of the list in sight, and what was chosen when that was settled.
    size_t listed_top = 0, listed_seen = 0;
    size_t listed = 0;  // the lesson chosen on the Lessons screen; behind the last one, the programs
    input::ProgramList programs;
    size_t figure = 0;                 // the figure chosen on the list of figures
    std::optional<FigureShown> shown;  // the figure that is shown
    // What the stops say, by lesson and stop, as far as worked out, in `wording`.
    std::vector<std::vector<Standing>> said;
    analysis::Wording wording;
    // What they look like in small, as far as `said` goes; null of a stop that has no such picture.
    std::vector<std::vector<std::shared_ptr<const StopPicture>>> pictures;
    std::map<std::pair<size_t, size_t>, SmallFigure> small_figures;  // of stops, by lesson and stop
    std::string note;                          // why a stop cannot be shown as written; one sentence
    bool wanted = false;                       // the stop is to be shown
    std::optional<AskedQuestion> asked;        // none where the stop asks nothing
    std::map<size_t, AskedQuestion> answered;  // by stop, in this walk
    QuestionTally tally;
    bool acted = false;  // the stop that was shown last did something beside it, which is taken back
    bool raced = false;  // and that was to a race, which may have begun
    // "Ask me": a walk from question to question through the recording that is open (ask_me.cpp).
    bool quiz = false;
    LessonStop quizzed;                                // the question that stands
    std::set<std::pair<size_t, uint32_t>> quiz_asked;  // by kind of question and site
    bool opening = false;                              // the stop's recording is being opened
    bool unfolding = false;  // a lesson runs that shows the Step screen panel by panel
    // The recording, by its serial, beside which a newcomer is offered the first lesson; and whether that was
    // walked to its end once, which is remembered between starts.
    uint64_t offered = 0;
    bool on_paper =
        false;  // stops are drawn for a handout: arrays and threads, and the request once it is told
    bool walked = false;
    std::vector<std::string>
        done;  // names of the lessons that ship that were walked to their end, remembered too
};

extern const input::Screen<State> kScreen;  // screen.cpp

// Shows a figure, with its parameters as they are given or as they are at first.
void show_figure(State& state, session::Session& session, const Figure& figure, std::vector<int> set = {});

// The figure or the case that a stop stands on, as the stop has it.
void show_model(State& state, session::Session& session, const LessonStop& stop);

// Walks to a stop of a lesson, or to its end, behind the last one; ends the lesson when it leads beyond that.
void go_to_stop(State& state, session::Session& session, size_t lesson, size_t stop);

bool at_end(const State& state, const session::Session& session);  // of the lesson that runs
// The lesson behind this one, of those that ship or of the same folder; none behind the last.
std::optional<size_t> next_lesson(const State& state, size_t lesson);

// Works out State::said and State::pictures of a lesson: the stops of one recording more, or all of them. Returns true while
// something is left. A stop whose recording cannot be had stays without words.
bool work_out_words(State& state, size_t lesson, bool all);

}  // namespace tilescope::lessons
