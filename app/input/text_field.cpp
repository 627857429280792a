#include "app/input/text_field.h"

#include <string_view>

namespace tilescope::input {
namespace {

using platform::Key;

bool inside(const std::string& text, size_t at) {  // a character of UTF-8
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

size_t before(const std::string& text, size_t at) {
    if (at == 0) return 0;
    do --at;
    while (at > 0 && inside(text, at));
    return at;
}

size_t behind(const std::string& text, size_t at) {
    if (at >= text.size()) return text.size();
    do ++at;
    while (inside(text, at));
    return at;
}

bool parts(char c) { return c == ' ' || c == '/'; }  // words, and the parts of a path

size_t word_before(const std::string& text, size_t at) {
    while (at > 0 && parts(text[at - 1])) --at;
    while (at > 0 && !parts(text[at - 1])) --at;
    return at;
}

size_t word_behind(const std::string& text, size_t at) {
    while (at < text.size() && parts(text[at])) ++at;
    while (at < text.size() && !parts(text[at])) ++at;
    return at;
}

std::string utf8(uint32_t c) {
    const auto byte = [](uint32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
    if (c < 0x80) return {byte(c)};
    if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
    if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
    return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)),
            byte(0x80 | (c & 0x3F))};
}

}  // namespace

void set_text(TextField& field, std::string text) {
    field.text = std::move(text);
    field.caret = field.text.size();
}

void insert(TextField& field, std::string_view text) {
    field.text.insert(field.caret, text);
    field.caret += text.size();
}

void type(TextField& field, uint32_t character) {
    const bool surrogate = character >= 0xD800 && character < 0xE000;
    if (character < 0x20 || character == 0x7F || character > 0x10FFFF || surrogate) return;
    insert(field, utf8(character));
}

bool edit(TextField& field, const platform::KeyPress& press) {
    std::string& text = field.text;
    size_t& caret = field.caret;
    const size_t left = press.control ? word_before(text, caret) : before(text, caret);
    const size_t right = press.control ? word_behind(text, caret) : behind(text, caret);
    switch (press.key) {
        case Key::Left:
            caret = left;
            return true;
        case Key::Right:
            caret = right;
            return true;
        case Key::Home:
            caret = 0;
            return true;
        case Key::End:
            caret = text.size();
            return true;
        case Key::Backspace:
            text.erase(left, caret - left);
            caret = left;
            return true;
        case Key::Delete:
            text.erase(caret, right - caret);
            return true;
        default:
            return false;
    }
}

}  // namespace tilescope::input
