// How fast a recording is judged and walked through. The aims: ten million requests a second on one core; any
// step within a millisecond.
//
// The large recording is the untiled and the tiled product of real size: blocks of a real one, laid one after
// the other until there are ten million requests, so that making it does not take longer than judging it.
#include <map>
#include <string>

#include <benchmark/benchmark.h>

#include "core/analysis/cost.h"
#include "core/analysis/summary.h"
#include "core/playback/cursor.h"
#include "core/playback/phase_table.h"
#include "core/playback/replay.h"
#include "core/recording/phases.h"
#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"
#include "tests/bench/recordings.h"
#include "tests/opened.h"

namespace {

using namespace tilescope;

const trace::Trace& recording(const std::string& kernel, const kernels::Shape& shape) {
    static std::map<std::string, trace::Trace> made;
    const std::string key = kernel + std::to_string(shape.tile) + "," + std::to_string(shape.m);
    const auto found = made.find(key);
    return found != made.end() ? found->second
                               : made.emplace(key, bench::record(kernel.c_str(), shape)).first->second;
}

const trace::Trace& ten_million(const std::string& kernel, uint32_t tile) {
    static std::map<std::string, trace::Trace> made;
    const std::string key = kernel + std::to_string(tile);
    if (const auto found = made.find(key); found != made.end()) return found->second;
    trace::Trace trace = recording(kernel, {256, 256, 256, tile});
    const trace::Trace once = trace;
    while (trace.steps() < 10'000'000) {
        for (trace::Block block : once.blocks) {
            block.first += trace.steps();
            trace.blocks.push_back(block);
        }
        trace.base.insert(trace.base.end(), once.base.begin(), once.base.end());
        trace.key.insert(trace.key.end(), once.key.begin(), once.key.end());
    }
    return made.emplace(key, std::move(trace)).first->second;
}

void summarize_kernel(benchmark::State& state, const char* kernel, uint32_t tile) {
    const trace::Trace& trace = ten_million(kernel, tile);
    for (auto _ : state) benchmark::DoNotOptimize(analysis::summarize(trace));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * trace.steps()));
}
BENCHMARK_CAPTURE(summarize_kernel, tiled_32, "tiled", 32)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(summarize_kernel, untiled_16, "untiled", 16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(summarize_kernel, untiled_swapped_16, "untiled_swapped", 16)->Unit(benchmark::kMillisecond);

void cost_of_a_step(benchmark::State& state) {
    const trace::Trace& trace = ten_million("tiled", 32);
    analysis::CostTable costs(trace);
    uint64_t step = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(costs.of(step));
        step = (step + 7'919'000'003) % trace.steps();
    }
}
BENCHMARK(cost_of_a_step);

// The largest block that the presets' kernels have: 32 warps, 32 phases.
constexpr kernels::Shape kLargeBlock{32, 1024, 32, 32};

void phases_of_a_block(benchmark::State& state) {
    const trace::Trace& trace = recording("tiled", kLargeBlock);
    const auto rule = analysis::phase_rule(trace);
    for (auto _ : state) benchmark::DoNotOptimize(analysis::phases_of_block(trace, *rule, 0));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * trace.blocks[0].count));
}
BENCHMARK(phases_of_a_block)->Unit(benchmark::kMicrosecond);

struct Replayed {
    const trace::Trace& trace = recording("tiled", kLargeBlock);
    playback::BlockReplay replay{trace, 0};
    analysis::PhaseMap phases = analysis::phases_of_block(trace, *analysis::phase_rule(trace), 0);
    Replayed() {
        auto replayer = kernels::Replayer::of(trace);
        if (replayer) (void)replayer->replay(trace, 0, replay);
        replay.finish();
    }
    static const Replayed& once() {
        static const Replayed replayed;
        return replayed;
    }
};

// All that a picture of a step shows of values: both tiles' cells, the 32 lanes, the sums of all threads.
void move_to_any_step(benchmark::State& state) {
    const Replayed& r = Replayed::once();
    uint32_t step = 0;
    for (auto _ : state) {
        step = (step + 48'271) % r.replay.steps();
        benchmark::DoNotOptimize(trace::decode(r.trace, step));
        for (uint32_t lane = 0; lane < 32; ++lane) benchmark::DoNotOptimize(r.replay.value(step, lane));
        for (uint64_t cell = 0; cell < 1024; ++cell) {
            benchmark::DoNotOptimize(r.replay.cell(3, cell, step));
            benchmark::DoNotOptimize(r.replay.cell(4, cell, step));
        }
        for (uint32_t thread = 0; thread < 1024; ++thread)
            benchmark::DoNotOptimize(r.replay.running_sum(thread, step));
    }
}
BENCHMARK(move_to_any_step)->Unit(benchmark::kMicrosecond);

void jump_a_phase(benchmark::State& state) {
    const Replayed& r = Replayed::once();
    playback::Cursor cursor;
    for (auto _ : state) {
        const playback::Cursor next = moved(r.trace, r.phases, cursor, playback::Move::NextPhase);
        cursor = next == cursor ? playback::Cursor{} : next;
        benchmark::DoNotOptimize(moved(r.trace, r.phases, cursor, playback::Move::PreviousPhase));
    }
}
BENCHMARK(jump_a_phase)->Unit(benchmark::kMicrosecond);

void table_of_a_block(benchmark::State& state) {
    const Replayed& r = Replayed::once();
    for (auto _ : state) benchmark::DoNotOptimize(phase_table(r.trace, r.replay, r.phases));
}
BENCHMARK(table_of_a_block)->Unit(benchmark::kMillisecond);

}  // namespace
