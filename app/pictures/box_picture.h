// A box in shared memory as a picture: eight chunks of 16 bytes a line of 128, each with its number and colour along its row.
#pragma once

#include "app/draw/ui.h"
#include "app/look/box.h"

namespace tilescope::pictures {

// As many lines as have room, the first ones; what does not fit is said. Returns the chunk under the mouse in words, or "".
std::string box_picture(draw::Ui& ui, const draw::Rect& area, const look::BoxView& box, draw::Rgba color);

}  // namespace tilescope::pictures
