// A picture without a display: the window's own frame, drawn into a framebuffer of EGL's.
#include "app/app.h"
#include "app/frame.h"
#include "app/platform/headless.h"

namespace tilescope::app {

Result<void> render_png(State state, const RenderOptions& options) {
    auto headless = platform::Headless::create(options.width, options.height);
    if (!headless) return headless.error();
    auto frame = Frame::create();
    if (!frame) return frame.error();
    // ImGui settles its layout in the first frames; the third is the picture.
    const Canvas canvas{options.width, options.height, options.scale};
    platform::Input input;
    input.dt = 1.0 / 60;
    for (int i = 0; i < 3; ++i) (*frame)->build(state, input, canvas, true);
    (*frame)->render();
    return platform::write_png((*headless)->read(), options.path);
}

}  // namespace tilescope::app
