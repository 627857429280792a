#include "app/platform/process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/process.h"
#include "core/base/text.h"

namespace tilescope::platform {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);

std::vector<std::string> words_of(const Film& film) {
    // A picture that stands for long comes again every 40 frames, so that how long it stood is known.
    std::string words = fmt::format(
        "ffmpeg -hide_banner -loglevel error -nostdin -y -f rawvideo -pix_fmt rgba -s {}x{} -r {} -i pipe:0 ",
        film.width, film.height, film.fps);
    const bool gif = film.format == Film::Format::Gif;
    words += gif && film.motion ? "-filter_complex [0:v]mpdecimate=max=40:hi=64:lo=64:frac=0,split[a][b];"
                                  "[a]trim=end_frame=100,palettegen=stats_mode=diff[p];"
                                  "[b][p]paletteuse=dither=none:diff_mode=rectangle -final_delay 100 -f gif"
             : gif              ? "-filter_complex [0:v]split[a][b];[a]palettegen=stats_mode=single[p];"
                                  "[b][p]paletteuse=new=1:dither=none -f gif"
                   : "-c:v libx264 -preset veryfast -crf 18 -pix_fmt yuv420p -movflags +faststart -f mp4";
    std::vector<std::string> all{""};
    for (const char c : words) c == ' ' ? all.emplace_back() : all.back() += c;
    all.push_back("file:" + film.path);  // may have spaces
    return all;
}

}  // namespace

uint64_t ChildOutput::size() const {
    struct stat now {};
    return fstat(fileno(file.get()), &now) == 0 ? static_cast<uint64_t>(now.st_size) : 0;
}

// By pread: the child writes where the file's own offset stands, which they share.
std::string ChildOutput::part(uint64_t from, size_t most) const {
    std::string text(most, '\0');
    const ssize_t got = pread(fileno(file.get()), text.data(), most, static_cast<off_t>(from));
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
}

std::string ChildOutput::text() const {
    std::string text;
    char part[4096];
    std::rewind(file.get());
    while (const size_t read = std::fread(part, 1, sizeof part, file.get())) text.append(part, read);
    return text;
}

std::string ChildOutput::last_words() const {
    std::string said = text();
    said.erase(said.find_last_not_of(" \r\n") + 1);
    return said.substr(said.find_last_of("\r\n") + 1);
}

Result<Ran> run_self(std::vector<std::string> arguments, std::string_view given,
                     const std::atomic<bool>& stop, const ChildWatch& watch) {
    const ChildOutput nothing, in, out, err;
    if (!nothing.file || !in.file || !out.file || !err.file)
        return Error{"There is no room for a temporary file; free some and try again."};
    const bool written =
        given.empty() || std::fwrite(given.data(), 1, given.size(), in.file.get()) == given.size();
    if (!written || std::fflush(in.file.get()) != 0)
        return Error{fmt::format("A temporary file could not be written: {}; free some room and try again.",
                                 std::strerror(errno))};
    arguments.insert(arguments.begin(), "tilescope");
    pid_t child = -1;
    ProcessStart start{
        std::move(arguments),
        {fileno(nothing.file.get()), fileno(out.file.get()), fileno(err.file.get()), fileno(in.file.get())},
        SIGTERM,
        watch.environment};
    if (const int why = start_process(watch.program.c_str(), std::move(start), child))
        return Error{fmt::format("The program could not call itself: {}; use its command line instead.",
                                 std::strerror(why))};
    // A program that is recorded writes what it has when it is stopped.
    constexpr std::chrono::minutes kToKeep{2};
    const auto look = [&] {
        if (watch.look) watch.look(err);
    };
    const int status = wait_for_process(child, &stop, SIGINT, true, look, kToKeep);
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
    return child_ > 0 ? wait_for_process(std::exchange(child_, -1), stop_, SIGKILL) : 0;
}

Result<std::unique_ptr<Ffmpeg>> Ffmpeg::start(const Film& film) {
    std::unique_ptr<Ffmpeg> made(new Ffmpeg(film));
    int ends[2];
    const bool ready = made->said_.file && pipe2(ends, O_CLOEXEC) == 0;
    int why = errno;
    if (ready) {
        const int said = fileno(made->said_.file.get());
        why = start_process("ffmpeg", {words_of(film), {ends[0], said, said, -1}, SIGKILL, {}}, made->child_);
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
