// A stop of a lecturer's own lesson, written where one stands (Ctrl+N): a line to type the sentence in, above
// the screen, and below it what the sentence says at the step that is shown.
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/own.h"
#include "app/lessons/panels.h"

namespace tilescope::lessons {
namespace {

using draw::Face, draw::Ink, draw::Rect, draw::Size;
using input::Key;

// What is typed, as it would be said now; worked out again only where that may have changed.
void hear(State& state, const session::Session& session) {
    Adding& adding = state.adding;
    if (!session.block || !session.block->why_not.empty()) return;
    const session::Recording& shown = *session.recording;
    if (adding.heard_serial == shown.serial && adding.heard_at == session.cursor &&
        adding.heard_in == shown.notation && adding.heard_text == adding.say.text)
        return;
    adding.heard_serial = shown.serial;
    adding.heard_at = session.cursor;
    adding.heard_in = shown.notation;
    adding.heard_text = adding.say.text;
    Scene scene{shown, *session.block, session.cursor.step};
    const bool known = unknown_names(adding.say.text).empty();
    adding.heard = known && scene.step < scene.index.steps ? said(scene, adding.say.text) : "";
}

// What is wrong with what is typed so far. A brace that is still open is no problem yet.
std::string problem_of(const Adding& adding) {
    if (!adding.problem.empty()) return adding.problem;
    const std::string& text = adding.say.text;
    const size_t open = text.rfind('{');
    const bool unfinished = open != std::string::npos && text.find('}', open) == std::string::npos;
    const std::string problem = unknown_names(unfinished ? text.substr(0, open) : text);
    if (!problem.empty()) return "So it cannot be kept: " + problem + ".";
    if (adding.heard.find('{') != std::string::npos)
        return "What stays in braces this step does not have; the sentence can be kept nevertheless.";
    return "";
}

}  // namespace

void begin_adding(State& state, session::Session& session) {
    if (!session.recording || session.trace().steps() == 0) {
        session.message = "There is no step to stop at; open a recording first.";
        return;
    }
    session.playback.playing = false;
    session.screen = session::kStepScreen;
    state.adding = {};
    state.adding.open = true;
}

bool type_stop(State& state, session::Session& session, const input::KeyPress& press) {
    Adding& adding = state.adding;
    if (!adding.open) return false;
    if (!session.recording || session.screen != session::kStepScreen) {
        adding.open = false;
        return false;
    }
    if (press.character != 0) {
        input::type(adding.say, press.character);
        adding.problem.clear();
    } else if (press.key == Key::Escape) {
        adding = {};
    } else if (press.key == Key::Enter) {
        auto kept = add_stop(state, session, adding.say.text);
        if (kept) {
            state.adding = {};
            session.message = *kept;
        } else {
            adding.problem = kept.error().message;
        }
    } else if (input::edit(adding.say, press)) {
        adding.problem.clear();
    } else {
        return !press.control && !press.alt;  // what Ctrl does, it does here too
    }
    return true;
}

float adding_strip(Ui& ui, const Rect& area) {
    if (!ui.state.adding.open || !ui.session.recording || ui.session.screen != session::kStepScreen) return 0;
    hear(ui.state, ui.session);
    const Adding& adding = ui.state.adding;
    const std::string problem = problem_of(adding);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body), pad = ui.px(16);
    const float field = body + ui.px(14), room = area.width() - pad * 2;
    const std::string below = !problem.empty()       ? problem
                              : adding.heard.empty() ? "Names in braces become this step's numbers: {lanes}, "
                                                       "{sectors}, {phase}, {array}. Enter keeps it."
                                                     : adding.heard;
    const auto lines = std::clamp<size_t>(wrapped(ui.font(Face::Text, Size::Body), below, room).size(), 1, 3);
    const float height =
        ui.px(8) + small + ui.px(4) + field + ui.px(4) + body * static_cast<float>(lines) + ui.px(8);
    const Rect rect{area.min, {area.max.x, area.min.y + height}};
    strip_ground(ui, rect, Ink::Accent, 0.12f);
    const float x = rect.min.x + pad;
    float y = rect.min.y + ui.px(8);
    const std::string to = added_to(ui.state);
    const std::string title =
        to.empty() ? "a new lesson"
                   : "the lesson \u201c" + (*ui.state.lessons)[ui.state.listed].title + "\u201d";
    const std::string here = fmt::format("A stop at step {} for {}", grouped(uint64_t{ui.step()} + 1), title);
    const std::vector<std::string> heads{here + "   Enter keeps it, Esc leaves it", here};
    line(ui, {x, y}, room, Face::Strong, Size::Small, Ink::TextQuiet,
         fitting(ui.font(Face::Strong, Size::Small), heads, room));
    y += small + ui.px(4);
    text_line(ui, ui.list, {{x, y}, {x + room, y + field}}, adding.say, "What is to be seen at this step?");
    y += field + ui.px(4);
    paragraph(ui, {x, y}, room, Face::Text, Size::Body,
              !problem.empty() && adding.heard.empty() ? Ink::Fault
              : adding.heard.empty()                   ? Ink::TextQuiet
                                                       : Ink::Text,
              below, 3);
    return height;
}

}  // namespace tilescope::lessons
