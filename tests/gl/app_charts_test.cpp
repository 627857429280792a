// The Timing and Limits screens as pictures, below the top bar: times of no device, so that the pictures do
// not change with what ships.
#include "app/app.h"
#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

constexpr int kWindowWidth = 1280, kWindowHeight = 720;

const std::vector<kernels::Timings>& sample_times() {
    static const std::vector<kernels::Timings> all = [] {
        kernels::Timings timings;
        timings.device = "Sample GPU";
        timings.driver = "1.0", timings.cuda = "13.0", timings.date = "2026-01-01T00:00:00Z";
        timings.roofs = {800, 9000, 1000, 10000};
        constexpr std::pair<const char*, double> kSpeeds[] = {
            {"untiled", 900},       {"untiled_swapped", 80},    {"tiled", 1400},
            {"tiled_padded", 1450}, {"tiled_stale_edge", 1420}, {"cublas", 7000}};
        for (const auto& [kernel, gflops] : kSpeeds) {
            for (const uint32_t n : {256u, 512u, 1024u, 2048u, 4096u}) {
                kernels::Timing row;
                row.kernel = kernel;
                row.m = row.k = row.n = n;
                row.tile = row.kernel == "cublas" ? 0 : 32;
                row.verified = row.kernel != "tiled_stale_edge";
                row.gflops = gflops * (1 - 100.0 / (n + 100));
                row.median_ms = 2.0 * n * n * n / row.gflops / 1e6;
                row.low_ms = row.high_ms = row.median_ms;
                // Of loads, and a store of 4 bytes for the 2 n operations of each element.
                const double intensity = row.tile == 0 ? 0 : row.kernel.starts_with("tiled") ? 8 : 0.25;
                row.requested_gbs = intensity > 0 ? row.gflops * (1 / intensity + 2.0 / n) : 0;
                timings.rows.push_back(row);
            }
        }
        return std::vector{timings};
    }();
    return all;
}

// Of the ladder's kernels on a device whose caches are known, so that their bounds are worked out; narrow
// enough for that to be quick. The times are made up.
const std::vector<kernels::Timings>& ladder_times() {
    static const std::vector<kernels::Timings> all = [] {
        kernels::Timings timings;
        timings.device = "NVIDIA H200";
        timings.driver = "1.0", timings.cuda = "13.0", timings.date = "2026-01-01T00:00:00Z";
        timings.roofs = {800, 9000, 1000, 10000};
        const std::string& top = kernels::top_of_ladder();
        const std::pair<std::string, double> kSpeeds[] = {{"untiled", 500},
                                                          {"tiled", 800},
                                                          {"register_column", 1900},
                                                          {"register_tile", 3600},
                                                          {"vector_loads", 4400},
                                                          {"warp_tile", 5600},
                                                          {top, 6300},
                                                          {"cublas", 7000}};
        for (const auto& [kernel, gflops] : kSpeeds) {
            for (const uint32_t n : {256u, 512u}) {
                kernels::Timing row;
                row.kernel = kernel;
                row.m = row.k = row.n = n;
                row.tile = row.kernel == "cublas" || kernels::tile_width(kernel) == 0 ? 0 : 16;
                row.verified = true, row.runs = 20, row.registers = 64;
                row.gflops = n < 512 && row.kernel == top ? 5000 : gflops;
                row.median_ms = row.low_ms = row.high_ms = 2.0 * n * n * n / row.gflops / 1e6;
                row.requested_gbs = row.kernel == "cublas" ? 0 : row.gflops / 4;
                if (n < 512 && row.kernel.starts_with("register")) continue;  // was not timed
                timings.rows.push_back(row);
            }
        }
        return std::vector{timings};
    }();
    return all;
}

const std::vector<kernels::Counters>& sample_counters() {
    static const std::vector<kernels::Counters> all = [] {
        kernels::Counters counters;
        counters.device = "Sample GPU";
        counters.rows = {{"tiled",
                          1024,
                          1024,
                          1024,
                          32,
                          "clang",
                          {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 8.4e6},
                           {"lts__t_sectors_op_read.sum", 6.2e6},
                           {"dram__bytes_read.sum", 8.4e6}}}};
        return std::vector{counters};
    }();
    return all;
}

