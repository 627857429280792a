// Warp instructions a second of the interpreter, on 64 blocks of the tiled 1024 x 1024 x 1024 product with T
// = 16: floats and integers, on one core and on all, recorded and not; and on those of the naive one.
#include "tests/bench/tiled_product.h"

namespace {

using namespace tilescope;

void instructions(benchmark::State& state, bool integer, unsigned threads, bool recorded) {
    simt::RunOptions options;
    options.threads = threads;
    options.window.y1 = 1;
    bench::run_tiled(state, 1024, integer, options,
                     recorded ? bench::Watched::Recorded : bench::Watched::Not);
}

void naive(benchmark::State& state, bool recorded) {
    simt::RunOptions options;
    options.threads = 1;
    options.window.y1 = 1;
    bench::run_product(state, file_text(TILESCOPE_SOURCE_DIR "/assets/ptx/untiled.ptx"), "untiled", 1024,
                       options, recorded ? bench::Watched::Recorded : bench::Watched::Not);
}

}  // namespace

BENCHMARK_CAPTURE(naive, one_core, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(naive, one_core_recorded, true)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(instructions, float_one_core, false, 1, false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(instructions, float_all_cores, false, 0, false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(instructions, float_one_core_recorded, false, 1, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(instructions, float_all_cores_recorded, false, 0, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(instructions, integer_one_core, true, 1, false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(instructions, integer_all_cores, true, 0, false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(instructions, integer_one_core_recorded, true, 1, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(instructions, integer_all_cores_recorded, true, 0, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
