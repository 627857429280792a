// The parts of the Lessons screen: its list, a lesson's end, and the line of a stop that is written.
#pragma once

#include "app/draw/widgets.h"
#include "app/lessons/state.h"

namespace tilescope::lessons {

using draw::ListType;
using Ui = input::Ui<State>;

inline const std::string kFigures = "Figures to play with";

// How many rows the list has: the lessons, and one for the programs where some ship.
size_t rows_of(const State& state, const session::Session& session);
void lesson_list_panel(Ui& ui, const draw::Rect& rect);
// Whether the row of the list that is chosen is that of the figures, or of the programs behind it.
bool lists_figures(const State& state);
bool lists_programs(const State& state, const session::Session& session);

// A stop in small, in a box of any size; an empty frame where its recording is not worked out yet. (small_pictures.cpp)
void stop_picture(Ui& ui, const draw::Rect& box, size_t lesson, size_t stop);

// A row a stop of a lesson: its picture, what it says, and below it in small what it is shown on; two of them side by
// side where there are many. Where the words do not fit they are cut, where no picture would be made out there is
// none. A click leads there. (stop_list.cpp)
void stop_list(Ui& ui, const draw::Rect& rect, size_t lesson);

// The end of the lesson that runs: its summary, the next lesson, and its stops again. Over the whole screen.
void end_page(Ui& ui, const draw::Rect& area);

// Above the recording that a newcomer's window opens with: the first lesson is offered, and Page Down begins
// it. Returns the strip's height; 0 where it is not offered.
float welcome_strip(Ui& ui, const draw::Rect& area);
bool begin_welcome(State& state, session::Session& session, const input::KeyPress& press);

// The strip of a stop that shows some panels alone: its sentence, large, and the keys. Returns its height.
inline constexpr const char* kUnfoldingKeys[] = {"Page Down: next", "Esc or any tab: leave"};
float unfolding_strip(Ui& ui, const draw::Rect& area, const std::string& words);
// A lesson with such stops is left by going to another screen or recording, and by Esc to where the program starts.
void leave_elsewhere(State& state, session::Session& session);

// A row a figure; and the one that is shown, over the whole screen (figure_page.cpp).
void figure_list_panel(Ui& ui, const draw::Rect& rect);
void figure_page(Ui& ui, const draw::Rect& area);
// Keys while one is shown.
// Its controls (figure_controls.cpp), from a corner on; the height that they take. The others change a parameter,
// choose the next one or the one before, and run the figure's time (null where it has none).
float figure_controls(Ui& ui, ImVec2 corner, float width);
bool is_idle(const FigureShown& shown, size_t at,
             const session::Session& session);  // changes nothing: greyed
void change_parameter(FigureShown& shown, size_t at, int value);
void choose_parameter(FigureShown& shown, int by, const session::Session& session);
const FigureParameter* time_of(const Figure& figure);
void play_figure(FigureShown& shown);  // or stops it
void go_on_playing(Ui& ui, FigureShown& shown);
bool press_figure(State& state, session::Session& session, const input::KeyPress& press);

// The ground of a strip above a screen, with a bar of that ink on its left.
void strip_ground(Ui& ui, const draw::Rect& strip, draw::Ink ink, float share = 0.16f);

// Above the screen: what is typed, and what it says there. Returns its height; 0 while none is written.
float adding_strip(Ui& ui, const draw::Rect& area);
void begin_adding(State& state, session::Session& session);
// Keys while it is open.
bool type_stop(State& state, session::Session& session, const input::KeyPress& press);

}  // namespace tilescope::lessons
