// The panels of the Step screen: each draws itself into a rectangle of framebuffer pixels.
#pragma once

#include "app/panels/ui.h"
#include "app/view/relations.h"

namespace tilescope::panels {

void top_bar(Ui& ui, const Rect& rect);
// What a viewer must know before they believe the recording (view::warning); it stays.
void warning_strip(Ui& ui, const Rect& rect, const std::string& warning);
float warning_height(Ui& ui, float width, const std::string& warning);  // of one line or two, as it needs
void caption_bar(Ui& ui, const Rect& rect);
void source_panel(Ui& ui, const Rect& rect);
// Where the pinned element or shared cell came from; stands in the source's place while there is one
// (view::has_provenance).
void provenance_panel(Ui& ui, const Rect& rect);
// M, N and P, the map of them all in the corner. selected: what the selection lights up.
void matrices_panel(Ui& ui, const Rect& rect, const view::Relations& selected);
// Mds and Nds, side by side or one above the other as the rectangle asks; with_threads: and the
// threads of the block, which otherwise have a panel of their own.
void tiles_panel(Ui& ui, const Rect& rect, const view::Relations& selected, bool with_threads);
void threads_panel(Ui& ui, const Rect& rect, const view::Relations& selected);
void request_panel(Ui& ui, const Rect& rect, const view::Relations& selected);
// Inside the request panel, for a barrier with clocks. current: the warp that the step is of.
void barrier_picture(Ui& ui, const Rect& rect, const view::BarrierTimes& barrier, uint32_t current);
void timeline_panel(Ui& ui, const Rect& rect);
void transport(Ui& ui, const Rect& rect);
void sums_panel(Ui& ui, const Rect& rect);
float sums_height(Ui& ui);  // that shows all of it
void keys_overlay(Ui& ui, const Rect& screen);
void record_form(Ui& ui, const Rect& screen, float top);
void command_palette(Ui& ui, const Rect& screen);
void path_box(Ui& ui, const Rect& screen);

// Elements on their way, for a fifth of a second after a step. Needs the places of this frame.
void motion(Ui& ui);

}  // namespace tilescope::panels
