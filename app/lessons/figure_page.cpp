// A figure over the whole screen, and the list of all of them.
//
//   +------------------------------------------------------+
//   | title                                          model |
//   | what to look at                                      |
//   | Warps   <---o------>   8      Device [G80][H200] ... |
//   | +--------------------------------------------------+ |
//   | | the figure                                       | |
//   | +--------------------------------------------------+ |
//   | what follows, in a sentence                          |
//   +------------------------------------------------------+
//
// The controls are those of figure_controls.cpp: the arrows choose a parameter and change it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/panels.h"

namespace tilescope::lessons {

using draw::Face, draw::Ink, draw::Rect, draw::Size;
namespace {

// Its time can run: it has one, and what is shown depends on it.
bool plays(const FigureShown& shown, const session::Session& session) {
    const FigureParameter* const time = time_of(*shown.figure);
    return time != nullptr &&
           !is_idle(shown, static_cast<size_t>(time - shown.figure->parameters.data()), session);
}

}  // namespace

void show_figure(State& state, session::Session& session, const Figure& figure, std::vector<int> set) {
    if (set.empty()) set = first_set(figure);
    state.shown = FigureShown{&figure, std::move(set)};
    state.figure = static_cast<size_t>(&figure - figures().data());
    session.screen = kScreen.option;
}

void figure_page(Ui& ui, const Rect& area) {
    FigureShown& shown = *ui.state.shown;
    const Figure& figure = *shown.figure;
    go_on_playing(ui, shown);
    const Rect card = area.inset(ui.px(8));
    surface(ui, card);
    const Rect in = card.inset(ui.px(20));
    const float small = line_height(ui, Size::Small);
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
    if (plays(shown, ui.session) && !ui.context.paper) {
        const Rect box{{in.max.x - chip - ui.px(92), y},
                       {in.max.x - chip - ui.px(12), y + small + ui.px(10)}};
        if (button(ui, box, shown.plays_from ? "Pause" : "Play", shown.plays_from.has_value(),
                   !ui.session.question.open, "Runs its time (Space)"))
            play_figure(shown);
    }
    // In a lesson for the back row the figure needs the room more: its stop says what to look at.
    const bool tight = in.height() < ui.px(400);
    y += paragraph(ui, {in.min.x, y}, in.width() - chip - ui.px(108), Face::Strong,
                   tight ? Size::Title : Size::Display, Ink::Text, figure.title, 2);
    if (!tight)
        y += paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Body, Ink::TextQuiet, figure.look, 2);
    y += ui.px(tight ? 4.f : 12.f);
    y += figure_controls(ui, {in.min.x, y}, in.width()) + ui.px(tight ? 8.f : 16.f);
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
        if (press.key == Key::Space && plays(shown, session) && !session.question.open) {
            play_figure(shown);
            return true;
        }
        if (down != 0) choose_parameter(shown, down, session);
        if (by != 0 && !is_idle(shown, shown.parameter, session))
            change_parameter(
                shown, shown.parameter,
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
