// What was worked out about the pinned element, kept while the pin and the block stay: following thousands
// of products once is a click's work, not a frame's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/view/provenance_view.h"
#include "app/view/touch_scan.h"

namespace tilescope::app {

struct Provenance {
    // What it was worked out for; another one makes it anew.
    uint64_t session = 0;
    uint8_t array = trace::kNoArray;
    uint64_t index = 0;
    std::shared_ptr<const playback::BlockReplay> replay;

    std::optional<view::OutputTrail> output;  // of an element of P
    std::optional<view::TouchScan> scan;      // of an element of M or N
    // The list's first row in sight; it follows the step until somebody turns the wheel.
    bool follows = true;
    double scroll = 0;
    uint64_t step = UINT64_MAX;  // of the recording, that it followed last
};

}  // namespace tilescope::app
