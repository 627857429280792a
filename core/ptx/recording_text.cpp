#include "core/ptx/recording_text.h"

#include <fmt/format.h>

#include "core/ptx/instrument.h"

namespace tilescope::ptx {

namespace {

// Begins a chunk for the part of the warp whose leader runs this: %ts_clo, %ts_chi is its first slot, or
// 0 where the pool is used up. %ts_first is the clock of the record that will stand first.
std::string begin_chunk(const RecordingText& text) {
    return fmt::format(R"(
    ld.param.u64 %ts_d0, [{control}];
    mov.u32 %ts_clo, 0;
    mov.u32 %ts_chi, 0;
    ld.volatile.global.u32 %ts_t0, [%ts_d0];
    ld.global.u32 %ts_t1, [%ts_d0+4];
    setp.ge.u32 %ts_p0, %ts_t0, %ts_t1;
    @%ts_p0 bra {{have}};
    atom.global.add.u32 %ts_t0, [%ts_d0], 1;
    setp.ge.u32 %ts_p0, %ts_t0, %ts_t1;
    @%ts_p0 bra {{have}};
    ld.global.u64 %ts_d1, [%ts_d0+8];
    ld.global.u64 %ts_d2, [%ts_d0+16];
    mul.wide.u32 %ts_d3, %ts_t0, {chunk};
    add.u64 %ts_d1, %ts_d1, %ts_d3;
    max.u64 %ts_d1, %ts_d1, %ts_d2;
    mov.u64 %ts_d2, %clock64;
    cvt.u32.u64 %ts_t0, %ts_d2;
    sub.u32 %ts_t0, %ts_t0, %ts_first;
    cvt.u64.u32 %ts_d3, %ts_t0;
    sub.u64 %ts_d2, %ts_d2, %ts_d3;
    st.global.u64 [%ts_d1+8], %ts_d2;
    st.global.u32 [%ts_d1], %ts_block;{thread}
    shr.u32 %ts_t1, %ts_t0, 5;
    and.b32 %ts_t0, %ts_t0, 31;
    selp.b32 %ts_t0, 255, %ts_t0, %ts_whole;
    shl.b32 %ts_t0, %ts_t0, 8;
    or.b32 %ts_t0, %ts_t0, %ts_t1;
    st.global.u32 [%ts_d1+4], %ts_t0;
    mov.u32 %ts_t0, %smid;
    mov.u32 %ts_t1, 0;
    st.global.v4.b32 [%ts_d1+16], {{{{%ts_t1, %ts_t0, %ts_t1, %ts_t1}}}};
    add.u64 %ts_d1, %ts_d1, 32;
    mov.b64 {{{{%ts_clo, %ts_chi}}}}, %ts_d1;)",
                       fmt::arg("control", text.control), fmt::arg("chunk", text.chunk_bytes),
                       fmt::arg("thread", kThreadOfBlock));
}

// Opens a slow path: who leads this part of the warp, and which stream is its.
std::string slow_open(const RecordingText& text) {
    return fmt::format(R"(
    mov.u32 %ts_t0, %lanemask_lt;
    and.b32 %ts_t0, %ts_t0, %ts_m;
    setp.eq.u32 %ts_lead, %ts_t0, 0;
    setp.eq.u32 %ts_whole, %ts_m, %ts_full;
    selp.b32 %ts_clo, %ts_wlo, %ts_llo, %ts_whole;
    selp.b32 %ts_chi, %ts_whi, %ts_lhi, %ts_whole;
    mov.u32 %ts_t0, %ctaid.y;
    ld.param.u32 %ts_t1, [{y0}];
    sub.u32 %ts_t0, %ts_t0, %ts_t1;
    mov.u32 %ts_t1, %ctaid.z;
    ld.param.u32 %ts_t2, [{height}];
    mad.lo.u32 %ts_t0, %ts_t1, %ts_t2, %ts_t0;
    ld.param.u32 %ts_t1, [{width}];
    mov.u32 %ts_t2, %ctaid.x;
    mad.lo.u32 %ts_block, %ts_t0, %ts_t1, %ts_t2;
    ld.param.u32 %ts_t1, [{x0}];
    sub.u32 %ts_block, %ts_block, %ts_t1;)",
                       fmt::arg("x0", text.x0), fmt::arg("y0", text.y0), fmt::arg("width", text.width),
                       fmt::arg("height", text.height));
}

