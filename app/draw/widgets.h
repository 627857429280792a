// Controls and strips that screens share: a list that opens, a row of choices of which one is on, rows of a list, a
// warning, the card of a screen that has nothing to show yet.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/draw/ui.h"

namespace tilescope::draw {

// A list that opens below `rect`; what was picked in this frame.
std::optional<size_t> chooser(Ui& ui, const Rect& rect, const char* id, std::span<const std::string> items,
                              size_t current);

// Buttons side by side from `at` on, as wide as their words; what was pressed. at.x moves on.
std::optional<size_t> choices(Ui& ui, ImVec2& at, float height, std::span<const std::string> items,
                              size_t current, const char* tip = nullptr);

// As wide as the longest of them needs, or `most`; and what choices() will take.
float chooser_width(Ui& ui, std::span<const std::string> items, float most);
float choices_width(Ui& ui, std::span<const std::string> items);

// The head of a screen: its title, a quiet line below it in the first wording that has room, and the row
// where its controls stand. whole: the tooltip of that line; "" for none.
struct ScreenHead {
    Rect rect, controls;
};
ScreenHead screen_head(Ui& ui, const Rect& area, std::string_view title,
                       const std::vector<std::string>& wordings, std::string_view whole = {});

// A button of ImGui's in a form, in the colour of what the form is for.
bool primary_button(Ui& ui, const char* label, ImVec2 size);

// A word before a control, on its middle line. at.x moves on.
void control_label(Ui& ui, ImVec2& at, float height, std::string_view text);

// "A" on a disc or "B" on a square, `size` high: wherever one of two recordings is named. Returns its width.
float badge(Ui& ui, ImVec2 at, float size, char letter);

// The colours of counts, from none to the most.
void heat_ramp(Ui& ui, const Rect& bar, const std::function<Rgba(float part)>& color);
inline void heat_ramp(Ui& ui, const Rect& bar) {
    heat_ramp(ui, bar, [&](float part) { return ui.context.palette.hot(part); });
}

// The signs of playing, |< << < > >> >| and pause: triangles and bars side by side, in the middle of a button.
enum class ButtonShape : uint8_t { Bar, Left, Right };
void button_shapes(Ui& ui, const Rect& rect, std::initializer_list<ButtonShape> row, Rgba color);

// A frame outside of cells, seen on any of their colours; pitch: pixels a cell.
void frame_around(Ui& ui, std::vector<GridMark>& marks, const CellRect& cells, float pitch);

// The type of a list that is read, and how wide its text may run: larger where a large window has room, so that it fills
// it and reads from further away.
struct ListType {
    Size words = Size::Body, notes = Size::Small;
    float width = 0;
};
ListType list_type(const Ui& ui, const Rect& rect);
// The ground of a row; and with its number from 1 before its words.
void row_ground(Ui& ui, const Rect& row, bool chosen);
void row_head(Ui& ui, const Rect& row, float indent, size_t at, bool chosen = false, Size size = Size::Body);
// With its number, what it is called, and below that in small what it is about, unless that is "": all of that, or as
// many of its clauses as have room.
void entry_row(Ui& ui, const Rect& row, size_t at, bool chosen, const ListType& type, float pad,
               std::string_view name, std::string_view about);

// How far down a list of `all` rows, or pixels, the `shown` ones from `first` on are: a mark in a strip beside
// it, at least `least` pixels high. None where all of them are shown or the strip has no height.
void scroll_mark(Ui& ui, ImDrawList& list, const Rect& strip, double first, double shown, double all,
                 float least = 0);

// What a viewer must know before they believe the recording (look/sums.h); it stays.
void warning_strip(Ui& ui, const Rect& rect, const std::string& warning);
// Of as many lines as it needs, four at most.
float warning_height(Ui& ui, float width, const std::string& warning);

// What a screen shows where something is missing: what (title), what to do about it in one sentence (next),
// what went wrong (trouble; "" for nothing), and buttons. Returns the button that was pressed.
struct EmptyButton {
    const char* label;
    const char* tip;
};
std::optional<size_t> empty_panel(Ui& ui, const Rect& area, std::string_view title, std::string_view next,
                                  std::string_view trouble = {}, std::span<const EmptyButton> buttons = {});

// In place of what would tell the answer of an open question. On paper it is room to work the answer out.
inline constexpr const char* kRoomToWork = "Room for your own working";
void hidden_panel(Ui& ui, const Rect& card);

}  // namespace tilescope::draw
