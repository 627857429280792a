#include "app/requests.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/compare_session.h"
#include "app/exporting.h"
#include "app/lesson_words.h"
#include "app/screens/screens.h"
#include "app/session.h"
#include "app/view/commands.h"
#include "app/view/lessons.h"
#include "app/view/picture_name.h"
#include "core/trace/file.h"
#include "kernels/record.h"

namespace tilescope::app {
namespace {

namespace fs = std::filesystem;

// What was opened is offered again; a path alone, not the label of what ships.
void remember_path(State& state, const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    const std::string whole = fs::absolute(path, error).string();
    if (error) return;
    remember(state.teach.recent_files, whole);
    state.teach.last_folder = fs::path(whole).parent_path().string() + "/";
}

// A file can be written there, and may: else the box says why not, once of a file that is there already.
bool may_write(PathBox& box, const std::string& path) {
    std::error_code error;
    const fs::path folder = fs::path(path).parent_path();
    if (path.empty() || path.back() == '/' || fs::is_directory(path, error)) {
        box.problem = fmt::format("'{}' is a folder; add the name of the file.", path);
    } else if (!folder.empty() && !fs::is_directory(folder, error)) {
        box.problem = fmt::format("There is no folder '{}'.", folder.string());
    } else if (fs::exists(path, error) && !box.over_written) {
        box.over_written = true;
        box.problem = fmt::format("'{}' is there already; Enter once more overwrites it.", path);
    } else {
        return true;
    }
    return false;
}

// Ends the box, and remembers where it wrote.
void written(State& state, const std::string& path) {
    std::error_code error;
    state.teach.path.mode = PathBox::Mode::Closed;
    state.teach.last_folder = fs::absolute(path, error).parent_path().string() + "/";
}

void save(State& state, std::string path) {
    PathBox& box = state.teach.path;
    if (!state.session) return;
    std::error_code error;
    if (!path.empty() && path.back() != '/' && !fs::is_directory(path, error) &&
        fs::path(path).extension() != ".tsc")
        path += ".tsc";
    if (!may_write(box, path)) return;
    if (auto good = trace::write_file(*state.session->trace, path); !good) {
        box.problem = good.error().message;
        return;
    }
    written(state, path);
    remember(state.teach.recent_files, fs::absolute(path, error).string());
    state.message = fmt::format("Saved as '{}'.", path);
}

void export_as(State& state, const std::string& what, const std::string& path) {
    const view::ExportChoice* const choice = view::find_export(what);
    PathBox& box = state.teach.path;
    if (choice == nullptr || !state.session || !state.block || !may_write(box, path)) return;
    if (state.teach.exporting) {
        box.problem = fmt::format("'{}' is still being exported; wait until it is done.",
                                  state.teach.exporting->path());
        return;
    }
    auto exporting = Exporting::start(state, *choice, path);
    if (!exporting) {
        box.problem = exporting.error().message;
        return;
    }
    state.teach.exporting = std::move(*exporting);
    written(state, path);
    state.message = fmt::format("Exporting to '{}'\u2026", path);
}

void open(State& state, const std::string& path) {
    PathBox& box = state.teach.path;
    const bool boxed = box.mode == PathBox::Mode::Open;
    std::error_code error;
    if (fs::is_directory(path, error)) {
        const std::string problem = fmt::format("'{}' is a folder; choose a recording in it.", path);
        (boxed ? box.problem : state.message) = problem;
        return;
    }
    if (open_path(state, path)) {
        box.mode = PathBox::Mode::Closed;
    } else if (boxed) {
        box.problem = std::exchange(state.message, {});
    }
}

void open_shipped_by_name(State& state, const std::string& name) {
    for (const kernels::ShippedRecording& recording : view::shipped_of(state)) {
        if (recording.name != name) continue;
        open_shipped(state, recording);
        if (state.message.empty()) state.teach.path.mode = PathBox::Mode::Closed;
        return;
    }
    state.message = fmt::format("No recording '{}' ships with this program.", name);
}

// Sets a recording beside the State's own, or says why not: in the box where there is one.
void set_beside(State& state, Result<trace::Trace> trace, const std::string& origin) {
    PathBox& box = state.teach.path;
    const Result<void> good =
        trace ? compare_with(state, std::move(*trace), origin) : Result<void>(trace.error());
    if (!good) {
        (box.mode == PathBox::Mode::Open ? box.problem : state.message) = good.error().message;
        return;
    }
    state.screen = Screen::Compare;
    box.mode = PathBox::Mode::Closed;
    remember_path(state, origin);
}

void open_beside_by_path(State& state, const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error))
        set_beside(state, Error{fmt::format("'{}' is a folder; choose a recording in it.", path)}, path);
    else
        set_beside(state, trace::read_file(path), path);
}

