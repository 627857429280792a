#include "app/platform/glfw_keys.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace tilescope::platform {

namespace {

Key offset(Key first, int by) { return static_cast<Key>(static_cast<int>(first) + by); }

}  // namespace

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

Key key_with_control(int key, int scancode) {
    if (key == GLFW_KEY_KP_ADD) return Key::Plus;
    if (key == GLFW_KEY_KP_SUBTRACT) return Key::Minus;
    const char* name = glfwGetKeyName(key, scancode);
    const Key named =
        name && name[0] && !name[1] ? key_of_character(static_cast<unsigned char>(name[0])) : Key::None;
    return named == Key::None ? key_of_glfw(key, scancode) : named;
}

}  // namespace tilescope::platform
