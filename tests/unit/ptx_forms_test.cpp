// Barriers in memory and bulk copies in PTX: every form is read and printed again, its sites and operands are known, and
// what is damaged is refused.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/ptx/affine.h"
#include "core/ptx/forms.h"
#include "core/ptx/instrument.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

// What each of its sites is: "signal", "load", ... and its space.
std::string sites_text(const Kernel& kernel) {
    std::string text;
    for (const Site& site : sites_of(kernel)) {
        constexpr const char* kSignalNames[] = {"none",   "init",     "invalidate", "arrive", "drop",
                                                "expect", "complete", "copy",       "wait"};
        text += text.empty() ? "" : " ";
        if (site.kind == SiteKind::Signal)
            text += fmt::format("{}:{}", kSignalNames[static_cast<size_t>(site.signal)], site.words);
        else if (asks_memory(site.kind))
            text +=
                fmt::format("{}.{}{}", name_of(site.kind), site.space == Space::Shared ? "shared" : "global",
                            site.atomic == Atomic::None ? "" : "+");
        else
            text += name_of(site.kind);
    }
    return text;
}

struct ReadForm {
    const char* text;
    const char* sites;
    size_t destinations = 0;
};

constexpr ReadForm kBarrierForms[] = {
    {"mbarrier.init.b64 \t[%rd1], 32;", "init:1"},
    {"mbarrier.init.shared::cta.b64 \t[tile+8], %r1;", "init:1"},
    {"mbarrier.init.b64 \t[tile], 1;", "init:1"},
    {"mbarrier.inval.shared.b64 \t[%r1];", "invalidate:0"},
    {"mbarrier.arrive.b64 \t%rd2, [%rd1];", "arrive:2", 1},
    {"mbarrier.arrive.shared.b64 \t%rd2, [%r1], %r2;", "arrive:2", 1},
    {"mbarrier.arrive.noComplete.shared.b64 \t%rd2, [%r1], 2;", "arrive:2", 1},
    {"mbarrier.arrive.noComplete.release.cta.shared::cta.b64 \t%rd2, [%r1], 2;", "arrive:2", 1},
    {"mbarrier.arrive.release.cluster.shared::cluster.b64 \t_, [%r1];", "arrive:2", 1},
    {"mbarrier.arrive.relaxed.cta.shared::cta.b64 \t_, [%r1+16], 4;", "arrive:2", 1},
    {"mbarrier.arrive.expect_tx.shared::cta.b64 \t_, [%r1], 1024;", "arrive:2", 1},
    {"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 \t%rd2, [%r1], %r2;", "arrive:2", 1},
    {"mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 \t_, [%r1], %r2;", "arrive:2", 1},
    {"mbarrier.arrive_drop.shared.b64 \t%rd2, [%r1];", "drop:2", 1},
    {"mbarrier.arrive_drop.noComplete.b64 \t%rd2, [%rd1], 1;", "drop:2", 1},
    {"mbarrier.arrive_drop.release.cluster.shared::cluster.b64 \t_, [%r1], 2;", "drop:2", 1},
    {"mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64 \t%rd2, [%r1], 64;", "drop:2", 1},
    {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 \t[%r1], 64;", "expect:1"},
    {"mbarrier.expect_tx.shared::cluster.b64 \t[%r1], %r2;", "expect:1"},
    {"mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 \t[%r1], %r2;", "complete:1"},
    {"mbarrier.complete_tx.b64 \t[%rd1], 16;", "complete:1"},
    {"mbarrier.test_wait.shared.b64 \t%p1, [%r1], %rd2;", "wait:1", 1},
    {"mbarrier.test_wait.acquire.cta.shared::cta.b64 \t%p1, [%r1], %rd2;", "wait:1", 1},
    {"mbarrier.test_wait.parity.shared.b64 \t%p1, [%r1], 0;", "wait:1", 1},
    {"mbarrier.test_wait.parity.relaxed.cluster.b64 \t%p1, [%rd1], %r2;", "wait:1", 1},
    {"mbarrier.try_wait.shared.b64 \t%p1, [%r1], %rd2;", "wait:1", 1},
    {"mbarrier.try_wait.acquire.cluster.shared::cta.b64 \t%p1, [%r1], %rd2, %r2;", "wait:1", 1},
    {"mbarrier.try_wait.parity.shared::cta.b64 \t%p1, [%r1], %r2;", "wait:1", 1},
    {"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 \t%p1, [%r1+8], %r2, 10000000;", "wait:1", 1},
    {"mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 \t[%r1], %r2;", "complete:1"},
    {"mbarrier.arrive.shared::cta.release.cta.b64 \t_, [%r1];", "arrive:2", 1},
    {"mbarrier.pending_count.b64 \t%r1, %rd1;", "", 1},
    {"cp.async.mbarrier.arrive.b64 \t[%rd1];", "copy:1"},
    {"cp.async.mbarrier.arrive.noinc.shared::cta.b64 \t[%r1];", "copy:1"},
};

constexpr ReadForm kBulkForms[] = {
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes \t[%r1], [%rd1], 16, [%r2];",
     "load.global store.shared"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint \t[%r1], [%rd1+16], "
     "%r3, "
     "[%r2+8], %rd2;",
     "load.global store.shared"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \t[tile], [%rd1], "
     "%r3, "
     "[tile+32], %rs1;",
     "load.global store.shared"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
     "\t[%r1], "
     "[%rd1], %r3, [%r2], %rs1, %rd2;",
     "load.global store.shared"},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob \t[%r1], [%rd1], %r3, 4, %r4, "
     "[%r2];",
     "load.global store.shared"},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes \t[%r1], [%r2], 32, [%r3];",
     "load.shared store.shared"},
    {"cp.async.bulk.global.shared::cta.bulk_group \t[%rd1], [%r1], 32;", "load.shared store.global"},
    {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint \t[%rd1], [tile], %r2, %rd2;",
     "load.shared store.global"},
    {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask \t[%rd1], [%r1], %r2, %rd2, %rs1;",
     "load.shared store.global"},
    {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask \t[%rd1], [%r1], %r2, %rs1;",
     "load.shared store.global"},
    {"cp.async.bulk.commit_group;", ""},
    {"cp.async.bulk.wait_group \t0;", ""},
    {"cp.async.bulk.wait_group.read \t3;", ""},
    {"cp.async.bulk.prefetch.L2.global \t[%rd1], %r1;", ""},
    {"cp.async.bulk.prefetch.L2.global.L2::cache_hint \t[%rd1], 128, %rd2;", ""},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 \t[%rd1], [%r1], 128;",
     "load.shared store.global+"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.bf16 \t[%rd1], [%r1], %r2, "
     "%rd2;",
     "load.shared store.global+"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64 \t[%rd1], [%r1], 128;",
     "load.shared store.global+"},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor.b32 \t[%r1], [%r2], "
     "16, [%r3];",
     "load.shared store.shared+"},
    {"fence.proxy.async;", ""},
    {"fence.proxy.async.shared::cta;", ""},
    {"fence.proxy.alias;", ""},
    {"fence.proxy.tensormap::generic.release.gpu;", ""},
    {"fence.proxy.tensormap::generic.acquire.gpu \t[%rd1], 128;", ""},
    {"fence.acquire.sync_restrict::shared::cluster.cluster;", ""},
    {"fence.mbarrier_init.release.cluster;", ""},
};

