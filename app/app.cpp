#include "app/app.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/input/overlays.h"
#include "app/look/time_words.h"
#include "app/session/playing.h"
#include "core/base/text.h"
#include "imgui_internal.h"

namespace tilescope::app {
namespace {

using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Size;
using platform::Key;
using platform::KeyPress;

// Makes functions of the whole State out of a screen's functions, which see its own state alone.
template <auto member, const auto& screen>
ScreenRow row() {
    using Own = std::remove_reference_t<decltype(std::declval<State&>().*member)>;
    const auto draw = [](input::Ui<State>& ui, const Rect& area) {
        input::Ui<Own> own{ui, ui.state.*member};
        screen.draw(own, area);
    };
    ScreenRow row{screen.name, screen.option, screen.about, draw, screen.says_messages};
    row.press = [](State& state, session::Session& session, const KeyPress& key) {
        return screen.press != nullptr && screen.press(state.*member, session, key);
    };
    row.listens = [](State& state, session::Session& session, const KeyPress& key) {
        return screen.listens != nullptr && screen.listens(state.*member, session, key);
    };
    row.update = [](State& state, session::Session& session, bool wait) {
        return screen.update != nullptr && screen.update(state.*member, session, wait);
    };
    row.grant = [](State& state, session::Session& session, const session::Wish& wish) {
        if (screen.grant != nullptr) screen.grant(state.*member, session, wish);
    };
    row.strip = [](input::Ui<State>& ui, const Rect& area) {
        input::Ui<Own> own{ui, ui.state.*member};
        return screen.strip != nullptr ? screen.strip(own, area) : 0.f;
    };
    row.keeps_strip = [](const State& state) {
        return screen.keeps_strip != nullptr && screen.keeps_strip(state.*member);
    };
    row.hides_itself = screen.hides_itself;
    row.there = screen.there;
    return row;
}

// The table of screens: nothing else names them.
template <class Visit>
void for_screens(Visit visit) {
    visit.template operator()<&State::step, step::kScreen>();
    visit.template operator()<&State::compare, compare::kScreen>();
    visit.template operator()<&State::race, race::kScreen>();
    visit.template operator()<&State::timing, timing::kScreen>();
    visit.template operator()<&State::levels, levels::kScreen>();
    visit.template operator()<&State::limits, limits::kScreen>();
    visit.template operator()<&State::lessons, lessons::kScreen>();
    visit.template operator()<&State::programs, programs::kScreen>();
}

// Where the program is a page.
input::Actions<State> page_actions() {
    const auto copy = [](State& state, session::Session& session) {
        const Link link = link_to(state);
        session.message = session.recording && !link.any()
                              ? "This recording is here alone; put its file on a server to link to it."
                              : "The link to what is shown is on the clipboard.";
        if (link.any() || !session.recording) platform::copy_link(text_of(link));
    };
    using Act = input::Action<State>;
    return input::under<State>(
        "Recordings", {Act{"copy_link", "copy the link to this step", "I", input::key(Key::I), copy}.needing(
                           &platform::Abilities::links),
                       Act{"full_screen", "the whole screen, or back", "Z", input::key(Key::Z),
                           [](session::Session&) { platform::toggle_full_screen(); }}
                           .needing(&platform::Abilities::full_screen)});
}

// What can be done, and who does it.
struct Doing {
    std::vector<input::Offer> offers;
    std::vector<std::function<void(State&)>> apply;

