// Runs blocks of a recording again, with values, and holds every step against the recorded one.
#include <algorithm>
#include <atomic>
#include <cstring>

#include <fmt/core.h>

#include "core/base/contents.h"
#include "core/base/words.h"
#include "core/trace/claims.h"
#include "kernels/run/record.h"

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
        if (!recorded) return;
        const Array* array = trace_.array_of(trace_.form_of(block_.first + steps - 1));
        const uint64_t base = array ? array->base : 0;
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
        if (next(site, warp, mask)) observer_.on_barrier(site, warp, mask);
    }

    void on_multiplication(const simt::Multiplication& multiplication) override {
        if (problem.empty()) observer_.on_multiplication(multiplication);
    }

    std::string problem;  // the sentence, empty while all is the same
    std::atomic<bool> stop = false;
    uint64_t steps = 0;  // seen

private:
    const trace::Access* next(uint32_t site, uint32_t warp, uint32_t mask) {
        if (!problem.empty()) return nullptr;
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
        problem = fmt::format("{} does not run again as it was recorded: at its step {} {}; record it again",
                              block_name(trace_.launch.grid, block_.x, block_.y, block_.z), steps + 1, how);
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
    uint64_t flop = 0;
};

Replayer::Replayer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Replayer::Replayer(Replayer&&) noexcept = default;
Replayer& Replayer::operator=(Replayer&&) noexcept = default;
Replayer::~Replayer() = default;

Plan plan_of(const trace::Trace& trace) {
    const trace::Meta& meta = trace.meta;
    return {meta.kernel, trace.launch,  meta.schedule, meta.source_name,
            meta.source, meta.ptx_name, meta.ptx,      {}};
}

Result<Replayer> Replayer::of(const trace::Trace& trace) {
    uint64_t bytes = 0;
    for (const Array& array : trace.launch.arrays)
        if (array.space == Space::Global) bytes += array.bytes();
    if (bytes > trace::memory_left(trace))
        return trace::more_memory(fmt::format("running blocks again with {} of arrays", bytes_text(bytes)));
    auto ready = make_ready(plan_of(trace));
    if (!ready) return ready.error();
    auto state = std::make_unique<State>();
    state->ready = std::move(*ready);
    return Replayer(std::move(state));
}

uint64_t Replayer::flop() const { return state_->flop; }

namespace {

// Puts back what the block's stores changed, so that every block begins from the launch's own memory.
void undo_stores(const trace::Trace& trace, const trace::Block& block, ReadyLaunch& ready) {
    for (uint64_t step = block.first; step < block.first + block.count; ++step) {
        const trace::Form& form = trace.form_of(step);
        const Array* array = trace.array_of(form);
        const ptx::Site& site = trace.sites[form.site];
        if (site.kind != ptx::SiteKind::Store || !array || array->space == Space::Shared) continue;
        auto& bytes = ready.memory.buffers[buffer_of(trace.launch.arrays, form.array)].bytes;
        const trace::Access access = trace::decode(trace, step);
        const uint64_t size = array->element_bytes();
        for_lanes(access.mask, [&](uint32_t lane) {
            const uint64_t first = access.offset[lane] / size;
            const uint64_t last = (access.offset[lane] + site.bytes - 1) / size;
            for (uint64_t element = first; element <= last && element < array->elements(); ++element) {
                const Value value = initial_value(*array, element);
                std::memcpy(bytes.data() + element * size, &value.bits, size);
            }
        });
    }
}

}  // namespace

Result<void> Replayer::replay(const trace::Trace& trace, uint32_t block_index,
                              simt::BlockObserver& observer) {
    const trace::Block& block = trace.blocks[block_index];
    if (block.dropped > 0) {
        return Error{fmt::format("{} lost {} while it was recorded and cannot run again; record it again",
                                 block_name(trace.launch.grid, block.x, block.y, block.z),
                                 counted(block.dropped, "request"))};
    }
    simt::RunOptions run;
    run.window = {block.x, block.x + 1, block.y, block.y + 1, block.z, block.z + 1};
    run.schedule = {Schedule::Kind::Recorded, 0};
    run.recorded_order.resize(block.count);
    for (uint64_t i = 0; i < block.count; ++i)
        run.recorded_order[i] = static_cast<uint8_t>(trace.warp_of(block.first + i));
    Comparison comparison(trace, block, observer);
    run.threads = 1;
    run.values = true;
    run.stop = &comparison.stop;
    ReadyLaunch& ready = state_->ready;
    const auto outcome = simt::run(*ready.program, ready.launch, ready.memory, run,
                                   [&](const simt::BlockId&) { return &comparison; });
    undo_stores(trace, block, ready);
    state_->flop = outcome ? outcome->flop : 0;
    if (!outcome) return outcome.error();
    if (!comparison.problem.empty()) return Error{comparison.problem};
    if (comparison.steps != block.count) {
        return Error{fmt::format(
            "{} does not run again as it was recorded: it ends after {} of {} "
            "steps{}; record it again",
            block_name(trace.launch.grid, block.x, block.y, block.z), comparison.steps, block.count,
            outcome->fault ? ", because " + outcome->fault->message : std::string())};
    }
    return {};
}

Result<uint64_t> count_flop(const trace::Trace& trace) {
    struct Ignore final : simt::BlockObserver {
        void on_request(const simt::Request&) override {}
        void on_barrier(uint32_t, uint32_t, uint32_t) override {}
    } ignore;
    auto replayer = Replayer::of(trace);
    if (!replayer) return replayer.error();
    uint64_t flop = 0;
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        if (auto ok = replayer->replay(trace, block, ignore); !ok) return ok.error();
        flop += replayer->flop();
    }
    return flop;
}

}  // namespace tilescope::kernels
