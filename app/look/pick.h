// What hover or a click picked: one selection, seen by every panel.
#pragma once

#include <cstdint>

#include "app/draw/shown.h"
#include "core/trace/trace.h"

namespace tilescope::look {

struct Pick {
    enum class Kind : uint8_t { None, Thread, Warp, Block, Element, SharedCell, Site } kind = Kind::None;
    uint32_t thread = 0;  // linear number in the block
    uint32_t warp = 0;
    uint32_t block = 0;  // index into trace.blocks
    uint8_t array = 0;   // index into trace.launch.arrays, for Element and SharedCell
    uint64_t index = 0;  // linear element
    uint32_t site = 0;
    bool operator==(const Pick&) const = default;
};

inline Pick picked_element(uint8_t array, uint64_t index, Pick::Kind kind = Pick::Kind::Element) {
    return {.kind = kind, .array = array, .index = index};
}

// The same thing in another recording: what is selected in one is lit up in both. A thread by its place (x,y)
// in the block, an element or shared cell by array name, row and column, a warp by its number. Nothing
// (Pick::Kind::None) where `to` has no such thing; sites are never the same.
Pick same_pick(const trace::Trace& from, const trace::Trace& to, const Pick& pick);

// The lane that is spoken of: the hovered or pinned thread's, else the first active one.
uint32_t spoken_lane(const draw::RequestView& request, const Pick& hover, const Pick& pin);

}  // namespace tilescope::look
