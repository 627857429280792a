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

// 128 bits, as 32 digits: FNV-1a in two lanes. Not against an attacker; the cache is the user's own.
class Digest {
public:
    Digest& add(std::string_view bytes);  // its length counts too
    std::string text() const;

private:
    uint64_t a_ = 0xcbf29ce484222325, b_ = 0x9ae16a3b2f90404f;
};

// A folder of its own in the cache, removed when this goes away.
class WorkFolder {
public:
    static Result<WorkFolder> make(const std::filesystem::path& in);
    WorkFolder(WorkFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    ~WorkFolder();
    const std::filesystem::path& path() const { return path_; }

private:
    explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

// Our headers, as a folder. They change with this program alone.
Result<std::filesystem::path> headers_folder();

// A name for what stands in these files; none where one cannot be read.
std::optional<std::string> digest_of_files(const std::vector<std::string>& paths);

// Takes away what was not used for thirty days.
void tidy(const std::filesystem::path& folder);

}  // namespace tilescope::program
