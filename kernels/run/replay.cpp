// Runs blocks of a recording again, with values, and holds every step against the recorded one.
#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/core.h>

#include "core/base/cluster.h"
#include "core/base/contents.h"
#include "core/base/words.h"
#include "core/trace/access.h"
#include "core/trace/claims.h"
#include "kernels/run/record.h"

namespace tilescope::kernels {

namespace {

// Passes a block's steps on while they are the recorded ones; at the first that is not, it says so
// and stops the run.
class Comparison final : public simt::BlockObserver {
public:
    Comparison(const trace::Trace& trace, const trace::Block& block, simt::BlockObserver& observer)
        : trace_(trace),
          block_(block),
          observer_(observer),
          products_left_(trace::memory_left(trace) / kBytesOfProduct) {}

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

    void on_exchange(const simt::Exchange& exchange) override {
        const trace::Access* recorded = next(exchange.site, exchange.warp, exchange.mask);
        if (!recorded) return;
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
            if ((exchange.mask >> lane & 1) && exchange.from[lane] != recorded->offset[lane]) {
                differ(fmt::format("lane {} exchanges with others than recorded", lane));
                return;
            }
        }
        observer_.on_exchange(exchange);
    }

    void on_arrival(uint32_t step) override {
        if (problem.empty()) observer_.on_arrival(step);
    }

    void on_multiplication(const simt::Multiplication& multiplication) override {
        if (!problem.empty()) return;
        if (products_left_-- == 0) {
            problem = trace::more_memory("running " + name() + " again, for all that it multiplies,").message;
            enough = true;
            return;
        }
        observer_.on_multiplication(multiplication);
    }

    std::string name() const { return block_name(trace_.launch.grid, {block_.x, block_.y, block_.z}); }

    std::string problem;    // the sentence, empty while all is the same
    bool differed = false;  // it is of a step that is not the recorded one
    uint64_t steps = 0;     // seen

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
                              name(), steps + 1, how);
        differed = true;
        enough = true;
    }

    static constexpr uint64_t kBytesOfProduct = 1280;  // that an observer may keep: all lanes' values

    const trace::Trace& trace_;
    const trace::Block& block_;
    simt::BlockObserver& observer_;
    uint64_t products_left_ = 0;
    trace::Access recorded_;
};

}  // namespace

struct Replayer::State {
    ReadyLaunch ready;
    // Of the block that was replayed last.
    simt::Outcome outcome;
    bool differed = false;
};

Replayer::Replayer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Replayer::Replayer(Replayer&&) noexcept = default;
Replayer& Replayer::operator=(Replayer&&) noexcept = default;
Replayer::~Replayer() = default;

Plan plan_of(const trace::Trace& trace) {
    const trace::Meta& meta = trace.meta;
    return {meta.kernel,   trace.launch,
            meta.schedule, meta.source_name,
            meta.source,   meta.ptx_name,
            meta.ptx,      {},
            trace.module,  ptx::has_exchanges(trace.sites)};
}

Result<Replayer> Replayer::of(const trace::Trace& trace) try {
    auto ready = make_ready(plan_of(trace), trace::memory_left(trace), "running blocks again", true);
    if (!ready) return ready.error();
    auto state = std::make_unique<State>();
    state->ready = std::move(*ready);
    return Replayer(std::move(state));
} catch (const std::bad_alloc&) {
    return trace::more_memory("running blocks again");
}

uint64_t Replayer::flop() const { return state_->outcome.flop; }

bool Replayer::differed() const { return state_->differed; }

uint64_t Replayer::work() const {
    constexpr uint64_t kBytesCleared = 64;  // in the time of an instruction
    return state_->outcome.instructions +
           simt::memory_of(*state_->ready.program, state_->ready.launch, true) / kBytesCleared;
}

namespace {

// What the block's atomics of global memory found, a number a lane.
std::vector<uint64_t> returns_of(const trace::Trace& trace, const trace::Block& block) {
    std::vector<uint64_t> returns;
    if (trace.returned.empty()) return returns;
    const uint8_t* at = trace.returned.data() + block.first_returned;
    for (uint64_t step = block.first; step < block.first + block.count; ++step) {
        const trace::Form& form = trace.form_of(step);
        const ptx::Site& site = trace.sites[form.site];
        const uint64_t bytes = returned_bytes(trace, form);
        for (uint64_t done = 0; site.words == 0 && done < bytes; done += site.bytes)
            std::memcpy(&returns.emplace_back(0), at + done, std::min<size_t>(site.bytes, sizeof(uint64_t)));
        at += bytes;
    }
    return returns;
}

// Puts back what the block's stores changed, so that every block begins from the launch's own memory.
void undo_stores(const trace::Trace& trace, const trace::Block& block, ReadyLaunch& ready) {
    for (uint64_t step = block.first; step < block.first + block.count; ++step) {
        const trace::Form& form = trace.form_of(step);
        const Array* array = trace.array_of(form);
        const ptx::Site& site = trace.sites[form.site];
        if (!ptx::writes(site.kind) || !array || array->space != Space::Global) continue;
        auto& bytes = ready.memory.buffers[buffer_of(trace.launch.arrays, form.array)].bytes;
        const trace::Access access = trace::decode(trace, step);
        const uint64_t size = array->element_bytes();
        trace::for_pieces(trace, step, access, [&](uint32_t, uint64_t offset, uint64_t of_piece) {
            const uint64_t first = offset / size;
            const uint64_t last = (offset + std::max<uint64_t>(of_piece, 1) - 1) / size;
            for (uint64_t element = first; element <= last && element < array->elements(); ++element) {
                const Value value = initial_value(*array, element);
                std::memcpy(bytes.data() + element * size, &value.bits, size);
            }
        });
    }
}

// The recorded blocks of a block's cluster; an Error where it cannot run again as it was recorded.
Result<std::vector<const trace::Block*>> cluster_of(const trace::Trace& trace, const trace::Block& block,
                                                    const std::string& name) {
    const Dim3& cluster = trace.launch.cluster;
    const auto first_of = [&](const trace::Block& one) {
        return block_of_rank(cluster, {one.x, one.y, one.z}, 0);
    };
    std::vector<const trace::Block*> blocks;
    for (const trace::Block& one : trace.blocks)
        if (first_of(one) == first_of(block)) blocks.push_back(&one);
    const auto shown = [&](const char* why) {
        return Error{
            fmt::format("{} of {} runs beside the others of its cluster, {}; its accesses are shown without "
                        "values",
                        name, trace.meta.kernel, why)};
    };
    if (trace.meta.backend == trace::Backend::Gpu)
        return shown("whose order on the GPU cannot be followed together");
    if (blocks.size() != cluster.count()) return shown("which are not all in the recording");
    return blocks;
}

}  // namespace