    template <auto member>
    void add(const auto& actions) {
        for (const auto& action : actions) {
            offers.push_back(action);
            apply.push_back([action](State& state) { action.apply(state.*member, state.session); });
        }
    }
};

const Doing& doing() {
    static const Doing all = [] {
        Doing made;
        made.add<&State::input>(input::walking());
        for_screens([&]<auto member, const auto & screen>() {
            if (screen.actions != nullptr) made.add<member>(screen.actions());
        });
        input::Actions<input::State> tabs;
        for (const ScreenRow& screen : screens()) {
            const int number = number_key(screen);
            const auto show = [option = screen.option](session::Session& s) { s.screen = option; };
            tabs.emplace_back(fmt::format("screen_{}", screen.option),
                              fmt::format("the {} screen", screen.name), std::to_string(number),
                              input::key(static_cast<Key>(static_cast<int>(Key::Digit0) + number)),
                              input::Chord{}, show, "Show");
            if (screen.option == std::string_view(session::kProgramScreen))
                tabs.back().needs = &platform::Abilities::programs;
        }
        made.add<&State::input>(tabs);
        made.add<&State::input>(input::looks());
        made.add<&State::input>(input::files());
        for (const auto& action : page_actions()) {
            made.offers.push_back(action);
            made.apply.push_back([action](State& state) { action.apply(state, state.session); });
        }
        made.add<&State::input>(terms());
        return made;
    }();
    return all;
}

// Grants all that keys, buttons and boxes asked for, and what that asks for in turn.
void grant_wishes(State& state) {
    session::Session& session = state.session;
    while (!session.wishes.empty())
        for (const session::Wish& wish : std::exchange(session.wishes, {})) {
            if (const auto* const action = std::get_if<session::wish::Do>(&wish)) act(state, action->name);
            if (const auto* const picture = std::get_if<session::wish::SavePicture>(&wish))
                state.pictures.push_back(*picture);
            if (std::holds_alternative<session::wish::Quit>(wish)) state.quits = true;
            input::grant(state.input, session, wish);
            for (const ScreenRow& screen : screens()) screen.grant(state, session, wish);
        }
}

// What was asked for, and what the screens make of it. True while something is to come.
bool grant(State& state, bool wait) {
    if (state.session.opening) session::update(state.session, wait);
    grant_wishes(state);
    input::update(state.input, state.session);
    bool coming = false;
    for (const ScreenRow& screen : screens()) coming = screen.update(state, state.session, wait) || coming;
    grant_wishes(state);  // of a stop that was walked to
    arrive(state);
    return coming;
}

// A key, to whoever has the keyboard now.
void take(State& state, const KeyPress& press) {
    input::State& over = state.input;
    session::Session& session = state.session;
    if (input::overlay_open(over)) return input::press_in_overlay(over, session, offers(), press);
    if (over.form.open && input::is_form_key(press)) return over.form.keys.push_back(press);
    for (const ScreenRow& screen : screens())
        if (screen.listens(state, session, press)) return;
    if (!over.show_keys && !press.control && !press.alt && screen_of(state).press(state, session, press))
        return;
    if (press.character == U'.' && session.lecture) {  // what clickers send
        session.blank = true;
        return;
    }
    for (size_t at = 0; at < offers().size(); ++at)
        if (can(session, offers()[at]) && means(offers()[at], press)) return doing().apply[at](state);
}

// How the screens' names stand in the bar beside its buttons.
struct Tabs {
    Size size = Size::Body;
    float gap = 0;       // between two, in pixels
    bool named = false;  // the program's name has room before them, and the recording's shortest behind
};
Tabs tabs_in(const input::Ui<State>& ui, const Rect& rect, float buttons) {
    const auto wide = [&](Face face, Size size, std::string_view text) {
        return draw::text_size(ui.font(face, size), text).x;
    };
    for (const Size size : {Size::Body, Size::Small}) {
        float words = 0, tabs = 0;
        for (const ScreenRow& screen : screens())
            if (&screen == &screen_of(ui.state) || screen.there == nullptr || screen.there(ui.session))
                words += wide(Face::Strong, size, screen.name), ++tabs;
        const float left = rect.width() - ui.px(16) - words - buttons;
        const float gap = std::clamp(left / std::max(tabs, 1.f), ui.px(4), ui.px(20));
        if (gap < ui.px(10) && size != Size::Small) continue;
        float names = ui.px(24) + wide(Face::Strong, size, "Tilescope");
        if (ui.session.recording)
            names += wide(Face::Mono, Size::Small, look::recording_names(*ui.session.recording).back());
        return {size, gap, names + tabs * ui.px(20) <= left};
    }
    return {};
}

void top_bar(input::Ui<State>& ui, const Rect& rect) {
    ui.list.AddRectFilled(rect.min, rect.max, ui.ink(Ink::Panel));
    ui.list.AddLine({rect.min.x, rect.max.y}, rect.max, ui.ink(Ink::Line));
    const float h = ui.px(28), top = rect.min.y + (rect.height() - h) / 2;
    const Tabs tabs = tabs_in(ui, rect, ui.px(224));
    const float high = line_height(ui, tabs.size), text_y = rect.min.y + (rect.height() - high) / 2;
    float x = rect.min.x + ui.px(16);
    if (tabs.named)
        x += line(ui, {x, text_y}, ui.px(120), Face::Strong, tabs.size, Ink::Text, "Tilescope") + ui.px(20);
    for (const ScreenRow& screen : screens()) {
        const bool here = &screen == &screen_of(ui.state);
        if (!here && screen.there != nullptr && !screen.there(ui.session)) continue;
        const float tab = draw::text_size(ui.font(Face::Strong, tabs.size), screen.name).x;
        const float aside = std::min(ui.px(6), tabs.gap / 2);
        const Rect box{{x - aside, rect.min.y}, {x + tab + aside, rect.max.y}};
        const Ink ink = here || ui.over(box) ? Ink::Text : Ink::TextQuiet;
        line(ui, {x, text_y}, tab + 2, Face::Strong, tabs.size, ink, screen.name);
        if (here)
            ui.list.AddRectFilled({x, rect.max.y - ui.px(3)}, {x + tab, rect.max.y}, ui.ink(Ink::Accent));
        if (ui.over(box)) ui.tip = fmt::format("{} ({})", screen.about, number_key(screen));
        if (ui.clicked(box)) ui.session.screen = screen.option;
        x += tab + tabs.gap;
    }
    x += ui.px(4);

    float right = rect.max.x - ui.px(12);
    const auto asks = [&](const char* action, float width, const char* words, bool on, const char* tip) {
        const Rect box{{right - ui.px(width), top}, {right, top + h}};
        right = box.min.x - ui.px(6);
        if (button(ui, box, words, on, true, tip)) input::ask(ui, action);
    };
    asks("keys", 30, "?", ui.state.input.show_keys, "All keys (?)");
    asks("theme", 56, ui.session.theme == draw::Theme::Light ? "Dark" : "Light", false, "Light or dark (T)");
    asks("record", 92, "Record\u2026", ui.state.input.form.open, "Record another kernel or size (R)");
    right -= ui.px(14);
    if (ui.session.recording && !ui.session.question.hides(session::Hide::Shape)) {
        const std::vector<std::string> names = look::recording_names(*ui.session.recording);
        const draw::Font font = ui.font(Face::Mono, Size::Small);
        const float small = line_height(ui, Size::Small);
        std::vector<std::string> shown = names;  // or none, where not even the shortest has room
        shown.emplace_back();
        line(ui, {right, rect.min.y + (rect.height() - small) / 2}, right - x, Face::Mono, Size::Small,
             Ink::TextQuiet, fitting(font, shown, right - x), draw::Align::Right);
        if (ui.over({{x, rect.min.y}, {right, rect.max.y}})) ui.tip = names.front();
    }
}

// Words over all else, on the opposite of the ground, a line below the other; at: of the first.
struct Label {
    const draw::Font& font;
    std::vector<std::string> lines;

