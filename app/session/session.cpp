#include "app/session/session.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/session/playing.h"
#include "core/trace/file.h"
#include "kernels/run/record.h"

namespace tilescope::session {
namespace {

namespace fs = std::filesystem;

// A small recording is there within a frame or two: nobody need be told that it is being opened.
constexpr std::chrono::milliseconds kPatience{40};

MadeRecording made_of(Result<trace::Trace> trace, const std::string& origin) {
    return trace ? make_recording(std::move(*trace), origin) : MadeRecording(trace.error());
}

MadeRecording recorded(const Order& order, Control& control) {
    auto plan = kernels::plan(order.kernel, order.shape);
    if (!plan) return plan.error();
    gpu::GpuRecordOptions options;
    options.common.window = order.window;
    const auto within = [](uint32_t first, uint32_t end, uint32_t size) -> uint64_t {
        return first < std::min(end, size) ? std::min(end, size) - first : 0;
    };
    control.total = within(order.window.x0, order.window.x1, plan->launch.grid.x) *
                    within(order.window.y0, order.window.y1, plan->launch.grid.y) * plan->launch.grid.z;
    if (control.total == 0)
        return Error{"The window holds no block of this grid; pick blocks on the overview."};
    options.common.stop = &control.stop;
    options.common.blocks_done = &control.done;
    std::string by;
    auto trace = gpu::record(*plan, options, order.backend, by);
    return made_of(std::move(trace), "recorded now, " + by);
}

void take_opened(Session& session, bool wait) {
    auto made = session.opening->job.take(wait);
    if (!made) return;
    const Opening opened = *std::exchange(session.opening, std::nullopt);
    if (!*made) {
        session.message = made->error().message;
        std::erase(session.recent_files, opened.path);  // it is not worth offering again
        return;
    }
    if (opened.beside)
        session.beside = std::move(**made);
    else
        show(session, std::move(**made));
    if (!opened.path.empty()) remember_file(session, opened.path);
}

void take_recorded(Session& session, bool wait) {
    auto made = session.ordered->job.take(wait);
    if (!made) return;
    const Ordered ordered = *std::exchange(session.ordered, std::nullopt);
    if (!*made) {
        session.message = made->error().message;
        return;
    }
    show(session, std::move(**made));
    // A GPU that is there and was not taken is worth a word.
    if (session.gpu.there && ordered.auto_backend && session.trace().meta.backend == trace::Backend::Cpu)
        session.message = session.recording->origin;
}

}  // namespace

void show(Session& session, std::shared_ptr<const Recording> recording,
          std::shared_ptr<const Totals> totals) {
    set(session, worded(std::move(recording), session.wording), std::move(totals));
    session.playback.playing = false;
    session.playback.carry = 0;
    session.hover = session.pin = {};
    ++session.framing;
    session.message.clear();
    const trace::Trace& trace = session.trace();
    if (!trace.time.empty() && !trace.blocks.empty() && trace.blocks[0].count > 0)
        session.playback.clocks_per_second =
            fitting_clocks_per_second(trace.time[trace.blocks[0].first + trace.blocks[0].count - 1]);
}

bool update(Session& session, bool wait) {
    if (session.opening) take_opened(session, wait);
    if (session.ordered) take_recorded(session, wait);
    if (session.exporting) {
        if (auto outcome = session.exporting->job.take(wait)) {
            session.exporting.reset();
            session.message = std::move(*outcome);
        }
    }
    if (auto gpu = session.asking.take()) session.gpu = std::move(*gpu);
    bool coming = session.opening || session.ordered || session.exporting || session.asking.begun();
    if (session.recording) {
        coming = ready_block(session, *session.jobs, Blocks::Ask::Values, session.wording, wait) || coming;
        coming = count(session, *session.jobs, wait, session.message) || coming;
    }
    return coming;
}

void open(Session& session, const std::string& what, const std::string& path, bool beside,
          std::function<MadeRecording()> open) {
    if (session.opening) session.opening->job.stop();
    session.message.clear();
    session.opening = Opening{what, path, beside,
                              session.jobs->start([open = std::move(open)](Control&) { return open(); })};
    session.opening->job.ready(kPatience);
}

void open_file(Session& session, const std::string& path, bool beside) {
    open(
        session, path, path, beside, [path] { return made_of(trace::read_file(path), path); });
}

void open_shipped(Session& session, std::string_view name, bool beside) {
    for (const kernels::ShippedRecording& recording : session.assets.recordings()) {
        if (recording.name != name) continue;
        open(session, recording.label, "", beside,
             [recording] { return made_of(kernels::open_shipped(recording), recording.label); });
        return;
    }
    session.message = fmt::format("No recording '{}' ships with this program.", name);
}

void record(Session& session, const Order& order) {
    session.message.clear();
    if (auto plan = kernels::plan(order.kernel, order.shape); !plan) {
        session.message = plan.error().message;
        return;
    }
    if (session.ordered) session.ordered->job.stop();
    session.ordered = Ordered{fmt::format("{} T={}  {}x{}x{}", order.kernel, order.shape.tile, order.shape.m,
                                          order.shape.k, order.shape.n),
                              order.backend == gpu::BackendChoice::Auto,
                              session.jobs->start([order](Control& c) { return recorded(order, c); })};
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

std::string opening_words(const Session& session) {
    return session.opening ? fmt::format("Opening {}\u2026", session.opening->what) : "";
}

std::string_view picture_ending(std::string_view path) {
    for (const std::string_view ending : {".png", ".svg"})
        if (path.size() >= ending.size() && path.substr(path.size() - ending.size()) == ending) return ending;
    return "";
}

std::string save(Session& session, const std::string& path) {
    if (auto good = trace::write_file(session.trace(), path); !good) return good.error().message;
    remember_file(session, path);
    session.message = fmt::format("Saved as '{}'.", path);
    return "";
}

void remember(std::vector<std::string>& list, std::string text) {
    std::erase(list, text);
    list.insert(list.begin(), std::move(text));
    if (list.size() > kMostRecent) list.resize(kMostRecent);
}

void remember_file(Session& session, const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    const std::string whole = fs::absolute(path, error).string();
    if (error) return;
    remember(session.recent_files, whole);
    session.last_folder = fs::path(whole).parent_path().string() + "/";
}

}  // namespace tilescope::session
