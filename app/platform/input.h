// What the person did since the last frame, as plain data, for window and tests alike; and the way to ImGui.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace tilescope::platform {

// clang-format off
enum class Key : uint8_t {
    None, Space, Enter, Tab, Escape, Backspace, Delete, Left, Right, Up, Down, PageUp, PageDown, Home, End,
    Plus, Minus, Question,  // by the character they make, on whatever keyboard
    Digit0, Digit1, Digit2, Digit3, Digit4, Digit5, Digit6, Digit7, Digit8, Digit9,
    A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z
};
// clang-format on

inline Key offset(Key first, int by) { return static_cast<Key>(static_cast<int>(first) + by); }

// Plus (also the unshifted =), Minus and Question, whichever keys make them.
inline Key key_of_character(uint32_t c) {
    return c == '+' || c == '=' ? Key::Plus : c == '-' ? Key::Minus : c == '?' ? Key::Question : Key::None;
}

struct KeyPress {
    Key key = Key::None;
    bool shift = false, control = false, alt = false;
    // Typed text, a code point, as an entry of its own behind the key that made it; such an entry has a key
    // only where the character stands for one (Plus, Minus, Question).
    uint32_t character = 0;
};

struct Input {
    std::vector<KeyPress> presses{};  // keys and characters in the order in which they came, repeats too
    bool shift = false, control = false, alt = false;  // held now
    float mouse_x = -1, mouse_y = -1;                  // framebuffer pixels; negative where there is no mouse
    bool mouse_down[3] = {};                           // left, right, middle
    float scroll_x = 0, scroll_y = 0;                  // notches since the last frame, up is positive
    std::vector<std::string> dropped{};                // paths of files dropped on the window, or chosen
    bool beside = false;                               // they were chosen to stand beside what is open
    std::string origin{};                              // its name or address; "" for its path
    std::string pasted{};                              // text of the clipboard, for what is typed into
    std::string said{};                                // sentence of the page around the program, or ""
    std::optional<std::string> link{};  // address, behind its #, that was asked for (app/link.h)
    double dt = 0;                      // seconds since the last frame
    bool eventful = false;              // more came than the passing of time
};

// What is held stays; what happened is told once.
inline Input still_held(const Input& input) {
    Input next;
    next.shift = input.shift, next.control = input.control, next.alt = input.alt;
    next.mouse_x = input.mouse_x, next.mouse_y = input.mouse_y;
    std::copy(std::begin(input.mouse_down), std::end(input.mouse_down), next.mouse_down);
    return next;
}

// Hands Input to ImGui's current context. How releases of ImGui take keys differs; that is hidden here.
class ImguiFeed {
public:
    // Before ImGui::NewFrame; framebuffer pixels. form: keys for a form of ImGui's own that lies open, null
    // where there is none. One of them, or the characters before it, is taken from the front a frame: ImGui
    // walks and edits by frames, and several keys within one would be one.
    void feed(const Input& input, int width, int height, std::vector<KeyPress>* form);

private:
    Key held_ = Key::None;  // until the next frame
};

}  // namespace tilescope::platform