    float pitch() const { return std::round(font.px * 1.3f); }
    float height() const { return font.px + pitch() * static_cast<float>(lines.size() - 1); }
    float width() const {
        float widest = 0;
        for (const std::string& text : lines) widest = std::max(widest, draw::text_size(font, text).x);
        return widest;
    }
};
void label(draw::Ui& ui, const Label& words, ImVec2 at, float pad) {
    ImDrawList& over = *ImGui::GetForegroundDrawList();
    over.AddRectFilled({at.x - pad, at.y - pad / 2},
                       {at.x + words.width() + pad, at.y + words.height() + pad / 2}, ui.ink(Ink::Text),
                       ui.px(4));
    draw::Ui quiet = ui;
    quiet.mouse = false;  // its words are not pointed at
    for (size_t i = 0; i < words.lines.size(); ++i)
        put(quiet, over, words.font, {at.x, at.y + words.pitch() * static_cast<float>(i)},
            ui.context.palette.text_on(ui.ink(Ink::Text)), words.lines[i]);
}

// Beside the mouse, no wider than half the window, and whole in it.
void tooltip(draw::Ui& ui, const Rect& screen) {
    if (ui.tip.empty() || ui.context.still) return;
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const float pad = ui.px(8);
    const float room = screen.width() - pad * 4, half = std::max(ui.px(240), screen.width() / 2 - pad * 2);
    const float most = std::min({room, half, ui.px(560)});
    Label words{font, draw::wrapped(font, ui.tip, most)};
    for (std::string& text : words.lines) text = draw::elided(font, text, most);  // of one long word
    const ImVec2 size{words.width() + pad * 2, words.height() + pad * 2};
    ImVec2 at{ui.cursor().x + ui.px(14), ui.cursor().y + ui.px(18)};
    at.x = std::clamp(at.x, screen.min.x, std::max(screen.min.x, screen.max.x - size.x));
    if (at.y + size.y > screen.max.y) at.y = std::max(screen.min.y, ui.cursor().y - size.y - ui.px(8));
    label(ui, words, {at.x + pad, at.y + pad / 2}, pad);
}

// What is being opened, and what went wrong. said: the screen says the latter itself.
void notice(input::SessionUi& ui, const Rect& screen, bool said) {
    const std::string opening = said && !ui.session.recording ? "" : session::opening_words(ui.session);
    const std::string& words = opening.empty() && !said ? ui.session.message : opening;
    if (words.empty()) return;
    const draw::Font font = ui.font(Face::Text, Size::Body);
    const float pad = ui.px(12);
    const Label text{font, {draw::elided(font, words, screen.width() - ui.px(64) - pad * 2)}};
    label(ui, text,
          {std::round((screen.min.x + screen.max.x - text.width()) / 2),
           screen.max.y - text.height() - ui.px(32)},
          pad);
}

}  // namespace

std::span<const ScreenRow> screens() {
    static const std::vector<ScreenRow> all = [] {
        std::vector<ScreenRow> rows;
        for_screens([&]<auto member, const auto & screen>() { rows.push_back(row<member, screen>()); });
        return rows;
    }();
    return all;
}

int number_key(const ScreenRow& row) { return static_cast<int>(&row - screens().data()) + 1; }

const ScreenRow* find_screen(std::string_view option) {
    for (const ScreenRow& screen : screens())
        if (option == screen.option) return &screen;
    return nullptr;
}

const ScreenRow& screen_of(const State& state) {
    const ScreenRow* const found = find_screen(state.session.screen);
    return found != nullptr ? *found : screens().front();
}

std::span<const input::Offer> offers() { return doing().offers; }

bool perform(State& state, std::string_view name) {
    for (size_t at = 0; at < offers().size(); ++at) {
        if (name != offers()[at].name) continue;
        doing().apply[at](state);
        return true;
    }
    return false;
}

bool act(State& state, std::string_view name) {
    const size_t colon = std::min(name.find(':'), name.size());
    const std::string_view kind = name.substr(0, colon), what = name.substr(std::min(colon + 1, name.size()));
    if (perform(state, name) || input::go_to_place(state.session, kind, what)) return true;
    const std::vector<session::Example>& ship = state.session.assets.examples();
    if (kind != "example" || std::ranges::find(ship, what, &session::Example::name) == ship.end())
        return false;
    session::open_example(state.session, what);
    return true;
}

void handle_input(State& state, const platform::Input& input, bool wait) {
    // The key that made the next character blanked the screen, brought it back, or opened what is typed into.
    bool spent = false;
    for (const KeyPress& press : input.presses) {
        if (std::exchange(spent, false) && press.character != 0) continue;
        const bool blank = state.session.blank, open = input::overlay_open(state.input);
        if (blank)  // any key ends the blank screen
            state.session.blank = false;
        else
            take(state, press);
        spent = press.character == 0 && !press.control && !press.alt &&
                (state.session.blank != blank || (!open && input::overlay_open(state.input)));
        grant(state, wait);
    }
}

bool update(State& state, bool wait) {
    const bool coming = grant(state, wait);
    return session::update(state.session, wait) || coming;
}

namespace {

// Files that were dropped or chosen. Of two recordings the second one is set beside the first, once that is open.
void take_files(State& state, const platform::Input& input) {
    session::Session& session = state.session;
    std::string& second = state.input.second;
    size_t recordings = 0;
    if (!input.dropped.empty()) second.clear();
    for (const std::string& path : input.dropped) {
        // One that is shown already is run again.
        if (session.can.programs && session::is_program(path) &&
            !(session.program && session.program->order.path == path)) {
            input::ask_to_run(state.input, session, path);
            continue;
        }
        if (path.ends_with(".tsc") && recordings++ > 0) {
            second = path;
            continue;
        }
        session.walking = false;
        session::open_file(session, path, input.beside && session.recording != nullptr, input.origin);
    }
    if (second.empty() || session.opening) return;
    const std::string path = std::exchange(second, {});
    if (session.recording && session.message.empty()) session::open_file(session, path, true);
}

// Text of the clipboard goes where text is typed.
void take_pasted(State& state, const platform::Input& input) {
    if (input.pasted.empty()) return;
    if (ImGui::GetIO().WantTextInput) return ImGui::GetIO().AddInputCharactersUTF8(input.pasted.c_str());
    if (!input::overlay_open(state.input)) return;
    constexpr size_t kMost = 4096;  // as the longest path
    std::string_view left = beginning_of(input.pasted, kMost);
    while (!left.empty()) {
        unsigned int character = 0;
        const int bytes = ImTextCharFromUtf8(&character, left.data(), left.data() + left.size());
        left.remove_prefix(static_cast<size_t>(std::max(bytes, 1)));
        if (character >= 0x20)
            input::press_in_overlay(state.input, state.session, offers(), {.character = character});
    }
}

}  // namespace

void draw_frame(State& state, const platform::Input& input, const Canvas& canvas,
                draw::DrawContext& context) {
    session::Session& session = state.session;
    input::State& over = state.input;

    // What the person did. A line of text has the keyboard; a key closes a list that lies open, and does what
    // it always does: Esc nothing more.
    take_files(state, input);
    if (input.link) {
        const ReadLink read = read_link(*input.link);
        follow(state, read.link, read.problem);
        if (!read.problem.empty()) session.message = read.problem;
    }
    if (!input.said.empty()) {
        session.message = input.said;
        state.arriving.reset();  // what was to be fetched is not to be had
    }
    const bool list_open = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
    const bool escaped = std::ranges::find(input.presses, platform::Key::Escape, &platform::KeyPress::key) !=
                         input.presses.end();
    context.closes_lists = list_open && !context.typing && !input.presses.empty();
    if (input::overlay_open(over) || (!context.typing && !(list_open && escaped)))
        handle_input(state, input, context.waits);
    else if (over.form.open)
        over.form.keys.insert(over.form.keys.end(), input.presses.begin(), input.presses.end());

    take_pasted(state, input);  // into what those keys opened

    // What goes on by itself.
    session::advance(session, input.dt);
    context.soon = update(state, context.waits);
    context.another_frame = session.playback.playing || !over.form.keys.empty();

    context.paper = state.paper;

    // What is seen: panels have the mouse unless a form or a list of keys lies over them.
    const Rect screen{{0, 0}, {static_cast<float>(canvas.width), static_cast<float>(canvas.height)}};
    look::Pick hovered;
    input::Ui<State> ui{{{context, *ImGui::GetBackgroundDrawList()}, session, offers(), hovered}, state};
    ui.mouse = !ImGui::GetIO().WantCaptureMouse &&
               ((!over.show_keys && !input::overlay_open(over)) || context.still) && ImGui::IsMousePosValid();
    if (state.page != State::Page::None) return draw_page(state, ui, screen);
    const Rect bar{screen.min,
                   {screen.max.x, ui.px(state.paper || state.step.subject || state.linked.embed ? 0
                                        : screen.height() < ui.px(860)                          ? 40
                                                                                                : 44)}};
    // The glossary begins with the words of the frame that it lies over.
    draw::Inspection words;
    draw::Inspection* const inspection = context.inspection;
    const bool looks = std::exchange(over.glossary.looks, false);
    if (looks) context.inspection = &words;
    if (bar.height() > 0) top_bar(ui, bar);
    float below = bar.max.y;
    const ScreenRow& shown = screen_of(state);
    for (const ScreenRow& one : screens()) {
        // A strip lies between the bar and the screen that it speaks of.
        if ((&one == &shown && !one.keeps_strip(state)) || state.paper) continue;
        const Rect area{{ui.px(8), below + ui.px(8)}, {screen.max.x - ui.px(8), screen.max.y}};
        if (const float height = one.strip(ui, area); height > 0) below += height + ui.px(8);
    }
    const Rect rest{{screen.min.x, below}, screen.max};
    const bool hides = shown.hides_itself != nullptr && shown.hides_itself(session.question);
    if (session.question.hides_any() && !hides)
        hidden_panel(ui, rest.inset(ui.px(8)));
    else
        shown.draw(ui, rest);
    if (looks) {
        over.glossary.here = input::words_of(words);
        context.inspection = inspection;
        if (inspection != nullptr) *inspection = std::move(words);
    }
    if (session.hover != hovered) context.another_frame = true;
    session.hover = hovered;

    if (context.panels != nullptr) input::point_at_panels(ui, over, *context.panels, screen);

    // What lies over it.
    input::Ui<input::State> top{ui, over};
    top.mouse = ImGui::IsMousePosValid();
    input::record_form(top, screen, ui.px(52));
    input::keys_overlay(top, screen, offers());
    input::command_palette(top, screen, offers());
    input::path_box(top, screen);
    input::panel_menu(top, screen);
    input::glossary_box(top, screen, offers());
    notice(top, screen, shown.says_messages);
    tooltip(top, screen);
    if (!over.glossary.open) explain(top, screen, over.resting);  // which says it all itself
    if (session.blank) ImGui::GetForegroundDrawList()->AddRectFilled(screen.min, screen.max, draw::rgb(0));

    // What was clicked.
    const bool asked = !session.wishes.empty();
    context.soon = grant(state, context.waits) || context.soon;
    context.another_frame = context.another_frame || asked;
}

std::string window_title(const State& state) {
    const session::Session& session = state.session;
    if (!session.recording) return "Tilescope";
    const trace::Trace& trace = session.trace();
    std::string title = analysis::title_of(*session.recording);
    if (session.cursor.block < trace.blocks.size() && trace.steps() > 0) {
        const trace::Block& block = trace.blocks[session.cursor.block];
        title += fmt::format(
            " - step {} of {} of {}", grouped(session.cursor.step + 1), grouped(block.count),
            block_name(trace.launch.grid, {block.x, block.y, block.z}, session.recording->notation));
    }
    return title + " - Tilescope";
}

}  // namespace tilescope::app
