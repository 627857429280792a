// A window of the desktop with an OpenGL 3.3 core context, and what the person does in it, through GLFW.
#define GLFW_INCLUDE_NONE
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <optional>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "app/platform/backend.h"
#include "app/platform/gl.h"
#include "imgui.h"

namespace tilescope::platform {

namespace {

constexpr int kMinWidth = 960, kMinHeight = 600;  // logical pixels: what the panels need
std::string glfw_says;                            // GLFW reports through a callback without a user pointer

Key offset(Key first, int by) { return static_cast<Key>(static_cast<int>(first) + by); }

// Letters by what the keyboard's layout puts on the key, all else by place.
Key key_of_glfw(int key, int scancode) {
    if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) {
        const char* name = glfwGetKeyName(key, scancode);
        if (name && name[0] >= 'a' && name[0] <= 'z' && !name[1]) return offset(Key::A, name[0] - 'a');
        return offset(Key::A, key - GLFW_KEY_A);
    }
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return offset(Key::Digit0, key - GLFW_KEY_KP_0);
    if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9) return offset(Key::Digit0, key - GLFW_KEY_0);
    switch (key) {
        case GLFW_KEY_SPACE:
            return Key::Space;
        case GLFW_KEY_ENTER:
        case GLFW_KEY_KP_ENTER:
            return Key::Enter;
        case GLFW_KEY_TAB:
            return Key::Tab;
        case GLFW_KEY_ESCAPE:
            return Key::Escape;
        case GLFW_KEY_BACKSPACE:
            return Key::Backspace;
        case GLFW_KEY_DELETE:
            return Key::Delete;
        case GLFW_KEY_LEFT:
            return Key::Left;
        case GLFW_KEY_RIGHT:
            return Key::Right;
        case GLFW_KEY_UP:
            return Key::Up;
        case GLFW_KEY_DOWN:
            return Key::Down;
        case GLFW_KEY_PAGE_UP:
            return Key::PageUp;
        case GLFW_KEY_PAGE_DOWN:
            return Key::PageDown;
        case GLFW_KEY_HOME:
            return Key::Home;
        case GLFW_KEY_END:
            return Key::End;
        default:
            return Key::None;
    }
}

// Plus (also the unshifted =), Minus and Question, whichever keys make them.
Key key_of_character(uint32_t code_point) {
    switch (code_point) {
        case '+':
        case '=':
            return Key::Plus;
        case '-':
            return Key::Minus;
        case '?':
            return Key::Question;
        default:
            return Key::None;
    }
}

// While Control is held no character comes: plus and minus by what the layout puts on the key.
Key key_with_control(int key, int scancode) {
    if (key == GLFW_KEY_KP_ADD) return Key::Plus;
    if (key == GLFW_KEY_KP_SUBTRACT) return Key::Minus;
    const char* name = glfwGetKeyName(key, scancode);
    const Key named =
        name && name[0] && !name[1] ? key_of_character(static_cast<unsigned char>(name[0])) : Key::None;
    return named == Key::None ? key_of_glfw(key, scancode) : named;
}

// Enough of a title bar at that place lies on a monitor to take hold of it.
bool in_sight(Place place) {
    int count = 0;
    GLFWmonitor** monitors = glfwGetMonitors(&count);
    for (int at = 0; at < count; ++at) {
        int x = 0, y = 0, w = 0, h = 0;
        glfwGetMonitorWorkarea(monitors[at], &x, &y, &w, &h);
        constexpr int kHold = 100;
        if (place.x > x - kHold && place.x < x + w - kHold && place.y >= y && place.y < y + h - kHold)
            return true;
    }
    return false;
}

struct Window : Backend {
    GLFWwindow* window = nullptr;
    Input input;  // filled by the callbacks
    // Presses and releases of mouse buttons, and where: one is told a frame, so that a click that is over
    // before the next frame is not lost.
    struct Button {
        int which;
        bool down;
        float x, y;
    };
    std::deque<Button> buttons;
    bool happened = false, told = false;
    double last = 0;
    std::string title;
    mutable bool places = true;  // the desktop tells where windows lie

