// An OpenGL 3.3 core context without a display, through EGL, and a framebuffer to draw a picture into.
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
#include <sys/resource.h>
#include <unistd.h>
#if TILESCOPE_GLAD_GENERATION == 1
#include <glad/glad_egl.h>
#else
#include <glad/egl.h>
#endif

#include "app/platform/backend.h"
#include "app/platform/gl.h"
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
    Input collect() override { return {.dt = 1.0 / 60}; }
};

}  // namespace

std::string_view shader_head() { return "#version 330 core\n"; }

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

}  // namespace tilescope::platform
