#include "app/levels/state.h"

#include "kernels/textbook/devices.h"

namespace tilescope::levels {

const analysis::DeviceSpec& device_of(const State& state, const trace::Trace& trace) {
    const auto& all = kernels::level_devices();
    const analysis::DeviceSpec* const own = kernels::find_driver_name(trace.meta.device);
    const std::string wanted = !state.device.empty() ? state.device : own != nullptr ? own->id : "";
    for (const auto* device : all)
        if (device->id == wanted) return *device;
    for (const auto* device : all)
        if (device->id == kernels::kLevelDevice) return *device;
    return *all.front();
}

namespace {

// Requests of a block of more steps are made by a job.
constexpr uint64_t kMadeAtOnce = 8192;

void begin(State& state, session::Session& session, const analysis::DeviceSpec& device) {
    state.making.stop();
    state.requesting.stop();
    state.walked.reset();
    state.requests.reset();
    state.view.reset();
    state.known = {};
    state.why_not.clear();
    state.kind = UINT32_MAX;
    state.first_row = 0;
    const auto recording = session.recording;
    state.serial = recording->serial;
    state.made_for = device.id;
    analysis::LevelOptions how;
    if (recording->product) {
        const kernels::Shape shape = kernels::shape_of(*recording->product);
        state.known = kernels::known_launch(device, recording->trace->meta.kernel,
                                            kernels::compiler_of(*recording->trace, shape.tile), shape);
        how.registers = state.known.registers;
    }
    const analysis::LevelDevice on{device, *kernels::find_levels(device.id)};
    state.making = session.jobs->start([recording, on, how](session::Control& control) -> MadeWalk {
        analysis::LevelOptions options = how;
        options.stop = &control.stop;
        auto made = analysis::walk_levels(*recording, on, options);
        if (!made) return made.error();
        return std::make_shared<const WalkedLevels>(std::move(*made));
    });
}

// The requests of the cursor's block; true while a job makes them.
bool ready_requests(State& state, session::Session& session, uint32_t kind, bool wait) {
    if (state.kind != kind) {
        state.kind = kind;
        state.requests.reset();
        state.requesting.stop();
    }
    if (state.requests) return false;
    const auto make = [walked = state.walked, trace = session.recording->trace, kind] {
        return std::make_shared<const analysis::BlockRequests>(requests_of_kind(*walked, *trace, kind));
    };
    if (wait || session.trace().blocks[state.walked->kinds[kind].recorded].count <= kMadeAtOnce) {
        state.requests = make();
        return false;
    }
    if (!state.requesting.begun())
        state.requesting = session.jobs->start(
            [make](session::Control&) -> Result<std::shared_ptr<const analysis::BlockRequests>> {
                return make();
            });
    auto made = state.requesting.take();
    if (!made) return true;
    if (*made)
        state.requests = **made;
    else
        state.why_not = made->error().message;
    return false;
}

}  // namespace

bool ready(State& state, session::Session& session, bool wait) {
    if (!session.recording || kernels::level_devices().empty()) return false;
    const trace::Trace& trace = session.trace();
    const analysis::DeviceSpec& device = device_of(state, trace);
    if (state.serial != session.recording->serial || state.made_for != device.id)
        begin(state, session, device);
    if (state.making.begun()) {
        auto made = state.making.take(wait);
        if (!made) return true;
        if (*made)
            state.walked = **made;
        else
            state.why_not = made->error().message;
    }
    const playback::Cursor& at = session.cursor;
    if (!state.walked || at.block >= trace.blocks.size() || at.step >= trace.blocks[at.block].count)
        return false;
    const Notation& notation = session.recording->notation;
    const bool same = state.view && state.view_block == at.block && state.view_step == at.step &&
                      state.view_notation == notation;
    if (same) return false;
    const uint32_t kind = state.walked->kind_of[state.walked->number_of[at.block]];
    if (ready_requests(state, session, kind, wait)) return true;
    if (!state.requests) return false;
    state.view = step_view(trace, notation, *state.walked, *state.requests, at.block, at.step);
    state.view_block = at.block;
    state.view_step = at.step;
    state.view_notation = notation;
    return false;
}

}  // namespace tilescope::levels
