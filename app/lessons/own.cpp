#include "app/lessons/own.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/json_fields.h"
#include "core/trace/file.h"

namespace tilescope::lessons {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path folder_of(const std::string& file) {
    std::error_code error;
    return fs::absolute(file, error).lexically_normal().parent_path();
}

// The folder under whose name the lessons of a path are listed.
std::string opened_folder(const std::string& path) {
    std::error_code error;
    const fs::path at = fs::absolute(path, error).lexically_normal();
    return (path.ends_with(".json") || !at.has_filename() ? at.parent_path() : at).string();
}

// These are the lessons from now on; the palette finds those that do not ship.
void list(State& state, session::Session& session, std::vector<Lesson> all) {
    session.listed_lessons.clear();
    for (const Lesson& one : all)
        if (!one.path.empty()) session.listed_lessons.push_back({one.path, one.title});
    state.with_own = std::make_shared<std::vector<Lesson>>(std::move(all));
    state.lessons = state.with_own.get();
    state.said.clear();
    state.pictures.clear();
    state.small_figures.clear();
}

// Lists a folder's lessons behind those that ship and those of other folders.
void list_behind(State& state, session::Session& session, const std::vector<Lesson>& own) {
    std::vector<Lesson> all;
    std::ranges::copy_if(*state.lessons, std::back_inserter(all),
                         [&](const Lesson& one) { return one.folder != own.front().folder; });
    all.insert(all.end(), own.begin(), own.end());
    list(state, session, std::move(all));
}

size_t place_of(const State& state, const std::string& path) {
    return static_cast<size_t>(std::ranges::find(*state.lessons, path, &Lesson::path) -
                               state.lessons->begin());
}

// --- a stop that is added

// A folder for a new lesson: no such one is there yet.
fs::path new_folder(const session::Session& session) {
    std::error_code error;
    const fs::path origin = session.recording->origin;
    const fs::path in =
        fs::is_regular_file(origin, error) ? folder_of(origin.string()) : fs::current_path(error);
    for (int number = 1;; ++number) {
        const fs::path folder =
            in / (number == 1 ? std::string("my-lesson") : fmt::format("my-lesson-{}", number));
        if (!fs::exists(fs::symlink_status(folder, error))) return folder;
    }
}

// The recording as a stop names it.
Json shown_on(const session::Session& session) {
    const auto source = session::source_of(session);
    if (!source) return Json();
    if (!source->shipped.empty()) return object_of("recording", source->shipped);
    const auto& [m, k, n, tile] = source->shape;
    if (kernels::requests_about(*kernels::find(source->kernel), source->shape) > kMostRequests) return Json();
    Json again_as = object_of("kernel", source->kernel, "m", m, "k", k, "n", n);
    if (tile > 0) again_as["tile"] = tile;
    return again_as;
}

// What the recording is called in a lesson's folder: as its file is, where it has one.
std::string name_to_keep(const session::Session& session) {
    const fs::path origin = session.recording->origin;
    const std::string name = origin.filename().string();
    std::error_code error;
    const bool keeps = fs::is_regular_file(origin, error) && stays_inside(name);
    return keeps ? name : session::default_name(session);
}

// Writes the recording into the folder unless it is there; its name. written: the path, where it was.
Result<std::string> keep_recording(const session::Session& session, const fs::path& folder,
                                   std::string& written) {
    const std::string bytes = trace::serialize(session.trace());
    const std::string usual = name_to_keep(session);
    const std::string stem = fs::path(usual).stem().string();
    for (int number = 1;; ++number) {
        const std::string name = number == 1 ? usual : fmt::format("{}-{}.tsc", stem, number);
        const std::string path = (folder / name).string();
        std::error_code error;
        if (fs::exists(fs::symlink_status(path, error))) {
            const auto there = read_whole(path, bytes.size() + 1);
            if (there && *there == bytes) return name;
            continue;
        }
        if (const std::string why = write_whole(path, bytes); !why.empty())
            return Error{
                fmt::format("The recording '{}' cannot be written: {}; choose another folder.", path, why)};
        written = path;
        return name;
    }
}

// What a new lesson holds before its first stop.
Json begun(const fs::path& folder) {
    return object_of("name", folder.filename().string(), "title", "My lesson", "teaches",
                     "Stops that were kept with Ctrl+N; lesson.json holds this sentence.", "made_by", kMadeBy,
                     "stops", Json::array());
}

}  // namespace

