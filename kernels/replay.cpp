// Runs blocks of a recording again, with values, and holds every step against the recorded one.
#include <algorithm>
#include <atomic>
#include <exception>

#include <fmt/core.h>

#include "kernels/record.h"
#include "kernels/record_launch.h"

namespace tilescope::kernels {

namespace {

// Passes a block's steps on while they are the recorded ones; at the first that is not, it says so
// and stops the run.
class Comparison final : public simt::BlockObserver {
public:
    Comparison(const trace::Trace& trace, const trace::Block& block, simt::BlockObserver& observer)
        : trace_(trace), block_(block), observer_(observer) {}

    void on_request(const simt::Request& request) override {
        const trace::Access* recorded = next(request.site, request.warp, request.mask);
        if (!recorded) {
            return;
        }
        const uint64_t base = recorded->array == trace::kNoArray ? 0 : trace_.arrays[recorded->array].base;
        for (int lane = 0; lane < kWarpSize; ++lane) {
            if ((request.mask >> lane & 1) && request.address[lane] != base + recorded->offset[lane]) {
                differ(fmt::format("lane {} touches address {:#x} instead of {:#x}", lane,
                                   request.address[lane], base + recorded->offset[lane]));
                return;
            }
        }
        observer_.on_request(request);
    }

    void on_barrier(uint32_t site, uint32_t warp, uint32_t mask) override {
        if (next(site, warp, mask)) {
            observer_.on_barrier(site, warp, mask);
        }
    }

    void on_product(const simt::Product& product) override {
        if (problem.empty()) {
            observer_.on_product(product);
        }
    }

    std::string problem;  // the sentence, empty while all is the same
    std::atomic<bool> stop = false;
    uint64_t steps = 0;  // seen

private:
    const trace::Access* next(uint32_t site, uint32_t warp, uint32_t mask) {
        if (!problem.empty()) {
            return nullptr;
        }
        if (steps >= block_.count) {
            differ("the recording ends before");
            return nullptr;
        }
        recorded_ = trace::decode(trace_, block_.first + steps);
        if (recorded_.site != site || recorded_.warp != warp || recorded_.mask != mask) {
            differ(
                fmt::format("warp {} is at site {} with lanes {:#010x}, recorded was warp {} at site {} with "
                            "lanes {:#010x}",
                            warp, site, mask, recorded_.warp, recorded_.site, recorded_.mask));
            return nullptr;
        }
        ++steps;
        return &recorded_;
    }

    void differ(const std::string& how) {
        problem = fmt::format(
            "block ({},{}) does not run again as it was recorded: at its step {} {}; record it again",
            block_.x, block_.y, steps, how);
        stop = true;
    }

