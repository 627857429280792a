// The strip of a question, above the screen that is shown. While it is open:
//
//   | Coalescing   3 of 6   2 of 2 right                            [Previous] [Show] [Leave]
//   | How many sectors does this load need?
//   | [ 32_      ]   Type a number; Enter checks it, Page Down shows the answer.
//
// and once it was revealed what was right, why, and what the stop says:
//
//   | Coalescing   3 of 6   3 of 3 right                            [Previous] [Next] [Leave]
//   | o Right: 32 sectors.
//   | The lanes read down a column, a row apart. ...
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/lessons/asking.h"
#include "app/lessons/panels.h"

namespace tilescope::lessons {
namespace {

using draw::Face, draw::Ink, draw::Rect, draw::Size;
using Takes = session::Question::Takes;

constexpr int kMostLines = 4;

const char* hint_of(Takes takes) {
    switch (takes) {
        case Takes::Typed: return "Type a number; Enter checks it, Page Down shows the answer.";
        case Takes::Choice: return "Press a letter; Enter checks it, Page Down shows the answer.";
        case Takes::Cells:
            return "Click cells, or arrow keys and Space; Enter checks them, Page Down shows the answer.";
        case Takes::Lanes:
            return "Click lanes, or arrow keys and Space; Enter checks them, Page Down shows the answer.";
        case Takes::Bank:
            return "Click a bank, or type its number; Enter checks it, Page Down shows the answer.";
        case Takes::Nothing: break;
    }
    return "Page Down shows the answer.";
}
const char* short_hint_of(Takes takes) {
    return takes == Takes::Typed || takes == Takes::Choice ? "Enter checks it, Page Down shows it."
                                                           : "Space takes, Enter checks, Page Down shows.";
}

// The first of them that has room. Esc leads out: while a number is typed, digits do not choose a screen.
std::vector<std::string> hints(Takes takes) {
    const std::string whole = hint_of(takes), brief = short_hint_of(takes);
    return {whole + " Esc leaves.", whole, brief + " Esc leaves.", brief};
}

// What was predicted so far, in a field of its own.
std::string predicted_words(const session::Question& asked) {
    switch (asked.takes) {
        case Takes::Cells: return asked.cells.empty() ? "" : counted(asked.cells.size(), "cell");
        case Takes::Lanes:
            return asked.lanes == 0 ? "" : counted(static_cast<uint64_t>(std::popcount(asked.lanes)), "lane");
        case Takes::Bank: return asked.bank ? fmt::format("bank {}", *asked.bank) : "";
        default: return asked.typed;
    }
}

void field(Ui& ui, const Rect& box, const session::Question& asked, Size size) {
    ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Ground), ui.px(4));
    ui.list.AddRect(box.min, box.max, ui.ink(Ink::Accent), ui.px(4), 0, ui.px(1.5f));
    const float high = line_height(ui, size), y = (box.min.y + box.max.y - high) / 2,
                x = box.min.x + ui.px(10);
    const std::string words = predicted_words(asked);
    const float width = words.empty()
                            ? line(ui, {x, y}, box.width() - ui.px(20), Face::Text, size, Ink::TextFaint, "?")
                            : line(ui, {x, y}, box.width() - ui.px(20), Face::Mono, size, Ink::Text, words);
    if (asked.takes == Takes::Typed)
        ui.list.AddRectFilled(
            {x + (words.empty() ? -ui.px(3) : width + ui.px(1)), box.min.y + ui.px(5)},
            {x + (words.empty() ? -ui.px(1.5f) : width + ui.px(2.5f)), box.max.y - ui.px(5)},
            ui.ink(Ink::Accent));
}

// Buttons "A  faster", on as many lines as they need. Returns the height taken; drawn: and they are drawn.
float choices(Ui& ui, ImVec2 at, float width, Size size, const std::vector<std::string>& words, bool drawn) {
    session::Question& asked = ui.session.question;
    const float high = line_height(ui, size) + ui.px(10), gap = ui.px(8);
    float x = at.x, y = at.y;
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string text = fmt::format("{}   {}", static_cast<char>('A' + i), words[i]);
        const float wide = std::min(draw::text_size(ui.font(Face::Text, size), text).x + ui.px(24), width);
        if (x > at.x && x + wide > at.x + width) {
            x = at.x;
            y += high + gap;
        }
        const Rect box{{x, y}, {x + wide, y + high}};
        x += wide + gap;
        if (!drawn) continue;
        const bool on = asked.choice == i;
        ui.list.AddRectFilled(box.min, box.max, ui.ink(on ? Ink::Accent : Ink::Raised), ui.px(4));
        if (ui.over(box) && !on) ui.list.AddRect(box.min, box.max, ui.ink(Ink::Accent), ui.px(4));
        const draw::Font font = ui.font(Face::Text, size);
        put(ui, ui.list, font, {box.min.x + ui.px(12), box.min.y + ui.px(5)},
            on ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text),
            draw::elided(font, text, wide - ui.px(20)));
        if (ui.clicked(box)) asked.choice = i;
    }
    return y + high - at.y;
}

