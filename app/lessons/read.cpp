// Lessons read from their JSON (model.h describes it). What is wrong with one is a sentence that names the
// lesson and the field.
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/questions.h"
#include "core/base/json_fields.h"

namespace tilescope::lessons {
namespace {

using Json = JsonFields::Json;

constexpr std::string_view kFields[] = {"recording", "kernel", "m",     "k",      "n",   "tile", "block",
                                        "kind",      "array",  "where", "screen", "say", "ask"};

LessonStop read_stop(const Json& json, const std::vector<LessonStop>& before, std::string& problem) {
    LessonStop stop;
    JsonFields fields(json, problem);
    if (json.contains("recording")) {
        fields.text("recording", stop.recording);
    } else if (json.contains("kernel")) {
        fields.text("kernel", stop.kernel);
        fields.number("m", stop.shape.m);
        fields.number("k", stop.shape.k);
        fields.number("n", stop.shape.n);
        fields.number("tile", stop.shape.tile);
    } else if (!before.empty()) {
        stop.kernel = before.back().kernel;
        stop.shape = before.back().shape;
        stop.recording = before.back().recording;
    } else {
        fields.fail("kernel");
    }
    if (json.contains("block")) {
        const Json& block = fields.inner("block", Json::value_t::array);
        if (block.size() == 2 && block[0].is_number_unsigned() && block[1].is_number_unsigned()) {
            stop.block_x = block[0].get<uint32_t>();
            stop.block_y = block[1].get<uint32_t>();
        } else {
            fields.fail("block");
        }
    }
    if (json.contains("kind")) {
        std::string kind;
        fields.text("kind", kind);
        const auto at = std::ranges::find(kKinds, kind);
        if (at == std::end(kKinds))
            fields.fail("kind");
        else
            stop.kind = static_cast<StepKind>(at - kKinds);
    }
    if (json.contains("array")) fields.text("array", stop.array);
    if (json.contains("where"))
        for (const Json& text : fields.inner("where", Json::value_t::array)) {
            auto condition = read_condition(text.is_string() ? text.get<std::string>() : text.dump());
            if (condition)
                stop.where.push_back(std::move(*condition));
            else if (problem.empty())
                problem = condition.error().message;
        }
    if (json.contains("screen")) fields.text("screen", stop.screen);
    fields.text("say", stop.say);
    if (problem.empty()) problem = unknown_names(stop.say);
    if (json.contains("ask")) stop.ask = read_question(fields.inner("ask", Json::value_t::object), problem);
    for (const auto& field : json.items())
        if (problem.empty() && std::ranges::find(kFields, field.key()) == std::end(kFields))
            problem = fmt::format("its field '{}' means nothing", field.key());
    return stop;
}

}  // namespace

std::string unknown_names(std::string_view say) {
    for (size_t open = say.find('{'); open != std::string_view::npos; open = say.find('{', open + 1)) {
        const size_t close = say.find('}', open);
        if (close == std::string_view::npos) return "a brace of its sentence is not closed";
        const std::string_view name = say.substr(open + 1, close - open - 1);
        if (!can_say(name)) return fmt::format("its sentence names '{}', which is no fact", name);
    }
    return "";
}

Result<Lesson> lesson_from_json(std::string_view text, std::string_view name) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return Error{fmt::format("The lesson '{}' is not JSON.", name)};
    Lesson lesson;
    std::string problem;
    JsonFields fields(json, problem);
    fields.text("name", lesson.name);
    if (json.contains("order")) fields.number("order", lesson.order);
    fields.text("title", lesson.title);
    fields.text("teaches", lesson.teaches);
    for (const Json& stop : fields.inner("stops", Json::value_t::array)) {
        if (!stop.is_object()) fields.fail("stops");
        lesson.stops.push_back(read_stop(stop, lesson.stops, problem));
    }
    if (lesson.stops.empty()) fields.fail("stops");
    if (!problem.empty()) return Error{fmt::format("The lesson '{}' cannot be used: {}.", name, problem)};
    return lesson;
}

}  // namespace tilescope::lessons
