// Copies in bulk of bytes that lie side by side: when they are there, whose they are, against a twin; and what is wrong.
#include <random>

#include <gtest/gtest.h>

#include "tests/twin/mbarrier.h"
#include "tests/unit/simt_words.h"

namespace tilescope::simt {
namespace {

using test::WordRun, test::WordStep;

constexpr uint32_t kTileWords = 4096, kBufferWords = 8192;

// %t is the thread; %i, %o: in and out, whose words are 1000 + i and 0; tile holds 16 KiB, bar is an mbarrier that expects
// one arrival.
WordRun bulk_kernel(const std::string& body, uint32_t threads = 32) {
    WordRun run;
    run.program = test::program_of(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
.reg .b32 %t; .reg .b32 %r<16>; .reg .b64 %i; .reg .b64 %o; .reg .b64 %d<9>; .reg .pred %p<9>;
.shared .align 128 .b8 tile[16384];
.shared .align 8 .b8 bar[8];
.loc 1 5 0
ld.param.u64 %i, [k_0];
ld.param.u64 %o, [k_1];
mov.u32 %t, %tid.x;
mov.u32 %r0, tile;
mov.u32 %r1, 7;
setp.eq.u32 %p0, %t, 0;
@%p0 mbarrier.init.shared::cta.b64 [bar], 1;
bar.sync 0;
.loc 1 20 0
)" + body + "\nret;\n}\n.file 1 \"k.cu\"\n",
                                   "k");
    run.launch.block = {threads, 1, 1};
    test::give_tile_and_barrier(run, kBufferWords, kTileWords);
    for (uint32_t i = 0; i < kBufferWords; ++i) {
        const uint32_t word = 1000 + i;
        std::memcpy(run.memory.buffers[0].bytes.data() + size_t{4} * i, &word, 4);
    }
    return run;
}

const std::string kToShared = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ",
                  kToGlobal = "cp.async.bulk.global.shared::cta.bulk_group ";

std::string wait_text(uint32_t parity = 0) {
    return fmt::format("W{0}:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], {0};\n@!%p1 bra W{0};\n",
                       parity);
}

TEST(BulkCopies, AreThereFromTheWaitOn) {
    for (const bool values : {false, true}) {
        WordRun run = bulk_kernel(R"(
@!%p0 bra END;
st.shared.u32 [tile+28], %r1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
)" + kToShared + R"([tile+16], [%i+32], 64, [bar];
st.global.u32 [%i+44], %r1;
ld.shared.u32 %r2, [tile+28];
)" + wait_text() + R"(ld.shared.u32 %r3, [tile+28];
ld.shared.u32 %r4, [tile+80];
st.global.v4.u32 [%o], {%r2, %r3, %r4, %r1};
END:)");
        run.options.values = values;
        ASSERT_EQ(run.fault(), "");
        const auto out = run.words_of_buffer(1);
        EXPECT_EQ(out[0], 7u);           // before the wait
        EXPECT_EQ(out[1], 1011u);        // word 3 of the copy, as `in` was when it was asked for
        EXPECT_EQ(out[2], 0xFFFFFFFFu);  // behind its last byte
        ASSERT_EQ(run.landed.size(), 1u);
        const WordStep& store = run.steps[run.landed[0].first];
        EXPECT_EQ(run.site_of(store).kind, ptx::SiteKind::Store);
        EXPECT_EQ(store.address[0], 16u);
        EXPECT_EQ(store.words[0][0], 64u);
        EXPECT_EQ(store.words[0][1], 4 * kTileWords);
    }
}

