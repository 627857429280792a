#include "app/cli/output.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

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
    std::string why;
    if (!fs::is_directory(folder, error))
        why = fmt::format("there is no folder '{}'; make it or name another", folder.string());
    else if (::access(folder.c_str(), W_OK | X_OK) != 0)
        why = fmt::format("folder '{}' is read-only for you; name another", folder.string());
    if (why.empty()) return {};
    return Error{fmt::format("'{}' cannot be written: {} with -o", path, why)};
}

Result<void> write_text(const std::string& path, std::string_view text) {
    OutputFile file(path);
    file.write(text);
    return file.keep();
}

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.tmp.{}", path_, ::getpid())) {
    file_ = std::fopen(temporary_.c_str(), "wb");
    if (!file_) why_ = errno;
}

OutputFile::~OutputFile() {
    if (file_) std::fclose(file_);
    if (!temporary_.empty()) std::remove(temporary_.c_str());
}

bool OutputFile::write(std::string_view text) {
    if (why_ == 0 && std::fwrite(text.data(), 1, text.size(), file_) != text.size())
        why_ = errno ? errno : EIO;
    return why_ == 0;
}

Result<void> OutputFile::keep() {
    if (file_ && std::fclose(file_) != 0 && why_ == 0) why_ = errno;
    file_ = nullptr;
    if (why_ == 0 && std::rename(temporary_.c_str(), path_.c_str()) != 0) why_ = errno;
    if (why_ == 0) {
        temporary_.clear();
        return {};
    }
    return Error{
        fmt::format("'{}' cannot be written: {}; name another file with -o", path_, std::strerror(why_))};
}

}  // namespace tilescope::cli
