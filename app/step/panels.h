// The Step screen: what it keeps between frames, where it looks and what was worked out for what it shows;
// and its panels, each of which draws itself into a rectangle of framebuffer pixels.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "app/input/screen.h"
#include "app/look/faults.h"
#include "app/look/older.h"
#include "app/look/pick.h"
#include "app/look/timeline.h"
#include "app/session/playing.h"
#include "app/step/flights.h"
#include "app/step/model.h"
#include "core/playback/phase_table.h"

namespace tilescope::step {

using draw::Align;
using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Rgba;
using draw::Size;
using look::Pick;

inline constexpr double kMostPitch = 128;  // logical pixels a cell: the most that a person chooses

// Where arrays are looked at. While fit is set the screen frames the active block's tiles itself and keeps
// the camera here, so that zooming and panning go on from what is seen.
struct View : Camera {
    bool fit = true;  // follow the active block until the user zooms or pans
    // Zooms by a factor. Returns how many cells fewer a logical pixel stands for then.
    double zoom(double by) {
        const double before = pitch;
        pitch = std::clamp(std::round(pitch * by), 1.0, kMostPitch);
        fit = false;
        return 1 / before - 1 / pitch;
    }
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

    std::optional<OutputTrail> output{};  // of an element of P
    // Its list: a heading before each phase, then two rows a product.
    std::vector<ProductRow> rows{};
    std::set<Origin> origins{};       // that occur in it
    std::optional<TouchScan> scan{};  // of an element of any other array
    // The list's first row in sight; it follows the step until somebody turns the wheel.
    bool follows = true;
    double scroll = 0;
    uint64_t step = UINT64_MAX;  // of the recording, that it followed last
};

// The phase table in place of the matrices: off, with the names of elements, with their values.
enum class TableText : uint8_t { Off, Elements, Values };
struct TableState {
    TableText text = TableText::Off;
    bool follows = true;  // the step and the pin, until somebody turns the wheel
    double scroll = 0;    // the first row in sight, while it does not follow
    look::Pick pin;       // that it followed last
    uint32_t pinned = 0;  // its thread
    // What was worked out of the block: the first phases of its first thread, from which the table is
    // measured, and what is in sight.
    std::shared_ptr<const playback::BlockReplay> of;
    playback::PhaseWork first, shown;
    playback::TableWindow window;
};

// What a request is judged by: today's rules, or those of an older GPU.
enum class JudgedBy : uint8_t { Today, G80, Gt200 };

// Which element of the output a thread computes, worked out once a recording.
struct MappingCache {
    uint64_t serial = 0;
    std::optional<analysis::Mapping> mapping;
};

struct State {
    View view;                  // of a product
    std::vector<View> arrays;   // of any other launch, by array
    uint64_t framing = 0;       // Session::framing that the view is of
    playback::Cursor moving;    // the step whose elements are on their way,
    double moves_since = -1;    // and since when (DrawContext::time)
    std::optional<float> film;  // of a film's frame instead: how far they are, 0 to 1
    bool travels = false;       // something is on its way in this step
    FlightSums flown;           // of the block
    TimelineCache timeline;
    TableState table;
    JudgedBy judged_by = JudgedBy::Today;
    MappingCache mapping;
    bool gate_named = false;   // in this frame a gate is drawn with the names of its warps
    Provenance provenance;     // of the pinned element or shared cell
    look::Relations selected;  // what the selection lights up in this frame
    // Where arrays were drawn in this frame, and as kOfThreads the block's threads: what travels from M to
    // Mds starts and ends there.
    std::vector<std::pair<uint8_t, draw::GridView>> places;
};

using Ui = input::Ui<State>;

extern const input::Screen<State> kScreen;  // screen.cpp

void source_panel(Ui& ui, const Rect& rect);
// Where the pinned element or shared cell came from. False, and nothing drawn, where none is pinned.
bool provenance_panel(Ui& ui, const Rect& rect);
// M, N and P, the map of them all in the corner; of a launch that is no product its arrays.
void matrices_panel(Ui& ui, const Rect& rect);
// What each thread of the block loads and multiplies in each phase, filled up to the step.
void phase_table_panel(Ui& ui, const Rect& rect);
// Mds and Nds, side by side or one above the other as the rectangle asks; with_threads: and the
// threads of the block, which otherwise have a panel of their own.
void tiles_panel(Ui& ui, const Rect& rect, bool with_threads);
void threads_panel(Ui& ui, const Rect& rect);
// The block's threads lie as the elements of an array do (draw/sheet.h): a block of one row wraps at a warp,
// one with depth is drawn slice by slice.
Array shape_of_threads(const trace::Trace& trace);
// What an older GPU would have made of the step's request, where that is asked for and it is one to global
// memory.
std::optional<look::OlderView> older_of(const Ui& ui);
void request_panel(Ui& ui, const Rect& rect);
void timeline_panel(Ui& ui, const Rect& rect);
// While a question is open (asked_panel.cpp): what is to be seen of the request, a sign for what is hidden,
// and on an array what was predicted of its cells.
void asked_request(Ui& ui, const Rect& rect, const draw::RequestView& request);
void asked_sign(Ui& ui, const Rect& box);
void prediction_marks(const Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array, float pitch);
void sums_panel(Ui& ui, const Rect& rect);
float sums_height(Ui& ui);  // that shows all of it

// Of the legend: a mark, or none, and its words. In the order of how much they are wanted: a low corner
// leaves out the last.
struct LegendEntry {
    using Mark = std::function<void(Ui&, const Rect&)>;
    std::string words;
    Mark mark;
    float mark_width = 0, width = 0;  // with the gap behind it; of mark and words
};
std::vector<LegendEntry> legend_entries(Ui& ui);
void legend_entry(Ui& ui, const LegendEntry& entry, ImVec2 corner, float width);
// In lines as wide as the rectangle. Returns the height that it takes.
float legend_lines(Ui& ui, const Rect& rect, bool drawn);

// The largest magnitude that the block stores to a product's output: the end of the scale of running sums;
// and the colour of a sum. part: of that magnitude.
double largest_stored(const Ui& ui);
Rgba sum_color(const Ui& ui, float part);

// Elements and products on their way, for a fifth of a second after a step; while steps rush by their trails
// or their counts. Needs the places of this frame.
void motion(Ui& ui);

// Steps go by faster than one can follow: cells are not lit for each of them.
inline bool rushing(const Ui& ui) {
    const bool fast = session::steps_per_second(ui.session) > session::kFastestMotion;
    return ui.session.playback.playing && fast && ui.session.motion && !ui.context.still;
}

// The cells of a sheet that a grid's viewport shows, wholly or in part.
CellRect in_sight(const draw::GridView& grid, const draw::Sheet& sheet);

// What stands in a cell: a value, and below it in large cells a word about it.
struct CellText {
    CellRect place;
    std::string value, below;
    Rgba ink = 0, below_ink = 0;
};
// All values of a grid in one size, or none where the longest could not be read in its cell; the same of what
// stands below them, unless longest_below is "".
void cell_texts(Ui& ui, const draw::GridView& grid, const std::vector<CellText>& texts,
                std::string_view longest, std::string_view longest_below, Size most = Size::Display);

// Marks on an array's cells: what the selection lights up; crossed what is at fault at this step, and the
// elements of P that came out wrong.
void selection_and_faults(Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array, float pitch);

// The element under the mouse, named beside it and offered to be picked.
std::optional<uint64_t> offer_element(Ui& ui, uint8_t array, const draw::GridView& grid);

// Whether an array is what a product writes.
inline bool is_output(const Ui& ui, uint8_t array) {
    return ui.index()->product && ui.index()->product->is_output(array);
}

// Of an array of the recording that is open.
inline uint64_t grid_id(const Ui& ui, draw::GridUse use, uint32_t array = 0) {
    return draw::grid_id(ui.session.recording->serial, use, array);
}

inline void draw_grid(Ui& ui, uint64_t id, const draw::GridView& grid,
                      const std::vector<draw::GridMark>& marks = {}) {
    ui.context.grids.draw(ui.list, id, grid, ui.context.palette, ui.context.scale, marks);
}

// Words and numbers in small type, on one line; they return their width.
inline float small_text(Ui& ui, ImVec2 corner, float width, Ink ink, std::string_view text,
                        Align align = Align::Left) {
    return line(ui, corner, width, Face::Text, Size::Small, ink, text, align);
}
inline float small_number(Ui& ui, ImVec2 corner, float width, Ink ink, std::string_view text,
                          Align align = Align::Right) {
    return line(ui, corner, width, Face::Mono, Size::Small, ink, text, align);
}

// A name, and quietly beside it what else is to say where there is room.
inline void heading(Ui& ui, ImVec2 corner, float width, const std::string& name, const std::string& rest) {
    const float used = line(ui, corner, width, Face::Strong, Size::Body, Ink::Text, name) + ui.px(8);
    small_number(ui, {corner.x + used, corner.y + ui.px(3)}, width - used, Ink::TextQuiet,
                 fitting(ui.font(Face::Mono, Size::Small), {rest, ""}, width - used), Align::Left);
}

// The band of the row that is of the step shown.
inline void lit_band(Ui& ui, const Rect& band, Rgba color, float alpha) {
    ui.list.AddRectFilled(band.min, band.max, draw::with_alpha(color, alpha));
    ui.list.AddRectFilled(band.min, {band.min.x + ui.px(3), band.max.y}, color);
}

inline constexpr auto shorter = [](const std::string& a, const std::string& b) {
    return a.size() < b.size();
};

}  // namespace tilescope::step
