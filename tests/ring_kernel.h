// Rings of stages as PTX text: warp 0 fills them with copies in bulk, the other warps add up what these bring.
//
//   producer    waits for empty[s]    expects the bytes at full[s]    copies a row of `in` to stage[s]
//   consumers   wait for full[s]      read stage[s]                   arrive at empty[s]
//
//   thread 32 + t:   sum = 3 sum + in[trip, t] over the trips; out[t] = sum
//
// so that every result has a closed form, and depends on the order of the rows.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/simt/interpreter.h"
#include "tests/launches.h"

namespace tilescope::test {

// In the kernel's source, for sentences.
enum RingLine : uint32_t {
    kInitLine = 10,
    kWaitEmptyLine = 20,
    kExpectLine = 21,
    kCopyLine = 22,
    kWaitFullLine = 30,
    kReadLine = 31,
    kArriveLine = 32,
    kStoreLine = 40
};

struct Ring {
    static constexpr uint64_t kIn = 0x10000, kOut = 0x80000;

    uint32_t stages = 3, consumers = 2, trips = 7;
    // Waits name the phase by the state that an arrival returned: consumers then arrive at full, the producer at empty.
    bool by_state = false;
    bool all_lanes = false;  // of a consumer arrive; else one for them all
    bool elects = false;     // elect.sync chooses that one; else it is lane 0
    bool one_waits = false;  // that one alone waits, and the others at bar.warp.sync
    bool tests = false;      // by mbarrier.test_wait; else by try_wait
    enum class Expects : uint8_t { InOne, BeforeCopy, BehindCopy } expects = Expects::InOne;

    // What may be wrong with it.
    bool initialises = true;
    int32_t bytes_more = 0;      // that are expected, than are copied
    uint32_t arrivals_more = 0;  // that empty expects, than come
    uint32_t empty_parity = 1;   // of the producer's first wait
    uint32_t full_parity = 0;    // of a consumer's first wait

    uint32_t threads() const { return 32 * (1 + consumers); }
    uint32_t width() const { return 32 * consumers; }  // elements of a row
    uint32_t row_bytes() const { return 4 * width(); }
    uint32_t arriving() const { return (all_lanes ? 32 : 1) * consumers; }
    uint32_t full_count() const { return by_state ? 1 + arriving() : 1; }
    uint32_t empty_count() const { return (by_state ? 1 + arriving() : arriving()) + arrivals_more; }
    uint32_t full_at(uint32_t stage) const { return stages * row_bytes() + 8 * stage; }
    uint32_t empty_at(uint32_t stage) const { return full_at(stages) + 8 * stage; }
    // Trips that use a stage.
    uint32_t uses(uint32_t stage) const { return (trips + stages - 1 - stage) / stages; }

    std::vector<uint32_t> input() const {
        std::vector<uint32_t> in(size_t{trips} * width());
        std::iota(in.begin(), in.end(), 1000);
        return in;
    }
    std::vector<uint32_t> expected() const {
        const std::vector<uint32_t> in = input();
        std::vector<uint32_t> out(width(), 0);
        for (uint32_t trip = 0; trip < trips; ++trip)
            for (uint32_t t = 0; t < width(); ++t) out[t] = 3 * out[t] + in[size_t{trip} * width() + t];
        return out;
    }

    Launch launch() const {
        Launch made = test_launch(
            {array("in", Space::Global, trips, width(), kIn), array("out", Space::Global, 1, width(), kOut),
             array("stage", Space::Shared, stages, width(), 0),
             array("full", Space::Shared, 1, stages, full_at(0)),
             array("empty", Space::Shared, 1, stages, empty_at(0))},
            {1, 1, 1}, {threads(), 1, 1});
        made.entry = "ring";
        made.arguments.push_back({"trips", ElementType::U32, trips, -1, 0});
        return made;
    }
    simt::GlobalMemory memory() const {
        simt::GlobalMemory made;
        made.buffers = {{"in", kIn, simt::Bytes(size_t{trips} * row_bytes())},
                        {"out", kOut, simt::Bytes(row_bytes())}};
        const std::vector<uint32_t> in = input();
        std::memcpy(made.buffers[0].bytes.data(), in.data(), in.size() * 4);
        return made;
    }

