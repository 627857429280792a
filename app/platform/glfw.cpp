// A window of the desktop with an OpenGL 3.3 core context, and what the person does in it, through GLFW.
#define GLFW_INCLUDE_NONE
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <optional>
#include <utility>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "app/platform/backend.h"
#include "app/platform/gl.h"
#include "imgui.h"

namespace tilescope::platform {

namespace {

constexpr int kMinWidth = 960, kMinHeight = 600;  // logical pixels: what the panels need
std::string glfw_says;                            // GLFW reports through a callback without a user pointer

// clang-format off
constexpr std::pair<int, Key> kPlaces[] = {
    {GLFW_KEY_SPACE, Key::Space}, {GLFW_KEY_ENTER, Key::Enter}, {GLFW_KEY_KP_ENTER, Key::Enter},
    {GLFW_KEY_TAB, Key::Tab}, {GLFW_KEY_ESCAPE, Key::Escape}, {GLFW_KEY_BACKSPACE, Key::Backspace},
    {GLFW_KEY_DELETE, Key::Delete}, {GLFW_KEY_LEFT, Key::Left}, {GLFW_KEY_RIGHT, Key::Right},
    {GLFW_KEY_UP, Key::Up}, {GLFW_KEY_DOWN, Key::Down}, {GLFW_KEY_PAGE_UP, Key::PageUp},
    {GLFW_KEY_PAGE_DOWN, Key::PageDown}, {GLFW_KEY_HOME, Key::Home}, {GLFW_KEY_END, Key::End}};
// clang-format on

// The one character that the keyboard's layout puts on a key; 0 where it puts none there, or several.
char named(int key, int scancode) {
    const char* name = glfwGetKeyName(key, scancode);
    return name && name[0] && !name[1] ? name[0] : '\0';
}

// Letters by what the keyboard's layout puts on the key, all else by place.
Key key_of_glfw(int key, int scancode) {
    if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) {
        const char name = named(key, scancode);
        return offset(Key::A, name >= 'a' && name <= 'z' ? name - 'a' : key - GLFW_KEY_A);
    }
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return offset(Key::Digit0, key - GLFW_KEY_KP_0);
    if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9) return offset(Key::Digit0, key - GLFW_KEY_0);
    for (const auto& [place, key_there] : kPlaces)
        if (place == key) return key_there;
    return Key::None;
}

// While Control is held no character comes: plus and minus by what the layout puts on the key.
Key key_with_control(int key, int scancode) {
    if (key == GLFW_KEY_KP_ADD) return Key::Plus;
    if (key == GLFW_KEY_KP_SUBTRACT) return Key::Minus;
    const Key sign = key_of_character(static_cast<unsigned char>(named(key, scancode)));
    return sign == Key::None ? key_of_glfw(key, scancode) : sign;
}

