// Recordings that are small files and take long to look at, as a person's shell meets them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/trace/file.h"
#include "tests/host/cli_program.h"
#include "tests/unit/bombs.h"

namespace tilescope::cli_test {
namespace {

std::string written(const Bomb& bomb) {
    const std::string path = in_folder(bomb.name + ".tsc");
    EXPECT_TRUE(trace::write_file(made_of(bomb), path));
    return path;
}

Ran with_memory(const char* gigabytes, const std::string& words) {
    return shell(fmt::format("TILESCOPE_MAX_MEMORY={} \"$TILESCOPE\" {}", gigabytes, words));
}

void expect_failure(const Ran& ran, const std::string& says) {
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
    expect_one_sentence(ran.err);
}

TEST(CliLong, OneFileComparedWithItselfIsReadOnceAndTwoAreNotReadBeyondTheMemory) {
    const std::string one = written({.name = "one",
                                     .blocks = 40,
                                     .steps = 15'000,
                                     .forms = 64,
                                     .barrier_every = 1000,
                                     .single_lanes = true});
    const std::string other = written({.name = "other",
                                       .blocks = 40,
                                       .steps = 15'000,
                                       .forms = 64,
                                       .barrier_every = 1000,
                                       .single_lanes = true});
    EXPECT_EQ(with_memory("0.01", fmt::format("compare '{0}' '{0}'", one)).status, 0);
    EXPECT_EQ(with_memory("0.02", fmt::format("compare '{}' '{}'", one, other)).status, 0);
    expect_failure(
        with_memory("0.01", fmt::format("compare '{}' '{}'", one, other)),
        "which with what is made of it and the other recording takes more memory than the 0.01 GB");
}

TEST(CliLong, ReportSaysHowFarHazardsWereLookedFor) {
    const std::string file = written({.name = "many", .blocks = 400, .steps = 300});
    const Ran ran = with_memory("0.005", fmt::format("report '{}'", file));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("hazards were looked for in the first "), std::string::npos) << ran.out;
    EXPECT_NE(
        with_memory("0.005", fmt::format("report '{}' --json", file)).out.find("hazards were looked for in"),
        std::string::npos);
}

TEST(CliLong, ATableOfVeryManyPhasesIsRefusedBeforeItIsMade) {
    const std::string file = written({.name = "phases", .steps = 90'000, .warps = 8});
    expect_failure(with_memory("0.02", fmt::format("table '{}'", file)),
                   "the table of block(0) takes more memory than the 0.02 GB that are allowed");
}

TEST(CliLong, AnExportOfVeryManyStepsAsksWhichOnes) {
    const std::string file = written({.name = "many", .blocks = 13, .steps = 1'000'000});
    expect_refused(2, {"export", file, "--format", "csv", "-o", in_folder("a.csv")},
                   "has 13,000,000 steps, whose export takes minutes and about ");
    EXPECT_EQ(tilescope({"export", file, "--format", "csv", "--steps", "first:20", "-o", in_folder("a.csv")})
                  .status,
              0);
}

}  // namespace
}  // namespace tilescope::cli_test
