// What the window says, as plain text, for those who do not see it: where one is, the question and its choices, the verdict,
// what the step does, and messages. What a question keeps from view is not said.
#pragma once

#include <string>

namespace tilescope::app {

struct State;

std::string spoken(const State& state);

}  // namespace tilescope::app
