// Pictures without a display: the window's own frame, drawn into a framebuffer of EGL's.
#include "app/frame.h"
#include "app/platform/ffmpeg.h"
#include "app/run.h"

namespace tilescope::app {

namespace {

struct Stage {
    std::unique_ptr<platform::Backend> offscreen;
    std::unique_ptr<Frame> frame;  // goes before its context
    Canvas canvas;

    // ImGui settles its layout in the first frames; the third is the picture.
    void build(State& state, int frames) {
        platform::Input input;
        input.dt = 1.0 / 60;
        for (int i = 0; i < frames; ++i) frame->build(state, input, canvas, true);
    }
    platform::Image picture() {
        frame->render();
        return offscreen->read();
    }
};

Result<Stage> stage(int width, int height, float scale) {
    auto offscreen = platform::open_offscreen(width, height);
    if (!offscreen) return offscreen.error();
    auto frame = Frame::create();
    if (!frame) return frame.error();
    return Stage{std::move(*offscreen), std::move(*frame), Canvas{width, height, scale}};
}

}  // namespace

Result<void> render_png(State state, const RenderOptions& options) {
    auto made = stage(options.width, options.height, options.scale);
    if (!made) return made.error();
    made->build(state, 3);
    return platform::write_png(made->picture(), options.path);
}

Result<std::string> render_svg(State state, const RenderOptions& options) {
    auto made = stage(options.width, options.height, options.scale);
    if (!made) return made.error();
    return made->frame->svg(state, made->canvas);
}

Result<void> render_film(State state, const FilmOptions& options) {
    auto ffmpeg = platform::Ffmpeg::start(options);
    if (!ffmpeg) return ffmpeg.error();
    auto made = stage(options.width, options.height, 1);
    if (!made) return made.error();
    const trace::Trace& trace = state.session.trace();
    made->build(state, 2);
    for (uint64_t step = options.first; step < options.end; ++step) {
        if (options.stop && *options.stop) return {};
        const uint32_t block = trace::block_of(trace, step);
        state.session.cursor = {block, static_cast<uint32_t>(step - trace.blocks[block].first)};
        made->build(state, 1);
        if (!(*ffmpeg)->frame(made->picture())) break;  // finish says why
        if (options.done) options.done->fetch_add(1);
    }
    return (*ffmpeg)->finish();
}

}  // namespace tilescope::app
