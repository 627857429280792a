// What the Compare screen knows beside the session's own recording, which is A: the second recording, B, how
// the two are locked, and where B stands. Plain data; opening.h fills it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/compare/model.h"
#include "app/look/faults.h"
#include "app/look/timeline.h"
#include "app/session/session.h"

namespace tilescope::compare {

// What comparing needs of one of the two recordings, kept while it is one of them.
struct Known {
    uint64_t serial = 0;  // of the recording; 0 for none
    std::shared_ptr<const Tally> tally;
    std::vector<LoadsSummary> maps;  // by array: how often the elements of M and N were loaded
    session::Job<std::shared_ptr<const Tally>> counting;
    // The strip of its block as wide as it was last drawn.
    std::shared_ptr<const look::BlockIndex> strip_of;
    draw::TimelineView strip;
};

// Two recordings that were chosen together.
struct Pair {
    std::shared_ptr<const session::Recording> a, b;
    std::shared_ptr<const session::Totals> a_totals, b_totals;
};

struct State {
    Lock lock = Lock::Phase;
    int preset = -1;        // of compare_presets(), shown or on its way; -1 for none
    bool wanted = false;    // it is to be opened
    bool choosing = false;  // the list of pairs is shown, whatever is there
    bool swap = false;      // A and B are to change places
    int chosen = 0;         // on the list: a pair, or behind the pairs A or B
    int columns = 2;        // that the list was last drawn in
    std::string message;    // why the last one could not be
    session::Job<Result<Pair>> opening;

    std::shared_ptr<const session::Recording> other;  // B; null while none was chosen
    std::shared_ptr<const session::Totals> totals;    // of B
    session::Job<session::MadeTotals> counting;
    Known a, b;

    playback::Cursor cursor;  // of B, follows A's
    std::shared_ptr<const look::BlockIndex> block;
    std::shared_ptr<const look::BlockFaults> faults;  // of that block, but for the wrong elements of P
    session::Blocks blocks;
};

}  // namespace tilescope::compare
