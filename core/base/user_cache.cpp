#include "core/base/user_cache.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
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

}  // namespace tilescope
