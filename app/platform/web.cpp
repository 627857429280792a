// The canvas of a page, in a browser: WebGL 2, which is OpenGL ES 3.0, and the page's events. The page around it is web/.
//
// A finger that taps or drags is the mouse's left button, one that rests is the mouse alone; two fingers are the wheel, by
// moving or by pinching. The browser keeps the keys that are its own: with Control or Command all that the program has no use
// for, and with Alt all that types no character.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <deque>
#include <iterator>
#include <utility>

#include <emscripten.h>
#include <emscripten/html5.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

#include "app/platform/abilities.h"
#include "app/platform/backend.h"
#include "imgui.h"
#include "imgui_internal.h"

extern "C" {
// Of the page (web/page.js).
void page_listen();
void page_copy(const char* text);
void page_copy_link(const char* link);
int page_copy_picture(const char* bytes, size_t size);
void page_hand_over(const char* path);
void page_choose(int beside);
void page_fetch(const char* address);
void page_full_screen();
void page_keep(const char* path);
void page_tell(double step, const char* block, const char* words, const char* link);
int page_has_keys();
void page_shown();
void page_failed(const char* sentence);
}

namespace tilescope::platform {
namespace {

constexpr const char* kCanvas = "#canvas";
const char* const kWindow = EMSCRIPTEN_EVENT_TARGET_WINDOW;

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

// With Control: what the program has a use for, of which the browser may have another.
bool is_ours(Key key, bool shift) {
    if (shift) return key == Key::E || (key >= Key::Left && key <= Key::End);
    constexpr Key kOurs[] = {Key::A, Key::B, Key::C, Key::E, Key::K, Key::O,
                             Key::P, Key::S, Key::X, Key::Y, Key::Z, Key::Digit0};
    return (key >= Key::Space && key <= Key::Minus && key != Key::Tab) ||
           std::find(std::begin(kOurs), std::end(kOurs), key) != std::end(kOurs);
}

struct Page : Backend {
    Input input;  // filled by the callbacks
    // What the mouse does, or a finger in its place. One is told a turn, so that a click between two turns is not lost.
    struct Deed {
        enum class Kind : uint8_t { Move, Press, Release, Leave } kind;
        int button;
        float x, y;
    };
    std::deque<Deed> deeds;
    bool eventful = true;
    double last = emscripten_get_now();
    std::string title;
    Canvas size{0, 0, 1};
    unsigned contexts = 0;  // lost so far
    bool lost = false;

    // A finger on the canvas is a press only once it moves or leaves: until then a second one may come to it.
    enum class Finger : uint8_t { None, Rests, Drags, Spent } finger = Finger::None;
    float from_x = 0, from_y = 0;       // where it came down
    double pair_y = 0, pair_apart = 0;  // of two: their middle, and how far apart they are

    void resize() {
        double width = 0, height = 0;
        emscripten_get_element_css_size(kCanvas, &width, &height);
        const double scale = std::clamp(emscripten_get_device_pixel_ratio(), 0.5, 4.0);
        const auto pixels = [&](double side) {
            return std::max(1, static_cast<int>(std::lround(side * scale)));
        };
        const Canvas now{pixels(width), pixels(height), static_cast<float>(scale)};
        if (now.width == size.width && now.height == size.height && now.scale == size.scale) return;
        if (now.width != size.width || now.height != size.height)
            emscripten_set_canvas_element_size(kCanvas, now.width, now.height);
        size = now;
        eventful = true;
    }

    void point(double x, double y) {
        input.mouse_x = static_cast<float>(x) * size.scale;
        input.mouse_y = static_cast<float>(y) * size.scale;
        eventful = true;
    }
    void does(Deed::Kind kind, int button = 0) {
        deeds.push_back({kind, button, input.mouse_x, input.mouse_y});
        eventful = true;
    }

    EM_BOOL key(const EmscriptenKeyboardEvent& event, bool down) {
        eventful = true;
        uint32_t c = character_of(event.key);
        const bool plain = c < 0x80 && (std::isalnum(static_cast<int>(c)) != 0 || c == ' ');
        // AltGr, which types characters, is Control and Alt on some systems.
        const bool types = event.altKey && c != 0 && !plain;
        input.shift = event.shiftKey, input.alt = event.altKey && !types;
        input.control = (event.ctrlKey || event.metaKey) && !types;
        if (!down || !page_has_keys() || input.alt) return EM_FALSE;
        const Key sign = key_of_character(c), key = input.control && sign != Key::None ? sign : key_of(event);
        if (input.control && !is_ours(key, input.shift && sign == Key::None)) return EM_FALSE;
        if (key != Key::None) input.presses.push_back({key, input.shift, input.control, false});
        if (input.control) c = 0;
        if (c != 0) input.presses.push_back({.key = sign, .character = c});
        return key != Key::None || c != 0;
    }