// The same device, where products of halves were timed as well.
const std::vector<kernels::Timings>& times_of_halves() {
    static const std::vector<kernels::Timings> all = [] {
        std::vector<kernels::Timings> made = ladder_times();
        for (const auto& [kernel, gflops] : {std::pair{"wmma_tile", 9000.0},
                                             {"mma_tile", 17000.0},
                                             {"mma_swizzled", 26000.0},
                                             {"mma_stages", 43000.0},
                                             {"cublas_half", 61000.0}})
            for (const uint32_t n : {256u, 512u}) {
                kernels::Timing row = made[0].rows.front();
                row.kernel = kernel;
                row.m = row.k = row.n = n;
                row.tile = 0;
                row.gflops = gflops * n / 512;
                row.median_ms = row.low_ms = row.high_ms = 2.0 * n * n * n / row.gflops / 1e6;
                row.requested_gbs = kernels::is_library(kernel) ? 0 : row.gflops / 60;
                made[0].rows.push_back(row);
            }
        return made;
    }();
    return all;
}

// A screen alone.
test::Picture screen_picture(State state, const char* screen) {
    test::Canvas canvas(kWindowWidth, kWindowHeight);
    state.session.assets.timings = sample_times;
    state.session.assets.counters = sample_counters;
    const draw::Palette& palette = draw::palette(state.session.theme);
    draw::apply_style(palette, 1);
    test::Picture picture;
    for (int i = 0; i < 3; ++i) {
        picture.seen = {};
        static_cast<platform::Image&>(picture) = canvas.frame(palette, [&](ImDrawList& list) {
            DrawContext context{1, palette, canvas.fonts(), canvas.grids()};
            context.still = context.waits = true;
            context.inspection = &picture.seen;
            Pick hovered;
            input::Ui<State> ui{{{context, list}, state.session, offers(), hovered}, state};
            find_screen(screen)->draw(ui, {{0, 0}, {kWindowWidth, kWindowHeight}});
        });
    }
    return picture;
}

State in(Theme theme) {
    State state;
    state.session.theme = theme;
    return state;
}

// The whole window, with type for the back row.
test::Picture lecture_picture(State state) {
    state.session.lecture = true;
    state.session.assets.timings = sample_times;
    state.session.assets.counters = sample_counters;
    return picture(std::move(state), kWindowWidth, kWindowHeight);
}

TEST(TimingScreen, LinesRooflineAndTheChainOfTraffic) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(screen_picture(in(Theme::Light), "timing"), "timing_light");
}

TEST(TimingScreen, SpeedUpsInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = in(Theme::Dark);
    state.timing.plot = timing::State::Plot::OverUntiled;
    state.timing.kernel = "untiled";
    test::expect_golden(screen_picture(std::move(state), "timing"), "timing_dark");
}

TEST(TimingScreen, BoundsOfADeviceThatWasNotMeasured) {
    SKIP_WITHOUT_OPENGL();
    State state = in(Theme::Light);
    state.timing.device = "GeForce RTX 3090";
    test::expect_golden(screen_picture(std::move(state), "timing"), "timing_bounds");
}

// A device of a lecture's sum, whose peak is not said: the roof has no flat part.
TEST(TimingScreen, BoundsOfADeviceWithoutAPeak) {
    SKIP_WITHOUT_OPENGL();
    State state = in(Theme::Dark);
    state.timing.device = "a device of 150 GB/s, its peak not said";
    state.timing.tile = 16;
    test::expect_golden(screen_picture(std::move(state), "timing"), "timing_no_peak");
}

TEST(TimingScreen, InALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = in(Theme::Light);
    state.session.screen = "timing";
    test::expect_golden(lecture_picture(std::move(state)), "timing_lecture");
}

State on_the_ladder(Theme theme, const char* kernel, uint32_t width) {
    State state = in(theme);
    state.session.screen = "timing";
    state.session.assets.timings = ladder_times;
    state.session.assets.counters = sample_counters;
    state.timing.beside = timing::State::Beside::Ladder;
    state.timing.kernel = kernel;
    state.timing.width = width;
    return state;
}

TEST(TimingScreen, TheLadder) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(on_the_ladder(Theme::Light, "tiled", 512), kWindowWidth, kWindowHeight),
                        "timing_ladder_light");
}

