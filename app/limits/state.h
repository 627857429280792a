// What was chosen on the Limits screen.
#pragma once

#include "app/limits/model.h"
#include "app/session/session.h"

namespace tilescope::limits {

struct State : LimitsChoice {
    bool by_hand = false;    // a case or device was chosen: another recording does not change it
    uint64_t opened_on = 0;  // serial number of the recording whose launch was taken last
};

extern const input::Screen<State> kScreen;  // screen.cpp

}  // namespace tilescope::limits
