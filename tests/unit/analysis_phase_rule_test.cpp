// The loop that walks the tiles, found in all PTX at hand: every kernel that ships, by clang and by nvcc.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "core/recording/phases.h"
#include "tests/file_text.h"

namespace tilescope::analysis {
namespace {

// A recording without a step: what the rule needs is the PTX and its sites.
trace::Trace empty_trace(const std::string& ptx, const std::string& name) {
    trace::Trace trace;
    trace.meta.ptx = ptx;
    trace.meta.ptx_name = name;
    const auto module = ptx::parse(ptx, name);
    EXPECT_TRUE(module) << module.error().message;
    if (!module) return trace;
    trace.meta.kernel = trace.launch.entry = module->kernels.at(0).name;
    trace.sites = ptx::sites_of(module->kernels[0]);
    return trace;
}

std::vector<std::filesystem::path> all_ptx() {
    std::vector<std::filesystem::path> paths;
    for (const char* folder :
         {"/assets/ptx", "/tests/data/ptx/nvcc", "/tests/data/ptx/nvrtc", "/tests/data/ptx/clang"})
        for (const auto& entry :
             std::filesystem::directory_iterator(std::string(TILESCOPE_SOURCE_DIR) + folder))
            // Phases of a ring follow from its barriers in memory.
            if (entry.path().extension() == ".ptx" && entry.path().filename() != "wide.ptx" &&
                entry.path().filename() != "wgmma_ring.ptx")
                paths.push_back(entry.path());
    return paths;
}

TEST(PhaseRule, HoldsForEveryKernelByEitherCompiler) {
    size_t tiled = 0, untiled = 0;
    for (const auto& path : all_ptx()) {
        SCOPED_TRACE(path.string());
        const std::string ptx = file_text(path);
        const trace::Trace trace = empty_trace(ptx, path.filename());
        const auto rule = phase_rule(trace);
        ASSERT_TRUE(rule) << rule.error().message;
        // Of kernels without barriers, those whose trips are not unrolled.
        const bool is_tiled = !trace.meta.kernel.starts_with("untiled");
        EXPECT_TRUE(rule->by_place || !is_tiled);
        (is_tiled ? tiled : untiled) += 1;
        std::map<uint32_t, std::map<std::tuple<uint32_t, ptx::SiteKind, Space>, uint32_t>> sites_of_copy;
        // P is stored below the lines that fetch and wait, or from where fragments go by way of shared memory.
        uint32_t last_line = 0, first_of_p = UINT32_MAX;
        for (const ptx::Site& site : trace.sites)
            if (site.kind != ptx::SiteKind::Store) last_line = std::max(last_line, site.line);
        std::vector<std::string> text;
        std::istringstream lines(ptx);
        for (std::string line; std::getline(lines, line);) text.push_back(line);
        for (const ptx::Site& site : trace.sites)
            if (text[site.ptx_line - 1].find("wmma.store") != std::string::npos ||
                (site.kind == ptx::SiteKind::Store && site.line > last_line))
                first_of_p = std::min(first_of_p, site.line);
        uint32_t first_of_loop = UINT32_MAX;
        for (const ptx::Site& site : trace.sites)
            if (rule->rank[site.id] >= 0) first_of_loop = std::min(first_of_loop, site.ptx_line);
        for (const ptx::Site& site : trace.sites) {
            const bool stores_p = site.line >= first_of_p;
            EXPECT_EQ(rule->after[site.id], stores_p) << "site " << site.id;
            if (!rule->by_place || stores_p) continue;
            if (site.kind == ptx::SiteKind::Exchange) continue;  // of the phase that its warp is in
            // What is copied ahead of the loop is of no trip.
            if (ptx.find("cp.async") != std::string::npos && rule->rank[site.id] < 0) {
                EXPECT_LT(site.ptx_line, first_of_loop);
                continue;
            }
            EXPECT_GE(rule->rank[site.id], 0) << "site " << site.id;
            ++sites_of_copy[rule->body[site.id]][{site.line, site.kind, site.space}];
        }
        // Every copy of a tiled kernel's body does the same at the same lines.
        for (const auto& [copy, sites] : sites_of_copy)
            EXPECT_EQ(sites, sites_of_copy.at(0)) << "copy " << copy;
    }
    EXPECT_GE(tiled, 40u);
    EXPECT_GE(untiled, 10u);
}

TEST(PhaseRule, PlacesClimbAlongTheText) {
    const trace::Trace trace = empty_trace(
        file_text(std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/tiled.t16.ptx"), "tiled.t16.ptx");
    const auto rule = phase_rule(trace);
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule->rank, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 5, 6, -2}));
    EXPECT_EQ(rule->stays, (std::vector<bool>{false, false, false, false, false, true, true, false, false}));
}

// A loop without barriers whose body has `loads` copies of one load, and whose counter grows by `step`; behind
// it the load once more where `rest`.
PhaseRule rule_of_loop(int loads, const std::string& step, bool rest) {
    const std::string load = "    .loc 1 8 0\n    ld.global.u32 %r1, [%d0];\n";
    std::string body;
    for (int i = 0; i < loads; ++i) body += load;
    const std::string ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0)
{
    .reg .pred %p0; .reg .b32 %r<5>; .reg .b64 %d0;
    .loc 1 5 0
    ld.param.u64 %d0, [k_0];
    mov.u32 %r2, 0;
$loop:
)" + body + "    .loc 1 7 0\n" +
                            step +
                            R"(
    setp.lt.u32 %p0, %r2, 24;
    @%p0 bra $loop;
)" + (rest ? load : "") + R"(
    .loc 1 9 0
    st.global.u32 [%d0], %r1;
    ret;
}
.file 1 "k.cu"
)";
    const auto rule = phase_rule(empty_trace(ptx, "k.ptx"));
    EXPECT_TRUE(rule) << rule.error().message;
    return rule ? *rule : PhaseRule{};
}

