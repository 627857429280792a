// What the program asks of a desktop, or of what stands in for one, and the pictures that come of it. Behind
// it are a window of GLFW's (glfw.cpp), a framebuffer of EGL's without a display (egl.cpp), and the canvas of a page
// (web.cpp). The first two have an OpenGL 3.3 core context, a page OpenGL ES 3.0, which is current on this thread until
// destruction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/input.h"
#include "core/base/result.h"

namespace tilescope::platform {

struct Canvas {
    int width = 1600, height = 1000;  // framebuffer pixels
    float scale = 1;                  // framebuffer pixels per logical pixel of the display
};

struct WindowPlace {  // of a window's upper left corner, on the desktop
    int x = 0, y = 0;
};

struct Image {
    int width = 0, height = 0;
    std::vector<uint8_t> rgba;  // [height][width][4], top row first
    const uint8_t* at(int x, int y) const {
        return rgba.data() +
               size_t{4} * (static_cast<size_t>(width) * static_cast<size_t>(y) + static_cast<size_t>(x));
    }
};
// Pixels of the framebuffer that is bound, `high` pixels high, opaque. x, y: the upper left one of them.
Image read_pixels(int x, int y, int width, int height, int high);
// The bytes of a PNG file; empty where there is too little memory.
std::string encode_png(const Image& image);
// The file is there whole or not at all.
Result<void> write_png(const Image& image, const std::string& path);

// What a page tells those around it: who does not see it, and a page that it is a frame of.
struct Told {
    uint64_t step = 0;  // of the recording, from 1 on; 0: there is none, or it is not to be known yet
    std::string block;  // "block (0,1)"
    std::string words;  // what the window says, as plain text
    std::string link;   // to what is shown (app/link.h)
};

class Backend {
public:
    virtual ~Backend() = default;
    virtual Canvas canvas() const = 0;
    virtual void show() = 0;  // the frame just drawn; returns once it is on its way

    // Sleeps until something happens, so many seconds at most. A page does not: the browser calls the next turn.
    virtual void wait(double /*seconds*/) {}
    // Something that collect() has not told yet, as far as is known.
    virtual bool happened() const { return false; }
    virtual Input collect() = 0;  // what happened since the last call
    virtual bool asked_to_close() const { return false; }

    virtual void set_title(const std::string&) {}
    virtual void offer_clipboard() {}                                // to ImGui's current context
    virtual std::optional<WindowPlace> place() const { return {}; }  // none where the desktop does not say
    virtual void logical_size(int& /*width*/, int& /*height*/) const {}  // as open_window takes it

    // Which context it draws into: another one after it was lost, and none in between.
    virtual std::optional<unsigned> context() const { return 0; }
    virtual bool tells() const { return false; }
    virtual void tell(const Told&) {}
    virtual void keep(const std::string& /*path*/) {}  // what is remembered was written there

    Image read() const;  // what was drawn, opaque
};

// Sizes in logical pixels; made smaller where the screen is. place: left to the desktop where none is given
// or no monitor shows it. Fails in one sentence where there is no display or no OpenGL 3.3.
Result<std::unique_ptr<Backend>> open_window(int width, int height, const std::string& title,
                                             std::optional<WindowPlace> place = std::nullopt);

// A framebuffer to draw pictures into.
Result<std::unique_ptr<Backend>> open_offscreen(int width, int height);

// In the current context, to draw a picture into; bound while it lives.
class Framebuffer {
public:
    static Result<std::unique_ptr<Framebuffer>> create(int width, int height);
    ~Framebuffer();
    Framebuffer(const Framebuffer&) = delete;
    Framebuffer& operator=(const Framebuffer&) = delete;

private:
    Framebuffer() = default;
    unsigned framebuffer_ = 0, color_ = 0;
    int former_ = 0;  // what was bound before
};

// How the text of every shader begins: the language's version, and what it asks to be said.
std::string_view shader_head();

// What draws, in OpenGL's words: "llvmpipe (LLVM 15.0.6, 256 bits)". Needs a current context.
std::string renderer();

}  // namespace tilescope::platform
