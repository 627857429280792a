#pragma once

#include <string>

#include "core/base/result.h"

namespace tilescope::web {

// The bytes of recordings/NAME.tsc beside the page.
Result<std::string> fetch_recording(const std::string& name);

}  // namespace tilescope::web
