// What the Step screen shows of a step, worked out without a window: the caption, the source, the cells of an
// array and where a camera looks; and where a value came from (provenance.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/look/older.h"
#include "app/look/shared_cells.h"
#include "app/session/session.h"

namespace tilescope::step {

using look::BlockIndex;
using look::CellRect;
using look::for_elements;
using look::Origin;
using look::origin_of;
using look::shared_view;
using look::SharedCellView;
using look::SharedView;
using look::StepKind;

// What just happened, in one sentence, as a lecturer would say it while pointing.
//
//   Warp 0 loads rows 0 and 1 of the M tile: 32 lanes, 4 sectors.
//   Warp 3 comes to the barrier. 4 of 8 warps have arrived; the block waits for the others.
//
// Here and below, replay is null while the block's values are not there yet. older: what it would have been
// on a GPU that knows no sectors, where that is shown.
std::string caption(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    uint32_t step, const look::OlderView* older = nullptr);

// The same of the cursor's step; while a question about it is open, only who does what, and nothing of where that would tell.
std::string caption_of(const session::Session& session, const look::OlderView* older = nullptr);

// What a newcomer presses next, by where playback stands.
std::string hint(const BlockIndex& index, uint32_t step, bool playing);

// "Row = by·T + ty = 1·16 + 3 = 19", "Col = bx·T + tx = 0·16 + 2 = 2": the element of the output that a
// thread of a block computes.
std::vector<std::string> index_formula(const analysis::Mapping& mapping, const analysis::Product& product,
                                       const trace::Block& block, uint32_t thread);

// What a block takes at once: rows and columns of P, and as many columns of M and rows of N a phase.
struct TileExtents {
    uint32_t rows = 1, cols = 1, depth = 1;
    // Rows and columns of the tile in a matrix of the product.
    std::pair<uint32_t, uint32_t> of(const analysis::Product& product, uint8_t array) const;
};
TileExtents tile_extents(const trace::Trace& trace, const BlockIndex& index);

// The kernel's text with, beside each line, how often its requests ran.
struct SourceLine {
    std::string_view text;     // of the trace's source: valid as long as the trace
    bool has_site = false;     // holds a memory access or barrier
    uint64_t hits = 0;         // requests and barrier arrivals of the block so far
    uint64_t hits_in_all = 0;  // the same over the whole block
};
inline constexpr size_t kMostLines = 200'000;
struct SourceView {
    std::string name;                      // "tiled.cu"
    std::vector<SourceLine> lines;         // at most kMostLines, and one that says that there are more
    int32_t current = -1;                  // index into lines: of the step
    StepKind kind = StepKind::GlobalLoad;  // kind of the step
    // The PTX of the step: "tiled.t16.ptx:83", "ld.global.f32 %f1, [%rd5];"; "" where it is the source.
    std::string ptx_place;
    std::string_view ptx;
};
SourceView source_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// Which cells of an array a step touches, and which tile it is in.
struct MatrixView {
    uint8_t array = trace::kNoArray;
    std::vector<CellRect> frames;            // the tile of this phase, slice by slice
    std::vector<CellRect> touched_by_block;  // in any phase, slice by slice
    std::vector<CellRect> beyond;   // where the tile reaches past the matrix: zero filled or out of range
    std::vector<CellRect> touched;  // by this step's request itself; rectangles of what it moves in bulk
    std::vector<CellRect> related;  // where this step's values came from or go to
    std::vector<CellRect> loaded;   // earlier in this phase
    StepKind kind = StepKind::GlobalLoad;
};
MatrixView matrix_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step);

// Cells at the viewports' upper left corners, and the size of a cell in logical pixels. M left, N above and P
// in the corner share rows, columns and the k axis, so they share one camera; the k axis starts apart in M
// and in N, whose viewports differ in size, and both are moved together:
//
//              k | N          rows of M are rows of P, columns of N are columns of P,
//         -------+-----       columns of M and rows of N are both k
//          M     | P
//
// An array of a launch that is no product has a camera of its own: row, col and pitch.
struct Camera {
    double row = 0, col = 0;
    double m_k = 0, n_k = 0;
    double pitch = 16;
};
// Sizes of the viewports: M is m_width x row_height, N col_width x n_height.
struct Viewports {
    float m_width = 0, n_height = 0, row_height = 0, col_width = 0;
};
inline constexpr float kFrameRoom = 6;  // logical pixels that a tile's frame takes of a viewport, both sides
// Frames the tiles of the step's phase: all of the matrices where cells stay large enough to read, else the
// block's tiles, with some of what lies around them where that leaves their values readable. Only of tiles
// that have not a quarter of a pixel a cell the page that the step is about.
// replay: null while the block's values are not known; a shared cell's element is then not known either.
Camera framed(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
              uint32_t step, const Viewports& ports);
