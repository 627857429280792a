// What the Compare screen knows beside the State's own recording, which is A: the second recording, B, how
// the two are locked, and where B stands. Plain data; compare_session.h fills it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/view/block_index.h"
#include "app/view/compare_view.h"
#include "app/view/fault_view.h"
#include "app/view/timeline_view.h"

namespace tilescope::app {

struct Session;
class CompareWork;  // makes sessions beside the window (compare_session.h)

// The sums of a recording and where its blocks store, and whose they are.
struct SideOf {
    uint64_t serial = 0;  // Session::serial; 0 for none
    std::shared_ptr<const view::CompareSide> side;
};

struct Compare {
    view::Lock lock = view::Lock::Phase;
    int preset = -1;        // of compare_presets(), shown or on its way; -1 for none
    std::string opening;    // what else is on its way; "" for nothing
    bool wanted = false;    // it is to be opened
    bool choosing = false;  // the list of pairs is shown, whatever is there
    bool swap = false;      // A and B are to change places
    int chosen = 0;         // on the list: a pair, or behind the pairs A or B
    int columns = 2;        // that the list was last drawn in
    std::string message;    // why the last one could not be

    std::shared_ptr<const Session> other;  // B; null while none was chosen
    SideOf a, b;
    // How often the elements of M and N were loaded, by array; of the session of that serial.
    struct Maps {
        uint64_t serial = 0;
        std::vector<view::LoadsSummary> arrays;
    };
    Maps maps[2];

    playback::Cursor cursor;  // of B, follows A's
    std::shared_ptr<const view::BlockIndex> block;
    std::shared_ptr<const view::BlockFaults> faults;  // of that block, but for the wrong elements of P

    // The strips as wide as they were last drawn.
    struct Strip {
        std::shared_ptr<const view::BlockIndex> of;
        view::TimelineView view;
    };
    Strip strips[2];

    std::shared_ptr<CompareWork> work;
};

}  // namespace tilescope::app
