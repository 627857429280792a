#include "app/platform/process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/text.h"

namespace tilescope::platform {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr int kPatience = 100;  // polls from Ctrl-C's signal to SIGKILL

// What a child is to have in place of this program's own: descriptors from 0 on, -1 for none.
struct Start {
    std::vector<std::string> words;  // the first one is its name
    std::array<int, 4> descriptors = {-1, -1, -1, -1};
    int at_our_end = SIGKILL;  // the signal that it gets when this program ends
};

// In the child, up to its program: only what may be called between fork and exec (signal-safety(7)). Returns
// errno where it fails.
int become(const char* program, char* const* argv, const Start& start, pid_t parent, int report) {
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
    // A process group of its own: Ctrl-C is this program's to answer.
    if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, start.at_our_end) != 0) return errno;
    if (getppid() != parent) return ESRCH;  // it ended before the kernel knew
    // First out of the way of each other.
    std::array<int, 4> held = start.descriptors;
    for (int& one : held)
        if (one >= 0 && (one = fcntl(one, F_DUPFD_CLOEXEC, report + 1)) < 0) return errno;
    for (size_t at = 0; at < held.size(); ++at)
        if (held[at] >= 0 && dup2(held[at], static_cast<int>(at)) < 0) return errno;
    execvp(program, argv);
    return errno;
}

// Returns why the program could not be started (errno.h), 0 where it was.
int start_program(const char* program, Start start, pid_t& child) {
    std::vector<char*> argv;
    for (std::string& word : start.words) argv.push_back(word.data());
    argv.push_back(nullptr);
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
        why = become(program, argv.data(), start, parent, report);
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

// Until it has ended; its exit status. stop: may be null; `first` is the signal that asks it to end; look is
// called meanwhile, where there is one.
int wait_for(pid_t child, const std::atomic<bool>* stop, int first, const std::function<void()>& look = {}) {
    int status = 0, polls = 0;
    for (;;) {
        if (look) look();
        const pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR)) return status;
        if (stop != nullptr && *stop && polls++ == 0) kill(-child, first);
        if (polls == kPatience) kill(-child, SIGKILL);
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

uint64_t Output::size() const {
    struct stat now {};
    return fstat(fileno(file.get()), &now) == 0 ? static_cast<uint64_t>(now.st_size) : 0;
}

// By pread: the child writes where the file's own offset stands, which they share.
std::string Output::part(uint64_t from, size_t most) const {
    std::string text(most, '\0');
    const ssize_t got = pread(fileno(file.get()), text.data(), most, static_cast<off_t>(from));
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
}

std::string Output::text() const {
    std::string text;
    char part[4096];
    std::rewind(file.get());
    while (const size_t read = std::fread(part, 1, sizeof part, file.get())) text.append(part, read);
    return text;
}

std::string Output::last_words() const {
    std::string said = text();
    said.erase(said.find_last_not_of(" \r\n") + 1);
    return said.substr(said.find_last_of("\r\n") + 1);
}

Result<Ran> run_self(std::vector<std::string> arguments, std::string_view given,
                     const std::atomic<bool>& stop, const Watch& watch) {
    const Output nothing, in, out, err;
    if (!nothing.file || !in.file || !out.file || !err.file)
        return Error{"There is no room for a temporary file; free some and try again."};
    if (std::fwrite(given.data(), 1, given.size(), in.file.get()) != given.size() ||
        std::fflush(in.file.get()) != 0)
        return Error{fmt::format("A temporary file could not be written: {}; free some room and try again.",
                                 std::strerror(errno))};
    arguments.insert(arguments.begin(), "tilescope");
    pid_t child = -1;
    const Start start{
        std::move(arguments),
        {fileno(nothing.file.get()), fileno(out.file.get()), fileno(err.file.get()), fileno(in.file.get())},
        SIGTERM};
    if (const int why = start_program(watch.program.c_str(), start, child))
        return Error{fmt::format("The program could not call itself: {}; use its command line instead.",
                                 std::strerror(why))};
    const int status = wait_for(child, &stop, SIGINT, [&] {
        if (watch.look) watch.look(err);
    });
    return Ran{WIFEXITED(status) && WEXITSTATUS(status) == 0, out.text(), err.text()};
}

// A write to a program that has ended is an error to look at, not the end of this one.
Ffmpeg::Ffmpeg(const Film& film)
    : path_(film.path), stop_(film.stop), former_(std::signal(SIGPIPE, SIG_IGN)) {}

Ffmpeg::~Ffmpeg() {
    if (child_ > 0) kill(-child_, SIGKILL);
    wait();
    std::signal(SIGPIPE, former_);
}

int Ffmpeg::wait() {
    if (pipe_ >= 0) close(std::exchange(pipe_, -1));
    return child_ > 0 ? wait_for(std::exchange(child_, -1), stop_, SIGKILL) : 0;
}

Result<std::unique_ptr<Ffmpeg>> Ffmpeg::start(const Film& film) {
    std::unique_ptr<Ffmpeg> made(new Ffmpeg(film));
    int ends[2];
    const bool ready = made->said_.file && pipe2(ends, O_CLOEXEC) == 0;
    int why = errno;
    if (ready) {
        const int said = fileno(made->said_.file.get());
        why = start_program("ffmpeg", {words_of(film), {ends[0], said, said, -1}}, made->child_);
        close(ends[0]);
        made->pipe_ = ends[1];
        fcntl(made->pipe_, F_SETFL, O_NONBLOCK);  // frame() can be stopped
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
        if (stopped()) return false;
        const ssize_t wrote = write(pipe_, image.rgba.data() + at, image.rgba.size() - at);
        if (wrote > 0) {
            at += static_cast<size_t>(wrote);
        } else if (wrote < 0 && errno == EAGAIN) {
            pollfd room{pipe_, POLLOUT, 0};
            poll(&room, 1, static_cast<int>(kPoll.count()));
        } else if (wrote == 0 || errno != EINTR) {
            refused_ = true;
            return false;
        }
    }
    return true;
}

Result<void> Ffmpeg::finish() {
    const int status = wait();
    struct stat file {};
    const bool wrote = stat(path_.c_str(), &file) == 0 && file.st_size > 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && wrote && !refused_) return {};
    std::string said = one_line(said_.last_words());
    if (said.empty())
        said = WIFSIGNALED(status) ? fmt::format("it was ended by signal {}", WTERMSIG(status))
               : refused_          ? "it ended early"
                                   : "it wrote nothing";
    return Error{fmt::format("ffmpeg could not make the film ({}); try another format or size", said)};
}

}  // namespace tilescope::platform
