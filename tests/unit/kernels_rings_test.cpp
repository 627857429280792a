// Faults of blocks whose threads wait for each other by barriers in memory, copies in bulk and barriers with a number: rings
// of stages and other kernels written by hand, right and with planted faults, in several orders of the warps.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/hazards/hazards.h"
#include "core/hazards/said.h"
#include "kernels/run/record.h"
#include "tests/launches.h"
#include "tests/opened.h"

namespace tilescope::kernels {
namespace {

using analysis::Hazard;
using analysis::HazardKind;
using analysis::Severity;

constexpr uint32_t kStageFloats = 256;

// A kernel with its shared memory: stage, then full and empty, each of so many as there are stages.
std::string ring_kernel(uint32_t stages, const std::string& body) {
    return fmt::format(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry ring(.param .u64 p_in, .param .u64 p_out, .param .u32 p_trips)
{{
    .shared .align 128 .b8 stage[{}];
    .shared .align 8 .b8 full[{}];
    .shared .align 8 .b8 empty[{}];
    .reg .pred %p<9>; .reg .b32 %r<40>; .reg .f32 %f<9>; .reg .b64 %d<12>;
    .loc 1 1 0
    ld.param.u64 %d1, [p_in];
    ld.param.u64 %d2, [p_out];
    ld.param.u32 %r1, [p_trips];
    mov.u32 %r2, %tid.x;
    and.b32 %r3, %r2, 31;
    shr.u32 %r4, %r2, 5;
    mov.u32 %r5, stage;
    mov.u32 %r6, full;
    mov.u32 %r7, empty;
{}
END:
    ret;
}}
.file 1 "ring.cu"
)",
                       stages * kStageFloats * 4, stages * 8, stages * 8, body);
}

struct Ring {
    uint32_t stages = 3, trips = 7;
    enum class Producer : uint8_t { OneLane, Elected, AllLanes, CopyAsync } producer = Producer::OneLane;
    enum class Release : uint8_t { LeaderBehindSync, AllLanes, LeaderAlone, BeforeReads } release{};
    bool waits_from_start = false;  // for the phase before the first, which is over from the start
    bool waits_for_empty = true;
    uint32_t parity_of_full = 0;  // 1: of the phase before
    uint32_t expected = 1024;
    bool half = false;  // of each stage is copied, and expected
    uint32_t consumers = 4, awaited = 4;
};

std::string init_ring(const Ring& ring, uint32_t full, uint32_t empty) {
    std::string out = "    setp.ne.u32 %p1, %r2, 0;\n    @%p1 bra READY;\n    .loc 1 10 0\n";
    for (uint32_t s = 0; s < ring.stages; ++s)
        out += fmt::format(
            "    mbarrier.init.shared::cta.b64 [full+{0}], {1};\n    mbarrier.init.shared::cta.b64 "
            "[empty+{0}], {2};\n",
            8 * s, full, empty);
    return out + "    fence.mbarrier_init.release.cluster;\nREADY:\n    .loc 1 11 0\n    bar.sync 0;\n";
}

// Leaves the stage's number, its trip, and the addresses of full, empty and the stage in %r11 to %r15.
constexpr const char* kStageOfTrip = R"(
    rem.u32 %r11, %r10, {0};
    div.u32 %r12, %r10, {0};
    mad.lo.u32 %r13, %r11, 8, %r6;
    mad.lo.u32 %r14, %r11, 8, %r7;
    mad.lo.u32 %r15, %r11, 1024, %r5;
)";