// Two rungs were not timed, and the last one is no faster than the one below it.
TEST(TimingScreen, TheLadderWithRungsMissingInTheDark) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(on_the_ladder(Theme::Dark, "vector_loads", 256), kWindowWidth, kWindowHeight),
                        "timing_ladder_dark");
}

TEST(TimingScreen, TheLadderInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = on_the_ladder(Theme::Light, "tiled", 256);
    state.session.lecture = true;
    test::expect_golden(picture(std::move(state), kWindowWidth, kWindowHeight), "timing_ladder_lecture");
}

TEST(TimingScreen, TheLadderOfHalves) {
    SKIP_WITHOUT_OPENGL();
    State state = on_the_ladder(Theme::Light, "mma_swizzled", 512);
    state.session.assets.timings = times_of_halves;
    test::expect_golden(picture(std::move(state), kWindowWidth, kWindowHeight), "timing_ladder_halves");
}

// Its rows, its sentence and its note stand there whole, at the desk and in a lecture.
TEST(TimingScreen, TheLadderIsWhole) {
    SKIP_WITHOUT_OPENGL();
    State state = on_the_ladder(Theme::Light, "tiled", 512);
    for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1920, 1080}}) {
        Drawn drawn(width, height);
        for (const bool lecture : {false, true}) {
            state.session.lecture = lecture;
            drawn.frames(state);
            size_t rows = 0, steps = 0;
            for (const draw::Written& text : drawn.seen().texts) {
                if (!lecture && text.min.x < static_cast<float>(width) / 2) continue;
                EXPECT_FALSE(text.cut) << text.text << " at " << width << (lecture ? ", lecture" : "");
                EXPECT_LE(text.max.y, static_cast<float>(height)) << text.text;
                rows += text.text == "of cuBLAS" || text.text == "untiled, T = 16" ? 1 : 0;
                steps += text.text.starts_with("\u2191 8 elements a thread") ? 1 : 0;
            }
            EXPECT_EQ(rows, 2u) << "its head and its last row at " << width << (lecture ? ", lecture" : "");
            EXPECT_EQ(steps, 1u) << "from the chosen rung to the next";
        }
    }
}

TEST(LimitsScreen, InALectureOneCurve) {
    SKIP_WITHOUT_OPENGL();
    State state = in(Theme::Light);
    state.session.screen = "limits";
    take_preset(state.limits, "cliff", 1);
    test::expect_golden(lecture_picture(std::move(state)), "limits_lecture");
}

// Every case's answer stands there whole, at the desk and in a lecture, with its question above it.
TEST(LimitsScreen, AnswersAreWhole) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1600, 1000}}) {
        Drawn drawn(width, height);
        for (const bool lecture : {false, true}) {
            State state;
            state.session.screen = "limits";
            state.session.lecture = lecture;
            for (const analysis::LimitPreset& preset : analysis::limit_presets()) {
                for (size_t block = 0; block < preset.blocks.size(); ++block) {
                    take_preset(state.limits, preset.id, block);
                    drawn.frames(state);
                    const limits::CaseWords said = words(state.limits, state.session.assets.devices());
                    std::string whole;
                    bool question = false;
                    for (const draw::Written& text : drawn.seen().texts) {
                        question |= text.text == said.question && !text.cut;
                        whole += text.cut ? "cut" : text.text + " ";
                    }
                    EXPECT_NE(whole.find(said.answer), std::string::npos)
                        << preset.id << " at " << width << (lecture ? ", lecture" : "") << ": " << whole;
                    EXPECT_TRUE(question) << said.question << " at " << width << (lecture ? ", lecture" : "");
                }
            }
        }
    }
}

TEST(LimitsScreen, TheCliffOfTheLecture) {
    SKIP_WITHOUT_OPENGL();
    State state = in(Theme::Light);
    take_preset(state.limits, "cliff", 1);
    test::expect_golden(screen_picture(std::move(state), "limits"), "limits_light");
}

TEST(LimitsScreen, ABlockThatDoesNotLaunchInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = in(Theme::Dark);
    take_preset(state.limits, "gt200-blocks", 2);
    test::expect_golden(screen_picture(std::move(state), "limits"), "limits_dark");
}

}  // namespace
}  // namespace tilescope::app
