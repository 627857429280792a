// What an export wrote, taken apart again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/export/requests.h"
#include "tests/clocked.h"
#include "tests/unit/tiled_by_hand.h"

namespace tilescope::report {

using Json = nlohmann::json;

// Everything that a writer gives out; asserts that it comes in pieces of a bounded size.
inline std::string gathered(const std::function<bool(const Take&)>& writer) {
    std::string text;
    size_t most = 0;
    EXPECT_TRUE(writer([&](std::string_view piece) {
        text += piece;
        most = std::max(most, piece.size());
        return true;
    }));
    EXPECT_LT(most, 256u * 1024);
    return text;
}

// Two blocks of 12 x 12 with T = 8: two warps a block, two phases, the second half outside.
inline trace::Trace two_blocks() {
    trace::Trace trace = by_hand::record({{12, 8, 0, 0}, {12, 8, 1, 0}});
    trace.meta.tool_version = "0.1.0";
    trace.meta.kernel = "tiled";
    trace.meta.device = "CPU lockstep interpreter";
    trace.meta.complete = true;
    return trace;
}

}  // namespace tilescope::report
