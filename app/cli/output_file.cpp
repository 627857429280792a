#include "app/cli/output_file.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace tilescope::cli {

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
