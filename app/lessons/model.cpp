#include "app/lessons/model.h"

#include <algorithm>

namespace tilescope::lessons {

std::vector<std::pair<std::string_view, std::string_view>> embedded_lessons();  // made by cmake/embed.cmake

namespace {

bool fits(const LessonStop& stop, Scene& scene) {
    const trace::Trace& trace = scene.trace;
    const uint64_t at = scene.index.first + scene.step;
    if (stop.step != 0 && stop.step != scene.step + 1) return false;
    if (stop.kind && *stop.kind != look::kind_of(trace, at)) return false;
    const uint8_t array = trace.form_of(at).array;
    if (!stop.array.empty() && (array == trace::kNoArray || trace.launch.arrays[array].name != stop.array))
        return false;
    return std::ranges::all_of(stop.where,
                               [&](const Condition& condition) { return holds(condition, scene); });
}

}  // namespace

const std::vector<Lesson>& lesson_list() {
    static const std::vector<Lesson> all = [] {
        std::vector<Lesson> read;
        for (const auto& [path, text] : embedded_lessons())
            if (auto lesson = lesson_from_json(text, path)) read.push_back(std::move(*lesson));
        std::ranges::stable_sort(read, {}, &Lesson::order);
        return read;
    }();
    return all;
}

std::optional<uint32_t> find_step(const trace::Trace& trace, const BlockIndex& index,
                                  const LessonStop& stop) {
    Scene scene{trace, index};
    for (; scene.step < index.steps; ++scene.step)
        if (fits(stop, scene)) return scene.step;
    return std::nullopt;
}

}  // namespace tilescope::lessons
