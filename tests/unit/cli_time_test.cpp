// What `tilescope time` is asked for, and its table.
#include <array>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "app/cli/time_job.h"

namespace tilescope::cli {
namespace {

std::string refusal(const TimeRequest& request) {
    try {
        job_of(request);
    } catch (const Refused& refused) {
        EXPECT_EQ(refused.status, kWrongCall);
        return refused.message;
    }
    return "";
}

void expect_says(const TimeRequest& request, const char* says) {
    EXPECT_NE(refusal(request).find(says), std::string::npos) << refusal(request);
}

TEST(TimeJob, WithoutWordsIsEveryKernelAtOneSize) {
    const TimeJob job = job_of({});
    ASSERT_EQ(job.groups.size(), 1u);
    EXPECT_EQ(job.groups[0].plans.size(), kernels::kernels_with_tile_width().size());
    EXPECT_TRUE(job.groups[0].cublas);
    EXPECT_EQ(job.launches(), 9u);
    const kernels::Shape& shape = job.groups[0].plans[0].shape;
    EXPECT_EQ(std::tie(shape.m, shape.k, shape.n, shape.tile), std::tuple(1024u, 1024u, 1024u, 16u));
}

TEST(TimeJob, IsAPlanForEveryKernelSizeAndTile) {
    TimeRequest request;
    request.kernels = {"tiled", "untiled", "tiled"};
    request.sizes = {"256", "512", "untiled_swapped", "256"};
    request.tiles = {8, 32};
    request.m = 100;
    const TimeJob job = job_of(request);
    ASSERT_EQ(job.groups.size(), 2u);
    EXPECT_EQ(job.launches(), 2u * (2 * 3 + 1));
    for (const TimeGroup& group : job.groups) {
        const uint32_t n = &group == &job.groups[0] ? 256 : 512;
        for (size_t i = 0; i < 6; ++i) {
            const kernels::TextbookPlan& plan = group.plans[i];
            EXPECT_EQ(plan.kernel, (std::array{"tiled", "untiled", "untiled_swapped"})[i % 3]);
            EXPECT_EQ(plan.shape.tile, i < 3 ? 8u : 32u);
            EXPECT_EQ(plan.shape.m, 100u);
            EXPECT_EQ(plan.shape.k, n);
            EXPECT_EQ(plan.shape.n, n);
        }
    }
    request = {};
    request.all = true;
    EXPECT_EQ(job_of(request).launches(), 6u * (3 * 8 + 1));
    request = {};
    request.kernels = {"cublas"};
    EXPECT_EQ(job_of(request).launches(), 1u);
    request = {};
    request.no_cublas = true;
    EXPECT_EQ(job_of(request).launches(), 8u);
}

// What is multiplied is on the device once for all that multiply it, beside cuBLAS's product of the same.
TEST(TimeJob, HalvesAreAGroupOfTheirOwn) {
    TimeRequest request;
    request.kernels = {"mma_tile", "tiled", "wmma_tile"};
    request.sizes = {"256"};
    const TimeJob job = job_of(request);
    ASSERT_EQ(job.groups.size(), 2u);
    EXPECT_EQ(job.groups[0].input, ElementType::F32);
    ASSERT_EQ(job.groups[0].plans.size(), 1u);
    EXPECT_EQ(job.groups[0].plans[0].kernel, "tiled");
    EXPECT_EQ(job.groups[1].input, ElementType::F16);
    ASSERT_EQ(job.groups[1].plans.size(), 2u);
    EXPECT_EQ(job.groups[1].plans[0].kernel, "mma_tile");
    EXPECT_EQ(job.groups[1].plans[0].shape.tile, 0u);
    EXPECT_EQ(job.launches(), 3u + 2) << "cuBLAS twice";
    request.kernels = {"cublas_half"};
    ASSERT_EQ(job_of(request).groups.size(), 1u);
    EXPECT_EQ(job_of(request).groups[0].input, ElementType::F16);
    EXPECT_TRUE(job_of(request).groups[0].plans.empty());
    request.no_cublas = true;
    expect_says(request, "'cublas_half' and --no-cublas contradict");
    request = {};
    for (const TimeGroup& group : job_of(request).groups)
        EXPECT_EQ(group.input, ElementType::F32) << "those with a T";
}

TEST(TimeJob, WrongCallsAreNamed) {
    TimeRequest request;
    request.kernels = {"tield"};
    expect_says(request, "there is no kernel 'tield'");
    request = {};
    request.sizes = {"1024", "-3"};
    expect_says(request, "--n '-3'");
    request.sizes = {"0"};
    expect_says(request, "at least 1");
    request.sizes = {"12x"};
    expect_says(request, "--n '12x'");
    request.sizes = {"100000"};
    expect_says(request, "too large");
    request.kernels = {"cublas"};
    expect_says(request, "too large");
    request = {};
    request.tiles = {16, 7};
    expect_says(request, "tile width 7");
    request = {};
    request.runs = 19;
    expect_says(request, "at least 20");
    request = {};
    request.warm_up = 0;
    expect_says(request, "--warm-up");
    request = {};
    request.all = true;
    request.sizes = {"256"};
    expect_says(request, "--all");
    request = {};
    request.compiler = "gcc";
    expect_says(request, "clang");
    request = {};
    request.ptx_file = "a.ptx";
    expect_says(request, "--ptx");
    request.kernels = {"tiled"};
    EXPECT_EQ(refusal(request), "");
    request.compiler = "nvrtc";
    expect_says(request, "contradict");
    request = {};
    request.kernels = {"cublas"};
    request.no_cublas = true;
    expect_says(request, "contradict");
}

TEST(TimeCommand, AsksForTheSameAgain) {
    TimeRequest request;
    EXPECT_EQ(command_of(request), "tilescope time");
    request.kernels = {"tiled", "untiled"};
    request.sizes = {"256", "512"};
    request.tiles = {8, 16};
    request.m = 3;
    request.runs = 40;
    request.no_price = request.json = true;
    EXPECT_EQ(command_of(request),
              "tilescope time tiled untiled --m 3 --n 256 512 --tile 8 16 --runs 40 --no-price --json");
}

kernels::Timing row(const char* kernel, uint32_t tile, double ms, bool verified = true) {
    kernels::Timing timing;
    timing.kernel = kernel;
    timing.m = timing.k = timing.n = 1024;
    timing.tile = tile;
    timing.verified = verified;
    timing.runs = 20;
    timing.median_ms = timing.low_ms = timing.high_ms = ms;
    timing.gflops = 2 * 1024.0 * 1024 * 1024 / (ms * 1e6);
    return timing;
}

TEST(ShippedTimes, AreTheRowsAskedFor) {
    kernels::Timings other, whole;
    other.device = "one that has less";
    other.rows = {row("tiled", 16, 1)};
    whole.device = "one that has all";
    whole.rows = {row("cublas", 0, 4), row("untiled", 16, 2), row("tiled", 32, 1), row("tiled", 16, 3)};
    TimeRequest request;
    request.kernels = {"tiled", "untiled"};
    const auto chosen = shipped_times(job_of(request), "clang", {other, whole});
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->device, "one that has all");
    ASSERT_EQ(chosen->rows.size(), 3u);
    EXPECT_EQ(chosen->rows[0].median_ms, 3);
    EXPECT_EQ(chosen->rows[1].kernel, "untiled");
    EXPECT_EQ(chosen->rows[2].kernel, "cublas");
    request.kernels = {"tiled"};
    EXPECT_EQ(shipped_times(job_of(request), "clang", {other, whole})->rows.size(), 1u) << "the first device";
    request.no_cublas = true;
    EXPECT_EQ(shipped_times(job_of(request), "clang", {whole})->rows.size(), 1u);
    request.tiles = {8};
    EXPECT_FALSE(shipped_times(job_of(request), "clang", {other, whole}));
    request = {};
    request.kernels = {"cublas"};
    EXPECT_EQ(shipped_times(job_of(request), "clang", {other, whole})->device, "one that has all");
    request.sizes = {"512"};
    EXPECT_FALSE(shipped_times(job_of(request), "clang", {other, whole}));
    EXPECT_FALSE(shipped_times(job_of({}), "clang", {}));
}

// The cells of a kernel's row, by heading; of the first such row.
std::map<std::string, std::string> cells_of(const std::string& text, const std::string& kernel) {
    const auto cells = [](const std::string& line) {
        std::vector<std::string> list;
        for (size_t at = line.find_first_not_of(' '); at < line.size();) {
            const size_t end = std::min(line.find("  ", at), line.size());
            list.push_back(line.substr(at, end - at));
            at = line.find_first_not_of(' ', end);
        }
        return list;
    };
    std::map<std::string, std::string> row;
    std::vector<std::string> headings;
    std::istringstream lines(text);
    for (std::string line; row.empty() && std::getline(lines, line);) {
        const auto list = cells(line);
        if (list.size() > 5 && list[0] == "kernel") headings = list;
        if (list.empty() || list.size() != headings.size() || list[0] != kernel) continue;
        for (size_t i = 0; i < list.size(); ++i) row[headings[i]] = list[i];
    }
    return row;
}

TEST(TimeTable, ShowsSpeedUpsPriceAndRoofs) {
    kernels::Timings timings;
    timings.device = "NVIDIA H200";
    timings.driver = "580";
    timings.cuda = "13.0";
    timings.roofs = {4012, 61234, 4917, 66908};
    timings.rows = {row("untiled", 16, 2), row("untiled_swapped", 16, 24), row("tiled", 16, 1),
                    row("tiled_no_barrier", 16, 0.5, false), row("cublas", 0, 0.25)};
    timings.rows[2].recorded_ms = 9.8;
    timings.rows[2].recorded_blocks = 64 * 64;
    const std::string text = time_table(timings, {"a note"});
    EXPECT_EQ(text.find("NVIDIA H200, driver 580, CUDA 13.0"), 0u) << text;
    EXPECT_NE(text.find("4\u2009012"), std::string::npos) << text;
    EXPECT_NE(text.find("66\u2009908"), std::string::npos) << text;
    auto tiled = cells_of(text, "tiled"), cublas = cells_of(text, "cublas");
    auto swapped = cells_of(text, "untiled_swapped"), wrong = cells_of(text, "tiled_no_barrier");
    EXPECT_EQ(tiled["× untiled"], "2.00") << text;
    EXPECT_EQ(tiled["× swapped"], "24.0");
    EXPECT_EQ(tiled["recording"], "9.80");
    EXPECT_EQ(tiled["GFLOP/s"], "2\u2009147");
    EXPECT_EQ(tiled["result"], "verified");
    EXPECT_EQ(cublas["× untiled"], "8.00") << text;
    EXPECT_EQ(cublas["× swapped"], "96.0");
    EXPECT_EQ(cublas["T"], "-");
    EXPECT_EQ(swapped["× untiled"], "0.08");
    EXPECT_EQ(swapped["× swapped"], "1.00");
    EXPECT_EQ(wrong["result"], "wrong (as made to show)");
    EXPECT_NE(text.find("its time is unverified"), std::string::npos) << text;
    EXPECT_NE(text.find("recording it takes so many times as long"), std::string::npos) << text;
    EXPECT_EQ(text.find("window"), std::string::npos) << text;
    EXPECT_NE(text.find("\n  a note\n"), std::string::npos) << text;

    timings.rows[2].recorded_blocks = 16;
    const std::string windowed = time_table(timings, {});
    EXPECT_EQ(cells_of(windowed, "tiled")["recording"], "9.80*") << windowed;
    EXPECT_NE(windowed.find("* where only a window of 16 blocks was recorded"), std::string::npos)
        << windowed;
}

// Other shapes and tile widths are no rivals.
TEST(TimeTable, ComparesOnlyWhatIsAlike) {
    kernels::Timings timings;
    timings.rows = {row("untiled", 8, 4), row("untiled", 32, 3), row("tiled", 16, 1), row("cublas", 0, 0.5)};
    timings.rows.push_back(row("untiled", 16, 9));
    timings.rows.back().n = 512;
    const std::string text = time_table(timings, {});
    EXPECT_EQ(cells_of(text, "tiled")["× untiled"], "-") << text;
    EXPECT_EQ(cells_of(text, "cublas")["× untiled"], "6.00") << "the fastest untiled\n" << text;
    EXPECT_EQ(text.find("recording it takes"), std::string::npos) << "nothing was recorded\n" << text;
    EXPECT_EQ(text.find("unverified"), std::string::npos) << text;
}

}  // namespace
}  // namespace tilescope::cli