// Enough of a title bar at that place lies on a monitor to take hold of it.
bool in_sight(WindowPlace place) {
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
    bool eventful = false;  // since the last collect()
    double last = 0;
    std::string title;
    mutable bool places = true;  // the desktop tells where windows lie

    ~Window() override {
        if (window) glfwDestroyWindow(window);
        glfwTerminate();
    }

    static Window& of(GLFWwindow* handle) {
        Window& self = *static_cast<Window*>(glfwGetWindowUserPointer(handle));
        self.eventful = true;
        return self;
    }

    static void hold(Input& to, int mods) {
        to.shift = (mods & GLFW_MOD_SHIFT) != 0;
        to.control = (mods & GLFW_MOD_CONTROL) != 0;
        to.alt = (mods & GLFW_MOD_ALT) != 0;
    }

    void listen() {
        glfwSetWindowUserPointer(window, this);
        glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
            Input& to = of(w).input;
            hold(to, mods);
            const Key k = to.control ? key_with_control(key, scancode) : key_of_glfw(key, scancode);
            if (k != Key::None && action != GLFW_RELEASE)
                to.presses.push_back({k, to.shift, to.control, to.alt});
        });
        const auto typed = [](GLFWwindow* w, unsigned int c) {
            of(w).input.presses.push_back({.key = key_of_character(c), .character = c});
        };
        glfwSetCharCallback(window, typed);
        glfwSetCursorPosCallback(window, [](GLFWwindow* handle, double x, double y) {
            int w = 1, h = 1, fw = 1, fh = 1;
            glfwGetWindowSize(handle, &w, &h);
            glfwGetFramebufferSize(handle, &fw, &fh);
            of(handle).input.mouse_x = static_cast<float>(x * fw / std::max(w, 1));
            of(handle).input.mouse_y = static_cast<float>(y * fh / std::max(h, 1));
        });
        glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int entered) {
            Input& to = of(w).input;
            if (!entered) to.mouse_x = to.mouse_y = -1;
        });
        glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int mods) {
            Window& p = of(w);
            hold(p.input, mods);  // a key's own event says what was held before it (X11)
            if (button < 3)
                p.buttons.push_back({button, action == GLFW_PRESS, p.input.mouse_x, p.input.mouse_y});
        });
        const auto scrolled = [](GLFWwindow* w, double x, double y) {
            Input& to = of(w).input;
            to.scroll_x += static_cast<float>(x), to.scroll_y += static_cast<float>(y);
        };
        glfwSetScrollCallback(window, scrolled);
        const auto dropped = [](GLFWwindow* w, int count, const char** paths) {
            of(w).input.dropped.assign(paths, paths + count);
        };
        glfwSetDropCallback(window, dropped);
        const auto resized = [](GLFWwindow* w, int, int) { of(w); };
        glfwSetFramebufferSizeCallback(window, resized);
        glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { of(w); });
    }

    void offer_clipboard() override {
        const auto set = [](auto*, const char* text) { glfwSetClipboardString(nullptr, text); };
        const auto get = [](auto*) { return glfwGetClipboardString(nullptr); };
#if IMGUI_VERSION_NUM < 19110
        ImGui::GetIO().SetClipboardTextFn = set;
        ImGui::GetIO().GetClipboardTextFn = get;
#else
        ImGui::GetPlatformIO().Platform_SetClipboardTextFn = set;
        ImGui::GetPlatformIO().Platform_GetClipboardTextFn = get;
#endif
    }

    bool happened() const override { return eventful || !buttons.empty(); }
    void wait(double seconds) override {
        if (seconds > 0 && !happened()) glfwWaitEventsTimeout(seconds);
    }
    Input collect() override {
        glfwPollEvents();
        const double now = glfwGetTime();
        Input out = input;
        if (!buttons.empty()) {
            const Button button = buttons.front();
            buttons.pop_front();
            out.mouse_down[button.which] = input.mouse_down[button.which] = button.down;
            out.mouse_x = button.x, out.mouse_y = button.y;
        }
        out.dt = now - std::exchange(last, now);
        out.eventful = std::exchange(eventful, !buttons.empty());
        input = still_held(input);
        return out;
    }
    bool asked_to_close() const override { return glfwWindowShouldClose(window); }

    Canvas canvas() const override {
        Canvas canvas;
        float across = 1, down = 1;
        glfwGetFramebufferSize(window, &canvas.width, &canvas.height);
        glfwGetWindowContentScale(window, &across, &down);
        canvas.scale = std::clamp(across, 0.5f, 4.f);
        return canvas;
    }

    void set_title(const std::string& wanted) override {
        if (wanted == title) return;
        title = wanted;
        glfwSetWindowTitle(window, title.c_str());
    }

    std::optional<WindowPlace> place() const override {
        if (!places) return std::nullopt;
        glfwGetError(nullptr);
        WindowPlace at;
        glfwGetWindowPos(window, &at.x, &at.y);
        places = glfwGetError(nullptr) == GLFW_NO_ERROR;
        return places ? std::optional(at) : std::nullopt;
    }

    void logical_size(int& width, int& height) const override {
        glfwGetWindowSize(window, &width, &height);
        // GLFW_SCALE_TO_MONITOR multiplied the size by the scale where window and framebuffer count alike.
        const Canvas shown = canvas();
        if (width != shown.width) return;
        width = static_cast<int>(std::lround(static_cast<float>(width) / shown.scale));
        height = static_cast<int>(std::lround(static_cast<float>(height) / shown.scale));
    }

    void show() override { glfwSwapBuffers(window); }
};

}  // namespace

Result<std::unique_ptr<Backend>> open_window(int width, int height, const std::string& title,
                                             std::optional<WindowPlace> place) {
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
