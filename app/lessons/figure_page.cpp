// A figure over the whole screen, and the list of all of them.
//
//   +------------------------------------------------------+
//   | title                                          model |
//   | what to look at                                      |
//   | Warps   <---o------>   8      Cycles ...             |
//   | +--------------------------------------------------+ |
//   | | the figure                                       | |
//   | +--------------------------------------------------+ |
//   | what follows, in a sentence                          |
//   +------------------------------------------------------+
//
// The arrows choose a parameter and change it; a slider is dragged.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/panels.h"

namespace tilescope::lessons {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

namespace {

void change(FigureShown& shown, size_t at, int value) {
    const FigureParameter& parameter = shown.figure->parameters[at];
    shown.parameter = at;
    shown.set[at] = std::clamp(value, parameter.least, parameter.most);
}

// Width of the longest value that a parameter can have, whatever its digits.
float value_width(const Ui& ui, const FigureParameter& parameter) {
    const draw::Font font = ui.font(Face::Strong, Size::Body);
    float width = 0;
    const auto holds = [&](std::string_view text) {
        width = std::max(width, draw::text_size(font, text).x + ui.px(2));
    };
    for (const std::string& word : parameter.words) holds(word);
    const size_t digits = value_words(parameter, parameter.most).size();
    for (char digit = '0'; parameter.words.empty() && digit <= '9'; ++digit)
        holds(std::string(digits, digit));
    return width;
}

// Whether it changes nothing of what is shown: then it is greyed.
bool is_idle(const FigureShown& shown, size_t at, const session::Session& session) {
    return shown.figure->idle != nullptr && shown.figure->idle(at, shown.set, session);
}

// Label, slider and value; on paper no slider.
void slider(Ui& ui, const Rect& rect, size_t at) {
    FigureShown& shown = *ui.state.shown;
    const FigureParameter& parameter = shown.figure->parameters[at];
    const bool chosen = at == shown.parameter && !ui.context.paper;
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    if (is_idle(shown, at, ui.session)) {
        line(ui, rect.min, rect.width(), Face::Text, Size::Small, Ink::TextFaint, parameter.label);
        const float y = rect.min.y + small + body / 2;
        if (!ui.context.paper)
            ui.list.AddRectFilled({rect.min.x + ui.px(6), y - ui.px(2)},
                                  {rect.max.x - ui.px(14), y + ui.px(2)}, ui.ink(Ink::Line), ui.px(2));
        if (ui.over(rect)) ui.tip = "It is the model's: the recording has its own.";
        return;
    }
    line(ui, rect.min, rect.width(), chosen ? Face::Strong : Face::Text, Size::Small,
         chosen ? Ink::Text : Ink::TextQuiet, parameter.label);
    if (ui.context.paper) {
        line(ui, {rect.min.x, rect.min.y + small}, rect.width(), Face::Strong, Size::Body, Ink::Text,
             value_words(parameter, shown.set[at]));
        return;
    }
    const float value = std::min(value_width(ui, parameter), rect.width() * 0.8f);
    const float y = rect.min.y + small + body / 2, from = rect.min.x + ui.px(6),
                to = rect.max.x - value - ui.px(14);
    const int span = std::max(1, parameter.most - parameter.least);
    const float part = static_cast<float>(shown.set[at] - parameter.least) / static_cast<float>(span);
    const float x = from + (to - from) * part;
    ui.list.AddRectFilled({from, y - ui.px(2)}, {to, y + ui.px(2)}, ui.ink(Ink::LineStrong), ui.px(2));
    ui.list.AddRectFilled({from, y - ui.px(2)}, {x, y + ui.px(2)}, ui.ink(Ink::Accent), ui.px(2));
    ui.list.AddCircleFilled({x, y}, ui.px(chosen ? 8.f : 6.f), ui.ink(Ink::Accent));
    line(ui, {to + ui.px(14), y - body / 2}, value, Face::Strong, Size::Body, Ink::Text,
         value_words(parameter, shown.set[at]));
    const Rect grip{{from - ui.px(8), rect.min.y}, {to + ui.px(8), rect.max.y}};
    if (ui.session.question.open || !ui.mouse || !ImGui::IsMouseDown(0) ||
        !grip.contains(ImGui::GetIO().MouseClickedPos[0]))
        return;
    const float along = std::clamp((ui.cursor().x - from) / (to - from), 0.f, 1.f);
    const float steps = along * static_cast<float>(span) / static_cast<float>(parameter.step);
    change(shown, at, parameter.least + parameter.step * static_cast<int>(std::lround(steps)));
}

}  // namespace

void show_figure(State& state, session::Session& session, const Figure& figure, std::vector<int> set) {
    if (set.empty()) set = first_set(figure);
    state.shown = FigureShown{&figure, std::move(set), 0};
    state.figure = static_cast<size_t>(&figure - figures().data());
    session.screen = kScreen.option;
}

void figure_page(Ui& ui, const Rect& area) {
    FigureShown& shown = *ui.state.shown;
    const Figure& figure = *shown.figure;
    const Rect card = area.inset(ui.px(8));
    surface(ui, card);
    const Rect in = card.inset(ui.px(20));
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    float y = in.min.y;
    // What follows, and whether it is of the model or of the recording that is open alone.
    const std::string assumed = figure.concludes(shown.set);
    std::string follows = figure.concludes_of == nullptr ? "" : figure.concludes_of(shown.set, ui.session);
    const bool assumes = follows.empty() || follows.starts_with(assumed);
    const std::string model = !assumes ? "recorded" : figure.recorded_alone ? "not recorded" : "model";
    if (follows.empty()) follows = assumed;
    const float chip = draw::text_size(ui.font(Face::Strong, Size::Small), model).x + ui.px(16);
    ui.list.AddRect({in.max.x - chip, y + ui.px(4)}, {in.max.x, y + ui.px(8) + small},
                    ui.ink(Ink::LineStrong), ui.px(4));
    line(ui, {in.max.x - ui.px(8), y + ui.px(6)}, chip, Face::Strong, Size::Small, Ink::TextQuiet, model,
         draw::Align::Right);
    // In a lesson for the back row the figure needs the room more: its stop says what to look at.
    const bool tight = in.height() < ui.px(400);
    y += paragraph(ui, {in.min.x, y}, in.width() - chip - ui.px(16), Face::Strong,
                   tight ? Size::Title : Size::Display, Ink::Text, figure.title, 2);
    if (!tight)
        y += paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Body, Ink::TextQuiet, figure.look, 2);
    y += ui.px(tight ? 4.f : 12.f);
    // The sliders side by side: each has room for its label and longest value, and shares what is left.
    const size_t count = figure.parameters.size();
    const float gap = ui.px(count > 4 ? 20.f : 28.f), high = small + body + ui.px(4);
    std::vector<float> widths;
    float left = in.width() - gap * static_cast<float>(count - 1);
    for (const FigureParameter& parameter : figure.parameters) {
        const float label = draw::text_size(ui.font(Face::Strong, Size::Small), parameter.label).x + ui.px(2);
        widths.push_back(std::max(label, value_width(ui, parameter) + ui.px(60)));
        left -= widths.back();
    }
    float x = in.min.x;
    for (size_t at = 0; at < count; ++at) {
        const float width =
            std::min(widths[at] + left / static_cast<float>(count), std::max(widths[at], ui.px(420)));
        slider(ui, {{x, y}, {x + width, y + high}}, at);
        x += width + gap;
    }
    y += high + ui.px(tight ? 8.f : 16.f);
    // What follows stands below; its place is kept for three lines.
    const draw::Font large = ui.font(Face::Text, Size::Title), usual = ui.font(Face::Text, Size::Body);
    const bool fits = wrapped(large, follows, in.width()).size() <= 2;
    const Size size = fits ? Size::Title : Size::Body;
    const auto lines = wrapped(fits ? large : usual, follows, in.width()).size();
    const float below = line_height(ui, size) * static_cast<float>(lines);
    // Below the strip of a lesson for the back row, which says it too, the figure needs the room.
    const bool said = ui.session.walking && tight;
    const Rect drawing{{in.min.x, y}, {in.max.x, said ? in.max.y : in.max.y - below - ui.px(14)}};
    figure.draw(ui, drawing, shown.set, ui.session);
    if (said) return;
    if (ui.session.question.hides(session::Hide::Numbers)) {
        if (ui.context.paper) return;  // there it never opens
        line(ui, {in.min.x, in.max.y - below}, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
             "What is left out is shown once the question above is answered.");
        return;
    }
    paragraph(ui, {in.min.x, in.max.y - below}, in.width(), Face::Text, size, Ink::Text, follows,
              static_cast<int>(lines));
}