Result<void> Replayer::replay(const trace::Trace& trace, uint32_t block_index, simt::BlockObserver& observer,
                              const ReplayOptions& options) try {
    const trace::Block& block = trace.blocks[block_index];
    Comparison comparison(trace, block, observer);
    state_->outcome = {};
    state_->differed = false;
    if (block.dropped > 0) {
        return Error{fmt::format("{} lost {} while it was recorded and cannot run again; record it again",
                                 comparison.name(), counted(block.dropped, "request"))};
    }
    ReadyLaunch& ready = state_->ready;
    if (simt::has_grid_barrier(*ready.program))
        return Error{
            fmt::format("{} of {} waits for the other blocks at the grid's barrier, so that it cannot run "
                        "again alone; its "
                        "accesses are shown without values",
                        comparison.name(), trace.meta.kernel)};
    simt::RunOptions run;
    run.window = {block.x, block.x + 1, block.y, block.y + 1, block.z, block.z + 1};
    run.schedule = {Schedule::Kind::Recorded, 0};
    run.recorded_order.resize(block.count);
    for (uint64_t i = 0; i < block.count; ++i)
        run.recorded_order[i] = static_cast<uint8_t>(trace.warp_of(block.first + i));
    run.returns = returns_of(trace, block);
    run.threads = 1;
    run.values = true;
    run.stop = options.stop;
    std::vector<const trace::Block*> beside{&block};
    if (simt::runs_in_clusters(*ready.program, ready.launch)) {
        auto cluster = cluster_of(trace, block, comparison.name());
        if (!cluster) return cluster.error();
        beside = std::move(*cluster);
        // They take the turns that they took, which is the same each time.
        run.schedule = trace.meta.schedule;
        run.recorded_order.clear(), run.returns.clear();
    }
    uint64_t most_steps = 0;
    for (const trace::Block* one : beside) most_steps = std::max(most_steps, one->count);
    run.max_instructions_per_block = options.spare + options.a_step * most_steps;
    run.memory = simt::memory_of(*ready.program, ready.launch, run.values);
    const auto outcome = simt::run(*ready.program, ready.launch, ready.memory, run,
                                   [&](const simt::BlockId&) { return &comparison; });
    for (const trace::Block* one : beside) undo_stores(trace, *one, ready);
    if (!outcome) return outcome.error();
    state_->outcome = *outcome;
    state_->differed = comparison.differed;
    if (!comparison.problem.empty()) return Error{comparison.problem};
    if (outcome->stopped) return Error{"running " + comparison.name() + " again was stopped"};
    // A fault of the kernel after the last step is one of the recording, too, where that is not complete.
    const bool whole = comparison.steps == block.count;
    if (whole && !(outcome->fault && trace.meta.complete)) return {};
    // A kernel that runs on and on, or that asks for what is only there in its program, is none.
    using enum simt::Fault::Kind;
    state_->differed = !outcome->fault || outcome->fault->kind == OutOfBounds ||
                       outcome->fault->kind == Misaligned || outcome->fault->kind == BarrierDivergence;
    return Error{fmt::format("{} does not run again as it was recorded: it {} {} of {}{}; record it again",
                             comparison.name(), whole ? "goes on after" : "ends after", comparison.steps,
                             counted(block.count, "step"),
                             outcome->fault ? ", because " + outcome->fault->message : std::string())};
} catch (const std::bad_alloc&) {
    return trace::more_memory("running a block again");
}

Result<uint64_t> count_flop(const trace::Trace& trace, const ReplayOptions& options) {
    struct Ignore final : simt::BlockObserver {
        void on_request(const simt::Request&) override {}
        void on_barrier(uint32_t, uint32_t, uint32_t) override {}
    } ignore;
    const uint64_t most = 8 * options.spare + options.a_step * trace.steps();
    auto replayer = Replayer::of(trace);
    if (!replayer) return replayer.error();
    uint64_t flop = 0, work = 0;
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        if (auto ok = replayer->replay(trace, block, ignore, options); !ok) return ok.error();
        flop += replayer->flop();
        work += replayer->work();
        if (work > most && block + 1 < trace.blocks.size())
            return Error{
                fmt::format("floating-point operations were counted in {} of {} only, which took {} "
                            "instructions; record a smaller window of blocks",
                            grouped(block + 1), counted(trace.blocks.size(), "block"), grouped(work))};
    }
    return flop;
}

}  // namespace tilescope::kernels
