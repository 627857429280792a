// How fast a recording is replayed through the memory levels, and how fast any step of it is shown. The aims:
// ten million requests a second on one core; any step of ten million within 10 ms.
#include <benchmark/benchmark.h>

#include "kernels/run/levels.h"
#include "kernels/textbook/devices.h"
#include "tests/bench/recordings.h"
#include "tests/opened.h"

namespace {

using namespace tilescope;

analysis::LevelDevice h200() { return {*kernels::device_named("h200"), *kernels::find_levels("h200")}; }

// All of it: what blocks ask for, the replay, copies of L1, and the sums by site, array and phase.
void replay_levels(benchmark::State& state, const trace::Trace& trace) {
    const auto rule = analysis::phase_rule(trace);
    for (auto _ : state) {
        const auto walked = analysis::walk_levels(trace, *rule, h200(), {});
        if (!walked) return state.SkipWithError(walked.error().message.c_str());
        benchmark::DoNotOptimize(walked->levels.model.misses);
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * trace.steps()));
}
void replay_levels_tiled(benchmark::State& state) { replay_levels(state, bench::large()); }
BENCHMARK(replay_levels_tiled)->Unit(benchmark::kMillisecond);

// untiled of 416 x 416 x 416, 4.5 million requests, all of them to global memory; and with T = 8, where an SM
// holds 32 blocks of 2 warps and sends the fewest requests at a time.
void replay_levels_untiled(benchmark::State& state) {
    static const trace::Trace trace = bench::record("untiled", {416, 416, 416, 16});
    replay_levels(state, trace);
}
BENCHMARK(replay_levels_untiled)->Unit(benchmark::kMillisecond);
void replay_levels_small_blocks(benchmark::State& state) {
    static const trace::Trace trace = bench::record("untiled", {416, 416, 416, 8});
    replay_levels(state, trace);
}
BENCHMARK(replay_levels_small_blocks)->Unit(benchmark::kMillisecond);

// Any step of 10 million, another block each time: where its sectors were found, what L1 holds.
void levels_at_any_step(benchmark::State& state) {
    const trace::Trace& trace = bench::large();
    static const auto walked = analysis::walk_levels(trace, *analysis::phase_rule(trace), h200(), {});
    if (!walked) return state.SkipWithError(walked.error().message.c_str());
    uint64_t step = 0;
    for (auto _ : state) {
        step = (step + 0x9E37'79B9'7F4A'7C15u) % trace.steps();
        const uint32_t block = trace::block_of(trace, step);
        const auto in_block = static_cast<uint32_t>(step - trace.blocks[block].first);
        const uint32_t number = walked->number_of[block];
        const auto requests = analysis::requests_of_kind(*walked, trace, walked->kind_of[number]);
        const auto place = walked->walk->place_of(number, requests.batch_of[in_block]);
        benchmark::DoNotOptimize(walked->walk->before(place));
    }
}
BENCHMARK(levels_at_any_step)->Unit(benchmark::kMillisecond);

}  // namespace