// The same for an array of its own: all of its sheet where cells stay readable, else what the block touches
// of it in the step's phase, or at all where that is nothing.
// most: logical pixels a cell, no more than these. within: of a sheet of slices the part to stay in; else empty.
inline constexpr double kMostArrayPitch = 64;
Camera framed_array(const trace::Trace& trace, const BlockIndex& index, uint32_t step, uint8_t array,
                    float width, float height, double most = kMostArrayPitch, const CellRect& within = {});
// The slice of an array of three dimensions that a step touches, or that one before it touched last; the first
// that the block touches where that is long ago.
uint32_t slice_in_work(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint32_t step);
// Where a slice lies on its array's sheet.
CellRect slice_on_sheet(const Array& array, uint32_t slice);

// The latest cells of a shared array that were touched up to a step; empty where that is long ago.
CellRect touched_last(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint32_t step);

// Where a cell's value came from: "M[1,19]", "zero", "computed".
std::string source_text(const trace::Trace& trace, const playback::CellState& held, const Notation& notation);

// One factor of a product. Steps are of the block, playback::kNever where there is none.
struct FactorTrail {
    Origin origin = Origin::Nothing;
    Value value;
    playback::Element element;               // element of a global array that it is; none for a zero fill
    playback::Element cell;                  // shared cell that it was read from; none: global memory
    uint32_t read_step = playback::kNever;   // request that fetched it for the product
    uint32_t store_step = playback::kNever;  // request that put it into the shared cell
    uint32_t load_step = playback::kNever;   // request that fetched it from global memory
    uint32_t thread = 0;                     // thread that loaded it, or stored the zero
    uint32_t used = 0;    // lane reads of the shared cell from this store to the next; 1 without a cell
    uint32_t loaded = 0;  // lane loads of the element by the whole block
};

// sum = the sum before it + m.value * n.value, right after `after_step`, in phase `phase`.
struct ProductTrail {
    uint32_t after_step = 0, phase = 0;
    FactorTrail m, n;
    Value sum;
};

struct OutputTrail {
    std::optional<uint32_t> thread;                      // the thread of this block that computes it
    std::optional<playback::BlockReplay::Store> stored;  // by that thread, the last time
    std::vector<ProductTrail> products;                  // in the order in which they were added
    double expected = 0;                                 // the plain product of the recording's inputs
};

// O(steps of the block): once a click, not once a frame. element: linear, of the output array.
OutputTrail output_trail(const trace::Trace& trace, const BlockIndex& index,
                         const playback::BlockReplay& replay, uint64_t element);

// How many of its products lie at or before a step.
size_t products_done(const OutputTrail& trail, uint32_t step);

// One request that touched an element or a shared cell.
struct ElementTouch {
    uint64_t step = 0;             // of the recording
    uint32_t warp = 0, lanes = 0;  // lanes: a mask of those that touched it
    bool store = false;
    bool operator==(const ElementTouch&) const = default;
};

struct CellTrail {
    playback::CellState held;
    uint32_t load_step = playback::kNever;
    std::vector<ElementTouch> readers;  // requests since, the latest kMostReaders of them
    static constexpr size_t kMostReaders = 256;
};
CellTrail cell_trail(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay& replay,
                     const playback::Element& cell, uint32_t step);

struct TouchScan {
    playback::Element element;            // of a global array
    uint64_t next = 0;                    // first step not looked at
    uint64_t requests = 0;                // requests that touched it, in the steps looked at
    uint64_t lanes = 0;                   // lane accesses to it, in the steps looked at
    uint32_t blocks = 0;                  // recorded blocks that touched it
    uint64_t block_end = 0;               // end of the steps of the last such block
    std::vector<ElementTouch> touches{};  // the first kMost of them
    static constexpr size_t kMost = 100'000;
    bool done(const trace::Trace& trace) const { return next >= trace.steps(); }

    struct Reach {
        int64_t lowest = INT64_MAX / 4, highest = INT64_MIN / 4;  // bytes from the base
    };
    std::vector<std::optional<Reach>> reach{};  // by form, of those met
};
// Looks at up to `steps` more steps.
void go_on(TouchScan& scan, const trace::Trace& trace, uint64_t steps);

// "M[3,19]: loaded once by thread[3,3] in phase 1 at step 133, used 16 times".
std::string factor_text(const trace::Trace& trace, const BlockIndex& index, const FactorTrail& factor);
// "once", "16 times"; "phase 2", "after the last phase"; "at step 42", with " (clock 1,204)" where the block
// has clocks.
std::string phase_words(uint32_t phase, const Notation& notation);
std::string when_text(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

}  // namespace tilescope::step
