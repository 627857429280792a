#include "core/base/process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilescope {

namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);

// In the child, up to exec: only what may be called after fork (signal-safety(7)). Returns errno if it fails.
int become(const char* program, char* const* argv, char* const* environment, const ProcessStart& start,
           pid_t parent, int report) {
    // What this program does upon a signal is not the child's to do.
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction now {};
        if (sigaction(signal, nullptr, &now) != 0) continue;
        if (now.sa_handler == SIG_DFL || (now.sa_handler == SIG_IGN && signal != SIGPIPE)) continue;
        now = {};
        now.sa_handler = SIG_DFL;
        sigaction(signal, &now, nullptr);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (start.own_group && setpgid(0, 0) != 0) return errno;
    if (start.most_memory > 0) {
        rlimit limit{};
        if (getrlimit(RLIMIT_AS, &limit) != 0) return errno;
        limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, start.most_memory);
        if (setrlimit(RLIMIT_AS, &limit) != 0) return errno;
    }
    if (prctl(PR_SET_PDEATHSIG, start.at_our_end) != 0) return errno;
    if (getppid() != parent) return ESRCH;  // it ended before the kernel knew
    // First out of the way of each other.
    std::array<int, 4> held = start.descriptors;
    for (int& one : held)
        if (one >= 0 && (one = fcntl(one, F_DUPFD_CLOEXEC, report + 1)) < 0) return errno;
    for (size_t at = 0; at < held.size(); ++at)
        if (held[at] >= 0 && dup2(held[at], static_cast<int>(at)) < 0) return errno;
    execvpe(program, argv, environment);
    return errno;
}

std::vector<std::string> environment_of(const ProcessStart& start) {
    std::vector<std::string> all = start.environment;
    for (char** at = environ; *at != nullptr; ++at) {
        const std::string_view name = std::string_view(*at).substr(0, std::string_view(*at).find('='));
        const bool replaced =
            std::any_of(start.environment.begin(), start.environment.end(), [&](const std::string& given) {
                return given.size() > name.size() && given[name.size()] == '=' &&
                       given.compare(0, name.size(), name) == 0;
            });
        if (!replaced) all.emplace_back(*at);
    }
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

std::string text_of(std::FILE* file) {
    std::string text;
    char part[4096];
    std::rewind(file);
    while (const size_t read = std::fread(part, 1, sizeof part, file)) text.append(part, read);
    return text;
}

}  // namespace

int start_process(const char* program, ProcessStart start, pid_t& child) {
    std::vector<std::string> environment = environment_of(start);
    const std::vector<char*> argv = pointers(start.words), envp = pointers(environment);
    int ends[2];  // through which the child says why, should it fail; closed by exec
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    // Above the descriptors that the child is given.
    const int report = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[1]);
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &former);
    const pid_t parent = getpid();
    child = report < 0 ? -1 : fork();
    int why = errno;
    if (child == 0) {
        why = become(program, argv.data(), envp.data(), start, parent, report);
        if (write(report, &why, sizeof why) < 0) _exit(126);
        _exit(127);
    }
    pthread_sigmask(SIG_SETMASK, &former, nullptr);
    if (report >= 0) close(report);
    if (child > 0) {
        ssize_t got = 0;
        while ((got = read(ends[0], &why, sizeof why)) < 0 && errno == EINTR) {
        }
        if (got == 0) why = 0;
        while (why != 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    if (why != 0) child = -1;
    return why;
}

int wait_for_process(pid_t child, const std::atomic<bool>* stop, const std::atomic<int>& first, bool to_group,
                     const std::function<void()>& look, std::chrono::milliseconds patience,
                     const std::function<bool()>& keeps) {
    const pid_t to = to_group ? -child : child;
    int status = 0;
    bool signalled = false;
    std::chrono::milliseconds waited{0};  // since the first signal
    for (;;) {
        if (look) look();
        const pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR)) return status;
        if (stop != nullptr && *stop && !std::exchange(signalled, true)) kill(to, first);
        if (signalled && !(keeps && keeps()) && (waited += kPoll) == patience) kill(to, SIGKILL);
        std::this_thread::sleep_for(kPoll);
    }
}

int exit_status(int waited) { return WIFEXITED(waited) ? WEXITSTATUS(waited) : 128 + WTERMSIG(waited); }

std::string how_it_ended(int status) {
    constexpr int kLastSignal = 64;
    return status > 128 && status <= 128 + kLastSignal ? fmt::format("was ended by signal {}", status - 128)
                                                       : fmt::format("ended with status {}", status);
}

Result<ProcessRan> run_process(std::vector<std::string> words, std::chrono::milliseconds deadline,
                               const std::atomic<bool>* stop, uint64_t most_memory) {
    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
    const File in(std::tmpfile(), std::fclose), out(std::tmpfile(), std::fclose),
        err(std::tmpfile(), std::fclose);
    if (!in || !out || !err) return Error{"there is no room for a temporary file; free some and try again"};
    const std::string program = words.front();
    pid_t child = -1;
    ProcessStart start;
    start.words = std::move(words);
    start.descriptors = {fileno(in.get()), fileno(out.get()), fileno(err.get()), -1};
    start.most_memory = most_memory;
    const int why = start_process(program.c_str(), std::move(start), child);
    if (why != 0) return Error{fmt::format("'{}' could not be started: {}", program, std::strerror(why))};
    ProcessRan ran;
    const auto end = std::chrono::steady_clock::now() + deadline;
    int status = 0;
    for (;;) {
        const pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR)) break;
        const bool asked = stop != nullptr && *stop, late = std::chrono::steady_clock::now() > end;
        if (!ran.stopped && !ran.too_late && (asked || late)) {
            ran.stopped = asked;
            ran.too_late = !asked;
            kill(-child, SIGKILL);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ran.status = exit_status(status);
    ran.out = text_of(out.get());
    ran.err = text_of(err.get());
    return ran;
}

namespace {

// This program's children, of all its threads (proc(5), /proc/pid/task/tid/children).
std::vector<pid_t> children() {
    std::vector<pid_t> all;
    std::error_code error;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
        std::ifstream list(thread.path() / "children");
        for (pid_t one = 0; list >> one;) all.push_back(one);
    }
    return all;
}

}  // namespace

Orphans::Orphans() : before_(children()) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

Orphans::~Orphans() {
    // Those of an orphan come here when it has ended.
    constexpr int kMostRounds = 1000;
    for (int round = 0; round < kMostRounds; ++round) {
        std::vector<pid_t> left = children();
        std::erase_if(left, [&](pid_t one) { return std::ranges::find(before_, one) != before_.end(); });
        if (left.empty()) break;
        for (const pid_t one : left) kill(one, SIGKILL);
        for (const pid_t one : left)
            while (waitpid(one, nullptr, 0) < 0 && errno == EINTR) {
            }
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

std::string find_program(const std::string& name) {
    const auto runs = [](const std::string& path) {
        struct stat file {};
        return stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && access(path.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string::npos) return runs(name) ? name : "";
    const char* path = std::getenv("PATH");
    std::string_view folders = path != nullptr ? path : "/usr/bin:/bin";
    while (!folders.empty()) {
        const size_t end = std::min(folders.find(':'), folders.size());
        const std::string folder(folders.substr(0, end));
        const std::string at = (folder.empty() ? "." : folder) + "/" + name;
        if (runs(at)) return at;
        folders.remove_prefix(std::min(end + 1, folders.size()));
    }
    return "";
}

}  // namespace tilescope
