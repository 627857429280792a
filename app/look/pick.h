// What hover or a click picked, one selection seen by every panel, and what it lights up elsewhere:
//
//   element of P    its thread, its row of M, its column of N
//   element of M, N the threads that loaded it in this block, the shared cell it went to
//   shared cell     its source element, the thread that stored it
//   thread          the element of P that it computes, and so on
//   warp            its 32 threads and their elements
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/look/request.h"
#include "core/playback/replay.h"

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

// The same thing in another recording: what is selected in one is lit up in both. A thread by its place
// (x,y,z) in the block, an element or shared cell by array name, row and column, a warp by its number.
// Nothing (Pick::Kind::None) where `to` has no such thing; sites are never the same.
Pick same_pick(const trace::Trace& from, const trace::Trace& to, const Pick& pick);

// The lane that is spoken of: the hovered or pinned thread's, else the first active one.
uint32_t spoken_lane(const RequestView& request, const Pick& hover, const Pick& pin);

// The bank of shared memory that an element of a shared array begins in.
uint64_t bank_of(const Array& shared, uint64_t element);

struct Relations {
    std::vector<std::pair<uint8_t, CellRect>> cells;  // array, cells
    std::vector<uint32_t> threads;                    // numbers of threads of the block
    std::vector<std::string> lines;                   // what to say about it: a headline, then details
    bool empty() const { return lines.empty(); }
};
// replay: of the index's block; null while its values are not known.
Relations relations(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    const Pick& pick, uint32_t step);

}  // namespace tilescope::look