// Sees to it that the leader's chunk has room, or that its cursor is 0. last: the chunk's bytes but those that are needed;
// a number or a register. pads: whether some of the chunk before may be left over.
std::string make_room(const RecordingText& text, const std::string& label, const std::string& last,
                      bool pads) {
    std::string room =
        fmt::format(R"(
    and.b32 %ts_t0, %ts_clo, {low};
    sub.u32 %ts_t1, %ts_t0, 1;
    setp.ge.u32 %ts_p0, %ts_t1, {last};
    and.pred %ts_p0, %ts_p0, %ts_lead;
    @!%ts_p0 bra {label};)",
                    fmt::arg("low", text.chunk_bytes - 1), fmt::arg("last", last), fmt::arg("label", label));
    if (pads) {
        room += R"(
    setp.eq.u32 %ts_p0, %ts_t0, 0;
    mov.b64 %ts_d0, {%ts_clo, %ts_chi};
    mov.u32 %ts_t0, 0;
    @!%ts_p0 st.global.v4.b32 [%ts_d0], {%ts_t0, %ts_t0, %ts_t0, %ts_t0};)";
    }
    return room + fmt::format(fmt::runtime(begin_chunk(text)), fmt::arg("have", label)) + "\n" + label + ":";
}

std::string make_room(const RecordingText& text, const std::string& label, uint32_t bytes) {
    return make_room(text, label, std::to_string(text.chunk_bytes - bytes), bytes > kSlotBytes);
}

// Counts requests that found no room. %ts_p0: whether the leader has some.
std::string count_dropped(const RecordingText& text, size_t requests = 1) {
    return fmt::format(R"(
    setp.eq.u32 %ts_p0, %ts_chi, 0;
    setp.eq.and.u32 %ts_p0, %ts_clo, 0, %ts_p0;
    and.pred %ts_p1, %ts_p0, %ts_lead;
    not.pred %ts_p0, %ts_p0;
    and.pred %ts_p0, %ts_p0, %ts_lead;
    ld.param.u64 %ts_d0, [{control}];
    ld.global.u64 %ts_d0, [%ts_d0+24];
    mul.wide.u32 %ts_d1, %ts_block, 4;
    add.u64 %ts_d0, %ts_d0, %ts_d1;
    @%ts_p1 red.global.add.u32 [%ts_d0], {requests};)",
                       fmt::arg("control", text.control), fmt::arg("requests", requests));
}

// Room for so many singles in the leader's stream, the first of them with that clock.
std::string room_for_singles(const RecordingText& text, const std::string& label, const char* clock,
                             size_t singles) {
    return fmt::format("\n    mov.u32 %ts_first, {};{}{}", clock,
                       make_room(text, label, static_cast<uint32_t>(singles) * kSlotBytes),
                       count_dropped(text, singles));
}

// One single where there is room for it. low, clock, high: registers.
std::string put_in_room(const RecordingText& text, const char* low, const char* clock, const char* high,
                        uint32_t code) {
    return fmt::format(R"(
    mad.lo.u32 %ts_t0, {clock}, {scale}, {code};
    mov.b64 %ts_d0, {{%ts_clo, %ts_chi}};
    @%ts_p0 st.global.v4.b32 [%ts_d0], {{{low}, %ts_t0, {high}, %ts_m}};
    @%ts_p0 add.u32 %ts_clo, %ts_clo, 16;)",
                       fmt::arg("clock", clock), fmt::arg("scale", uint64_t{1} << text.code_bits),
                       fmt::arg("code", code), fmt::arg("low", low), fmt::arg("high", high));
}