TEST(PhaseRule, TellsAnUnrolledOuterLoopFromAnUnrolledInnerOne) {
    const std::string by_one = "    add.u32 %r2, %r2, 1;", by_two = "    add.u32 %r2, %r2, 2;";
    const std::string moved = "    add.u32 %r3, %r2, 1;\n    mov.u32 %r2, %r3;";
    const std::string by_register = "    add.u32 %r2, %r2, %r1;";
    struct {
        int loads;
        std::string step;
        bool rest, by_place;
        uint32_t a_trip;
    } const loops[] = {
        {1, by_one, false, true, 1},       // as it stands
        {4, by_one, false, true, 4},       // four loads a trip
        {4, moved, false, true, 4},        //
        {2, by_two, false, false, 1},      // two trips of one load
        {6, by_two, false, false, 3},      // two trips of three
        {4, by_register, true, false, 1},  // four trips, the odd ones behind the loop
        {4, by_register, false, true, 4},  // a trip of four
    };
    for (const auto& loop : loops) {
        const PhaseRule rule = rule_of_loop(loop.loads, loop.step, loop.rest);
        SCOPED_TRACE(loop.step + std::to_string(loop.loads));
        EXPECT_EQ(rule.by_place, loop.by_place);
        ASSERT_FALSE(rule.a_trip.empty());
        EXPECT_EQ(rule.a_trip[rule.group[0]], loop.a_trip);
    }
}

// A kernel is found by its name in the PTX, whatever it is called, among others too.
TEST(PhaseRule, FindsTheKernelByItsNameInThePtx) {
    trace::Trace trace =
        empty_trace(file_text(std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/untiled.ptx"), "untiled.ptx");
    trace.meta.ptx += "\n.visible .entry called() { ret; }\n";
    trace.meta.kernel = "called";
    EXPECT_TRUE(phase_rule(trace));
    trace.launch.entry = "missing";
    ASSERT_FALSE(phase_rule(trace));
    EXPECT_NE(phase_rule(trace).error().message.find("no kernel named 'missing'"), std::string::npos);
}

TEST(PhaseRule, RefusesWhatDoesNotFit) {
    trace::Trace trace =
        empty_trace(file_text(std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/untiled.ptx"), "untiled.ptx");
    trace::Trace other = trace;
    other.sites.pop_back();
    ASSERT_FALSE(phase_rule(other));
    EXPECT_NE(phase_rule(other).error().message.find("untiled.ptx"), std::string::npos);
    trace.meta.ptx = "this is no PTX";
    EXPECT_FALSE(phase_rule(trace));
    trace.meta.ptx.clear();
    EXPECT_FALSE(phase_rule(trace));
}

// In the loop, in a trip that the compiler wrote out beside it, and behind it.
TEST(PhaseRule, AnExchangeIsBehindTheLoopUnlessItIsOfATrip) {
    const trace::Trace trace = empty_trace(R"(.version 7.8
.target sm_80
.address_size 64
.file 1 "sums.cu"
.visible .entry sums(.param .u64 sums_param_0)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [sums_param_0];
    mov.u32 %r1, 0;
$L1:
    .loc 1 5 0
    ld.global.u32 %r2, [%rd1];
    .loc 1 6 0
    shfl.sync.down.b32 %r3, %r2, 1, 31, -1;
    add.s32 %r1, %r1, 1;
    setp.lt.s32 %p1, %r1, 8;
    @%p1 bra $L1;
    .loc 1 6 0
    shfl.sync.down.b32 %r4, %r2, 1, 31, -1;
    .loc 1 9 0
    shfl.sync.down.b32 %r5, %r4, 1, 31, -1;
    .loc 1 10 0
    st.global.u32 [%rd1], %r5;
    ret;
}
)",
                                           "sums.ptx");
    const auto rule = phase_rule(trace);
    ASSERT_TRUE(rule) << rule.error().message;
    std::vector<bool> after;
    for (const ptx::Site& site : trace.sites)
        if (site.kind == ptx::SiteKind::Exchange) after.push_back(rule->after[site.id]);
    EXPECT_EQ(after, (std::vector<bool>{false, false, true}));
}

}  // namespace
}  // namespace tilescope::analysis