    ~Window() override {
        if (window) glfwDestroyWindow(window);
        glfwTerminate();
    }

    static Window& of(GLFWwindow* handle) {
        Window& self = *static_cast<Window*>(glfwGetWindowUserPointer(handle));
        self.happened = true;
        return self;
    }

    void mouse_at(double x, double y) {
        int w = 1, h = 1, fw = 1, fh = 1;
        glfwGetWindowSize(window, &w, &h);
        glfwGetFramebufferSize(window, &fw, &fh);
        input.mouse_x = static_cast<float>(x * fw / std::max(w, 1));
        input.mouse_y = static_cast<float>(y * fh / std::max(h, 1));
    }

    void listen() {
        glfwSetWindowUserPointer(window, this);
        glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
            Window& p = of(w);
            const bool control = (mods & GLFW_MOD_CONTROL) != 0;
            KeyPress press{control ? key_with_control(key, scancode) : key_of_glfw(key, scancode),
                           (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_CONTROL) != 0,
                           (mods & GLFW_MOD_ALT) != 0, action == GLFW_REPEAT};
            p.input.shift = press.shift;
            p.input.control = press.control;
            p.input.alt = press.alt;
            if (press.key != Key::None && action != GLFW_RELEASE) p.input.presses.push_back(press);
        });
        glfwSetCharCallback(
            window,
            [](GLFWwindow* w, unsigned int c) {
                Window& p = of(w);
                KeyPress typed{key_of_character(c)};
                typed.character = c;
                p.input.presses.push_back(typed);
            });
        glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) { of(w).mouse_at(x, y); });
        glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int entered) {
            Window& p = of(w);
            if (!entered) p.input.mouse_x = p.input.mouse_y = -1;
        });
        glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int) {
            Window& p = of(w);
            if (button < 3)
                p.buttons.push_back({button, action == GLFW_PRESS, p.input.mouse_x, p.input.mouse_y});
        });
        glfwSetScrollCallback(
            window,
            [](GLFWwindow* w, double x, double y) {
                Window& p = of(w);
                p.input.scroll_x += static_cast<float>(x);
                p.input.scroll_y += static_cast<float>(y);
            });
        glfwSetDropCallback(
            window, [](GLFWwindow* w, int count,
                       const char** paths) { of(w).input.dropped.assign(paths, paths + count); });
        glfwSetFramebufferSizeCallback(
            window, [](GLFWwindow* w, int, int) { of(w); });
        glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { of(w); });
    }

    void offer_clipboard() override {
        // ImGui's context is made after the window; its clipboard hooks take the window from here.
        static GLFWwindow* clipboard_window;
        clipboard_window = window;
#if IMGUI_VERSION_NUM < 19110
        ImGuiIO& io = ImGui::GetIO();
        io.SetClipboardTextFn = [](void*, const char* text) {
            glfwSetClipboardString(clipboard_window, text);
        };
        io.GetClipboardTextFn = [](void*) { return glfwGetClipboardString(clipboard_window); };
#else
        ImGuiPlatformIO& io = ImGui::GetPlatformIO();
        io.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) {
            glfwSetClipboardString(clipboard_window, text);
        };
        io.Platform_GetClipboardTextFn = [](ImGuiContext*) {
            return glfwGetClipboardString(clipboard_window);
        };
