// Walking through a lesson: its stops one after the other, each on a recording of its own; and what they say
// before anybody walks, whose figures come from recordings made for that, a few milliseconds each.
#pragma once

#include <string>
#include <vector>

#include "app/input/screen.h"
#include "app/lessons/model.h"

namespace tilescope::lessons {

// The lesson that runs (Session::walk says whether one does), and what the Lessons screen shows.
struct State {
    size_t lesson = 0, stop = 0;
    size_t listed = 0;  // the lesson chosen on the Lessons screen
    // By lesson and stop, as far as worked out: what it says, and the notation that this is written in, in a
    // reader's wording.
    std::vector<std::vector<std::string>> said;
    std::vector<std::vector<Notation>> notations;
    analysis::Wording wording;
    std::string note;      // why a stop cannot be shown as written; one sentence
    bool wanted = false;   // the stop is to be shown
    bool opening = false;  // its recording is being opened
};

using Ui = input::Ui<State>;
extern const input::Screen<State> kScreen;  // screen.cpp

// Walks to a stop of a lesson; ends the lesson when it leads beyond the last one.
void go_to_stop(State& state, session::Session& session, size_t lesson, size_t stop);

// Shows the stop that was walked to. True while its recording is being opened.
bool update(State& state, session::Session& session, bool wait);

// The recording that a stop names, made on the CPU: its order of warps is the same every time, so that what
// the stop says is what is seen.
session::MadeRecording record_stop(const LessonStop& stop);

// Works out State::said of a lesson: the stops of one recording more, or all of them. Returns true while
// something is left. A stop on a recording that ships stays without words.
bool work_out_words(State& state, size_t lesson, bool all);

}  // namespace tilescope::lessons
