// --block x,y: one of the blocks that a recording holds.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::cli {

// Whether `option` reads as x,y at all, before a recording is opened.
Result<void> check_block(const std::string& option);

// Its index in trace.blocks; an empty option is the first block. file: what the sentence calls the recording.
Result<uint32_t> choose_block(const std::string& option, const trace::Trace& trace, const std::string& file);

}  // namespace tilescope::cli
