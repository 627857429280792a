// The pair of recordings that Compare and Race show: pairs to choose from, how what is chosen is opened, and
// what each of the two adds up to. A is the session's own recording.
//
//   choose --> Pair: A, B     A becomes the session's own recording, B stands beside it
//              tallies        counted by jobs, or at once for a picture
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/look/tally.h"
#include "app/session/programs.h"
#include "app/session/shown.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::session {

struct Session;

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
std::span<const ComparePreset> compare_presets();        // in the order of the list
std::string part_name(const ComparePreset::Part& part);  // "untiled T=16  64x64x64"

// Two launches of the program that is open, the first pair of the list: the one that is shown, or the first, and
// the next one of another kernel, or the next at all.
struct LaunchPair {
    std::string title;              // "Launches 1 and 2 of saxpy.cu"
    uint64_t a = 0, b = 0;          // their numbers
    std::string name_a, name_b;     // "launch 1: saxpy"
    std::string path_a, path_b;     // of their recordings
    std::vector<Folder> folders{};  // hold those
    bool operator==(const LaunchPair& other) const {
        return path_a == other.path_a && path_b == other.path_b;
    }
};
std::optional<LaunchPair> launch_pair(const Session& session);

// What one of the two adds up to, kept while it is one of them.
struct Tallied {
    uint64_t serial = 0;  // of the recording; 0 for none
    std::shared_ptr<const look::Tally> tally;
    Job<Result<std::shared_ptr<const look::Tally>>> counting;
    std::string no_tally;  // why there is none
};

// Two recordings that were chosen together.
struct BothRecordings {
    std::shared_ptr<const Recording> a, b;
};

struct Pair {
    int preset = -1;  // index into compare_presets() of the pair shown or opening; -1 for none
    std::optional<LaunchPair> launches{};  // in place of a preset: the launches shown or opening
    bool wanted = false;                   // the preset or the launches are to be opened
    bool swap = false;                     // A and B are to change places
    std::string message;                   // why the last pair could not be opened
    bool refused = false;                  // that has just been found; whoever shows it takes this back
    Job<Result<BothRecordings>> opening;

    Shown other;  // B; its faults do not include wrong elements of the output
    Tallied a, b;
};

// Both recordings are there.
bool are_two(const Session& session);
// Both are counted.
bool are_tallied(const Session& session);
// Sets a second recording beside the session's own.
void set_beside(Session& session, std::shared_ptr<const Recording> other);
// The same product without tiles beside the open recording, or with tiles where it has none: as it ships, or
// recorded now where that takes no time. False where there is none; else it is being opened.
bool open_counterpart(Session& session);

// Opens what was chosen, and counts both. wait: at once; else what takes long comes with a later call. Returns
// true while something is still to come.
bool ready_pair(Session& session, bool wait);

}  // namespace tilescope::session
