// One frame, the same for the window and for the picture without a display.
//
//   platform::Backend    collects Input, has a GL context
//     -> Frame::build    ImGui frame around draw_frame(): pure CPU
//     -> Frame::render   OpenGL, into whatever framebuffer is bound
#pragma once

#include <memory>
#include <string>

#include "app/app.h"
#include "app/draw/inspection.h"
#include "core/base/result.h"

namespace tilescope::app {

class Frame {
public:
    // Needs a current OpenGL 3.3 core context, and keeps an ImGui context of its own.
    static Result<std::unique_ptr<Frame>> create();
    ~Frame();

    // still: time stands at 0, so that the same state makes the same picture.
    struct Outcome {
        bool another_frame = false, soon = false, quit = false;
        double build_ms = 0;
    };
    Outcome build(State& state, const platform::Input& input, const Canvas& canvas, bool still) {
        return build(state, input, canvas, still, true);
    }
    void render();  // viewport, clear, draw; the caller shows it
    // The state as an SVG picture (draw/svg.h): a still frame of its own, in place of what build() made.
    std::string svg(State& state, const Canvas& canvas);
    void inspect(draw::Inspection* into);  // what each frame from now on writes; null for nothing
    const std::string& notice() const;     // fonts missing, say; one sentence or empty

private:
    struct Parts;
    explicit Frame(std::unique_ptr<Parts> parts);
    Outcome build(State& state, const platform::Input& input, const Canvas& canvas, bool still,
                  bool clear_surfaces);
    std::unique_ptr<Parts> parts_;
};

}  // namespace tilescope::app
