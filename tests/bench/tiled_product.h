// The tiled product with T = 16, of floats as shipped or of 32-bit integers, and the naive one in blocks of 16 x 16
// threads, run by the interpreter and timed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/ptx/parse.h"
#include "core/simt/interpreter.h"
#include "core/trace/builder.h"
#include "tests/file_text.h"
#include "tests/launches.h"

namespace tilescope::bench {

class RequestCounter final : public simt::BlockObserver {
public:
    void on_request(const simt::Request& request) override { lanes += request.mask & 1; }
    void on_barrier(uint32_t, uint32_t, uint32_t) override {}
    uint64_t lanes = 0;
};

inline std::string tiled_ptx(bool integer) {
    std::string text = file_text(TILESCOPE_SOURCE_DIR "/assets/ptx/tiled.t16.ptx");
    const std::pair<const char*, const char*> changes[] = {
        {".reg .f32", ".reg .b32"}, {"fma.rn.f32", "mad.lo.s32"}, {"0f00000000", "0"}, {".f32", ".u32"}};
    for (const auto& [from, to] : changes)
        for (size_t at = 0; integer && (at = text.find(from, at)) != std::string::npos;)
            text.replace(at, std::string_view(from).size(), to);
    return text;
}

// Who sees the requests of a run: nobody, an observer that does next to nothing, or one that records them.
enum class Watched { Not, Counted, Recorded };

// n x n x n. Reports warp instructions a second.
inline void run_product(benchmark::State& state, const std::string& ptx, const std::string& kernel,
                        uint32_t n, const simt::RunOptions& options, Watched watched) {
    const auto module = ptx::parse(ptx, kernel);
    if (!module) return state.SkipWithError(module.error().message.c_str());
    const auto program = simt::prepare(*module, kernel);
    if (!program) return state.SkipWithError(program.error().message.c_str());
    const size_t bytes = size_t{n} * n * 4;
    simt::GlobalMemory memory;
    Launch launch;
    for (const uint64_t base : simt::place_buffers({bytes, bytes, bytes})) {
        memory.buffers.push_back({"", base, simt::Bytes(bytes)});
        launch.arrays.push_back(test_array("", Space::Global, ArrayRole::InOut, n, n, base));
    }
    launch.grid = {n / 16, n / 16, 1};
    launch.block = {16, 16, 1};
    launch.arguments =
        test_arguments({memory.buffers[0].base, memory.buffers[1].base, memory.buffers[2].base, n, n, n});
    uint64_t instructions = 0;
    for (auto _ : state) {
        std::vector<std::unique_ptr<simt::BlockObserver>> observers(launch.grid.count());
        simt::MakeObserver observe;
        if (watched != Watched::Not) {
            observe = [&](const simt::BlockId& b) {
                auto& observer = observers[b.x + b.y * launch.grid.x];
                if (watched == Watched::Counted)
                    observer = std::make_unique<RequestCounter>();
                else
                    observer =
                        std::make_unique<trace::BlockRecorder>(launch.arrays, simt::sites_of(**program), b);
                return observer.get();
            };
        }
        const auto outcome = simt::run(**program, launch, memory, options, observe);
        if (!outcome || !outcome->complete) return state.SkipWithError("the kernel did not run");
        instructions += outcome->instructions;
    }
    state.counters["warp_instructions/s"] =
        benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

inline void run_tiled(benchmark::State& state, uint32_t n, bool integer, const simt::RunOptions& options,
                      Watched watched) {
    run_product(state, tiled_ptx(integer), "tiled", n, options, watched);
}

}  // namespace tilescope::bench
