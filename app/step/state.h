// What the Step screen keeps between frames: where it looks, and what was worked out for what it shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/draw/grid_renderer.h"
#include "app/draw/ui.h"
#include "app/look/pick.h"
#include "app/look/timeline.h"
#include "app/step/model.h"
#include "app/step/provenance.h"
#include "core/playback/cursor.h"

namespace tilescope::step {

// Where arrays are looked at. While fit is set the screen frames the active block's tiles itself and keeps
// the camera here, so that zooming and panning go on from what is seen.
struct View : Camera {
    bool fit = true;  // follow the active block until the user zooms or pans
};

// The step whose elements are on their way, and since when (DrawContext::time).
struct Motion {
    playback::Cursor shown;
    double since = -1;
};

// The timeline of a block as wide as it was last drawn: the same for every step of the block, and
// milliseconds to make where a block has half a million steps.
struct TimelineCache {
    std::shared_ptr<const look::BlockIndex> of;
    draw::TimelineView view;
    // The part of the block that is shown by clocks: the wheel zooms, and a move of the cursor brings
    // the playhead back into it.
    look::ClockWindow shown;
    playback::Cursor cursor;
};

// What was worked out about the pinned element or shared cell, kept while the pin and the block stay:
// following thousands of products once is a click's work, not a frame's.
struct Provenance {
    // What it was worked out for; another one makes it anew.
    uint64_t session = 0;
    look::Pick pin{};
    std::shared_ptr<const playback::BlockReplay> replay{};

    std::optional<OutputTrail> output{};  // of an element of P
    struct ProductRow {                   // of its list: a phase's heading, or one of the factors
        size_t product = 0;
        FactorTrail ProductTrail::*factor = nullptr;
    };
    std::vector<ProductRow> rows{};
    std::optional<TouchScan> scan{};  // of an element of any other array
    CellTrail cell{};                 // of a shared cell, at the step
    // The list's first row in sight; it follows the step until somebody turns the wheel.
    bool follows = true;
    double scroll = 0;
    uint64_t step = UINT64_MAX;  // of the recording, that it followed last
};

// Where grids were drawn in this frame: what travels from M to Mds starts and ends there.
struct Places {
    struct Grid {
        uint8_t array = trace::kNoArray;
        draw::GridView view;
    };
    std::vector<Grid> grids;
    void add(uint8_t array, const draw::GridView& view) { grids.push_back({array, view}); }
    // The rectangle of a cell; empty (width 0) where it is not in sight.
    draw::Rect of(uint8_t array, const CellRect& cell) const;
};

struct State {
    View view;                 // of a product
    std::vector<View> arrays;  // of any other launch, by array
    uint64_t framing = 0;      // Session::framing that the view is of
    Motion moving;
    TimelineCache timeline;
    Provenance provenance;  // of the pinned element or shared cell
    Places places;
};

}  // namespace tilescope::step
