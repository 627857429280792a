// One frame, the same for the window and for the picture without a display.
//
//   platform (window.h or headless.h)   collects Input, has a GL context
//     -> Frame::build    ImGui frame around draw_screen(): pure CPU
//     -> Frame::render   OpenGL, into whatever framebuffer is bound
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/draw/fonts.h"
#include "app/draw/grid_renderer.h"
#include "app/draw/inspection.h"
#include "app/draw/surface.h"
#include "app/draw/theme.h"
#include "app/platform/input.h"
#include "app/state.h"
#include "core/base/result.h"

namespace tilescope::app {

struct Canvas {
    int width = 1600, height = 1000;  // framebuffer pixels
    float scale = 1;                  // framebuffer pixels per logical pixel of the display
};

// What a screen draws with. Valid for one call of draw_screen.
struct DrawContext {
    Canvas canvas;
    float scale = 1;  // canvas.scale * state.text_scale: multiply every logical size by it
    const draw::Palette& palette;
    const draw::Fonts& fonts;
    draw::GridRenderer& grids;
    std::vector<draw::Surface>* surfaces = nullptr;  // cleared under the draw lists; null: drawn in them
    double time = 0;                                 // seconds since the program started; fixed in pictures
    bool still = false;                              // a picture: nothing may depend on time
    bool typing = false;                             // a text field has the keyboard: key bindings are off
    bool another_frame = false;                      // out: something moves, draw again at once
    bool soon = false;                       // out: work goes on beside the window, look again before long
    bool quit = false;                       // out: close the window
    draw::Inspection* inspection = nullptr;  // notes what is written, where a test asks
};

// The screen. Inside an ImGui frame; draws windows or straight into ImGui::GetBackgroundDrawList().
// Handles keys too, unless context.typing. Defined in app/screens/.
void draw_screen(State& state, const platform::Input& input, DrawContext& context);

// "tiled 64x64x64 T=16 - step 12 of 9728 - Tilescope"; steps count from 1, as on the screen.
std::string window_title(const State& state);

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
