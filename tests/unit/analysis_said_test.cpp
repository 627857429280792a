#include <gtest/gtest.h>

#include "core/hazards/said.h"

namespace tilescope::analysis {
namespace {

Hazard found(HazardKind kind, uint8_t array, uint32_t line, Severity severity = Severity::Fault) {
    Hazard h;
    h.kind = kind, h.array = array, h.line = line, h.severity = severity;
    h.count = 2;
    h.sentence = "line " + std::to_string(line);
    return h;
}

TEST(SaidFaults, AreGroupedByKindAndArrayAndFaultsComeFirst) {
    Hazards hazards;
    hazards.found = {found(HazardKind::RedundantBarrier, trace::kNoArray, 9, Severity::Remark),
                     found(HazardKind::Race, 1, 3),
                     found(HazardKind::Race, 1, 4),
                     found(HazardKind::Race, 1, 5),
                     found(HazardKind::Race, 2, 6),
                     found(HazardKind::GridRace, 1, 7, Severity::CannotTell)};
    const std::vector<SaidFault> said = said_faults(hazards);
    ASSERT_EQ(said.size(), 4u);
    EXPECT_EQ(said[0].sentence, "line 3; the same at 2 more pairs of lines");
    EXPECT_EQ(said[0].count, 6u);
    EXPECT_EQ(said[0].places, 3u);
    EXPECT_EQ(said[1].sentence, "line 6");
    EXPECT_EQ(said[2].severity, Severity::CannotTell);
    EXPECT_EQ(said[3].severity, Severity::Remark);
}

TEST(SaidFaults, WhatTheRunMetIsAmongThem) {
    trace::Trace trace;
    trace.meta.findings = {
        {.kind = trace::Finding::Kind::Unfilled, .array = 1, .line = 5, .sentence = "reads"},
        {.kind = trace::Finding::Kind::SharedBytes, .remark = true, .sentence = "in vain"}};
    Hazards hazards;
    hazards.found = {found(HazardKind::Uninitialised, 2, 3)};
    add_findings(trace, hazards);
    ASSERT_EQ(hazards.found.size(), 2u);
    EXPECT_EQ(hazards.found[0].severity, Severity::Remark);
    EXPECT_EQ(hazards.found[0].sentence, "line 3; in vain");
    EXPECT_EQ(hazards.found[1].kind, HazardKind::Unfilled);
    EXPECT_TRUE(hazards.faulty());
}

}  // namespace
}  // namespace tilescope::analysis
