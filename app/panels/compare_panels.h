// The panels of the Compare screen. A is a disc and B a square wherever they are named.
#pragma once

#include "app/panels/request_picture.h"
#include "app/panels/ui.h"
#include "app/view/compare_view.h"
#include "app/view/fault_view.h"
#include "app/view/relations.h"

namespace tilescope::panels {

// One of the two recordings at its step, with all that its panels draw.
struct Side {
    char letter = 'A';
    const app::Session& session;
    Shown shown;
    playback::Cursor cursor;
    view::Relations selected;  // in this recording's own terms
    const view::CompareSide& sums;
    const std::vector<view::LoadsSummary>& loads;  // by array
    const view::BlockFaults* faults = nullptr;     // of its block; null until they are looked for
};

// "A" on a disc or "B" on a square, `size` high; returns its width.
float badge(Ui& ui, ImVec2 at, float size, char letter);

// The headline, how the two are locked, and the buttons to change both. True when another pair is asked for.
bool compare_bar(Ui& ui, const Rect& rect, const view::Headline& headline);

// Pairs to choose from, and any two recordings; also what is on its way, and why something did not come.
void compare_choice(Ui& ui, const Rect& rect, bool busy);

// Loads of every element of M and N, coloured on a scale up to `most`; with_output: and the wrong elements of
// P.
void heat_panel(Ui& ui, const Rect& rect, const Side& side, uint32_t most, bool with_output);
uint32_t most_loads(const Side& side);

// A map of M or N, or of P with its wrong elements, into its column of the panel.
void input_map(Ui& ui, const Rect& rect, const Side& side, uint8_t array, uint32_t most);
void output_map(Ui& ui, const Rect& rect, const Side& side, uint8_t array);

// The scale that both are coloured on, and the counters beside each other.
void counters_panel(Ui& ui, const Rect& rect, const Side& a, const Side& b, const view::Counters& counters,
                    uint32_t most);

void compare_request(Ui& ui, const Rect& rect, const Side& side);

// Both blocks' steps, one above the other. By step they share one scale.
void compare_strips(Ui& ui, const Rect& rect, const Side& a, const Side& b);

}  // namespace tilescope::panels
