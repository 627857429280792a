#include "app/platform/process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
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

// Starts a program with what its standard output and error are written to and, where it is fed through a
// pipe, the pipe's end. It is in a process group of its own then: Ctrl-C is this program's to answer. Returns
// why it could not be started (errno.h), 0 where it was.
int start(const char* program, std::vector<std::string> words, const Output& out, const Output& err, int pipe,
          pid_t& child) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (pipe >= 0) posix_spawn_file_actions_adddup2(&files, pipe, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, fileno(out.file.get()), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, fileno(err.file.get()), STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | (pipe >= 0 ? POSIX_SPAWN_SETPGROUP : 0));
    const int why = posix_spawnp(&child, program, &files, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (why != 0) child = -1;
    return why;
}

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

std::vector<std::string> words_of(const Film& film) {
    std::string words = fmt::format(
        "ffmpeg -hide_banner -loglevel error -nostdin -y -f rawvideo -pix_fmt rgba -s {}x{} -r {} -i pipe:0 ",
        film.width, film.height, film.fps);
    words += film.format == Film::Format::Gif
                 ? "-filter_complex [0:v]split[a][b];[a]palettegen=stats_mode=single[p];"
                   "[b][p]paletteuse=new=1:dither=none -f gif"
                 : "-c:v libx264 -preset veryfast -crf 18 -pix_fmt yuv420p -movflags +faststart -f mp4";
    std::vector<std::string> all{""};
    for (const char c : words) c == ' ' ? all.emplace_back() : all.back() += c;
    all.push_back("file:" + film.path);  // may have spaces
    return all;
}

}  // namespace

std::string Output::text() const {
    std::string text;
    char part[4096];
    std::rewind(file.get());
    while (const size_t read = std::fread(part, 1, sizeof part, file.get())) text.append(part, read);
    return text;
}

Result<Ran> run_self(std::vector<std::string> arguments, const std::atomic<bool>& stop) {
    const Output out, err;
    if (!out.file || !err.file)
        return Error{"There is no folder for temporary files; set TMPDIR to one and try again."};
    arguments.insert(arguments.begin(), "tilescope");
    pid_t child = -1;
    if (const int why = start("/proc/self/exe", std::move(arguments), out, err, -1, child))
        return Error{fmt::format("The program could not call itself: {}; use its command line instead.",
                                 std::strerror(why))};
    const int status = wait_for(child, stop);
    return Ran{WIFEXITED(status) && WEXITSTATUS(status) == 0, out.text(), err.text()};
}

// A write to a program that has ended is an error to look at, not the end of this one.
Ffmpeg::Ffmpeg() : former_(std::signal(SIGPIPE, SIG_IGN)) {}

Ffmpeg::~Ffmpeg() {
    if (child_ > 0) kill(child_, SIGKILL);
    wait();
    std::signal(SIGPIPE, former_);
}

int Ffmpeg::wait() {
    if (pipe_ >= 0) close(std::exchange(pipe_, -1));
    int status = 0;
    while (child_ > 0 && waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
}

Result<std::unique_ptr<Ffmpeg>> Ffmpeg::start(const Film& film) {
    std::unique_ptr<Ffmpeg> made(new Ffmpeg);
    int ends[2];
    const bool ready = made->said_.file && pipe2(ends, O_CLOEXEC) == 0;
    int why = errno;
    if (ready) {
        why = platform::start("ffmpeg", words_of(film), made->said_, made->said_, ends[0], made->child_);
        close(ends[0]);
        made->pipe_ = ends[1];
    }
    if (ready && why == ENOENT)
        return Error{
            "films are made by the program ffmpeg, which is not installed; install the package ffmpeg, or "
            "export png or svg"};
    if (!ready || why != 0)
        return Error{fmt::format("ffmpeg could not be started: {}; try again", std::strerror(why))};
    return made;
}

bool Ffmpeg::frame(const Image& image) {
    for (size_t at = 0; at < image.rgba.size();) {
        const ssize_t wrote = write(pipe_, image.rgba.data() + at, image.rgba.size() - at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        at += static_cast<size_t>(wrote);
    }
    return true;
}

Result<void> Ffmpeg::finish() {
    const int status = wait();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    const std::string said = said_.text(), first = said.substr(0, said.find_first_of("\r\n"));
    return Error{fmt::format("ffmpeg could not make the film ({}); try another format or size",
                             first.empty() ? "it ended early" : first)};
}

}  // namespace tilescope::platform
