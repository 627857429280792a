// Lessons read from their JSON (model.h describes it). What is wrong with one is a sentence that names the
// lesson and the field.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/lessons/questions.h"
#include "core/base/file.h"
#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/limits/presets.h"

namespace tilescope::lessons {
namespace {

namespace fs = std::filesystem;
using Json = JsonFields::Json;

constexpr std::string_view kLessonFields[] = {"name",  "order", "title",   "teaches",
                                              "group", "stops", "summary", "made_by"};
constexpr std::string_view kFields[] = {"file", "step",   "recording", "kernel", "m",     "k",      "n",
                                        "tile", "block",  "kind",      "array",  "where", "screen", "say",
                                        "ask",  "figure", "set",       "case",   "which", "do",     "panels"};

// What a stop may do: looks of the Step screen that no Page Down reaches, what can be pinned there, and a race that
// begins. A file from anybody does no more.
constexpr std::string_view kActions[] = {"phase_table", "cube",       "fragments", "older_gpu",
                                         "time",        "race_start", "race_play"},
                           kPins[] = {"thread", "warp", "element"};

bool may_act(std::string_view act) {
    const size_t colon = act.find(':');
    if (colon == std::string_view::npos) return std::ranges::find(kActions, act) != std::end(kActions);
    const std::string_view numbers = act.substr(colon + 1);
    return std::ranges::find(kPins, act.substr(0, colon)) != std::end(kPins) && !numbers.empty() &&
           numbers.size() <= 32 && numbers.find_first_not_of("0123456789,") == std::string_view::npos;
}

void read_acts(const Json& acts, LessonStop& stop, JsonFields& fields, std::string& problem) {
    if (!acts.is_array() || acts.size() > kMostActs) return fields.fail("do");
    for (const Json& act : acts) {
        if (!act.is_string()) return fields.fail("do");  // dump() goes as deep as a file is nested
        stop.acts.push_back(act.get<std::string>());
        if (problem.empty() && !may_act(stop.acts.back()))
            problem =
                fmt::format("its field 'do' names '{}', which a stop cannot do", one_line(stop.acts.back()));
    }
}

// Panels of the Step screen. The matrices are among them in any case: what the others show is about them.
void read_panels(const Json& panels, LessonStop& stop, JsonFields& fields, std::string& problem) {
    if (!panels.is_array() || panels.size() > std::size(session::kNamedPanels)) return fields.fail("panels");
    stop.panels = 0;
    for (const Json& panel : panels) {
        if (!panel.is_string()) return fields.fail("panels");
        const auto name = panel.get<std::string>();
        const auto* const row = std::ranges::find(session::kNamedPanels, name, &session::NamedPanel::name);
        if (row != std::end(session::kNamedPanels))
            stop.panels |= static_cast<uint8_t>(row->panel);
        else if (problem.empty())
            problem = fmt::format("its field 'panels' names '{}', which is no panel of the Step screen",
                                  one_line(name));
    }
    if (problem.empty() && (stop.panels & static_cast<uint8_t>(session::Panel::Matrices)) == 0)
        problem = "its field 'panels' lacks 'matrices', which are always shown";
    if (problem.empty() && stop.screen != session::kStepScreen)
        problem = "its field 'panels' is for stops on the Step screen";
}

// What a text or a number says; "" of anything else, however deep it is nested.
std::string word_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_number() ? value.dump() : "";
}

// A figure in place of a recording, with some of its parameters set.
void read_figure(const Json& json, JsonFields& fields, LessonStop& stop, std::string& problem) {
    fields.text("figure", stop.figure);
    stop.screen = "lessons";
    const Figure* const figure = find_figure(stop.figure);
    if (figure == nullptr) {
        if (problem.empty())
            problem = fmt::format("its figure '{}' is none of the program's", one_line(stop.figure));
        return;
    }
    stop.set = first_set(*figure);
    if (!json.contains("set")) return;
    for (const auto& [name, value] : fields.object("set").items()) {
        const auto parameter = std::ranges::find(figure->parameters, name, &FigureParameter::name);
        const auto set =
            parameter == figure->parameters.end() ? std::nullopt : setting_of(*parameter, word_of(value));
        if (set)
            stop.set[static_cast<size_t>(parameter - figure->parameters.begin())] = *set;
        else if (problem.empty())
            problem = fmt::format("its figure '{}' has no parameter '{}' of that value", figure->name,
                                  one_line(name));
    }
}

// A case of the Limits screen in place of a recording.
void read_case(const Json& json, JsonFields& fields, LessonStop& stop, std::string& problem) {
    fields.text("case", stop.limits);
    const analysis::LimitPreset* const preset = analysis::find_limit_preset(stop.limits);
    if (preset == nullptr) {
        if (problem.empty())
            problem = fmt::format("its case '{}' is none of the Limits screen", one_line(stop.limits));
        return;
    }
    size_t which = 1;
    if (json.contains("which")) fields.number("which", which, preset->blocks.size());
    if (which == 0) fields.fail("which");
    stop.which = which - (which > 0 ? 1 : 0);
    stop.screen = "limits";
}

// Requests that are recorded for a stop; 0 where it is not on a kernel, or on none that ships.
uint64_t requests_of(const LessonStop& stop) {
    const kernels::KernelInfo* const info = kernels::find(stop.kernel);
    return info != nullptr ? kernels::requests_about(*info, stop.shape) : 0;
}

// Whether all that a lesson records takes longer than one waits. What the stop before stands on is not recorded
// again.
bool records_too_much(const std::vector<LessonStop>& stops) {
    uint64_t requests = 0;
    for (size_t at = 0; at < stops.size(); ++at)
        if (at == 0 || !same_recording(stops[at - 1], stops[at])) requests += requests_of(stops[at]);
    return requests > kMostRequestsOfLesson;
}

LessonStop read_stop(const Json& json, const std::vector<LessonStop>& before, std::string& problem) {
    LessonStop stop;
    JsonFields fields(json, problem);
    if (json.contains("figure")) {
        read_figure(json, fields, stop, problem);
    } else if (json.contains("case")) {
        read_case(json, fields, stop, problem);
    } else if (json.contains("recording")) {
        fields.text("recording", stop.recording);
    } else if (json.contains("file")) {
        fields.text("file", stop.file);
        if (!stays_inside(stop.file) && problem.empty())
            problem =
                fmt::format("its file '{}' is no .tsc file of the lesson's own folder", one_line(stop.file));
    } else if (json.contains("kernel")) {
        fields.text("kernel", stop.kernel);
        fields.number("m", stop.shape.m);
        fields.number("k", stop.shape.k);
        fields.number("n", stop.shape.n);
        stop.shape.tile = kernels::tile_width(stop.kernel);
        if (stop.shape.tile > 0 || json.contains("tile")) fields.number("tile", stop.shape.tile);
        if (requests_of(stop) > kMostRequests && problem.empty())
            problem = fmt::format(
                "its product takes more than {} requests, too many to be recorded while one waits; "
                "record it and name the file",
                grouped(kMostRequests));
    } else if (const auto last = std::find_if_not(before.rbegin(), before.rend(), is_modelled);
               last != before.rend()) {
        stop.kernel = last->kernel;
        stop.shape = last->shape;
        stop.recording = last->recording;
        stop.file = last->file;
    } else {
        fields.fail("kernel");
    }
    if (json.contains("block")) {
        const Json& block = fields.list("block");
        const auto counts = [](const Json& number) {
            return number.is_number_unsigned() && number.get<uint64_t>() <= UINT32_MAX;
        };
        if (block.size() == 2 && counts(block[0]) && counts(block[1])) {
            stop.block_x = block[0].get<uint32_t>();
            stop.block_y = block[1].get<uint32_t>();
        } else {
            fields.fail("block");
        }
    }
    if (json.contains("kind")) {
        std::string kind;
        fields.text("kind", kind);
        const auto row = std::ranges::find(analysis::kStepKindRows, kind, &analysis::StepKindRow::name);
        if (row == analysis::kStepKindRows.end())
            fields.fail("kind");
        else
            stop.kind = row->kind;
    }
    if (json.contains("array")) fields.text("array", stop.array);
    if (json.contains("step")) {
        fields.number("step", stop.step);
        if (stop.step == 0) fields.fail("step");
    }
    if (json.contains("where")) {
        if (json["where"].size() > kMostConditions) fields.fail("where");
        for (const Json& text : fields.list("where")) {
            auto condition = read_condition(word_of(text));
            if (condition)
                stop.where.push_back(std::move(*condition));
            else if (problem.empty())
                problem = condition.error().message;
        }
    }
    if (json.contains("screen")) fields.text("screen", stop.screen);
    read_text(fields, "say", stop.say, problem);
    const std::optional<Modelled> over = is_modelled(stop) ? std::optional(modelled(stop)) : std::nullopt;
    if (problem.empty()) problem = unknown_names(stop.say, over ? &*over : nullptr);
    if (json.contains("ask"))
        stop.ask = read_question(fields.object("ask"), over ? &*over : nullptr, problem);
    if (json.contains("do")) {
        read_acts(fields.list("do"), stop, fields, problem);
        if (problem.empty() && over) problem = "its field 'do' is for stops on a recording";
    }
    if (json.contains("panels")) read_panels(fields.list("panels"), stop, fields, problem);
    for (const auto& field : json.items())
        if (problem.empty() && std::ranges::find(kFields, field.key()) == std::end(kFields))
            problem = fmt::format("its field '{}' means nothing", one_line(field.key()));
    return stop;
}

// The path of a recording that a lesson names, links resolved: inside its folder. "" where it is not.
std::string inside(const fs::path& folder, const std::string& file) {
    std::error_code error;
    const fs::path home = fs::canonical(folder, error);
    if (error) return "";
    const fs::path path = fs::canonical(home / file, error);
    if (error || !fs::is_regular_file(path, error)) return "";
    const auto [at, ignored] = std::mismatch(home.begin(), home.end(), path.begin(), path.end());
    return at == home.end() ? path.string() : "";
}

}  // namespace