std::string put_single(const RecordingText& text, const std::string& label, const char* low,
                       const char* clock, const char* high, uint32_t code) {
    return room_for_singles(text, label, clock, 1) + put_in_room(text, low, clock, high, code);
}

// A whole warp whose chunk has room goes on behind this; the others go to $ts_slow_<number>.
std::string unless_slow(const RecordingText& text, uint32_t number) {
    return fmt::format(R"(
    activemask.b32 %ts_m;
    mov.u32 %ts_clock, %clock;
    and.b32 %ts_t0, %ts_wlo, {};
    setp.eq.u32 %ts_q, %ts_t0, 0;
    setp.ne.or.u32 %ts_q, %ts_m, %ts_full, %ts_q;
    @%ts_q bra.uni $ts_slow_{};)",
                       text.chunk_bytes - 1, number);
}

// A whole warp whose chunk has room writes one slot; the others go to $ts_slow_<number> and come back. words:
// the slot's, %ts_tag among them, which is made of `clock` and `code`.
std::string fast_path(const RecordingText& text, uint32_t number, const char* clock, uint32_t code,
                      const char* words) {
    return unless_slow(text, number) + fmt::format(R"(
    mad.lo.u32 %ts_tag, {clock}, {scale}, {code};
    mov.b64 %ts_d0, {{%ts_wlo, %ts_whi}};
    @%ts_low st.global.v4.b32 [%ts_d0], {{{words}}};
    add.u32 %ts_wlo, %ts_wlo, 16;
$ts_back_{number}:)",
                                                   fmt::arg("number", number), fmt::arg("clock", clock),
                                                   fmt::arg("scale", uint64_t{1} << text.code_bits),
                                                   fmt::arg("code", code), fmt::arg("words", words));
}

std::string slow_label(uint32_t number) { return fmt::format("$ts_slow_{}:", number); }

// The leader's cursor, in %ts_t1 and %ts_t2 of all lanes.
constexpr const char* kLeadersCursor = R"(
    neg.s32 %ts_t0, %ts_m;
    and.b32 %ts_t0, %ts_t0, %ts_m;
    sub.u32 %ts_t0, %ts_t0, 1;
    popc.b32 %ts_t0, %ts_t0;
    shfl.sync.idx.b32 %ts_t1, %ts_clo, %ts_t0, 31, %ts_m;
    shfl.sync.idx.b32 %ts_t2, %ts_chi, %ts_t0, 31, %ts_m;)";

// Puts the cursor back where it came from: in all lanes, or in the leader.
std::string slow_close(uint32_t number) {
    return std::string(kLeadersCursor) + fmt::format(R"(
    @%ts_whole mov.u32 %ts_wlo, %ts_t1;
    @%ts_whole mov.u32 %ts_whi, %ts_t2;
    not.pred %ts_p0, %ts_whole;
    and.pred %ts_p0, %ts_p0, %ts_lead;
    @%ts_p0 mov.u32 %ts_llo, %ts_clo;
    @%ts_p0 mov.u32 %ts_lhi, %ts_chi;
    bra.uni $ts_back_{};
)",
                                                     number);
}

}  // namespace

std::vector<Register> recording_registers() {
    std::vector<Register> registers;
    for (const char* name : {"full", "wlo", "whi", "llo", "lhi", "bad", "a",   "aclock", "m",     "clock",
                             "lo",   "hi",  "tag", "t0",  "t1",  "t2",  "clo", "chi",    "first", "block",
                             "ahi",  "r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",     "r7",    "bytes"})
        registers.push_back({fmt::format("%ts_{}", name), Type::B32});
    for (const char* name : {"low", "p0", "p1", "q", "lead", "whole", "apart", "held"})
        registers.push_back({fmt::format("%ts_{}", name), Type::Pred});
    for (const char* name : {"d0", "d1", "d2", "d3"})
        registers.push_back({fmt::format("%ts_{}", name), Type::B64});
    return registers;
}

