// An OpenGL 3.3 core context without a display, through EGL, and a framebuffer to draw a picture into; and
// the way of a picture, from whatever framebuffer, into a PNG file.
//
// Tried in this order: Mesa's surfaceless platform (software or a GPU, no display server), the devices that
// EGL lists (other vendors' drivers), the default display.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <stb/stb_image_write.h>
#include <sys/resource.h>
#include <unistd.h>
#if TILESCOPE_GLAD_GENERATION == 1
#include <glad/glad_egl.h>
#else
#include <glad/egl.h>
#endif

#include "app/platform/backend.h"
#include "app/platform/gl.h"
#include "core/base/file.h"
#include "core/base/words.h"

namespace tilescope::platform {

namespace {

const char* const kNoContext =
    "No OpenGL 3.3 context could be made without a display; install the packages libegl1 and "
    "libgl1-mesa-dri.";

// Mesa's software renderer ends the program with SIGSEGV where it gets no memory for its threads or for the code that
// it makes. The sentence that says so before; "" where there is enough address space.
std::string too_little_memory(int width, int height) {
    constexpr uint64_t kItself = uint64_t{1} << 30, kThread = uint64_t{32} << 20, kPixel = 32;  // bytes
    const uint64_t threads = static_cast<uint64_t>(std::clamp(sysconf(_SC_NPROCESSORS_ONLN), 1L, 32L));
    const uint64_t needs =
        kItself + threads * kThread + kPixel * static_cast<uint64_t>(width) * static_cast<uint64_t>(height);
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= needs) return "";
    return fmt::format(
        "Drawing takes about {} of address space, and this process may have {}; raise that with ulimit -v.",
        bytes_text(needs), bytes_text(limit.rlim_cur));
}

// EGL's functions, and with a display those that the display's version has.
bool load_egl([[maybe_unused]] EGLDisplay display) {
#if TILESCOPE_GLAD_GENERATION == 1
    return gladLoadEGL() != 0;
#else
    return gladLoaderLoadEGL(display) != 0;
#endif
}

// Displays that need no screen, most likely first.
std::vector<EGLDisplay> displays() {
    std::vector<EGLDisplay> found;
    const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (eglGetPlatformDisplayEXT && extensions && std::strstr(extensions, "EGL_MESA_platform_surfaceless"))
        found.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA,
                                                 reinterpret_cast<void*>(EGL_DEFAULT_DISPLAY), nullptr));
    if (eglGetPlatformDisplayEXT && eglQueryDevicesEXT) {
        EGLDeviceEXT devices[16];
        EGLint count = 0;
        if (eglQueryDevicesEXT(16, devices, &count))
            for (EGLint i = 0; i < count; ++i)
                found.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr));
    }
    found.push_back(eglGetDisplay(EGL_DEFAULT_DISPLAY));
    std::erase(found, EGL_NO_DISPLAY);
    return found;
}

EGLContext make_context(EGLDisplay display) {
    if (!eglInitialize(display, nullptr, nullptr)) return EGL_NO_CONTEXT;
    load_egl(display);
    const EGLint wish[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    // The core profile is what EGL 1.5 makes of it unasked (section 3.7.1.1).
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    if (eglBindAPI(EGL_OPENGL_API) && eglChooseConfig(display, wish, &config, 1, &count) && count > 0) {
        EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
        if (context != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
            return context;
    }
    eglTerminate(display);  // its contexts too
    return EGL_NO_CONTEXT;
}

struct Offscreen : Backend {
    EGLDisplay display = EGL_NO_DISPLAY;
    EGLContext context = EGL_NO_CONTEXT;
    std::unique_ptr<Framebuffer> framebuffer;
    Canvas size;

    ~Offscreen() override {
        if (context == EGL_NO_CONTEXT) return;
        framebuffer.reset();
        eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(display, context);  // the display is the process's: another picture may be using it
    }
    Canvas canvas() const override { return size; }
    void show() override { glFinish(); }
    Input collect(double) override { return {.dt = 1.0 / 60}; }
};

}  // namespace

Result<std::unique_ptr<Backend>> open_offscreen(int width, int height) {
    constexpr int kMostSide = 1 << 15;  // larger ones are refused below
    if (std::string why =
            too_little_memory(std::clamp(width, 1, kMostSide), std::clamp(height, 1, kMostSide));
        !why.empty())
        return Error{std::move(why)};
    setenv("EGL_LOG_LEVEL", "fatal", 0);  // drivers that do not serve are not the reader's concern
    if (!load_egl(EGL_NO_DISPLAY)) return Error{kNoContext};
    auto made = std::make_unique<Offscreen>();
    for (EGLDisplay display : displays())
        if (made->context == EGL_NO_CONTEXT) made->context = make_context(made->display = display);
    if (made->context == EGL_NO_CONTEXT || !load_opengl(eglGetProcAddress)) return Error{kNoContext};

    auto framebuffer = Framebuffer::create(width, height);
    if (!framebuffer) return framebuffer.error();
    made->framebuffer = std::move(*framebuffer);
    made->size = {width, height, 1};
    return std::unique_ptr<Backend>(std::move(made));
}

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
