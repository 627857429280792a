// What the Step screen keeps between frames: where it looks, and what was worked out for what it shows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "app/draw/ui.h"
#include "app/look/fragments.h"
#include "app/look/grid_at_work.h"
#include "app/look/pick.h"
#include "app/look/timeline.h"
#include "app/pictures/cube.h"
#include "app/session/session.h"
#include "app/step/buffers.h"
#include "app/step/flights.h"
#include "app/step/model.h"
#include "core/analysis/swaps.h"
#include "core/playback/phase_table.h"

namespace tilescope::step {

inline constexpr double kMostPitch = 128;  // logical pixels a cell: the most that a person chooses

// Where arrays are looked at. While fit is set the screen frames the active block's tiles itself and keeps
// the camera here, so that zooming and panning go on from what is seen.
struct ArrayView : Camera {
    bool fit = true;  // follow the active block until the user zooms or pans
    // Zooms by a factor. Returns how many cells fewer a logical pixel stands for then.
    double zoom(double by) {
        const double before = pitch;
        double wanted = std::round(pitch * by);
        if (wanted == pitch)
            wanted += by > 1 ? 1 : -1;  // small cells, of which a part of a pixel is rounded away
        pitch = std::clamp(wanted, 1.0, kMostPitch);
        fit = false;
        return 1 / before - 1 / pitch;
    }
};

// The timeline of a block as wide as it was last drawn: the same for every step of the block, and
// milliseconds to make where a block has half a million steps.
struct TimelineCache {
    std::shared_ptr<const look::BlockIndex> of;
    look::TimelineView view;
    // The part of the block that is shown by clocks: the wheel zooms, and a move of the cursor brings
    // the playhead back into it.
    look::ClockWindow shown;
    playback::Cursor cursor;
    std::optional<uint32_t> marks_from;  // while the mouse marks steps: where it was pressed
};

// A row of the list of an element of P.
struct ProductRow {
    const ProductTrail* product = nullptr;
    const FactorTrail* factor = nullptr;  // null: the phase's heading
};

// What was worked out about the pinned element of a global array, kept while the pin and the block stay:
// following thousands of products once is a click's work, not a frame's.
struct Provenance {
    // What it was worked out for; another one makes it anew.
    uint64_t session = 0;
    look::Pick pin{};
    std::shared_ptr<const playback::BlockReplay> replay{};

