// What lies over the screens: the command palette and the path box, which are a line of text that is edited
// and rows that are chosen, and the list of keys.
#include "app/input/overlays.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/draw/widgets.h"
#include "app/session/session.h"

namespace tilescope::input {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size;
namespace {

bool inside(const std::string& text, size_t at) {  // a character of UTF-8
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

size_t before(const std::string& text, size_t at) {
    while (at > 0 && inside(text, --at)) continue;
    return at;
}

size_t behind(const std::string& text, size_t at) {
    while (at < text.size() && inside(text, ++at)) continue;
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

}  // namespace

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
    const auto erase = [&](size_t from, size_t end) {
        text.erase(from, end - from);
        caret = from;
        return true;
    };
    if (press.key == Key::Backspace) return erase(left, caret);
    if (press.key == Key::Delete) return erase(caret, right);
    const size_t to = press.key == Key::Left    ? left
                      : press.key == Key::Right ? right
                      : press.key == Key::Home  ? 0
                      : press.key == Key::End   ? text.size()
                                                : std::string::npos;
    if (to != std::string::npos) caret = to;
    return to != std::string::npos;
}

bool overlay_open(const State& state) {
    return state.palette.open || state.path.mode != PathBox::Mode::Closed || state.glossary.open ||
           state.panel.open;
}

void press_in_overlay(State& state, Session& session, std::span<const Offer> offers, const KeyPress& press) {
    if (state.glossary.open) return press_in_glossary(state, session, press);
    if (state.panel.open) return press_in_panel_menu(state, session, press);
    CommandPalette& palette = state.palette;
    PathBox& box = state.path;
    const bool in_palette = palette.open;  // else in the path box
    TextField& text = in_palette ? palette.query : box.path;
    size_t& chosen = in_palette ? palette.chosen : box.chosen;
    const auto text_changed = [&] {
        chosen = 0;
        box.over_written = false;  // it was of another path
        box.problem.clear();
    };
    if (press.character != 0) {
        type(text, press.character);
        text_changed();
    } else if (press.control && press.key == Key::Q) {
        session.ask(session::wish::Quit{});
    } else if (in_palette && (press.key == Key::Escape || (press.control && press.key == Key::P))) {
        palette.open = false;
    } else if (press.key == Key::Escape) {
        box.mode = PathBox::Mode::Closed;
    } else if (press.key == Key::Tab && !in_palette) {
        set_text(box.path, completed(box.path.text));
        text_changed();
    } else if (press.key == Key::Enter && !in_palette) {
        take_path(state, session);
    } else {
        std::vector<Command> found;
        if (in_palette) found = find_commands(session, offers, text.text);
        const size_t rows = in_palette ? found.size() : suggestions(box, session).size() + 1;
        if (press.key == Key::Enter && !found.empty())
            run_command(state, session, offers, found[std::min(chosen, found.size() - 1)].id);
        else if (!choose(chosen, rows, press) && edit(text, press))
            text_changed();
    }
}

void update(State& state, Session& session) {
    PathBox& box = state.path;
    if (box.opening && !session.opening) {
        box.opening = false;
        if (session.message.empty())
            box.mode = PathBox::Mode::Closed;
        else
            box.problem = std::exchange(session.message, {});
    }
}

void grant(State& state, Session& session, const session::Wish& wish) {
    if (std::holds_alternative<session::wish::OpenBeside>(wish)) {
        if (!session.can.paths) return platform::choose_file(session.recording != nullptr);
        open_path_box(state, session, PathBox::Mode::Open);
        // Nothing is there to set it beside: it comes first.
        state.path.beside = session.recording != nullptr;
    } else if (std::holds_alternative<session::wish::FrameAnew>(wish) && session.recording) {
        // The form knows the textbook kernels.
        const std::string& kernel = session.trace().meta.kernel;
        if (session.recording->product && kernels::find(kernel) != nullptr) {
            state.form.kernel = kernel;
            state.form.shape = kernels::shape_of(*session.recording->product);
        }
    }
}

// --- what is drawn

void text_line(draw::Ui& ui, ImDrawList& list, const Rect& rect, const TextField& field,
               const char* when_empty) {
    list.AddRectFilled(rect.min, rect.max, ui.ink(Ink::Raised), ui.px(4));
    list.AddRect(rect.min, rect.max, ui.ink(Ink::Accent), ui.px(4), 0, ui.px(1.5f));
    const draw::Font font = ui.font(Face::Mono, Size::Body);
    const float pad = ui.px(12), room = rect.width() - pad * 2;
    const float caret = draw::text_size(font, std::string_view(field.text).substr(0, field.caret)).x;
    const float shift = std::max(0.f, caret - room);  // the caret is always in sight
    const float high = draw::text_size(font, "0").y, y = std::round((rect.min.y + rect.max.y - high) / 2);
    const float x = rect.min.x + pad;
    list.PushClipRect({x, rect.min.y}, {rect.max.x - pad + ui.px(2), rect.max.y}, true);
    if (field.text.empty())
        put(ui, list, ui.font(Face::Text, Size::Body), {x + ui.px(4), y}, ui.ink(Ink::TextFaint), when_empty);
    put(ui, list, font, {x - shift, y}, ui.ink(Ink::Text), field.text);
    list.AddRectFilled({x - shift + caret, y}, {x - shift + caret + ui.px(2), y + high}, ui.ink(Ink::Accent));
    list.PopClipRect();
}

namespace {

ImDrawList& over() { return *ImGui::GetForegroundDrawList(); }

}  // namespace

Rect overlay_box(draw::Ui& ui, const Rect& screen, float width, float height, float top) {
    over().AddRectFilled(screen.min, screen.max, draw::with_alpha(draw::rgb(0), 0.45f));
    width = std::min(width, screen.width() - ui.px(16));
    height = std::min(height, screen.height() - ui.px(16));
    const float x = std::round((screen.min.x + screen.max.x - width) / 2);
    const float middle = (screen.min.y + screen.max.y - height) / 2;
    const float y = std::round(top < 0 ? middle : std::min(screen.min.y + ui.px(top), middle));
    const Rect box{{x, y}, {x + width, y + height}};
    over().AddRectFilled(box.min, box.max, ui.ink(Ink::Panel), ui.px(8));
    over().AddRect(box.min, box.max, ui.ink(Ink::LineStrong), ui.px(8));
    return box;
}

float overlay_row_height(const draw::Ui& ui) { return line_height(ui, Size::Body) + ui.px(6); }

int overlay_rows(draw::Ui& ui, const Rect& rect, const std::vector<Command>& rows, int chosen) {
    const float high = overlay_row_height(ui), pad = ui.px(12);
    const draw::Font mono = ui.font(Face::Mono, Size::Small), body = ui.font(Face::Text, Size::Body);
    const int fit = std::max(1, static_cast<int>(rect.height() / high)),
              count = static_cast<int>(rows.size());
    const int first = std::clamp(chosen - fit / 2, 0, std::max(0, count - fit));
    int clicked = -1;
    for (int at = first; at < std::min(count, first + fit); ++at) {
        const float y = rect.min.y + static_cast<float>(at - first) * high;
        const Rect row{{rect.min.x, y}, {rect.max.x, y + high}};
        const bool on = at == chosen;
        if (on || ui.over(row))
            over().AddRectFilled(row.min, row.max, ui.ink(on ? Ink::Accent : Ink::Raised), ui.px(4));
        const Rgba ink = on ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text);
        const Rgba quiet = on ? ink : ui.ink(Ink::TextQuiet);
        const auto& [id, text, right] = rows[static_cast<size_t>(at)];
        const float room = row.width() - pad * 3 - draw::text_size(mono, right).x;
        put(ui, over(), body, {row.min.x + pad, y + ui.px(3)}, ink, elided(body, text, room), Align::Left,
            text);
        put(ui, over(), mono, {row.max.x - pad, y + ui.px(5)}, quiet, right, Align::Right);
        if (ui.clicked(row)) clicked = at;
    }
    scroll_mark(ui, over(), {{rect.max.x + ui.px(4), rect.min.y}, {rect.max.x + ui.px(8), rect.max.y}}, first,
                fit, count);
    return clicked;
}

namespace {

// A box with a line of text and the rows that were found for it, under a title where there is one. Returns
// the row that was clicked, or -1.
struct Finder {
    const char *title, *when_empty;
    Ink ink;  // of the foot
    std::string foot;
};
int find_box(draw::Ui& ui, const Rect& screen, const Finder& box, const TextField& text,
             const std::vector<Command>& rows, int chosen) {
    constexpr float kTop = 72, kWidth = 720, kRowsShown = 11;
    const float pad = ui.px(16), high = ui.px(40), small = line_height(ui, Size::Small);
    const float title = *box.title == 0 ? 0 : line_height(ui, Size::Title) + ui.px(8);
    const float list = overlay_row_height(ui) * kRowsShown;
    const Rect in =
        overlay_box(ui, screen, ui.px(kWidth), pad * 2 + title + high + ui.px(16) + list + small, kTop)
            .inset(pad);
    put(ui, over(), ui.font(Face::Strong, Size::Title), in.min, ui.ink(Ink::Text), box.title);
    const float y = in.min.y + title;
    text_line(ui, over(), {{in.min.x, y}, {in.max.x, y + high}}, text, box.when_empty);
    const int clicked = overlay_rows(
        ui, {{in.min.x, y + high + ui.px(8)}, {in.max.x, in.max.y - small - ui.px(8)}}, rows, chosen);
    const draw::Font font = ui.font(Face::Text, Size::Small);
    put(ui, over(), font, {in.min.x, in.max.y - small}, ui.ink(box.ink), elided(font, box.foot, in.width()),
        Align::Left, box.foot);
    return clicked;
}

}  // namespace

void command_palette(Ui<State>& ui, const Rect& screen, std::span<const Offer> offers) {
    CommandPalette& palette = ui.state.palette;
    if (!palette.open) return;
    const std::vector<Command> found = find_commands(ui.session, offers, palette.query.text);
    palette.chosen = std::min(palette.chosen, found.empty() ? 0 : found.size() - 1);
    std::string foot = "\u2191 \u2193 choose, Enter does it, Esc closes";
    if (found.empty())
        foot =
            "Nothing is called that. Places: step 12, phase 2, block 1,0, line 23, warp 3, thread[1,0], "
            "P[5,3]";
    else if (found[palette.chosen].id == "none")
        foot = "There is no such place here; Esc closes";
    const Finder box{"", "Find: next phase, sector, G80, open transposed, line 23, warp 3, P[5,3]",
                     Ink::TextQuiet, foot};
    const int clicked = find_box(ui, screen, box, palette.query, found, static_cast<int>(palette.chosen));
    if (clicked >= 0) run_command(ui.state, ui.session, offers, found[static_cast<size_t>(clicked)].id);
}

void path_box(Ui<State>& ui, const Rect& screen) {
    PathBox& box = ui.state.path;
    if (box.mode == PathBox::Mode::Closed) return;
    const bool save = box.mode == PathBox::Mode::Save;
    const session::ExportChoice* const exported = session::find_export(box.exported);
    constexpr const char* kKinds[] = {"folder",  "recording", "opened lately", "ships",
                                      "program", "lesson",    "launch"};
    std::vector<Command> rows;
    for (const Suggestion& one : suggestions(box, ui.session))
        rows.push_back({one.value, one.text, kKinds[static_cast<size_t>(one.kind)]});
    box.chosen = std::min(box.chosen, rows.size());
    const Finder finder{exported     ? exported->title
                        : save       ? "Save this recording"
                        : box.beside ? "Open a recording beside this one, as B"
                                     : "Open a recording, a program or a lesson",
                        exported ? "The path of the file to write"
                        : save || box.beside
                            ? "The path of a .tsc file"
                            : "The path of a .tsc, .cu or .json file, or of a folder of lessons",
                        box.problem.empty() ? Ink::TextQuiet : Ink::Fault,
                        !box.problem.empty() ? box.problem
                        : save ? "Tab completes, \u2191 \u2193 choose, Enter saves, Esc leaves it"
                               : "Tab completes, \u2191 \u2193 choose, Enter opens, Esc leaves it"};
    const int clicked = find_box(ui, screen, finder, box.path, rows, static_cast<int>(box.chosen) - 1);
    if (clicked < 0) return;
    box.chosen = static_cast<size_t>(clicked) + 1;
    take_path(ui.state, ui.session);
}

// Actions under their headings, in three columns of about the same height.
void keys_overlay(Ui<State>& ui, const Rect& screen, std::span<const Offer> offers) {
    if (!ui.state.show_keys) return;
    struct KeyGroup {
        std::string name;
        std::vector<const Offer*> rows;
    };
    std::vector<KeyGroup> groups;
    for (const Offer& action : offers) {
        if (action.keys.empty() || !can(ui.session, action) || action.name.find(':') != std::string::npos)
            continue;
        auto at = std::ranges::find(groups, action.group, &KeyGroup::name);
        if (at == groups.end()) at = groups.insert(at, {action.group, {}});
        at->rows.push_back(&action);
    }
    // Columns are as wide as their longest keys and words; if they do not fit the window, type is smaller.
    struct KeyColumn {
        std::vector<KeyGroup> groups;
        size_t height = 0;  // rows, a heading and what surrounds it being two
        float keys = 0, helps = 0;
    };
    std::array<KeyColumn, 3> columns;
    draw::Font mono = ui.font(Face::Mono, Size::Small), words = ui.font(Face::Text, Size::Small);
    for (KeyGroup& group : groups) {
        // Each to the column that is least full, so that none stands out.
        KeyColumn& column = *std::ranges::min_element(columns, {}, &KeyColumn::height);
        column.height += group.rows.size() + 2;
        for (const Offer* action : group.rows) {
            column.keys = std::max(column.keys, draw::text_size(mono, action->keys).x);
            column.helps = std::max(column.helps, draw::text_size(words, action->help).x);
        }
        column.groups.push_back(std::move(group));
    }
    const auto tallest = static_cast<float>(std::ranges::max(columns, {}, &KeyColumn::height).height);
    const float pad = ui.px(24), title = line_height(ui, Size::Title), gap = ui.px(16), between = ui.px(40);
    // In lecture mode on a small projector the rows stand closer.
    const float room = screen.height() - ui.px(16) - pad * 2 - title - ui.px(8);
    const float row = std::min(line_height(ui, Size::Small) + ui.px(4), std::floor(room / tallest));
    float needed = between * 2;
    for (const KeyColumn& column : columns) needed += column.keys + gap + column.helps;
    const float most = screen.width() - ui.px(24) - pad * 2, smaller = std::min(1.f, most / needed);
    mono.px *= smaller, words.px *= smaller;
    const Rect box = overlay_box(ui, screen, needed * smaller + pad * 2 + ui.px(4),
                                 pad * 2 + title + ui.px(8) + row * tallest);
    put(ui, over(), ui.font(Face::Strong, Size::Title), {box.min.x + pad, box.min.y + pad}, ui.ink(Ink::Text),
        "Keys");
    float x = box.min.x + pad;
    for (const KeyColumn& column : columns) {
        float y = box.min.y + pad + title + ui.px(8);
        for (const KeyGroup& group : column.groups) {
            put(ui, over(), ui.font(Face::Strong, Size::Small), {x, y + row * 0.4f}, ui.ink(Ink::TextQuiet),
                group.name);
            y += row * 1.5f;
            for (const Offer* action : group.rows) {
                put(ui, over(), mono, {x, y}, ui.ink(Ink::Text), action->keys);
                put(ui, over(), words, {x + (column.keys + gap) * smaller, y}, ui.ink(Ink::TextQuiet),
                    action->help);
                y += row;
            }
            y += row * 0.5f;
        }
        x += (column.keys + gap + column.helps + between) * smaller;
    }
    if (ui.mouse && ImGui::IsMouseClicked(0)) ui.state.show_keys = false;
}

}  // namespace tilescope::input
