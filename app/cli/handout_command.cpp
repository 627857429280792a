// tilescope export --lesson NAME|FILE.json --format html -o OUT.html: a lesson on paper (lessons/handout.h).
// In a build with the window each stop has its picture.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/pictures.h"
#include "app/cli/work.h"
#include "app/lessons/handout.h"

namespace tilescope::cli {

namespace {

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
    const lessons::Lesson lesson = lesson_of(options.lesson);
    std::vector<std::string> inputs{options.lesson};
    for (const lessons::LessonStop& stop : lesson.stops)
        if (!stop.path.empty()) inputs.push_back(stop.path);
    check_output(options.output, inputs);

    lessons::Handout handout = need(lessons::handout_of(lesson));
    const std::vector<std::string> pictures = lesson_pictures(lesson);
    for (size_t at = 0; at < pictures.size(); ++at) handout.stops[at].svg = pictures[at];
    write_text(options.output, html_of(handout));
    return kDone;
}

}  // namespace tilescope::cli