std::string entry_text(const RecordingText& text, bool windowed, const std::string& plain_label,
                       const std::vector<std::string>& symbols) {
    std::string result;
    if (windowed) {
        result += fmt::format(R"(
    mov.u32 %ts_t0, %ctaid.x;
    ld.param.u32 %ts_t1, [{x0}];
    sub.u32 %ts_t0, %ts_t0, %ts_t1;
    ld.param.u32 %ts_t1, [{width}];
    setp.ge.u32 %ts_p0, %ts_t0, %ts_t1;
    mov.u32 %ts_t0, %ctaid.y;
    ld.param.u32 %ts_t1, [{y0}];
    sub.u32 %ts_t0, %ts_t0, %ts_t1;
    ld.param.u32 %ts_t1, [{height}];
    setp.ge.or.u32 %ts_p0, %ts_t0, %ts_t1, %ts_p0;
    @%ts_p0 bra.uni {plain};)",
                              fmt::arg("x0", text.x0), fmt::arg("y0", text.y0), fmt::arg("width", text.width),
                              fmt::arg("height", text.height), fmt::arg("plain", plain_label));
    }
    result += R"(
    activemask.b32 %ts_full;
    mov.u32 %ts_t0, %lanemask_lt;
    and.b32 %ts_t0, %ts_t0, %ts_full;
    setp.eq.u32 %ts_low, %ts_t0, 0;
    mov.u32 %ts_wlo, 0;
    mov.u32 %ts_whi, 0;
    mov.u32 %ts_llo, 0;
    mov.u32 %ts_lhi, 0;
    mov.u32 %ts_bad, 0;
    setp.ne.u32 %ts_held, %ts_full, %ts_full;)";
    if (!symbols.empty()) {  // every thread would write the same: the first of each block does
        result += fmt::format(R"(
    mov.u32 %ts_t0, %tid.x;
    mov.u32 %ts_t1, %tid.y;
    or.b32 %ts_t0, %ts_t0, %ts_t1;
    mov.u32 %ts_t1, %tid.z;
    or.b32 %ts_t0, %ts_t0, %ts_t1;
    setp.eq.u32 %ts_p0, %ts_t0, 0;
    ld.param.u64 %ts_d0, [{}];)",
                              text.control);
        for (size_t i = 0; i < symbols.size(); ++i) {
            result += fmt::format("\n    mov.u64 %ts_d1, {};\n    @%ts_p0 st.global.u64 [%ts_d0+{}], %ts_d1;",
                                  symbols[i], 40 + 8 * i);
        }
    }
    return result;
}

std::string exit_text(const RecordingText& text, uint32_t number) {
    const auto close = [&](const char* low, const char* high) {
        return fmt::format(
            R"(
    and.b32 %ts_t0, {low}, {mask};
    setp.ne.u32 %ts_p0, %ts_t0, 0;{only}
    mov.b64 %ts_d2, {{{low}, {high}}};
    and.b64 %ts_d2, %ts_d2, {chunk};
    max.u64 %ts_d2, %ts_d2, %ts_d1;
    mov.u64 %ts_d3, %clock64;
    @%ts_p0 st.global.u32 [%ts_d2+16], %ts_t0;
    @%ts_p0 st.global.u64 [%ts_d2+24], %ts_d3;)",
            fmt::arg("low", low), fmt::arg("high", high), fmt::arg("mask", text.chunk_bytes - 1),
            fmt::arg("chunk", -static_cast<int64_t>(text.chunk_bytes)),
            fmt::arg("only", low == std::string("%ts_wlo") ? "\n    and.pred %ts_p0, %ts_p0, %ts_low;" : ""));
    };
    return fmt::format(R"(
    ld.param.u64 %ts_d0, [{control}];
    or.b32 %ts_t0, %ts_wlo, %ts_llo;
    or.b32 %ts_t0, %ts_t0, %ts_bad;
    setp.eq.u32 %ts_p0, %ts_t0, 0;
    @%ts_p0 bra $ts_closed_{number};
    ld.global.u64 %ts_d1, [%ts_d0+16];{warp}{lane}
    setp.ne.u32 %ts_p0, %ts_bad, 0;
    @%ts_p0 red.global.or.b32 [%ts_d0+32], 1;
$ts_closed_{number}:)",
                       fmt::arg("control", text.control), fmt::arg("warp", close("%ts_wlo", "%ts_whi")),
                       fmt::arg("lane", close("%ts_llo", "%ts_lhi")), fmt::arg("number", number));
}

