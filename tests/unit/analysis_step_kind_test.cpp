// The table of kinds of step: every kind has a row of its own, and is found by what its row says.
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/recording/step_kind.h"

namespace tilescope::analysis {
namespace {

TEST(StepKinds, NoTwoAreCalledTheSame) {
    std::set<std::string> names, plurals, keys;
    for (const StepKindRow& row : kStepKindRows) {
        names.insert(row.name);
        plurals.insert(row.plural);
        keys.insert(row.key);
        EXPECT_NE(std::string(row.verb), "") << row.name;
        EXPECT_EQ(row.judged_by == JudgedBy::Nothing, !asks_memory(row.kind)) << row.name;
    }
    EXPECT_EQ(names.size(), kStepKinds);
    EXPECT_EQ(plurals.size(), kStepKinds);
    EXPECT_EQ(keys.size(), kStepKinds);
}

TEST(StepKinds, AreFoundBySpaceAndWhatTheSiteDoes) {
    for (const StepKindRow& row : kStepKindRows)  // which signal is a wait, the site alone says
        EXPECT_EQ(kind_of(row.space, row.done),
                  row.kind == StepKind::SignalWait ? StepKind::Signal : row.kind)
            << row.name;
    // What no kernel can do keeps to its space, whose rules it is then shown by.
    EXPECT_EQ(kind_of(Space::Local, ptx::SiteKind::Atomic), StepKind::LocalStore);
    EXPECT_EQ(kind_of(Space::Const, ptx::SiteKind::Store), StepKind::ConstantLoad);
    EXPECT_EQ(kind_of(Space::Const, ptx::SiteKind::Barrier), StepKind::Barrier);
}

TEST(StepKinds, OfTwoInOnePlaceOneIsTheLouder) {
    std::set<uint8_t> all;
    for (const StepKindRow& row : kStepKindRows) all.insert(row.loudness);
    EXPECT_EQ(all.size(), kStepKinds);
    EXPECT_FALSE(all.contains(0)) << "that is no step";
}

TEST(StepKinds, StandOnceInEachOrder) {
    for (const auto& order : {kOrderOfSums, kOrderOfLegend}) {
        const std::set<StepKind> kinds(order.begin(), order.end());
        EXPECT_EQ(kinds.size(), kMemoryKinds);
        EXPECT_FALSE(kinds.contains(StepKind::Barrier));
    }
}

}  // namespace
}  // namespace tilescope::analysis
