// The canvas of a page, in a browser: WebGL 2, which is OpenGL ES 3.0, and the page's events. The page around it is web/.
//
// One finger is the mouse, two are the wheel. The browser keeps the keys that are its own: of a tab, of a window, and of
// loading the page anew.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <utility>

#include <emscripten.h>
#include <emscripten/html5.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

#include "app/platform/backend.h"
#include "imgui.h"
#include "imgui_internal.h"

extern "C" {
// Of the page (web/page.js).
void page_copy(const char* text);
}

namespace tilescope::platform {
namespace {

constexpr const char* kCanvas = "#canvas";
const char* const kWindow = EMSCRIPTEN_EVENT_TARGET_WINDOW;

Key offset(Key first, int by) { return static_cast<Key>(static_cast<int>(first) + by); }

// Source: W3C, "UI Events KeyboardEvent key Values".
constexpr std::pair<const char*, Key> kNamed[] = {{" ", Key::Space},
                                                  {"Enter", Key::Enter},
                                                  {"Tab", Key::Tab},
                                                  {"Escape", Key::Escape},
                                                  {"Backspace", Key::Backspace},
                                                  {"Delete", Key::Delete},
                                                  {"ArrowLeft", Key::Left},
                                                  {"ArrowRight", Key::Right},
                                                  {"ArrowUp", Key::Up},
                                                  {"ArrowDown", Key::Down},
                                                  {"PageUp", Key::PageUp},
                                                  {"PageDown", Key::PageDown},
                                                  {"Home", Key::Home},
                                                  {"End", Key::End}};

// The code point where the key's name is one character, 0 where it is a word ("Shift").
uint32_t character_of(const char* key) {
    unsigned int point = 0;
    const int bytes = ImTextCharFromUtf8(&point, key, nullptr);
    return bytes > 0 && key[bytes] == 0 ? point : 0;
}

Key key_of_character(uint32_t c) {
    return c == '+' || c == '=' ? Key::Plus : c == '-' ? Key::Minus : c == '?' ? Key::Question : Key::None;
}

Key key_of(const EmscriptenKeyboardEvent& event) {
    for (const auto& [name, key] : kNamed)
        if (std::strcmp(name, event.key) == 0) return key;
    const uint32_t c = character_of(event.key);
    if (c >= 'a' && c <= 'z') return offset(Key::A, static_cast<int>(c - 'a'));
    if (c >= 'A' && c <= 'Z') return offset(Key::A, static_cast<int>(c - 'A'));
    const auto digit = [&](const char* before) {
        const size_t n = std::strlen(before);
        const char d = std::strncmp(event.code, before, n) == 0 ? event.code[n] : '\0';
        return d >= '0' && d <= '9' ? offset(Key::Digit0, d - '0') : Key::None;
    };
    return std::max(digit("Digit"), digit("Numpad"));
}

struct Page : Backend {
    Input input;  // filled by the callbacks
    struct Button {
        int which;
        bool down;
        float x, y;
    };
    std::deque<Button> buttons;  // one is told a turn, so that a click between two turns is not lost
    bool eventful = true;
    double last = emscripten_get_now();
    std::string title;
    Canvas size{0, 0, 1};
    double fingers_y = 0;  // of two that move

    void resize() {
        double width = 0, height = 0;
        emscripten_get_element_css_size(kCanvas, &width, &height);
        const double scale = std::clamp(emscripten_get_device_pixel_ratio(), 0.5, 4.0);
        const auto pixels = [&](double side) {
            return std::max(1, static_cast<int>(std::lround(side * scale)));
        };
        const Canvas now{pixels(width), pixels(height), static_cast<float>(scale)};
        if (now.width != size.width || now.height != size.height)
            emscripten_set_canvas_element_size(kCanvas, now.width, now.height);
        size = now;
        eventful = true;
    }

    void point(long x, long y) {
        input.mouse_x = static_cast<float>(x) * size.scale;
        input.mouse_y = static_cast<float>(y) * size.scale;
        eventful = true;
    }
    void press(int which, bool down) { buttons.push_back({which, down, input.mouse_x, input.mouse_y}); }

    EM_BOOL key(const EmscriptenKeyboardEvent& event, bool down) {
        eventful = true;
        input.shift = event.shiftKey, input.control = event.ctrlKey || event.metaKey,
        input.alt = event.altKey;
        if (!down) return EM_FALSE;
        const uint32_t c = character_of(event.key);
        const Key sign = key_of_character(c), key = input.control && sign != Key::None ? sign : key_of(event);
        for (const Key own : {Key::R, Key::T, Key::W, Key::N})
            if (input.control && key == own) return EM_FALSE;
        if (key != Key::None) input.presses.push_back({key, input.shift, input.control, input.alt});
        if (c != 0 && !input.control) input.presses.push_back({.key = sign, .character = c});
        return key != Key::None || c != 0;
    }

    EM_BOOL mouse(int type, const EmscriptenMouseEvent& event) {
        point(event.targetX, event.targetY);
        if (type == EMSCRIPTEN_EVENT_MOUSELEAVE) input.mouse_x = input.mouse_y = -1;
        const int which = event.button == 0 ? 0 : event.button == 2 ? 1 : 2;
        if (type == EMSCRIPTEN_EVENT_MOUSEDOWN) press(which, true);
        if (type == EMSCRIPTEN_EVENT_MOUSEUP) press(which, false);
        return type != EMSCRIPTEN_EVENT_MOUSEDOWN;  // which gives the canvas the keyboard
    }

