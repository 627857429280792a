// The programs that ship, to be opened: as the Lessons screen lists them, and the Program screen while none is open.
#pragma once

#include <string>

#include "app/input/screen.h"

namespace tilescope::input {

inline const std::string kPrograms = "Programs to open";

struct ProgramList {
    size_t chosen = 0;
    double top = 0;  // first row in sight
};

// A row a program: its name, and its first line in small. A click opens it, as Enter does the chosen one.
void programs(SessionUi& ui, const draw::Rect& rect, ProgramList& list);
// Left and right choose, Enter opens; false for a key that means nothing here.
bool press_in_programs(ProgramList& list, Session& session, const KeyPress& press);

}  // namespace tilescope::input
