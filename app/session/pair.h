// The pair of recordings that Compare and Race show: pairs to choose from, how what is chosen is opened, and
// what each of the two adds up to. A is the session's own recording.
//
//   choose --> Pair: A, B     A becomes the session's own recording, B stands beside it
//              tallies        counted by jobs, or at once for a picture
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/look/tally.h"
#include "app/session/programs.h"
#include "app/session/shown.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/shipped.h"

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

// Two recordings of a person's own: two launches of a program, or one that was opened after the other.
struct LaunchPair {
    std::string title;              // "Launches 1 and 2 of saxpy.cu"
    uint64_t a = 0, b = 0;          // their numbers, where they are launches of the program that is open
    std::string name_a, name_b;     // "launch 1: saxpy"
    std::string path_a, path_b;     // of their recordings; "" of what is there already
    std::vector<Folder> folders{};  // hold those
    std::shared_ptr<const Recording> there_a{}, there_b{};
    bool operator==(const LaunchPair& other) const {
        const auto serial = [](const auto& there) { return there ? there->serial : 0; };
        return path_a == other.path_a && path_b == other.path_b && serial(there_a) == serial(other.there_a) &&
               serial(there_b) == serial(other.there_b);
    }
};
// Of the program that is open: the launch that is shown, or the first, and the next one of another kernel, or the
// next at all.
std::optional<LaunchPair> launch_pair(const Session& session);
// A person's own pairs, the first of the list, kMostOwn at most, the nearest first. The recording that is shown is
// A. B is the one that was shown before it; another launch of the program that is open; or, of a recording in a
// folder of launches, as `record FILE.cu --every` writes them (KERNEL.1.tsc, KERNEL.2.tsc), the launch before it, or
// behind it. One of the same program or folder is nearer than any other.
inline constexpr size_t kMostOwn = 3;
std::vector<LaunchPair> own_pairs(const Session& session);
// To be called before another recording is shown: keeps the one that is.
void keep_before(Session& session);
// Looks into the folder of the recording that is shown, once for each; own_pairs() tells what was found.
void look_into_folder(Session& session);

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

// Both recordings of a preset; window: the blocks that are recorded of a kernel, all of them for none.
Result<BothRecordings> open_preset(const ComparePreset& preset,
                                   const std::vector<kernels::ShippedRecording>& recordings,
                                   const std::atomic<bool>* stop, const BlockWindow& window);

struct Pair {
    int preset = -1;  // index into compare_presets() of the pair shown or opening; -1 for none
    std::optional<LaunchPair> launches{};  // in place of a preset: the launches shown or opening
    bool wanted = false;                   // the preset or the launches are to be opened
    bool swap = false;                     // A and B are to change places
    std::string message;                   // why the last pair could not be opened, or the two be shown
    bool refused = false;                  // that has just been found; whoever shows it takes this back
    Job<Result<BothRecordings>> opening;

    Shown other;                              // B; its faults do not include wrong elements of the output
    std::shared_ptr<const Recording> before;  // the one that was shown before A; null where it is large
    uint64_t looked_at = 0;                   // serial of the recording into whose folder was looked
    std::optional<LaunchPair> in_folder;      // what was found there
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

// Says why the two cannot be shown: the first reason stays until another pair is chosen, and none is said while one
// is being opened.
void refuse(Pair& pair, const std::string& why);
// Opens what was chosen, and counts both. wait: at once; else what takes long comes with a later call. Returns
// true while something is still to come.
bool ready_pair(Session& session, bool wait);

}  // namespace tilescope::session
