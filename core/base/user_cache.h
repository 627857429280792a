// The user's cache: $XDG_CACHE_HOME/tilescope or ~/.cache/tilescope; without a home, tilescope-UID in the folder for
// temporary files.
//
// What lies there is compiled and run, so it must be this user's: the folders are made for the user alone, and a
// folder or a file that belongs to another user, that others can write to or that is a link is not used.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace tilescope {

// A folder of the cache, which is made. Error: no folder can be made there, or others could change what is in it.
Result<std::filesystem::path> cache_folder(const char* part);

// Why a folder or file of the cache is not used, such as "it belongs to another user"; "" where it is this user's and
// nobody else can change it.
std::string why_not_ours(const std::filesystem::path& path);

}  // namespace tilescope
