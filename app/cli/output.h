// Where a command may write.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tilescope::cli {

// Says before long work, rather than after it, that a file cannot be written there: no such folder, a folder
// or a device of that name, no permission. Existing files may be replaced.
Result<void> check_output(const std::string& path);

}  // namespace tilescope::cli
