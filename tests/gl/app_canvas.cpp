#include "tests/gl/canvas.h"

namespace tilescope::test {

std::optional<std::string> no_opengl() {
    static const std::optional<std::string> why = [] {
        auto headless = platform::open_offscreen(16, 16);
        return headless ? std::nullopt : std::optional(headless.error().message);
    }();
    return why;
}

Canvas::Canvas(int width, int height) : width_(width), height_(height) {
    headless_ = std::move(*platform::open_offscreen(width, height));
    grids_ = std::move(*draw::GridRenderer::create());
    imgui_ = ImGui::CreateContext();
    ImGui::SetCurrentContext(imgui_);
    ImGui::GetIO().IniFilename = nullptr;
    lists_ = std::move(*draw::ListRenderer::create());
    fonts_.ensure(1);
    lists_->upload_type();
}

Canvas::~Canvas() {
    grids_.reset();
    lists_.reset();
    ImGui::DestroyContext(imgui_);
}

platform::Image Canvas::frame(const draw::Palette& palette, const std::function<void(ImDrawList&)>& paint) {
    ImGui::GetIO().DisplaySize = {static_cast<float>(width_), static_cast<float>(height_)};
    ImGui::NewFrame();
    grids_->begin_frame();
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    list.AddRectFilled({0, 0}, ImGui::GetIO().DisplaySize, palette[draw::Ink::Ground]);
    paint(list);
    ImGui::Render();
    lists_->draw(*ImGui::GetDrawData());
    return headless_->read();
}

}  // namespace tilescope::test
