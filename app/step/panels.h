// The panels of the Step screen, each of which draws itself into a rectangle of framebuffer pixels.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/input/screen.h"
#include "app/look/faults.h"
#include "app/look/older.h"
#include "app/session/playing.h"
#include "app/step/state.h"

namespace tilescope::step {

using draw::Align;
using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Rgba;
using draw::Size;
using look::Pick;

using Ui = input::Ui<State>;

// The sentence of the step; faults: what is wrong at it, the longest wording first, which is read whole. low: of a
// low window.
float caption_height(Ui& ui, float width, const std::vector<std::string>& faults, bool low);
void caption_bar(Ui& ui, const Rect& rect, const std::vector<std::string>& faults);
void caption_large(Ui& ui, const Rect& rect, const std::vector<std::string>& faults);
void source_panel(Ui& ui, const Rect& rect);
// Where the pinned element or shared cell came from. False, and nothing drawn, where none is pinned.
bool provenance_panel(Ui& ui, const Rect& rect);
// M, N and P, the map of them all in the corner; of a launch that is no product its arrays.
void matrices_panel(Ui& ui, const Rect& rect);
// What each thread of the block loads and multiplies in each phase, filled up to the step.
void phase_table_panel(Ui& ui, const Rect& rect);
// The product as a solid: the block's column of it, slab by slab.
void cube_panel(Ui& ui, const Rect& rect);
// Who holds which element of the product of matrices that the warp makes.
void fragments_panel(Ui& ui, const Rect& rect);
void zoom_cube(CubeState& state, int by);  // shows fewer tiles (above 0) or more
// Mds and Nds, side by side or one above the other as leaves their cells largest; with_threads: and the
// threads of the block, which otherwise have a panel of their own.
void tiles_panel(Ui& ui, const Rect& rect, bool with_threads);
// Framebuffer pixels of a shared cell in a rectangle of that size; 0 where nothing would be drawn.
float tiles_pitch(Ui& ui, float width, float height, bool with_threads);
void threads_panel(Ui& ui, const Rect& rect);
// The block's threads lie as the elements of an array do (draw/sheet.h): a block of one row wraps at a warp,
// one with depth is drawn slice by slice.
const Array& shape_of_threads(const Ui& ui);
// What an older GPU would have made of the step's request to global memory, where that is asked for.
std::optional<look::OlderView> older_of(const Ui& ui);
void request_panel(Ui& ui, const Rect& rect);
void timeline_panel(Ui& ui, const Rect& rect);
// While a question is open (asked_panel.cpp): what is to be seen of the request, a sign for what is hidden,
// and on an array what was predicted of its cells.
void asked_request(Ui& ui, const Rect& rect, const look::RequestView& request);
void asked_sign(Ui& ui, const Rect& box);
void prediction_marks(const Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array, float pitch);
void sums_panel(Ui& ui, const Rect& rect);
float sums_height(Ui& ui);  // that shows all of it

// An entry of the legend: a mark, or none, and words. The most wanted come first: a low corner drops the
// last.
struct LegendEntry {
    using Mark = std::function<void(Ui&, const Rect&)>;
    std::string words;
    Mark mark;
    float mark_width = 0, width = 0;  // width of the mark with the gap behind it; of mark and words
};
std::vector<LegendEntry> legend_entries(Ui& ui);
void legend_entry(Ui& ui, const LegendEntry& entry, ImVec2 corner, float width);
// In lines as wide as the rectangle. Returns the height that it takes.
float legend_lines(Ui& ui, const Rect& rect, bool drawn);

// The largest magnitude that the block stores to a product's output: the end of the scale of running sums;
// and the colour of a sum. part: of that magnitude.
double largest_stored(const Ui& ui);
Rgba sum_color(const Ui& ui, float part);

// Elements and products on their way after a step; while steps rush by their trails or their counts. The first,
// before the panels, works out what is on its way, the second needs the places of this frame.
void begin_motion(Ui& ui);
void motion(Ui& ui);
inline std::optional<uint32_t> step_of_cell(const Ui& ui, uint8_t array, uint64_t element) {
    return step_of_cell(ui.state, ui.step(), {array, element});
}

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
// Returns the font of the values.
std::optional<draw::Font> cell_texts(Ui& ui, const draw::GridView& grid, const std::vector<CellText>& texts,
                                     std::string_view longest, std::string_view longest_below,
                                     Size most = Size::Display);

inline void note_sign(Ui& ui, Sign sign, bool there = true) {
    if (there) ui.state.signs |= static_cast<uint16_t>(sign);
}

// Marks on an array's cells: what the selection lights up; crossed what is at fault at this step, and the
// elements of P that came out wrong.
void selection_and_faults(Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array, float pitch);

// The element under the mouse, named beside it and offered to be picked.
std::optional<uint64_t> offer_element(Ui& ui, uint8_t array, const draw::GridView& grid);

// Whether a question keeps the timeline from view: its rows tell the warps, its band the phases.
inline bool hides_timeline(const session::Question& asked) {
    using session::Hide;
    return asked.hides(Hide::Waits) || asked.hides(Hide::Warps) || asked.hides(Hide::Phases);
}

// M, N and P of a product (product_panel.cpp).
std::array<uint8_t, 3> product_arrays(const Ui& ui);
// Whether an array is what a product writes.
inline bool is_output(const Ui& ui, uint8_t array) {
    return ui.index()->product && ui.index()->product->is_output(array);
}

// A grid of an array and the marks on its cells, noted where a test asks for all that lies on them.
inline void note_marks(const Ui& ui, uint8_t array, const draw::GridView& grid,
                       const std::vector<draw::GridMark>& marks) {
    if (ui.context.inspection == nullptr) return;
    ui.context.inspection->grids.emplace_back(array, grid);
    for (const draw::GridMark& mark : marks) ui.context.inspection->marks.push_back({array, mark});
}

// The id of a grid that shows an array of the open recording.
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
    const float whole = draw::text_size(ui.font(Face::Strong, Size::Body), name).x + 1;  // never cut
    const float used =
        line(ui, corner, std::max(width, whole), Face::Strong, Size::Body, Ink::Text, name) + ui.px(8);
    small_number(ui, {corner.x + used, corner.y + ui.px(3)}, width - used, Ink::TextQuiet,
                 fitting(ui.font(Face::Mono, Size::Small), {rest, ""}, width - used), Align::Left);
}

// The band of the row that is of the step shown.
inline void lit_band(Ui& ui, const Rect& band, Rgba color, float alpha) {
    ui.list.AddRectFilled(band.min, band.max, draw::with_alpha(color, alpha));
    ui.list.AddRectFilled(band.min, {band.min.x + ui.px(3), band.max.y}, color);
}

// By their letters: a minus has several bytes.
inline constexpr auto shorter = [](const std::string& a, const std::string& b) {
    const auto letters = [](const std::string& text) {
        return std::ranges::count_if(text,
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    };
    return letters(a) < letters(b);
};

}  // namespace tilescope::step
