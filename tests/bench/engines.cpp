// Warp instructions a second of kernels of several kinds, interpreted, compiled and recorded, on one core and on all.
// Compiling is not part of what is measured.
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/ptx/parse.h"
#include "core/trace/builder.h"
#include "kernels/compiled/engine.h"
#include "kernels/program/compile.h"
#include "tests/launches.h"

namespace {

using namespace tilescope;

struct Kind {
    const char* kernel;
    uint32_t n;  // the arrays have n x n words
    Dim3 grid, block;
};

constexpr Kind kKinds[] = {
    {"tiled_float", 256, {16, 16, 1}, {16, 16, 1}}, {"tiled_integer", 256, {16, 16, 1}, {16, 16, 1}},
    {"naive", 256, {16, 16, 1}, {16, 16, 1}},       {"stencil", 1024, {64, 64, 1}, {16, 16, 1}},
    {"gaussian", 1024, {4096, 1, 1}, {256, 1, 1}},  {"row_sums", 2048, {8, 1, 1}, {256, 1, 1}},
    {"reduction", 1024, {4096, 1, 1}, {256, 1, 1}}, {"shuffles", 1024, {32, 1, 1}, {256, 1, 1}},
    {"histogram", 1024, {32, 1, 1}, {256, 1, 1}},   {"mandelbrot", 256, {16, 16, 1}, {16, 16, 1}},
};

enum class How { Interpreted, Compiled, Recorded };

const Result<ptx::Module>& module() {
    static const Result<ptx::Module> made = []() -> Result<ptx::Module> {
        const auto text = program::compile_device(TILESCOPE_SOURCE_DIR "/tests/bench/engines.cu", {});
        if (!text) return text.error();
        return ptx::parse(*text, "engines.ptx");
    }();
    return made;
}

void engines(benchmark::State& state, const Kind& kind, How how, unsigned threads) {
    if (!module()) return state.SkipWithError(module().error().message.c_str());
    const auto program = simt::prepare(*module(), kind.kernel);
    if (!program) return state.SkipWithError(program.error().message.c_str());
    const size_t words = size_t{kind.n} * kind.n;
    simt::GlobalMemory memory;
    Launch launch;
    launch.grid = kind.grid, launch.block = kind.block;
    for (const uint64_t base : simt::place_buffers({4 * words, 4 * words, 4 * words})) {
        memory.buffers.push_back({"", base, simt::Bytes(4 * words)});
        launch.arrays.push_back(test_array("", Space::Global, ArrayRole::InOut, kind.n, kind.n, base));
        launch.arguments.push_back(test_arguments({base})[0]);
    }
    for (size_t k = 0; k < 2 * words; ++k) {
        const float number = static_cast<float>(k * 2654435761u % 1000) / 500 - 1;
        std::memcpy(&memory.buffers[k / words].bytes[4 * (k % words)], &number, 4);
    }
    launch.arguments.push_back(test_arguments({kind.n})[0]);

    static compiled::Library library;
    compiled::LaunchEngine engine(
        library, **program, launch,
        how == How::Compiled ? compiled::EngineChoice::Compiled : compiled::EngineChoice::Interpreted);
    simt::RunOptions options;
    options.threads = threads;
    options.engine = &engine;
    uint64_t instructions = 0;
    for (auto _ : state) {
        std::vector<std::unique_ptr<simt::BlockObserver>> observers(launch.grid.count());
        simt::MakeObserver observe;
        if (how == How::Recorded)
            observe = [&](const simt::BlockId& b) {
                auto& observer = observers[b.x + b.y * launch.grid.x];
                observer =
                    std::make_unique<trace::BlockRecorder>(launch.arrays, simt::sites_of(**program), b);
                return observer.get();
            };
        const auto outcome = simt::run(**program, launch, memory, options, observe);
        if (!outcome || !outcome->complete) return state.SkipWithError("the kernel did not run");
        instructions += outcome->instructions;
    }
    if (how == How::Compiled && engine.blocks_compiled() == 0)
        return state.SkipWithError(("not compiled: " + engine.why_not()).c_str());
    state.counters["warp_instructions/s"] =
        benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

[[maybe_unused]] const bool kRegistered = [] {
    constexpr std::pair<How, const char*> kHow[] = {
        {How::Interpreted, "interpreted"}, {How::Compiled, "compiled"}, {How::Recorded, "recorded"}};
    for (const Kind& kind : kKinds)
        for (const auto& [cores, threads] : {std::pair{"one_core", 1u}, {"all_cores", 0u}})
            for (const auto& [how, name] : kHow)
                benchmark::RegisterBenchmark(
                    (std::string("engines/") + kind.kernel + "/" + name + "/" + cores).c_str(),
                    [&kind, how = how, threads = threads](benchmark::State& state) {
                        engines(state, kind, how, threads);
                    })
                    ->Unit(benchmark::kMillisecond)
                    ->UseRealTime();
    return true;
}();

}  // namespace
