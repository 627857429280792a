// What the Levels screen keeps between frames: the replay of a recording, and what it says of the step that
// is shown. Both are made beside the window.
#pragma once

#include "app/levels/model.h"
#include "app/look/timeline.h"
#include "app/session/session.h"

namespace tilescope::levels {

using MadeWalk = Result<std::shared_ptr<const WalkedLevels>>;

struct State {
    By by = By::Array;
    std::string device;  // by id; "" for the recording's own, else kernels::kLevelDevice
    size_t first_row = 0;
    look::BlockStrip strip;  // of the cursor's block

    // What was made, of which recording and device.
    uint64_t serial = 0;
    std::string made_for;
    session::Job<MadeWalk> making;
    std::shared_ptr<const WalkedLevels> walked;
    kernels::KnownLaunch known;
    std::string why_not;  // one sentence, where there is nothing to show

    // What is known of the cursor's step.
    uint32_t kind = UINT32_MAX;
    std::shared_ptr<const analysis::BlockRequests> requests;
    session::Job<Result<std::shared_ptr<const analysis::BlockRequests>>> requesting;
    std::optional<StepView> view;
    uint32_t view_block = 0, view_step = 0;
    Notation view_notation;
};

// The one that is shown.
const analysis::DeviceSpec& device_of(const State& state, const trace::Trace& trace);

// Makes what the screen shows of the session's recording and step, beside the window where that takes long.
// True while something is still to come.
bool ready(State& state, session::Session& session, bool wait);

extern const input::Screen<State> kScreen;  // screen.cpp

}  // namespace tilescope::levels
