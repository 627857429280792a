// The Lessons screen: what there is to learn, and where each lesson leads.
//
//   +----------------------+------------------------------------------+
//   | lessons, a row each  | title, the sentence that it teaches      |
//   |                      | its stops: what each says, and shows on  |
//   |                      | [ Walk through it ]                      |
//   +----------------------+------------------------------------------+
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/walk.h"

namespace tilescope::lessons {
namespace {

using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Size;

// "tiled 4 x 4 x 4, T = 2"
std::string shown_on(const LessonStop& stop) {
    if (!stop.recording.empty()) return stop.recording;
    const kernels::Shape& s = stop.shape;
    return fmt::format("{} {} \u00d7 {} \u00d7 {}, T = {}", stop.kernel, s.m, s.k, s.n, s.tile);
}

// "global load of M, phase 1, block (1,0)"
std::string stands_at(const LessonStop& stop) {
    std::string where = stop.kind ? draw::words_of(*stop.kind) : "first step";
    if (stop.kind == draw::StepKind::Barrier) where = "barrier";
    if (!stop.array.empty()) where += " of " + stop.array;
    if (stop.phase) where += fmt::format(", phase {}", *stop.phase);
    if (stop.block_x + stop.block_y > 0) where += fmt::format(", block ({},{})", stop.block_x, stop.block_y);
    return where;
}

void list(Ui& ui, const Rect& rect) {
    draw::surface(ui, rect);
    State& place = ui.state;
    const Rect in = rect.inset(ui.px(12));
    draw::line(ui, in.min, in.width(), Face::Strong, Size::Title, Ink::Text, "Lessons");
    const float body = draw::line_height(ui, Size::Body);
    float y = in.min.y + draw::line_height(ui, Size::Title) + ui.px(12);
    for (size_t at = 0; at < lesson_list().size(); ++at) {
        const bool on = at == place.listed;
        const auto lines = draw::wrapped(ui.font(on ? Face::Strong : Face::Text, Size::Body),
                                         lesson_list()[at].title, in.width() - ui.px(48));
        const float high = body * static_cast<float>(lines.size()) + ui.px(12);
        const Rect row{{in.min.x, y}, {in.max.x, y + high}};
        if (row.max.y > in.max.y) break;
        if (on || ui.over(row)) ui.list.AddRectFilled(row.min, row.max, ui.ink(Ink::Raised), ui.px(4));
        if (on)
            ui.list.AddRectFilled(row.min, {row.min.x + ui.px(3), row.max.y}, ui.ink(Ink::Accent), ui.px(2));
        draw::line(ui, {row.min.x + ui.px(22), y + ui.px(6)}, ui.px(24), Face::Mono, Size::Body,
                   Ink::TextQuiet, std::to_string(at + 1), draw::Align::Center);
        float line_y = y + ui.px(6);
        for (const std::string& text : lines) {
            draw::line(ui, {row.min.x + ui.px(40), line_y}, row.width() - ui.px(40),
                       on ? Face::Strong : Face::Text, Size::Body, Ink::Text, text);
            line_y += body;
        }
        if (ui.clicked(row)) place.listed = at;
        y += high + ui.px(4);
    }
}

// A row a stop: what it says, and below it in small what it is shown on. Where that does not fit, only what
// it is shown on.
void stops(Ui& ui, const Rect& rect, size_t number) {
    const std::vector<LessonStop>& all = lesson_list()[number].stops;
    if (work_out_words(ui.state, number, ui.context.still)) ui.context.another_frame = true;
    const std::vector<std::string>& said = ui.state.said[number];
    const float body = draw::line_height(ui, Size::Body), small = draw::line_height(ui, Size::Small);
    const float indent = ui.px(40), room = rect.width() - indent - ui.px(8), pad = ui.px(6);
    const draw::Font font = ui.font(Face::Text, Size::Body);
    const auto lines = [&](size_t at) {
        return at < said.size() && !said[at].empty() ? draw::wrapped(font, said[at], room).size() : size_t{1};
    };
    float wanted = 0;
    for (size_t at = 0; at < all.size(); ++at)
        wanted += body * static_cast<float>(lines(at)) + small + pad * 2;
    const bool whole = wanted <= rect.height();
    float y = rect.min.y;
    for (size_t at = 0; at < all.size(); ++at) {
        const bool words = whole && at < said.size() && !said[at].empty();
        const float high = (words ? body * static_cast<float>(lines(at)) + small : body) + pad * 2;
        const Rect row{{rect.min.x, y}, {rect.max.x, y + high}};
        if (row.max.y > rect.max.y + pad) break;
        if (ui.over(row)) ui.list.AddRectFilled(row.min, row.max, ui.ink(Ink::Raised), ui.px(4));
        const float x = row.min.x + indent;
        draw::line(ui, {row.min.x + ui.px(14), y + pad}, ui.px(24), Face::Mono, Size::Body, Ink::TextQuiet,
                   std::to_string(at + 1), draw::Align::Center);
        const std::string on = shown_on(all[at]), where = stands_at(all[at]);
        if (words) {
            const float below = draw::paragraph(ui, {x, y + pad}, room, Face::Text, Size::Body, Ink::Text,
                                                said[at], static_cast<int>(lines(at)));
            draw::line(ui, {x, y + pad + below}, room, Face::Text, Size::Small, Ink::TextQuiet,
                       on + ": " + where);
        } else {
            const std::vector<std::string> wordings{on + ": " + where, on};
            draw::line(ui, {x, y + pad}, room, Face::Text, Size::Body, Ink::Text,
                       draw::fitting(font, wordings, room));
        }
        if (ui.clicked(row)) go_to_stop(ui.state, ui.session, number, at);
        y = row.max.y;
    }
}

void lesson(Ui& ui, const Rect& rect, size_t number) {
    draw::surface(ui, rect);
    const Lesson& of = lesson_list()[number];
    const Rect in = rect.inset(ui.px(24));
    const float width = std::min(in.width(), ui.px(880));
    const float body = draw::line_height(ui, Size::Body), small = draw::line_height(ui, Size::Small);
    float y = in.min.y;
    y += draw::paragraph(ui, {in.min.x, y}, width, Face::Strong, Size::Display, Ink::Text, of.title, 2) +
         ui.px(12);
    y += draw::paragraph(ui, {in.min.x, y}, width, Face::Text, Size::Title, Ink::Text, of.teaches, 4) +
         ui.px(20);
    const Rect start{{in.min.x, y}, {in.min.x + ui.px(168), y + ui.px(36)}};
    if (draw::button(ui, start, "Walk through it", true, true, "Begin at the first stop (Enter)"))
        go_to_stop(ui.state, ui.session, number, 0);
    const std::vector<std::string> hints{
        "Enter begins; Page Down and Page Up walk; \u2191 \u2193 choose another lesson.",
        "Enter begins; Page Down and Page Up walk.", "Enter begins."};
    const float beside = in.max.x - start.max.x - ui.px(16);
    draw::line(ui, {start.max.x + ui.px(16), y + (ui.px(36) - small) / 2}, beside, Face::Text, Size::Small,
               Ink::TextQuiet, draw::fitting(ui.font(Face::Text, Size::Small), hints, beside));
    y = start.max.y + ui.px(24);
    draw::line(ui, {in.min.x, y}, width, Face::Strong, Size::Body, Ink::Text, "Stops");
    y += body + ui.px(8);
    stops(ui, {{in.min.x, y}, {in.min.x + width, in.max.y}}, number);
}

void draw_screen(Ui& ui, const Rect& area) {
    const float gap = ui.px(8), left = std::clamp(area.width() * 0.3f, ui.px(260), ui.px(420));
    const Rect in{{area.min.x + gap, area.min.y + gap}, {area.max.x - gap, area.max.y - gap}};
    if (lesson_list().empty()) return;
    State& place = ui.state;
    place.listed = std::min(place.listed, lesson_list().size() - 1);
    list(ui, {in.min, {in.min.x + left, in.max.y}});
    lesson(ui, {{in.min.x + left + gap, in.min.y}, in.max}, place.listed);
}

// The arrows choose a lesson and Enter begins it.
bool press(State& state, session::Session& session, const input::KeyPress& press) {
    using input::Key;
    if (lesson_list().empty()) return false;
    if (press.key == Key::Down)
        state.listed = std::min(state.listed + 1, lesson_list().size() - 1);
    else if (press.key == Key::Up)
        state.listed -= state.listed > 0 ? 1 : 0;
    else if (press.key == Key::Enter)
        go_to_stop(state, session, state.listed, 0);
    else
        return false;
    return true;
}

// One for each lesson, in the palette.
const input::Actions<State>& actions() {
    static const input::Actions<State> all = [] {
        input::Actions<State> each;
        for (size_t at = 0; at < lesson_list().size(); ++at)
            each.push_back(
                {"lesson:" + lesson_list()[at].name,
                 "Lesson: " + lesson_list()[at].title,
                 "",
                 {},
                 {},
                 [at](State& state, session::Session& session) { go_to_stop(state, session, at, 0); }});
        return each;
    }();
    return all;
}

}  // namespace

const input::Screen<State> kScreen{.name = "Lessons",
                                   .option = "lessons",
                                   .about = "Short walks through recordings",
                                   .draw = draw_screen,
                                   .press = press,
                                   .actions = actions,
                                   .update = update,
                                   .strip = strip};

}  // namespace tilescope::lessons
