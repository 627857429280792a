// Exports that are drawn, as SVG: a block's storyboard or poster, and a lesson's handout with a picture of each stop. The
// command line draws them into an offscreen context of its own, the window in its turns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/app.h"
#include "app/lessons/handout.h"

namespace tilescope::app {

// Draws a state of that many pixels.
using DrawSvg = std::function<Result<std::string>(const State& state, int width, int height)>;

struct PageSize {
    int width, height;  // pixels
    const char* paper;  // what it is on paper, in CSS's words
};
PageSize size_of(State::Page page);  // a slide of 16 : 9, or A2
// The state that shows a page of a block.
Result<State> page_of(std::shared_ptr<const session::Recording> recording, uint32_t block, draw::Theme theme,
                      State::Page page);

// The state whose stops are drawn for a handout, and the picture of one, from 0 on.
State on_paper(const lessons::Lesson& lesson);
Result<std::string> picture_of_stop(State& paper, size_t stop, const DrawSvg& draw);

// What Session::exporting asks to be drawn, as it goes on from turn to turn: a page is drawn at once, a handout's pictures
// one a turn, once a job has worked out its words.
class DrawnExport {
public:
    // Needs a current OpenGL context. Ends Session::exporting with a sentence in the message.
    void go_on(State& state);

private:
    struct Begun;
    std::shared_ptr<Begun> begun_;
};

}  // namespace tilescope::app
