// The card of a screen that has nothing to show yet.
#pragma once

#include <span>
#include <string_view>

#include "app/panels/ui.h"

namespace tilescope::panels {

struct EmptyAction {
    const char* action;  // of app/actions.h
    const char* label;
    const char* tip;
};

// title: what is not there. next: what to do about it, in one sentence; state.message stands below it.
void empty_panel(Ui& ui, const Rect& area, std::string_view title, std::string_view next,
                 std::span<const EmptyAction> actions = {});

}  // namespace tilescope::panels
