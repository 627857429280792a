// A recording that is shown, where playback stands in it, and what is made of it. What takes long is made by
// jobs; of its blocks the latest few are kept.
//
//   recording --> totals           sums, loads of every element: once
//   block     --> index            phases, steps of every site and warp: microseconds to milliseconds
//             --> values, faults   the block run again: up to a second
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "app/look/block_index.h"
#include "app/look/faults.h"
#include "app/session/jobs.h"
#include "app/session/recording.h"
#include "core/playback/cursor.h"
#include "core/playback/replay.h"
#include "kernels/run/record.h"

namespace tilescope::session {

// Blocks of more steps are shown without values: their replay would not fit in memory.
inline constexpr uint64_t kMostReplayedSteps = 400'000;

struct Values {
    std::shared_ptr<const playback::BlockReplay> replay;  // null where there can be none
    std::string no_values;                                // then why
    std::shared_ptr<const look::BlockFaults> faults;
};

// The same index with what is said of it in another notation.
std::shared_ptr<const look::BlockIndex> worded(const std::shared_ptr<const look::BlockIndex>& index,
                                               const Notation& notation);

struct MadeBlock {
    std::shared_ptr<const look::BlockIndex> index;  // null until they are made
    std::shared_ptr<const Values> values;
};

// For one recording at a time, and one who asks: at most one job runs, and blocks that are passed by are
// left out.
class Blocks {
public:
    enum class Ask : uint8_t { Values, Faults };  // Faults: without values, so without wrong elements of P

    // What is known of a block by now; begins to work on what is not. wait: makes all of it on the spot.
    MadeBlock get(Jobs& jobs, const std::shared_ptr<const Recording>& recording, uint32_t block, Ask ask,
                  bool wait);

private:
    using Replayer = std::optional<Result<kernels::Replayer>>;
    MadeBlock* find(uint32_t block);
    void take_finished();

    uint64_t of_ = 0;  // Recording::serial
    std::deque<MadeBlock> made_;
    std::shared_ptr<Replayer> replayer_;  // of the job that runs, which makes it
    Job<std::shared_ptr<const look::BlockIndex>> indexing_;
    uint32_t valued_ = 0;  // the block of the job below
    Job<std::shared_ptr<const Values>> valuing_;
};

struct Shown {
    std::shared_ptr<const Recording> recording;  // null while none is open
    std::shared_ptr<const Totals> totals;        // of it; null while they are counted
    playback::Cursor cursor;
    // Of the cursor's block; null until they are made.
    std::shared_ptr<const look::BlockIndex> block;
    std::shared_ptr<const playback::BlockReplay> replay;
    std::string no_values;                            // why the block will have no replay
    std::shared_ptr<const look::BlockFaults> faults;  // null until they are looked for
    Job<MadeTotals> counting;
    Blocks blocks;

    const trace::Trace& trace() const { return *recording->trace; }  // where there is one
};

// Another recording, from its first step.
void set(Shown& shown, std::shared_ptr<const Recording> recording,
         std::shared_ptr<const Totals> totals = nullptr);
// Its sums and loads, at once where that is quick. True while they are counted; what went wrong goes to
// message.
bool count(Shown& shown, Jobs& jobs, bool wait, std::string& message);
// What there is of the cursor's block, in a wording. True while something of it is made.
bool ready_block(Shown& shown, Jobs& jobs, Blocks::Ask ask, const analysis::Wording& wording, bool wait);

}  // namespace tilescope::session