void shipped_beside(State& state, const std::string& name) {
    for (const kernels::ShippedRecording& recording : view::shipped_of(state))
        if (recording.name == name)
            return set_beside(state, kernels::open_shipped(recording), recording.label);
}

// The recording that a stop is shown on is there already: nothing to record again.
bool shows(const State& state, const view::LessonStop& stop) {
    if (!state.session || stop.kernel.empty()) return false;
    const trace::Meta& meta = state.session->trace->meta;
    const kernels::Shape& shape = stop.shape;
    return meta.kernel == stop.kernel && meta.m == shape.m && meta.k == shape.k && meta.n == shape.n &&
           meta.tile == shape.tile && meta.backend == trace::Backend::Cpu && meta.complete &&
           state.session->trace->blocks.size() == size_t{meta.grid.x} * meta.grid.y * meta.grid.z;
}

void show_stop(State& state) {
    LessonPlace& place = state.teach.lesson;
    if (!place.running) return;
    const view::LessonStop& stop = view::lessons()[place.lesson].stops[place.stop];
    state.message.clear();
    if (!stop.recording.empty()) {
        open_shipped_by_name(state, stop.recording);
    } else if (!shows(state, stop)) {
        if (auto session = record_stop(stop))
            show_session(state, std::move(*session));
        else
            state.message = session.error().message;
    }
    if (!state.message.empty() || !state.session) {
        place.running = false;
        return;
    }
    const trace::Trace& trace = *state.session->trace;
    state.cursor = {};
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        if (trace.blocks[block].x == stop.block_x && trace.blocks[block].y == stop.block_y)
            state.cursor.block = block;
    }
    state.block = view::index_block(trace, state.session->rule, state.cursor.block);
    state.replay = nullptr;
    state.no_values.clear();
    state.pin = state.hover = {};
    state.view.fit = true;
    const auto step = view::find_step(trace, *state.block, stop);
    if (!step) place.note = "This recording has no such step; it stands at the first one.";
    state.cursor.step = step.value_or(0);
    const ScreenInfo* const screen = find_screen(stop.screen);
    state.screen = screen != nullptr ? screen->screen : Screen::Step;
}

void record_preset(State& state, size_t number) {
    if (number >= kernels::presets().size()) return;
    state.form.kernel = kernels::presets()[number].kernel;
    state.form.shape = kernels::presets()[number].shape;
    start_recording(state);
}

void show_wanted_screen(State& state) {
    const int number = *std::exchange(state.teach.wanted_screen, std::nullopt);
    constexpr const char* kNames[] = {"Step", "Compare", "Timing", "Limits", "Lessons"};
    const auto wanted = static_cast<Screen>(number - 1);
    for (const ScreenInfo& info : screens()) {
        if (info.screen == wanted) {
            state.screen = wanted;
            return;
        }
    }
    state.message = fmt::format("This build has no {} screen.", kNames[number - 1]);
}

}  // namespace

void remember_file(State& state) {
    if (state.session) remember_path(state, state.session->origin);
}

bool open_path(State& state, const std::string& path) {
    state.message.clear();
    open_file(state, path);
    if (!state.message.empty()) {
        std::erase(state.teach.recent_files, path);  // it is not worth offering again
        return false;
    }
    state.teach.lesson.running = false;
    remember_file(state);
    return true;
}

void do_requests(State& state) {
    for (Request& request : std::exchange(state.teach.requests, {})) {
        // A picture is made of the whole frame, once it is drawn (platform/save_picture.h).
        if (request.kind == Request::Kind::Save && !view::picture_ending(request.text).empty()) {
            state.teach.requests.push_back(std::move(request));
            continue;
        }
        if (request.kind != Request::Kind::LessonStop && request.kind != Request::Kind::Save &&
            request.kind != Request::Kind::Export)
            state.teach.lesson.running = false;
        switch (request.kind) {
            case Request::Kind::Open:
                if (request.beside)
                    open_beside_by_path(state, request.text);
                else
                    open(state, request.text);
                break;
            case Request::Kind::Shipped:
                if (request.beside)
                    shipped_beside(state, request.text);
                else
                    open_shipped_by_name(state, request.text);
                break;
            case Request::Kind::Preset:
                record_preset(state, request.number);
                break;
            case Request::Kind::Save:
                save(state, request.text);
                break;
            case Request::Kind::Export:
                export_as(state, request.exported, request.text);
                break;
            case Request::Kind::LessonStop:
                show_stop(state);
                break;
        }
    }
    if (state.teach.wanted_screen) show_wanted_screen(state);
}

}  // namespace tilescope::app
