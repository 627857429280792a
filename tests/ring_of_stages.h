// A ring of stages that copies in bulk fill and mbarriers guard, as PTX by hand.
#pragma once

#include <string>

#include <fmt/format.h>

#include "tests/launch_examples.h"

namespace tilescope::kernels {

// A ring of stages: lane 0 of warp 0 copies a tile of `in` into each in turn, in bulk; the other warps add up what they
// read there. waits: the producer waits for the empty barrier before its first trips too, whose parity lets it pass.
struct RingShape {
    uint32_t stages = 3, trips = 7, readers = 4;
    uint32_t parts = 1;  // copies that fill a stage
    bool waits = true;
    uint32_t bytes() const { return readers * 128; }  // of a stage
};
inline Plan ring_of_stages(const RingShape& of) {
    Array in = global_array("in", ArrayRole::Input, ElementType::F32, {of.trips, of.bytes() / 4});
    in.contents = {Contents::Kind::SmallIntegers, 1, 0, {}};
    std::string init, copies;
    for (uint32_t stage = 0; stage < of.stages; ++stage)
        init += fmt::format(
            "mbarrier.init.shared::cta.b64 [full+{0}], 1;\n"
            "mbarrier.init.shared::cta.b64 [empty+{0}], {1};\n",
            8 * stage, of.readers);
    const uint32_t part = of.bytes() / of.parts;
    for (uint32_t i = 0; i < of.parts; ++i)
        copies += fmt::format(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%d0], {0}, [%r4];\n"
            "add.s64 %d0, %d0, {0};\nadd.u32 %r6, %r6, {0};\n",
            part);
    // %r2 stage, %r3 trip, %r4 full, %r5 empty, %r6 place in the stage, %r7 parity
    const std::string places = fmt::format(
                          "mov.u32 %q0, full;\nmad.lo.u32 %r4, %r2, 8, %q0;\n"
                          "mov.u32 %q1, empty;\nmad.lo.u32 %r5, %r2, 8, %q1;\n"
                          "mov.u32 %q2, stage;\nmad.lo.u32 %r6, %r2, {}, %q2;\n",
                          of.bytes()),
                      next = fmt::format(
                          "add.u32 %r2, %r2, 1;\nsetp.eq.u32 %p2, %r2, {0};\n@%p2 xor.b32 %r7, %r7, 1;\n"
                          "@%p2 mov.u32 %r2, 0;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, {1};\n",
                          of.stages, of.trips);
    Plan plan = by_hand(
        "ring", 32 * (of.readers + 1),
        {in, global_array("out", ArrayRole::Output, ElementType::F32, {of.bytes() / 4})},
        fmt::format("__shared__ float stage[{0}][{1}];\n__shared__ uint64_t full[{0}], empty[{0}];\n",
                    of.stages, of.bytes() / 4),
        fmt::format(".shared .align 128 .b8 stage[{}];\n.shared .align 8 .b8 full[{}];\n.shared .align 8 .b8 "
                    "empty[{}];\n",
                    of.stages * of.bytes(), 8 * of.stages, 8 * of.stages) +
            ".reg .pred %p<6>;\n.reg .b32 %q<4>;\nld.param.u64 %d0, [in];\nld.param.u64 %d1, [out];\n"
            "mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra READY;\n" +
            init +
            "fence.proxy.async.shared::cta;\nREADY:\nbar.sync 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.f32 "
            "%f0, 0f00000000;\n"
            "setp.ge.u32 %p0, %r0, 32;\n@%p0 bra READERS;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra DONE;\nmov.u32 "
            "%r7, 1;\nCOPY:\n" +
            places + (of.waits ? "" : fmt::format("setp.lt.u32 %p4, %r3, {};\n@%p4 bra FREE;\n", of.stages)) +
            "AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], %r7;\n@!%p1 bra AGAIN;\nFREE:\n" +
            fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], {};\n", of.bytes()) + copies +
            next +
            "@%p3 bra COPY;\nbra DONE;\nREADERS:\nmov.u32 %r7, 0;\nsub.u32 %q3, %r0, 32;\nand.b32 %r1, %r0, "
            "31;\n"
            "setp.ne.u32 %p5, %r1, 0;\nREAD:\n" +
            places +
            "FULL:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], %r7;\n@!%p1 bra FULL;\n"
            "mad.lo.u32 %r6, %q3, 4, %r6;\nld.shared.f32 %f1, [%r6];\nadd.f32 %f0, %f0, %f1;\nbar.warp.sync "
            "-1;\n"
            "@%p5 bra ARRIVED;\nmbarrier.arrive.shared::cta.b64 _, [%r5];\nARRIVED:\n" +
            next +
            "@%p3 bra READ;\nmul.wide.u32 %d2, %q3, 4;\nadd.s64 %d1, %d1, %d2;\nst.global.f32 [%d1], "
            "%f0;\nDONE:\n");
    plan.ptx.replace(plan.ptx.find("sm_70"), 5, "sm_90");
    plan.ptx.replace(plan.ptx.find(".version 7.0"), 12, ".version 8.0");
    return plan;
}

}  // namespace tilescope::kernels
