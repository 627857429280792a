// What the design promises a number for: recording, judging, opening a file, moving to a step.
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>

#include "core/analysis/summary.h"
#include "core/trace/file.h"
#include "tests/bench/recordings.h"
#include "tests/opened.h"

namespace tilescope::bench {
namespace {

// All of tiled 256^3 T = 16, with its check against a plain product, on all threads.
void record_tiled_256(benchmark::State& state) {
    uint64_t steps = 0;
    for (auto _ : state) {
        const trace::Trace trace = record("tiled", {256, 256, 256, 16});
        steps += trace.steps();
    }
    state.SetItemsProcessed(static_cast<int64_t>(steps));
}
BENCHMARK(record_tiled_256)->Unit(benchmark::kMillisecond)->UseRealTime();

// Every request judged and summed, on one thread.
void judge(benchmark::State& state) {
    const trace::Trace& trace = large();
    for (auto _ : state) benchmark::DoNotOptimize(analysis::sums_of_steps(trace, 0, trace.steps()));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * trace.steps()));
}
BENCHMARK(judge)->Unit(benchmark::kMillisecond);

// The whole of `report`: sums by site, reuse of every element, phases.
void summarize(benchmark::State& state) {
    const trace::Trace& trace = large();
    for (auto _ : state) benchmark::DoNotOptimize(analysis::summarize(trace));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * trace.steps()));
}
BENCHMARK(summarize)->Unit(benchmark::kMillisecond);

// A file of 10 million requests, read, checked and ready.
void open_file(benchmark::State& state) {
    const std::string path = (std::filesystem::temp_directory_path() / "tilescope-bench.tsc").string();
    if (auto written = trace::write_file(large(), path); !written) {
        state.SkipWithError(written.error().message.c_str());
        return;
    }
    for (auto _ : state) benchmark::DoNotOptimize(trace::read_file(path));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * large().steps()));
    std::filesystem::remove(path);
}
BENCHMARK(open_file)->Unit(benchmark::kMillisecond)->UseRealTime();

// Any step of it, decoded, with its block.
void move_to_step(benchmark::State& state) {
    const trace::Trace& trace = large();
    uint64_t step = 0;
    for (auto _ : state) {
        step = (step + 0x9E37'79B9'7F4A'7C15u) % trace.steps();
        benchmark::DoNotOptimize(trace::block_of(trace, step));
        benchmark::DoNotOptimize(trace::decode(trace, step));
    }
}
BENCHMARK(move_to_step)->Unit(benchmark::kNanosecond);

}  // namespace
}  // namespace tilescope::bench
