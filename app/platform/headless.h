// An OpenGL 3.3 core context without a display, through EGL, and a framebuffer to draw a picture into.
//
// Tried in this order: Mesa's surfaceless platform (software or a GPU, no display server), the devices
// that EGL lists (other vendors' drivers), the default display.
#pragma once

#include <memory>
#include <string>

#include "app/platform/png.h"
#include "core/base/result.h"

namespace tilescope::platform {

// What was drawn into the framebuffer that is bound, opaque.
Image read_pixels(int width, int height);

class Headless {
public:
    // The context is current on this thread until destruction; the framebuffer is bound.
    static Result<std::unique_ptr<Headless>> create(int width, int height);
    ~Headless();
    Image read() const;            // what was drawn
    void finish() const;           // waits until all of it is drawn
    std::string renderer() const;  // what draws, in OpenGL's words: "llvmpipe (LLVM 15.0.6, 256 bits)"

private:
    struct Parts;
    explicit Headless(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace tilescope::platform