// out[0..2] is written by three groups of copies; what of it is there behind a wait.
TEST(BulkCopies, WaitingLeavesTheYoungestGroups) {
    struct Case {
        const char* wait;
        bool first, second, third;
    };
    for (const Case& c :
         {Case{"", false, false, false}, Case{"cp.async.bulk.wait_group 2;", false, false, false},
          Case{"cp.async.bulk.wait_group 1;", true, false, false},
          Case{"cp.async.bulk.wait_group 0;", true, true, false},  // the third group is still open
          Case{"cp.async.bulk.wait_group.read 0;", false, false, false},
          Case{"cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 1;", true, true, false},
          Case{"cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;", true, true, true},
          Case{"cp.async.bulk.commit_group;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 3;", true,
               false, false},
          Case{"cp.async.wait_all;\nbar.warp.sync -1;", false, false, false}}) {
        WordRun run =
            bulk_kernel("st.shared.v4.u32 [tile], {%r1, %r1, %r1, %r1};\nfence.proxy.async.shared::cta;\n" +
                            kToGlobal + "[%o], [tile], 16;\ncp.async.bulk.commit_group;\n" + kToGlobal +
                            "[%o+16], [tile], 16;\ncp.async.bulk.commit_group;\n" + kToGlobal +
                            "[%o+32], [tile], 16;\n" + c.wait + R"(
st.shared.v4.u32 [tile], {%r0, %r0, %r0, %r0};
ld.global.u32 %r2, [%o];
ld.global.u32 %r3, [%o+16];
ld.global.u32 %r4, [%o+32];
st.global.v4.u32 [%o+64], {%r2, %r3, %r4, %r1};)",
                        1);
        ASSERT_EQ(run.fault(), "");
        const auto out = run.words_of_buffer(1);
        const size_t there = size_t{c.first} + c.second + c.third;
        EXPECT_EQ(out[16], c.first ? 7u : 0u) << c.wait;
        EXPECT_EQ(out[17], c.second ? 7u : 0u) << c.wait;
        EXPECT_EQ(out[18], c.third ? 7u : 0u) << c.wait;
        EXPECT_EQ(run.landed.size(), there) << c.wait;  // those that nobody waited for are not told
        for (const size_t word : {0u, 4u, 8u})
            EXPECT_EQ(out[word], 7u) << c.wait;  // all are when it has ended
    }
}

TEST(BulkCopies, OfMoreBytesThanAreKeptLandByThemselves) {
    // 640 times 32 KiB, which nobody waits for: 20 MiB.
    WordRun run = bulk_kernel(R"(
@!%p0 bra END;
mov.u32 %r2, 0;
AGAIN:
st.shared.u32 [tile], %r2;
)" + kToGlobal + R"([%o], [tile], 16384;
)" + kToGlobal + R"([%o+16384], [tile], 16384;
cp.async.bulk.commit_group;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 640;
@%p1 bra AGAIN;
ld.global.u32 %r3, [%o];
st.shared.u32 [tile+4], %r3;
)" + kToGlobal + R"([%o+16], [tile], 16;
END:)");
    ASSERT_EQ(run.fault(), "");
    const auto out = run.words_of_buffer(1);
    EXPECT_EQ(out[0], 639u);
    EXPECT_EQ(out[4096], 639u);
    EXPECT_EQ(out[4], 639u);
    EXPECT_EQ(out[5], 639u - 512);  // 16 MiB are 512 trips
    EXPECT_TRUE(run.landed.empty());

    // Those for a barrier tell it, and so does the recording: 17 barriers, 960 KiB each.
    WordRun ring = bulk_kernel(R"(
@!%p0 bra END;
mov.u32 %r2, 0;
mov.u32 %r3, 8192;
INIT:
mbarrier.init.shared::cta.b64 [%r3], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 983040;
mov.u32 %r4, 0;
COPY:
)" + kToShared + R"([tile], [%i], 8192, [%r3];
add.u32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, 120;
@%p1 bra COPY;
add.u32 %r3, %r3, 8;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 18;
@%p1 bra INIT;
mov.u32 %r3, 8192;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0;
@!%p1 bra WAIT;
add.u32 %r3, %r3, 8;
sub.u32 %r2, %r2, 1;
setp.gt.u32 %p1, %r2, 0;
@%p1 bra WAIT;
END:)");
    ASSERT_EQ(ring.fault(), "");
    EXPECT_EQ(ring.landed.size(), 18u * 120);
}

