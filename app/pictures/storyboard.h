// A block's phases side by side on a page (look/storyboard.h), and what such pages are made of: small pictures
// of matrices, tiles and threads without anything around them.
#pragma once

#include "app/look/storyboard.h"
#include "app/pictures/cube.h"

namespace tilescope::pictures {

// A matrix as a plain rectangle with lines between its tiles, fitted into the box; what was loaded before, and
// what is loaded now. Returns where it lies.
struct SmallMatrix {
    uint32_t rows = 1, cols = 1;
    uint32_t tile_rows = 1, tile_cols = 1;
    std::vector<draw::CellRect> before{}, now{};
    Ink ink = Ink::GlobalLoad;  // of both
};
Rect small_matrix(Ui& ui, const Rect& box, const SmallMatrix& matrix);

// A story as a page: title, rows and columns. thread: whose products are drawn; replay: null where the block's
// values, and so its sums, are not known.
struct StoryScene {
    const trace::Trace& trace;
    const look::BlockIndex& index;
    const look::CubeBlock& block;
    const look::Story& story;
    std::optional<uint32_t> thread{};
    const playback::BlockReplay* replay = nullptr;
};
void storyboard(Ui& ui, const Rect& page, const StoryScene& scene);
// A sheet for a wall: a headline, the solid, and the story below it.
void poster(Ui& ui, const Rect& page, const StoryScene& scene);

}  // namespace tilescope::pictures
