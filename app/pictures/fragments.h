// Tiles of a warp's matrices, each cell with the lane that holds it (look/fragments.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/look/fragments.h"
#include "app/pictures/pictures.h"

namespace tilescope::pictures {

struct FragmentsShown {
    std::span<const look::FragmentTile> tiles;  // A, B and D, or one of them
    std::optional<uint32_t> lane;  // lit, with the names of its elements; else its product is the first
    bool named = true;             // cells say whose they are
    // In place of that, by tile: what an element is, in the order of FragmentTile::holders; empty where it is not known.
    std::span<const std::vector<std::string>> values{};
};
struct FragmentUnder {
    size_t tile = 0;
    ptx::MatrixPlace at;
};
// Side by side, or as A left of D and B above it, as leaves cells largest. Returns the element under the mouse.
std::optional<FragmentUnder> fragments_picture(Ui& ui, const Rect& rect, const FragmentsShown& shown);

}  // namespace tilescope::pictures
