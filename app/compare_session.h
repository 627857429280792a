// The Compare screen's recordings: made beside the window when a comparison is chosen, or on the spot for a
// picture without a display.
//
//   choose --> CompareWork --> Session A, Session B, their sums      A becomes the State's own recording
//   cursor of A, lock --> cursor of B, index of B's block            every frame, microseconds
#pragma once

#include <memory>
#include <optional>

#include "app/platform/input.h"
#include "app/state.h"
#include "app/view/compare_presets.h"
#include "core/base/result.h"

namespace tilescope::app {

// Chooses the comparison that is so many further on in the list; the next frame opens it.
void next_comparison(State& state, int by);
void next_lock(State& state);
// The sums of a recording: of 2 million requests about a second.
SideOf make_side(const Session& session);

// The list of pairs, or back from it.
void choose_comparison(State& state);
void swap_sides(State& state);
// Asks for the path of a recording, or the name of one that ships, to set beside A.
void open_beside(State& state);
// The list of pairs is shown: asked for, or there is nothing else to show.
bool choosing(const State& state);
// Takes what is chosen on the list: a pair, or another recording as A or as B.
void take_choice(State& state, int chosen);
// What the list of pairs has keys for; false for all others.
bool compare_key(State& state, const platform::KeyPress& press);

// Sets a second recording beside the State's own. Of a large one it is made ready beside the window.
void compare_with(State& state, Session other);
Result<void> compare_with(State& state, trace::Trace other, const std::string& origin);

// Opens what was chosen, and makes B stand where the lock has it. wait: at once; else what takes long comes
// with a later call. Returns true while something is still to come.
bool ready_compare(State& state, bool wait);

class CompareWork {
public:
    CompareWork();
    ~CompareWork();  // stops what runs

    struct Pair {
        std::optional<Session> a;  // none: the State's own stays
        Session b;
        SideOf side_a, side_b;
    };
    // On the spot.
    static Result<Pair> now(const view::ComparePreset& preset,
                            const std::vector<kernels::ShippedRecording>& recordings);
    // Begins with it, leaving what was begun before.
    void open(const view::ComparePreset& preset, const std::vector<kernels::ShippedRecording>& recordings);
    void open(std::shared_ptr<const trace::Trace> b, const std::string& origin);
    bool busy() const;
    std::optional<Result<Pair>> finished();

    // The sums of a recording; empty until they are made, which the call begins.
    SideOf side(const Session& session);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tilescope::app
