#include "app/session/settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/json_fields.h"

namespace tilescope::session {
namespace {

namespace fs = std::filesystem;
using Json = JsonFields::Json;

constexpr const char* kSettings = "tilescope.settings/1";
constexpr const char* kState = "tilescope.state/1";
constexpr int kFarthest = 100'000;                               // pixels, of any desktop
constexpr int kLeastSide = 200;                                  // of a window
constexpr size_t kLongestPath = 4096;                            // as PATH_MAX
constexpr uint64_t kLargest = 1 << 20;                           // bytes; what we write is a few hundred
constexpr std::string_view kThemes[] = {"light", "dark"};        // in the order of draw::Theme
constexpr std::string_view kNames[] = {"MNP", "ABC", "MdNdPd"};  // in the order of MatrixNames

// The object of a file that names the schema.
Json parsed(std::string_view text, const char* schema, std::string& problem) {
    Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) {
        problem = "it is not JSON";
        return Json::object();
    }
    std::string said;
    JsonFields(json, problem).text("schema", said);
    if (problem.empty() && said != schema) problem = "it is of another version";
    return json;
}

void whole(JsonFields& fields, const Json& json, const char* key, int least, int most, int& out) {
    const auto at = json.find(key);
    if (at == json.end() || !at->is_number_integer() || at->get<double>() < least || at->get<double>() > most)
        return fields.fail(key);
    out = at->get<int>();
}

// One of a few words; out is the value of that place in their order.
template <class Value, size_t N>
void word(JsonFields& fields, const char* key, const std::string_view (&words)[N], Value& out) {
    std::string said;
    fields.text(key, said);
    const auto at = std::ranges::find(words, said);
    if (at == std::end(words)) return fields.fail(key);
    out = static_cast<Value>(at - words);
}

constexpr size_t kMostDone = 1000;  // lessons

void texts(JsonFields& fields, const char* key, std::vector<std::string>& out, size_t most = kMostRecent) {
    const Json& list = fields.list(key);
    if (!list.is_array()) return;
    if (list.size() > most) return fields.fail(key);
    for (const Json& one : list) {
        if (!one.is_string() || one.get_ref<const std::string&>().size() > kLongestPath)
            return fields.fail(key);
        out.push_back(one.get<std::string>());
    }
}

// Names of files may hold bytes that are no UTF-8: those stand as a question mark's sign.
std::string printed(const Json& json) { return json_text(json, 2) + "\n"; }

void load(const std::string& path, std::string (*read)(std::string_view, Remembered&), Loaded& loaded) {
    std::error_code error;
    if (path.empty() || !fs::is_regular_file(path, error)) return;
    const auto text = read_whole(path, kLargest);
    const std::string problem = text ? read(*text, loaded.remembered) : text.error().message;
    if (!problem.empty() && loaded.notice.empty())
        loaded.notice = fmt::format("What '{}' remembers is left aside: {}.", path, problem);
}

Result<void> write(const std::string& path, const std::string& text) {
    if (path.empty()) return {};
    std::error_code error;
    const fs::path folder = fs::path(path).parent_path();
    if (!fs::is_directory(folder, error)) {
        fs::create_directories(folder, error);
        // 0700, as the specification asks of folders that are made.
        if (!error) fs::permissions(folder, fs::perms::owner_all, error);
    }
    const std::string why = write_whole(path, text);
    if (why.empty()) return {};
    return Error{fmt::format("The choices could not be kept in '{}' ({}).", path, why)};
}

}  // namespace

std::string xdg_path(const char* variable, const char* below_home, const char* file) {
    // "All paths must be absolute. If an implementation encounters a relative path it should ignore it."
    const char *set = std::getenv(variable), *home = std::getenv("HOME");
    if (set != nullptr && set[0] == '/') return fmt::format("{}/tilescope/{}", set, file);
    return home != nullptr && home[0] == '/' ? fmt::format("{}/{}/tilescope/{}", home, below_home, file) : "";
}

