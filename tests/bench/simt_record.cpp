// How fast kernels run on the CPU: tiled, 256 x 256 x 256 with T = 16, every request seen by an observer.
#include "tests/bench/tiled_product.h"

namespace {

using namespace tilescope;

void tiled256(benchmark::State& state, bool values, unsigned threads) {
    simt::RunOptions options;
    options.values = values;
    options.threads = threads;
    bench::run_tiled(state, 256, false, options, bench::Watched::Counted);
}

}  // namespace

BENCHMARK_CAPTURE(tiled256, all_threads, false, 0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(tiled256, one_thread, false, 1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(tiled256, one_thread_with_values, true, 1)->Unit(benchmark::kMillisecond)->UseRealTime();
