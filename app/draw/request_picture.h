// A request as a picture: its title, its verdict, and a thread from every lane to what it meets.
//
//   lanes    [0][1][2] ...                   [31]
//             \  |  /                        /           a thread from every lane to its sector
//   sectors  [s s s s][s s s s] ...                      a box a line of 128 bytes, filled as far as used
//   banks    | | |#| | ...                               shared memory: 32 columns, words stacked
//
// and of a barrier with clocks how long each warp stands at it: a row per warp, from its arrival on the left
// to the moment at which the barrier opens for all of them.
//
//   warp 0  |//////////////////////|   412
//   warp 1        |////////////////|   300
//   warp 2                        ||     0     the last to come does not wait
#pragma once

#include <optional>

#include "app/draw/ui.h"

namespace tilescope::draw {

// One line of body text: the sign of its kind, and the title.
void request_title(Ui& ui, ImVec2 at, float width, const RequestView& request);

// The verdict in words, with a mark of its own shape: a disc where it is as good as can be, else a triangle.
// Returns the height taken; most: lines of the verdict. tight: in small type where it would need more lines,
// and without the note on lanes that sit it out.
float request_verdict(Ui& ui, ImVec2 at, float width, const RequestView& request, int most,
                      bool tight = false);

// barrier: of a step that arrives at one in a block with clocks, else null. Returns the lane under the mouse,
// where the block has a thread in it.
std::optional<uint32_t> request_picture(Ui& ui, const Rect& rect, const RequestView& request,
                                        const BarrierTimes* barrier, uint32_t lane_lit);

}  // namespace tilescope::draw
