// What a compiler's log has to say, in one line.
#pragma once

#include <string>
#include <string_view>

namespace tilescope::gpu {

// The first line that complains ("error", "fatal"), else the first that is not empty; runs of blanks made
// one.
std::string first_complaint(std::string_view log);

}  // namespace tilescope::gpu
