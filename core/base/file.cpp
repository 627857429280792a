#include "core/base/file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/words.h"

namespace tilescope {
namespace {

// Unfinished files, where a signal handler finds them. A slot is free, being filled, or in use.
struct Unfinished {
    enum SlotState : int { kFree, kFilling, kInUse };
    std::atomic<int> state{kFree};
    char path[PATH_MAX] = {};
};
std::array<Unfinished, 64> g_unfinished;
static_assert(std::atomic<int>::is_always_lock_free);

// -1 where all slots are in use or the path is too long: a signal then leaves the file.
int remember(const std::string& path) {
    if (path.size() >= PATH_MAX) return -1;
    for (size_t at = 0; at < g_unfinished.size(); ++at) {
        int free = Unfinished::kFree;
        if (!g_unfinished[at].state.compare_exchange_strong(free, Unfinished::kFilling)) continue;
        std::memcpy(g_unfinished[at].path, path.c_str(), path.size() + 1);
        g_unfinished[at].state = Unfinished::kInUse;
        return static_cast<int>(at);
    }
    return -1;
}

void forget(int slot) {
    if (slot >= 0) g_unfinished[static_cast<size_t>(slot)].state = Unfinished::kFree;
}

// Removes the files and ends as the signal would have.
void on_end(int signal) {
    for (const Unfinished& file : g_unfinished)
        if (file.state == Unfinished::kInUse) ::unlink(file.path);
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// The file that symbolic links lead to, which need not be there; "" where they lead round in a circle.
std::string target_of(std::string path) {
    for (int links = 0; links < 40; ++links) {
        char next[PATH_MAX];
        const ssize_t length = ::readlink(path.c_str(), next, sizeof next);
        if (length <= 0) return path;
        const std::string to(next, static_cast<size_t>(length));
        path = to.starts_with('/') ? to : folder_of(path) + "/" + to;
    }
    return "";
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// target: what `path` leads to; mode: the permissions that the file is to have.
std::string look_at(const std::string& path, const std::vector<std::string>& inputs, std::string& target,
                    uint32_t& mode) {
    target = target_of(path);
    if (target.empty()) return "its symbolic links lead round in a circle";
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode = 0666 & ~mask;
    struct stat named {
    }, there{};
    const bool exists = ::stat(path.c_str(), &named) == 0;
    if (exists) {
        if (S_ISDIR(named.st_mode)) return "it is a folder";
        // A descriptor of a file that has no name any more is a link as well, to a name that is not its own.
        if (!S_ISREG(named.st_mode) || ::lstat(target.c_str(), &there) != 0 || !same_file(named, there))
            return "it is not a regular file and is not replaced";
        for (const std::string& input : inputs) {
            struct stat read {};
            if (::stat(input.c_str(), &read) == 0 && same_file(read, named))
                return fmt::format("it is the file '{}' that is read", input);
        }
        // The superuser may write such a file; that it is marked is enough.
        if ((named.st_mode & 0222) == 0 || ::access(target.c_str(), W_OK) != 0) return "it is read-only";
        mode = named.st_mode & 0777;
    } else if (errno != ENOENT && errno != ENOTDIR) {
        return std::strerror(errno);
    }
    const std::string folder = folder_of(target);
    struct stat status {};
    if (target.ends_with('/') || ::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return fmt::format("there is no folder '{}'", folder);
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return fmt::format("folder '{}' is read-only for you", folder);
    return "";
}

}  // namespace

std::string why_not_writable(const std::string& path, const std::vector<std::string>& inputs) {
    std::string target;
    uint32_t mode = 0;
    return look_at(path, inputs, target, mode);
}

OutputFile::OutputFile(const std::string& path, const std::vector<std::string>& inputs) {
    why_ = look_at(path, inputs, target_, mode_);
    if (!why_.empty()) return;
    // A name of its own, as a target's may be too long for an ending. It is known before it is there, so that
    // no signal comes in between.
    for (int tries = 0; tries < 100 && file_ < 0; ++tries) {
        uint64_t random = 0;
        if (::getrandom(&random, sizeof random, 0) != sizeof random) break;
        temporary_ = fmt::format("{}/.tilescope-{:016x}", folder_of(target_), random);
        slot_ = remember(temporary_);
        file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file_ >= 0) return;
        forget(std::exchange(slot_, -1));
        if (errno != EEXIST) break;
    }
    why_ = std::strerror(errno);
    temporary_.clear();
}

OutputFile::~OutputFile() {
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    forget(slot_);
}

bool OutputFile::write(std::string_view bytes) {
    while (why_.empty() && !bytes.empty()) {
        const ssize_t written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) why_ = std::strerror(errno);
        bytes.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
    return why_.empty();
}

std::string OutputFile::keep() {
    if (!why_.empty()) return why_;
    // Another program may have replaced the file: by its name, then.
    const int file = ::open(temporary_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool good = file >= 0 && ::fchmod(file, mode_) == 0 && ::fsync(file) == 0 &&
                      ::rename(temporary_.c_str(), target_.c_str()) == 0;
    if (!good) why_ = std::strerror(errno);
    if (file >= 0) ::close(file);
    if (good) temporary_.clear(), forget(std::exchange(slot_, -1));
    return why_;
}

std::string write_whole(const std::string& path, std::string_view bytes) {
    OutputFile file(path);
    file.write(bytes);
    return file.keep();
}

std::string move_whole(const std::string& from, const std::string& path,
                       const std::vector<std::string>& inputs) {
    std::string target;
    uint32_t mode = 0;
    if (std::string why = look_at(path, inputs, target, mode); !why.empty()) return why;
    if (::chmod(from.c_str(), mode) != 0) return std::strerror(errno);
    if (::rename(from.c_str(), target.c_str()) == 0) return "";
    if (errno != EXDEV) return std::strerror(errno);
    // A link leads to another file system.
    const auto bytes = read_whole(from, UINT64_MAX);
    if (!bytes) return bytes.error().message;
    return write_whole(target, *bytes);
}

void remove_unfinished_on_signals() {
    for (int signal = 1; signal < NSIG; ++signal) {
        // These do not end a program by default.
        if (signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH ||
            signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
            continue;
        struct sigaction now {};
        if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
        struct sigaction action {};
        action.sa_handler = on_end;
        sigaction(signal, &action, nullptr);  // fails for SIGKILL and SIGSTOP
    }
}

Result<std::string> read_whole(const std::string& path, uint64_t most, const RefusesFile& refuses) {
    const auto cannot = [&](const std::string& why) {
        return Error{fmt::format("cannot read {}: {}", path, why)};
    };
    // Without waiting for the other end of a pipe.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return cannot(std::strerror(errno));
    struct Close {
        int file;
        ~Close() { ::close(file); }
    } const close{file};
    struct stat status {};
    if (::fstat(file, &status) != 0) return cannot(std::strerror(errno));
    if (S_ISDIR(status.st_mode)) return cannot("it is a folder");
    if (!S_ISREG(status.st_mode)) return cannot("it is not a regular file; save what it holds in one first");
    const auto too_large = [&] {
        return cannot(fmt::format("it is larger than the {} that are read", bytes_text(most)));
    };
    const auto size = static_cast<uint64_t>(status.st_size);
    std::string bytes;
    try {
        constexpr uint64_t kFirst = 64 << 10;
        bytes.resize(std::min(most + 1, kFirst));
        size_t have = 0;
        for (;;) {
            if (have == bytes.size()) {
                if (have == kFirst && refuses)
                    if (auto error = refuses(bytes, size)) return *error;
                if (size > most) return too_large();
                // One more, which shows the end; a file of /proc says that it has no bytes.
                bytes.resize(std::min(std::max<uint64_t>(size + 1, uint64_t{2} * have), most + 1));
            }
            const ssize_t got = ::read(file, bytes.data() + have, bytes.size() - have);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return cannot(std::strerror(errno));
            have += static_cast<size_t>(got);
            if (have > most) return too_large();
            if (got == 0) break;
        }
        bytes.resize(have);
    } catch (const std::bad_alloc&) {
        return cannot("there is not enough memory for it");
    } catch (const std::length_error&) {
        return cannot("there is not enough memory for it");
    }
    return bytes;
}

}  // namespace tilescope