// A disc for what is right, a triangle for what is not, nothing for what was only shown.
float verdict_sign(Ui& ui, ImVec2 at, float high, const AskedQuestion& asked) {
    if (!asked.predicted) return 0;
    const float half = high * 0.24f;
    const ImVec2 c{at.x + half, at.y + high / 2};
    if (asked.right)
        ui.list.AddCircleFilled(c, half, ui.ink(Ink::SharedLoad));
    else
        ui.list.AddTriangleFilled({c.x, c.y - half}, {c.x + half, c.y + half}, {c.x - half, c.y + half},
                                  ui.ink(Ink::Fault));
    return half * 2 + ui.px(10);
}

}  // namespace

void strip_buttons(Ui& ui, const Rect& strip, const char* on, const char* tip) {
    const State& state = ui.state;
    const float w = ui.px(84), h = ui.px(30), top = (strip.min.y + strip.max.y - h) / 2;
    float right = strip.max.x - ui.px(12);
    const auto press = [&](const char* label, bool strong, bool enabled, const char* says) {
        right -= w;
        const Rect box{{right, top}, {right + w, top + h}};
        right -= ui.px(6);
        return button(ui, box, label, strong, enabled, says);
    };
    if (press("Leave", false, true, state.quiz ? "No more questions (Esc)" : "End the lesson (Esc)"))
        ui.session.walking = false;
    if (press(on, true, true, tip)) input::ask(ui, "forth");
    if (!state.quiz && press("Previous", false, state.stop > 0, "Stop before (Page Up)"))
        input::ask(ui, "back");
}

float question_strip(Ui& ui, const Rect& area, const std::string& title) {
    State& state = ui.state;
    const AskedQuestion& asked = *state.asked;
    const bool open = !asked.revealed;
    const Standing& here = state.standing;
    const float room = area.width() - ui.px(16 * 2 + 24) - ui.px(3 * 84 + 2 * 6);
    const Size size = ui.session.lecture ? Size::Title : Size::Body;
    const float small = line_height(ui, Size::Small), body = line_height(ui, size);
    const auto lines_of = [&](Face face, Size in, const std::string& text) {
        return static_cast<float>(
            std::clamp<size_t>(wrapped(ui.font(face, in), text, room).size(), 1, kMostLines));
    };
    const std::vector<std::string> words = open ? here.choices : std::vector<std::string>();
    const std::string after =
        here.why + (here.words.empty() ? "" : (here.why.empty() ? "" : " ") + here.words);
    const bool large = lines_of(Face::Text, Size::Title, after) <= 3;
    const Size after_size = ui.session.lecture && large ? Size::Title : Size::Body;
    const std::string& head = open ? here.asks : asked.verdict;
    const float head_high = body * lines_of(Face::Strong, size, head);
    const float field_high = body + ui.px(10);
    float below = 0;
    if (!open)
        below = after.empty() ? 0 : line_height(ui, after_size) * lines_of(Face::Text, after_size, after);
    else
        below = ui.px(6) + (words.empty() ? field_high
                                          : choices(ui, {0, 0}, room, size, words, false) + small + ui.px(4));
    const float height = small + head_high + below + ui.px(18);
    const Rect rect{area.min, {area.max.x, area.min.y + height}};
    strip_ground(ui, rect, open ? Ink::Accent : Ink::Product);
    const float x = rect.min.x + ui.px(16);
    float y = rect.min.y + ui.px(7);
    const std::string tally = tally_words(state.tally);
    line(ui, {x, y}, room, Face::Strong, Size::Small, Ink::TextQuiet,
         title + (tally.empty() ? "" : "   " + tally));
    y += small;
    const float sign = open ? 0 : verdict_sign(ui, {x, y}, body, asked);
    paragraph(ui, {x + sign, y}, room - sign, Face::Strong, size, Ink::Text, head, kMostLines);
    y += head_high;
    if (!open) {
        paragraph(ui, {x, y}, room, Face::Text, after_size, Ink::Text, after, kMostLines);
    } else if (words.empty()) {
        y += ui.px(6);
        const float wide = ui.px(ui.session.lecture ? 200 : 160);
        field(ui, {{x, y}, {x + wide, y + field_high}}, ui.session.question, size);
        const Takes takes = ui.session.question.takes;
        note(ui, {x + wide + ui.px(14), y + (field_high - small) / 2}, room - wide - ui.px(14), hints(takes));
    } else {
        y += ui.px(6);
        y += choices(ui, {x, y}, room, size, words, true) + ui.px(4);
        note(ui, {x, y}, room, hints(Takes::Choice));
    }

    const bool predicted = ui.session.question.predicted();
    strip_buttons(ui, rect, open ? predicted ? "Check" : "Show" : "Next",
                  open ? "Show the answer (Page Down)" : "Go on (Page Down)");
    return height;
}

}  // namespace tilescope::lessons