// Each lane of three warps copies bytes of its own, there and back, in any order.
TEST(BulkCopies, OfManyLanesAreThoseOfATwin) {
    std::mt19937 random(39);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    for (uint32_t round = 0; round < 12; ++round) {
        constexpr uint32_t kThreads = 96, kRoom = 160;  // bytes of tile for each
        std::vector<uint32_t>
            table;  // by thread: offset in `in`, in its room of tile, bytes, offset in `out`
        std::vector<uint8_t> out(4 * kBufferWords, 0);
        for (uint32_t t = 0; t < kThreads; ++t) {
            const uint32_t bytes = 16 * (1 + below(8)), at = 16 * below((kRoom - bytes) / 16 + 1);
            const uint32_t from = 2048 + 16 * below(1500), to = 256 * t + 16 * below(8);
            table.insert(table.end(), {from, t * kRoom + at, bytes, to});
        }
        WordRun run = bulk_kernel(R"(
mul.wide.u32 %d0, %t, 16;
add.s64 %d0, %i, %d0;
ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d0];
add.u32 %r3, %r3, %r0;
cvt.u64.u32 %d1, %r2;
add.s64 %d1, %i, %d1;
cvt.u64.u32 %d2, %r5;
add.s64 %d2, %o, %d2;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r4;
bar.sync 0;
)" + kToShared + R"([%r3], [%d1], %r4, [bar];
@%p0 mbarrier.arrive.shared::cta.b64 _, [bar];
)" + wait_text() + kToGlobal + "[%d2], [%r3], %r4;\ncp.async.bulk.commit_group;\n" +
                                      (round % 2 ? "cp.async.bulk.wait_group 0;" : "exit;"),
                                  kThreads);
        Bytes& in = run.memory.buffers[0].bytes;
        std::memcpy(in.data(), table.data(), table.size() * 4);
        for (uint32_t t = 0; t < kThreads; ++t)
            std::memcpy(out.data() + table[4 * t + 3], in.data() + table[4 * t], table[4 * t + 2]);
        run.options.schedule = {static_cast<Schedule::Kind>(round % 3), round};
        run.options.values = round % 4 == 3;
        ASSERT_EQ(run.fault(), "");
        EXPECT_EQ(std::memcmp(run.memory.buffers[1].bytes.data(), out.data(), out.size()), 0) << round;
        EXPECT_EQ(run.landed.size(), round % 2 ? 6u : 3u);
        for (const WordStep& step : run.steps) {
            if (step.barrier || run.site_of(step).box != ptx::Box::Row) continue;
            ASSERT_EQ(step.mask, ~0u);
            for (uint32_t lane = 0; lane < 32; ++lane) {
                const uint32_t* const row = table.data() + size_t{4} * (32 * step.warp + lane);
                const bool back = run.site_of(step).instruction > 0 && step.words[lane][1] == ptx::kNoBarrier;
                const bool writes = run.site_of(step).kind == ptx::SiteKind::Store;
                const uint64_t expected =
                    back == writes ? (back ? test::kOut + row[3] : test::kIn + row[0]) : row[1];
                EXPECT_EQ(step.address[lane], expected);
                EXPECT_EQ(step.words[lane][0], row[2]);
                ASSERT_EQ(step.pieces[lane].data.size(), row[2]);
                EXPECT_EQ(std::memcmp(step.pieces[lane].data.data(), in.data() + row[0], row[2]), 0);
            }
        }
    }
}

