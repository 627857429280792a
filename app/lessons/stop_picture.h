// What a stop looks like in small, as plain values: the arrays of its launch with the tile of its phase and what the
// step touches of them; and who waits at a barrier, or which lanes exchange.
//
//            +-----+   |Mds|        of a product M, N and P where they always stand, and the tiles in shared
//            |  N  |   +---+        memory beside them; of another launch its arrays side by side
//   +-----+  +-----+   |Nds|
//   |  M  |  |  P  |
//   +-----+  +-----+
#pragma once

#include <optional>
#include <vector>

#include "app/draw/sheet.h"
#include "app/look/block_index.h"
#include "app/look/exchange.h"
#include "app/look/timeline.h"
#include "app/session/session.h"

namespace tilescope::lessons {

struct StopPicture {
    struct Part {
        uint32_t rows = 1, cols = 1;            // of the array's sheet
        uint32_t tile_rows = 0, tile_cols = 0;  // 0: none
        std::vector<draw::CellRect> tile{};     // of the phase, or what is touched in it
        std::vector<draw::CellRect> lit{};      // what the step touches
        bool operator==(const Part&) const = default;
    };
    analysis::StepKind kind = analysis::StepKind::GlobalLoad;
    bool product = false;  // `arrays` are M, N and P
    std::vector<Part> arrays, shared;
    std::optional<look::GateView> gate;
    std::optional<look::ExchangeView> exchange;
};

// Arrays of a launch that a small picture has room for.
inline constexpr size_t kMostPictured = 3;

// panels: those that the stop shows; what another one would explain is left out. asks: of a stop that asks only the
// array that its step touches stands out, as a whole: all else might tell the answer.
StopPicture picture_of(const analysis::Recording& recording, const look::BlockIndex& index, uint32_t step,
                       uint8_t panels = session::kAllPanels, bool asks = false);

}  // namespace tilescope::lessons
