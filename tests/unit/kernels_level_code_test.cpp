// What PTX says about a warp's loads: which of them wait for others.
#include <gtest/gtest.h>

#include "core/levels/code.h"
#include "core/levels/load_waits.h"
#include "core/ptx/parse.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::analysis {
namespace {

using ptx::SiteKind;

struct Loads {
    LevelCode code;
    std::vector<uint32_t> sites;  // of loads from global memory that are no copies
    bool waits(size_t load, size_t earlier) {
        return std::ranges::count(code.waited_for(sites[load]), sites[earlier]) > 0;
    }
    bool any_waits() {
        for (size_t load = 0; load < sites.size(); ++load)
            for (size_t earlier = 0; earlier < sites.size(); ++earlier)
                if (load != earlier && waits(load, earlier)) return true;
        return false;
    }
};

Loads loads_of(const std::string& ptx, const std::string& entry) {
    const auto module = ptx::parse(ptx, "test.ptx");
    EXPECT_TRUE(module) << module.error().message;
    trace::Trace trace;
    trace.meta.ptx = ptx;
    trace.launch.entry = entry;
    trace.sites = ptx::sites_of(*ptx::find_kernel(*module, entry));
    auto code = LevelCode::of(trace);
    EXPECT_TRUE(code) << code.error().message;
    Loads loads{std::move(*code), {}};
    for (const ptx::Site& site : trace.sites)
        if (site.kind == SiteKind::Load && site.space == Space::Global && !site.copy)
            loads.sites.push_back(site.id);
    return loads;
}

// Of a kernel with a pointer in %rd1 and predicates %p1 and %p2.
Loads loads_of_body(const std::string& body) {
    return loads_of(
        R"ptx(.version 7.5 .target sm_75 .address_size 64 .visible .entry k(.param .u64 p) {
        .reg .pred %p<3>; .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
        .shared .align 4 .b8 s[64]; ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;
        setp.lt.u32 %p1, %r1, 7; setp.lt.u32 %p2, %r1, 9;
        )ptx" +
            body + "ret;\n}\n",
        "k");
}

TEST(LoadsThatWait, ThoseWhoseAddressIsLoaded) {
    Loads chased = loads_of_body(
        R"ptx(ld.global.u64 %rd2, [%rd1]; add.s64 %rd3, %rd2, 8; ld.global.f32 %f1, [%rd3];
        ld.global.f32 %f2, [%rd1+16];
        )ptx");
    ASSERT_EQ(chased.sites.size(), 3u);
    EXPECT_TRUE(chased.waits(1, 0));
    EXPECT_FALSE(chased.waits(2, 0));
    EXPECT_FALSE(chased.waits(2, 1));
    EXPECT_FALSE(chased.waits(0, 1));
}

TEST(LoadsThatWait, NotWhereAFewInstructionsAreSkipped) {
    const std::string guarded =
        R"ptx(mov.f32 %f1, 0f00000000; @%p1 bra A; ld.global.f32 %f1, [%rd1]; A: st.shared.f32 [s], %f1;
        mov.f32 %f2, 0f00000000; @%p2 bra B; ld.global.f32 %f2, [%rd1+4]; B:
        st.shared.f32 [s+4], %f2;
        )ptx";
    EXPECT_FALSE(loads_of_body(guarded).any_waits());
    // A block that only jumps, as clang has them, is none.
    const std::string jumped =
        R"ptx(mov.f32 %f1, 0f00000000; @!%p1 bra A; bra.uni C; C: ld.global.f32 %f1, [%rd1]; A:
        st.shared.f32 [s], %f1; ld.global.f32 %f2, [%rd1+4]; st.shared.f32 [s+4], %f2;
        )ptx";
    EXPECT_FALSE(loads_of_body(jumped).any_waits());
}

TEST(LoadsThatWait, BehindAUseAndABranch) {
    const std::string either =
        R"ptx(@%p1 bra A; ld.global.f32 %f1, [%rd1]; bra.uni B; A: add.f32 %f3, %f1, %f1; @%p2 bra C;
        ld.global.f32 %f1, [%rd1+8]; C: ld.global.f32 %f4, [%rd1+12]; B:
        )ptx";
    const std::string used = "st.shared.f32 [s], %f1;\n", unused = "st.shared.f32 [s], %f5;\n";
    const std::string then =
        R"ptx(@%p2 bra D; ld.global.f32 %f2, [%rd1+16]; bra.uni E; D: @%p1 bra E;
        ld.global.f32 %f2, [%rd1+20]; E: st.shared.f32 [s+4], %f2;
        )ptx";
    Loads waiting = loads_of_body(either + used + then);
    ASSERT_EQ(waiting.sites.size(), 5u);
    EXPECT_TRUE(waiting.waits(3, 0));
    EXPECT_TRUE(waiting.waits(4, 0));
    EXPECT_TRUE(waiting.waits(4, 1));
    EXPECT_FALSE(waiting.waits(3, 2));  // nobody uses what it brings
    EXPECT_FALSE(waiting.waits(0, 3));
    EXPECT_FALSE(loads_of_body(either + unused + then).waits(3, 0));
}