    const trace::Trace& trace_;
    const trace::Block& block_;
    simt::BlockObserver& observer_;
    trace::Access recorded_;
};

}  // namespace

struct Replayer::State {
    ReadyLaunch ready;
    uint64_t seed = 0;
};

Result<Plan> plan_of(const trace::Trace& trace) {
    const trace::Meta& meta = trace.meta;
    Plan plan;
    plan.kernel = find(meta.kernel);
    plan.shape = {meta.m, meta.k, meta.n, meta.tile};
    plan.grid = meta.grid;
    plan.block = meta.block;
    plan.arrays = trace.arrays;
    plan.source_name = meta.source_name;
    plan.source = meta.source;
    plan.ptx_name = meta.ptx_name;
    plan.ptx = meta.ptx;
    // M, N and P, then m, k and n: the parameters of all kernels.
    const uint32_t rows[] = {meta.m, meta.k, meta.m}, cols[] = {meta.k, meta.n, meta.n};
    plan.parameters.assign(3, 0);
    size_t found = 0;
    for (const Array& array : trace.arrays) {
        if (array.space != Space::Global) {
            continue;
        }
        const auto i = static_cast<size_t>(array.parameter);
        if (array.parameter < 0 || i > 2 || plan.parameters[i] != 0 || array.rows != rows[i] ||
            array.cols != cols[i] || array.element_bytes != sizeof(float)) {
            return Error{fmt::format(
                "array {} of this recording is not one of M, N and P with m={} k={} n={}; record it again",
                array.name, meta.m, meta.k, meta.n)};
        }
        plan.parameters[i] = array.base;
        ++found;
    }
    if (found != 3) {
        return Error{fmt::format("this recording has {} of the matrices M, N and P; record it again", found)};
    }
    for (const uint32_t size : {meta.m, meta.k, meta.n}) {
        plan.parameters.push_back(size);
    }
    return plan;
}

Replayer::Replayer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Replayer::Replayer(Replayer&&) noexcept = default;
Replayer& Replayer::operator=(Replayer&&) noexcept = default;
Replayer::~Replayer() = default;

Result<Replayer> Replayer::of(const trace::Trace& trace) {
    const auto plan = plan_of(trace);
    if (!plan) {
        return plan.error();
    }
    auto ready = make_ready(*plan, trace.meta.seed);
    if (!ready) {
        return ready.error();
    }
    auto state = std::make_unique<State>();
    state->ready = std::move(*ready);
    state->seed = trace.meta.seed;
    return Replayer(std::move(state));
}

namespace {

// Puts back what the block's stores changed, so that every block begins from the launch's own memory.
void undo_stores(const trace::Trace& trace, const trace::Block& block, ReadyLaunch& ready, uint64_t seed) {
    std::vector<bool> refill(trace.arrays.size());
    for (uint64_t step = block.first; step < block.first + block.count; ++step) {
        const trace::Form& form = trace.form_of(step);
        if (trace.sites[form.site].kind != ptx::SiteKind::Store || form.array == trace::kNoArray ||
            form.space == Space::Shared) {
            continue;
        }
        if (trace.arrays[form.array].role != ArrayRole::Output) {
            refill[form.array] = true;
            continue;
        }
        auto& bytes = ready.memory.buffers[buffer_of(trace.arrays, form.array)].bytes;
        const trace::Access access = trace::decode(trace, step);
        for (int lane = 0; lane < kWarpSize; ++lane) {
            if (access.mask >> lane & 1) {
                std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(access.offset[lane]),
                            trace.sites[form.site].bytes, std::byte{0});
            }
        }
    }
    for (size_t i = 0; i < refill.size(); ++i) {
        if (refill[i]) {
            fill_buffer(ready.memory.buffers[buffer_of(trace.arrays, i)], trace.arrays[i], seed);
        }
    }
}

}  // namespace

Result<void> Replayer::replay(const trace::Trace& trace, uint32_t block_index,
                              simt::BlockObserver& observer) {
    const trace::Block& block = trace.blocks[block_index];
    if (block.dropped > 0) {
        return Error{fmt::format(
            "block ({},{}) lost {} while it was recorded and cannot run again; record it again", block.x,
            block.y, block.dropped == 1 ? "1 request" : fmt::format("{} requests", block.dropped))};
    }
    simt::Launch& launch = state_->ready.launch;
    launch.window = {block.x, block.x + 1, block.y, block.y + 1};
    launch.schedule = {Schedule::Kind::Recorded, 0};
    launch.recorded_order.resize(block.count);
    for (uint64_t i = 0; i < block.count; ++i) {
        launch.recorded_order[i] = static_cast<uint8_t>(trace.warp_of(block.first + i));
    }
    Comparison comparison(trace, block, observer);
    simt::RunOptions run;
    run.threads = 1;
    run.values = true;
    run.stop = &comparison.stop;
    // All z run in a window: only the block's own is watched.
    const auto outcome =
        simt::run(*state_->ready.program, launch, state_->ready.memory, run, [&](const simt::BlockId& id) {
            return id.z == block.z ? static_cast<simt::BlockObserver*>(&comparison) : nullptr;
        });
    undo_stores(trace, block, state_->ready, state_->seed);
    if (!outcome) {
        return outcome.error();
    }
    if (!comparison.problem.empty()) {
        return Error{comparison.problem};
    }
    if (comparison.steps != block.count) {
        return Error{
            fmt::format("block ({},{}) does not run again as it was recorded: it ends after {} of {} "
                        "steps{}; record it again",
                        block.x, block.y, comparison.steps, block.count,
                        outcome->fault ? ", because " + outcome->fault->message : std::string())};
    }
    return {};
}

}  // namespace tilescope::kernels