    std::string ptx() const {
        const std::string wait = tests ? "mbarrier.test_wait" : "mbarrier.try_wait";
        const auto wait_for = [&](const char* barrier, const char* parity, const char* label) {
            return fmt::format("{}:\n{}.shared::cta.b64 %p4, [{}], {};\n@!%p4 bra {};\n", label,
                               wait + (by_state ? "" : ".parity"), barrier, by_state ? "%d5" : parity, label);
        };
        const auto line = [](RingLine number) {
            return fmt::format(".loc 1 {} 0\n", static_cast<int>(number));
        };
        const char* const each = all_lanes ? "" : "@%p1 ";
        std::string text = fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry ring(.param .u64 ring_0, .param .u64 ring_1, .param .u32 ring_2)
{{
.reg .b32 %r<32>; .reg .b64 %d<16>; .reg .pred %p<8>;
.shared .align 128 .b8 stage[{}];
.shared .align 8 .b8 full[{}];
.shared .align 8 .b8 empty[{}];
.loc 1 1 0
ld.param.u64 %d0, [ring_0];
ld.param.u64 %d1, [ring_1];
ld.param.u32 %r0, [ring_2];
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 31;
shr.u32 %r3, %r1, 5;
mov.u32 %r4, stage;
mov.u32 %r5, full;
mov.u32 %r6, empty;
setp.ne.u32 %p0, %r1, 0;
@%p0 bra READY;
)",
                                       stages * row_bytes(), 8 * stages, 8 * stages);
        text += line(kInitLine);
        for (uint32_t s = 0; s < stages && initialises; ++s)
            text += fmt::format(
                "mbarrier.init.shared::cta.b64 [full+{0}], {1};\nmbarrier.init.shared::cta.b64 [empty+{0}], "
                "{2};\n",
                8 * s, full_count(), empty_count());
        text += "fence.proxy.async.shared::cta;\nREADY:\nbar.sync 0;\n";
        text += elects ? "elect.sync %r7|%p1, -1;\n" : "setp.eq.u32 %p1, %r2, 0;\n";
        // %r10: trip, %r11: stage, %r12: parity.
        text += R"(mov.u32 %r10, 0;
mov.u32 %r11, 0;
setp.ne.u32 %p2, %r3, 0;
@%p2 bra CONSUMER;
@!%p1 bra END;
)" + fmt::format("mov.u32 %r12, {};\n", empty_parity) +
                "PRODUCE:\nsetp.ge.u32 %p3, %r10, %r0;\n@%p3 bra END;\n" + stage_text() +
                line(kWaitEmptyLine);
        if (by_state) text += "mbarrier.arrive.shared::cta.b64 %d5, [%r15];\n";
        text += wait_for("%r15", "%r12", "WAIT_EMPTY");
        const std::string copy = line(kCopyLine) + fmt::format(R"(mul.wide.u32 %d6, %r10, {0};
add.s64 %d6, %d0, %d6;
mad.lo.u32 %r17, %r11, {0}, %r4;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%d6], {0}, [%r14];
)",
                                                               row_bytes());
        const uint32_t expect = row_bytes() + static_cast<uint32_t>(bytes_more);
        if (expects == Expects::BehindCopy) text += copy;
        text += line(kExpectLine);
        text += expects == Expects::BeforeCopy
                    ? fmt::format(
                          "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r14], {};\n"
                          "mbarrier.arrive.shared::cta.b64 _, [%r14];\n",
                          expect)
                    : fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], {};\n", expect);
        if (expects != Expects::BehindCopy) text += copy;
        text += next_text() + "bra PRODUCE;\nCONSUMER:\n" + fmt::format("mov.u32 %r12, {};\n", full_parity);
        text += line(kArriveLine);
        for (uint32_t s = 0; s < stages && by_state; ++s)
            text += fmt::format("{}mbarrier.arrive.shared::cta.b64 _, [empty+{}];\n", each, 8 * s);
        text += R"(mov.u32 %r20, 0;
sub.u32 %r21, %r1, 32;
shl.b32 %r21, %r21, 2;
CONSUME:
setp.ge.u32 %p3, %r10, %r0;
@%p3 bra STORE;
)" + stage_text() +
                line(kWaitFullLine);
        if (by_state) text += fmt::format("{}mbarrier.arrive.shared::cta.b64 %d5, [%r14];\n", each);
        if (one_waits || (by_state && !all_lanes)) text += "@!%p1 bra WAITED;\n";
        text += wait_for("%r14", "%r12", "WAIT_FULL");
        text += "WAITED:\nbar.warp.sync -1;\n" + line(kReadLine) +
                fmt::format(R"(mad.lo.u32 %r17, %r11, {}, %r4;
add.u32 %r17, %r17, %r21;
ld.shared.u32 %r18, [%r17];
mad.lo.u32 %r20, %r20, 3, %r18;
bar.warp.sync -1;
)",
                            row_bytes());
        text += line(kArriveLine) + fmt::format("{}mbarrier.arrive.shared::cta.b64 _, [%r15];\n", each);
        text += next_text() + "bra CONSUME;\nSTORE:\n" + line(kStoreLine) + R"(cvt.u64.u32 %d7, %r21;
add.s64 %d7, %d1, %d7;
st.global.u32 [%d7], %r20;
END:
ret;
}
.file 1 "ring.cu"
)";
        return text;
    }

private:
    static Array array(const char* name, Space space, uint32_t rows, uint32_t cols, uint64_t base) {
        const bool barriers = space == Space::Shared && rows == 1;
        Array made = test_array(name, space, space == Space::Shared ? ArrayRole::Shared : ArrayRole::InOut,
                                rows, cols, base, space == Space::Shared ? name : "");
        made.type = barriers ? ElementType::U64 : ElementType::U32;
        if (barriers) made.rank = 1;
        return made;
    }
    // %r14: full[s], %r15: empty[s]
    static std::string stage_text() {
        return "shl.b32 %r13, %r11, 3;\nadd.u32 %r14, %r5, %r13;\nadd.u32 %r15, %r6, %r13;\n";
    }
    std::string next_text() const {
        return fmt::format(R"(add.u32 %r10, %r10, 1;
add.u32 %r11, %r11, 1;
setp.eq.u32 %p5, %r11, {};
@%p5 xor.b32 %r12, %r12, 1;
@%p5 mov.u32 %r11, 0;
)",
                           stages);
    }
};

}  // namespace tilescope::test