std::string ring_ptx(const Ring& ring) {
    using Producer = Ring::Producer;
    using Release = Ring::Release;
    const bool copies = ring.producer == Producer::CopyAsync;
    const bool all = ring.producer == Producer::AllLanes || copies;
    const uint32_t arrivals = ring.awaited * (ring.release == Release::AllLanes ? 32 : 1);
    std::string out = init_ring(ring, copies ? 32 : 1, arrivals);
    const std::string stage = fmt::format(fmt::runtime(kStageOfTrip), ring.stages);
    out += "    setp.ne.u32 %p2, %r4, 0;\n    @%p2 bra CONSUMER;\n";
    if (ring.producer == Producer::OneLane) out += "    setp.ne.u32 %p3, %r3, 0;\n    @%p3 bra END;\n";
    if (ring.producer == Producer::Elected) out += "    elect.sync _|%p3, -1;\n    @!%p3 bra END;\n";
    out += "    mov.u32 %r10, 0;\nPRODUCE:\n    setp.ge.u32 %p3, %r10, %r1;\n    @%p3 bra END;\n" + stage;
    if (ring.waits_for_empty && ring.waits_from_start)
        out += "    xor.b32 %r16, %r12, 1;\n    and.b32 %r16, %r16, 1;\n";
    if (ring.waits_for_empty && !ring.waits_from_start)
        out +=
            "    setp.eq.u32 %p4, %r12, 0;\n    @%p4 bra FREE;\n    sub.u32 %r16, %r12, 1;\n    and.b32 "
            "%r16, %r16, 1;\n";
    if (ring.waits_for_empty)
        out +=
            "    .loc 1 20 0\nWAIT_EMPTY:\n    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r14], %r16;\n"
            "    @!%p5 bra WAIT_EMPTY;\n";
    out += "FREE:\n    mul.wide.u32 %d3, %r10, 1024;\n    add.u64 %d3, %d1, %d3;\n";
    const std::string expect = fmt::format(
        "    .loc 1 21 0\n    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r13], {};\n", ring.expected);
    const char* const copy =
        "    .loc 1 22 0\n    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], "
        "[%d4], {}, [%r13];\n";
    if (!all) {
        out += expect;
        for (uint32_t half = 0; half < (ring.half ? 512 : 1024); half += 512)
            out += fmt::format("    add.u32 %r17, %r15, {0};\n    add.u64 %d4, %d3, {0};\n", half) +
                   fmt::format(fmt::runtime(copy), 512);
    } else if (!copies) {
        out += "    setp.ne.u32 %p6, %r3, 0;\n    @%p6 bra EXPECTED;\n" + expect +
               "EXPECTED:\n    bar.warp.sync -1;\n";
        out +=
            "    mad.lo.u32 %r17, %r3, 32, %r15;\n    mul.wide.u32 %d4, %r3, 32;\n    add.u64 %d4, %d3, "
            "%d4;\n";
        out += fmt::format(fmt::runtime(copy), 32);
    } else {
        out +=
            "    mad.lo.u32 %r17, %r3, 32, %r15;\n    mul.wide.u32 %d4, %r3, 32;\n    add.u64 %d4, %d3, "
            "%d4;\n";
        out +=
            "    .loc 1 22 0\n    cp.async.cg.shared.global [%r17], [%d4], 16;\n    "
            "cp.async.cg.shared.global [%r17+16], [%d4+16], 16;\n";
        out += "    .loc 1 23 0\n    cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r13];\n";
    }
    out += "    add.u32 %r10, %r10, 1;\n    bra PRODUCE;\nCONSUMER:\n";
    out +=
        "    mov.f32 %f1, 0f00000000;\n    mov.u32 %r10, 0;\n    sub.u32 %r20, %r2, 32;\n    shl.b32 %r21, "
        "%r20, 2;\n";
    out += "CONSUME:\n    setp.ge.u32 %p3, %r10, %r1;\n    @%p3 bra STORE;\n" + stage;
    out += fmt::format("    add.u32 %r16, %r12, {};\n    and.b32 %r16, %r16, 1;\n", ring.parity_of_full);
    out +=
        "    .loc 1 30 0\nWAIT_FULL:\n    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r13], %r16;\n    "
        "@!%p5 bra WAIT_FULL;\n";
    const std::string read =
        "    add.u32 %r22, %r15, %r21;\n    .loc 1 31 0\n    ld.shared.f32 %f2, [%r22];\n    ld.shared.f32 "
        "%f3, [%r22+512];\n"
        "    add.f32 %f1, %f1, %f2;\n    add.f32 %f1, %f1, %f3;\n";
    const std::string arrive = "    .loc 1 32 0\n    mbarrier.arrive.shared::cta.b64 _, [%r14];\n";
    if (ring.release != Release::BeforeReads) out += read;
    if (ring.release == Release::LeaderBehindSync) out += "    bar.warp.sync -1;\n";
    if (ring.release == Release::AllLanes)
        out += arrive;
    else
        out += "    setp.ne.u32 %p6, %r3, 0;\n    @%p6 bra NEXT;\n" + arrive + "NEXT:\n";
    if (ring.release == Release::BeforeReads) out += read;
    out += "    add.u32 %r10, %r10, 1;\n    bra CONSUME;\nSTORE:\n";
    out +=
        "    mul.wide.u32 %d5, %r20, 4;\n    add.u64 %d5, %d2, %d5;\n    .loc 1 40 0\n    st.global.f32 "
        "[%d5], %f1;\n";
    return ring_kernel(ring.stages, out);
}