Sequence single_text(const RecordingText& text, const SiteText& site) {
    Sequence sequence;
    sequence.before = site.address + fast_path(text, site.number, "%ts_clock", site.single,
                                               "%ts_lo, %ts_tag, %ts_hi, %ts_m");
    sequence.slow = slow_label(site.number) + slow_open(text) +
                    put_single(text, fmt::format("$ts_have_{}", site.number), "%ts_lo", "%ts_clock", "%ts_hi",
                               site.single) +
                    slow_close(site.number);
    return sequence;
}

namespace {

// A single, and something of each lane behind it: `store`, where %ts_d0 + 16 is the place of lane 0's, and %ts_t0 the
// lane, for those with %ts_q.
Sequence lanes_text(const RecordingText& text, const SiteText& site, uint32_t bytes,
                    const std::string& store) {
    Sequence sequence;
    // Every lane needs the leader's cursor, so all of it is a slow path, in its place.
    sequence.before =
        site.address + site.check + R"(
    activemask.b32 %ts_m;
    mov.u32 %ts_clock, %clock;
    mov.u32 %ts_first, %ts_clock;)" +
        slow_open(text) + make_room(text, fmt::format("$ts_have_{}", site.number), bytes) +
        count_dropped(text) + kLeadersCursor +
        fmt::format(R"(
    mad.lo.u32 %ts_tag, %ts_clock, {scale}, {code};
    mov.b64 %ts_d0, {{%ts_t1, %ts_t2}};
    setp.ne.u64 %ts_q, %ts_d0, 0;
    @%ts_p0 st.global.v4.b32 [%ts_d0], {{%ts_lo, %ts_tag, %ts_hi, %ts_m}};
    mov.u32 %ts_t0, %laneid;{store}
    @%ts_p0 add.u32 %ts_clo, %ts_clo, {bytes};)",
                    fmt::arg("scale", uint64_t{1} << text.code_bits), fmt::arg("code", site.single),
                    fmt::arg("store", store), fmt::arg("bytes", bytes)) +
        slow_close(site.number) + fmt::format("$ts_back_{}:", site.number);
    return sequence;
}

}  // namespace

Sequence escape_text(const RecordingText& text, const SiteText& site) {
    return lanes_text(text, site, kEscapeBytes, R"(
    mul.wide.u32 %ts_d1, %ts_t0, 8;
    add.u64 %ts_d0, %ts_d0, %ts_d1;
    mov.b64 %ts_d1, {%ts_lo, %ts_hi};
    @%ts_q st.global.u64 [%ts_d0+16], %ts_d1;)");
}

Sequence narrow_text(const RecordingText& text, const SiteText& site, const NarrowAddresses& narrow) {
    const std::string some =
        narrow.lanes == kWarpSize
            ? ""
            : fmt::format("\n    setp.lt.and.u32 %ts_q, %ts_t0, {}, %ts_q;", narrow.lanes);
    return lanes_text(text, site, narrow.record_bytes(),
                      fmt::format(R"(
    mul.wide.u32 %ts_d1, %ts_t0, {};
    add.u64 %ts_d0, %ts_d0, %ts_d1;{}
    shr.u32 %ts_t0, %ts_lo, {};
    @%ts_q st.global.u{} [%ts_d0+16], %ts_t0;)",
                                  narrow.bytes, some, narrow.shift, 8 * narrow.bytes));
}

