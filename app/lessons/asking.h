// The question of the stop that is shown, while a walk runs: it opens when the stop is reached, takes a
// prediction by keys and clicks, is revealed, and is counted.
//
//   stop is reached --> open --> Enter, with a prediction --> revealed --> the next stop
//                          \---> Page Down                 /
#pragma once

#include "app/lessons/questions.h"
#include "app/lessons/state.h"

namespace tilescope::lessons {

// The stop that is shown: of the lesson, or the question that "ask me" found. Null where none is.
const LessonStop* stop_shown(const State& state);

// Opens the question of the stop that is shown, where it asks one; again as it was left where it was answered
// in this walk. The session stands at the step.
void open_question(State& state, session::Session& session);
// Nothing is asked any more, and nothing hidden.
void drop_question(State& state, session::Session& session);
// A walk begins: nothing was answered yet.
void begin_tally(State& state);

// What is right at the stop that is shown; not known where it asks nothing or has no such thing.
RightAnswer right_answer(const State& state, const session::Session& session);
// Shows what is right, and counts it. Does nothing where no question is open.
void reveal(State& state, session::Session& session);

// A step of the walk, if it is the question's: forwards reveals an open one. "ask me" goes on to its next.
bool take_walk(State& state, session::Session& session, int by);

// A key, if it is the question's.
bool take_key(State& state, session::Session& session, const input::KeyPress& press);

// Finds the next question in the cursor's block and stands there (ask_me.cpp).
void ask_me(State& state, session::Session& session);

// "2 of 3 right, 1 shown"; "" where nothing was asked yet.
std::string tally_words(const QuestionTally& tally);

// Buttons of a strip, from its right end on: Leave, what leads on, Previous. on, tip: of what leads on.
void strip_buttons(input::Ui<State>& ui, const draw::Rect& strip, const char* on, const char* tip);

// The strip of a question above the screen that is shown (question_strip.cpp). title: "Coalescing   3 of 6".
// Returns its height.
float question_strip(input::Ui<State>& ui, const draw::Rect& area, const std::string& title);

}  // namespace tilescope::lessons
