// A framebuffer to draw a picture into, and the way of a picture, from whatever framebuffer, into a PNG file.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <stb/stb_image_write.h>

#include "app/platform/backend.h"
#include "app/platform/gl.h"
#include "core/base/file.h"

namespace tilescope::platform {

Result<std::unique_ptr<Framebuffer>> Framebuffer::create(int width, int height) {
    GLint most = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
    if (width < 1 || height < 1 || width > most || height > most)
        return Error{
            fmt::format("A picture of {}×{} cannot be drawn; sizes from 1 to {} can.", width, height, most)};
    std::unique_ptr<Framebuffer> made(new Framebuffer);
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &made->former_);
    glGenRenderbuffers(1, &made->color_);
    glBindRenderbuffer(GL_RENDERBUFFER, made->color_);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glGenFramebuffers(1, &made->framebuffer_);
    glBindFramebuffer(GL_FRAMEBUFFER, made->framebuffer_);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, made->color_);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        return Error{
            fmt::format("A framebuffer of {}×{} could not be made; try a smaller size.", width, height)};
    return made;
}

Framebuffer::~Framebuffer() {
    glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(former_));
    glDeleteFramebuffers(1, &framebuffer_);
    glDeleteRenderbuffers(1, &color_);
}

Image Backend::read() const {
    const Canvas all = canvas();
    return read_pixels(0, 0, all.width, all.height, all.height);
}

Image read_pixels(int x, int y, int width, int height, int high) {
    const size_t row = size_t{4} * static_cast<size_t>(width);
    Image image{width, height, std::vector<uint8_t>(row * static_cast<size_t>(height))};
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(x, high - y - height, width, height, GL_RGBA, GL_UNSIGNED_BYTE, image.rgba.data());
    uint8_t *top = image.rgba.data(), *bottom = top + image.rgba.size();
    for (; top + row < bottom; top += row)  // OpenGL's first row is the bottom one
        std::swap_ranges(top, top + row, bottom -= row);
    for (size_t i = 3; i < image.rgba.size(); i += 4) image.rgba[i] = 255;
    return image;
}

std::string encode_png(const Image& image) {
    std::string bytes;
    auto append = [](void* to, void* data, int size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(size));
    };
    const bool good = stbi_write_png_to_func(append, &bytes, image.width, image.height, 4, image.rgba.data(),
                                             image.width * 4) != 0;
    return good ? bytes : "";
}

Result<void> write_png(const Image& image, const std::string& path) {
    const std::string bytes = encode_png(image);
    if (bytes.empty())
        return Error{fmt::format(
            "The picture for '{}' could not be compressed; there may be too little memory.", path)};

    const std::string why = write_whole(path, bytes);
    if (why.empty()) return {};
    return Error{
        fmt::format("The picture '{}' could not be written ({}); choose another place with -o.", path, why)};
}

std::string renderer() {
    const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
    return name ? name : "";
}

}  // namespace tilescope::platform
