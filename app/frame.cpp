// A frame, and pictures of it: what the window shows, and without a display the window's own frame, drawn
// into a framebuffer of EGL's.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/app.h"
#include "app/draw/list_renderer.h"
#include "app/draw/svg.h"
#include "app/platform/gl.h"
#include "core/base/stop.h"
#include "core/recording/recording.h"

namespace tilescope::app {

namespace {

constexpr const char* kNoPanel = "that panel is not on the screen any more; point at it once more";

// A copy that is drawn: what the window's own state has under way goes on there, keys for its form among it.
void stand_still(State& state) {
    state.session.playback.playing = false;
    state.input.form.keys.clear();
    static_cast<session::UnderWay&>(state.session) = {};
}
// And nothing lies over the panels.
void clear_away(State& state) {
    stand_still(state);
    state.session.message.clear();
    state.session.blank = false;
    state.input = {};
}

}  // namespace

Frame::~Frame() {
    ImGui::SetCurrentContext(imgui_);
    grids_.reset();
    lists_.reset();
    ImGui::DestroyContext(imgui_);
}

Result<std::unique_ptr<Frame>> Frame::create() {
    auto grids = draw::GridRenderer::create();
    if (!grids) return grids.error();
    std::unique_ptr<Frame> frame(new Frame);
    frame->grids_ = std::move(*grids);
    frame->imgui_ = ImGui::CreateContext();
    ImGui::SetCurrentContext(frame->imgui_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;  // the layout is the screen's, the same every time
    io.LogFilename = nullptr;
    io.ConfigInputTextCursorBlink = false;
    auto lists = draw::ListRenderer::create();
    if (!lists) return lists.error();
    frame->lists_ = std::move(*lists);
    return frame;
}

// Type and style for this theme and scale; cheap when nothing changed.
void Frame::dress(const draw::Palette& palette, float scale) {
    const bool rebuilt = fonts_.ensure(scale);
    if (rebuilt) lists_->upload_type();
    if (rebuilt || styled_ != &palette) draw::apply_style(palette, scale);
    styled_ = &palette;
}

// Type grows with a window that is larger than 1920 x 1080, and shrinks with one that is smaller than what panels need; in
// steps, so that dragging its edge does not make the fonts anew in every frame.
static float scale_of_window(const Canvas& canvas, bool shrinks) {
    const float wide = static_cast<float>(canvas.width) / canvas.scale,
                high = static_cast<float>(canvas.height) / canvas.scale;
    const float room = std::min(wide / kLeastWidth, high / kLeastHeight);
    if (shrinks && room < 1) return std::max(std::floor(room * 24 + 0.01f), 6.f) / 24;
    return std::clamp(std::floor(std::min(high / 1080, wide / 1920) * 12 + 0.01f) / 12, 1.f, 2.f);
}

// Framebuffer pixels per logical pixel, the size of type included. Pages and pictures of the subject alone have sizes of
// their own.
static float scale_of(const State& state, const Canvas& canvas) {
    const session::Session& session = state.session;
    const bool shrinks = !state.paper && !state.step.subject;
    return canvas.scale * session.text_scale * scale_of_window(canvas, shrinks) *
           (session.lecture ? session::kLectureScale : 1.f);
}

Frame::BuiltFrame Frame::build(State& state, const platform::Input& input, const Canvas& canvas, bool still,
                               bool waits) {
    const auto start = std::chrono::steady_clock::now();
    ImGui::SetCurrentContext(imgui_);
    const session::Session& session = state.session;
    input::RecordForm& form = state.input.form;
    const draw::Palette& palette = draw::palette(session.theme, session.lecture);
    const float scale = scale_of(state, canvas);
    canvas_ = canvas;
    dress(palette, scale);
    if (!still) time_ += input.dt;
    if (!form.open) form.keys.clear();
    feed_.feed(input, canvas.width, canvas.height, form.open ? &form.keys : nullptr);
    ImGui::NewFrame();
    grids_->begin_frame();
    surfaces_.clear();
    panels_.clear();
    draw::DrawContext context{scale, palette, fonts_, *grids_};
    if (clears_surfaces_) context.surfaces = &surfaces_;
    context.panels = &panels_;
    context.time = still ? 0 : time_;
    context.still = still;
    context.waits = waits;
    context.typing = ImGui::GetIO().WantTextInput;
    context.inspection = inspection_;
    if (inspection_) *inspection_ = {};
    draw_frame(state, input, canvas, context);
    ImGui::Render();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return {context.another_frame, context.soon, took.count()};
}

void Frame::render() {
    const auto clear = [&](draw::Rgba color, float x0, float y0, float x1, float y1) {
        if (x0 >= x1 || y0 >= y1) return;
        const auto part = [&](int shift) { return static_cast<float>(color >> shift & 0xFF) / 255.f; };
        glClearColor(part(0), part(8), part(16), 1);
        glScissor(static_cast<int>(x0), canvas_.height - static_cast<int>(y1), static_cast<int>(x1 - x0),
                  static_cast<int>(y1 - y0));
        glClear(GL_COLOR_BUFFER_BIT);
    };
    glViewport(0, 0, canvas_.width, canvas_.height);
    glEnable(GL_SCISSOR_TEST);
    clear((*styled_)[draw::Ink::Ground], 0, 0, static_cast<float>(canvas_.width),
          static_cast<float>(canvas_.height));
    for (const auto& [min, max, r, color] : surfaces_) {  // all but the corners
        clear(color, min.x + r, min.y, max.x - r, max.y);
        clear(color, min.x, min.y + r, min.x + r, max.y - r);
        clear(color, max.x - r, min.y + r, max.x, max.y - r);
    }
    lists_->draw(*ImGui::GetDrawData());
}

// The state as polygons without ImGui's own smoothing, for `use`. Buttons of the mouse that are held stay held: ImGui
// would take one that came back for another press.
void Frame::build_as_polygons(State& state, const Canvas& canvas, bool waits,
                              const std::function<void()>& use) {
    ImGui::SetCurrentContext(imgui_);
    platform::Input input;
    input.dt = 1.0 / 60;
    std::copy_n(ImGui::GetIO().MouseDown, std::size(input.mouse_down), input.mouse_down);
    clears_surfaces_ = false;
    build(state, input, canvas, true, waits);  // sets the style that is changed here
    ImGuiStyle& style = ImGui::GetStyle();
    const ImGuiStyle kept = style;
    style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = false;
    for (int i = 0; i < 2; ++i) build(state, input, canvas, true, waits);
    use();
    style = kept;
    clears_surfaces_ = true;
}

std::string Frame::svg(State state, const Canvas& canvas, bool waits) {
    stand_still(state);
    std::string text;
    build_as_polygons(state, canvas, waits, [&] {
        text = draw::svg_of(*ImGui::GetDrawData(), (*styled_)[draw::Ink::Ground], window_title(state));
    });
    return text;
}

Result<std::string> Frame::svg_of_panel(State state, const Canvas& canvas, const session::PanelAt& at) {
    clear_away(state);
    std::optional<std::string> text;
    build_as_polygons(state, canvas, false, [&] {
        if (const draw::Panel* const found = panel(at)) {
            const auto& [low, high] = found->rect;
            text = draw::svg_of(
                *ImGui::GetDrawData(), (*styled_)[draw::Ink::Ground], window_title(state),
                draw::PixelBox{std::round(low.x), std::round(low.y), std::round(high.x), std::round(high.y)});
        }
    });
    if (!text) return Error{kNoPanel};
    return std::move(*text);
}

const draw::Panel* Frame::panel(const session::PanelAt& at) const {
    const ImVec2 point{at.x * static_cast<float>(canvas_.width), at.y * static_cast<float>(canvas_.height)};
    const draw::Panel *same = nullptr, *there = nullptr;  // the last one lies on top
    for (const draw::Panel& panel : panels_) {
        if (!panel.rect.contains(point)) continue;
        there = &panel;
        if (panel.name == at.name) same = &panel;
    }
    return same != nullptr ? same : there;
}

Result<platform::Image> panel_image(State state, const Canvas& shown, const session::PanelAt& at) {
    constexpr float kMostScale = 4;  // type that is larger asks for very large textures
    const int times = scale_of(state, shown) * 2 <= kMostScale ? 2 : 1;
    const Canvas canvas{shown.width * times, shown.height * times, shown.scale * static_cast<float>(times)};
    auto framebuffer = platform::Framebuffer::create(canvas.width, canvas.height);
    if (!framebuffer) return framebuffer.error();
    ImGuiContext* const before = ImGui::GetCurrentContext();
    auto frame = Frame::create();  // with type of that size; the window's stays
    if (!frame) return frame.error();
    clear_away(state);
    platform::Input input;
    input.dt = 1.0 / 60;
    for (int i = 0; i < 3; ++i) (*frame)->build(state, input, canvas, true, false);
    const draw::Panel* const found = (*frame)->panel(at);
    Result<platform::Image> image = Error{kNoPanel};
    if (found != nullptr) {
        (*frame)->render();
        const auto pixel = [](float side, int most) {
            return std::clamp(static_cast<int>(std::lround(side)), 0, most);
        };
        const int x0 = pixel(found->rect.min.x, canvas.width), x1 = pixel(found->rect.max.x, canvas.width),
                  y0 = pixel(found->rect.min.y, canvas.height), y1 = pixel(found->rect.max.y, canvas.height);
        image = platform::read_pixels(x0, y0, x1 - x0, y1 - y0, canvas.height);
    }
    frame->reset();
    ImGui::SetCurrentContext(before);
    return image;
}

namespace {

struct OffscreenFrame {
    std::unique_ptr<platform::Backend> offscreen;
    std::unique_ptr<Frame> frame;  // goes before its context
    Canvas canvas;

    // ImGui settles its layout in the first frames; the third is the picture.
    void build(State& state, int frames) {
        const platform::Input input = offscreen->collect();
        for (int i = 0; i < frames; ++i) frame->build(state, input, canvas, true, true);
    }
    platform::Image picture() {
        frame->render();
        return offscreen->read();
    }
};

Result<OffscreenFrame> stage(int width, int height) {
    auto offscreen = platform::open_offscreen(width, height);
    if (!offscreen) return offscreen.error();
    auto frame = Frame::create();
    if (!frame) return frame.error();
    return OffscreenFrame{std::move(*offscreen), std::move(*frame), Canvas{width, height, 1}};
}

// As long as the caption of the step takes to read; two seconds on other screens, whose words stay.
double seconds_to_read(const State& state, step::ReadingTime& reading) {
    const session::Session& session = state.session;
    if (session.screen != session::kStepScreen || !session.block) return 2;
    return reading.seconds(
        step::caption(session.trace(), *session.block, session.replay.get(), session.cursor.step));
}

}  // namespace

Result<void> render_png(State state, const RenderOptions& options) {
    auto made = stage(options.width, options.height);
    if (!made) return made.error();
    made->build(state, 3);
    return platform::write_png(made->picture(), options.path);
}

Result<std::string> render_svg(State state, const RenderOptions& options) {
    auto made = stage(options.width, options.height);
    if (!made) return made.error();
    return made->frame->svg(std::move(state), made->canvas, true);
}

long race_frames(const FilmOptions& options) {
    return std::max(1L, std::lround(options.seconds * options.fps));
}

namespace {

// Its last picture stands for as long as a conclusion takes to read.
constexpr double kConclusion = 3;  // seconds

Result<void> film_race(State& state, OffscreenFrame& stage, platform::Ffmpeg& ffmpeg,
                       const FilmOptions& options) {
    const long frames = race_frames(options), stands = std::lround(kConclusion * options.fps);
    bool taken = true;
    platform::Image picture;
    for (long frame = 0; frame <= frames + stands && taken; ++frame) {
        if (Stop{options.stop}.now()) return {};
        if (frame <= frames) {
            state.race.at = static_cast<double>(frame) / static_cast<double>(frames);
            stage.build(state, 1);
            picture = stage.picture();
        }
        taken = ffmpeg.frame(picture);
        if (options.done && frame < frames) options.done->fetch_add(1);
    }
    if (Stop{options.stop}.now()) return {};
    return ffmpeg.finish();
}

}  // namespace

Result<void> render_film(State state, const FilmOptions& options) {
    auto ffmpeg = platform::Ffmpeg::start(options);
    if (!ffmpeg) return ffmpeg.error();
    auto made = stage(options.width, options.height);
    if (!made) return made.error();
    const trace::Trace& trace = state.session.trace();
    made->build(state, 2);
    if (state.session.screen == session::kRaceScreen) return film_race(state, *made, **ffmpeg, options);
    step::ReadingTime reading;
    for (uint64_t step = options.first; step < options.end; ++step) {
        if (Stop{options.stop}.now()) return {};
        const uint32_t block = trace::block_of(trace, step);
        state.session.cursor = {block, static_cast<uint32_t>(step - trace.blocks[block].first)};
        if (options.motion) state.step.film = 0;
        made->build(state, 1);
        const double seconds = !options.motion       ? 0
                               : options.seconds > 0 ? options.seconds
                                                     : seconds_to_read(state, reading);
        const auto frames_of = [&](double length) { return std::lround(length * options.fps); };
        const long frames = std::max(1L, frames_of(seconds));
        const long moving =
            state.step.travels ? std::min(frames * 7 / 10, frames_of(state.step.motion.seconds)) : 0;
        platform::Image picture = made->picture();
        bool taken = true;
        for (long frame = 0; frame < frames && taken; ++frame) {
            if (frame > 0 && frame <= moving) {
                state.step.film = static_cast<float>(frame) / static_cast<float>(moving);
                made->build(state, 1);
                picture = made->picture();
            }
            taken = (*ffmpeg)->frame(picture) && !Stop{options.stop}.now();
        }
        if (!taken) break;  // finish says why
        if (options.done) options.done->fetch_add(1);
    }
    if (Stop{options.stop}.now()) return {};
    return (*ffmpeg)->finish();
}

}  // namespace tilescope::app
