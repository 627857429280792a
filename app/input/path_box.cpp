// The path box: what it suggests, and what Enter does with the path that is typed or chosen.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "app/input/overlays.h"
#include "app/session/session.h"
#include "core/base/file.h"

namespace tilescope::input {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSuggestions = 200;
constexpr size_t kMostLooked = 20'000;  // entries of a folder: it must not hold up a frame

// "~/x" with the home folder for the tilde.
std::string expanded(const std::string& typed) {
    const char* home = std::getenv("HOME");
    if (home == nullptr || typed.empty() || typed[0] != '~' || (typed.size() > 1 && typed[1] != '/'))
        return typed;
    return home + typed.substr(1);
}

// Folders, recordings and, where they are asked for, programs beside the typed name that begin with it;
// hidden ones only when asked for.
std::vector<Suggestion> beside(const std::string& typed, bool programs) {
    const size_t slash = typed.rfind('/') + 1;  // 0 where there is none
    const std::string in = typed.substr(0, slash), start = typed.substr(slash), folder = expanded(in);
    std::vector<Suggestion> found;
    std::error_code error, unknown;
    fs::directory_iterator each(folder.empty() ? "." : folder, fs::directory_options::skip_permission_denied,
                                error);
    size_t looked = 0;
    for (; !error && each != fs::directory_iterator() && looked < kMostLooked;
         each.increment(error), ++looked) {
        const std::string name = each->path().filename().string(), path = in + name;
        if (!name.starts_with(start) || (name[0] == '.' && start.empty())) continue;
        if (each->is_directory(unknown))
            found.push_back({Suggestion::Kind::Folder, path + "/", path + "/"});
        else if (each->path().extension() == ".tsc")
            found.push_back({Suggestion::Kind::File, path, path});
        else if (programs && session::is_program(name))
            found.push_back({Suggestion::Kind::Program, path, path});
        else if (programs && each->path().extension() == ".json")
            found.push_back({Suggestion::Kind::Lesson, path, path});
    }
    std::ranges::sort(found, [](const Suggestion& a, const Suggestion& b) {
        return a.kind != b.kind ? a.kind > b.kind : a.text < b.text;  // files before folders
    });
    if (found.size() > kMostSuggestions) found.resize(kMostSuggestions);
    return found;
}

bool is_folder(const std::string& path) {
    std::error_code error;
    return path.empty() || path.back() == '/' || fs::is_directory(path, error);
}

// A file can be written there, and may: else the box says why not, once of a file that is there already.
// inputs: files that are not written over.
bool may_write(PathBox& box, const std::string& path, const std::vector<std::string>& inputs = {}) {
    std::error_code error;
    const fs::path folder = fs::path(path).parent_path();
    if (is_folder(path)) {
        box.problem = fmt::format("'{}' is a folder; add the name of the file.", path);
    } else if (!folder.empty() && !fs::is_directory(folder, error)) {
        box.problem = fmt::format("There is no folder '{}'.", folder.string());
    } else if (const std::string why = why_not_writable(path, inputs); !why.empty()) {
        box.problem = fmt::format("'{}' cannot be written: {}; choose another name.", path, why);
    } else if (fs::exists(path, error) && !box.over_written) {
        box.over_written = true;
        box.problem = fmt::format("'{}' is there already; Enter once more overwrites it.", path);
    } else {
        return true;
    }
    return false;
}

void save(PathBox& box, Session& session, std::string path) {
    if (!session.recording) return;
    if (!session::picture_ending(path).empty()) {  // made of the whole frame, once it is drawn
        session.ask(session::wish::SavePicture{path});
        box.mode = PathBox::Mode::Closed;
        return;
    }
    if (!is_folder(path) && fs::path(path).extension() != ".tsc") path += ".tsc";
    if (!may_write(box, path)) return;
    box.problem = session::save(session, path);
    if (box.problem.empty()) box.mode = PathBox::Mode::Closed;
}

void export_to(PathBox& box, Session& session, const std::string& path) {
    const session::ExportChoice* const choice = session::find_export(box.exported);
    if (choice == nullptr || !session::can_export(session, *choice) ||
        !may_write(box, path, session::inputs(session)))
        return;
    if (session.exporting) {
        box.problem =
            fmt::format("'{}' is still being exported; wait until it is done.", session.exporting->path);
        return;
    }
    session::start_export(session, *choice, path);
    std::error_code error;
    box.mode = PathBox::Mode::Closed;
    session.last_folder = fs::absolute(path, error).parent_path().string() + "/";
}

void open(PathBox& box, Session& session, const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error) && session::lesson_files(path).empty()) {
        box.problem = fmt::format("'{}' is a folder without lessons; choose a file in it.", path);
        return;
    }
    session.walking = false;
    box.opening = true;
    session::open_file(session, path, box.beside);
}

}  // namespace

