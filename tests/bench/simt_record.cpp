// How fast kernels run on the CPU: tiled, 256 x 256 x 256 with T = 16, every request seen by an observer.
#include <cstring>

#include <benchmark/benchmark.h>

#include "core/ptx/parse.h"
#include "core/simt/interpreter.h"
#include "tests/file_text.h"
#include "tests/launches.h"

namespace {

using namespace tilescope;

class Counter final : public simt::BlockObserver {
public:
    void on_request(const simt::Request& request) override { lanes += request.mask & 1; }
    void on_barrier(uint32_t, uint32_t, uint32_t) override {}
    uint64_t lanes = 0;
};

void tiled256(benchmark::State& state, bool values, unsigned threads) {
    const auto module =
        ptx::parse(file_text(TILESCOPE_SOURCE_DIR "/assets/ptx/tiled.t16.ptx"), "tiled.t16.ptx");
    if (!module) return state.SkipWithError(module.error().message.c_str());
    const auto program = simt::prepare(*module, "tiled");
    if (!program) return state.SkipWithError(program.error().message.c_str());
    constexpr uint32_t n = 256;
    simt::GlobalMemory memory;
    for (const uint64_t base : simt::place_buffers({n * n * 4, n * n * 4, n * n * 4}))
        memory.buffers.push_back({"", base, std::vector<std::byte>(n * n * 4)});
    Launch launch;
    launch.grid = {n / 16, n / 16, 1};
    launch.block = {16, 16, 1};
    launch.arguments =
        test_arguments({memory.buffers[0].base, memory.buffers[1].base, memory.buffers[2].base, n, n, n});
    simt::RunOptions options;
    options.values = values;
    options.threads = threads;
    uint64_t instructions = 0;
    for (auto _ : state) {
        std::vector<Counter> counters(launch.grid.count());
        const auto outcome = simt::run(**program, launch, memory, options, [&](const simt::BlockId& b) {
            return &counters[b.x + b.y * launch.grid.x];
        });
        if (!outcome || !outcome->complete) return state.SkipWithError("the kernel did not run");
        instructions += outcome->instructions;
    }
    state.counters["warp_instructions/s"] =
        benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

}  // namespace

BENCHMARK_CAPTURE(tiled256, all_threads, false, 0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(tiled256, one_thread, false, 1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(tiled256, one_thread_with_values, true, 1)->Unit(benchmark::kMillisecond)->UseRealTime();