bool stays_inside(const std::string& file) {
    const std::filesystem::path path(file);
    return file.size() <= kLongestCell && file.find('\\') == std::string::npos && one_line(file) == file &&
           path.extension() == ".tsc" && path.is_relative() &&
           std::ranges::none_of(path, [](const auto& part) { return part == ".."; });
}

void read_text(JsonFields& fields, const char* key, std::string& out, std::string& problem) {
    fields.text(key, out);
    if (out.size() > kLongestSaid && problem.empty())
        problem = fmt::format("its field '{}' is longer than {} bytes", key, kLongestSaid);
    out = one_line(out, kLongestSaid + 3);
}

std::string unknown_names(std::string_view say, const Modelled* over) {
    for (size_t open = say.find('{'); open != std::string_view::npos; open = say.find('{', open + 1)) {
        const size_t close = say.find('}', open);
        if (close == std::string_view::npos) return "a brace of its sentence is not closed";
        const std::string_view name = say.substr(open + 1, close - open - 1);
        if (over == nullptr && !can_say(name))
            return fmt::format("its sentence names '{}', which is no fact", one_line(name));
        if (over != nullptr && filled(*over, name).empty())
            return fmt::format("its sentence names '{}', which is none of {}", one_line(name),
                               names_of(*over));
    }
    return "";
}

