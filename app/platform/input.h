// What the person did since the last frame, as plain data: the same for the window and for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilescope::platform {

enum class Key : uint8_t {
    None,
    Space,
    Enter,
    Tab,
    Escape,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Plus,
    Minus,
    Question,  // by the character they make, on whatever keyboard
    Digit0,
    Digit1,
    Digit2,
    Digit3,
    Digit4,
    Digit5,
    Digit6,
    Digit7,
    Digit8,
    Digit9,
    A,
    B,
    C,
    D,
    E,
    F,
    G,
    H,
    I,
    J,
    K,
    L,
    M,
    N,
    O,
    P,
    Q,
    R,
    S,
    T,
    U,
    V,
    W,
    X,
    Y,
    Z,
    kCount
};

struct KeyPress {
    Key key = Key::None;
    bool shift = false, control = false, alt = false;
    bool repeat = false;  // the keyboard's own repetition of a key held down
    // Typed text, a code point, as an entry of its own behind the key that made it; such an entry has a key
    // only where the character stands for one (Plus, Minus, Question).
    uint32_t character = 0;
};

struct Input {
    std::vector<KeyPress> presses;  // and characters, in the order in which they came, repetitions included
    bool shift = false, control = false, alt = false;  // held now
    float mouse_x = -1, mouse_y = -1;                  // framebuffer pixels; negative where there is no mouse
    bool mouse_down[3] = {};                           // left, right, middle
    float scroll_x = 0, scroll_y = 0;                  // notches since the last frame, up is positive
    std::vector<std::string> dropped;                  // paths of files dropped on the window
    double dt = 0;                                     // seconds since the last frame
};

}  // namespace tilescope::platform
