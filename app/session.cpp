#include "app/session.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "app/actions.h"
#include "core/trace/file.h"
#include "kernels/record.h"

namespace tilescope::app {
namespace {

constexpr uint64_t kMostMapElements = 16ull << 20;
constexpr uint64_t kIndexedAtOnce = 50'000;  // steps: a few milliseconds

void find_faults(State& state) {
    state.faults = std::make_shared<const view::BlockFaults>(
        view::block_faults(*state.session->trace, state.session->rule, *state.block, state.replay.get()));
}

}  // namespace

Result<Session> make_session(std::shared_ptr<const trace::Trace> trace, std::string origin) {
    Session session;
    auto summary = analysis::summarize(*trace);
    if (!summary) return summary.error();
    auto rule = analysis::phase_rule(*trace);
    if (!rule) return rule.error();
    session.summary = std::move(*summary);
    session.rule = std::move(*rule);
    session.loads.resize(trace->arrays.size());
    session.most_loads.resize(trace->arrays.size(), 0);
    session.windows.resize(trace->arrays.size());
    for (size_t at = 0; at < trace->arrays.size(); ++at) {
        const Array& array = trace->arrays[at];
        if (array.role != ArrayRole::Input) continue;
        if (uint64_t{array.rows} * array.cols > kMostMapElements) {
            session.windows[at] = view::loads_window(*trace, static_cast<uint8_t>(at), kMostMapElements);
            session.most_loads[at] = session.windows[at].most;
            continue;
        }
        session.loads[at] = analysis::loads_per_element(*trace, static_cast<uint8_t>(at));
        for (const uint32_t loads : session.loads[at])
            session.most_loads[at] = std::max(session.most_loads[at], loads);
    }
    static std::atomic<uint64_t> made{0};
    session.serial = ++made;
    session.trace = std::move(trace);
    session.origin = std::move(origin);
    return session;
}

void show_session(State& state, Session session) {
    state.session = std::move(session);
    state.cursor = {};
    state.block = nullptr;
    state.replay = nullptr;
    state.no_values.clear();
    state.faults = nullptr;
    state.playback.playing = false;
    state.playback.carry = 0;
    state.hover = state.pin = {};
    state.view = {};
    const trace::Meta& meta = state.session->trace->meta;
    state.form.kernel = meta.kernel;
    state.form.shape = {meta.m, meta.k, meta.n, meta.tile};
    const std::vector<uint32_t>& clocks = state.session->trace->time;
    const auto& blocks = state.session->trace->blocks;
    if (!clocks.empty() && !blocks.empty() && blocks[0].count > 0)
        state.playback.clocks_per_second =
            fitting_clocks_per_second(clocks[blocks[0].first + blocks[0].count - 1]);
    state.message.clear();
}

bool ready_block(State& state, bool wait) {
    if (!state.session || state.session->trace->blocks.empty()) return false;
    const auto& trace = state.session->trace;
    state.cursor.block = std::min(state.cursor.block, static_cast<uint32_t>(trace->blocks.size() - 1));
    const uint32_t block = state.cursor.block;
    if (state.block && state.block->block != block) {
        state.block = nullptr;
        state.replay = nullptr;
        state.no_values.clear();
        state.faults = nullptr;
    }
    const uint64_t steps = trace->blocks[block].count;
    if (!state.block && (wait || steps <= kIndexedAtOnce)) {
        state.block = view::index_block(*trace, state.session->rule, block);
    }
    const bool whole = state.block && (state.replay || !state.no_values.empty());
    if (!whole && wait) {
        if (steps > kMostReplayedSteps) {
            state.no_values = fmt::format("Values are not shown for blocks of more than {} steps.",
                                          view::grouped(kMostReplayedSteps));
            find_faults(state);
            return false;
        }
        auto replayer = kernels::Replayer::of(*trace);
        auto replay = std::make_shared<playback::BlockReplay>(*trace, block);
        const auto ran = replayer ? replayer->replay(*trace, block, *replay) : Result<void>(replayer.error());
        if (ran) {
            replay->finish();
            state.replay = std::move(replay);
        } else {
            state.no_values = ran.error().message;
        }
        find_faults(state);
    } else if (!whole) {
        if (!state.background) state.background = std::make_shared<Background>();
        Background::BlockData data = state.background->block(*state.session, block);
        if (!state.block) state.block = data.index;
        state.replay = data.replay;
        state.no_values = data.no_values;
        state.faults = data.faults;
        return !data.done;
    }
    return false;
}

void open_file(State& state, const std::string& path) {
    auto trace = trace::read_file(path);
    auto session = trace ? make_session(std::make_shared<const trace::Trace>(std::move(*trace)), path)
                         : Result<Session>(trace.error());
    if (session)
        show_session(state, std::move(*session));
    else
        state.message = session.error().message;
}

void open_shipped(State& state, const kernels::ShippedRecording& recording) {
    auto trace = kernels::open_shipped(recording);
    auto session =
        trace ? make_session(std::make_shared<const trace::Trace>(std::move(*trace)), recording.label)
              : Result<Session>(trace.error());
    if (session)
        show_session(state, std::move(*session));
    else
        state.message = session.error().message;
}

void start_recording(State& state) {
    if (!state.background) state.background = std::make_shared<Background>();
    state.message.clear();
    auto plan = kernels::plan(state.form.kernel, state.form.shape);
    if (!plan) {
        state.message = plan.error().message;
        return;
    }
    state.background->record(state.form);
}

bool poll_background(State& state) {
    if (!state.background) return false;
    if (auto session = state.background->finished()) {
        if (*session) {
            show_session(state, std::move(**session));
            const trace::Meta& meta = state.session->trace->meta;
            // A GPU that is there and was not taken is worth a word.
            if (state.form.gpu.there && state.form.backend == gpu::BackendChoice::Auto &&
                meta.backend == trace::Backend::Cpu)
                state.message = state.session->origin;
        } else
            state.message = session->error().message;
    }
    return state.background->progress().busy;
}

}  // namespace tilescope::app
