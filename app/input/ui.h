// What a screen draws with: a Ui with the session and with its own state.
#pragma once

#include "app/input/screen.h"
#include "app/session/ui.h"

namespace tilescope::input {

template <class State>
struct Ui : session::Ui {
    State& state;
};

}  // namespace tilescope::input
