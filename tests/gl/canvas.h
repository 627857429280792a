// For tests that draw: an OpenGL context without a display, ImGui around one full-size draw list, and
// the pixels of what was drawn. Tests are skipped, with the reason, where no context can be had.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "app/draw/list_renderer.h"
#include "app/draw/ui.h"
#include "app/platform/backend.h"
#include "imgui.h"

namespace tilescope::test {

class Canvas {
public:
    Canvas(int width, int height);
    ~Canvas();
    draw::GridRenderer& grids() { return *grids_; }
    const draw::Fonts& fonts() const { return fonts_; }
    platform::Image frame(const draw::Palette& palette, const std::function<void(ImDrawList&)>& paint);

private:
    int width_, height_;
    std::unique_ptr<platform::Backend> headless_;
    ImGuiContext* imgui_ = nullptr;
    std::unique_ptr<draw::GridRenderer> grids_;
    std::unique_ptr<draw::ListRenderer> lists_;
    draw::Fonts fonts_;
};

// Why there is no OpenGL here, or nothing.
std::optional<std::string> no_opengl();

#define SKIP_WITHOUT_OPENGL() \
    if (auto why = ::tilescope::test::no_opengl()) GTEST_SKIP() << *why

inline draw::Rgba pixel(const platform::Image& image, int x, int y) {
    const uint8_t* p = image.at(x, y);
    return 0xFF000000u | static_cast<uint32_t>(p[2]) << 16 | static_cast<uint32_t>(p[1]) << 8 | p[0];
}

}  // namespace tilescope::test
