// An exchange among the lanes of a warp, laid out: who gives to whom, and what arrives.
//
//   shuffle   gives  [0][1][2] ... [16][17] ...          a lane from each that is read to each that reads it
//             gets   [0][1][2] ...
//   movmatrix the same: two elements of 16 bits of each lane, each lane gets them of two others
//   others    gives  [0][1][2] ...                       the lanes that are together, and what they all get
//             gets   [   one value    ]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/look/block_index.h"
#include "core/playback/replay.h"
#include "core/ptx/matrix.h"

namespace tilescope::look {

struct ExchangeView {
    ptx::Exchange what = ptx::Exchange::None;  // None: the step is no exchange
    ptx::Atomic how = ptx::Atomic::None;       // of a reduction
    std::optional<ptx::MatrixForm> form;       // of a product of matrices, where the recording says it
    uint32_t tiles = 0;  // of a warpgroup's product: matrices that it reads from shared memory, B or A and B
    std::array<uint32_t, 32> from{};  // of a shuffle: the lane that is read; a lane's own where it keeps its
    uint32_t mask = 0;                // lanes that take part
    uint32_t outside =
        0;  // of a shuffle: lanes that would read beyond their segment, and keep their own value
    uint32_t absent = 0;  // of a shuffle: lanes that read one that does not take part
    uint32_t yes = 0;     // of a vote: lanes that vote for
    // Of all but shuffles: lanes that are together. Of a vote those that see the same votes, of a match those that
    // hold one value, of a reduction those whose values become one.
    std::vector<uint32_t> groups;
    // Where the block's values are known, and of lanes that take part: what a lane gives and gets, in short.
    bool valued = false;
    std::array<std::string, 32> gives, gets;

    bool shuffles() const { return ptx::is_shuffle(what); }
    uint32_t moved() const;  // lanes that get the value of another lane that takes part
    // By how many lanes a shuffle goes up, down or by xor; none of others, and where it differs by lane.
    std::optional<uint32_t> distance() const;
};

// step: of the block. replay: null where its values are not known.
ExchangeView exchange_view(const trace::Trace& trace, const BlockIndex& index,
                           const playback::BlockReplay* replay, uint32_t step);

// Of movmatrix: the lane that gives element 0 or 1 of what a lane gets.
uint32_t giver_of(uint32_t lane, uint32_t element);

// By site: what the values that a shuffle or a reduction moves are taken for behind it, bits where nothing says so.
std::vector<ElementType> exchanged_types(const trace::Trace& trace);

// "shuffles down by 16", "votes: ballot", "adds up its lanes' values"
std::string exchange_title(const ExchangeView& view);
// "16 lanes get another lane's value, 16 keep their own: 1 instruction, no memory"
std::string exchange_verdict(const ExchangeView& view);
// "lane 0 gets lane 16's 3.5"; "lane 3 votes for"; for one that takes no part "".
std::string exchange_of_lane(const ExchangeView& view, uint32_t lane);
// "Warp 0 shuffles down by 16: lane 0 gets lane 16's 3.5, lane 1 gets lane 17's 2; 16 lanes keep their own."
std::string exchange_caption(const ExchangeView& view, uint32_t warp);

}  // namespace tilescope::look
