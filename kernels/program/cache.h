// Built programs, and our headers, in the user's cache (core/base/user_cache.h).
//
//   headers/HASH/           our headers, unpacked
//   sources/HASH.cpp        mains that were made for files without one
//   programs/KEY.files      the files that a program is made of; KEY is the digest of its source's name, its
//                           flags, the compiler and our parts
//   programs/KEY-CONTENT    the program; CONTENT is the digest of what stands in those files
//
// Whatever is written grows under a name of its own and takes its place by rename: programs that start at the
// same time do not disturb each other, and nothing half is left.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/user_cache.h"

namespace tilescope::program {

// Our headers, as a folder. They change with this program alone.
Result<std::filesystem::path> headers_folder();

// A name for what stands in these files; none where one cannot be read.
std::optional<std::string> digest_of_files(const std::vector<std::string>& paths);

}  // namespace tilescope::program
