// A file that is there whole or not at all: it is written beside its place and takes it when it is complete.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <unistd.h>

namespace tilescope {

// Why it could not be written, such as "No space left on device"; "" where it was. Else what was there stays.
inline std::string write_whole(const std::string& path, std::string_view bytes) {
    const std::string beside = fmt::format("{}.tmp.{}", path, ::getpid());
    std::FILE* const file = std::fopen(beside.c_str(), "wb");
    bool good = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    int why = good ? 0 : errno;
    if (file && std::fclose(file) != 0 && good) good = false, why = errno;
    if (good && std::rename(beside.c_str(), path.c_str()) != 0) good = false, why = errno;
    if (good) return "";
    if (file) std::remove(beside.c_str());
    return std::strerror(why ? why : EIO);
}

}  // namespace tilescope
