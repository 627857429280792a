// A lesson's file: it is refused in a sentence of one line, or read within the bounds of lessons/model.h.
// What was read is walked over two recordings, one of them with clocks, and over the models that it names:
// each sentence is said, each question answered, predicted as it is right, and judged.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "app/lessons/questions.h"
#include "core/trace/file.h"
#include "kernels/run/record.h"
#include "tests/fuzz/fuzz.h"

namespace tilescope::lessons {

// None ships here: this program's own are the input.
std::vector<std::pair<std::string_view, std::string_view>> embedded_lessons() { return {}; }

}  // namespace tilescope::lessons

namespace tilescope::fuzz {
namespace {

using namespace lessons;
using Kind = Question::Kind;

struct Block {
    analysis::Recording recording;
    std::shared_ptr<const look::BlockIndex> index;
};

Block first_block(trace::Trace trace) {
    auto recording = analysis::opened(std::move(trace));
    demand(recording, "the recording has no phases");
    auto index = look::index_block(*recording, 0);
    return {std::move(*recording), std::move(index)};
}

const std::vector<Block>& blocks() {
    static const std::vector<Block> all = [] {
        auto clocked = trace::read_file(TILESCOPE_SOURCE_DIR "/assets/recordings/tiled-4x4x4-t2.tsc");
        demand(clocked, "the recording with clocks cannot be read");
        const auto plan = kernels::plan("tiled_stale_edge", {4, 3, 4, 2});
        demand(plan, "the kernel has no plan");
        auto recorded = kernels::record_cpu(*plan, {});
        demand(recorded, "the kernel cannot be recorded");
        std::vector<Block> made;
        made.push_back(first_block(std::move(*clocked)));
        made.push_back(first_block(std::move(*recorded)));
        return made;
    }();
    return all;
}

void demand_line(std::string_view text, const char* what) {
    demand(text.find('\n') == std::string_view::npos, what);
}

// What is right, as one types it.
std::string typed(const Question& question, const RightAnswer& answer) {
    if (question.kind == Kind::Choice) return std::string(1, static_cast<char>('A' + answer.number));
    if (question.kind == Kind::Value) return short_value(answer.value);
    if (question.kind != Kind::Number) {
        std::string all;
        for (const uint64_t one : answer.all) all += fmt::format("{} ", one);
        return all;
    }
    uint64_t power = 1;
    for (int at = 0; at < answer.decimals; ++at) power *= 10;
    const uint64_t whole = answer.number / power, part = answer.number % power;
    return answer.decimals == 0 ? std::to_string(whole)
                                : fmt::format("{}.{:0{}}", whole, part, answer.decimals);
}

// scene: null over a model.
void ask(const Question& question, const RightAnswer& answer, const Scene* scene) {
    session::Question asked = opened(question, scene);
    const Verdict open = judged(question, answer, asked);
    demand(!open.predicted && !open.right, "nothing was predicted, and is judged");
    demand_line(open.words, "a verdict of several lines");
    for (const char* odd : {"", "-1", "0x10", "18446744073709551616", ".", "nan", "3,", "A", "[", "31 32"}) {
        session::Question other = opened(question, scene);
        const std::string problem = predict(other, question, scene, odd);
        demand_line(problem, "a refused prediction of several lines");
        judged(question, answer, other);
    }
    if (!answer.known) return;
    demand(!answer.words.empty(), "an answer without words");
    if (question.kind == Kind::Choice)
        demand(answer.number < question.choices.size(), "a choice that there is not");
    if (question.kind == Kind::Value && !std::isfinite(number_of(answer.value))) return;
    if (question.kind == Kind::Bank) {
        asked.bank = static_cast<uint32_t>(*answer.all.begin());
    } else {
        const std::string right = typed(question, answer), problem = predict(asked, question, scene, right);
        demand(problem.empty(), "what is right cannot be predicted: " + problem);
    }
    const Verdict verdict = judged(question, answer, asked);
    demand(verdict.predicted && verdict.right, "what is right is called wrong: " + verdict.words);
}

void walk(const LessonStop& stop, const Block& block) {
    const auto step = find_step(block.recording, *block.index, stop);
    Scene scene{block.recording, *block.index, step.value_or(0)};
    if (step && stop.step != 0) demand(*step + 1 == stop.step, "a stop at another step than it says");
    demand_line(said(scene, stop.say), "a sentence of several lines");
    if (!stop.ask) return;
    said(scene, stop.ask->text);
    said(scene, stop.ask->why);
    for (const Question::Choice& choice : stop.ask->choices) said(scene, choice.say);
    ask(*stop.ask, answer_of(*stop.ask, scene), &scene);
}

void walk_model(const LessonStop& stop) {
    const Modelled of = modelled(stop);
    const Standing here = standing_on(stop);
    // Over a model every name is known.
    demand(unknown_names(stop.say, &of).empty(), "a sentence over a model names what it has not");
    demand_line(here.words, "a sentence of several lines");
    if (!stop.ask) return;
    demand(stop.ask->kind == Kind::Number || stop.ask->kind == Kind::Choice, "a model is asked for a step");
    ask(*stop.ask, answer_of(*stop.ask, of), nullptr);
}

void hold_bounds(const Lesson& lesson) {
    demand(!lesson.stops.empty() && lesson.stops.size() <= kMostStops, "stops beyond their bounds");
    demand(lesson.summary.size() <= kMostSummary, "a summary beyond its bounds");
    demand(lesson.path.empty(), "what was read from no file has a path");
    for (const std::string* text : {&lesson.title, &lesson.teaches, &lesson.name})
        demand_line(*text, "a title of several lines");
    for (const LessonStop& stop : lesson.stops) {
        demand(stop.where.size() <= kMostConditions && stop.acts.size() <= kMostActs,
               "conditions or actions beyond their bounds");
        const std::filesystem::path file(stop.file);
        demand(!file.is_absolute() && std::ranges::find(file, "..") == file.end(),
               "a file beyond the folder");
        if (!stop.ask) continue;
        demand(stop.ask->kind != Kind::Choice ||
                   (stop.ask->choices.size() >= 2 && stop.ask->choices.size() <= kMostChoices),
               "choices beyond their bounds");
    }
}

}  // namespace
}  // namespace tilescope::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    tilescope::fuzz::blocks();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tilescope;
    const auto lesson =
        lessons::lesson_from_json({reinterpret_cast<const char*>(data), size}, "folder/fuzz.json");
    if (!fuzz::made(lesson)) {
        fuzz::demand_line(lesson.error().message, "an error of several lines");
        return 0;
    }
    fuzz::hold_bounds(*lesson);
    for (const lessons::LessonStop& stop : lesson->stops) {
        lessons::shown_on(stop);
        lessons::stands_at(stop, {});
        if (lessons::is_modelled(stop))
            fuzz::walk_model(stop);
        else
            for (const fuzz::Block& block : fuzz::blocks()) fuzz::walk(stop, block);
    }
    return 0;
}
