// The processor's share of a frame of the Step screen: everything but OpenGL, at 1600 x 1000, each frame at
// another step. Processor time of the window's thread: software OpenGL keeps other cores busy meanwhile.
#include <algorithm>
#include <chrono>
#include <memory>

#include <benchmark/benchmark.h>

#include "app/app.h"
#include "app/lessons/asking.h"
#include "app/platform/backend.h"
#include "app/session/session.h"
#include "tests/bench/recordings.h"
#include "tests/clocked.h"

namespace tilescope::bench {
namespace {

enum class Measured { Build, Whole };  // the processor's share, or until OpenGL has drawn it

// Frames of one recording; `next` moves the cursor before each. most_ms: the longest, by the wall clock.
template <class Next>
void frames(benchmark::State& state, const trace::Trace& trace, Next next,
            Measured measured = Measured::Build, const char* screen = session::kStepScreen,
            void (*prepare)(app::State& shown) = nullptr) {
    auto offscreen = platform::open_offscreen(1600, 1000);
    if (!offscreen) return state.SkipWithError(offscreen.error().message.c_str());
    auto frame = app::Frame::create();
    if (!frame) return state.SkipWithError(frame.error().message.c_str());
    // Shared without being owned: the trace outlives the benchmark.
    auto recording = session::make_recording({std::shared_ptr<void>(), &trace}, "benchmark");
    if (!recording) return state.SkipWithError(recording.error().message.c_str());
    app::State shown;
    session::show(shown.session, std::move(*recording));
    shown.session.screen = screen;
    app::update(shown, true);
    if (prepare != nullptr) prepare(shown);
    platform::Input input;
    input.dt = 1.0 / 60;
    const app::Canvas canvas{1600, 1000, 1};
    for (int i = 0; i < 3; ++i) {  // the first frames make type and shaders: TILESCOPE_TIMING measures those
        (*frame)->build(shown, input, canvas, false, false);
        (*frame)->render();
        (*offscreen)->show();
    }
    double most = 0;
    for (auto _ : state) {
        const auto start = std::chrono::steady_clock::now();
        next(shown);
        (*frame)->build(shown, input, canvas, false, false);
        if (measured == Measured::Build) state.PauseTiming();
        (*frame)->render();  // what was built is used up, as in the window
        (*offscreen)->show();
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        most = std::max(most, took.count());
        if (measured == Measured::Build) state.ResumeTiming();
    }
    if (measured == Measured::Whole) state.counters["most_ms"] = most;
    state.SetLabel(platform::renderer());
}

void build_frame(benchmark::State& state) {
    static const trace::Trace trace = record("tiled", {64, 64, 64, 16});
    const auto steps = static_cast<uint32_t>(trace.blocks[0].count);
    frames(state, trace,
           [&](app::State& shown) { shown.session.cursor.step = (shown.session.cursor.step + 7) % steps; });
}
BENCHMARK(build_frame)->Unit(benchmark::kMillisecond)->Iterations(300);

// By clocks, in a block of 70,000 steps and 32 warps, while it plays.
void build_frame_by_clocks(benchmark::State& state) {
    static const trace::Trace trace = trace::with_clocks(record("tiled", {32, 1024, 32, 32}));
    frames(state, trace, [&](app::State& shown) {
        shown.session.cursor.step =
            (shown.session.cursor.step + 7919) % static_cast<uint32_t>(trace.blocks[0].count);
    });
}
BENCHMARK(build_frame_by_clocks)->Unit(benchmark::kMillisecond)->Iterations(300);

// Any step of 10 million: another block each frame, its values made beside the window.
void anywhere(benchmark::State& state, Measured measured) {
    const trace::Trace& trace = large();
    uint64_t step = 0;
    const auto next = [&](app::State& shown) {
        step = (step + 0x9E37'79B9'7F4A'7C15u) % trace.steps();
        shown.session.cursor.block = trace::block_of(trace, step);
        shown.session.cursor.step =
            static_cast<uint32_t>(step - trace.blocks[shown.session.cursor.block].first);
    };
    frames(state, trace, next, measured);
}
void build_frame_anywhere(benchmark::State& state) { anywhere(state, Measured::Build); }
BENCHMARK(build_frame_anywhere)->Unit(benchmark::kMillisecond)->Iterations(300);

// The same of the Levels screen, whose replay is done.
void levels_anywhere(benchmark::State& state, Measured measured) {
    uint64_t step = 0;
    frames(
        state, large(),
        [&](app::State& shown) {
            step = (step + 0x9E37'79B9'7F4A'7C15u) % large().steps();
            shown.session.cursor.block = trace::block_of(large(), step);
            shown.session.cursor.step =
                static_cast<uint32_t>(step - large().blocks[shown.session.cursor.block].first);
        },
        measured, levels::kScreen.option);
}
void build_frame_levels(benchmark::State& state) { levels_anywhere(state, Measured::Build); }
BENCHMARK(build_frame_levels)->Unit(benchmark::kMillisecond)->Iterations(300);
void draw_levels(benchmark::State& state) { levels_anywhere(state, Measured::Whole); }
BENCHMARK(draw_levels)->Unit(benchmark::kMillisecond)->Iterations(100)->UseRealTime();

// The race of two recordings, at another moment each frame: of 64 x 64, where a cell is an element, and of as many
// cells as there can be.
void race_of(benchmark::State& state, const trace::Trace& a, Measured measured) {
    const auto prepare = [](app::State& shown) { race::ready(shown.race, shown.session, true); };
    const auto next = [](app::State& shown) {
        shown.race.at += 0.0137;
        if (shown.race.at > 1) shown.race.at -= 1;
    };
    frames(state, a, next, measured, session::kRaceScreen, prepare);
}
const trace::Trace& race_of_64() {
    static const trace::Trace trace = record("tiled", {64, 64, 64, 16});
    return trace;
}
const trace::Trace& race_of_128() {
    static const trace::Trace trace = record("tiled", {128, 128, 128, 16});
    return trace;
}
void build_frame_race(benchmark::State& state) { race_of(state, race_of_64(), Measured::Build); }
BENCHMARK(build_frame_race)->Unit(benchmark::kMillisecond)->Iterations(300);
void build_frame_race_of_128(benchmark::State& state) { race_of(state, race_of_128(), Measured::Build); }
BENCHMARK(build_frame_race_of_128)->Unit(benchmark::kMillisecond)->Iterations(300);
void draw_race(benchmark::State& state) { race_of(state, race_of_64(), Measured::Whole); }
BENCHMARK(draw_race)->Unit(benchmark::kMillisecond)->Iterations(100)->UseRealTime();

// The grid at work of 65,536 blocks, at another moment each frame.
void grid_of_65536(benchmark::State& state, Measured measured) {
    static const trace::Trace trace = record("tiled", {4096, 4096, 4096, 16}, {100, 101, 100, 101});
    const auto next = [](app::State& shown) {
        shown.step.grid.shown = true;
        shown.step.grid.now += 0.618;
        shown.step.grid.now -= shown.step.grid.now >= 1;
    };
    frames(state, trace, next, measured);
}
void build_frame_grid(benchmark::State& state) { grid_of_65536(state, Measured::Build); }
BENCHMARK(build_frame_grid)->Unit(benchmark::kMillisecond)->Iterations(300);
void draw_grid(benchmark::State& state) { grid_of_65536(state, Measured::Whole); }
BENCHMARK(draw_grid)->Unit(benchmark::kMillisecond)->Iterations(100)->UseRealTime();

// 16 blocks out of 8192 x 8192, T = 16: another step each frame.
const trace::Trace& window_of_8192() {
    static const trace::Trace trace = record("tiled", {8192, 8192, 8192, 16}, {100, 104, 200, 204});
    return trace;
}
void of_8192(benchmark::State& state, Measured measured) {
    uint64_t step = 0;
    const auto next = [&](app::State& shown) {
        step = (step + 0x9E37'79B9'7F4A'7C15u) % window_of_8192().blocks[0].count;
        shown.session.cursor.step = static_cast<uint32_t>(step);
    };
    frames(state, window_of_8192(), next, measured);
}
void build_frame_of_8192(benchmark::State& state) { of_8192(state, Measured::Build); }
BENCHMARK(build_frame_of_8192)->Unit(benchmark::kMillisecond)->Iterations(300);

// The product as a solid in place of the matrices.
void cube_of_8192(benchmark::State& state, Measured measured) {
    uint64_t at = 0;
    const auto next = [&](app::State& shown) {
        at = (at + 0x9E37'79B9'7F4A'7C15u) % window_of_8192().blocks[0].count;
        shown.session.cursor.step = static_cast<uint32_t>(at);
        shown.step.middle = step::Middle::Cube;
    };
    frames(state, window_of_8192(), next, measured);
}
void build_frame_of_8192_cube(benchmark::State& state) { cube_of_8192(state, Measured::Build); }
BENCHMARK(build_frame_of_8192_cube)->Unit(benchmark::kMillisecond)->Iterations(300);
void draw_cube(benchmark::State& state) { cube_of_8192(state, Measured::Whole); }
BENCHMARK(draw_cube)->Unit(benchmark::kMillisecond)->Iterations(100)->UseRealTime();

// A block of the ladder, of 256 x 128 elements of P, all of whose sums are in sight, played at full speed.
void of_the_ladder(benchmark::State& state, Measured measured) {
    static const trace::Trace trace = record("double_buffer", {512, 64, 512, 0}, {0, 1, 0, 1});
    uint64_t at = 0;
    const auto next = [&](app::State& shown) {
        at = (at + 4096 / 60) % trace.blocks[0].count;
        shown.session.cursor.step = static_cast<uint32_t>(at);
    };
    frames(state, trace, next, measured);
}
void build_frame_of_the_ladder(benchmark::State& state) { of_the_ladder(state, Measured::Build); }
BENCHMARK(build_frame_of_the_ladder)->Unit(benchmark::kMillisecond)->Iterations(100);
void draw_frame_of_the_ladder(benchmark::State& state) { of_the_ladder(state, Measured::Whole); }
BENCHMARK(draw_frame_of_the_ladder)->Unit(benchmark::kMillisecond)->Iterations(100)->UseRealTime();

// The same with an element of P pinned: all of its 8,192 products in the list.
void build_frame_of_8192_pinned(benchmark::State& state) {
    uint64_t step = 0;
    frames(state, window_of_8192(), [&](app::State& shown) {
        step = (step + 0x9E37'79B9'7F4A'7C15u) % window_of_8192().blocks[0].count;
        shown.session.cursor.step = static_cast<uint32_t>(step);
        shown.session.pin.kind = look::Pick::Kind::Element;
        shown.session.pin.array = 2;
        shown.session.pin.index = uint64_t{200 * 16} * 8192 + 100 * 16;
    });
}
BENCHMARK(build_frame_of_8192_pinned)->Unit(benchmark::kMillisecond)->Iterations(300);

// The whole frame by the clock on the wall, drawn by whatever OpenGL there is: its name is the label.
void draw_frame(benchmark::State& state) {
    static const trace::Trace trace = record("tiled", {64, 64, 64, 16});
    const auto steps = static_cast<uint32_t>(trace.blocks[0].count);
    frames(
        state, trace,
        [&](app::State& shown) { shown.session.cursor.step = (shown.session.cursor.step + 7) % steps; },
        Measured::Whole);
}
BENCHMARK(draw_frame)->Unit(benchmark::kMillisecond)->Iterations(100)->UseRealTime();

void draw_frame_of_8192(benchmark::State& state) { of_8192(state, Measured::Whole); }
BENCHMARK(draw_frame_of_8192)->Unit(benchmark::kMillisecond)->Iterations(100)->UseRealTime();

void draw_frame_anywhere(benchmark::State& state) { anywhere(state, Measured::Whole); }
BENCHMARK(draw_frame_anywhere)->Unit(benchmark::kMillisecond)->Iterations(100)->UseRealTime();

// The pictures that a lesson or a key opens, each over the same recording while the step changes.
void draw_opened(benchmark::State& state, void (*open)(app::State& shown)) {
    static const trace::Trace trace = record("tiled", {64, 64, 64, 16});
    const auto steps = static_cast<uint32_t>(trace.blocks[0].count);
    const auto next = [&](app::State& shown) {
        shown.session.cursor.step = (shown.session.cursor.step + 7) % steps;
        open(shown);
    };
    frames(state, trace, next, Measured::Whole);
}
void phase_table(app::State& shown) { shown.step.middle = step::Middle::Values; }
void older_rules(app::State& shown) { shown.step.judged_by = step::JudgedAs::G80; }
void trails(app::State& shown) {
    shown.session.playback.playing = true;
    shown.session.playback.steps_per_second = 128;
}
void rushing(app::State& shown) {
    shown.session.playback.playing = true;
    shown.session.playback.steps_per_second = 512;
}
void question(app::State& shown) {
    if (!shown.session.question.open) lessons::ask_me(shown.lessons, shown.session);
}
// Another figure each frame.
void figure(app::State& shown) {
    const auto all = lessons::figures();
    const size_t next = shown.session.cursor.step % all.size();
    lessons::show_figure(shown.lessons, shown.session, all[next]);
}
void drawn(benchmark::internal::Benchmark* one) {
    one->Unit(benchmark::kMillisecond)->Iterations(100)->UseRealTime();
}
BENCHMARK_CAPTURE(draw_opened, phase_table, phase_table)->Apply(drawn);
BENCHMARK_CAPTURE(draw_opened, older_rules, older_rules)->Apply(drawn);
BENCHMARK_CAPTURE(draw_opened, trails, trails)->Apply(drawn);
BENCHMARK_CAPTURE(draw_opened, rushing, rushing)->Apply(drawn);
BENCHMARK_CAPTURE(draw_opened, question, question)->Apply(drawn);
BENCHMARK_CAPTURE(draw_opened, figure, figure)->Apply(drawn);

}  // namespace
}  // namespace tilescope::bench