Sequence words_text(const RecordingText& text, const SiteText& site, const std::vector<std::string>& words) {
    const auto count = static_cast<uint32_t>(words.size());
    Sequence sequence;
    sequence.before =
        site.address +
        fmt::format(
            R"(
    activemask.b32 %ts_m;
    mov.u32 %ts_clock, %clock;
    mov.u32 %ts_first, %ts_clock;{open}
    popc.b32 %ts_bytes, %ts_m;
    mad.lo.u32 %ts_bytes, %ts_bytes, {lane}, {more};
    and.b32 %ts_bytes, %ts_bytes, {whole};
    sub.u32 %ts_t2, {chunk}, %ts_bytes;{room}{dropped}{cursor}
    mad.lo.u32 %ts_tag, %ts_clock, {scale}, {code};
    mov.b64 %ts_d3, {{%ts_t1, %ts_t2}};
    setp.ne.u64 %ts_q, %ts_d3, 0;
    @%ts_p0 st.global.v4.b32 [%ts_d3], {{%ts_lo, %ts_tag, %ts_hi, %ts_m}};
    mov.u32 %ts_t0, %lanemask_lt;
    and.b32 %ts_t0, %ts_t0, %ts_m;
    popc.b32 %ts_t0, %ts_t0;
    mul.wide.u32 %ts_d0, %ts_t0, {lane};
    add.u64 %ts_d3, %ts_d3, %ts_d0;
    @%ts_q st.global.u32 [%ts_d3+16], %ts_lo;
    @%ts_q st.global.u32 [%ts_d3+20], %ts_hi;)",
            fmt::arg("open", slow_open(text)), fmt::arg("lane", words_lane_bytes(count)),
            fmt::arg("more", 2 * kSlotBytes - 1), fmt::arg("whole", UINT32_MAX - kSlotBytes + 1),
            fmt::arg("chunk", text.chunk_bytes),
            fmt::arg("room", make_room(text, fmt::format("$ts_have_{}", site.number), "%ts_t2", true)),
            fmt::arg("dropped", count_dropped(text)), fmt::arg("cursor", kLeadersCursor),
            fmt::arg("scale", uint64_t{1} << text.code_bits), fmt::arg("code", site.single));
    for (uint32_t i = 0; i < count; ++i)
        sequence.before +=
            words[i] + fmt::format("\n    @%ts_q st.global.u32 [%ts_d3+{}], %ts_lo;", 24 + 4 * i);
    sequence.before += "\n    @%ts_p0 add.u32 %ts_clo, %ts_clo, %ts_bytes;" + slow_close(site.number) +
                       fmt::format("$ts_back_{}:", site.number);
    return sequence;
}

std::string pair_first_text(const SiteText& site) {
    return site.address + site.check + R"(
    mov.u32 %ts_a, %ts_lo;
    mov.u32 %ts_ahi, %ts_hi;
    mov.u32 %ts_aclock, %clock;)";
}

Sequence pair_second_text(const RecordingText& text, const SiteText& first, const SiteText& second,
                          uint32_t code) {
    Sequence sequence;
    sequence.before = second.address + second.check +
                      fast_path(text, second.number, "%ts_aclock", code, "%ts_a, %ts_tag, %ts_lo, %ts_clock");
    sequence.slow = slow_label(second.number) + slow_open(text) +
                    put_single(text, fmt::format("$ts_have_{}", second.number), "%ts_a", "%ts_aclock",
                               "%ts_ahi", first.single) +
                    put_single(text, fmt::format("$ts_more_{}", second.number), "%ts_lo", "%ts_clock",
                               "%ts_hi", second.single) +
                    slow_close(second.number);
    return sequence;
}

Sequence held_first_text(const RecordingText& text, const SiteText& site) {
    Sequence sequence;
    sequence.before = pair_first_text(site) + fmt::format(R"(
    activemask.b32 %ts_m;
    setp.eq.u32 %ts_held, %ts_m, %ts_full;
    @!%ts_held bra.uni $ts_slow_{0};
$ts_back_{0}:)",
                                                          site.number);
    sequence.slow = slow_label(site.number) + slow_open(text) +
                    put_single(text, fmt::format("$ts_have_{}", site.number), "%ts_a", "%ts_aclock",
                               "%ts_ahi", site.single) +
                    slow_close(site.number);
    return sequence;
}

