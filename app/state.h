// Everything the window knows, in one plain struct. Panels are free functions over it; what a panel
// shows is built from it by a pure view-model function (app/view/*.h) that is tested without a window.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compare_state.h"
#include "app/limits_state.h"
#include "app/platform/input.h"
#include "app/provenance_state.h"
#include "app/teach_state.h"
#include "app/timing_state.h"
#include "app/view/block_index.h"
#include "app/view/fault_view.h"
#include "app/view/loads_window.h"
#include "app/view/timeline_view.h"
#include "core/analysis/cost.h"
#include "core/analysis/phases.h"
#include "core/analysis/summary.h"
#include "core/playback/cursor.h"
#include "core/playback/replay.h"
#include "core/trace/trace.h"
#include "kernels/catalogue.h"
#include "kernels/gpu/backend.h"
#include "kernels/shipped.h"
#include "kernels/timings.h"

namespace tilescope::app {

enum class Theme : uint8_t { Light, Dark };

// One at a time; app/screens/screens.h lists those that there are.
enum class Screen : uint8_t { Step, Compare, Timing, Limits, Lessons };

// What hover or a click picked. One selection, seen by every panel.
struct Pick {
    enum class Kind : uint8_t { None, Thread, Warp, Block, Element, SharedCell, Site } kind = Kind::None;
    uint32_t thread = 0;  // linear number in the block
    uint32_t warp = 0;
    uint32_t block = 0;  // index into trace.blocks
    uint8_t array = 0;   // index into trace.arrays, for Element and SharedCell
    uint64_t index = 0;  // linear element
    uint32_t site = 0;
    bool operator==(const Pick&) const = default;
};

// A recording and all that is derived from it once. Immutable but for the replayed block.
struct Session {
    std::shared_ptr<const trace::Trace> trace;
    analysis::Summary summary;
    analysis::PhaseRule rule;
    uint64_t serial = 0;  // of this run of the program: tells what was drawn of one from another
    std::string origin;   // file name, or "recorded now"
    // Loads of every element by all recorded blocks, by array, and the most of them; empty for arrays
    // too large to show as a map.
    std::vector<std::vector<uint32_t>> loads;
    std::vector<uint32_t> most_loads;
    // The same by array for those too large: the part that was loaded.
    std::vector<view::LoadsWindow> windows;
};

class Background;  // records and replays beside the window (session.h)

struct Playback {
    bool playing = false;
    double steps_per_second = 8;
    double clocks_per_second = 512;  // where playing goes by clocks
    double carry = 0;                // steps, or clocks since the cursor's step, not yet shown
};

// Where the matrices are looked at: cells at the upper left corners, and logical pixels a cell. While
// fit is set the screen frames the active block's tiles itself and keeps the camera here, so that
// zooming and panning go on from what is seen.
struct View {
    bool fit = true;  // follow the active block until the user zooms or pans
    double row = 0, col = 0;
    double m_k = 0, n_k = 0;  // the k axis in M (columns) and in N (rows)
    double pitch = 16;
};

// The step whose elements are on their way, and since when (DrawContext::time).
struct Motion {
    playback::Cursor shown;
    double since = -1;
};

// The timeline of a block as wide as it was last drawn: the same for every step of the block, and
// milliseconds to make where a block has half a million steps.
struct TimelineCache {
    std::shared_ptr<const view::BlockIndex> of;
    view::TimelineView view;
    // The part of the block that is shown by clocks: the wheel zooms, and a move of the cursor brings
    // the playhead back into it.
    view::ClockWindow shown;
    playback::Cursor cursor;
};

// Whether this machine has a GPU that could record, as far as was asked (Background::gpu).
struct GpuThere {
    bool asked = false, there = false;
    std::string what;  // its name, or the sentence that says why there is none
};

struct RecordForm {
    std::string kernel = "tiled";
    kernels::Shape shape;
    BlockWindow window;  // of blocks; all of them unless one is picked
    gpu::BackendChoice backend = gpu::BackendChoice::Auto;
    GpuThere gpu;
    bool open = false;  // the form is shown
    // What was pressed for its fields and lists, in order; ImGui takes one a frame.
    std::vector<platform::KeyPress> keys;
};

struct State {
    Screen screen = Screen::Step;
    std::optional<Session> session;
    playback::Cursor cursor;
    // Of the cursor's block; null until they are made (session.h: ready_block).
    std::shared_ptr<const view::BlockIndex> block;
    std::shared_ptr<const playback::BlockReplay> replay;
    std::string no_values;                            // why the block will have no replay
    std::shared_ptr<const view::BlockFaults> faults;  // null until they are looked for
    std::shared_ptr<Background> background;
    Playback playback;
    Pick hover, pin;
    Provenance provenance;  // of the pinned element or shared cell
    View view;
    RecordForm form;
    Theme theme = Theme::Light;
    float text_scale = 1;
    bool motion = true;  // elements travel when a step is made
    Motion moving;
    TimelineCache timeline;
    bool by_clock = true;  // the timeline and playing go by clocks where the recording has them
    bool show_keys = false;
    Teach teach;         // lecture mode, lessons, palette, path box, what is remembered
    LimitsState limits;  // what the Limits screen shows
    TimingState timing;  // what the Timing screen shows
    Compare compare;
    // What ships from real GPUs, or what a test puts in its place; null for what ships.
    const std::vector<kernels::Timings>* timings = nullptr;
    const std::vector<kernels::ShippedRecording>* recordings = nullptr;
    bool quit = false;
    std::string message;  // one sentence: the last error or notice
};

}  // namespace tilescope::app
