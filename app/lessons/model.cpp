#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/questions.h"
#include "core/limits/presets.h"
#include "kernels/run/record.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::lessons {

std::vector<std::pair<std::string_view, std::string_view>> embedded_lessons();  // made by cmake/embed.cmake

namespace {

bool fits(const LessonStop& stop, Scene& scene) {
    if (stop.step != 0 && stop.step != scene.step + 1) return false;
    if (stop.kind && *stop.kind != kind_of(scene)) return false;
    const uint8_t array = form_of(scene).array;
    const std::vector<Array>& arrays = scene.trace.launch.arrays;
    if (!stop.array.empty() && (array == trace::kNoArray || arrays[array].name != stop.array)) return false;
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

uint32_t minutes_of(const Lesson& lesson) {
    constexpr double kWordsPerSecond = 3, kQuestion = 30;  // seconds for one
    const auto words_in = [](std::string_view text) {
        return static_cast<double>(std::ranges::count(text, ' ')) + (text.empty() ? 0 : 1);
    };
    double words = words_in(lesson.teaches), seconds = 0;
    for (const std::string& sentence : lesson.summary) words += words_in(sentence);
    for (const LessonStop& stop : lesson.stops) {
        words += words_in(stop.say);
        if (!stop.ask) continue;
        words += words_in(stop.ask->text) + words_in(stop.ask->why);
        seconds += kQuestion;
    }
    return static_cast<uint32_t>(std::max(1.0, std::ceil((seconds + words / kWordsPerSecond) / 60)));
}

void say(Standing& here, const LessonStop& stop, const std::function<std::string(const std::string&)>& said) {
    here.words = said(stop.say);
    if (!stop.ask) return;
    here.asks = said(stop.ask->text);
    here.why = said(stop.ask->why);
    for (const Question::Choice& choice : stop.ask->choices) here.choices.push_back(said(choice.say));
}

Standing standing_at(const session::Recording& recording, const BlockIndex& index, uint32_t step,
                     const LessonStop& stop) {
    Standing here{recording.serial, {index.block, step}, recording.notation, "", "", "", {}};
    Scene scene{recording, index, step};
    say(here, stop, [&](const std::string& sentence) { return said(scene, sentence); });
    return here;
}

Standing standing_of(const session::Recording& recording, const LessonStop& stop) {
    const trace::Trace& trace = *recording.trace;
    Standing here{recording.serial, {}, recording.notation, "", "", "", {}};
    const auto block = std::ranges::find_if(
        trace.blocks, [&](const trace::Block& of) { return of.x == stop.block_x && of.y == stop.block_y; });
    if (block == trace.blocks.end()) return here;
    here.at.block = static_cast<uint32_t>(block - trace.blocks.begin());
    const auto index = look::index_block(recording, here.at.block);
    const auto step = find_step(recording, *index, stop);
    if (!step) return here;
    return standing_at(recording, *index, *step, stop);
}

session::MadeRecording recording_of(const LessonStop& stop) {
    if (!stop.recording.empty()) {
        const auto* const found = kernels::find_shipped_recording(stop.recording);
        if (found == nullptr) return Error{fmt::format("No recording '{}' ships.", stop.recording)};
        return session::make_recording(kernels::open_shipped(*found), found->label);
    }
    if (!stop.file.empty()) {
        if (stop.path.empty()) return Error{fmt::format("The recording '{}' is in no folder.", stop.file)};
        return session::read_recording(stop.path, stop.path);
    }
    const auto plan = kernels::plan(stop.kernel, stop.shape);
    if (!plan) return plan.error();
    return session::make_recording(kernels::record_cpu(*plan, {}), "recorded for the lesson, on the CPU");
}

bool same_recording(const LessonStop& a, const LessonStop& b) {
    return !is_modelled(a) && !is_modelled(b) && a.kernel == b.kernel && a.recording == b.recording &&
           a.path == b.path && a.shape == b.shape;
}

std::vector<std::string> summary_of(const Lesson& lesson, const session::Recording* recording) {
    const LessonStop& last = lesson.stops.back();
    std::vector<std::string> all;
    if (is_modelled(last)) {
        const Modelled of = modelled(last);
        for (const std::string& sentence : lesson.summary) all.push_back(said(of, sentence));
        return all;
    }
    const Standing here = recording != nullptr ? standing_of(*recording, last) : Standing{};
    if (here.words.empty()) return all;
    const auto index = look::index_block(*recording, here.at.block);
    Scene scene{*recording, *index, here.at.step};
    for (const std::string& sentence : lesson.summary) all.push_back(said(scene, sentence));
    return all;
}

std::optional<uint32_t> find_step(const analysis::Recording& recording, const BlockIndex& index,
                                  const LessonStop& stop) {
    Scene scene{recording, index};
    for (; scene.step < index.steps; ++scene.step)
        if (fits(stop, scene)) return scene.step;
    return std::nullopt;
}

std::string shown_on(const LessonStop& stop) {
    if (const Figure* const figure = find_figure(stop.figure)) return std::string(figure->title);
    if (const auto* const preset = analysis::find_limit_preset(stop.limits))
        return "Limits, " + preset->blocks[stop.which].label;
    if (!stop.recording.empty()) return stop.recording;
    if (!stop.file.empty()) return stop.file;
    const auto& [m, k, n, tile] = stop.shape;
    return fmt::format("{} {} \u00d7 {} \u00d7 {}{}", stop.kernel, m, k, n,
                       kernels::tile_text(tile, ", T = "));
}

std::string stands_at(const LessonStop& stop, const Notation& notation) {
    if (!stop.figure.empty()) return "a model";
    if (!stop.limits.empty()) return "the sum of an SM";
    std::string where(stop.kind ? row_of(*stop.kind).name : "first step");
    if (!stop.array.empty()) where += " of " + renamed(stop.array, notation);
    for (const Condition& condition : stop.where) {
        if (condition.left != "phase" || condition.op != "=") continue;
        where += condition.right.empty() ? ", " + phase_name(condition.number, notation) : ", last phase";
    }
    if (stop.step != 0) where += ", step " + grouped(uint64_t{stop.step});
    if (const Dim3 block{stop.block_x, stop.block_y, 0}; block.x + block.y > 0)
        where += ", " + block_name({2, 2, 1}, block, notation);
    return where;
}

}  // namespace tilescope::lessons
