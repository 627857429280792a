// Where a command may write.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tilescope::cli {

// Says before long work, rather than after it, that a file cannot be written there: no such folder, a folder
// or a device of that name, no permission. Existing files may be replaced.
Result<void> check_output(const std::string& path);

// The whole text or no file: it takes the place of what was there when it is complete.
Result<void> write_text(const std::string& path, std::string_view text);

}  // namespace tilescope::cli
