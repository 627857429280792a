// The panels of the Compare screen. A is a disc and B a square wherever they are named.
#pragma once

#include "app/compare/state.h"
#include "app/draw/widgets.h"
#include "app/input/screen.h"
#include "app/look/pick.h"

namespace tilescope::compare {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size, look::Pick;
using Ui = input::Ui<State>;

// A recording at its step, with all that its panels draw. Its totals, block and tally must be there.
struct Pane {
    char letter;
    const session::Shown& shown;
    Known& known;            // its strip is kept in it when it is drawn
    bool whole_run = false;  // its loads are those of the whole run, else those so far
    const look::Tally& tally;
    const trace::Trace* other = nullptr;  // whose threads and elements the selection names; null: its own
    look::Relations selected{};           // in this recording's own terms

    const trace::Trace& trace = shown.trace();
    const look::BlockIndex& index = *shown.block;

    uint32_t step() const { return shown.cursor.step; }
    Run run() const { return {*shown.recording, tally, shown.faults ? shown.faults->steps.size() : 0}; }
    // What the block touches of an array in the phase where it stands.
    look::CellRect tile(uint8_t array) const {
        return look::tile_of_phase(trace, index, array, index.phase_at(step()));
    }
    Loads loads(const draw::Sheet& sheet, size_t array) const {
        if (whole_run || !known.so_far) return loads_of(*shown.totals, sheet, array);
        const look::LoadsOfArray& so_far = known.so_far->of(array);
        return {so_far.counts, so_far.part, false};
    }
    // What is wrong at the step; "" where nothing is.
    std::string fault() const {
        return shown.faults ? look::fault_caption(trace, *shown.faults, step(), index.notation) : "";
    }
    // What was picked, in this recording's terms; and what is picked here, in those of the selection.
    Pick here(const Pick& pick) const { return other ? look::same_pick(*other, trace, pick) : pick; }
    Pick offered(const Pick& pick) const { return other ? look::same_pick(trace, *other, pick) : pick; }
};

// Pairs to choose from, and any two recordings; also what is on its way, and why something did not come.
void compare_choice(Ui& ui, const Rect& rect, bool busy);

// What the screen offers the program (choice.cpp): its keys while it is shown, and a recording that was
// opened to be set beside the session's own.
void grant(State& state, session::Session& session, const session::Wish& wish);
bool press(State& state, session::Session& session, const platform::KeyPress& key);
const input::Actions<State>& actions();

// Loads of every element of the inputs, on a scale up to `most`; with_output: wrong elements of the output,
// too.
void heat_panel(Ui& ui, const Rect& rect, const Pane& pane, uint32_t most, bool with_output);
// Where the scale must end for a recording: loads of an element by all steps that are counted at last. of_run: so
// far is of the run, not of the block.
uint32_t most_loads(const Pane& pane, bool of_run);
// Loads of an element as they are shown: the most.
uint32_t most_now(const Pane& pane);

// The scale of both maps, and the counters beside each other. wrong: the maps have wrong elements.
void counters_panel(Ui& ui, const Rect& rect, const Pane& a, const Pane& b, const Counters& counters,
                    uint32_t most, bool wrong);

}  // namespace tilescope::compare