constexpr ReadForm kTensorForms[] = {
    {"cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes \t[%r1], [%rd1, {%r2}], "
     "[%r3];",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes \t[tile], [%rd1, {%r2, "
     "0}], [tile+32];",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
     "\t[%r1], "
     "[%rd1, {%r2, 0, -1}], [%r3], %rs1;",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
     "cache_hint "
     "\t[%r1], [%rd1, {%r2, 0, 1, %r4}], [%r3], %rs1, %rd2;",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.5d.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint \t[%r1], [%rd1, "
     "{%r2, 0, "
     "1, %r4, %r5}], [%r3+8], %rd2;",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes \t[%r1], "
     "[%rd1, {%r2, "
     "0}], [%r3];",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes.cta_group::1.L2::"
     "cache_hint "
     "\t[%r1], [%rd1, {%r2, 1, 2, 3, 4}], [%r3], %rd2;",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes \t[%r1], [%rd1, "
     "{%r2, 0, 1}], "
     "[%r3], {%rs1};",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster "
     "\t[%r1], "
     "[%rd1, {%r2, 0, 1, 2, 3}], [%r3], {%rs1, 1, 2}, %rs2;",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes \t[%r1], [%rd1, "
     "{%r2, 0, 1, 2}], "
     "[%r3], {%rs1, %rs2};",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.3d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes \t[%r1], [%rd1, "
     "{%r2, 0, "
     "1}], [%r3], {%rs1, 0};",
     "load.global store.shared"},
    {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group \t[%rd1, {%r2, %r3}], [%r1];",
     "load.shared store.global"},
    {"cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint \t[%rd1, {%r2, %r3, 0, 0, "
     "0}], [tile], "
     "%rd2;",
     "load.shared store.global"},
    {"cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group \t[%rd1, {%r2, 1, 2, 3, 4}], "
     "[%r1];",
     "load.shared store.global"},
    {"cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group \t[%rd1, {%r2, %r3, 0}], [%r1];",
     "load.shared store.global"},
    {"cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group \t[%rd1, {%r2, %r3}], [%r1];",
     "load.shared store.global+"},
    {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.xor.bulk_group.L2::cache_hint \t[%rd1, {%r2}], "
     "[%r1], %rd2;",
     "load.shared store.global+"},
    {"cp.async.bulk.prefetch.tensor.2d.L2.global \t[%rd1, {%r2, 0}];", ""},
    {"cp.async.bulk.prefetch.tensor.3d.L2.global.im2col::w.L2::cache_hint \t[%rd1, {%r2, 0, 1}], {%rs1, "
     "%rs2}, %rd2;",
     ""},
    {"cp.async.bulk.tensor.3d.im2col.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes "
     "\t[%r1], [%rd1, "
     "{%r2, 0, 1}], [%r3], {%rs1};",
     "load.global store.shared"},
    {"prefetch.tensormap \t[%rd1];", ""},
    {"prefetch.param.tensormap \t[k_param_0];", ""},
    {"prefetch.const.tensormap \t[%rd1+64];", ""},
    {"tensormap.replace.tile.global_address.global.b1024.b64 \t[%rd1], %rd2;", ""},
    {"tensormap.replace.tile.rank.shared::cta.b1024.b32 \t[%r1], 2;", ""},
    {"tensormap.replace.tile.global_stride.global.b1024.b64 \t[%rd1], 1, %rd2;", ""},
    {"tensormap.replace.tile.box_dim.b1024.b32 \t[%rd1], 0, %r2;", ""},
    {"tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 \t[tile], 3;", ""},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned \t[%rd1], "
     "[%r1], 128;",
     ""},
};

constexpr ReadForm kWarpgroupForms[] = {
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 \t{%f0, %f1, %f2, %f3}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
     "load.shared load.shared exchange", 1},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 \t{%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, "
     "%rd2, !%p1, -1, "
     "1, 1;",
     "load.shared exchange", 1},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 \t{%r0, %r1}, %rd1, %rd2, 1, 1, 1, 0, 1;",
     "load.shared load.shared exchange", 1},
    {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 \t{%f0, %f1, %f2, %f3}, %rd1, %rd2, %p1, 1, 1;",
     "load.shared load.shared exchange", 1},
    {"wgmma.mma_async.sync.aligned.m64n16k32.f16.e4m3.e5m2 \t{%r4, %r5, %r6, %r7}, {%r0, %r1, %r2, %r3}, "
     "%rd2, %p1, 1, "
     "1;",
     "load.shared exchange", 1},
    {"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 \t{%r0, %r1, %r2, %r3}, %rd1, %rd2, %p1;",
     "load.shared load.shared exchange", 1},
    {"wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.u8.satfinite \t{%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, "
     "%r7}, %rd2, "
     "%p1;",
     "load.shared exchange", 1},
    {"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc \t{%r0, %r1, %r2, %r3}, %rd1, %rd2, %p1;",
     "load.shared load.shared exchange", 1},
    {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 \t{%f0, %f1, %f2, %f3}, %rd1, %rd2, %r4, 0, %p1, "
     "1, 1, 0, 0;",
     "load.shared load.shared exchange", 1},
    {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 \t{%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, "
     "%rd2, %r4, 1, "
     "%p1, 1, 1, 0;",
     "load.shared exchange", 1},
    {"wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 \t{%f0, %f1, %f2, %f3}, %rd1, %rd2, %r4, 1, "
     "%p1, 1, 1;",
     "load.shared load.shared exchange", 1},
    {"wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 \t{%r0, %r1, %r2, %r3}, %rd1, %rd2, %r4, 0, %p1;",
     "load.shared load.shared exchange", 1},
    {"wgmma.fence.sync.aligned;", ""},
    {"wgmma.commit_group.sync.aligned;", ""},
    {"wgmma.wait_group.sync.aligned \t1;", ""},
};

constexpr ReadForm kClusterForms[] = {
    {"mapa.u64 \t%rd1, %rd2, %r1;", "", 1},
    {"mapa.shared::cluster.u32 \t%r1, %r2, 1;", "", 1},
    {"mapa.shared::cluster.u32 \t%r1, tile+4, %r3;", "", 1},
    {"getctarank.u64 \t%r1, %rd2;", "", 1},
    {"getctarank.shared::cluster.u32 \t%r1, %r2;", "", 1},
    {"barrier.cluster.arrive;", "barrier"},
    {"barrier.cluster.arrive.release.aligned;", "barrier"},
    {"barrier.cluster.arrive.aligned.relaxed;", "barrier"},
    {"barrier.cluster.wait.acquire;", "barrier"},
    {"barrier.cluster.wait.aligned;", "barrier"},
    {"ld.shared::cluster.u32 \t%r1, [%r2];", "load.shared", 1},
    {"st.shared::cluster.v2.f32 \t[%r1], {%f1, %f2};", "store.shared"},
    {"atom.relaxed.cluster.shared::cluster.add.u32 \t%r1, [%r2], %r3;", "atomic.shared+", 1},
    {"red.shared::cluster.add.u32 \t[%r2], %r3;", "atomic.shared+"},
    {"ld.shared::cta.u32 \t%r1, [tile];", "load.shared", 1},
    {"cvta.shared::cluster.u64 \t%rd1, %rd2;", "", 1},
    {"isspacep.shared::cluster \t%p1, %rd2;", "", 1},
    {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 \t[%r1], %r2, [%r3];", "store.shared"},
    {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 \t[%r1], {%f1, %f2, %f3, %f4}, [%r3];",
     "store.shared"},
    {"st.async.mmio.release.sys.global.b64 \t[%rd1], %rd2;", "store.global"},
    {"red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.u32 \t[%r1], %r2, [%r3];",
     "atomic.shared+"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 \t[%r1], %rd2, [%r3];",
     "atomic.shared+"},
    {"red.async.release.gpu.global.xor.b32 \t[%rd1], %r2;", "atomic.global+"},
    {"multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.bf16x2 \t{%r1, %r2, %r3, %r4}, [%rd1];", "", 1},
    {"multimem.ld_reduce.min.s32 \t%r1, [%rd1];", "", 1},
    {"multimem.ld_reduce.add.acc::f16.v2.e4m3x4 \t{%r1, %r2}, [%rd1];", "", 1},
    {"multimem.st.weak.global.b32 \t[%rd1], %r2;", ""},
    {"multimem.red.release.sys.global.add.v2.f32 \t[%rd1], {%f1, %f2};", ""},
    {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all."
     "b128 "
     "\t[%r1], [%r2];",
     ""},
    {"elect.sync \t_|%p1, -1;", "", 2},
    {"setmaxnreg.dec.sync.aligned.u32 \t40;", ""},
    {"griddepcontrol.wait;", ""},
    {"griddepcontrol.launch_dependents;", ""},
};

void expect_read(const ReadForm& form) {
    const Module module = test::parsed(test::kernel_text(form.text));
    ASSERT_EQ(module.kernels.size(), 1u) << form.text;
    const Kernel& kernel = module.kernels[0];
    ASSERT_EQ(kernel.instructions.size(), 1u) << form.text;
    EXPECT_EQ(print(kernel, kernel.instructions[0]), form.text);
    EXPECT_EQ(kernel.instructions[0].destinations, form.destinations) << form.text;
    EXPECT_EQ(sites_text(kernel), form.sites) << form.text;
    const std::string printed = print(module);
    EXPECT_EQ(print(test::parsed(printed)), printed);
}

TEST(PtxForms, BarriersAreReadAndPrintedAgain) {
    for (const ReadForm& form : kBarrierForms) expect_read(form);
}

TEST(PtxForms, BulkCopiesAreReadAndPrintedAgain) {
    for (const ReadForm& form : kBulkForms) expect_read(form);
}

TEST(PtxForms, TensorCopiesAreReadAndPrintedAgain) {
    for (const ReadForm& form : kTensorForms) expect_read(form);
}

TEST(PtxForms, ProductsOfWarpgroupsAreReadAndPrintedAgain) {
    for (const ReadForm& form : kWarpgroupForms) expect_read(form);
}

TEST(PtxForms, ClustersAreReadAndPrintedAgain) {
    for (const ReadForm& form : kClusterForms) expect_read(form);
}

// Every width of every pair of types, with A from both places: as many registers of D as its elements fill.
TEST(PtxForms, ProductsOfAllShapesAreRead) {
    struct Types {
        const char *types, *k, *sparse_k;
        uint32_t bits_of_sums;
        bool integers, transposes;
    };
    const auto list = [](const char* prefix, uint32_t count) {
        std::string text = "{";
        for (uint32_t i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
        return text + "}";
    };
    size_t read = 0;
    for (const Types& t : {Types{"f32.f16.f16", "16", "32", 32, false, true},
                           Types{"f16.f16.f16", "16", "32", 16, false, true},
                           Types{"f32.bf16.bf16", "16", "32", 32, false, true},
                           Types{"f32.tf32.tf32", "8", "16", 32, false, false},
                           Types{"f32.e4m3.e5m2", "32", "64", 32, false, false},
                           Types{"f16.e5m2.e5m2", "32", "64", 16, false, false},
                           Types{"s32.s8.u8", "32", "64", 32, true, false},
                           Types{"s32.b1.b1.and.popc", "256", "", 32, true, false}}) {
        std::string body = ".reg .b32 %d<128>; .reg .b32 %a<4>;\n";
        size_t count = 0;
        for (uint32_t n = 8; n <= 256; n += 8) {
            if (t.integers && n % 16 != 0 && n != 8 && n != 24) continue;
            for (const bool sparse : {false, true}) {
                if (sparse && *t.sparse_k == '\0') continue;
                for (const bool registers : {false, true}) {
                    body += fmt::format(
                        "wgmma.mma_async{}.sync.aligned.m64n{}k{}.{} {}, {}, %rd2, {}%p1{}{};\n",
                        sparse ? ".sp" : "", n, sparse ? t.sparse_k : t.k, t.types,
                        list("%d", 64 * n * t.bits_of_sums / 128 / 32), registers ? list("%a", 4) : "%rd1",
                        sparse ? "%r1, 0, " : "", t.integers ? "" : ", 1, 1",
                        !t.transposes ? ""
                        : registers   ? ", 0"
                                      : ", 0, 0");
                    ++count;
                }
            }
        }
        const Module module = test::parsed(test::kernel_text(body));
        ASSERT_EQ(module.kernels.size(), 1u) << t.types;
        EXPECT_EQ(module.kernels[0].instructions.size(), count);
        EXPECT_EQ(sites_of(module.kernels[0], false).size(), count / 2 * 3);
        const std::string printed = print(module);
        EXPECT_EQ(print(test::parsed(printed)), printed);
        read += count;
    }
    EXPECT_EQ(read, 6u * 32 * 4 + 18u * 4 + 18u * 2);
}

TEST(PtxForms, OperandsHaveTheirParts) {
    const auto one = [](const char* text) {
        const Module module = test::parsed(test::kernel_text(text));
        return std::pair(module.kernels.at(0), module.kernels.at(0).instructions.at(0));
    };
    const auto said = [&](const char* text, const Operand* (*part)(const Instruction&)) {
        const auto& [kernel, instruction] = one(text);
        const Operand* const operand = part(instruction);
        return operand == nullptr ? std::string("none") : print(kernel, *operand);
    };
    const char* const wait = "mbarrier.try_wait.parity.shared.b64 %p1, [%r1+8], %r2, 1000;";
    EXPECT_EQ(said(wait, barrier_of), "[%r1+8]");
    EXPECT_EQ(said(wait, phase_of), "%r2");
    EXPECT_EQ(said("mbarrier.test_wait.shared.b64 %p1, [%r1], %rd3;", phase_of), "%rd3");
    EXPECT_EQ(said("mbarrier.arrive.shared.b64 _, [%r1];", arrivals_of), "none");
    EXPECT_EQ(said("mbarrier.arrive.shared.b64 _, [%r1], 3;", arrivals_of), "3");
    const char* const expect = "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], %r3;";
    EXPECT_EQ(said(expect, arrivals_of), "none");
    EXPECT_EQ(said(expect, bytes_operand_of), "%r3");
    const char* const copy =
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], "
        "%r3, "
        "[%r2], %rs1;";
    EXPECT_EQ(said(copy, barrier_of), "[%r2]");
    EXPECT_EQ(said(copy, bytes_operand_of), "%r3");
    const char* const box =
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r4, "
        "1, 2, 3}], "
        "[%r2+8], {%rs1, 5};";
    EXPECT_EQ(said(box, barrier_of), "[%r2+8]");
    EXPECT_EQ(said(box, bytes_operand_of), "none");
    EXPECT_EQ(said(box, map_of), "[%rd1]");
    EXPECT_EQ(said(box, coordinates_of), "{%r4, 1, 2, 3}");
    EXPECT_EQ(said(box, offsets_operand_of), "{%rs1, 5}");
    const auto& [box_kernel, box_instruction] = one(box);
    const std::vector<Site> box_sites = sites_of(box_kernel);
    ASSERT_EQ(box_sites.size(), 2u);
    EXPECT_EQ(print(box_kernel, address_of(box_instruction, box_sites[0])), "[%rd1]");
    EXPECT_EQ(print(box_kernel, address_of(box_instruction, box_sites[1])), "[%r1]");
    EXPECT_EQ(box_sites[0].box, Box::Tensor);
    EXPECT_EQ(box_sites[0].words, kTensorWords);
    const auto& [save_kernel, save] =
        one("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r2, %r3}], [%r1];");
    const std::vector<Site> save_sites = sites_of(save_kernel);
    ASSERT_EQ(save_sites.size(), 2u);
    EXPECT_EQ(print(save_kernel, address_of(save, save_sites[0])), "[%r1]");
    EXPECT_EQ(print(save_kernel, address_of(save, save_sites[1])), "[%rd1]");
    const char* const product =
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p1, -1, 1, 0, "
        "1;";
    EXPECT_EQ(said(product, descriptor_of_a), "%rd1");
    EXPECT_EQ(said(product, descriptor_of_b), "%rd2");
    EXPECT_EQ(said(product, scale_of_d), "%p1");
    EXPECT_EQ(said(product, scale_of_a), "-1");
    EXPECT_EQ(said(product, scale_of_b), "1");
    EXPECT_EQ(said(product, transposes_a), "0");
    EXPECT_EQ(said(product, transposes_b), "1");
    const char* const from_registers =
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, "
        "%rd2, %r4, 0, "
        "%p1, 1, 1, 1;";
    EXPECT_EQ(said(from_registers, descriptor_of_a), "none");
    EXPECT_EQ(said(from_registers, descriptor_of_b), "%rd2");
    EXPECT_EQ(said(from_registers, transposes_a), "none");
    EXPECT_EQ(said(from_registers, transposes_b), "1");
    const auto& [product_kernel, multiply] = one(product);
    const std::vector<Site> product_sites = sites_of(product_kernel);
    ASSERT_EQ(product_sites.size(), 3u);
    EXPECT_EQ(print(product_kernel, address_of(multiply, product_sites[0])), "%rd1");
    EXPECT_EQ(print(product_kernel, address_of(multiply, product_sites[1])), "%rd2");
    EXPECT_EQ(product_sites[1].box, Box::Tile);
    EXPECT_FALSE(product_sites[0].fills_registers() || product_sites[0].copy);
    EXPECT_EQ(product_sites[2].exchange, Exchange::Multiply);
    EXPECT_EQ(sites_of(product_kernel, false).size(), 2u);
    const char* const store = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 32;";
    EXPECT_EQ(said(store, barrier_of), "none");
    EXPECT_EQ(said(store, bytes_operand_of), "32");
    const auto& [kernel, instruction] = one(store);
    const std::vector<Site> sites = sites_of(kernel);
    ASSERT_EQ(sites.size(), 2u);
    EXPECT_EQ(print(kernel, address_of(instruction, sites[0])), "[%r1]");
    EXPECT_EQ(print(kernel, address_of(instruction, sites[1])), "[%rd1]");
    EXPECT_EQ(sites[1].box, Box::Row);
    EXPECT_EQ(sites[1].words, kRowWords);
    EXPECT_TRUE(sites[0].copy && sites[1].copy && goes_on(sites[0], sites[1]));
}

TEST(PtxForms, DamageIsSaid) {
    const auto says = [](const std::string& body, const std::string& part) {
        const std::string error = test::refusal(test::kernel_text(body));
        EXPECT_NE(error.find(part), std::string::npos) << body << " -> " << error;
    };
    says("mbarrier.arrive.acquire.cta.b64 %rd1, [%rd2];", "has .acquire, which does not go with the others");
    says("mbarrier.arrive.relaxed.b64 %rd1, [%rd2];", "has .relaxed, which does not");
    says("mbarrier.init.shared.b32 [%r1], 1;", "has .b32 where .b64 should stand");
    says("mbarrier.init.shared [%r1], 1;", "needs .b64");
    says("mbarrier.init.shared::cluster.b64 [%r1], 1;", "has .shared::cluster");
    says("mbarrier.init.shared.b64 [%r1];", "needs more");
    says("mbarrier.init.shared.b64 [%r1], %rd1;", "takes .u32");
    says("mbarrier.frobnicate.b64 [%r1];", "is not known to Tilescope");
    says("mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];", "needs _ in its place");
    says("mbarrier.arrive.noComplete.b64 %rd1, [%rd2];", "needs more");
    says("mbarrier.arrive.b64 %r1, [%rd2];", "takes .b64");
    says("mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %rd1;", "takes .u32");
    says("mbarrier.try_wait.shared.b64 %p1, [%r1], %r2;", "takes .b64");
    says("mbarrier.try_wait.shared.b64 %r1, [%r1], %rd2;", "takes .pred");
    says("mbarrier.arrive.shared.b64 %rd1, [table];", "goes to another state space");
    says("cp.async.bulk.shared.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];",
         "needs where it copies to");
    says("cp.async.bulk.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];", "needs where it copies to");
    says("cp.async.bulk.global.shared::cta [%rd1], [%r1], 16;", "needs .bulk_group");
    says("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16;", "needs more");
    says("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd1], [%r1], 16;", "needs a policy");
    says("cp.async.bulk.wait_group;", "whole number");
    says("cp.async.bulk.commit_group.read;", "has .read, which does not go with the others");
    says("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.b32 [%rd1], [%r1], 16;", "has .add where");
    says("cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%rd1], [%r1], 16;", "has .inc where");
    says("fence.proxy.tensormap::generic.acquire.gpu [%rd1];", "needs more");
    const std::string product = "wgmma.mma_async.sync.aligned.";
    says(product + "m64n8k8.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;",
         "no shape and types");
    says(product + "m64n12k16.f32.f16.f16 {%f0}, %rd1, %rd2, 1, 1, 1, 0, 0;", "no shape and types");
    says(product + "m64n40k32.s32.s8.s8 {%r0}, %rd1, %rd2, 1;", "no shape and types");
    says(product + "m64n8k16.f16.bf16.bf16 {%r0, %r1}, %rd1, %rd2, 1, 1, 1, 0, 0;", "no shape and types");
    says(product + "m64n8k256.s32.b1.b1 {%r0, %r1, %r2, %r3}, %rd1, %rd2, 1;", "no shape and types");
    says(product + "m64n8k16.f32.f16.f16.satfinite {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;",
         "no shape");
    says(product + "m64n8k16.f32.f16.f16 {%f0, %f1, %f2}, %rd1, %rd2, 1, 1, 1, 0, 0;", "vector of 4");
    says(product + "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 0, 1, 0, 0;", "takes -1 or 1");
    says(product + "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0;", "needs more");
    says(product + "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, %rd2, 1, 1, 1, 0, 0;",
         "';'");
    says(product + "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %r1, %rd2, 1, 1, 1, 0, 0;", "takes .b64");
    says("wgmma.mma_async.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;",
         "has .m64n8k16 where");
    says("wgmma.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;",
         "is not known");
    says("wgmma.wait_group.sync.aligned %r1;", "whole number");
    says("barrier.cluster.arrive.acquire;", "has .acquire, which does not go with the others");
    says("barrier.cluster.wait.aligned.aligned;", "has .aligned, which does not go with the others");
    says("mapa.shared::cta.u32 %r1, %r2, 0;", "has .shared::cta, which does not");
    says("mapa.u64 %rd1, %r2, 0;", "takes .u64");
    says(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%r1], {%rd1, %rd2, %rd3, %rd4}, "
        "[%r3];",
        "has .v4");
    says("red.async.relaxed.cluster.shared::cluster.add.u32 [%r1], %r2;", "needs more");
    const std::string load = "mbarrier::complete_tx::bytes";
    says("cp.async.bulk.tensor.6d.shared::cta.global." + load + " [%r1], [%rd1, {%r2}], [%r3];",
         "has .6d where");
    says("cp.async.bulk.tensor.2d.shared::cta.global." + load + " [%r1], [%rd1, {%r2}], [%r3];",
         "vector of 2");
    says("cp.async.bulk.tensor.2d.shared::cta.global." + load + " [%r1], [%rd1, {%r2, 0, 0}], [%r3];",
         "vector of 2");
    says("cp.async.bulk.tensor.1d.shared::cta.global." + load + " [%r1], [%rd1, %r2], [%r3];", "vector of 1");
    says("cp.async.bulk.tensor.1d.shared::cta.global." + load + " [%r1], [%r2, {%r2}], [%r3];", "takes .b64");
    says("cp.async.bulk.tensor.1d.shared::cta.global." + load + " [%r1], [%rd1, {%f2}], [%r3];",
         "takes .s32");
    says("cp.async.bulk.tensor.1d.shared::cta.global." + load + " [%r1], [%rd1], [%r3];",
         "coordinates behind");
    says("cp.async.bulk.tensor.2d.shared::cta.global.im2col." + load + " [%r1], [%rd1, {%r2, 0}], [%r3];",
         "which only .3d, .4d and .5d can");
    says("cp.async.bulk.tensor.2d.shared::cta.global." + load +
             ".multicast::cluster [%r1], [%rd1, {%r2, 0}], [%r3], %rs1;",
         "which only .shared::cluster can");
    says("cp.async.bulk.tensor.3d.global.shared::cta.tile::scatter4.bulk_group [%rd1, {%r2, 0, 0}], [%r1];",
         "only .2d");
    says("cp.async.bulk.tensor.3d.global.shared::cta.im2col.bulk_group [%rd1, {%r2, 0, 0}], [%r1];",
         "has .im2col, which does not");
    says("tensormap.replace.tile.rank.global.b1024.b64 [%rd1], %rd2;", "has .b64 where .b32 should stand");
    says("tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], %r2;", "whole number");
    says("fence.proxy.tensormap::generic.acquire [%rd1], 128;", "needs .cta, .cluster, .gpu or .sys");
}

// A form with a suffix less, or with one twice, is another form or refused, and what is read is printed as it was read.
TEST(PtxForms, SuffixesThatAreMissingOrDoubledAreNoticed) {
    size_t refused = 0, read = 0;
    const auto hold = [&](const std::string& damaged) {
        const auto module = parse(test::kernel_text(damaged), "damaged.ptx");
        if (!module || !module->refused.empty()) return void(++refused);
        ++read;
        const Kernel& kernel = module->kernels.at(0);
        sites_of(kernel);
        EXPECT_EQ(print(kernel, kernel.instructions.at(0)), damaged);
    };
    const auto damage = [&](const auto& forms) {
        for (const ReadForm& form : forms) {
            const std::string text = form.text;
            const size_t end = std::min(text.find(" \t"), text.find(';'));
            for (size_t at = text.find('.'); at < end;) {
                const size_t next = std::min(text.find('.', at + 1), end);
                const std::string word = text.substr(at, next - at);
                hold(text.substr(0, at) + text.substr(next));
                hold(text.substr(0, next) + word + text.substr(next));
                at = next;
            }
        }
    };
    damage(kBarrierForms), damage(kBulkForms), damage(kTensorForms), damage(kWarpgroupForms),
        damage(kClusterForms);
    EXPECT_GT(read, 50u);
    EXPECT_GT(refused, 5 * read);
}

// Cluster launch control has registers of 128 bits.
TEST(PtxForms, CanceledClustersAreRead) {
    const Module module = test::parsed(test::kernel_text(R"ptx(.reg .b128 %q;
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;
clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %q;
clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3, _}, %q;)ptx"));
    ASSERT_EQ(module.kernels.size(), 1u);
    ASSERT_EQ(module.kernels[0].instructions.size(), 3u);
    for (const Instruction& one : module.kernels[0].instructions) EXPECT_EQ(one.destinations, 1u);
    const std::string printed = print(module);
    EXPECT_NE(printed.find("{%r1, %r2, %r3, _}, %q;"), std::string::npos);
    EXPECT_EQ(print(test::parsed(printed)), printed);
}

TEST(PtxForms, DirectivesOfClustersAreKept) {
    std::string text = test::kernel_text("ret;");
    const size_t at = text.find("\n{");
    text.insert(at, "\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n.maxclusterrank 8");
    const Module module = test::parsed(text);
    ASSERT_EQ(module.kernels.size(), 1u);
    EXPECT_EQ(
        module.kernels[0].directives,
        (std::vector<std::string>{".explicitcluster", ".reqnctapercluster 2, 1, 1", ".maxclusterrank 8"}));
    EXPECT_EQ(print(test::parsed(print(module))), print(module));
}

// What a wait answers depends on memory: nothing is proven of an address behind it.
TEST(PtxForms, WhatTheyWriteIsNotKnownOfThreads) {
    const Module module = test::parsed(test::kernel_text(R"ptx(ld.param.u64 %rd1, [k_param_0];
mbarrier.arrive.shared.b64 %rd2, [tile];
mbarrier.pending_count.b64 %r1, %rd2;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd3, %rd1, %rd3;
st.global.f32 [%rd3], %f1;
ret;)ptx"));
    const Kernel& kernel = module.kernels.at(0);
    const std::vector<Site> sites = sites_of(kernel);
    ASSERT_EQ(sites.size(), 2u);
    EXPECT_FALSE(affine_addresses(kernel, sites, {{1, 1, 1}, {32, 1, 1}, {0x10000, 0}}).shapes[1].affine);
}

// What a GPU would do and no recording shows is refused.
TEST(PtxForms, WhatNoRecordingShowsIsSaid) {
    InstrumentOptions options;
    options.launch = {{1, 1, 1}, {32, 1, 1}, {0x10000, 0}};
    for (const char* const text :
         {"multimem.st.weak.global.b32 \t[%rd1], %r2;",
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 \t[%r1], %r2, [%r3];",
          "tensormap.replace.tile.rank.global.b1024.b32 \t[%rd1], 2;"}) {
        const Module module = test::parsed(test::kernel_text(text));
        const auto made = instrument(module, "k", options);
        ASSERT_FALSE(made) << text;
        EXPECT_NE(made.error().message.find(text), std::string::npos) << made.error().message;
    }
}

}  // namespace
}  // namespace tilescope::ptx
