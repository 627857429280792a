// Every rule that a trace must keep to be shown, broken one at a time in a small one that keeps them all.
#include <functional>

#include <gtest/gtest.h>

#include "core/trace/format.h"
#include "tests/launches.h"

namespace tilescope::trace {
namespace {

enum : uint32_t { kWarpOfRow, kHalfWarp, kBarrierForm };

uint32_t key(uint32_t form, uint32_t warp) { return warp << 24 | form; }

// Two blocks of 48 threads: a warp and a half. M has 48 elements: warp 0 loads the first 32, warp 1 the rest.
Trace sound() {
    Trace trace;
    trace.meta.result.array = 0;
    trace.launch.grid = {2, 1, 1};
    trace.launch.block = {48, 1, 1};
    trace.meta.window = {0, 2, 0, 1};
    trace.meta.complete = true;
    trace.sites = {{0, 1, ptx::SiteKind::Load, Space::Global, 4, 10, 1, 20},
                   {1, 2, ptx::SiteKind::Barrier, Space::Global, 0, 11, 1, 21}};
    trace.launch.arrays = {test_array("M", Space::Global, ArrayRole::Input, 6, 8, 0x1000)};
    trace.forms.resize(3);
    for (Form& form : trace.forms) form.array = 0, form.site = 0, form.mask = ~0u, form.stride = 4;
    trace.forms[kHalfWarp].mask = 0xFFFF;
    trace.forms[kBarrierForm] = {};
    trace.forms[kBarrierForm].site = 1;
    trace.forms[kBarrierForm].array = kNoArray;
    trace.forms[kBarrierForm].mask = 0xFFFF;
    for (uint32_t x = 0; x < 2; ++x) {
        Block block;
        block.x = x, block.first = trace.key.size(), block.count = 3;
        trace.blocks.push_back(block);
        trace.key.insert(trace.key.end(), {key(kWarpOfRow, 0), key(kHalfWarp, 1), key(kBarrierForm, 1)});
        trace.base.insert(trace.base.end(), {0, 128, 0});
    }
    return trace;
}

// One change that breaks a rule.
struct Break {
    const char* what;
    std::function<void(Trace&)> change;
};

void expect_refused(const char* words, const std::vector<Break>& breaks) {
    for (const Break& one : breaks) {
        Trace trace = sound();
        one.change(trace);
        const auto checked = check(trace);
        ASSERT_FALSE(checked) << one.what;
        EXPECT_NE(checked.error().message.find(words), std::string::npos)
            << one.what << ": " << checked.error().message;
    }
}

TEST(TraceCheck, ASoundTracePasses) {
    const auto checked = check(sound());
    EXPECT_TRUE(checked) << checked.error().message;
}

TEST(TraceCheck, TheLaunchMustBeOneThatCudaTakes) {
    expect_refused("cannot be launched", {{"no thread", [](Trace& t) { t.launch.block.x = 0; }},
                                          {"no block", [](Trace& t) { t.launch.grid.x = 0; }}});
    expect_refused("that CUDA allows",
                   {{"too many threads",
                     [](Trace& t) {
                         t.launch.block = {33, 32, 1};
                     }},
                    {"a block too deep",
                     [](Trace& t) {
                         t.launch.block = {1, 1, 65};
                     }},
                    {"too many rows of blocks", [](Trace& t) { t.launch.grid.y = 65536; }}});
}

TEST(TraceCheck, WindowAndResultLieInTheLaunch) {
    expect_refused("outside the launch", {{"window", [](Trace& t) { t.meta.window.x0 = 3; }},
                                          {"result", [](Trace& t) { t.meta.result.first_wrong = 64; }}});
}

TEST(TraceCheck, OnlyBarriersTouchNothing) {
    expect_refused("touches", {{"a load of nothing", [](Trace& t) { t.sites[0].bytes = 0; }},
                               {"a barrier of 4 bytes", [](Trace& t) { t.sites[1].bytes = 4; }}});
}

TEST(TraceCheck, ArraysHaveASizeAndAPlace) {
    expect_refused(
        "cannot be",
        {{"no rows", [](Trace& t) { t.launch.arrays[0].rows = 0; }},
         {"rows of a vector", [](Trace& t) { t.launch.arrays[0].rank = 1; }},
         {"slices of a matrix", [](Trace& t) { t.launch.arrays[0].slices = 2; }},
         {"no extent at all", [](Trace& t) { t.launch.arrays[0].rank = 0; }},
         {"ends beyond the address space", [](Trace& t) { t.launch.arrays[0].base = ~uint64_t{0} - 100; }},
         {"shared and yet an input", [](Trace& t) { t.launch.arrays[0].space = Space::Shared; }}});
}

TEST(TraceCheck, ArgumentsPointIntoArrays) {
    const auto pointing = [](int32_t array, uint64_t offset) {
        return [=](Trace& t) { t.launch.arguments = {{"a", ElementType::U64, 0, array, offset}}; };
    };
    Trace good = sound();
    pointing(0, 192)(good);
    EXPECT_TRUE(check(good));
    expect_refused("points to no array",
                   {{"an array that is not there", pointing(1, 0)}, {"behind the array", pointing(0, 193)}});
}

TEST(TraceCheck, FormsPointToWhatIsThere) {
    expect_refused("points to nothing", {{"site", [](Trace& t) { t.forms[0].site = 2; }},
                                         {"array", [](Trace& t) { t.forms[0].array = 1; }},
                                         {"nobody", [](Trace& t) { t.forms[0].mask = 0; }},
                                         {"width", [](Trace& t) { t.forms[0].width = 0; }},
                                         {"irregular", [](Trace& t) { t.forms[0].irregular = 0; }},
                                         {"the highest row that can be named",
                                          [](Trace& t) {
                                              t.irregular.resize(2);
                                              t.forms[0].irregular = INT32_MAX;
                                          }},
                                         {"both rows beyond the highest",
                                          [](Trace& t) {
                                              t.irregular.resize(2);
                                              t.forms[0].irregular = INT32_MAX;
                                              t.forms[0].wide = true;
                                          }},
                                         {"the second row of a wide one",
                                          [](Trace& t) {
                                              t.irregular.resize(1);
                                              t.forms[0].irregular = 0;
                                              t.forms[0].wide = true;
                                          }},
                                         {"wide without a table", [](Trace& t) { t.forms[0].wide = true; }}});
    expect_refused("cannot touch", {{"a barrier on M", [](Trace& t) { t.forms[kBarrierForm].array = 0; }},
                                    {"shared on M", [](Trace& t) { t.forms[0].space = Space::Shared; }}});
}

TEST(TraceCheck, BlocksFollowOneAnother) {
    expect_refused("not in order", {{"twice", [](Trace& t) { t.blocks[1].x = 0; }},
                                    {"beyond the grid", [](Trace& t) { t.blocks[1].x = 2; }},
                                    {"beyond the window", [](Trace& t) { t.meta.window.x1 = 1; }}});
    expect_refused("do not follow", {{"a gap", [](Trace& t) { t.blocks[1].first = 4; }},
                                     {"too many", [](Trace& t) { t.blocks[1].count = 4; }}});
    expect_refused("not equally long", {{"steps of no block", [](Trace& t) { t.blocks[1].count = 2; }},
                                        {"bases", [](Trace& t) { t.base.pop_back(); }},
                                        {"times", [](Trace& t) {
                                             t.time = {1, 2};
                                         }}});
}

TEST(TraceCheck, TimesOfABlockGoForwards) {
    Trace trace = sound();
    trace.time = {0, 0, 9, 0, 4, 4};  // each block counts from its own first step
    EXPECT_TRUE(check(trace));
    expect_refused("block (0,0,0) go backwards", {{"a step", [](Trace& t) { t.time = {0, 5, 4, 0, 1, 2}; }}});
    expect_refused("block (1,0,0) go backwards", {{"a step", [](Trace& t) { t.time = {0, 5, 6, 1, 0, 2}; }}});
}

TEST(TraceCheck, WhatIsCompleteLacksNothing) {
    expect_refused("says that it is complete", {{"dropped", [](Trace& t) { t.blocks[0].dropped = 1; }},
                                                {"a block", [](Trace& t) {
                                                     t.blocks.pop_back();
                                                     t.key.resize(3), t.base.resize(3);
                                                 }}});
    Trace trace = sound();
    trace.blocks[0].dropped = 1;
    trace.meta.complete = false;
    EXPECT_TRUE(check(trace));
}

TEST(TraceCheck, StepsStayInTheirArrayToTheByte) {
    Trace trace = sound();
    trace.base[0] = 64;  // the last lane ends where M ends
    EXPECT_TRUE(check(trace));
    expect_refused("reaches outside its array",
                   {{"an element beyond", [](Trace& t) { t.base[0] = 68; }},
                    {"a byte beyond", [](Trace& t) { t.base[0] = 65; }},
                    {"all of it beyond", [](Trace& t) { t.base[0] = 192; }},
                    {"below", [](Trace& t) { t.forms[kWarpOfRow].stride = -4, t.base[0] = 120; }}});
}

TEST(TraceCheck, StepsAreOfThreadsThatAreThere) {
    expect_refused("which do not exist", {{"form", [](Trace& t) { t.key[0] = key(3, 0); }},
                                          {"warp", [](Trace& t) { t.key[0] = key(0, 2); }}});
    expect_refused("have no thread", {{"17 lanes", [](Trace& t) { t.forms[kBarrierForm].mask = 0x1'FFFF; }},
                                      {"a whole warp", [](Trace& t) { t.key[0] = key(kWarpOfRow, 1); }}});
}

// The second site an atomic that warp 1 makes: 16 lanes, 4 bytes each found, in both blocks.
Trace with_atomics() {
    Trace trace = sound();
    trace.sites[1] = {1, 2, ptx::SiteKind::Atomic, Space::Global, 4, 11, 1, 21, ptx::Atomic::Add};
    trace.forms[kBarrierForm] = trace.forms[kHalfWarp];
    trace.forms[kBarrierForm].site = 1;
    trace.returned.assign(2 * 16 * 4, 7);
    trace.blocks[1].first_returned = 16 * 4;
    return trace;
}

TEST(TraceCheck, WhatAtomicsFoundIsAsLongAsTheirLanes) {
    const auto checked = check(with_atomics());
    ASSERT_TRUE(checked) << checked.error().message;
    Trace unknown = with_atomics();
    unknown.returned.clear();
    EXPECT_TRUE(check(unknown));
    const Break breaks[] = {
        {"a byte more", [](Trace& t) { t.returned.push_back(0); }},
        {"half of it", [](Trace& t) { t.returned.resize(16 * 4); }},
        {"a block elsewhere", [](Trace& t) { t.blocks[1].first_returned = 4; }},
        {"an atomic that does nothing", [](Trace& t) { t.sites[1].atomic = ptx::Atomic::None; }},
        {"a load that adds", [](Trace& t) { t.sites[0].atomic = ptx::Atomic::Add; }},
        {"an atomic of 16 bytes", [](Trace& t) { t.sites[1].bytes = 16; }},
        {"of local memory",
         [](Trace& t) {
             t.forms[kBarrierForm].space = Space::Local, t.forms[kBarrierForm].array = kNoArray;
         }},
        {"of constant memory",
         [](Trace& t) {
             t.forms[kBarrierForm].space = Space::Const, t.forms[kBarrierForm].array = kNoArray;
         }},
    };
    for (const Break& one : breaks) {
        Trace trace = with_atomics();
        one.change(trace);
        EXPECT_FALSE(check(trace)) << one.what;
    }
}

TEST(TraceCheck, ConstantArraysAreReadAndLocalOnesAreNotKept) {
    Trace trace = sound();
    trace.launch.arrays.push_back(test_array("w", Space::Const, ArrayRole::Input, 1, 5, 0, "w"));
    EXPECT_TRUE(check(trace));
    trace.launch.arrays.back().role = ArrayRole::Output;
    EXPECT_FALSE(check(trace));
    trace.launch.arrays.back().role = ArrayRole::Input;
    trace.launch.arrays.back().cols = 1 << 15;
    EXPECT_FALSE(check(trace));  // 128 KiB
    trace.launch.arrays.back() = test_array("x", Space::Local, ArrayRole::InOut, 1, 5, 0, "x");
    EXPECT_FALSE(check(trace));
}

}  // namespace
}  // namespace tilescope::trace
