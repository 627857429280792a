// Controls and strips that screens share: a list that opens, a row of choices of which one is on, a warning,
// the card of a screen that has nothing to show yet, the picture of a request, and what a timeline is made
// of.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/draw/ui.h"
#include "core/base/words.h"

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

// A word before a control, on its middle line. at.x moves on.
void control_label(Ui& ui, ImVec2& at, float height, std::string_view text);

// What a viewer must know before they believe the recording (look/sums.h); it stays.
void warning_strip(Ui& ui, const Rect& rect, const std::string& warning);
float warning_height(Ui& ui, float width, const std::string& warning);  // of one line or two, as it needs

// What a screen shows in place of what is not there: what is missing (title), what to do about it in one
// sentence (next), what went wrong (trouble; "" for nothing), and the same as buttons. Returns the button
// that was pressed.
struct EmptyButton {
    const char* label;
    const char* tip;
};
std::optional<size_t> empty_panel(Ui& ui, const Rect& area, std::string_view title, std::string_view next,
                                  std::string_view trouble = {}, std::span<const EmptyButton> buttons = {});

// In place of what would tell the answer of an open question. On paper it is room to work the answer out.
inline constexpr const char* kRoomToWork = "Room for your own working";
void hidden_panel(Ui& ui, const Rect& card);

// --- one request or barrier, as a picture with a title and a verdict (request_picture.cpp)

// One line of body text: the sign of its kind, and the title.
void request_title(Ui& ui, ImVec2 at, float width, const RequestView& request);

// The verdict in words, with a mark of its own shape: a disc where it is as good as can be, else a triangle.
// Returns the height taken; most: lines of the verdict. tight: in small type where it would need more lines,
// and without the note on lanes that sit it out.
float request_verdict(Ui& ui, ImVec2 at, float width, const RequestView& request, int most,
                      bool tight = false);

// barrier: of a step that arrives at one in a block with clocks, else null. older: shows its transactions in
// place of today's sectors. Returns the lane under the mouse, where the block has a thread in it.
std::optional<uint32_t> request_picture(Ui& ui, const Rect& rect, const RequestView& request,
                                        const BarrierTimes* barrier, uint32_t lane_lit,
                                        const OlderView* older = nullptr);

// A gate with a row a warp: who is on the way, who is held, and the bar that opens for all
// (gate_picture.cpp).
void gate_picture(Ui& ui, const Rect& rect, const GateView& gate);
// The bar alone with a mark for each warp before it, as narrow as kGateWidth. middle: of a warp's row.
inline constexpr float kGateWidth = 11;  // logical pixels
void slim_gate(Ui& ui, const Rect& rect, const GateView& gate,
               const std::function<float(const GateView::Warp&)>& middle);

// --- a timeline: the band of phases, a row per warp, the playhead. They draw any TimelineView, so that two
// blocks can stand one above the other.

// Where things of the axis are on the screen.
struct TimeScale {
    const TimelineView& time;
    bool clocks = false;
    float left = 0, width = 1;
    double scale = 1;  // pixels a step or a clock
    float x(double at) const { return left + static_cast<float>((at - time.first) * scale); }
};

// A band with the phases' numbers where there is room for them. phases: of the block; now: on the axis.
void phase_band(Ui& ui, const TimeScale& axis, uint32_t phases, const Rect& band, double now,
                const Notation& notation = {});

// The marks of a warp's steps and, by clocks, its waits.
void warp_row(Ui& ui, const TimeScale& axis, size_t warp, const Rect& row);

void playhead(Ui& ui, const TimeScale& axis, float top, float bottom, double now);

}  // namespace tilescope::draw
