// What was chosen on the Limits screen.
#pragma once

#include "app/limits/model.h"
#include "app/session/session.h"

namespace tilescope::limits {

struct State : LimitsChoice {};

extern const input::Screen<State> kScreen;  // screen.cpp

}  // namespace tilescope::limits
