// A request as a picture: its title, its verdict, and a thread from every lane to what it meets.
//
//   lanes    [0][1][2] ...                   [31]
//             \  |  /                        /           a thread from every lane to its sector
//   sectors  [s s s s][s s s s] ...                      a box a line of 128 bytes, filled as far as used
//   banks    | | |#| | ...                               shared memory: 32 columns, words stacked
//
// They draw any step of any recording, so that two can stand side by side.
#pragma once

#include "app/panels/ui.h"
#include "app/view/request_view.h"

namespace tilescope::panels {

// A step of a block of a recording, to be drawn.
struct Shown {
    const trace::Trace& trace;
    const view::BlockIndex& index;
    uint32_t step = 0;
    // The recording whose threads and elements the selection names, where it is another one.
    const trace::Trace* pick_in = nullptr;
};

// The lane that is spoken of: the hovered or pinned thread's, else the first active one.
uint32_t spoken_lane(const Ui& ui, const Shown& shown, const view::RequestView& request);

// One line of body text: the sign of its kind, and the title.
void request_title(Ui& ui, ImVec2 at, float width, const view::RequestView& request);

// The verdict in words, with a mark of its own shape: a disc where it is as good as can be, else a triangle.
// Returns the height taken; most: lines of the verdict. tight: in small type where it would need more lines,
// and without the note on lanes that sit it out.
float request_verdict(Ui& ui, ImVec2 at, float width, const view::RequestView& request, int most,
                      bool tight = false);

void request_picture(Ui& ui, const Rect& rect, const Shown& shown, const view::RequestView& request,
                     uint32_t lane_lit);

}  // namespace tilescope::panels
