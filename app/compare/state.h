// What the Compare screen keeps between frames: the pairs to choose from, which of them is shown, and what is
// known of the two recordings.
#pragma once

#include "app/compare/model.h"
#include "app/look/timeline.h"
#include "app/session/session.h"

namespace tilescope::compare {

// A pair of recordings: what differs between them is the one thing that it teaches.
struct ComparePreset {
    // A recording of a kernel: made anew on the CPU, or one that ships from a GPU.
    struct Part {
        const char* kernel;
        kernels::Shape shape;
        bool shipped = false;
    };
    const char* title;  // "Tiled or untiled"
    const char* about;  // what to look at
    Part a, b;
};
std::span<const ComparePreset> compare_presets();        // in the order of the Compare screen
std::string part_name(const ComparePreset::Part& part);  // "untiled T=16  64x64x64"

// Two launches of the program that is open, the first pair of the list: the one that is shown, or the first, and
// the next one of another kernel, or the next at all.
struct LaunchPair {
    std::string title;                       // "Launches 1 and 2 of saxpy.cu"
    uint64_t a = 0, b = 0;                   // their numbers
    std::string name_a, name_b;              // "launch 1: saxpy"
    std::string path_a, path_b;              // of their recordings
    std::vector<session::Folder> folders{};  // hold those
    bool operator==(const LaunchPair& other) const {
        return path_a == other.path_a && path_b == other.path_b;
    }
};
std::optional<LaunchPair> launch_pair(const session::Session& session);

// What comparing needs of one of the two recordings, kept while it is one of them.
struct Known {
    uint64_t serial = 0;  // of the recording; 0 for none
    std::shared_ptr<const Tally> tally;
    std::vector<LoadsSummary> maps;  // by array: how often the elements of the inputs were loaded
    session::Job<Result<std::shared_ptr<const Tally>>> counting;
    std::string no_tally;  // why there is no tally
    // The strip of its block as wide as it was last drawn.
    std::shared_ptr<const look::BlockIndex> strip_of;
    look::TimelineView strip;
};

// Two recordings that were chosen together.
struct Pair {
    std::shared_ptr<const session::Recording> a, b;
};

struct State {
    Lock lock = Lock::Phase;
    int preset = -1;  // index into compare_presets() of the pair shown or opening; -1 for none
    std::optional<LaunchPair> launches{};  // in place of a preset: the launches shown or opening
    bool wanted = false;                   // the preset or the launches are to be opened
    bool choosing = false;                 // the list of pairs is shown, whatever is there
    bool swap = false;                     // A and B are to change places
    int chosen = 0;       // what the list stands on: the launches, if any, a pair, or behind the pairs A or B
    int columns = 2;      // columns in which the list was last drawn
    std::string message;  // why the last pair could not be opened
    session::Job<Result<Pair>> opening;

    session::Shown other;  // B; its faults do not include wrong elements of the output
    Known a, b;
};

// The list of pairs is shown: asked for, or there is nothing else to show.
bool choosing(const State& state, const session::Session& session);
// Takes what is chosen on the list: a pair, or another recording as A or as B. The next frame opens it.
void take_choice(State& state, session::Session& session, int chosen);
void swap_sides(State& state, session::Session& session);
// Sets a second recording beside the session's own.
void set_beside(State& state, std::shared_ptr<const session::Recording> other);

// Opens what was chosen, and makes B stand where the lock has it. wait: at once; else what takes long comes
// with a later call. Returns true while something is still to come.
bool ready(State& state, session::Session& session, bool wait);

extern const input::Screen<State> kScreen;  // screen.cpp

}  // namespace tilescope::compare