Sequence held_second_text(const RecordingText& text, const SiteText& first, const SiteText& second,
                          uint32_t code) {
    const uint64_t scale = uint64_t{1} << text.code_bits;
    Sequence sequence;
    sequence.before = second.address + second.check + unless_slow(text, second.number) +
                      fmt::format(R"(
    mad.lo.u32 %ts_t0, %ts_aclock, {scale}, {code};
    mad.lo.u32 %ts_tag, %ts_clock, {scale}, {single};
    selp.b32 %ts_tag, %ts_t0, %ts_tag, %ts_held;
    selp.b32 %ts_a, %ts_a, %ts_lo, %ts_held;
    selp.b32 %ts_lo, %ts_lo, %ts_hi, %ts_held;
    selp.b32 %ts_clock, %ts_clock, %ts_m, %ts_held;
    mov.b64 %ts_d0, {{%ts_wlo, %ts_whi}};
    @%ts_low st.global.v4.b32 [%ts_d0], {{%ts_a, %ts_tag, %ts_lo, %ts_clock}};
    add.u32 %ts_wlo, %ts_wlo, 16;
$ts_back_{number}:
    setp.ne.u32 %ts_held, %ts_full, %ts_full;)",
                                  fmt::arg("scale", scale), fmt::arg("code", code),
                                  fmt::arg("single", second.single), fmt::arg("number", second.number));
    sequence.slow = slow_label(second.number) + slow_open(text) +
                    fmt::format("\n    @!%ts_held bra.uni $ts_only_{};", second.number) +
                    put_single(text, fmt::format("$ts_held_{}", second.number), "%ts_a", "%ts_aclock",
                               "%ts_ahi", first.single) +
                    fmt::format("\n$ts_only_{}:", second.number) +
                    put_single(text, fmt::format("$ts_have_{}", second.number), "%ts_lo", "%ts_clock",
                               "%ts_hi", second.single) +
                    slow_close(second.number);
    return sequence;
}

namespace {

std::string word(uint32_t number) { return fmt::format("%ts_r{}", number % 8); }

// The register that holds a site's whole clock when its text is over.
std::string clock_of(const RunPlace& place) {
    return place.clock == RunPlace::kNone ? "%ts_aclock"
           : place.clock % 2 == 0         ? word(place.clock / 2)
                                          : "%ts_clock";
}

// The sites of a part, one by one. Their clocks follow from their low halves; the last one's is known. What makes room is
// the longest of it, so that it stands once for several.
std::string singles_text(const RecordingText& text, const RunPart& part) {
    constexpr size_t kTogether = 16;  // fit the smallest chunk
    std::string made;
    for (size_t i = 0; i < part.sites.size(); ++i) {
        const RunSite& run = part.sites[i];
        if (run.place.clock != RunPlace::kNone) {
            made += fmt::format(R"(
    shr.u32 %ts_t0, {}, {};
    sub.u32 %ts_t0, %ts_t0, %ts_aclock;
    and.b32 %ts_t0, %ts_t0, 65535;
    add.u32 %ts_aclock, %ts_aclock, %ts_t0;)",
                                word(run.place.clock / 2), run.place.clock % 2 * 16);
        }
        if (i % kTogether == 0)
            made += room_for_singles(text, fmt::format("$ts_have_{}", run.site.number), "%ts_aclock",
                                     std::min(kTogether, part.sites.size() - i));
        made += run.site.address + put_in_room(text, "%ts_lo", "%ts_aclock", "%ts_hi", run.site.single);
    }
    return made + fmt::format(R"(
    xor.b32 %ts_t0, {}, %ts_aclock;
    or.b32 %ts_bad, %ts_bad, %ts_t0;)",
                              clock_of(part.sites.back().place));
}

}  // namespace

