// How fast faults are looked for, blocks shared among the cores. The aim: ten million steps within a second
// on two of them, sound kernel or not.
//
// tiled_no_barrier is the worst that ships: in every phase of every block most cells are at fault.
#include <map>
#include <string>

#include <benchmark/benchmark.h>

#include "core/hazards/hazards.h"
#include "tests/bench/recordings.h"
#include "tests/opened.h"

namespace {

using namespace tilescope;

// 10 million requests: 1,056 blocks of 8 warps and 32 phases.
const trace::Trace& ten_million(const std::string& kernel) {
    static std::map<std::string, trace::Trace> made;
    const auto found = made.find(kernel);
    return found != made.end()
               ? found->second
               : made.emplace(kernel, bench::record(kernel.c_str(), {528, 512, 512, 16})).first->second;
}

void find_hazards(benchmark::State& state, const char* kernel) {
    const trace::Trace& trace = ten_million(kernel);
    for (auto _ : state) benchmark::DoNotOptimize(analysis::find_hazards(trace));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * trace.steps()));
}
BENCHMARK_CAPTURE(find_hazards, tiled, "tiled")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(find_hazards, tiled_no_barrier, "tiled_no_barrier")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(find_hazards, untiled, "untiled")->Unit(benchmark::kMillisecond)->UseRealTime();

void faulty_cells_of_a_block(benchmark::State& state) {
    const trace::Trace& trace = ten_million("tiled_no_barrier");
    const auto rule = analysis::phase_rule(trace);
    for (auto _ : state) benchmark::DoNotOptimize(analysis::faulty_cells(trace, *rule, 0));
}
BENCHMARK(faulty_cells_of_a_block)->Unit(benchmark::kMillisecond);

}  // namespace