Result<Lesson> lesson_from_json(std::string_view text, std::string_view name) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return Error{fmt::format("The lesson '{}' is not JSON.", one_line(name))};
    Lesson lesson;
    std::string problem;
    JsonFields fields(json, problem);
    lesson.name = std::filesystem::path(name).stem().string();
    if (json.contains("name")) read_text(fields, "name", lesson.name, problem);
    if (json.contains("order")) fields.number("order", lesson.order);
    if (json.contains("made_by")) lesson.kept_here = json["made_by"] == kMadeBy;
    read_text(fields, "title", lesson.title, problem);
    read_text(fields, "teaches", lesson.teaches, problem);
    if (json.contains("group")) read_text(fields, "group", lesson.group, problem);
    const Json& stops = fields.list("stops");
    if (stops.size() > kMostStops && problem.empty())
        problem = fmt::format("it has more than {} stops", kMostStops);
    for (const Json& stop : stops) {
        if (!problem.empty()) break;
        if (!stop.is_object()) {
            fields.fail("stops");
            break;
        }
        lesson.stops.push_back(read_stop(stop, lesson.stops, problem));
        if (!problem.empty()) problem = fmt::format("in stop {} {}", lesson.stops.size(), problem);
    }
    if (lesson.stops.empty()) fields.fail("stops");
    if (problem.empty() && records_too_much(lesson.stops))
        problem = fmt::format(
            "its stops take more than {} requests together, too many to be recorded while one waits; "
            "record some of them and name the files",
            grouped(kMostRequestsOfLesson));
    const bool ends_modelled = problem.empty() && is_modelled(lesson.stops.back());
    const std::optional<Modelled> end =
        ends_modelled ? std::optional(modelled(lesson.stops.back())) : std::nullopt;
    if (json.contains("summary")) {
        const Json& summary = fields.list("summary");
        if (summary.size() > kMostSummary) fields.fail("summary");
        for (const Json& sentence : summary) {
            if (!problem.empty()) break;
            if (!sentence.is_string() || sentence.get_ref<const std::string&>().size() > kLongestSaid) {
                fields.fail("summary");
                break;
            }
            lesson.summary.push_back(one_line(sentence.get<std::string>(), kLongestSaid + 3));
            if (const std::string unknown = unknown_names(lesson.summary.back(), end ? &*end : nullptr);
                !unknown.empty())
                problem = "of its summary, " + unknown;
        }
    }
    if (json.is_object())
        for (const auto& field : json.items())
            if (problem.empty() && std::ranges::find(kLessonFields, field.key()) == std::end(kLessonFields))
                problem = fmt::format("its field '{}' means nothing", one_line(field.key()));
    if (!problem.empty())
        return Error{
            fmt::format("The lesson '{}' cannot be used: {}.", one_line(name), one_sentence(problem))};
    return lesson;
}

Result<Lesson> read_lesson(const std::string& path) {
    const auto text = read_whole(path, kLargestLesson);
    if (!text) return text.error();
    auto lesson = lesson_from_json(*text, path);
    if (!lesson) return lesson;
    std::error_code error;
    const fs::path folder = fs::absolute(path, error).lexically_normal().parent_path();
    lesson->path = (folder / fs::path(path).filename()).string();
    for (size_t at = 0; at < lesson->stops.size(); ++at) {
        LessonStop& stop = lesson->stops[at];
        if (stop.file.empty()) continue;
        stop.path = inside(folder, stop.file);
        if (stop.path.empty())
            return Error{fmt::format(
                "The lesson '{}' cannot be used: in stop {} its file '{}' is not in the lesson's folder.",
                one_line(path), at + 1, stop.file)};
    }
    return lesson;
}

}  // namespace tilescope::lessons