std::string run_site_text(const RunSite& run) {
    std::string text;
    if (run.new_base) {
        text = run.site.address + run.site.check +
               fmt::format("\n    mov.u32 {}, %ts_lo;", word(run.place.base));
    }
    if (!run.first && run.place.clock == RunPlace::kNone) return text;
    text += fmt::format("\n    mov.u32 {}, %clock;", clock_of(run.place));
    if (run.place.clock != RunPlace::kNone && run.place.clock % 2 == 1) {
        const std::string both = word(run.place.clock / 2);
        text += fmt::format("\n    prmt.b32 {0}, {0}, %ts_clock, 0x5410;", both);
    }
    return text;
}

Sequence run_part_text(const RecordingText& text, const RunPart& part, const Code& run, uint32_t code) {
    const uint32_t number = part.sites.back().site.number, bytes = run.slots * kSlotBytes;
    const bool first = part.first_slot == 0;
    Sequence sequence;
    if (first) {
        sequence.before =
            fmt::format(R"(
    activemask.b32 %ts_m;
    and.b32 %ts_t0, %ts_wlo, {low};
    sub.u32 %ts_t0, %ts_t0, 1;
    setp.ge.u32 %ts_q, %ts_t0, {last};
    setp.ne.or.u32 %ts_apart, %ts_m, %ts_full, %ts_q;)",
                        fmt::arg("low", text.chunk_bytes - 1), fmt::arg("last", text.chunk_bytes - bytes));
    }
    sequence.before += fmt::format("\n    @%ts_apart bra.uni $ts_slow_{};", number);
    if (first) {
        sequence.before += fmt::format("\n$ts_room_{}:\n    mad.lo.u32 %ts_r1, %ts_aclock, {}, {};", number,
                                       uint64_t{1} << text.code_bits, code);
    }
    sequence.before += "\n    mov.b64 %ts_d0, {%ts_wlo, %ts_whi};";
    for (uint32_t slot = part.first_slot; slot < part.last_slot; ++slot) {
        sequence.before += fmt::format("\n    @%ts_low st.global.v4.b32 [%ts_d0+{}], {{", slot * kSlotBytes);
        for (uint32_t w = 4 * slot; w < 4 * slot + 4; ++w) {
            if (w % 4 > 0) sequence.before += ", ";
            sequence.before += w < part.words ? word(w) : "%ts_full";
        }
        sequence.before += "};";
    }
    if (part.last) {
        sequence.before += fmt::format(R"(
    sub.u32 %ts_t0, {}, %ts_aclock;
    shr.u32 %ts_t0, %ts_t0, 16;
    or.b32 %ts_bad, %ts_bad, %ts_t0;
    add.u32 %ts_wlo, %ts_wlo, {};)",
                                       clock_of(part.sites.back().place), bytes);
    }
    sequence.before += fmt::format("\n$ts_back_{}:", number);

    sequence.slow = slow_label(number) + "\n    activemask.b32 %ts_m;" + slow_open(text);
    if (first) {  // a whole warp that only lacked room goes on in a new chunk
        sequence.slow +=
            fmt::format(R"(
    @!%ts_whole bra.uni $ts_each_{0};
    mov.u32 %ts_first, %ts_aclock;{1}{2}
    mov.u32 %ts_wlo, %ts_t1;
    mov.u32 %ts_whi, %ts_t2;
    mov.u32 %ts_clo, %ts_t1;
    mov.u32 %ts_chi, %ts_t2;
    or.b32 %ts_t0, %ts_t1, %ts_t2;
    setp.eq.u32 %ts_apart, %ts_t0, 0;
    @!%ts_apart bra.uni $ts_room_{0};
$ts_each_{0}:)",
                        number, make_room(text, fmt::format("$ts_chunk_{}", number), bytes), kLeadersCursor);
    }
    sequence.slow += singles_text(text, part) + slow_close(number);
    return sequence;
}

}  // namespace tilescope::ptx
