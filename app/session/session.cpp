#include "app/session/session.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/session/playing.h"
#include "core/analysis/array_shapes.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/ptx/parse.h"
#include "core/trace/file.h"
#include "kernels/alone/guess.h"
#include "kernels/gpu/record_gpu.h"
#include "kernels/run/record.h"

namespace tilescope::session {
namespace {

namespace fs = std::filesystem;

// A small recording is there within a frame or two: nobody need be told that it is being opened.
constexpr std::chrono::milliseconds kPatience{40};

constexpr size_t kMostLooked = 20'000;  // entries of a folder: it must not hold up a frame

MadeRecording recorded(const kernels::TextbookPlan& plan, const Order& order, Control& control) {
    gpu::GpuRecordOptions options;
    options.common.window = order.window;
    const auto window = kernels::window_of(plan, options.common);
    if (!window) return Error{"The window holds no block of this grid; pick blocks on the overview."};
    control.total = uint64_t{window->x1 - window->x0} * (window->y1 - window->y0) * plan.launch.grid.z;
    options.common.stop = &control.stop;
    options.common.blocks_done = &control.done;
    std::string by;
    auto trace = gpu::record(plan, options, order.backend, by);
    return make_recording(std::move(trace), "recorded now, " + by);
}

// A kernel alone, recorded as it is opened: of its launch is guessed what its comments do not say (kernels/alone).
MadeRecording recorded_alone(const std::string& path, Control& control) {
    auto ptx = read_whole(path, ptx::kMostText);
    if (!ptx) return ptx.error();
    const auto said = kernels::described_in(*ptx, "");
    if (!said) return said.error();
    const std::string name = fs::path(path).filename().string();
    const auto guessed = kernels::guess_launch({std::move(*ptx), name, "", ""}, *said, &control.stop);
    if (!guessed) return guessed.error();
    kernels::RecordOptions options;
    options.stop = &control.stop;
    options.max_instructions_per_warp = kernels::kMostAlone;
    auto trace = kernels::record_cpu(guessed->plan, options);
    if (!trace) return trace.error();
    analysis::infer_arrays(*trace);
    return make_recording(std::move(trace), kernels::command_of(name, guessed->whole));
}

// Takes over a recording that has come.
void take(Session& session, std::optional<Opening>& coming, bool wait) {
    auto made = coming ? coming->job.take(wait) : std::nullopt;
    if (!made) return;
    const Opening opened = *std::exchange(coming, std::nullopt);
    if (!*made) {
        session.message = made->error().message;
        std::erase(session.recent_files, opened.path);  // it is not worth offering again
        return;
    }
    if (opened.beside)
        session.ask(wish::SetBeside{std::move(**made)});
    else
        show(session, std::move(**made));
    if (!opened.beside && &coming == &session.opening) session.screen = kStepScreen;
    if (!opened.path.empty()) remember_file(session, opened.path);
    // A GPU that is there and was not taken is worth a word.
    if (session.gpu.there && opened.auto_backend && session.trace().meta.backend == trace::Backend::Cpu)
        session.message = session.recording->origin;
}

}  // namespace

void show(Session& session, std::shared_ptr<const Recording> recording,
          std::shared_ptr<const Totals> totals) {
    if (session.recording && recording && session.recording->serial != recording->serial)
        keep_before(session);
    set(session, worded(std::move(recording), session.wording), std::move(totals));
    session.playback.playing = false;
    session.playback.carry = 0;
    session.hover = session.pin = {};
    session.marked.reset();
    session.ask(wish::FrameAnew{});
    session.message.clear();
    const trace::Trace& trace = session.trace();
    // A speed that was chosen stays.
    if (double& speed = session.playback.steps_per_second; speed == kUsualSpeed || speed == kSpeedOfFewSteps)
        speed = usual_speed(trace);
    if (!trace.time.empty() && !trace.blocks.empty() && trace.blocks[0].count > 0)
        session.playback.clocks_per_second =
            fitting_clocks_per_second(trace.time[trace.blocks[0].first + trace.blocks[0].count - 1]);
}

bool update(Session& session, bool wait) {
    const bool runs = update_program(session, wait);
    take(session, session.opening, wait);
    take(session, session.ordered, wait);
    if (auto outcome = session.exporting ? session.exporting->job.take(wait) : std::nullopt) {
        const std::string path = std::exchange(session.exporting, std::nullopt)->path;
        session.message = outcome->empty() ? fmt::format("Exported as '{}'.", platform::hand_over(path))
                                           : std::move(*outcome);
    }
    // How far it is, until another message takes its place, or Esc clears it.
    if (session.exporting && session.message == session.exporting->said && !session.message.empty())
        session.message = session.exporting->said = exporting_words(session);
    if (auto gpu = session.asking.take()) session.gpu = std::move(*gpu);
    bool coming = runs || session.opening || session.ordered || session.exporting || session.asking.begun();
    if (session.recording) {
        coming =
            ready_block(session, *session.jobs, ShownBlocks::Ask::Values, session.wording, wait) || coming;
        coming = count(session, *session.jobs, wait, session.message) || coming;
    }
    return coming;
}

void open(Session& session, const std::string& what, const std::string& path, bool beside,
          std::function<MadeRecording(Control&)> open) {
    if (session.opening) session.opening->job.stop();
    session.message.clear();
    session.opening = Opening{what, path, beside, false, session.jobs->start(std::move(open))};
    session.opening->job.ready(kPatience);
}

std::vector<std::string> lesson_files(const std::string& path) {
    if (path.ends_with(".json")) return {path};
    std::vector<std::string> found;
    const auto is_file = [](const fs::path& at) {
        std::error_code error;
        return fs::symlink_status(at, error).type() == fs::file_type::regular;
    };
    std::error_code error;
    fs::directory_iterator each(path, fs::directory_options::skip_permission_denied, error);
    for (size_t looked = 0; !error && each != fs::directory_iterator() && looked < kMostLooked;
         each.increment(error), ++looked) {
        std::error_code unknown;
        const fs::path at = each->path(), inner = at / "lesson.json";
        if (at.extension() == ".json" && is_file(at))
            found.push_back(at.string());
        else if (each->symlink_status(unknown).type() == fs::file_type::directory && is_file(inner))
            found.push_back(inner.string());
    }
    std::ranges::sort(found);
    return found;
}

void open_file(Session& session, const std::string& path, bool beside, const std::string& asked_origin) {
    if (is_program(path) && beside) {
        session.message =
            "A program is not set beside a recording; open it by itself, then record its launches.";
        return;
    }
    if (!lesson_files(path).empty()) {
        if (beside) session.message = "A lesson is not set beside a recording; open it by itself.";
        if (!beside) session.ask(wish::OpenLessons{path});
        return;
    }
    if (is_program(path)) return run_program(session, {path, "", "", "", ""});
    const std::string origin = asked_origin.empty() ? path : asked_origin;
    if (path.ends_with(".ptx"))
        return open(session, origin, path, beside,
                    [path](Control& control) { return recorded_alone(path, control); });
    const uint64_t open_bytes = beside && session.recording ? trace::bytes_of(session.trace()) : 0;
    open(session, origin, path, beside, [path, origin, open_bytes](Control&) -> MadeRecording {
        auto made = read_recording(path, origin, open_bytes);
        if (made || path == origin) return made;
        std::string said = made.error().message;  // of a file that has another name for people
        if (const size_t at = said.find(path); at != std::string::npos) said.replace(at, path.size(), origin);
        return Error{said};
    });
}

void open_shipped(Session& session, std::string_view name, bool beside) {
    const auto& all = session.assets.recordings();
    const auto found = std::ranges::find(all, name, &kernels::ShippedRecording::name);
    if (found == all.end())
        session.message = fmt::format("No recording '{}' ships with this program.", one_line(name));
    else
        open(session, found->label, "", beside, [recording = *found](Control&) {
            return make_recording(kernels::open_shipped(recording), recording.label);
        });
}

void record(Session& session, const Order& order) {
    session.message.clear();
    auto plan = kernels::plan(order.kernel, order.shape);
    if (!plan) {
        session.message = plan.error().message;
        return;
    }
    if (session.ordered) session.ordered->job.stop();
    const auto& [m, k, n, tile] = order.shape;
    session.ordered =
        Opening{fmt::format("{}{}  {}×{}×{}", order.kernel, kernels::tile_text(tile, " T="), m, k, n), "",
                false, order.backend == gpu::BackendChoice::Auto,
                session.jobs->start([order, plan = std::move(*plan)](Control& control) {
                    return recorded(plan, order, control);
                })};
}

void ask_for_gpu(Session& session) {
    if (session.gpu.asked || session.asking.begun()) return;
    // The first question opens the driver, which takes longer than a frame.
    session.asking = session.jobs->start([](Control&) {
        const auto found = gpu::devices();
        return GpuThere{true, static_cast<bool>(found),
                        found ? gpu::describe(found->front()) : found.error().message};
    });
}

std::optional<Source> source_of(const Session& session) {
    const Recording& shown = *session.recording;
    const trace::Trace& trace = *shown.trace;
    for (const kernels::ShippedRecording& one : session.assets.recordings())
        if (one.label == shown.origin) return Source{one.name, "", {}};
    std::error_code error;
    const bool file = shown.origin.ends_with(".tsc") || fs::exists(shown.origin, error);  // or was one
    const bool again = shown.product && kernels::find(trace.meta.kernel) != nullptr &&
                       trace.meta.backend == trace::Backend::Cpu && trace.meta.complete &&
                       trace.blocks.size() == trace.launch.grid.count() && !file;
    if (!again) return std::nullopt;
    return Source{"", trace.meta.kernel, kernels::shape_of(*shown.product)};
}

std::string opening_words(const Session& session) {
    return session.opening ? fmt::format("Opening {}\u2026", session.opening->what) : "";
}

std::string_view picture_ending(std::string_view path) {
    for (const std::string_view ending : {".png", ".svg"})
        if (path.ends_with(ending)) return ending;
    return "";
}

std::string save(Session& session, const std::string& path) {
    if (auto good = trace::write_file(session.trace(), path); !good) return good.error().message;
    remember_file(session, path);
    session.message = fmt::format("Saved as '{}'.", platform::hand_over(path));
    return "";
}

void remember(std::vector<std::string>& list, std::string text) {
    std::erase(list, text);
    list.insert(list.begin(), std::move(text));
    if (list.size() > kMostRecent) list.resize(kMostRecent);
}

void remember_file(Session& session, const std::string& path) {
    std::error_code error;
    if (!session.can.paths || !fs::is_regular_file(path, error)) return;
    const std::string whole = fs::absolute(path, error).string();
    if (error) return;
    remember(session.recent_files, whole);
    session.last_folder = fs::path(whole).parent_path().string() + "/";
}

}  // namespace tilescope::session