std::string settings_text(const Remembered& remembered) {
    const Choices& c = remembered.choices;
    return printed({{"schema", kSettings},
                    {"theme", kThemes[static_cast<size_t>(c.theme)]},
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
    const Recent& recent = remembered.recent;
    return printed({{"schema", kState},
                    {"width", w.width},
                    {"height", w.height},
                    {"placed", w.placed},
                    {"x", w.x},
                    {"y", w.y},
                    {"recent_files", recent.recent_files},
                    {"recent_commands", recent.recent_commands},
                    {"last_folder", recent.last_folder},
                    {"walked", remembered.walked},
                    {"done", remembered.done}});
}

std::string read_settings(std::string_view text, Remembered& remembered) {
    std::string problem;
    const Json json = parsed(text, kSettings, problem);
    if (!problem.empty()) return problem;
    JsonFields fields(json, problem);
    Choices choices;
    double scale = 1;
    word(fields, "theme", kThemes, choices.theme);
    fields.real("text_scale", scale);
    // As stored, a tenth is not quite a tenth.
    if (scale < kLeastText - 0.01 || scale > kMostText + 0.01) fields.fail("text_scale");
    choices.text_scale = std::clamp(static_cast<float>(scale), kLeastText, kMostText);
    fields.flag("lecture", choices.lecture);
    fields.flag("motion", choices.motion);
    fields.flag("by_clock", choices.by_clock);
    if (json.contains("names")) {  // files of earlier versions have no notation
        fields.flag("x_first", choices.wording.x_first);
        fields.flag("phases_from_1", choices.wording.phases_from_1);
        word(fields, "names", kNames, choices.wording.names);
    }
    if (problem.empty()) remembered.choices = choices;
    return problem;
}

std::string read_state(std::string_view text, Remembered& remembered) {
    std::string problem;
    const Json json = parsed(text, kState, problem);
    if (!problem.empty()) return problem;
    JsonFields fields(json, problem);
    Recent recent;
    Placement window;
    whole(fields, json, "width", kLeastSide, kFarthest, window.width);
    whole(fields, json, "height", kLeastSide, kFarthest, window.height);
    fields.flag("placed", window.placed);
    whole(fields, json, "x", -kFarthest, kFarthest, window.x);
    whole(fields, json, "y", -kFarthest, kFarthest, window.y);
    texts(fields, "recent_files", recent.recent_files);
    texts(fields, "recent_commands", recent.recent_commands);
    fields.text("last_folder", recent.last_folder);
    if (recent.last_folder.size() > kLongestPath) fields.fail("last_folder");
    bool walked = false;
    if (json.contains("walked")) fields.flag("walked", walked);  // not in files of earlier versions
    std::vector<std::string> done;
    if (json.contains("done")) texts(fields, "done", done, kMostDone);
    if (!problem.empty()) return problem;
    remembered.done = std::move(done);
    remembered.recent = std::move(recent);
    remembered.window = window;
    remembered.walked = walked;
    return "";
}

SettingsFiles settings_files() {
    return {xdg_path("XDG_CONFIG_HOME", ".config", "settings.json"),
            xdg_path("XDG_STATE_HOME", ".local/state", "state.json")};
}

Loaded load_settings(const SettingsFiles& files) {
    Loaded loaded;
    load(files.settings, read_settings, loaded);
    load(files.state, read_state, loaded);
    std::error_code error;
    const auto there = [&](const std::string& file) {
        return !file.empty() && std::filesystem::exists(file, error);
    };
    loaded.newcomer = !files.state.empty() && !there(files.settings) && !there(files.state);
    return loaded;
}

Result<void> save_settings(const SettingsFiles& files, const Remembered& remembered) {
    auto good = write(files.settings, settings_text(remembered));
    auto also = write(files.state, state_text(remembered));
    return good ? also : good;
}

}  // namespace tilescope::session
