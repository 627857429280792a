// What the Compare screen keeps between frames, beside the pair of recordings that it shows (session/pair.h).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/compare/model.h"
#include "app/compare/sketch.h"
#include "app/look/loads_so_far.h"
#include "app/look/timeline.h"
#include "app/session/session.h"

namespace tilescope::compare {

// What is shown of one of the two recordings, kept while it is one of them.
struct Known {
    uint64_t serial = 0;             // of the recording; 0 for none
    std::vector<LoadsSummary> maps;  // by array: how often the elements of the inputs were loaded
    // The same up to the step at which it stands: counts, and what they come to by array.
    std::shared_ptr<look::LoadsSoFar> so_far;
    std::vector<look::LoadedRange> ranges;
    uint64_t ranges_of = 0;         // version of so_far
    bool counted = false;           // it has come to the step
    std::optional<uint32_t> block;  // the block of which `most` is known
    uint32_t most = 0;              // loads of an element by that whole block alone: the most
    // The strip of its block as wide as it was last drawn.
    std::shared_ptr<const look::BlockIndex> strip_of;
    look::TimelineView strip;
};

using Sketches = std::vector<std::optional<Sketch>>;

struct State {
    Lock lock = Lock::Phase;
    bool whole_run = false;  // maps and sentence are of the whole run, else of what was done so far
    bool choosing = false;   // the list of pairs is shown, whatever is there
    int chosen = 0;   // what the list stands on: the launches, if any, a pair, or behind the pairs A or B
    int columns = 2;  // columns in which the list was last drawn
    Known a, b;

    // Pictures of the cards: of the pairs that ship, made once by a job when the list is first shown; and of a
    // person's own. A job that fails leaves its cards without.
    Sketches sketches;
    session::Job<Result<Sketches>> sketching;
    struct Own {
        session::LaunchPair of;
        std::optional<Sketch> sketch{};
        session::Job<Result<std::optional<Sketch>>> job{};
    };
    std::vector<Own> own;
};

// Makes the pictures of the list; wait: at once. True while some are still to come.
bool sketch(State& state, session::Session& session, bool wait);

// The list of pairs is shown: asked for, or there is nothing else to show.
bool choosing(const State& state, const session::Session& session);
// Takes what is chosen on the list: a pair, or another recording as A or as B. The next frame opens it.
void take_choice(State& state, session::Session& session, int chosen);
void swap_sides(State& state, session::Session& session);

// Makes the pair ready, and B stand where the lock has it. wait: at once; else what takes long comes with a
// later call. Returns true while something is still to come.
bool ready(State& state, session::Session& session, bool wait);

extern const input::Screen<State> kScreen;  // screen.cpp

}  // namespace tilescope::compare
