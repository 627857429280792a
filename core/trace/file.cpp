// Trace files on disk: written beside their place and moved there once they are whole.
#include "core/trace/file.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilescope::trace {

namespace {

struct Descriptor {
    int number = -1;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

std::string reason() { return std::strerror(errno); }

Error cannot_write(const std::string& path, const std::string& why) {
    return Error{fmt::format("cannot write {}: {}; choose another place", path, why)};
}

Error cannot_read(const std::string& path, const std::string& why) {
    return Error{fmt::format("cannot read {}: {}", path, why)};
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) return false;
        bytes.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
    return true;
}

// The file that a symbolic link leads to, so that the link stays one.
std::string target_of(const std::string& path) {
    char resolved[PATH_MAX];
    return ::realpath(path.c_str(), resolved) ? resolved : path;
}

mode_t usual_mode() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
}

}  // namespace

Result<void> write_file(const Trace& trace, const std::string& path) {
    const std::string target = target_of(path);
    struct stat status {};
    if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        return cannot_write(path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is not an ordinary file");
    std::string bytes;
    try {
        bytes = serialize(trace);
    } catch (const std::bad_alloc&) {
        return Error{
            fmt::format("cannot write {}: too little memory; record a smaller window of blocks", path)};
    }
    std::string temporary = target + ".XXXXXX";
    Descriptor file{::mkstemp(temporary.data())};
    if (file.number < 0) return cannot_write(path, reason());
    if (!write_all(file.number, bytes) || ::fchmod(file.number, usual_mode()) != 0 ||
        ::fsync(file.number) != 0 || ::rename(temporary.c_str(), target.c_str()) != 0) {
        const std::string why = reason();
        ::unlink(temporary.c_str());
        return cannot_write(path, why);
    }
    return {};
}

Result<Trace> read_file(const std::string& path) {
    Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat status {};
    if (file.number < 0 || ::fstat(file.number, &status) != 0) return cannot_read(path, reason());
    if (!S_ISREG(status.st_mode))
        return cannot_read(path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is not an ordinary file");
    std::string bytes;
    try {
        bytes.resize(static_cast<size_t>(status.st_size));
    } catch (const std::exception&) {
        return cannot_read(path, "it is larger than this machine's memory");
    }
    size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = ::read(file.number, bytes.data() + have, bytes.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path, reason());
        if (got == 0) break;
        have += static_cast<size_t>(got);
    }
    return deserialize(std::string_view(bytes).substr(0, have), path);
}

}  // namespace tilescope::trace