std::vector<Suggestion> suggestions(const PathBox& box, const Session& session) {
    std::vector<Suggestion> all;
    const std::string& typed = box.path.text;
    // First what is likeliest to stand beside the launch that is open: the others of its program.
    if (box.mode == PathBox::Mode::Open && box.beside)
        for (const launched::LaunchLine* launch : session::recorded_launches(session))
            if (const std::string name = session::launch_name(session, *launch);
                launch->number != session.program->opened && match(typed, name) >= 0)
                all.push_back({Suggestion::Kind::Launch, name, std::to_string(launch->number)});
    // A name without a folder, or none yet, also finds what was opened before and what ships.
    if (box.mode == PathBox::Mode::Open && typed.find('/') == std::string::npos) {
        for (const std::string& path : session.recent_files)
            if (match(typed, path) >= 0 && !(box.beside && fs::path(path).extension() != ".tsc"))
                all.push_back({Suggestion::Kind::Recent, path, path});
        for (const kernels::ShippedRecording& recording : session.assets.recordings())
            if (match(typed, recording.label) >= 0)
                all.push_back({Suggestion::Kind::Shipped, recording.label, recording.name});
    }
    const bool programs = box.mode == PathBox::Mode::Open && !box.beside;
    for (Suggestion& one : beside(typed, programs)) all.push_back(std::move(one));
    return all;
}

std::string completed(const std::string& typed) {
    const std::vector<Suggestion> all = beside(typed, true);
    if (all.empty()) return typed;
    std::string common = all.front().value;
    for (const Suggestion& one : all) {
        const auto [end, ignored] =
            std::mismatch(common.begin(), common.end(), one.value.begin(), one.value.end());
        common.erase(end, common.end());
    }
    // Never half a character.
    while (common.size() > typed.size() && (static_cast<unsigned char>(common.back()) & 0xC0) == 0xC0)
        common.pop_back();
    return common.size() > typed.size() ? common : typed;
}

void open_path_box(State& state, Session& session, PathBox::Mode mode) {
    state.path = {};
    if (mode == PathBox::Mode::Open && !session.can.paths) return platform::choose_file(false);
    if (mode == PathBox::Mode::Save && !session.recording) {
        session.message = "There is no recording to save yet; press R to record one.";
        return;
    }
    if (!session.can.paths) {
        if (const std::string why =
                session::save(session, platform::kHandedOver + session::default_name(session));
            !why.empty())
            session.message = why;
        return;
    }
    state.path.mode = mode;
    if (mode == PathBox::Mode::Save)
        set_text(state.path.path, session.last_folder + session::default_name(session));
}

void ask_to_run(State& state, Session& session, const std::string& path) {
    open_path_box(state, session, PathBox::Mode::Open);
    set_text(state.path.path, path);
    state.path.problem = "A program runs on this machine, as you. Enter compiles and runs it; Esc leaves it.";
}

void open_export_box(State& state, Session& session, const std::string& what) {
    const session::ExportChoice* const choice = session::find_export(what);
    if (choice == nullptr || !session::can_export(session, *choice)) return;
    state.path = {};
    if (!session.can.paths) {
        if (!session.exporting)
            session::start_export(session, *choice,
                                  platform::kHandedOver + session::export_name(session, *choice));
        return;
    }
    state.path.mode = PathBox::Mode::Save;
    state.path.exported = what;
    set_text(state.path.path, session.last_folder + session::export_name(session, *choice));
}

void take_path(State& state, Session& session) {
    PathBox& box = state.path;
    box.problem.clear();
    if (box.chosen > 0) {
        const std::vector<Suggestion> all = suggestions(box, session);
        if (box.chosen > all.size()) return;
        const Suggestion& one = all[box.chosen - 1];
        if (one.kind == Suggestion::Kind::Shipped) {
            session.walking = false;
            box.opening = true;
            return session::open_shipped(session, one.value, box.beside);
        }
        if (one.kind == Suggestion::Kind::Launch) {
            box.opening = true;
            return session::open_launch(session, std::stoull(one.value), box.beside);
        }
        set_text(box.path, one.value);
        box.chosen = 0;
        if (one.kind == Suggestion::Kind::Folder || box.mode == PathBox::Mode::Save) return;
    }
    if (box.path.text.empty()) {
        box.problem = "Type a path, or choose one with the arrow keys.";
        return;
    }
    const std::string path = expanded(box.path.text);
    if (box.mode != PathBox::Mode::Save)
        open(box, session, path);
    else if (box.exported.empty())
        save(box, session, path);
    else
        export_to(box, session, path);
}

}  // namespace tilescope::input
