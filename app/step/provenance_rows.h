// What the provenance panel says, in words: a title, a few facts, and a list whose rows are made one by one,
// so that sixteen thousand of them cost no more than those in sight.
//
//   P[1,0]                                     <- title
//   thread (0,1): warp 0, lane 2               <- facts
//   sum so far 42 after 2 of 4 products
//   element    value   loaded by   step  used  <- columns
//   phase 0                                    <- rows: a heading a phase, two factors a product
//     M[1,0]       4       (0,1)      5    2x
//     N[0,0]      -3       (0,0)      6    2x
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "app/step/provenance_view.h"
#include "app/step/state.h"

namespace tilescope::step {

struct ProvenanceRow {
    static constexpr size_t kColumns = 5;
    bool heading = false;
    std::array<std::string, kColumns> text;  // a heading uses the first only
    Origin origin = Origin::Element;
    bool store = false;    // of a list of requests: it stores
    bool done = false;     // lies at or before the step shown
    bool current = false;  // is of the step shown
    bool jumps = false;    // a click goes to cursor
    playback::Cursor cursor;
    look::Pick pick;  // what hovering over it lights up
    std::string tip;  // the whole sentence
};

struct ProvenanceList {
    std::string title;
    std::vector<std::string> facts;
    int warn = -1;  // the fact that says that something is wrong, -1 for none
    std::array<std::string, ProvenanceRow::kColumns> columns;
    std::array<std::string, ProvenanceRow::kColumns> widest;  // texts as wide as any of the column
    size_t rows = 0;
    size_t here = 0;                    // the row to keep in sight
    bool zeros = false, stale = false;  // occur in the list
};

// Whether a pin is answered by this panel: an element of a global array, or a shared cell.
bool has_provenance(const session::Session& session);

// Brings what is known up to the pin; looks at up to `steps` more steps of a long recording. Returns
// whether more is to be looked at.
bool work_out(Provenance& known, const session::Session& session, uint64_t steps);

// Both after work_out; the session has a recording and its block.
// Of a pinned shared cell at the step; empty for other pins.
std::optional<CellTrail> pinned_cell(const session::Session& session);
// cell: what pinned_cell gave, null for none.
ProvenanceList provenance_list(const Provenance& known, const session::Session& session,
                               const CellTrail* cell);
ProvenanceRow provenance_row(const Provenance& known, const session::Session& session, const CellTrail* cell,
                             size_t row);

}  // namespace tilescope::step
