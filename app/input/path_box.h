// What the path box suggests: folders and recordings that begin with what is typed, and before anything is
// typed the recordings opened lately and those that ship.
#pragma once

#include <string>
#include <vector>

#include "app/input/state.h"

namespace tilescope::input {

struct Suggestion {
    enum class Kind : uint8_t { Folder, File, Recent, Shipped } kind = Kind::File;
    std::string text;   // as it is shown
    std::string value;  // the path; the name of what ships
};
inline constexpr size_t kMostSuggestions = 200;

// Looks at the folder that is typed; a folder that cannot be read suggests nothing.
std::vector<Suggestion> suggestions(const PathBox& box, const session::Session& session);
// What Tab makes of the typed path: as far as all the folders and recordings that begin with it agree.
std::string completed(const std::string& typed);
// "~/x" with the home folder for the tilde.
std::string expanded(const std::string& typed);
}  // namespace tilescope::input
