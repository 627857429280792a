// The panels of the Step screen: each draws itself into a rectangle of framebuffer pixels.
#pragma once

#include "app/input/ui.h"
#include "app/look/pick.h"
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

extern const input::Screen<State> kScreen;  // screen.cpp

void caption_bar(Ui& ui, const Rect& rect);
void source_panel(Ui& ui, const Rect& rect);
// Where the pinned element or shared cell came from; stands in the source's place while there is one.
void provenance_panel(Ui& ui, const Rect& rect);
bool has_provenance(const session::Session& session);
// M, N and P, the map of them all in the corner; of a launch that is no product its arrays. selected: what
// the selection lights up.
void matrices_panel(Ui& ui, const Rect& rect, const look::Relations& selected);
// Mds and Nds, side by side or one above the other as the rectangle asks; with_threads: and the
// threads of the block, which otherwise have a panel of their own.
void tiles_panel(Ui& ui, const Rect& rect, const look::Relations& selected, bool with_threads);
void threads_panel(Ui& ui, const Rect& rect, const look::Relations& selected);
void request_panel(Ui& ui, const Rect& rect, const look::Relations& selected);
void timeline_panel(Ui& ui, const Rect& rect);
void sums_panel(Ui& ui, const Rect& rect);
float sums_height(Ui& ui);  // that shows all of it

// In lecture mode: the screen of a recording, and the caption.
void lecture_step(Ui& ui, const Rect& area);
void caption_large(Ui& ui, const Rect& rect, const std::vector<std::string>& faults);

// Elements on their way, for a fifth of a second after a step. Needs the places of this frame.
void motion(Ui& ui);

// What the keys do to where arrays are looked at.
void zoom(State& state, session::Session& session, double by);
void pan(State& state, int by);
void frame_again(State& state);

// One array in a viewport, whose upper left corner shows a cell of its sheet; pitch: framebuffer pixels a
// cell.
struct Port {
    Rect box;
    double row = 0, col = 0;
};
void array_grid(Ui& ui, uint8_t array, const Port& port, float pitch, const look::Relations& selected);
// Its cells alone, plain or by how often each was loaded (heat), with marks on them. map: the small map's,
// which have a texture of their own.
void array_cells(Ui& ui, uint8_t array, const draw::GridView& grid, bool heat, bool map,
                 const std::vector<draw::GridMark>& marks);
void selection_marks(Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array,
                     const look::Relations& selected);
CellRect in_sight(const draw::GridView& grid, uint32_t rows, uint32_t cols);

// The map of the whole of M, N and P, where the ports look at them, beside the legend.
void matrix_map(Ui& ui, const Rect& rect, const Port& m, const Port& n, const Port& p, float port_pitch);
// What stands for what, in lines as wide as the rectangle. Returns the height that it takes.
float legend_lines(Ui& ui, const Rect& rect, bool drawn);

// Of an array of the recording that is open.
inline uint64_t grid_id(const Ui& ui, draw::GridUse use, uint32_t array = 0) {
    return draw::grid_id(ui.session.recording->serial, use, array);
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
