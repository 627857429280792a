// Which pair of accesses tells a race, on recordings written by hand: one lane a request, one array in shared
// memory, no barrier; the phase of a request is how often its thread stored, or loaded, before.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/hazards/hazards.h"
#include "core/trace/builder.h"
#include "tests/launches.h"
#include "tests/one_phase.h"
#include "tests/opened.h"

namespace tilescope::analysis {
namespace {

enum SiteOfPair : uint32_t { Load, Store };  // the sites: a store at line 27, a load at line 34

struct Step {
    SiteOfPair kind;
    uint32_t thread, cell;
    float value;
};

struct Told {
    trace::Trace trace;
    FaultyCells found;
    Hazards hazards;  // without values

    // The race of a store with a load of a cell.
    const FaultyCell& of(uint64_t cell) const {
        for (const FaultyCell& one : found.cells)
            if (one.element == cell && one.example.order != ReadOrder::Unknown) return one;
        ADD_FAILURE() << "no race with a load of cell " << cell;
        static const FaultyCell none;
        return none;
    }
    std::string sentence(uint64_t cell) const {
        return sentence_of(trace, HazardKind::Race, of(cell).example);
    }
};

Told told(const std::vector<Step>& steps, bool values = true) {
    static const std::vector<Array> arrays = {
        test_array("s", Space::Shared, ArrayRole::Shared, 1, 8, 0, "s")};
    // A store stands before a load in the program.
    static const std::vector<ptx::Site> sites = {{0, 0, ptx::SiteKind::Store, Space::Shared, 4, 27, 1, 1},
                                                 {1, 1, ptx::SiteKind::Load, Space::Shared, 4, 34, 1, 2}};
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
    recorders.push_back(std::make_unique<trace::BlockRecorder>(arrays, sites, simt::BlockId{}));
    for (const Step& step : steps) {
        std::array<uint64_t, 32> address{};
        address[step.thread % 32] = 4 * step.cell;
        simt::Request request;
        request.site = step.kind == Store ? 0 : 1;
        request.warp = step.thread / 32;
        request.mask = 1u << step.thread % 32;
        request.space = Space::Shared;
        request.address = address.data();
        recorders[0]->on_request(request);
    }
    trace::Meta meta;
    meta.complete = true;
    Told made;
    made.trace =
        trace::assemble(meta, test_launch(arrays, {1, 1, 1}, {32, 4, 1}), sites, std::move(recorders));
    PhaseRule rule = one_phase(sites.size());
    rule.by_place = false;
    rule.group = {0, 1};
    rule.groups = 2;
    const ValueAt value = [&](uint32_t step, uint32_t, uint32_t) { return value_of(steps[step].value); };
    made.found = faulty_cells(made.trace, rule, 0, values ? value : ValueAt{});
    made.hazards = find_hazards(made.trace, rule);
    return made;
}

TEST(HazardPairs, TheLoadThatReadAnotherPhasesValueTellsTheRace) {
    // Threads 5 and 96 read before, 1 in the storing thread's warp; 64 is the first of another warp behind.
    const std::vector<Step> steps = {{Store, 0, 3, -2}, {Load, 96, 3, -2}, {Load, 5, 3, -2}, {Store, 0, 3, 4},
                                     {Load, 1, 3, 4},   {Load, 64, 3, 4},  {Load, 65, 3, 4}};
    const Told made = told(steps);
    const HazardExample& e = made.of(3).example;
    EXPECT_EQ(e.order, ReadOrder::Overwritten);
    EXPECT_EQ(e.a.step, 3u);
    EXPECT_EQ(e.b.thread, 64u);
    EXPECT_EQ(made.of(3).told_step, 5u);
    EXPECT_TRUE(reads_other_value(e));
    EXPECT_EQ(
        made.sentence(3),
        "thread[0,0] of warp 0 overwrote s[0,3] at line 27; thread[2,0] of warp 2 now reads phase 1's 4 "
        "at line 34 instead of phase 0's -2");
    EXPECT_EQ(
        sentence_of(told(steps, false).trace, HazardKind::Race, told(steps, false).of(3).example),
        "thread[0,0] of warp 0 overwrote s[0,3] at line 27 in phase 1; thread[2,0] of warp 2 reads it at "
        "line 34 after that, in phase 0, with no barrier between");
}

TEST(HazardPairs, TheSameValueIsLuckAndComesAfterOnesThatDiffer) {
    const Told made = told({{Store, 0, 3, 5},
                            {Store, 1, 4, 6},
                            {Store, 0, 3, 5},
                            {Store, 1, 4, 7},
                            {Load, 64, 3, 5},
                            {Load, 65, 4, 7}});
    EXPECT_FALSE(reads_other_value(made.of(3).example));
    EXPECT_LT(rank_of(made.of(4).example), rank_of(made.of(3).example));
    EXPECT_NE(
        made.sentence(3).find("now reads phase 1's 5 at line 34 instead of phase 0's 5, by luck the same "
                              "value"),
        std::string::npos)
        << made.sentence(3);
}

TEST(HazardPairs, ALoadThatCameFirstIsSaidToBeLuck) {
    const Told made = told({{Store, 0, 3, -2}, {Load, 64, 3, -2}, {Store, 0, 3, 4}});
    EXPECT_EQ(made.of(3).example.order, ReadOrder::Right);
    EXPECT_EQ(made.of(3).told_step, 2u) << "where it could have gone wrong";
    EXPECT_EQ(made.sentence(3),
              "thread[2,0] of warp 2 reads phase 0's -2 from s[0,3] at line 34 before thread[0,0] of warp 0 "
              "stores phase 1's 4 at line 27: right by luck, another order reads the 4");
}

TEST(HazardPairs, ALoadBeforeTheStoreOfItsPhaseReadsWhatWasThere) {
    const Told made = told({{Store, 0, 3, -2},
                            {Load, 64, 3, -2},
                            {Load, 64, 3, -2},
                            {Store, 0, 3, 4},
                            {Load, 96, 5, 0},
                            {Store, 1, 5, 9}});
    EXPECT_EQ(made.of(3).example.order, ReadOrder::Early);
    EXPECT_EQ(made.of(3).told_step, 2u);
    EXPECT_EQ(
        made.sentence(3),
        "thread[2,0] of warp 2 now reads phase 0's -2 from s[0,3] at line 34 instead of phase 1's 4, which "
        "thread[0,0] of warp 0 stores later at line 27");
    EXPECT_EQ(made.sentence(5),
              "thread[3,0] of warp 3 now reads the 0 that was there before from s[0,5] at line 34 instead of "
              "phase 0's 9, "
              "which "
              "thread[0,1] of warp 0 stores later at line 27");
}

// Of two threads that store in one phase nothing says whose value is the right one.
TEST(HazardPairs, WhatTwoThreadsStoredIsNotCalledRight) {
    const Told made = told({{Store, 0, 3, 1}, {Store, 32, 3, 2}, {Load, 64, 3, 2}});
    EXPECT_EQ(made.of(3).example.order, ReadOrder::Open);
    EXPECT_EQ(made.sentence(3).find("instead"), std::string::npos) << made.sentence(3);
}

// The search keeps the cells whose loads came too late before those that were lucky.
TEST(HazardPairs, TheExamplesOfAReportBeginWithALoadThatCameTooLate) {
    std::vector<Step> steps;
    for (uint32_t cell = 0; cell < 8; ++cell) steps.push_back({Store, cell, cell, 1});
    for (uint32_t cell = 0; cell < 7; ++cell) steps.push_back({Load, 64 + cell, cell, 1});
    for (uint32_t cell = 0; cell < 8; ++cell) steps.push_back({Store, cell, cell, 2});
    steps.push_back({Load, 64 + 7, 7, 2});
    const Told made = told(steps);
    ASSERT_EQ(made.hazards.found.size(), 1u);
    EXPECT_EQ(made.hazards.found[0].count, 8u);
    ASSERT_EQ(made.hazards.found[0].examples.size(), 4u);
    EXPECT_EQ(made.hazards.found[0].examples[0].element, 7u);
    EXPECT_EQ(made.hazards.found[0].examples[1].element, 0u);
    EXPECT_NE(made.hazards.found[0].sentence.find("overwrote s[0,7]"), std::string::npos)
        << made.hazards.found[0].sentence;
}

}  // namespace
}  // namespace tilescope::analysis
