// From a recording to what the screens show, at once or beside the window.
//
//   trace --make_session--> Session          sums, phase rule, loads of every element: once a recording
//   Session, block --> BlockIndex, BlockReplay    once a block, the latest few kept
//
// A picture without a display makes all of it on the spot (ready_block with wait). The window asks
// Background, which works on threads of its own, and draws what is there.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/state.h"
#include "core/base/result.h"

namespace tilescope::app {

// Blocks of more steps are shown without values: their replay would not fit in memory.
inline constexpr uint64_t kMostReplayedSteps = 400'000;

Result<Session> make_session(std::shared_ptr<const trace::Trace> trace, std::string origin);

// Shows another recording from its first step; keeps theme, text size and the like.
void show_session(State& state, Session session);

// Makes state.block and state.replay those of state.cursor.block. wait: at once; otherwise what takes
// long is left to state.background, and comes with a later call. Returns true while something is
// still to come.
bool ready_block(State& state, bool wait);

// Shows the recording of a file, or says in state.message why not.
void open_file(State& state, const std::string& path);

// The same of a recording that ships with the program.
void open_shipped(State& state, const kernels::ShippedRecording& recording);

// Starts to record what the form asks for, ending an earlier recording. Errors go to state.message.
void start_recording(State& state);
// Takes over what the background has finished since; true while a recording is under way.
bool poll_background(State& state);

class Background {
public:
    Background();
    ~Background();  // stops what runs

    void record(const RecordForm& form);
    void cancel();
    struct Progress {
        bool busy = false;
        uint64_t done = 0, total = 0;  // blocks
        std::string what;              // "tiled T=16  64x64x64"
    };
    Progress progress() const;
    // Whether there is a GPU that records; the first call asks, beside the window, and says so.
    GpuThere gpu();
    // A recording that has ended, once; cancelled ones are not reported.
    std::optional<Result<Session>> finished();

    struct BlockData {
        std::shared_ptr<const trace::Trace> trace;  // what the others refer to
        uint32_t block = 0;
        std::shared_ptr<const view::BlockIndex> index;
        std::shared_ptr<const playback::BlockReplay> replay;
        std::string no_values;
        std::shared_ptr<const view::BlockFaults> faults;
        bool done = false;
    };
    // What is known of a block by now; starts to work on it where that is not all.
    BlockData block(const Session& session, uint32_t block);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tilescope::app
