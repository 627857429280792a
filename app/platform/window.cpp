#include "app/platform/window.h"

#include <glad/gl.h>

#define GLFW_INCLUDE_NONE
#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include "app/platform/glfw_keys.h"
#include "imgui.h"

namespace tilescope::platform {

namespace {

constexpr int kMinWidth = 960, kMinHeight = 600;  // logical pixels: what the panels need
std::string glfw_says;                            // GLFW reports through a callback without a user pointer

// Enough of a title bar at that place lies on a monitor to take hold of it.
bool in_sight(Window::Place place) {
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

}  // namespace

struct Window::Parts {
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
    bool happened = false, eventful = false;
    double last = 0;
    std::string title;
    bool places = true;  // the desktop tells where windows lie

    ~Parts() {
        if (window) glfwDestroyWindow(window);
        glfwTerminate();
    }

    static Parts& of(GLFWwindow* window) {
        Parts& parts = *static_cast<Parts*>(glfwGetWindowUserPointer(window));
        parts.happened = true;
        return parts;
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
            Parts& p = of(w);
            const bool control = (mods & GLFW_MOD_CONTROL) != 0;
            KeyPress press{control ? key_with_control(key, scancode) : key_of_glfw(key, scancode),
                           (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_CONTROL) != 0,
                           (mods & GLFW_MOD_ALT) != 0, action == GLFW_REPEAT};
            p.input.shift = press.shift;
            p.input.control = press.control;
            p.input.alt = press.alt;
            if (press.key != Key::None && action != GLFW_RELEASE) p.input.presses.push_back(press);
        });
        glfwSetCharCallback(window, [](GLFWwindow* w, unsigned int c) {
            Parts& p = of(w);
            KeyPress typed{key_of_character(c)};
            typed.character = c;
            p.input.presses.push_back(typed);
        });
        glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) { of(w).mouse_at(x, y); });
        glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int entered) {
            Parts& p = of(w);
            if (!entered) p.input.mouse_x = p.input.mouse_y = -1;
        });
        glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int) {
            Parts& p = of(w);
            if (button < 3)
                p.buttons.push_back({button, action == GLFW_PRESS, p.input.mouse_x, p.input.mouse_y});
        });
        glfwSetScrollCallback(window, [](GLFWwindow* w, double x, double y) {
            Parts& p = of(w);
            p.input.scroll_x += static_cast<float>(x);
            p.input.scroll_y += static_cast<float>(y);
        });
        glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
            of(w).input.dropped.assign(paths, paths + count);
        });
        glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { of(w); });
        glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { of(w); });
    }

    void offer_clipboard() {
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
};

Window::Window(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Window::~Window() = default;

Result<std::unique_ptr<Window>> Window::create(int width, int height, const std::string& title,
                                               std::optional<Place> place) {
    glfwSetErrorCallback([](int, const char* text) { glfw_says = text; });
    if (!glfwInit())
        return Error{
            fmt::format("no window can be opened here: the display system says '{}'; `tilescope render` "
                        "makes pictures without a display",
                        glfw_says)};
    auto parts = std::make_unique<Parts>();
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
    parts->window = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
    if (!parts->window)
        return Error{
            fmt::format("No window with OpenGL 3.3 could be opened ({}); a newer graphics driver, or Mesa's "
                        "software OpenGL with LIBGL_ALWAYS_SOFTWARE=1, has it.",
                        glfw_says)};
    parts->title = title;
    glfwSetWindowSizeLimits(parts->window, kMinWidth, kMinHeight, GLFW_DONT_CARE, GLFW_DONT_CARE);
    if (place && in_sight(*place)) glfwSetWindowPos(parts->window, place->x, place->y);
    glfwMakeContextCurrent(parts->window);
    if (!gladLoadGL(glfwGetProcAddress)) return Error{"The graphics driver offers no OpenGL 3.3."};
    glfwSwapInterval(1);
    parts->listen();
    parts->last = glfwGetTime();
    return std::unique_ptr<Window>(new Window(std::move(parts)));
}

Input Window::collect(double wait) {
    Parts& p = *parts_;
    if (wait > 0 && p.buttons.empty())
        glfwWaitEventsTimeout(wait);
    else
        glfwPollEvents();
    const double now = glfwGetTime();
    std::optional<Parts::Button> button;
    if (!p.buttons.empty()) {
        button = p.buttons.front();
        p.buttons.pop_front();
        p.input.mouse_down[button->which] = button->down;
    }
    Input out = p.input;
    if (button) {
        out.mouse_x = button->x;
        out.mouse_y = button->y;
    }
    out.dt = now - p.last;
    p.last = now;
    p.eventful = std::exchange(p.happened, !p.buttons.empty());
    // What is held stays; what happened is told once.
    p.input.presses.clear();
    p.input.dropped.clear();
    p.input.scroll_x = p.input.scroll_y = 0;
    return out;
}

bool Window::asked_to_close() const { return glfwWindowShouldClose(parts_->window); }
bool Window::eventful() const { return parts_->eventful; }

int Window::width() const {
    int w = 0, h = 0;
    glfwGetFramebufferSize(parts_->window, &w, &h);
    return w;
}

int Window::height() const {
    int w = 0, h = 0;
    glfwGetFramebufferSize(parts_->window, &w, &h);
    return h;
}

float Window::scale() const {
    float x = 1, y = 1;
    glfwGetWindowContentScale(parts_->window, &x, &y);
    return std::clamp(x, 0.5f, 4.f);
}

void Window::set_title(const std::string& title) {
    if (title == parts_->title) return;
    parts_->title = title;
    glfwSetWindowTitle(parts_->window, title.c_str());
}

std::optional<Window::Place> Window::place() const {
    if (!parts_->places) return std::nullopt;
    glfwGetError(nullptr);
    Place place;
    glfwGetWindowPos(parts_->window, &place.x, &place.y);
    if (glfwGetError(nullptr) != GLFW_NO_ERROR) parts_->places = false;
    if (!parts_->places) return std::nullopt;
    return place;
}

void Window::logical_size(int& width, int& height) const {
    int w = 0, h = 0;
    glfwGetWindowSize(parts_->window, &w, &h);
    // GLFW_SCALE_TO_MONITOR: where window and framebuffer count alike, the size was multiplied by the scale.
    const float by = w == this->width() ? scale() : 1.f;
    width = static_cast<int>(std::lround(static_cast<float>(w) / by));
    height = static_cast<int>(std::lround(static_cast<float>(h) / by));
}

void Window::offer_clipboard() { parts_->offer_clipboard(); }

void Window::show() { glfwSwapBuffers(parts_->window); }

}  // namespace tilescope::platform
