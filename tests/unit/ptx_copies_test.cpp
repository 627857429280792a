// cp.async in PTX: read, printed again, refused; two sites each.
#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "core/ptx/sites.h"

namespace tilescope::ptx {
namespace {

std::string module_with(const std::string& body) {
    return R"ptx(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
.reg .pred %p<2>;
.shared .align 16 .b8 tile[64];
)ptx" + body +
           "\nret;\n}\n";
}

std::string error_of(const std::string& body) {
    const auto module = parse(module_with(body), "k.ptx");
    return module && module->refused.empty() ? "" : module ? module->refused[0].why : module.error().message;
}

TEST(PtxCopies, AreReadAndPrintedAgain) {
    const auto module = parse(module_with(R"ptx(cp.async.ca.shared.global [%r1], [%rd1], 4;
cp.async.ca.shared.global [tile+8], [%rd1+16], 8, %r2;
cp.async.cg.shared.global.L2::128B [%rd2], [%rd1], 16, 0;
cp.async.ca.shared::cta.global [%r1], [%rd1], 16;
cp.async.commit_group;
cp.async.wait_group 1;
cp.async.wait_all;)ptx"),
                              "k.ptx");
    ASSERT_TRUE(module && module->kernels.size() == 1) << error_of("");
    const Kernel& kernel = module->kernels[0];
    ASSERT_EQ(kernel.instructions.size(), 8u);
    EXPECT_EQ(kernel.instructions[1].vector, 2);
    EXPECT_EQ(kernel.instructions[2].vector, 4);
    EXPECT_EQ(kernel.instructions[4].op, Op::CpCommit);
    EXPECT_EQ(kernel.instructions[5].operands[0].bits, 1u);
    EXPECT_EQ(kernel.instructions[6].op, Op::CpWaitAll);
    const std::string printed = print(*module);
    EXPECT_NE(printed.find("cp.async.ca.shared.global \t[tile+8], [%rd1+16], 8, %r2;"), std::string::npos)
        << printed;
    EXPECT_NE(printed.find("cp.async.cg.shared.global.L2::128B \t[%rd2], [%rd1], 16, 0;"), std::string::npos);
    const auto again = parse(printed, "k.ptx");
    ASSERT_TRUE(again);
    EXPECT_EQ(print(*again), printed);
}

TEST(PtxCopies, AreALoadAndAStore) {
    const auto module = parse(module_with(R"ptx(cp.async.ca.shared.global [%r1+4], [%rd1+8], 8;
cp.async.commit_group;
cp.async.wait_all;
bar.sync 0;)ptx"),
                              "k.ptx");
    ASSERT_TRUE(module);
    const Kernel& kernel = module->kernels[0];
    const std::vector<Site> sites = sites_of(kernel);
    ASSERT_EQ(sites.size(), 3u);
    EXPECT_TRUE(goes_on(sites[0], sites[1]));
    EXPECT_FALSE(goes_on(sites[1], sites[2]));
    EXPECT_TRUE(sites[0].past_registers() && !sites[0].fills_registers() && !sites[0].lands_later());
    EXPECT_TRUE(sites[1].past_registers() && !sites[1].fills_registers() && sites[1].lands_later());
    EXPECT_EQ(sites[0].kind, SiteKind::Load);
    EXPECT_EQ(sites[0].space, Space::Global);
    EXPECT_EQ(sites[1].kind, SiteKind::Store);
    EXPECT_EQ(sites[1].space, Space::Shared);
    EXPECT_EQ(sites[0].bytes, 8u);
    EXPECT_EQ(sites[1].bytes, 8u);
    EXPECT_EQ(address_of(kernel.instructions[0], sites[0]).offset, 8);
    EXPECT_EQ(address_of(kernel.instructions[0], sites[1]).offset, 4);
    EXPECT_EQ(sites[2].kind, SiteKind::Barrier);
}

TEST(PtxCopies, WhatCannotBeReadIsSaid) {
    const auto says = [](const std::string& body, const std::string& part) {
        const std::string error = error_of(body);
        EXPECT_NE(error.find(part), std::string::npos) << body << " -> " << error;
    };
    says("cp.async.ca.shared.global [%r1], [%rd1], 5;", "copies 4, 8 or 16 bytes");
    says("cp.async.cg.shared.global [%r1], [%rd1], 4;", "and 16 with .cg");
    says("cp.async.ca.global.shared [%r1], [%rd1], 4;", "no copy from global to shared");
    says("cp.async.ca.shared.global [%r1], [%rd1], 4, %p1;", "takes .u32");
    says("cp.async.ca.shared.global.L2::cache_hint [%r1], [%rd1], 4;", "needs a policy as its last operand");
    says("cp.async.wait_group;", "whole number");
    says("cp.async.wait_group %r1;", "whole number");
    says("cp.async.commit_group 1;", "';'");
}

}  // namespace
}  // namespace tilescope::ptx
