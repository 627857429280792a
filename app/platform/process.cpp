#include "app/platform/process.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT: as POSIX has it

namespace tilescope::platform {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr int kPatience = 100;  // polls from Ctrl-C's signal to SIGKILL

// What the child writes to.
struct Output {
    std::FILE* file = std::tmpfile();
    Output() = default;
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() {
        if (file) std::fclose(file);
    }
    std::string text() const {
        std::string text;
        char part[4096];
        std::rewind(file);
        while (const size_t read = std::fread(part, 1, sizeof part, file)) text.append(part, read);
        return text;
    }
};

int wait_for(pid_t child, const std::atomic<bool>& stop) {
    int status = 0, polls = 0;
    for (;;) {
        const pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR)) return status;
        if (stop && polls++ == 0) kill(child, SIGINT);
        if (polls == kPatience) kill(child, SIGKILL);
        std::this_thread::sleep_for(kPoll);
    }
}

}  // namespace

Result<Ran> run_self(std::vector<std::string> arguments, const std::atomic<bool>& stop) {
    Output out, err;
    if (!out.file || !err.file)
        return Error{"There is no folder for temporary files; set TMPDIR to one and try again."};
    arguments.insert(arguments.begin(), "tilescope");
    std::vector<char*> argv;
    for (std::string& word : arguments) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(out.file), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(err.file), STDERR_FILENO);
    pid_t child = -1;
    const int why = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (why != 0)
        return Error{fmt::format("The program could not call itself: {}; use its command line instead.",
                                 std::strerror(why))};
    const int status = wait_for(child, stop);
    return Ran{WIFEXITED(status) && WEXITSTATUS(status) == 0, out.text(), err.text()};
}

}  // namespace tilescope::platform