void figure_list_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(24));
    const ListType type = list_type(ui, in);
    const float body = line_height(ui, type.words), small = line_height(ui, type.notes), pad = ui.px(4);
    const float width = type.width;
    float y = in.min.y;
    y += paragraph(ui, {in.min.x, y}, width, Face::Strong, Size::Display, Ink::Text, kFigures, 2) + ui.px(8);
    y += paragraph(ui, {in.min.x, y}, width, Face::Text, Size::Body, Ink::Text,
                   "Small models of what no recording holds; what they assume can be changed. One shows a "
                   "GPU's clocks.") +
         ui.px(4);
    note(ui, {in.min.x, y}, width, "Enter opens; \u2190 \u2192 choose a figure.");
    y += small + ui.px(12);
    const float high = body + small + pad * 2;
    // Where there is no room for all, the last ones that are drawn end with the chosen one.
    const auto fit = static_cast<size_t>(std::max(1.f, (in.max.y + pad - y) / high));
    const size_t first = ui.state.figure < fit ? 0 : ui.state.figure + 1 - fit;
    for (size_t at = first; at < std::min(figures().size(), first + fit); ++at, y += high) {
        const Figure& figure = figures()[at];
        const Rect row{{in.min.x, y}, {in.min.x + width, y + high}};
        const float room = width - ui.px(type.words == Size::Body ? 40 : 48) - ui.px(8);
        const bool fits = draw::text_size(ui.font(Face::Text, type.notes), figure.look).x <= room;
        entry_row(ui, row, at, at == ui.state.figure, type, pad, figure.title, fits ? figure.look : "");
        if (ui.clicked(row)) show_figure(ui.state, ui.session, figure);
    }
}

bool press_figure(State& state, session::Session& session, const input::KeyPress& press) {
    using input::Key;
    const int by = input::along(press, Key::Left, Key::Right), down = input::along(press, Key::Up, Key::Down);
    if (state.shown) {
        FigureShown& shown = *state.shown;
        const size_t count = shown.figure->parameters.size();
        if (down != 0)
            shown.parameter = std::clamp<size_t>(shown.parameter + count + static_cast<size_t>(down), count,
                                                 2 * count - 1) -
                              count;
        else if (by != 0 && !is_idle(shown, shown.parameter, session))
            change(shown, shown.parameter,
                   shown.set[shown.parameter] + by * shown.figure->parameters[shown.parameter].step);
        return by != 0 || down != 0;
    }
    if (!lists_figures(state)) return false;
    if (press.key == Key::Enter) show_figure(state, session, figures()[state.figure]);
    if (by != 0)
        state.figure =
            std::clamp<size_t>(state.figure + 1 + static_cast<size_t>(by), 1, figures().size()) - 1;
    return press.key == Key::Enter || by != 0;
}

}  // namespace tilescope::lessons
