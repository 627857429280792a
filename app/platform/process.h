// Other programs: this one's own command line as a child process, and ffmpeg, fed with pictures through a
// pipe: one at a time, so a film takes no more memory than a picture. A child ends with this program, however
// that ends: the kernel sends it a signal then (Linux, prctl(2), PR_SET_PDEATHSIG).
//
//   GIF   256 colours chosen for every frame: type stays crisp, nothing is dithered. With motion frames are
//         many and much alike: those that are the same become one that lasts, the others hold what changed,
//         in 256 colours chosen from the first hundred different ones. A tenth of the size and of the time.
//         The last picture lasts a second, however long it stood: how long is not known when it is the same
//         to the end.
//   MP4   H.264, yuv420p, which every browser plays; its header in front, so that it starts at once
//
// Source: ffmpeg's documentation, "palettegen", "paletteuse", "mpdecimate", "gif", "rawvideo", "libx264".
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/backend.h"
#include "core/base/result.h"

namespace tilescope::platform {

struct Ran {
    bool good = false;     // it ended with status 0
    std::string out, err;  // all that it wrote
};

// Where a child finds the bytes that it is given: a file without a name, which nobody else can put there.
inline constexpr const char* kGivenFile = "/proc/self/fd/3";

// This program, as Linux names it for itself (proc(5)).
inline constexpr const char* kThisProgram = "/proc/self/exe";

// A file without a name, for what a child writes.
struct ChildOutput {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};
    uint64_t size() const;                               // bytes written so far
    std::string part(uint64_t from, size_t most) const;  // of what is there so far
    std::string text() const;
    std::string last_words() const;  // the last line that is not empty
};

struct ChildWatch {
    std::string program = kThisProgram;      // or what stands in for it in a test
    std::vector<std::string> environment{};  // NAME=VALUE, beside this program's or in place of it
    std::function<void(const ChildOutput& err)> look{};  // every few frames, at what it has written so far
};

// Calls this program with `arguments` and waits until it has ended. It reads nothing from the terminal.
// given: the bytes of kGivenFile. stop: ends it early, with Ctrl-C's signal first, upon which it takes
// half-written files away; this program's own end does the same. Fails in one sentence where it cannot be
// started.
Result<Ran> run_self(std::vector<std::string> arguments, std::string_view given,
                     const std::atomic<bool>& stop, const ChildWatch& watch = {});

struct Film {
    enum class Format : uint8_t { Gif, Mp4 } format = Format::Gif;
    int width = 1280, height = 720;  // pixels; MP4 asks for even ones
    uint32_t fps = 8;                // frames a second
    std::string path;
    bool motion = false;                      // most frames are the same as the one before
    const std::atomic<bool>* stop = nullptr;  // ends it early: the file is then of no use
};

class Ffmpeg {
public:
    // Fails in one sentence where ffmpeg is not installed.
    static Result<std::unique_ptr<Ffmpeg>> start(const Film& film);
    ~Ffmpeg();  // ends the program where it still runs

    bool frame(const Image& image);  // false once ffmpeg takes no more, or is to stop
    Result<void> finish();           // waits for the file; says what ffmpeg complained of

private:
    explicit Ffmpeg(const Film& film);
    int wait();  // until it has ended; its exit status
    bool stopped() const { return stop_ != nullptr && *stop_; }

    int child_ = -1, pipe_ = -1;  // process id of ffmpeg; its standard input
    std::string path_;
    const std::atomic<bool>* stop_;
    bool refused_ = false;  // a frame
    ChildOutput said_;
    void (*const former_)(int);  // how SIGPIPE was handled before
};

}  // namespace tilescope::platform
