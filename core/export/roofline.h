// `tilescope roofline`: points under the roofs of devices, as JSON (schema tilescope.roofline/1) and as text.
//
// Every row says which it is: a bound is worked out from stated figures, a measured one has a clock behind
// it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/limits/roofline.h"

namespace tilescope::report {

struct RooflineRow {
    std::string id;
    analysis::Roof roof;
    analysis::RoofPoint point;
    uint32_t tile = 0;  // of shared memory; 0: none, or not known
    // Of accesses that were recorded: the bound by the sectors that they need.
    std::optional<analysis::RoofPoint> of_sectors{};
    // m, k and n of a product; none where the row is true of every size.
    std::optional<std::array<uint32_t, 3>> sizes{};
    std::string compiler{};  // of the PTX that was timed; "" for a bound
};

std::string to_json(const std::vector<RooflineRow>& rows);
std::string to_text(const std::vector<RooflineRow>& rows);

}  // namespace tilescope::report
