// What the stops of a lesson say, before anybody walks through it: its figures come from recordings made for
// that, a few milliseconds each, as those of the walk itself.
#pragma once

#include "app/state.h"
#include "app/view/lessons.h"
#include "core/base/result.h"

namespace tilescope::app {

// The recording that a stop names, made on the CPU: its order of warps is the same every time, so that what
// the stop says is what is seen.
Result<Session> record_stop(const view::LessonStop& stop);

// Works out LessonPlace::said of a lesson: the stops of one recording more, or all of them. Returns true
// while something is left. A stop on a recording that ships stays without words.
bool work_out_words(State& state, size_t lesson, bool all);

}  // namespace tilescope::app
