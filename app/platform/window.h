// A window of the desktop with an OpenGL 3.3 core context, and what the person does in it.
#pragma once

#include <memory>
#include <string>

#include "app/platform/input.h"
#include "core/base/result.h"

namespace tilescope::platform {

class Window {
public:
    // Sizes in logical pixels; made smaller where the screen is. The context is current on this thread.
    static Result<std::unique_ptr<Window>> create(int width, int height, const std::string& title);
    ~Window();

    // What happened since the last call. wait: seconds to sleep for something to happen, at most.
    Input collect(double wait);
    bool asked_to_close() const;
    bool eventful() const;  // the last collect() brought more than the passing of time
    int width() const;      // framebuffer pixels
    int height() const;
    float scale() const;                       // framebuffer pixels per logical pixel
    void set_title(const std::string& title);  // does nothing when it is that already
    void offer_clipboard();                    // to ImGui's current context
    void show();                               // the frame just drawn; waits for the screen

private:
    struct Parts;
    explicit Window(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace tilescope::platform