struct Judged {
    std::vector<Hazard> found;
    std::string text;  // a line each
    bool ran = false;  // to its end
};

Judged judged(const std::string& ptx, uint32_t stages, uint32_t trips, uint32_t threads,
              const Schedule& schedule) {
    Judged out;
    Plan plan;
    plan.launch = test_launch(
        {test_array("in", Space::Global, ArrayRole::Input, trips, kStageFloats, 0x7F00'0000'0000),
         test_array("out", Space::Global, ArrayRole::Output, trips, kStageFloats, 0x7F00'0010'0000),
         test_array("stage", Space::Shared, ArrayRole::Shared, stages, kStageFloats, 0, "stage")},
        {1, 1, 1}, {threads, 1, 1});
    Array barriers =
        test_array("full", Space::Shared, ArrayRole::Shared, 1, stages, stages * kStageFloats * 4, "full");
    barriers.type = ElementType::U64;
    plan.launch.arrays.push_back(barriers);
    barriers.name = barriers.symbol = "empty", barriers.base += 8 * stages;
    plan.launch.arrays.push_back(barriers);
    plan.launch.arguments.push_back({"trips", ElementType::U32, trips, -1, 0});
    plan.ptx_name = "ring.ptx";
    plan.ptx = ptx;
    RecordOptions options;
    options.timestamp = false;
    options.schedule = schedule;
    const auto trace = record_cpu(plan, options);
    EXPECT_TRUE(trace) << trace.error().message << ptx;
    if (!trace) return out;
    out.ran = trace->meta.complete;
    out.text = trace->meta.incomplete_reason + "\n";
    const auto rule = analysis::phase_rule(*trace);
    EXPECT_TRUE(rule);
    const analysis::Hazards hazards = analysis::find_hazards(*trace, *rule);
    for (const Hazard& h : hazards.found) {
        if (h.kind == HazardKind::BarrierDivergence || h.kind == HazardKind::OneAddress) continue;
        out.found.push_back(h);
        out.text += fmt::format("{} {}: {}\n", name_of(h.severity), name_of(h.kind), h.sentence);
    }
    // Those of the window are the same.
    const analysis::FaultyCells cells = analysis::faulty_cells(*trace, *rule, 0);
    EXPECT_FALSE(cells.not_looked);
    uint64_t faults = 0;
    for (const Hazard& h : out.found)
        if (h.severity == Severity::Fault && h.kind != HazardKind::GridRace && h.kind != HazardKind::Unfilled)
            faults += h.count;
    EXPECT_EQ(cells.cells.size(), faults) << out.text;
    return out;
}

std::vector<Schedule> schedules() {
    using enum Schedule::Kind;
    return {{Fair, 0}, {Greedy, 0}, {Seeded, 1}, {Seeded, 2}, {Seeded, 3}};
}

void expect_right(const std::string& ptx, uint32_t stages, uint32_t trips, uint32_t threads) {
    for (const Schedule& schedule : schedules()) {
        const Judged found = judged(ptx, stages, trips, threads, schedule);
        EXPECT_TRUE(found.ran) << found.text << ptx;
        EXPECT_TRUE(found.found.empty()) << found.text << ptx;
    }
}

