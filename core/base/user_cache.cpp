#include "core/base/user_cache.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX
#include <sys/stat.h>
#include <unistd.h>

namespace tilescope {

namespace fs = std::filesystem;

namespace {

Error cannot_be_made(const fs::path& folder, const std::string& why) {
    return {fmt::format("the cache '{}' cannot be made: {}; name another folder with XDG_CACHE_HOME",
                        folder.string(), why)};
}

// Whoever may rename in a folder above the cache can put another one in the place of ours. In a sticky one (/tmp)
// only the owner of a folder may rename it.
Result<void> check_parents(const fs::path& folder) {
    fs::path at;
    for (const fs::path& part : folder) {
        at /= part;
        struct stat status {};
        if (::stat(at.c_str(), &status) != 0) return cannot_be_made(folder, std::strerror(errno));
        if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
            return Error{fmt::format(
                "the cache is not made in '{}': everybody can write to it, and what is kept there "
                "would be run; name another folder with XDG_CACHE_HOME",
                at.string())};
    }
    return {};
}

// Makes the folders above the cache where they are missing, for this user alone.
Result<void> make_parents(const fs::path& folder) {
    std::error_code error;
    fs::path at;
    for (const fs::path& part : folder) {
        at /= part;
        if (fs::is_directory(at, error)) continue;
        if (::mkdir(at.c_str(), 0700) != 0 && errno != EEXIST)
            return cannot_be_made(folder, std::strerror(errno));
    }
    if (auto good = check_parents(folder); !good) return good;
    const fs::path real = fs::canonical(folder, error);
    if (error) return cannot_be_made(folder, error.message());
    return check_parents(real);
}

}  // namespace

std::string why_not_ours(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return std::strerror(errno);
    if (S_ISLNK(status.st_mode)) return "it is a symbolic link";
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) return "it is neither a folder nor a file";
    if (status.st_uid != ::geteuid()) return "it belongs to another user";
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others can write to it";
    return "";
}

Result<fs::path> cache_folder(const char* part) {
    const char* xdg = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    fs::path folder;
    if (xdg != nullptr && xdg[0] == '/')
        folder = fs::path(xdg) / "tilescope";
    else if (home != nullptr && home[0] == '/')
        folder = fs::path(home) / ".cache" / "tilescope";
    else
        folder = (error ? fs::path("/tmp") : temporary) / fmt::format("tilescope-{}", ::geteuid());
    if (const auto made = make_parents(folder.parent_path()); !made) return made.error();
    for (const fs::path& one : {folder, folder / part}) {
        if (::mkdir(one.c_str(), 0700) != 0 && errno != EEXIST)
            return cannot_be_made(one, std::strerror(errno));
        if (const std::string why = why_not_ours(one); !why.empty())
            return Error{fmt::format(
                "the cache '{}', whose programs would be run, is not used: {}; remove it, or name "
                "another folder with XDG_CACHE_HOME",
                one.string(), why)};
        if (!fs::is_directory(one, error)) return cannot_be_made(one, "a file is in its place");
    }
    return folder / part;
}

Digest& Digest::add(std::string_view bytes) {
    const auto take = [&](unsigned char c) {
        a_ = (a_ ^ c) * 0x100000001b3;
        b_ = (b_ ^ c ^ (b_ >> 29)) * 0x9fb21c651e98df25;
    };
    for (uint64_t size = bytes.size(), k = 0; k < 8; ++k) take(static_cast<unsigned char>(size >> 8 * k));
    for (const char c : bytes) take(static_cast<unsigned char>(c));
    return *this;
}

std::string Digest::text() const { return fmt::format("{:016x}{:016x}", a_, b_); }

Result<WorkFolder> WorkFolder::make(const fs::path& in) {
    std::string name = (in / "making-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        return Error{fmt::format(
            "no folder can be made in '{}'; make room, or name another folder with XDG_CACHE_HOME",
            in.string())};
    return WorkFolder(name);
}

WorkFolder::~WorkFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
}

std::string put_in_place(const fs::path& made, const fs::path& at) {
    std::error_code error;
    fs::permissions(made, fs::perms::owner_all, error);
    if (!error) fs::rename(made, at, error);
    return error ? error.message() : "";
}

void tidy(const fs::path& folder) {
    std::error_code error;
    const auto oldest = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        std::error_code ignored;
        if (entry.last_write_time(ignored) < oldest && !ignored) fs::remove_all(entry.path(), ignored);
    }
}

}  // namespace tilescope
