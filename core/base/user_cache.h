// The user's cache: $XDG_CACHE_HOME/tilescope or ~/.cache/tilescope; without a home, tilescope-UID in the folder for
// temporary files.
//
// What lies there is compiled and run, so it must be this user's: the folders are made for the user alone, and a
// folder or a file that belongs to another user, that others can write to or that is a link is not used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tilescope {

// A folder of the cache, which is made. Error: no folder can be made there, or others could change what is in it.
Result<std::filesystem::path> cache_folder(const char* part);

// Why a folder or file of the cache is not used, such as "it belongs to another user"; "" where it is this user's and
// nobody else can change it.
std::string why_not_ours(const std::filesystem::path& path);

// 128 bits, as 32 digits: FNV-1a in two lanes. Not against an attacker; the cache is the user's own.
class Digest {
public:
    Digest& add(std::string_view bytes);  // its length counts too
    std::string text() const;

private:
    uint64_t a_ = 0xcbf29ce484222325, b_ = 0x9ae16a3b2f90404f;
};

// Moves what was made into its place in the cache, for this user alone, whatever the umask let others do. Returns why
// that failed, or "".
std::string put_in_place(const std::filesystem::path& made, const std::filesystem::path& at);

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

// Takes away what was not used for thirty days.
void tidy(const std::filesystem::path& folder);

}  // namespace tilescope
