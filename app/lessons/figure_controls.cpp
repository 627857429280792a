// What changes a figure: a slider for a number, buttons for a choice of words, a list where they are too many for
// that; and its time, which Space runs.
//
//   Warps                      Last warp               Sizes of
//   <----o------->   8         [comes][stays away]     [H200     v]
//
// The arrows choose a parameter and change it; a slider is dragged.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/lessons/panels.h"
#include "core/base/words.h"

namespace tilescope::lessons {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

namespace {

// As the figure below it writes numbers.
std::string shown_value(const FigureParameter& parameter, int value) {
    return parameter.words.empty() && value >= 1000 ? grouped(static_cast<uint64_t>(value))
                                                    : value_words(parameter, value);
}

// Width of the longest value that a parameter can have, whatever its digits.
float value_width(const Ui& ui, const FigureParameter& parameter) {
    const draw::Font font = ui.font(Face::Strong, Size::Body);
    float width = 0;
    const auto holds = [&](std::string_view text) {
        width = std::max(width, draw::text_size(font, text).x + ui.px(2));
    };
    for (const std::string& word : parameter.words) holds(word);
    const std::string most = shown_value(parameter, parameter.most);
    for (char digit = '0'; parameter.words.empty() && digit <= '9'; ++digit) {
        std::string same = most;
        for (char& one : same) one = one == ',' ? one : digit;
        holds(same);
    }
    return width;
}

// A greyed label, and a line in the place of what is not asked.
void idle_control(Ui& ui, const Rect& rect, const FigureParameter& parameter) {
    const float small = line_height(ui, Size::Small),
                y = rect.min.y + small + line_height(ui, Size::Body) / 2;
    line(ui, rect.min, rect.width(), Face::Text, Size::Small, Ink::TextFaint, parameter.label);
    if (!ui.context.paper)
        ui.list.AddRectFilled({rect.min.x + ui.px(6), y - ui.px(2)}, {rect.max.x - ui.px(14), y + ui.px(2)},
                              ui.ink(Ink::Line), ui.px(2));
    if (ui.over(rect)) ui.tip = "It is the model's: the recording has its own.";
}

// Label, slider and value; on paper no slider.
void slider(Ui& ui, const Rect& rect, size_t at) {
    FigureShown& shown = *ui.state.shown;
    const FigureParameter& parameter = shown.figure->parameters[at];
    const bool chosen = at == shown.parameter && !ui.context.paper;
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    line(ui, rect.min, rect.width(), chosen ? Face::Strong : Face::Text, Size::Small,
         chosen ? Ink::Text : Ink::TextQuiet, parameter.label);
    if (ui.context.paper) {
        line(ui, {rect.min.x, rect.min.y + small}, rect.width(), Face::Strong, Size::Body, Ink::Text,
             shown_value(parameter, shown.set[at]));
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
         shown_value(parameter, shown.set[at]));
    const Rect grip{{from - ui.px(8), rect.min.y}, {to + ui.px(8), rect.max.y}};
    if (ui.session.question.open || !ui.mouse || !ImGui::IsMouseDown(0) ||
        !grip.contains(ImGui::GetIO().MouseClickedPos[0]))
        return;
    const float along = std::clamp((ui.cursor().x - from) / (to - from), 0.f, 1.f);
    const float steps = along * static_cast<float>(span) / static_cast<float>(parameter.step);
    change_parameter(shown, at, parameter.least + parameter.step * static_cast<int>(std::lround(steps)));
}

enum class Control : uint8_t { Slider, Buttons, List };

// A parameter and how it is drawn.
struct Placed {
    size_t at = 0;
    Control control = Control::Slider;
    float least = 0;  // width that it needs
};

float label_width(const Ui& ui, const FigureParameter& parameter) {
    return draw::text_size(ui.font(Face::Strong, Size::Small), parameter.label).x + ui.px(2);
}

// Words as buttons, the longest choices as lists where not all of them have room. room: for all of them.
std::vector<Placed> placed(Ui& ui, const Figure& figure, float room, float gap) {
    std::vector<Placed> made;
    float all = -gap;
    for (size_t at = 0; at < figure.parameters.size(); ++at) {
        const FigureParameter& parameter = figure.parameters[at];
        if (parameter.label.empty()) continue;
        const bool words = !parameter.words.empty() && !ui.context.paper;
        const Control control = words ? Control::Buttons : Control::Slider;
        const float own = words ? draw::choices_width(ui, parameter.words)
                                : value_width(ui, parameter) + ui.px(ui.context.paper ? 0 : 60);
        made.push_back({at, control, std::max(own, label_width(ui, parameter))});
        all += made.back().least + gap;
    }
    while (all > room) {
        Placed* longest = nullptr;
        for (Placed& one : made)
            if (one.control == Control::Buttons && (longest == nullptr || one.least > longest->least))
                longest = &one;
        if (longest == nullptr) break;
        const FigureParameter& parameter = figure.parameters[longest->at];
        const float list =
            std::max(draw::chooser_width(ui, parameter.words, ui.px(220)), label_width(ui, parameter));
        all += list - longest->least;
        longest->control = Control::List, longest->least = list;
    }
    return made;
}

void words_control(Ui& ui, const Rect& rect, const Placed& place) {
    FigureShown& shown = *ui.state.shown;
    const FigureParameter& parameter = shown.figure->parameters[place.at];
    const bool chosen = place.at == shown.parameter;
    const float small = line_height(ui, Size::Small);
    line(ui, rect.min, rect.width(), chosen ? Face::Strong : Face::Text, Size::Small,
         chosen ? Ink::Text : Ink::TextQuiet, parameter.label);
    ImVec2 at{rect.min.x, rect.min.y + small + ui.px(2)};
    const float high = rect.max.y - at.y;
    const auto now = static_cast<size_t>(shown.set[place.at] - parameter.least);
    const std::string id = "##figure_" + std::string(parameter.name);
    const auto picked =
        place.control == Control::Buttons
            ? draw::choices(ui, at, high, parameter.words, now, nullptr)
            : draw::chooser(ui, {at, {at.x + place.least, rect.max.y}}, id.c_str(), parameter.words, now);
    if (picked && !ui.session.question.open)
        change_parameter(shown, place.at, parameter.least + static_cast<int>(*picked));
}

constexpr double kPlays = 6;  // seconds for the whole of a figure's time

}  // namespace

const FigureParameter* time_of(const Figure& figure) {
    const auto found = std::ranges::find_if(figure.parameters, &FigureParameter::is_time);
    return found == figure.parameters.end() ? nullptr : &*found;
}

bool is_idle(const FigureShown& shown, size_t at, const session::Session& session) {
    return shown.figure->idle != nullptr && shown.figure->idle(at, shown.set, session);
}

void change_parameter(FigureShown& shown, size_t at, int value) {
    const FigureParameter& parameter = shown.figure->parameters[at];
    shown.parameter = at;
    shown.set[at] = std::clamp(value, parameter.least, parameter.most);
    shown.plays_from.reset();
}

void choose_parameter(FigureShown& shown, int by, const session::Session& session) {
    const auto& all = shown.figure->parameters;
    auto at = static_cast<std::ptrdiff_t>(shown.parameter) + by;
    const auto skipped = [&](std::ptrdiff_t of) {
        return all[static_cast<size_t>(of)].label.empty() || is_idle(shown, static_cast<size_t>(of), session);
    };
    while (at >= 0 && at < std::ssize(all) && skipped(at)) at += by;
    if (at >= 0 && at < std::ssize(all)) shown.parameter = static_cast<size_t>(at);
}

void play_figure(FigureShown& shown) {
    if (shown.plays_from) return shown.plays_from.reset();
    const FigureParameter* const time = time_of(*shown.figure);
    if (time == nullptr) return;
    int& now = shown.set[static_cast<size_t>(time - shown.figure->parameters.data())];
    if (now >= time->most) now = time->least;
    shown.plays_from = now;
    shown.plays_since = -1;
}

void go_on_playing(Ui& ui, FigureShown& shown) {
    if (!shown.plays_from || ui.context.still) return;
    const FigureParameter* const time = time_of(*shown.figure);
    if (time == nullptr || ui.session.question.open) return shown.plays_from.reset();
    if (shown.plays_since < 0) shown.plays_since = ui.context.time;
    const double gone = (ui.context.time - shown.plays_since) / kPlays * (time->most - time->least);
    int& now = shown.set[static_cast<size_t>(time - shown.figure->parameters.data())];
    now = std::min(time->most, *shown.plays_from + static_cast<int>(gone));
    if (now >= time->most) shown.plays_from.reset();
    ui.context.another_frame = true;
}

float figure_controls(Ui& ui, ImVec2 corner, float width) {
    const Figure& figure = *ui.state.shown->figure;
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    const float gap = ui.px(figure.parameters.size() > 4 ? 20.f : 28.f), high = small + body + ui.px(4);
    const std::vector<Placed> all = placed(ui, figure, width, gap);
    // Sliders share what the others leave.
    float left = width - gap * static_cast<float>(all.size() - 1), sliders = 0;
    for (const Placed& one : all) {
        left -= one.least;
        sliders += one.control == Control::Slider ? 1.f : 0.f;
    }
    float x = corner.x;
    for (const Placed& one : all) {
        const bool slides = one.control == Control::Slider;
        const float own =
            slides ? std::min(one.least + std::max(left, 0.f) / sliders, std::max(one.least, ui.px(420)))
                   : one.least;
        const Rect rect{{x, corner.y}, {x + own, corner.y + high}};
        if (is_idle(*ui.state.shown, one.at, ui.session))
            idle_control(ui, rect, figure.parameters[one.at]);
        else if (slides)
            slider(ui, rect, one.at);
        else
            words_control(ui, rect, one);
        x += own + gap;
    }
    return high;
}

}  // namespace tilescope::lessons
