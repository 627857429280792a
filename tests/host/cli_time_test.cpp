// `tilescope time` through the program, where there is no GPU: wrong calls, and the times that ship.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/textbook/timings.h"
#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

using kernels::shipped_timings;

#define NEEDS_NO_DEVICE()                                                                                 \
    if (tilescope({"time", "cublas", "--n", "77", "--no-roofs"}).err.find("driver") == std::string::npos) \
        GTEST_SKIP() << "there is a GPU here";                                                            \
    else                                                                                                  \
        (void)0

TEST(CliTime, WrongCallsAreNamed) {
    expect_refused(2, {"time", "tield"}, "there is no kernel 'tield'");
    expect_refused(2, {"time", "--n", "1024", "tield"}, "there is no kernel 'tield'");
    expect_refused(2, {"time", "tiled", "--n", "-5"}, "-5");
    expect_refused(2, {"time", "tiled", "--n", "0"}, "at least 1");
    expect_refused(2, {"time", "tiled", "--tile", "16", "12"}, "tile width 12");
    expect_refused(2, {"time", "tiled", "--runs", "3"}, "at least 20");
    expect_refused(2, {"time", "tiled", "--m", "many"}, "--m");
    expect_refused(2, {"time", "--all", "--n", "256"}, "--all");
    expect_refused(2, {"time", "tiled", "untiled", "--ptx", "a.ptx"}, "--ptx");
    expect_refused(2, {"time", "tiled", "--compiler", "gcc"}, "choose clang");
    EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST(CliTime, SaysBeforehandWhereItCannotWrite) {
    expect_refused(1, {"time", "tiled", "-o", "nowhere/times.json"}, "no folder 'nowhere'");
    expect_refused(1, {"time", "tiled", "-o", "."}, "is a folder");
}

TEST(CliTime, WithoutAGpuOtherPtxHasNoTimes) {
    NEEDS_NO_DEVICE();
    const std::string ptx = std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/tiled.t16.ptx";
    expect_refused(1, {"time", "tiled", "--ptx", ptx}, "driver");
    expect_refused(1, {"time", "tiled", "--compiler", "nvrtc", "--n", "77"}, "times that ship");
}

TEST(CliTime, WithoutAGpuSizesThatDoNotShipAreRefused) {
    NEEDS_NO_DEVICE();
    expect_refused(1, {"time", "tiled", "--n", "77"}, "with an NVIDIA GPU");
    expect_refused(1, {"time", "tiled", "--m", "256", "--k", "77", "--n", "256", "--json"},
                   "times that ship");
}

TEST(CliTime, WithoutAGpuShowsTheTimesThatShip) {
    NEEDS_NO_DEVICE();
    if (shipped_timings().empty()) GTEST_SKIP() << "no times ship yet";
    const kernels::Timings& shipped = shipped_timings()[0];
    const Ran text = tilescope({"time", "tiled", "untiled", "--n", "1024", "--tile", "16", "32"});
    EXPECT_EQ(text.status, 0) << text.err;
    expect_one_sentence(text.err);
    EXPECT_NE(text.err.find("measured on " + shipped.device), std::string::npos) << text.err;
    EXPECT_NE(text.err.find("with an NVIDIA GPU"), std::string::npos) << text.err;
    EXPECT_EQ(text.out.find(shipped.device), 0u) << text.out;
    EXPECT_NE(text.out.find(shipped.date), std::string::npos) << text.out;

    const Ran ran = tilescope({"time", "tiled", "--n", "256", "512", "--no-cublas", "--json"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto got = kernels::timings_from_json(ran.out, "output");
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->device, shipped.device);
    EXPECT_EQ(got->command, shipped.command) << "what measured them, not this call";
    ASSERT_EQ(got->rows.size(), 2u);
    EXPECT_EQ(got->rows[0].median_ms, find_timing(shipped, "tiled", 256, 256, 256, 16)->median_ms);
    EXPECT_EQ(got->rows[1].n, 512u);

    const Ran all = tilescope({"time", "--all", "--json", "-o", "all.json"});
    EXPECT_EQ(all.status, 0) << all.err;
    EXPECT_EQ(all.out, "");
    const auto whole = kernels::timings_from_json(read(folder() / "all.json"), "all.json");
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(whole->rows.size(), 6u * (3 * 8 + 1));
}

// On the driver that stands in for NVIDIA's, where a kernel does nothing for as long as it is told.
std::string on_fake(const std::string& told, const std::string& words) {
    const std::string path = std::filesystem::path(TILESCOPE_FAKE_CUDA).parent_path().string();
    return "LD_LIBRARY_PATH='" + path + "' FAKE_CUDA='" + told + "' \"$TILESCOPE\" time " + words +
           " --no-cublas --no-price";
}

TEST(CliTime, NoTimeOfAWrongResultIsShown) {
    const Ran ran = shell(on_fake("hang=1", "tiled --n 64 --no-roofs"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.out, "");
    expect_one_sentence(ran.err);
    EXPECT_NE(ran.err.find("wrong result"), std::string::npos) << ran.err;
    const Ran roofs = shell(on_fake("", "tiled --n 64"));
    EXPECT_EQ(roofs.status, 1);
    EXPECT_NE(roofs.err.find("did not copy"), std::string::npos) << roofs.err;
}

TEST(CliTime, AKernelMadeToBeWrongIsNoFailure) {
    const Ran ran = shell(on_fake("hang=1", "tiled_no_barrier --n 64 --m 32 --no-roofs"));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_NE(ran.out.find("32 × 64 × 64"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("wrong (as made to show)"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("its time is unverified"), std::string::npos) << ran.out;
}

TEST(CliTime, WritesItsTimesToAFile) {
    const Ran ran = shell(on_fake("hang=1", "tiled_no_barrier --n 64 128 --no-roofs --json -o times.json"));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out, "");
    const auto timings = kernels::timings_from_json(read(folder() / "times.json"), "times.json");
    ASSERT_TRUE(timings) << timings.error().message;
    EXPECT_EQ(timings->command,
              "tilescope time tiled_no_barrier --n 64 128 --no-cublas --no-price --no-roofs --json");
    EXPECT_EQ(timings->cuda, "13.0");
    EXPECT_FALSE(timings->date.empty());
    ASSERT_EQ(timings->rows.size(), 2u);
    EXPECT_EQ(timings->rows[1].n, 128u);
    EXPECT_FALSE(timings->rows[1].verified);
    EXPECT_GE(timings->rows[1].median_ms, 0.9);
}

TEST(CliTime, StopsOnCtrlCWithoutAFile) {
    const Ran ran = shell(on_fake("hang=3000", "tiled_no_barrier --n 64 --no-roofs -o times.txt") +
                          " & pid=$!; sleep 0.4; kill -INT $pid; wait $pid");
    EXPECT_EQ(ran.status, 1);
    expect_one_sentence(ran.err);
    EXPECT_NE(ran.err.find("stopped"), std::string::npos) << ran.err;
    EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

}  // namespace
}  // namespace tilescope::cli_test