    std::optional<OutputTrail> output{};  // set for an element of P
    // Its list: a heading before each phase, then two rows a product.
    std::vector<ProductRow> rows{};
    std::set<Origin> origins{};       // that occur in it
    std::optional<TouchScan> scan{};  // set for an element of any other array
    // The list's first row in sight; it follows the step until somebody turns the wheel.
    bool follows = true;
    double scroll = 0;
    uint64_t step = UINT64_MAX;  // step of the recording that it followed last
    // Of other blocks that touch the element, by block, as their rows come into sight.
    std::map<uint32_t, analysis::PhaseMap> phases{};
    const analysis::PhaseMap& phases_of(const analysis::Recording& recording, uint32_t block);
};

// What stands in the middle: the matrices, the phase table with the names of elements or with their values,
// the product as a solid, the fragment lens.
enum class Middle : uint8_t { Matrices, Elements, Values, Cube, Fragments };
struct TableState {
    bool follows = true;  // the step and the pin, until somebody turns the wheel
    double scroll = 0;    // the first row in sight, while it does not follow
    look::Pick pin;       // the pin that it followed last
    uint32_t pinned = 0;  // thread of that pin
    // What was worked out of the block: the first phases of its first thread, from which the table is
    // measured, and what is in sight.
    std::shared_ptr<const playback::BlockReplay> of;
    playback::PhaseWork first, shown;
    playback::TableWindow window;
};

// What is said beside the solid, laid out.
struct CubeLegend {
    std::vector<look::CubeLine> lines;
    bool more = true;     // with the quiet lines
    bool beside = false;  // else in the corner below the picture
    size_t columns = 1;
    std::vector<float> widths;  // of the columns
    float width = 0, height = 0;
};
// Where the solid goes and what is said of it.
struct CubePage {
    CubeLegend legend;
    pictures::CubePlan plan;
    draw::Rect picture{}, words{};
    float worth = 0;
};

// The product as a solid: how one looks at it, and what was worked out of it, each as long as that stays.
struct CubeState {
    pictures::CubeCamera camera;
    bool dragged = false;  // since the button was pressed
    // Of the recording.
    uint64_t serial = 0;
    look::CubeTiles tiles;
    // Of the block and its step.
    std::shared_ptr<const look::BlockIndex> of;
    std::shared_ptr<const look::CubeBlock> block;
    std::optional<uint32_t> middle;  // thread of the block's middle
    uint32_t step = UINT32_MAX;
    look::CubeView view;
    // Of these, the thread that is drawn, the room, the camera and the size of type.
    struct Room {
        std::optional<uint32_t> thread;
        ImVec4 box;  // left, top, right, bottom
        pictures::CubeCamera camera;
        float scale = 0;
        bool same(const Room& as) const {
            return thread == as.thread && box.x == as.box.x && box.y == as.box.y && box.z == as.box.z &&
                   box.w == as.box.w && camera == as.camera && scale == as.scale;
        }
    };
    std::optional<Room> room;
    std::vector<look::CubeLine> lines;  // what is said beside it
    CubePage page;
};

// What the fragment lens shows, of the block and its step.
struct FragmentsState {
    std::shared_ptr<const look::BlockIndex> of;
    std::shared_ptr<const playback::BlockReplay> replay;
    uint32_t at = UINT32_MAX;
    std::optional<look::FragmentsView> view;  // none where the warp multiplies no matrices
};

// What a request is judged by: today's rules, or those of an older GPU; one to shared memory in their place with
// the first or second of what would free it.
enum class JudgedAs : uint8_t { Today, G80, Gt200 };

// What would free requests: worked out when it is first asked for.
struct Freeing {
    uint64_t serial = 0;  // of the recording
    bool wanted = false;
    session::Job<Result<analysis::Improvements>> working{};
    std::shared_ptr<const analysis::Improvements> made{};
};

// Which element of the output a thread computes, worked out once a recording.
struct MappingCache {
    uint64_t serial = 0;
    std::optional<analysis::Mapping> mapping;
};

// The grid at work in place of all panels: the outermost level of the zoom.
struct GridState {
    bool shown = false;
    double now = 0.5;  // moment of the grid's time, 0 to 1
    bool plays = false;
    double played_at = 0;  // DrawContext::time of the frame before
    bool scrubs = false;   // the mouse was pressed on the columns and moves the moment
    std::string device;    // id of the device that is asked; "" for the recording's own
    // What was worked out, and of which recording and device.
    std::shared_ptr<const look::GridAtWork> made;
    bool recorded = false;  // the recording says where and when its blocks ran
    uint64_t serial = 0;
    std::string made_for;
};

// What the legend explains, besides kinds of steps: noted as it is drawn.
enum class Sign : uint16_t {
    Tile = 1,      // the frame of a tile, or of what is touched
    Outside = 2,   // hatched: no element, or no access
    Stale = 4,     // a notch
    Zero = 8,      // struck out
    Sums = 16,     // cells coloured by their sum
    Output = 32,   // outlined: the threads' own elements of the output
    Loaded = 64,   // tinted: loaded earlier in the phase
    Filled = 128,  // tinted: stored in shared memory
    Stored = 256   // edged: stored in global memory
};

// What travels at the step, and how far it is.
struct MotionOfStep {
    std::shared_ptr<const playback::BlockReplay> of;
    uint32_t step = UINT32_MAX;
    std::vector<Flight> flights, to_threads;
    std::vector<Landing> landings;
    float part = 1;      // of the motion's time in this frame; 1: all has arrived
    double seconds = 0;  // that the motion takes
    bool rests = false;  // what a thread has read and not used stays on it
};

// How wide the tiles' panel is beside the matrices, as long as the block, the room and the size of type stay.
struct MiddleShared {
    std::shared_ptr<const look::BlockIndex> of;
    ImVec2 room{};
    float scale = 0, tiles = 0;
    bool threads = false;
};

// An array of a launch that is no product, and the rectangle of its cells; of three dimensions the slice that is
// shown, and below it the strip of all of them.
struct ArrayBox {
    uint8_t array = 0;
    draw::Rect rect, strip{};
    look::CellRect slice{};  // on the sheet; empty of other arrays
    uint32_t z = 0;
};
// Where they lie, and the cameras of those that the screen frames itself, as long as the step and the room stay.
struct ArraysLaidOut {
    std::shared_ptr<const look::BlockIndex> of;
    uint32_t step = 0;
    ImVec4 room{};
    float scale = 0;
    std::vector<bool> fit;
    std::vector<ArrayBox> boxes;
    std::vector<Camera> cameras;  // a box each
};

// The largest magnitude that the block stores to a product's output.
struct LargestStored {
    std::shared_ptr<const playback::BlockReplay> of;
    double largest = 0;
};

// The threads of a block of the recording, as an array.
struct ThreadsShape {
    uint64_t serial = 0;
    Array shape;
};

struct State {
    ArrayView view;                 // the view of a product
    std::vector<ArrayView> arrays;  // the views of any other launch, by array
    playback::Cursor moving;        // the step whose elements are on their way
    double moves_since = -1;        // the time at which they set out (DrawContext::time)
    std::optional<float> film;      // in a film's frame: how far they are, 0 to 1
    bool subject = false;           // the matrices, tiles and threads alone, below the sentence: for films
    bool travels = false;           // something is on its way in this step
    MotionOfStep motion;
    std::map<uint8_t, draw::Font> cell_fonts;  // in which the cells of an array stand in this frame
    FlightSums flown;                          // of the block
    TimelineCache timeline;
    Middle middle = Middle::Matrices;
    BufferCache buffers;
    TableState table;
    CubeState cube;
    FragmentsState fragments;
    JudgedAs judged_by = JudgedAs::Today;
    Freeing freeing;
    MappingCache mapping;
    MiddleShared middle_shared;
    ArraysLaidOut arrays_laid_out;
    LargestStored largest;
    ThreadsShape threads;
    GridState grid;
    uint16_t signs = 0, signs_before = 0;   // of this frame so far, and of the one before
    std::map<uint8_t, std::string> common;  // "1e+10", of an array whose cells show what lies above it
    // Width of the small maps below arrays, the widest since a panel of that size shows that recording: a map more
    // takes room from the arrays, which may bring or spare another.
    struct SmallMaps {
        uint64_t serial = 0;
        ImVec2 panel{};
        float width = 0;
    } maps;
    bool gate_named = false;   // in this frame a gate is drawn with the names of its warps
    Provenance provenance;     // of the pinned element or shared cell
    look::Relations selected;  // what the selection lights up in this frame
    // Where arrays were drawn in this frame, and as kOfThreads the block's threads: what travels from M to
    // Mds starts and ends there.
    std::vector<std::pair<uint8_t, draw::GridView>> places;
};

// The step whose value a cell shows at a step of the block: that of the step before until what comes to it has
// arrived; none before the first step.
std::optional<uint32_t> step_of_cell(const State& state, uint32_t step, const playback::Element& element);

extern const input::Screen<State> kScreen;  // screen.cpp

}  // namespace tilescope::step
