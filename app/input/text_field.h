// Editing one line of text, as hands know it: characters, arrows, Home, End, Backspace, Delete, with Control
// a word at a time. Text is UTF-8; the caret always stands between two whole characters.
#pragma once

#include "app/input/state.h"
#include "app/platform/input.h"

namespace tilescope::input {

void set_text(TextField& field, std::string text);  // the caret behind it
void insert(TextField& field, std::string_view text);
void type(TextField& field, uint32_t character);  // control characters are ignored
// Does what a key means to a line of text; false for a key that means nothing to it.
bool edit(TextField& field, const platform::KeyPress& press);

}  // namespace tilescope::input
