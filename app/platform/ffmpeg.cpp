#include "app/platform/ffmpeg.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT: as POSIX has it

namespace tilescope::platform {

namespace {

// A write to a program that has ended is an error to look at, not the end of this one.
class IgnorePipe {
public:
    IgnorePipe() {
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        sigaction(SIGPIPE, &ignore, &former_);
    }
    ~IgnorePipe() { sigaction(SIGPIPE, &former_, nullptr); }
    IgnorePipe(const IgnorePipe&) = delete;
    IgnorePipe& operator=(const IgnorePipe&) = delete;

private:
    struct sigaction former_ {};
};

std::vector<std::string> arguments(const Film& o) {
    std::vector<std::string> words = {"ffmpeg",    "-hide_banner",
                                      "-loglevel", "error",
                                      "-nostdin",  "-y",
                                      "-f",        "rawvideo",
                                      "-pix_fmt",  "rgba",
                                      "-s",        fmt::format("{}x{}", o.width, o.height),
                                      "-r",        fmt::to_string(o.fps),
                                      "-i",        "pipe:0"};
    const std::vector<std::string> gif = {
        "-filter_complex",
        "[0:v]split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=none", "-f",
        "gif"};
    const std::vector<std::string> mp4 = {"-c:v",     "libx264", "-preset",   "veryfast",   "-crf", "18",
                                          "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f",   "mp4"};
    const auto& more = o.format == Film::Format::Gif ? gif : mp4;
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("file:" + o.path);
    return words;
}

}  // namespace

struct Ffmpeg::Parts {
    pid_t child = -1;
    int pipe = -1;              // its standard input
    std::FILE* said = nullptr;  // its standard error
    IgnorePipe ignore;

    int wait() {
        if (pipe >= 0) close(pipe);
        pipe = -1;
        int status = 0;
        if (child > 0) {
            while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
            }
        }
        child = -1;
        return status;
    }
    ~Parts() {
        if (child > 0) kill(child, SIGKILL);
        wait();
        if (said) std::fclose(said);
    }
};

Ffmpeg::Ffmpeg(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Ffmpeg::~Ffmpeg() = default;

Result<std::unique_ptr<Ffmpeg>> Ffmpeg::start(const Film& film) {
    auto parts = std::make_unique<Parts>();
    parts->said = std::tmpfile();
    int ends[2];
    if (!parts->said || pipe2(ends, O_CLOEXEC) != 0)
        return Error{fmt::format("ffmpeg could not be started: {}; try again", std::strerror(errno))};
    std::vector<std::string> words = arguments(film);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, fileno(parts->said), STDERR_FILENO);
    // A process group of its own: Ctrl-C is this program's to answer.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    const int why = posix_spawnp(&parts->child, "ffmpeg", &files, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(ends[0]);
    parts->pipe = ends[1];
    if (why != 0) {
        parts->child = -1;
        return Error{
            why == ENOENT
                ? std::string("films are made by the program ffmpeg, which is not installed; install "
                              "the package ffmpeg, or export png or svg")
                : fmt::format("ffmpeg could not be started: {}; try again", std::strerror(why))};
    }
    return std::unique_ptr<Ffmpeg>(new Ffmpeg(std::move(parts)));
}

bool Ffmpeg::frame(const Image& image) {
    for (size_t at = 0; at < image.rgba.size();) {
        const ssize_t wrote = write(parts_->pipe, image.rgba.data() + at, image.rgba.size() - at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        at += static_cast<size_t>(wrote);
    }
    return true;
}

Result<void> Ffmpeg::finish() {
    const int status = parts_->wait();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    std::rewind(parts_->said);
    char first[200] = "";
    if (!std::fgets(first, sizeof first, parts_->said)) std::strcpy(first, "it ended early");
    first[std::strcspn(first, "\r\n")] = 0;
    return Error{fmt::format("ffmpeg could not make the film ({}); try another format or size", first)};
}

}  // namespace tilescope::platform