// In every order of the warps in which the kernel comes to its end; in others it may stop before.
void expect_fault(const std::string& ptx, uint32_t stages, uint32_t trips, uint32_t threads, HazardKind kind,
                  const std::string& says) {
    uint32_t times = 0;
    for (const Schedule& schedule : schedules()) {
        const Judged found = judged(ptx, stages, trips, threads, schedule);
        const bool is = std::ranges::any_of(found.found, [&](const Hazard& h) {
            return h.kind == kind && h.severity == Severity::Fault &&
                   h.sentence.find(says) != std::string::npos;
        });
        times += is;
        // In some orders another fault of the same mistake is met first.
        const bool any =
            std::ranges::any_of(found.found, [](const Hazard& h) { return h.severity == Severity::Fault; });
        EXPECT_TRUE(any || !found.ran)
            << "schedule " << static_cast<int>(schedule.kind) << " seed " << schedule.seed << "\n"
            << found.text << ptx;
    }
    EXPECT_GT(times, 0u) << ptx;
}

void expect_right(const Ring& ring) {
    expect_right(ring_ptx(ring), ring.stages, ring.trips, 32 * (ring.consumers + 1));
}
void expect_fault(const Ring& ring, HazardKind kind, const std::string& says) {
    expect_fault(ring_ptx(ring), ring.stages, ring.trips, 32 * (ring.consumers + 1), kind, says);
}

TEST(Rings, RightOnesHaveNoFault) {
    using enum Ring::Producer;
    for (const uint32_t stages : {1u, 2u, 3u, 4u})
        for (const auto producer : {OneLane, Elected, AllLanes, CopyAsync})
            for (const auto release : {Ring::Release::LeaderBehindSync, Ring::Release::AllLanes})
                for (const bool from_start : {false, true}) {
                    Ring ring;
                    ring.stages = stages, ring.producer = producer, ring.release = release;
                    ring.waits_from_start = from_start;
                    SCOPED_TRACE(fmt::format("{} stages, producer {}, release {}, from start {}", stages,
                                             static_cast<int>(producer), static_cast<int>(release),
                                             from_start));
                    expect_right(ring);
                    if (testing::Test::HasFailure()) return;
                }
}

TEST(Rings, AStageIsOverwrittenBeforeItsReadersAreDone) {
    Ring ring;
    ring.waits_for_empty = false;
    expect_fault(ring, HazardKind::Race, "and nothing orders the two");
    ring.waits_for_empty = true;
    ring.release = Ring::Release::LeaderAlone;  // without __syncwarp
    expect_fault(ring, HazardKind::Race, "and nothing orders the two");
    ring.release = Ring::Release::BeforeReads;
    expect_fault(ring, HazardKind::Race, "and nothing orders the two");
}

TEST(Rings, AWaitForTheWrongParity) {
    Ring ring;
    ring.parity_of_full = 1;
    expect_fault(ring, HazardKind::ReadBeforeWait, "without having waited for the end of phase 0 of full[");
}

TEST(Rings, TooFewBytesAreExpected) {
    Ring ring;
    ring.expected = 512, ring.trips = 3;
    expect_fault(ring, HazardKind::ReadBeforeWait, "of full[0,");
}

TEST(Rings, WhatIsNotCopiedIsNotThere) {
    Ring ring;
    ring.half = true, ring.expected = 512;
    expect_fault(ring, HazardKind::Uninitialised, "and nothing was stored there before");
}

// 64 threads fill a buffer, and thread 0 copies it out, trip after trip.
struct CopiedOut {
    uint32_t buffers = 1;
    // OnSomePath: of thread 0 alone, which is wrong; but which way the others came is not known.
    enum class Fence : uint8_t { Writers, ReaderBehindBarrier, OnSomePath, None } fence{};
    bool waits_for_reads = true;
};

