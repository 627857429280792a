// Other programs: this one's own command line as a child process, and ffmpeg, fed with pictures through a
// pipe: one at a time, so a film takes no more memory than a picture.
//
//   GIF   256 colours chosen for every frame: type stays crisp, nothing is dithered
//   MP4   H.264, yuv420p, which every browser plays; its header in front, so that it starts at once
//
// Source: ffmpeg's documentation, "palettegen", "paletteuse", "rawvideo", "libx264".
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/platform/backend.h"
#include "core/base/result.h"

namespace tilescope::platform {

struct Ran {
    bool good = false;     // it ended with status 0
    std::string out, err;  // all that it wrote
};

// Calls this program with `arguments` and waits until it has ended. stop: ends it early, with Ctrl-C's signal
// first, upon which it takes half-written files away. Fails in one sentence where it cannot be started.
Result<Ran> run_self(std::vector<std::string> arguments, const std::atomic<bool>& stop);

struct Film {
    enum class Format : uint8_t { Gif, Mp4 } format = Format::Gif;
    int width = 1280, height = 720;  // pixels; MP4 asks for even ones
    uint32_t fps = 8;                // frames a second
    std::string path;
};

// A file without a name, for what a child writes.
struct Output {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};
    std::string text() const;
};

class Ffmpeg {
public:
    // Fails in one sentence where ffmpeg is not installed.
    static Result<std::unique_ptr<Ffmpeg>> start(const Film& film);
    ~Ffmpeg();  // ends the program where it still runs

    bool frame(const Image& image);  // false once ffmpeg takes no more
    Result<void> finish();           // waits for the file; says what ffmpeg complained of

private:
    Ffmpeg();
    int wait();  // until it has ended; its exit status

    int child_ = -1, pipe_ = -1;  // its process; its standard input
    Output said_;
    void (*const former_)(int);  // what SIGPIPE did
};

}  // namespace tilescope::platform
