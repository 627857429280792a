// A recording, opened: what is worked out of its trace once, and that its PTX is parsed once, when it is read or
// recorded.
#include <gtest/gtest.h>

#include "core/recording/recording.h"
#include "core/trace/claims.h"
#include "core/trace/file.h"
#include "kernels/run/ready.h"
#include "tests/recorded.h"

namespace tilescope::kernels {
namespace {

TEST(OpenedRecording, ParsesItsPtxOnce) {
    const trace::Trace made = recorded("tiled", {4, 4, 4, 2});
    ASSERT_TRUE(made.module);
    auto read = trace::deserialize(trace::serialize(made), "made.tsc");
    ASSERT_TRUE(read) << read.error().message;
    const auto module = read->module;
    ASSERT_TRUE(module);
    const auto opened = analysis::opened(std::move(*read));
    ASSERT_TRUE(opened) << opened.error().message;
    const trace::Trace& trace = *opened->trace;
    EXPECT_EQ(trace.module, module);
    EXPECT_EQ(*trace::module_of(trace), module) << "for phases, levels and types of arrays";
    const auto ready = make_ready(plan_of(trace), trace::memory_left(trace), "running it again");
    ASSERT_TRUE(ready) << ready.error().message;
    EXPECT_EQ(ready->module, module) << "for values";
}

TEST(OpenedRecording, HasItsPhasesAndItsProduct) {
    const auto tiled = analysis::opened(recorded("tiled", {4, 4, 4, 2}));
    ASSERT_TRUE(tiled) << tiled.error().message;
    EXPECT_TRUE(tiled->rule.by_place);
    EXPECT_EQ(phases_of_block(*tiled, 0).phases, 2u);
    ASSERT_TRUE(tiled->product);
    EXPECT_EQ(tiled->product->sizes(), "4×4×4");
    EXPECT_EQ(title_of(*tiled), "tiled 4×4×4 T=2");
    EXPECT_EQ(stem_of(*tiled), "tiled-4x4x4-t2");
}

TEST(OpenedRecording, IsRefusedWhereThePtxIsNotThatOfTheTrace) {
    trace::Trace other = recorded("tiled", {4, 4, 4, 2});
    other.sites.pop_back();
    const auto refused = analysis::opened(std::move(other));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("sites are not those of its PTX"), std::string::npos);
    trace::Trace torn = recorded("tiled", {4, 4, 4, 2});
    torn.meta.ptx = "this is no PTX";
    torn.module = nullptr;
    EXPECT_FALSE(analysis::opened(std::move(torn)));
}

}  // namespace
}  // namespace tilescope::kernels
