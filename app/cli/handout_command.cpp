// tilescope export --lesson NAME|FILE.json --format html -o OUT.html: a lesson on paper (lessons/handout.h).
// Each stop is walked to as the window does, and drawn there.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/app.h"
#include "app/cli/pictures.h"
#include "app/cli/work.h"
#include "app/lessons/asking.h"
#include "app/lessons/handout.h"
#include "app/lessons/own.h"
#include "core/base/version.h"

namespace tilescope::cli {

namespace {

// Type that is read on A4: an inch of the page is about 160 of these pixels. Two stops have room on a page.
constexpr int kWidth = 1120, kHeight = 590;
// Of a case that a question is asked of: what is given, and room for one's own working.
constexpr int kAskedHeight = 450;

lessons::Lesson lesson_of(const std::string& name) {
    if (name.ends_with(".json")) return need(lessons::read_lesson(name));
    return lessons::lesson_list()[shipped_lesson(name)];
}

}  // namespace

size_t shipped_lesson(const std::string& name) {
    const auto& all = lessons::lesson_list();
    const auto found = std::ranges::find(all, name, &lessons::Lesson::name);
    if (found != all.end()) return static_cast<size_t>(found - all.begin());
    std::vector<std::string> names;
    for (const lessons::Lesson& one : all) names.push_back(one.name);
    refuse(kWrongCall, "--lesson '{}' is not known; choose {}, or name a .json file", name,
           fmt::join(names, ", "));
}

int export_handout(const ExportOptions& options) {
    for (const auto& [given, what] : {std::pair{options.lanes, "--lanes"},
                                      {!options.steps.empty(), "--steps"},
                                      {!options.block.empty(), "--block"},
                                      {!options.size.empty(), "--size"},
                                      {options.lecture, "--lecture"}})
        if (given) refuse(kWrongCall, "{} does not go with --format html; leave it out", what);
    const std::vector<lessons::Lesson> one{lesson_of(options.lesson)};
    const lessons::Lesson& lesson = one.front();
    std::vector<std::string> inputs{options.lesson};
    for (const lessons::LessonStop& stop : lesson.stops)
        if (!stop.path.empty()) inputs.push_back(stop.path);
    check_output(options.output, inputs);

    app::State state;
    state.paper = true;
    state.lessons.lessons = &one;
    lessons::Handout handout{lesson.title, lesson.teaches, {}, {}, ""};
    handout.made = fmt::format(
        "Made with Tilescope {}. Every number is counted in the recording or worked out by the model that is "
        "shown.",
        kVersion);
    for (size_t at = 0; at < lesson.stops.size(); ++at) {
        go_to_stop(state.lessons, state.session, 0, at);
        app::update(state, true);
        app::update(state, true);
        const lessons::LessonStop& stop = lesson.stops[at];
        if (!state.session.walk.running || (!is_modelled(stop) && !state.session.recording))
            refuse(kFailure, "stop {} of the lesson cannot be shown: {}", at + 1, state.session.message);
        lessons::HandoutStop shown;
        shown.where = fmt::format("{}: {}", lessons::shown_on(stop),
                                  lessons::stands_at(stop, state.lessons.standing.notation));
        shown.say = state.lessons.standing.words;
        if (shown.say.empty())
            refuse(kFailure, "stop {} of the lesson has no such step in its recording", at + 1);
        if (stop.ask) {
            const lessons::Answer answer = lessons::right_answer(state.lessons, state.session);
            if (!answer.known)
                refuse(kFailure, "the question of stop {} has no answer in its recording", at + 1);
            shown.question = state.lessons.standing.asks;
            shown.answer = answer.words + answer.others;
            shown.why = state.lessons.standing.why;
            shown.choices = state.lessons.standing.choices;
        }
        const bool given = !stop.limits.empty() && state.session.question.hides_any();
        shown.svg = need(app::render_svg(state, {kWidth, given ? kAskedHeight : kHeight, ""}));
        handout.stops.push_back(std::move(shown));
    }
    go_to_stop(state.lessons, state.session, 0, lesson.stops.size());
    handout.summary = state.lessons.summary;
    write_text(options.output, html_of(handout));
    return kDone;
}

}  // namespace tilescope::cli