std::string copied_out(const CopiedOut& of) {
    using Fence = CopiedOut::Fence;
    std::string out =
        "    setp.eq.u32 %p1, %r2, 0;\n    mov.u32 %r10, 0;\nTRIP:\n    setp.ge.u32 %p3, %r10, %r1;\n    "
        "@%p3 bra DONE;\n";
    out += fmt::format(fmt::runtime(kStageOfTrip), of.buffers);
    if (of.waits_for_reads)
        out += fmt::format("    @!%p1 bra READ;\n    cp.async.bulk.wait_group.read {};\nREAD:\n",
                           of.buffers - 1);
    out +=
        "    .loc 1 12 0\n    bar.sync 0;\n    shl.b32 %r16, %r2, 4;\n    add.u32 %r16, %r16, %r15;\n    "
        ".loc 1 13 0\n";
    out += "    st.shared.v4.u32 [%r16], {%r2, %r2, %r10, %r10};\n";
    if (of.fence == Fence::Writers) out += "    fence.proxy.async.shared::cta;\n";
    if (of.fence == Fence::OnSomePath)
        out += "    @!%p1 bra WAIT;\n    fence.proxy.async.shared::cta;\nWAIT:\n";
    out += "    .loc 1 14 0\n    bar.sync 0;\n    @!%p1 bra NEXT;\n";
    if (of.fence == Fence::ReaderBehindBarrier) out += "    fence.proxy.async.shared::cta;\n";
    out += "    mul.wide.u32 %d3, %r10, 1024;\n    add.u64 %d3, %d2, %d3;\n    .loc 1 15 0\n";
    out +=
        "    cp.async.bulk.global.shared::cta.bulk_group [%d3], [%r15], 1024;\n    "
        "cp.async.bulk.commit_group;\n";
    out +=
        "NEXT:\n    add.u32 %r10, %r10, 1;\n    bra TRIP;\nDONE:\n    @!%p1 bra END;\n    "
        "cp.async.bulk.wait_group 0;\n";
    return ring_kernel(of.buffers, out);
}

TEST(Rings, BuffersAreCopiedOut) {
    using Fence = CopiedOut::Fence;
    for (const uint32_t buffers : {1u, 2u, 3u}) {
        SCOPED_TRACE(buffers);
        for (const Fence fence : {Fence::Writers, Fence::ReaderBehindBarrier, Fence::OnSomePath})
            expect_right(copied_out({buffers, fence, true}), buffers, 6, 64);
        expect_fault(copied_out({buffers, Fence::None, true}), buffers, 6, 64, HazardKind::Race,
                     "with no fence.proxy.async between");
        expect_fault(copied_out({buffers, Fence::Writers, false}), buffers, 6, 64, HazardKind::Race,
                     "for which no cp.async.bulk.wait_group has waited");
    }
}

// Warp 0 stores, warp 1 loads; barrier 1 says that the stage is full, barrier 2 that it is empty.
std::string handed_on(bool waits_for_empty, bool stores_late) {
    const std::string store =
        "    .loc 1 20 0\n    shl.b32 %r16, %r3, 2;\n    add.u32 %r16, %r16, %r5;\n    st.shared.u32 [%r16], "
        "%r10;\n";
    std::string out =
        "    mov.u32 %r10, 0;\n    mov.u32 %r8, 1;\n    setp.ne.u32 %p2, %r4, 0;\n    @%p2 bra "
        "LOAD;\nSTORE:\n";
    if (waits_for_empty)
        out += "    setp.eq.u32 %p4, %r10, 0;\n    @%p4 bra FREE;\n    bar.sync 2, 64;\nFREE:\n";
    out += stores_late ? "    bar.arrive %r8, 64;\n" + store : store + "    bar.arrive %r8, 64;\n";
    out += "    add.u32 %r10, %r10, 1;\n    setp.lt.u32 %p3, %r10, %r1;\n    @%p3 bra STORE;\n    bra END;\n";
    out +=
        "LOAD:\n    bar.sync %r8, 64;\n    shl.b32 %r16, %r3, 2;\n    xor.b32 %r16, %r16, 4;\n    add.u32 "
        "%r16, %r16, %r5;\n";
    out +=
        "    .loc 1 30 0\n    ld.shared.u32 %r17, [%r16];\n    add.u32 %r10, %r10, 1;\n    setp.ge.u32 %p3, "
        "%r10, %r1;\n    @%p3 bra END;\n";
    if (waits_for_empty) out += "    bar.arrive 2, 64;\n";
    return ring_kernel(1, out + "    bra LOAD;\n");
}

TEST(Rings, NamedBarriersOrderWhatTheirThreadsDidBefore) {
    expect_right(handed_on(true, false), 1, 5, 64);
    expect_fault(handed_on(false, false), 1, 5, 64, HazardKind::Race, "and nothing orders the two");
    expect_fault(handed_on(true, true), 1, 5, 64, HazardKind::Race, "and nothing orders the two");
}