// More elements than a warp has lanes, each updated by its like.
template <class T>
void expect_updates(const std::string& name, const std::vector<T>& before, const std::vector<T>& by,
                    T (*update)(T, T)) {
    const auto bytes = static_cast<uint32_t>(by.size() * sizeof(T));
    ASSERT_EQ(bytes % 16, 0u);
    std::string body =
        fmt::format("@!%p0 bra END;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {};\n", bytes);
    body += kToShared + fmt::format("[tile], [%i], {}, [bar];\n", bytes) + wait_text();
    body +=
        fmt::format("cp.reduce.async.bulk.global.shared::cta.bulk_group.{} [%o], [tile], {};\n", name, bytes);
    WordRun run = bulk_kernel(body + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nEND:");
    std::memcpy(run.memory.buffers[0].bytes.data(), by.data(), bytes);
    std::memcpy(run.memory.buffers[1].bytes.data(), before.data(), bytes);
    ASSERT_EQ(run.fault(), "") << name;
    for (size_t i = 0; i < by.size(); ++i) {
        T after;
        std::memcpy(&after, run.memory.buffers[1].bytes.data() + i * sizeof(T), sizeof(T));
        const T right = update(before[i], by[i]);
        EXPECT_EQ(std::memcmp(&after, &right, sizeof(T)), 0) << name << " of element " << i << ": " << after;
    }
}

TEST(BulkCopies, UpdateEachElementByItsLike) {
    std::mt19937_64 random(7);
    const auto numbers = [&]<class T>(T) {
        std::vector<T> made(68);
        for (T& one : made) one = static_cast<T>(random() >> random() % 64);
        return made;
    };
    const auto with = [&]<class T>(const char* name, T (*update)(T, T)) {
        expect_updates<T>(name, numbers(T{}), numbers(T{}), update);
    };
    with(
        "add.u32", +[](uint32_t a, uint32_t b) { return a + b; });
    with(
        "add.u64", +[](uint64_t a, uint64_t b) { return a + b; });
    with(
        "min.s32", +[](int32_t a, int32_t b) { return std::min(a, b); });
    with(
        "max.u64", +[](uint64_t a, uint64_t b) { return std::max(a, b); });
    with(
        "min.s64", +[](int64_t a, int64_t b) { return std::min(a, b); });
    with(
        "inc.u32", +[](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; });
    with(
        "dec.u32", +[](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; });
    with(
        "and.b32", +[](uint32_t a, uint32_t b) { return a & b; });
    with(
        "or.b64", +[](uint64_t a, uint64_t b) { return a | b; });
    with(
        "xor.b32", +[](uint32_t a, uint32_t b) { return a ^ b; });
    with(
        "add.f32", +[](float a, float b) { return a + b; });
    with(
        "add.f64", +[](double a, double b) { return a + b; });
    // Halves: 1 and 0.5.
    std::vector<uint16_t> ones(72, 0x3C00), halves(72, 0x3800);
    expect_updates<uint16_t>(
        "add.noftz.f16", ones, halves, +[](uint16_t, uint16_t) { return uint16_t{0x3E00}; });
    expect_updates<uint16_t>(
        "max.f16", ones, halves, +[](uint16_t a, uint16_t) { return a; });
}

TEST(BulkCopies, FaultsSayWhatIsWrong) {
    const auto fault = [](const std::string& body) { return bulk_kernel(body, 1).fault(); };
    const std::string unit = ", but copies in bulk move multiples of 16 bytes between multiples of 16",
                      shared = ", outside the block's 16,392 bytes",
                      outside = ", which do not lie in one buffer of the launch";
    EXPECT_EQ(fault(kToShared + "[tile], [%i+8], 16, [bar];"),
              "thread[0] of block(0) reads 16 bytes in bulk at address 0x10008 at line 20" + unit);
    EXPECT_EQ(fault(kToShared + "[tile+4], [%i], 16, [bar];"),
              "thread[0] of block(0) writes 16 bytes in bulk at offset 0x4 at line 20" + unit);
    EXPECT_EQ(fault(kToShared + "[tile], [%i], 24, [bar];"),
              "thread[0] of block(0) reads 24 bytes in bulk at address 0x10000 at line 20" + unit);
    EXPECT_EQ(fault(kToShared + "[tile], [%i+32752], 32, [bar];"),
              "thread[0] of block(0) reads 32 bytes in bulk at address 0x17ff0 at line 20" + outside);
    EXPECT_EQ(fault(kToShared + "[tile+16384], [%i], 16, [bar];"),
              "thread[0] of block(0) writes 16 bytes in bulk at offset 0x4000 at line 20" + shared);
    EXPECT_EQ(
        fault(kToShared + "[tile], [%i], 16, [tile+64];"),
        "thread[0] of block(0) uses the mbarrier at byte 64 of shared memory at line 20, which no thread has "
        "initialised");
    EXPECT_EQ(fault(kToGlobal + "[%o+8], [tile], 16;"),
              "thread[0] of block(0) writes 16 bytes in bulk at address 0x20008 at line 20" + unit);
    EXPECT_EQ(fault(kToGlobal + "[%o+32752], [tile], 32;"),
              "thread[0] of block(0) writes 32 bytes in bulk at address 0x27ff0 at line 20" + outside);
    EXPECT_EQ(fault(kToGlobal + "[%o], [tile+16368], 32;"),
              "thread[0] of block(0) reads 32 bytes in bulk at offset 0x3ff0 at line 20" + shared);
    EXPECT_EQ(fault(kToGlobal + "[%o], [tile], 4294967280;"),
              "thread[0] of block(0) reads 4,294,967,280 bytes in bulk at offset 0x0 at line 20" + shared);
}

}  // namespace
}  // namespace tilescope::simt
