// A window of the desktop with an OpenGL 3.3 core context, and what the person does in it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/platform/input.h"
#include "core/base/result.h"

namespace tilescope::platform {

class Window {
public:
    struct Place {
        int x = 0, y = 0;
    };
    // Sizes in logical pixels; made smaller where the screen is. The context is current on this thread.
    // place: of the upper left corner; left to the desktop where none is given or no monitor shows it.
    static Result<std::unique_ptr<Window>> create(int width, int height, const std::string& title,
                                                  std::optional<Place> place = std::nullopt);
    ~Window();

    // What happened since the last call. wait: seconds to sleep for something to happen, at most.
    Input collect(double wait);
    bool asked_to_close() const;
    bool eventful() const;  // the last collect() brought more than the passing of time
    int width() const;      // framebuffer pixels
    int height() const;
    float scale() const;                               // framebuffer pixels per logical pixel
    void set_title(const std::string& title);          // does nothing when it is that already
    std::optional<Place> place() const;                // none where the desktop does not say, as on Wayland
    void logical_size(int& width, int& height) const;  // as create() takes it
    void offer_clipboard();                            // to ImGui's current context
    void show();                                       // the frame just drawn; waits for the screen

private:
    struct Parts;
    explicit Window(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace tilescope::platform