    EM_BOOL mouse(int type, const EmscriptenMouseEvent& event) {
        point(static_cast<double>(event.targetX), static_cast<double>(event.targetY));
        if (type == EMSCRIPTEN_EVENT_MOUSELEAVE) input.mouse_x = input.mouse_y = -1;
        const int which = event.button == 0 ? 0 : event.button == 2 ? 1 : 2;
        if (type == EMSCRIPTEN_EVENT_MOUSEDOWN) does(Deed::Kind::Press, which);
        if (type == EMSCRIPTEN_EVENT_MOUSEUP) does(Deed::Kind::Release, which);
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

    // Two fingers: what they move by, and what they are pinched by, in notches of the wheel.
    void pinch(const EmscriptenTouchPoint& a, const EmscriptenTouchPoint& b, bool moves) {
        constexpr double kNotch = 40;    // pixels
        constexpr double kPinch = 0.15;  // natural logarithm of how much farther apart they are
        const double y = static_cast<double>(a.targetY + b.targetY) / 2;
        const double apart = std::max(1.0, std::hypot(static_cast<double>(a.targetX - b.targetX),
                                                      static_cast<double>(a.targetY - b.targetY)));
        if (finger == Finger::Drags) does(Deed::Kind::Release);
        finger = Finger::Spent;
        if (moves && pair_apart > 0)
            input.scroll_y +=
                static_cast<float>((y - pair_y) / kNotch + std::log(apart / pair_apart) / kPinch);
        pair_y = y, pair_apart = apart;
        point(static_cast<double>(a.targetX + b.targetX) / 2, y);
    }

    EM_BOOL touch(int type, const EmscriptenTouchEvent& event) {
        constexpr float kSlop = 8;  // pixels of the page that a tap may be off
        const bool ends = type == EMSCRIPTEN_EVENT_TOUCHEND || type == EMSCRIPTEN_EVENT_TOUCHCANCEL;
        // The one that is lifted is among them.
        int left = event.numTouches;
        for (int i = 0; ends && i < event.numTouches; ++i) left -= event.touches[i].isChanged ? 1 : 0;
        if (!ends && event.numTouches >= 2)
            pinch(event.touches[0], event.touches[1], type == EMSCRIPTEN_EVENT_TOUCHMOVE);
        else if (!ends && event.numTouches == 1 && finger != Finger::Spent)
            one_finger(type == EMSCRIPTEN_EVENT_TOUCHSTART, event.touches[0], kSlop * size.scale);
        if (!ends) return type != EMSCRIPTEN_EVENT_TOUCHSTART || page_has_keys();
        pair_apart = 0;
        if (left > 0) return EM_TRUE;
        if (finger == Finger::Rests && type == EMSCRIPTEN_EVENT_TOUCHEND) {
            does(Deed::Kind::Move);
            does(Deed::Kind::Press);
        }
        if (finger != Finger::None && finger != Finger::Spent) does(Deed::Kind::Release);
        does(Deed::Kind::Leave);
        finger = Finger::None;
        return EM_TRUE;
    }

    void one_finger(bool comes, const EmscriptenTouchPoint& at, float slop) {
        point(static_cast<double>(at.targetX), static_cast<double>(at.targetY));
        if (comes) {
            finger = Finger::Rests;
            from_x = input.mouse_x, from_y = input.mouse_y;
        } else if (finger == Finger::Rests &&
                   std::hypot(input.mouse_x - from_x, input.mouse_y - from_y) > slop) {
            finger = Finger::Drags;
            deeds.push_back({Deed::Kind::Move, 0, from_x, from_y});
            deeds.push_back({Deed::Kind::Press, 0, from_x, from_y});
        }
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
        emscripten_set_mouseup_callback(kWindow, this, EM_FALSE, on_mouse);  // wherever it is let go
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
        const auto on_lost = [](int, const void*, void* self) -> EM_BOOL {
            static_cast<Page*>(self)->lost = true;
            page_failed(
                "The browser has taken the graphics away, as it does where they are short. Close other tabs; "
                "it goes on here by itself, or once this page is loaded anew.");
            return EM_TRUE;  // it may give them back
        };
        const auto on_restored = [](int, const void*, void* self) -> EM_BOOL {
            Page& page = *static_cast<Page*>(self);
            page.lost = false, page.eventful = true;
            ++page.contexts;
            page_shown();
            return EM_TRUE;
        };
        emscripten_set_webglcontextlost_callback(kCanvas, this, EM_FALSE, on_lost);
        emscripten_set_webglcontextrestored_callback(kCanvas, this, EM_FALSE, on_restored);
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

    bool happened() const override { return eventful || !deeds.empty(); }
    Input collect() override {
        resize();  // other screens have other pixels, which nobody tells
        const double now = emscripten_get_now();
        Input out = input;
        bool leaves = false;
        if (!deeds.empty()) {
            const Deed deed = deeds.front();
            deeds.pop_front();
            if (deed.kind == Deed::Kind::Press || deed.kind == Deed::Kind::Release)
                out.mouse_down[deed.button] = input.mouse_down[deed.button] = deed.kind == Deed::Kind::Press;
            leaves = deed.kind == Deed::Kind::Leave;
            out.mouse_x = leaves ? -1 : deed.x, out.mouse_y = leaves ? -1 : deed.y;
        }
        out.dt = (now - std::exchange(last, now)) / 1000;
        out.eventful = std::exchange(eventful, !deeds.empty());
        input = still_held(input);
        if (leaves) input.mouse_x = input.mouse_y = -1;
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
    std::optional<unsigned> context() const override { return lost ? std::nullopt : std::optional(contexts); }
    bool tells() const override { return true; }
    void tell(const Told& told) override {
        page_tell(static_cast<double>(told.step), told.block.c_str(), told.words.c_str(), told.link.c_str());
    }
    void keep(const std::string& path) override { page_keep(path.c_str()); }
    void show() override {}  // the browser does, when the turn is over
};

Page* page = nullptr;  // there is one

}  // namespace

Abilities abilities() { return kOfAPage; }

std::string hand_over(const std::string& path) {
    page_hand_over(path.c_str());
    return path.substr(path.rfind('/') + 1);
}

void choose_file(bool beside) { page_choose(beside ? 1 : 0); }
void fetch(const std::string& address) { page_fetch(address.c_str()); }
void copy_link(const std::string& link) { page_copy_link(link.c_str()); }
void toggle_full_screen() { page_full_screen(); }

Result<bool> copy_picture(const std::string& png) {
    if (page_copy_picture(png.data(), png.size()) != 0) return true;
    return Error{"This browser lets no page copy pictures."};
}

Result<std::unique_ptr<Backend>> open_window(int, int, const std::string& title, std::optional<WindowPlace>) {
    EmscriptenWebGLContextAttributes wish;
    emscripten_webgl_init_context_attributes(&wish);
    wish.majorVersion = 2, wish.minorVersion = 0;
    wish.alpha = wish.depth = wish.stencil = wish.antialias = EM_FALSE;
    const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE context = emscripten_webgl_create_context(kCanvas, &wish);
    if (context <= 0) return Error{"this browser offers no WebGL 2, which draws everything here"};
    emscripten_webgl_make_context_current(context);
    auto made = std::make_unique<Page>();
    page = made.get();
    made->resize();
    made->listen();
    page_listen();
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

// Of the program, for the page (web/page.js).
namespace {

tilescope::platform::Input& happens() {
    tilescope::platform::page->eventful = true;
    return tilescope::platform::page->input;
}

}  // namespace

extern "C" {

// A file that was dropped, chosen, sent or fetched; origin: of Input.
EMSCRIPTEN_KEEPALIVE void page_given(const char* path, int beside, const char* origin) {
    tilescope::platform::Input& input = happens();
    input.dropped.emplace_back(path);
    input.beside = beside != 0;
    input.origin = origin;
}
EMSCRIPTEN_KEEPALIVE void page_pasted(const char* text) { happens().pasted = text; }
EMSCRIPTEN_KEEPALIVE void page_said(const char* sentence) { happens().said = sentence; }
EMSCRIPTEN_KEEPALIVE void page_asked(const char* link) { happens().link = link; }
}