// All threads wait at an mbarrier for the phase of the state that their arrival gave them.
std::string by_state(bool second_wait) {
    const std::string wait =
        "    mbarrier.arrive.shared::cta.b64 %d5, [%r6];\nWAIT{0}:\n"
        "    mbarrier.try_wait.shared::cta.b64 %p5, [%r6], %d5;\n    @!%p5 bra WAIT{0};\n";
    std::string out = init_ring({.stages = 1}, 64, 1);
    out +=
        "    mov.u32 %r10, 0;\n    shl.b32 %r16, %r2, 2;\n    xor.b32 %r17, %r16, 128;\n    add.u32 %r16, "
        "%r16, %r5;\n    add.u32 %r17, %r17, %r5;\n";
    out += "TRIP:\n    .loc 1 20 0\n    st.shared.u32 [%r16], %r10;\n" + fmt::format(fmt::runtime(wait), 1);
    out += "    .loc 1 22 0\n    ld.shared.u32 %r18, [%r17];\n";
    if (second_wait) out += fmt::format(fmt::runtime(wait), 2);
    return ring_kernel(
        1, out + "    add.u32 %r10, %r10, 1;\n    setp.lt.u32 %p3, %r10, %r1;\n    @%p3 bra TRIP;\n");
}

TEST(Rings, AWaitForTheStateOfAnArrivalOrders) {
    expect_right(by_state(true), 1, 5, 64);
    expect_fault(by_state(false), 1, 5, 64, HazardKind::Race, "and nothing orders the two");
}

// cp.async in groups, beside a barrier with a number: each thread copies 16 bytes ahead.
std::string in_groups(uint32_t left) {
    std::string out = "    mov.u32 %r10, 0;\n    shl.b32 %r16, %r2, 4;\n    xor.b32 %r17, %r16, 512;\n";
    const std::string copy =
        "    and.b32 %r12, {0}, 1;\n    mad.lo.u32 %r13, %r12, 1024, %r5;\n    add.u32 %r13, %r13, %r16;\n"
        "    mul.wide.u32 %d3, {0}, 1024;\n    cvt.u64.u32 %d4, %r16;\n    add.u64 %d3, %d3, %d4;\n    "
        "add.u64 %d3, %d3, %d1;\n"
        "    .loc 1 20 0\n    cp.async.cg.shared.global [%r13], [%d3], 16;\n    cp.async.commit_group;\n";
    out += fmt::format(fmt::runtime(copy), "%r10");
    out += "TRIP:\n    add.u32 %r11, %r10, 1;\n    min.u32 %r11, %r11, 5;\n" +
           fmt::format(fmt::runtime(copy), "%r11");
    out += fmt::format("    cp.async.wait_group {};\n    bar.sync 1, 64;\n", left);
    out +=
        "    and.b32 %r12, %r10, 1;\n    mad.lo.u32 %r13, %r12, 1024, %r5;\n    add.u32 %r13, %r13, %r17;\n";
    out +=
        "    .loc 1 30 0\n    ld.shared.u32 %r18, [%r13];\n    bar.sync 1, 64;\n    add.u32 %r10, %r10, 1;\n";
    return ring_kernel(2, out + "    setp.lt.u32 %p3, %r10, 5;\n    @%p3 bra TRIP;\n");
}

TEST(Rings, GroupsOfCopiesAreWaitedForByTheirThreads) {
    expect_right(in_groups(1), 2, 6, 64);
    expect_right(in_groups(0), 2, 6, 64);
    expect_fault(in_groups(2), 2, 6, 64, HazardKind::ReadBeforeWait, "nothing orders that behind its wait");
}

// Lanes of a warp load what their neighbours have copied. sync: what stands between the wait and the load.
std::string copied_to_neighbours(const std::string& wait, const std::string& sync) {
    return ring_kernel(1, fmt::format(R"(
    shl.b32 %r10, %r2, 2;
    add.u32 %r11, %r5, %r10;
    cvt.u64.u32 %d3, %r10;
    add.u64 %d4, %d1, %d3;
    .loc 1 10 0
    cp.async.ca.shared.global [%r11], [%d4], 4;
    cp.async.commit_group;
    {};
    {}
    xor.b32 %r12, %r11, 4;
    .loc 1 20 0
    ld.shared.f32 %f1, [%r12];
    add.u64 %d5, %d2, %d3;
    st.global.f32 [%d5], %f1;
)",
                                      wait, sync));
}