#endif
    }

    void make_current() override { glfwMakeContextCurrent(window); }

    Input collect(double wait) override {
        if (wait > 0 && buttons.empty())
            glfwWaitEventsTimeout(wait);
        else
            glfwPollEvents();
        const double now = glfwGetTime();
        std::optional<Button> button;
        if (!buttons.empty()) {
            button = buttons.front();
            buttons.pop_front();
            input.mouse_down[button->which] = button->down;
        }
        Input out = input;
        if (button) {
            out.mouse_x = button->x;
            out.mouse_y = button->y;
        }
        out.dt = now - last;
        last = now;
        told = std::exchange(happened, !buttons.empty());
        // What is held stays; what happened is told once.
        input.presses.clear();
        input.dropped.clear();
        input.scroll_x = input.scroll_y = 0;
        return out;
    }
    bool eventful() const override { return told; }
    bool asked_to_close() const override { return glfwWindowShouldClose(window); }

    float scale() const {
        float x = 1, y = 1;
        glfwGetWindowContentScale(window, &x, &y);
        return std::clamp(x, 0.5f, 4.f);
    }
    Canvas canvas() const override {
        Canvas canvas;
        glfwGetFramebufferSize(window, &canvas.width, &canvas.height);
        canvas.scale = scale();
        return canvas;
    }

    void set_title(const std::string& wanted) override {
        if (wanted == title) return;
        title = wanted;
        glfwSetWindowTitle(window, title.c_str());
    }

    std::optional<Place> place() const override {
        if (!places) return std::nullopt;
        glfwGetError(nullptr);
        Place at;
        glfwGetWindowPos(window, &at.x, &at.y);
        if (glfwGetError(nullptr) != GLFW_NO_ERROR) places = false;
        if (!places) return std::nullopt;
        return at;
    }

    void logical_size(int& width, int& height) const override {
        int w = 0, h = 0;
        glfwGetWindowSize(window, &w, &h);
        // GLFW_SCALE_TO_MONITOR: where window and framebuffer count alike, the size was multiplied by the
        // scale.
        const float by = w == canvas().width ? scale() : 1.f;
        width = static_cast<int>(std::lround(static_cast<float>(w) / by));
        height = static_cast<int>(std::lround(static_cast<float>(h) / by));
    }

    void show() override { glfwSwapBuffers(window); }
};

}  // namespace

Result<std::unique_ptr<Backend>> open_window(int width, int height, const std::string& title,
                                             std::optional<Place> place) {
    glfwSetErrorCallback([](int, const char* text) { glfw_says = text; });
#ifdef GLFW_PLATFORM
    // From 3.4 on it tries Wayland first, whose library says on standard error that there is none.
    const char* wayland = std::getenv("WAYLAND_DISPLAY");
    if (!wayland || !*wayland) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
#endif
    if (!glfwInit())
        return Error{
            fmt::format("no window can be opened here: the display system says '{}'; `tilescope render` "
                        "makes pictures without a display",
                        glfw_says)};
    auto made = std::make_unique<Window>();
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
        int x = 0, y = 0, w = 0, h = 0;
        float scale = 1, ignored = 1;
        glfwGetMonitorWorkarea(monitor, &x, &y, &w, &h);
        glfwGetMonitorContentScale(monitor, &scale, &ignored);
        if (w > 0 && h > 0) {
            width = std::min(width, static_cast<int>(static_cast<float>(w) / scale));
            height = std::min(height, static_cast<int>(static_cast<float>(h) / scale));
        }
    }
    made->window = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
    if (!made->window)
        return Error{
            fmt::format("No window with OpenGL 3.3 could be opened ({}); a newer graphics driver, or Mesa's "
                        "software OpenGL with LIBGL_ALWAYS_SOFTWARE=1, has it.",
                        glfw_says)};
    made->title = title;
    glfwSetWindowSizeLimits(made->window, kMinWidth, kMinHeight, GLFW_DONT_CARE, GLFW_DONT_CARE);
    if (place && in_sight(*place)) glfwSetWindowPos(made->window, place->x, place->y);
    glfwMakeContextCurrent(made->window);
    if (!load_opengl(glfwGetProcAddress)) return Error{"The graphics driver offers no OpenGL 3.3."};
    glfwSwapInterval(1);
    made->listen();
    made->last = glfwGetTime();
    return std::unique_ptr<Backend>(std::move(made));
}

}  // namespace tilescope::platform
