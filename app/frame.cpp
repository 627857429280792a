#include "app/frame.h"

#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "app/draw/fonts.h"
#include "app/draw/grid_renderer.h"
#include "app/draw/surface.h"
#include "app/draw/svg.h"
#include "app/platform/gl.h"
#include "app/platform/imgui_feed.h"
#include "backends/imgui_impl_opengl3.h"

namespace tilescope::app {

struct Frame::Parts {
    ImGuiContext* imgui = nullptr;
    bool renderer = false;  // ImGui's OpenGL side is up
    platform::ImguiFeed feed;
    draw::Fonts fonts;
    std::unique_ptr<draw::GridRenderer> grids;
    const draw::Palette* styled = nullptr;
    draw::Rgba ground = 0;
    std::vector<draw::Surface> surfaces;
    Canvas canvas;
    double time = 0;
    draw::Inspection* inspection = nullptr;

    ~Parts() {
        ImGui::SetCurrentContext(imgui);
        grids.reset();
        if (renderer) ImGui_ImplOpenGL3_Shutdown();
        ImGui::DestroyContext(imgui);
    }

    // Type and style for this theme and scale; cheap when nothing changed.
    void dress(const draw::Palette& palette, float scale) {
        const bool rebuilt = fonts.ensure(scale);
#if IMGUI_VERSION_NUM < 19200
        if (rebuilt && renderer) {
            ImGui_ImplOpenGL3_DestroyFontsTexture();
            ImGui_ImplOpenGL3_CreateFontsTexture();
        }
#endif
        if (!rebuilt && styled == &palette) return;
        styled = &palette;
        draw::apply_style(palette, scale);
        ground = palette[draw::Ink::Ground];
    }
};

Frame::Frame(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Frame::~Frame() = default;

Result<std::unique_ptr<Frame>> Frame::create() {
    auto grids = draw::GridRenderer::create();
    if (!grids) return grids.error();
    auto parts = std::make_unique<Parts>();
    parts->grids = std::move(*grids);
    parts->imgui = ImGui::CreateContext();
    ImGui::SetCurrentContext(parts->imgui);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;  // the layout is the screen's, the same every time
    io.LogFilename = nullptr;
    io.ConfigInputTextCursorBlink = false;
    parts->feed.start();
    if (!ImGui_ImplOpenGL3_Init("#version 330 core"))
        return Error{"ImGui could not use this OpenGL context; OpenGL 3.3 core is needed."};
    parts->renderer = true;
    return std::unique_ptr<Frame>(new Frame(std::move(parts)));
}

Frame::Outcome Frame::build(State& state, const platform::Input& input, const Canvas& canvas, bool still,
                            bool clear_surfaces) {
    const auto start = std::chrono::steady_clock::now();
    Parts& p = *parts_;
    ImGui::SetCurrentContext(p.imgui);
    const session::Session& session = state.session;
    input::RecordForm& form = state.input.form;
    const draw::Palette& palette = draw::palette(session.theme, session.lecture);
    const float scale = canvas.scale * session.text_scale * (session.lecture ? session::kLectureScale : 1.f);
    p.canvas = canvas;
    p.dress(palette, scale);
    if (!still) p.time += input.dt;
    if (!form.open) form.keys.clear();
    p.feed.feed(input, canvas.width, canvas.height, form.open ? &form.keys : nullptr);
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    p.grids->begin_frame();
    p.surfaces.clear();
    draw::DrawContext context{scale,
                              palette,
                              p.fonts,
                              *p.grids,
                              clear_surfaces ? &p.surfaces : nullptr,
                              still ? 0 : p.time,
                              still,
                              ImGui::GetIO().WantTextInput,
                              p.inspection};
    if (p.inspection) *p.inspection = {};
    draw_frame(state, input, canvas, context);
    ImGui::Render();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return {context.another_frame, context.soon, session.quit, took.count()};
}

void Frame::render() {
    Parts& p = *parts_;
    glViewport(0, 0, p.canvas.width, p.canvas.height);
    glDisable(GL_SCISSOR_TEST);
    auto part = [&](int shift) { return static_cast<float>(p.ground >> shift & 0xFF) / 255.f; };
    glClearColor(part(0), part(8), part(16), 1);
    glClear(GL_COLOR_BUFFER_BIT);
    draw::clear_surfaces(p.surfaces, p.canvas.height);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

std::string Frame::svg(State& state, const Canvas& canvas) {
    platform::Input input;
    input.dt = 1.0 / 60;
    build(state, input, canvas, true, false);  // sets the style that is changed here
    ImGuiStyle& style = ImGui::GetStyle();
    const ImGuiStyle kept = style;
    style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = false;
    for (int i = 0; i < 2; ++i) build(state, input, canvas, true, false);
    std::string text =
        draw::svg_of(*ImGui::GetDrawData(), *parts_->grids, parts_->ground, window_title(state));
    style = kept;
    return text;
}

void Frame::inspect(draw::Inspection* into) { parts_->inspection = into; }

const std::string& Frame::notice() const { return parts_->fonts.notice(); }

}  // namespace tilescope::app
