// What the Program screen keeps between frames.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/input/program_list.h"

namespace tilescope::programs {

struct State {
    size_t chosen = 0;    // of the launches, from 0
    double top = 0;       // the first row in sight
    bool follows = true;  // the output's last lines stay in sight, until somebody turns the wheel
    double line = 0;      // else its first line in sight
    // What the lines were made of, so that they are made again only when that changes.
    std::vector<std::string> lines{};
    uint64_t lines_bytes = 0;
    size_t lines_columns = 0;
    std::chrono::steady_clock::time_point began{};  // when the run that is shown began
    bool was_running = false;
    input::ProgramList shipped{};  // shown while no program is open
};

extern const input::Screen<State> kScreen;  // screen.cpp

}  // namespace tilescope::programs
