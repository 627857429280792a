#include "app/session/settings.h"

#include <algorithm>

#include "core/base/json_fields.h"

namespace tilescope::session {
namespace {

using Json = JsonFields::Json;

constexpr const char* kSettings = "tilescope.settings/1";
constexpr const char* kState = "tilescope.state/1";
constexpr int kFarthest = 100'000;                               // pixels, of any desktop
constexpr int kLeastSide = 200;                                  // of a window
constexpr size_t kLongestPath = 4096;                            // as PATH_MAX
constexpr std::string_view kNames[] = {"MNP", "ABC", "MdNdPd"};  // in the order of MatrixNames
constexpr const char* kNoJson = "it is not JSON";

// The object of a file that names the schema.
Json parsed(std::string_view text, const char* schema, std::string& problem) {
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object()) {
        problem = kNoJson;
        return Json::object();
    }
    std::string said;
    JsonFields(json, problem).text("schema", said);
    if (problem.empty() && said != schema) problem = "it is of another version";
    return json;
}

void whole(JsonFields& fields, const Json& json, const char* key, int least, int most, int& out) {
    const auto at = json.find(key);
    if (at == json.end() || !at->is_number_integer()) return fields.fail(key);
    if (at->is_number_unsigned() && at->get<uint64_t>() > static_cast<uint64_t>(most))
        return fields.fail(key);
    const auto value = at->get<int64_t>();
    if (value < least || value > most) return fields.fail(key);
    out = static_cast<int>(value);
}

void texts(JsonFields& fields, const char* key, std::vector<std::string>& out) {
    const Json& list = fields.inner(key, Json::value_t::array);
    if (!list.is_array()) return;
    if (list.size() > kMostRecent) return fields.fail(key);
    for (const Json& one : list) {
        if (!one.is_string() || one.get_ref<const std::string&>().size() > kLongestPath)
            return fields.fail(key);
        out.push_back(one.get<std::string>());
    }
}

// Names of files may hold bytes that are no UTF-8: those stand as a question mark's sign.
std::string printed(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string settings_text(const Remembered& remembered) {
    const Choices& c = remembered.choices;
    return printed({{"schema", kSettings},
                    {"theme", c.theme == draw::Theme::Dark ? "dark" : "light"},
                    {"text_scale", c.text_scale},
                    {"lecture", c.lecture},
                    {"motion", c.motion},
                    {"by_clock", c.by_clock},
                    {"x_first", c.wording.x_first},
                    {"phases_from_1", c.wording.phases_from_1},
                    {"names", kNames[static_cast<size_t>(c.wording.names)]}});
}

std::string state_text(const Remembered& remembered) {
    const Placement& w = remembered.window;
    return printed({{"schema", kState},
                    {"width", w.width},
                    {"height", w.height},
                    {"placed", w.placed},
                    {"x", w.x},
                    {"y", w.y},
                    {"recent_files", remembered.recent_files},
                    {"recent_commands", remembered.recent_commands},
                    {"last_folder", remembered.last_folder}});
}

std::string read_settings(std::string_view text, Remembered& remembered) {
    std::string problem;
    const Json json = parsed(text, kSettings, problem);
    if (!problem.empty()) return problem;
    JsonFields fields(json, problem);
    Choices choices;
    std::string theme;
    double scale = 1;
    fields.text("theme", theme);
    if (theme != "light" && theme != "dark") fields.fail("theme");
    fields.real("text_scale", scale);
    // As stored, a tenth is not quite a tenth.
    if (scale < kLeastText - 0.01 || scale > kMostText + 0.01) fields.fail("text_scale");
    fields.flag("lecture", choices.lecture);
    fields.flag("motion", choices.motion);
    fields.flag("by_clock", choices.by_clock);
    if (json.contains("names")) {  // written since there is a choice
        fields.flag("x_first", choices.wording.x_first);
        fields.flag("phases_from_1", choices.wording.phases_from_1);
        std::string names;
        fields.text("names", names);
        const auto at = std::find(std::begin(kNames), std::end(kNames), names);
        if (at == std::end(kNames))
            fields.fail("names");
        else
            choices.wording.names = static_cast<analysis::MatrixNames>(at - std::begin(kNames));
    }
    if (!problem.empty()) return problem;
    choices.theme = theme == "dark" ? draw::Theme::Dark : draw::Theme::Light;
    choices.text_scale = std::clamp(static_cast<float>(scale), kLeastText, kMostText);
    remembered.choices = choices;
    return "";
}

std::string read_state(std::string_view text, Remembered& remembered) {
    std::string problem;
    const Json json = parsed(text, kState, problem);
    if (!problem.empty()) return problem;
    JsonFields fields(json, problem);
    Remembered read;
    Placement& window = read.window;
    whole(fields, json, "width", kLeastSide, kFarthest, window.width);
    whole(fields, json, "height", kLeastSide, kFarthest, window.height);
    fields.flag("placed", window.placed);
    whole(fields, json, "x", -kFarthest, kFarthest, window.x);
    whole(fields, json, "y", -kFarthest, kFarthest, window.y);
    texts(fields, "recent_files", read.recent_files);
    texts(fields, "recent_commands", read.recent_commands);
    fields.text("last_folder", read.last_folder);
    if (read.last_folder.size() > kLongestPath) fields.fail("last_folder");
    if (!problem.empty()) return problem;
    read.choices = remembered.choices;
    remembered = std::move(read);
    return "";
}

void apply(const Remembered& remembered, Session& session) {
    const Choices& choices = remembered.choices;
    session.theme = choices.theme;
    session.text_scale = choices.text_scale;
    session.lecture = choices.lecture;
    session.motion = choices.motion;
    session.by_clock = choices.by_clock;
    session.wording = choices.wording;
    session.recent_files = remembered.recent_files;
    session.recent_commands = remembered.recent_commands;
    session.last_folder = remembered.last_folder;
}

void collect(const Session& session, Remembered& remembered) {
    remembered.choices = {session.theme,  session.text_scale, session.lecture,
                          session.motion, session.by_clock,   session.wording};
    remembered.recent_files = session.recent_files;
    remembered.recent_commands = session.recent_commands;
    remembered.last_folder = session.last_folder;
}

}  // namespace tilescope::session
