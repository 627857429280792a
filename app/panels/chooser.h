// Controls that charts share: a list that opens, and a row of choices of which one is on.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/panels/ui.h"

namespace tilescope::panels {

// A list that opens below `rect`; what was picked in this frame.
std::optional<size_t> chooser(Ui& ui, const Rect& rect, const char* id, std::span<const std::string> items,
                              size_t current);

// Buttons side by side from `at` on, as wide as their words; what was pressed. at.x moves on.
std::optional<size_t> choices(Ui& ui, ImVec2& at, float height, std::span<const std::string> items,
                              size_t current, const char* tip = nullptr);

// A word before a control, on its middle line. at.x moves on.
// As wide as the longest of them needs, or `most`; and what choices() will take.
float chooser_width(Ui& ui, std::span<const std::string> items, float most);
float choices_width(Ui& ui, std::span<const std::string> items);

void control_label(Ui& ui, ImVec2& at, float height, std::string_view text);

}  // namespace tilescope::panels
