#include "app/cli/output.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/write_whole.h"

namespace tilescope::cli {

Result<void> check_output(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status there = fs::status(path, error);
    if (fs::is_directory(there))
        return Error{fmt::format("'{}' is a folder; name a file to write with -o", path)};
    if (fs::exists(there) && !fs::is_regular_file(there)) {
        return Error{
            fmt::format("'{}' is not a regular file and is not replaced; name another one with -o", path)};
    }
    fs::path folder = fs::path(path).parent_path();
    if (folder.empty()) folder = ".";
    if (!fs::is_directory(folder, error)) {
        return Error{
            fmt::format("'{}' cannot be written: there is no folder '{}'; make it or name another with -o",
                        path, folder.string())};
    }
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        return Error{
            fmt::format("'{}' cannot be written: folder '{}' is read-only for you; name another with -o",
                        path, folder.string())};
    }
    return {};
}

Result<void> write_text(const std::string& path, std::string_view text) {
    const std::string why = write_whole(path, text);
    if (why.empty()) return {};
    return Error{fmt::format("'{}' cannot be written: {}; name another file with -o", path, why)};
}

}  // namespace tilescope::cli