Result<std::string> open_own(State& state, session::Session& session, const std::string& path) {
    const std::vector<std::string> files = session::lesson_files(path);
    if (files.empty())
        return Error{fmt::format(
            "The folder '{}' has no lesson: no .json file, and no folder with a lesson.json.", path)};
    if (files.size() > kMostOwn)
        return Error{
            fmt::format("The folder '{}' has more than {} lessons; open a part of it.", path, kMostOwn)};
    std::vector<Lesson> own;
    std::string problem;
    size_t left_out = 0;
    for (const std::string& file : files) {
        auto lesson = read_lesson(file);
        if (lesson) {
            lesson->folder = opened_folder(path);
            own.push_back(std::move(*lesson));
        } else if (++left_out == 1) {
            problem = lesson.error().message;
        }
    }
    if (own.empty()) return Error{problem};
    std::ranges::stable_sort(own, {}, &Lesson::order);
    const std::string first = own.front().path;
    list_behind(state, session, own);
    state.lesson = state.listed = place_of(state, first);
    state.stop = 0;
    session.walking = false;
    session.screen = kScreen.option;
    if (left_out == 0) return std::string();
    return fmt::format("{} of {} lessons cannot be used. {}", left_out, files.size(), problem);
}

void begin_own(State& state, session::Session& session, const std::string& path) {
    const size_t at = place_of(state, path);
    if (at < state.lessons->size()) go_to_stop(state, session, at, 0);
}

std::string added_to(const State& state) {
    if (state.listed >= state.lessons->size()) return "";
    const Lesson& chosen = (*state.lessons)[state.listed];
    return chosen.kept_here ? chosen.path : "";
}

Result<std::string> add_stop(State& state, session::Session& session, const std::string& say) {
    if (!session.recording || session.trace().blocks.empty() || session.trace().steps() == 0)
        return Error{"There is no step to stop at; open a recording first."};
    if (say.empty()) return Error{"Type the sentence first."};
    if (say.size() > kLongestSaid)
        return Error{fmt::format("The sentence is longer than {} bytes; shorten it.", kLongestSaid)};
    if (const std::string problem = unknown_names(say); !problem.empty())
        return Error{fmt::format("This cannot be kept: {}.", problem)};

    const std::string adds_to = added_to(state);
    const fs::path folder = adds_to.empty() ? new_folder(session) : folder_of(adds_to);
    const std::string file =
        (folder / (adds_to.empty() ? "lesson.json" : fs::path(adds_to).filename())).string();
    Json lesson = begun(folder);
    if (!adds_to.empty()) {
        const auto text = read_whole(file, kLargestLesson);
        if (!text) return text.error();
        // It is read as a lesson first: what was written by hand since may be at fault.
        if (const auto good = read_lesson(file); !good) return good.error();
        lesson = Json::parse(*text, nullptr, false);
        if (lesson["stops"].size() >= kMostStops)
            return Error{fmt::format("The lesson '{}' has {} stops; begin another one.", file, kMostStops)};
    }

    std::error_code error;
    const bool made_folder = fs::create_directory(folder, error);
    if (error)
        return Error{fmt::format("The folder '{}' cannot be made: {}; choose another place.", folder.string(),
                                 error.message())};
    std::string written;  // beside the lesson
    const auto undone = [&](Error why) {
        if (!written.empty()) fs::remove(written, error);
        if (made_folder) fs::remove(folder, error);
        return why;
    };
    Json stop = shown_on(session);
    if (stop.is_null()) {
        const auto name = keep_recording(session, folder, written);
        if (!name) return undone(name.error());
        stop = object_of("file", *name);
    }
    const trace::Trace& trace = session.trace();
    const trace::Block& block = trace.blocks[session.cursor.block];
    const uint64_t at = block.first + session.cursor.step;
    add_fields(stop, "block", std::vector<uint32_t>{block.x, block.y}, "kind",
               row_of(look::kind_of(trace, at)).name);
    if (const uint8_t array = trace.form_of(at).array; array != trace::kNoArray)
        add_fields(stop, "array", trace.launch.arrays[array].name);
    add_fields(stop, "step", session.cursor.step + 1, "say", say);
    lesson["stops"].push_back(std::move(stop));
    const size_t number = lesson["stops"].size();
    const std::string text = json_text(lesson, 2) + "\n";
    if (text.size() > kLargestLesson)
        return undone(Error{fmt::format("The lesson '{}' would be too long; begin another one.", file)});
    if (const std::string why = write_whole(file, text); !why.empty())
        return undone(
            Error{fmt::format("The lesson '{}' cannot be written: {}; choose another folder.", file, why)});

    // The list has it; what is shown stays.
    auto read = read_lesson(file);
    if (!read) return read.error();
    const auto before = std::ranges::find(*state.lessons, read->path, &Lesson::path);
    read->folder = before == state.lessons->end() ? opened_folder(file) : before->folder;
    const bool running = session.walking;
    const size_t lesson_of_walk = state.lesson;
    if (before == state.lessons->end()) {
        list_behind(state, session, {*read});
    } else {
        std::vector<Lesson> all = *state.lessons;
        all[static_cast<size_t>(before - state.lessons->begin())] = *read;
        list(state, session, std::move(all));
    }
    state.listed = place_of(state, read->path);
    state.lesson = running ? lesson_of_walk : state.listed;
    return fmt::format("Stop {} is in '{}'.", number, file);
}

}  // namespace tilescope::lessons