    EM_BOOL wheel(const EmscriptenWheelEvent& event) {
        // A notch is about 100 pixels, 3 lines or a page.
        const double notch = event.deltaMode == DOM_DELTA_PIXEL  ? 100
                             : event.deltaMode == DOM_DELTA_LINE ? 3
                                                                 : 1;
        input.scroll_x -= static_cast<float>(event.deltaX / notch);
        input.scroll_y -= static_cast<float>(event.deltaY / notch);
        eventful = true;
        return EM_TRUE;
    }

    EM_BOOL touch(int type, const EmscriptenTouchEvent& event) {
        const EmscriptenTouchPoint* finger = event.touches;
        if (event.numTouches >= 2) {
            constexpr double kNotch = 40;  // pixels
            const double y = static_cast<double>(finger[0].targetY + finger[1].targetY) / 2;
            if (fingers_y != 0 && type == EMSCRIPTEN_EVENT_TOUCHMOVE)
                input.scroll_y += static_cast<float>((y - fingers_y) / kNotch);
            fingers_y = y, eventful = true;
            return EM_TRUE;
        }
        fingers_y = 0;
        if (event.numTouches == 1) point(finger->targetX, finger->targetY);
        if (type == EMSCRIPTEN_EVENT_TOUCHSTART) press(0, true);
        if (type == EMSCRIPTEN_EVENT_TOUCHEND || type == EMSCRIPTEN_EVENT_TOUCHCANCEL) press(0, false);
        return EM_TRUE;
    }

    void listen() {
        const auto on_key = [](int type, const EmscriptenKeyboardEvent* event, void* self) {
            return static_cast<Page*>(self)->key(*event, type == EMSCRIPTEN_EVENT_KEYDOWN);
        };
        emscripten_set_keydown_callback(kWindow, this, EM_FALSE, on_key);
        emscripten_set_keyup_callback(kWindow, this, EM_FALSE, on_key);
        const auto on_mouse = [](int type, const EmscriptenMouseEvent* event, void* self) {
            return static_cast<Page*>(self)->mouse(type, *event);
        };
        emscripten_set_mousemove_callback(kCanvas, this, EM_FALSE, on_mouse);
        emscripten_set_mousedown_callback(kCanvas, this, EM_FALSE, on_mouse);
        emscripten_set_mouseup_callback(kCanvas, this, EM_FALSE, on_mouse);
        emscripten_set_mouseleave_callback(kCanvas, this, EM_FALSE, on_mouse);
        emscripten_set_wheel_callback(kCanvas, this, EM_FALSE,
                                      [](int, const EmscriptenWheelEvent* event, void* self) {
                                          return static_cast<Page*>(self)->wheel(*event);
                                      });
        const auto on_touch = [](int type, const EmscriptenTouchEvent* event, void* self) {
            return static_cast<Page*>(self)->touch(type, *event);
        };
        emscripten_set_touchstart_callback(kCanvas, this, EM_FALSE, on_touch);
        emscripten_set_touchmove_callback(kCanvas, this, EM_FALSE, on_touch);
        emscripten_set_touchend_callback(kCanvas, this, EM_FALSE, on_touch);
        emscripten_set_touchcancel_callback(kCanvas, this, EM_FALSE, on_touch);
        emscripten_set_resize_callback(kWindow, this, EM_FALSE,
                                       [](int, const EmscriptenUiEvent*, void* self) -> EM_BOOL {
                                           static_cast<Page*>(self)->resize();
                                           return EM_TRUE;
                                       });
    }

    void offer_clipboard() override {
        const auto set = [](auto*, const char* text) { page_copy(text); };
#if IMGUI_VERSION_NUM < 19110
        ImGui::GetIO().SetClipboardTextFn = set;
#else
        ImGui::GetPlatformIO().Platform_SetClipboardTextFn = set;
#endif
    }

    bool happened() const override { return eventful || !buttons.empty(); }
    Input collect() override {
        const double now = emscripten_get_now();
        Input out = input;
        if (!buttons.empty()) {
            const Button button = buttons.front();
            buttons.pop_front();
            out.mouse_down[button.which] = input.mouse_down[button.which] = button.down;
            out.mouse_x = button.x, out.mouse_y = button.y;
        }
        out.dt = (now - std::exchange(last, now)) / 1000;
        out.eventful = std::exchange(eventful, !buttons.empty());
        // What is held stays; what happened is told once.
        input.presses.clear();
        input.dropped.clear();
        input.scroll_x = input.scroll_y = 0;
        return out;
    }

    Canvas canvas() const override { return size; }
    void set_title(const std::string& wanted) override {
        if (wanted == title) return;
        title = wanted;
        emscripten_set_window_title(title.c_str());
    }
    void logical_size(int& width, int& height) const override {
        width = static_cast<int>(static_cast<float>(size.width) / size.scale);
        height = static_cast<int>(static_cast<float>(size.height) / size.scale);
    }
    void show() override {}  // the browser does, when the turn is over
};

}  // namespace

Result<std::unique_ptr<Backend>> open_window(int, int, const std::string& title, std::optional<WindowPlace>) {
    EmscriptenWebGLContextAttributes wish;
    emscripten_webgl_init_context_attributes(&wish);
    wish.majorVersion = 2, wish.minorVersion = 0;
    wish.alpha = wish.depth = wish.stencil = wish.antialias = EM_FALSE;
    const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE context = emscripten_webgl_create_context(kCanvas, &wish);
    if (context <= 0) return Error{"this browser offers no WebGL 2, which draws everything here"};
    emscripten_webgl_make_context_current(context);
    auto made = std::make_unique<Page>();
    made->resize();
    made->listen();
    made->set_title(title);
    return std::unique_ptr<Backend>(std::move(made));
}

Result<std::unique_ptr<Backend>> open_offscreen(int, int) {
    return Error{"a browser draws into its page alone; the installed program makes films"};
}

std::string_view shader_head() {
    return "#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp usampler2D;\n";
}

}  // namespace tilescope::platform
