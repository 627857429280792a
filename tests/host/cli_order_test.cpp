// What is found in programs whose threads are ordered by __syncwarp, fences and atomics, and in the same programs
// with that left out. The kernels and what is right of each stand in tests/data/hazards.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/hazards/hazards.h"
#include "core/trace/file.h"
#include "tests/host/cli_program.h"
#include "tests/opened.h"

namespace tilescope::cli_test {
namespace {

using analysis::HazardKind;
using analysis::Severity;

struct Found {
    std::set<HazardKind> faults, remarks, unclear;
    bool one_warp = false;  // races are of lanes of one warp
    std::string told;
};

// By kernel, of its first launch.
std::map<std::string, Found> found_in(const std::string& program) {
    const std::string file = std::string(TILESCOPE_SOURCE_DIR) + "/tests/data/hazards/" + program;
    const Ran ran = record(file + " -o " + in_folder("") + "/");
    EXPECT_LE(ran.status, 1) << ran.err;
    std::map<std::string, Found> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
        if (entry.path().extension() != ".tsc") continue;
        const trace::Trace trace = recording(entry.path());
        const auto hazards = analysis::find_hazards(trace);
        EXPECT_TRUE(hazards) << hazards.error().message;
        Found& of = found[trace.meta.kernel];
        EXPECT_EQ(hazards->not_judged, "") << trace.meta.kernel;
        for (const analysis::Hazard& h : hazards->found) {
            (h.severity == Severity::Fault    ? of.faults
             : h.severity == Severity::Remark ? of.remarks
                                              : of.unclear)
                .insert(h.kind);
            of.one_warp = of.one_warp || h.same_warp;
            of.told += std::string(name_of(h.severity)) + ": " + h.sentence + "\n";
        }
    }
    return found;
}

TEST(CliOrder, WhatIsOrderedIsNoFault) {
    const std::map<std::string, Found> found = found_in("ordered.cu");
    EXPECT_EQ(found.size(), 32u);
    for (const auto& [kernel, of] : found) {
        EXPECT_EQ(of.faults, std::set<HazardKind>{}) << kernel << "\n" << of.told;
        EXPECT_EQ(of.unclear, std::set<HazardKind>{}) << kernel << "\n" << of.told;
        const bool one_value = kernel.ends_with("_by_any") || kernel.ends_with("_by_all");
        EXPECT_EQ(of.remarks.contains(HazardKind::SameValue), one_value) << kernel << "\n" << of.told;
    }
}

TEST(CliOrder, WhatIsNotOrderedIsOne) {
    using enum HazardKind;
    const std::map<std::string, std::set<HazardKind>> right = {
        {"reverse_without", {Race}},
        {"reverse_two_warps", {Race}},
        {"one_syncwarp_of_two", {Race}},
        {"halves_of_each_other", {Race}},
        {"tiles_too_small", {Race}},
        {"mask_of_memory", {}},
        {"lane_0_publishes_for_16", {GridRace}},
        {"ticket_without_fence", {GridRace}},
        {"first_block_sums", {GridRace}},
        {"fence_behind_the_ticket", {GridRace}},
        {"locked_without_fence", {GridRace}},
        {"two_locks", {GridRace}},
        {"hand_over_own_alone", {GridRace}},
        {"plain_flag", {GridRace}},
        {"one_value_and_another", {Race}},
        {"one_value_by_luck", {Race}},
        {"one_value_that_changes", {Race}},
        {"one_element_of_what_it_stores", {Race}},
        {"number_of_the_block", {GridRace}},
        {"one_value_and_a_reader", {Race}},
        {"left_over", {Stale}},
    };
    const std::map<std::string, Found> found = found_in("unordered.cu");
    EXPECT_EQ(found.size(), right.size());
    for (const auto& [kernel, kinds] : right) {
        ASSERT_TRUE(found.contains(kernel)) << kernel;
        const Found& of = found.at(kernel);
        EXPECT_EQ(of.faults, kinds) << kernel << "\n" << of.told;
        const bool one_value = kernel == "one_value_and_another" || kernel == "one_value_and_a_reader";
        EXPECT_EQ(of.remarks.contains(SameValue), one_value) << kernel << "\n" << of.told;
        EXPECT_EQ(of.unclear.contains(Race), kernel == "mask_of_memory") << kernel << "\n" << of.told;
        const std::set<std::string> in_one_warp = {"reverse_without", "one_syncwarp_of_two",
                                                   "halves_of_each_other", "tiles_too_small",
                                                   "mask_of_memory"};
        EXPECT_EQ(of.one_warp, in_one_warp.contains(kernel)) << kernel << "\n" << of.told;
    }
}

}  // namespace
}  // namespace tilescope::cli_test