// What a branch skips is straight code with what is around it if it is little.
TEST(LoadsThatWait, WhereMuchIsSkippedBetween) {
    const auto with_between = [](int skipped) {
        std::string body = R"ptx(ld.global.f32 %f1, [%rd1]; st.shared.f32 [s], %f1; @%p1 bra A; )ptx";
        for (int i = 0; i < skipped; ++i) body += "add.f32 %f3, %f3, %f4;\n";
        return loads_of_body(body + R"ptx(A: ld.global.f32 %f2, [%rd1+4]; )ptx");
    };
    EXPECT_FALSE(with_between(4).waits(1, 0));
    EXPECT_TRUE(with_between(40).waits(1, 0));
}

// A barrier between a use and a load: ptxas moves no load past it.
TEST(LoadsThatWait, BehindABarrierBehindAUse) {
    const std::string load = "ld.global.f32 %f1, [%rd1];\n", use = "st.shared.f32 [s], %f1;\n";
    const std::string barrier = "bar.sync 0;\n", then = "ld.global.f32 %f2, [%rd1+4];\n";
    EXPECT_TRUE(loads_of_body(load + use + barrier + then).waits(1, 0));
    EXPECT_FALSE(loads_of_body(load + use + then).waits(1, 0));
    EXPECT_FALSE(loads_of_body(load + barrier + use + then).waits(1, 0));
    EXPECT_FALSE(loads_of_body(load + barrier + then + use).waits(1, 0));
    EXPECT_FALSE(loads_of_body(load + use + then + barrier).waits(1, 0));
    const std::string skip = R"ptx(@%p1 bra A; add.f32 %f3, %f3, %f4; A: )ptx";
    EXPECT_TRUE(loads_of_body(load + use + barrier + skip + then).waits(1, 0));
    EXPECT_TRUE(loads_of_body(load + use + skip + barrier + then).waits(1, 0));
    EXPECT_FALSE(loads_of_body(load + skip + barrier + then + use).waits(1, 0));
    EXPECT_FALSE(loads_of_body(load + use + barrier + skip + then).waits(0, 1));
}

// Each load of a long row is held against every other; there is an end to that.
TEST(LoadsThatWait, OfVeryManyNoneIsSaidTo) {
    const auto chain = [](size_t loads) {
        std::string body;
        for (size_t i = 0; i < loads; ++i) body += "ld.global.u64 %rd1, [%rd1];\n";
        return loads_of_body(body);
    };
    EXPECT_TRUE(chain(LoadWaits::kMost).waits(1, 0));
    EXPECT_FALSE(chain(LoadWaits::kMost + 1).waits(1, 0));
}

// As the machine code has them: LDG, STS, LDG, STS in those, and LDG, LDG, STS, STS in the others.
TEST(LoadsThatWait, InTheKernelsThatShip) {
    for (const kernels::KernelInfo& info : kernels::catalogue())
        for (const bool nvrtc : {false, true}) {
            if (info.input != ElementType::F32) continue;  // their machine code was not read
            const auto plan = kernels::plan(info.name, {64, 64, 64, info.own_tile ? 0u : 16u});
            ASSERT_TRUE(plan) << plan.error().message;
            const std::string ptx(nvrtc ? kernels::shipped_nvrtc_ptx(info.name, info.own_tile ? 0 : 16)
                                        : plan->ptx);
            const std::string name = info.name;
            // Four trips that NVRTC unrolls, behind a loop for what is left, whose loads it takes turns with.
            if (nvrtc && name == "register_tile") continue;
            EXPECT_EQ(loads_of(ptx, plan->launch.entry).any_waits(),
                      name == "vector_loads" || name == "warp_tile")
                << name << (nvrtc ? " by NVRTC" : " by clang");
        }
}

}  // namespace
}  // namespace tilescope::analysis