TEST(Rings, LanesOfAWarpWaitForEachOthersCopies) {
    for (const char* const wait : {"cp.async.wait_group 0", "cp.async.wait_all"}) {
        SCOPED_TRACE(wait);
        expect_right(copied_to_neighbours(wait, "bar.warp.sync -1;"), 1, 1, 64);
        expect_right(copied_to_neighbours(wait, "bar.sync 0;"), 1, 1, 64);
        expect_fault(copied_to_neighbours(wait, ""), 1, 1, 64, HazardKind::ReadBeforeWait, "wait");
    }
}

// All lanes of a warp copy out: the same to the same place, which is as good as one copy, or each its own.
TEST(Rings, LanesThatCopyTheSameAreHarmless) {
    for (const bool alike : {true, false}) {
        const std::string from = alike ? "%r5" : "%r11";
        const std::string ptx = ring_kernel(
            1,
            "    shl.b32 %r10, %r2, 4;\n    add.u32 %r11, %r5, %r10;\n    st.shared.v4.u32 [%r11], {%r2, "
            "%r2, %r2, "
            "%r2};\n    fence.proxy.async.shared::cta;\n    bar.sync 0;\n    .loc 1 15 0\n    "
            "cp.async.bulk.global.shared::cta.bulk_group [%d2], [" +
                from + "], 16;\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n");
        const Judged found = judged(ptx, 1, 1, 32, {});
        ASSERT_EQ(found.found.size(), 1u) << found.text;
        EXPECT_EQ(found.found.front().kind, alike ? HazardKind::SameValue : HazardKind::Race) << found.text;
        EXPECT_EQ(found.found.front().severity, alike ? Severity::Remark : Severity::Fault);
    }
}

// Lanes add in bulk to one place: each element is updated as one, in whatever order.
TEST(Rings, CopiesThatUpdateNeedNoOrder) {
    for (const bool update : {true, false}) {
        const std::string ptx = ring_kernel(
            1,
            std::string("    st.shared.v4.u32 [%r5], {%r1, %r1, %r1, %r1};\n    "
                        "fence.proxy.async.shared::cta;\n    bar.sync 0;\n    .loc 1 15 0\n    ") +
                (update ? "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"
                        : "cp.async.bulk.global.shared::cta.bulk_group") +
                " [%d2], [%r5], 16;\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n    "
                "bar.sync 0;\n");
        const Judged found = judged(ptx, 1, 1, 64, {});
        const bool races = std::ranges::any_of(found.found, [](const Hazard& h) {
            return h.kind == HazardKind::Race && h.space == Space::Global;
        });
        EXPECT_EQ(races, !update) << found.text;
    }
}

// One lane says for all of its warp that a tile has been read: right where all have read it by one instruction.
std::string read_as_one(const std::string& read) {
    return ring_kernel(1, R"(
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [empty], 1;
READY:
    shl.b32 %r10, %r3, 2;
    add.u32 %r11, %r5, %r10;
    setp.ge.u32 %p2, %r2, 32;
    @!%p2 st.shared.u32 [%r11], %r1;
    bar.sync 0;
    @%p2 bra OTHER;
    .loc 1 20 0
    )" + read + R"(
    @!%p1 mbarrier.arrive.shared::cta.b64 _, [empty];
    cvt.u64.u32 %d3, %r10;
    add.u64 %d4, %d2, %d3;
    st.global.u32 [%d4], %r12;
    bra END;
OTHER:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [empty], 0;
    @!%p3 bra OTHER;
    .loc 1 30 0
    st.shared.u32 [%r11], %r2;
)");
}

TEST(Rings, WhatAWarpReadsAsOneIsReadForAllItsLanes) {
    const std::string rows = "and.b32 %r13, %r3, 7; shl.b32 %r13, %r13, 4; add.u32 %r13, %r5, %r13;\n    ";
    expect_right(read_as_one(rows + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r12}, [%r13];"), 1, 1, 64);
    expect_right(read_as_one("ld.shared.u32 %r12, [%r11];\n    bar.warp.sync -1;"), 1, 1, 64);
    expect_fault(read_as_one("ld.shared.u32 %r12, [%r11];"), 1, 1, 64, HazardKind::Race,
                 "and nothing orders the two");
}

}  // namespace
}  // namespace tilescope::kernels
