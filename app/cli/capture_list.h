// The list of a program's launches that `tilescope capture` prints.
#pragma once

#include <string>
#include <vector>

#include "kernels/launched/captured.h"

namespace tilescope::cli {

// A row for each kernel and shape; below it the launches that were to be recorded.
std::string captured_table(const std::vector<launched::CapturedProcess>& processes);

// The same as a document (schema tilescope.capture/1).
std::string captured_json(const std::vector<std::string>& command, int exit, const std::string& failure,
                          const std::vector<launched::CapturedProcess>& processes);

}  // namespace tilescope::cli
