// The keyboard while the command palette or the path box is open: text that is edited, rows that are chosen.
#include <algorithm>
#include <utility>

#include "app/input/actions.h"

namespace tilescope::input {
namespace {

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

constexpr size_t kPage = 8;

// Up, down and by pages through `count` rows, around the ends.
bool choose(size_t& chosen, size_t count, const KeyPress& press) {
    if (count == 0) return false;
    const size_t last = count - 1;
    if (press.key == Key::Down)
        chosen = chosen >= last ? 0 : chosen + 1;
    else if (press.key == Key::Up)
        chosen = chosen == 0 ? last : chosen - 1;
    else if (press.key == Key::PageDown)
        chosen = std::min(chosen + kPage, last);
    else if (press.key == Key::PageUp)
        chosen -= std::min(chosen, kPage);
    else
        return false;
    return true;
}

void press_in_palette(State& state, Session& session, std::span<const Offer> offers, const KeyPress& press) {
    CommandPalette& palette = state.palette;
    const std::vector<Command> found = find_commands(session, offers, palette.query.text);
    if (press.key == Key::Escape || (press.control && press.key == Key::P))
        palette.open = false;
    else if (press.key == Key::Enter && !found.empty())
        run_command(state, session, offers, found[std::min(palette.chosen, found.size() - 1)].id);
    else if (!choose(palette.chosen, found.size(), press) && edit(palette.query, press))
        palette.chosen = 0;
}

// Another path than the one that something was said of.
void path_changed(PathBox& box) {
    box.chosen = 0;
    box.over_written = false;
    box.problem.clear();
}

void press_in_path_box(State& state, Session& session, const KeyPress& press) {
    PathBox& box = state.path;
    if (press.key == Key::Escape) {
        box.mode = PathBox::Mode::Closed;
    } else if (press.key == Key::Enter) {
        take_path(state, session);
    } else if (press.key == Key::Tab) {
        set_text(box.path, completed(box.path.text));
        path_changed(box);
    } else if (!choose(box.chosen, suggestions(box, session).size() + 1, press) && edit(box.path, press)) {
        path_changed(box);
    }
}

}  // namespace

void set_text(TextField& field, std::string text) {
    field.text = std::move(text);
    field.caret = field.text.size();
}

void type(TextField& field, uint32_t character) {
    const bool surrogate = character >= 0xD800 && character < 0xE000;
    if (character < 0x20 || character == 0x7F || character > 0x10FFFF || surrogate) return;
    const std::string text = utf8(character);
    field.text.insert(field.caret, text);
    field.caret += text.size();
}

bool edit(TextField& field, const KeyPress& press) {
    auto& [text, caret] = field;
    const size_t left = press.control ? word_before(text, caret) : before(text, caret);
    const size_t right = press.control ? word_behind(text, caret) : behind(text, caret);
    if (press.key == Key::Backspace) {
        text.erase(left, caret - left);
        caret = left;
        return true;
    }
    if (press.key == Key::Delete) {
        text.erase(caret, right - caret);
        return true;
    }
    const size_t to = press.key == Key::Left    ? left
                      : press.key == Key::Right ? right
                      : press.key == Key::Home  ? 0
                      : press.key == Key::End   ? text.size()
                                                : std::string::npos;
    if (to != std::string::npos) caret = to;
    return to != std::string::npos;
}

bool overlay_open(const State& state) {
    return state.palette.open || state.path.mode != PathBox::Mode::Closed;
}

void press_in_overlay(State& state, Session& session, std::span<const Offer> offers, const KeyPress& press) {
    if (press.character != 0 && state.palette.open) {
        type(state.palette.query, press.character);
        state.palette.chosen = 0;
    } else if (press.character != 0) {
        type(state.path.path, press.character);
        path_changed(state.path);
    } else if (press.control && press.key == Key::Q) {
        session.quit = true;
    } else if (press.key != Key::None && state.palette.open) {
        press_in_palette(state, session, offers, press);
    } else if (press.key != Key::None) {
        press_in_path_box(state, session, press);
    }
}

void update(State& state, Session& session) {
    PathBox& box = state.path;
    if (std::exchange(session.wants_beside, false)) {
        open_path_box(state, session, PathBox::Mode::Open);
        box.beside = session.recording != nullptr;  // nothing is there to set it beside: it comes first
    }
    if (box.opening && !session.opening) {
        box.opening = false;
        if (session.message.empty())
            box.mode = PathBox::Mode::Closed;
        else
            box.problem = std::exchange(session.message, {});
    }
    if (session.recording && state.form.framed != session.framing) {
        state.form.framed = session.framing;
        // The form knows the textbook kernels.
        const std::string& kernel = session.trace().meta.kernel;
        if (session.recording->product && kernels::find(kernel) != nullptr) {
            state.form.kernel = kernel;
            state.form.shape = kernels::shape_of(*session.recording->product);
        }
    }
}

}  // namespace tilescope::input
