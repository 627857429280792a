// Device trace buffers written by hand, slot for slot, and what is read from them.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/device_hand.h"

namespace tilescope::trace {
namespace {

using namespace test;

TEST(DeviceBuffer, EachKindOfSlot) {
    Hand hand;
    const uint32_t pair = hand.pair_of(kStoreMds, kHandBarrier);
    DeviceWriter writer(8, 512);
    std::array<uint64_t, 32> gathered{};
    for (uint64_t l = 0; l < 32; ++l) gathered[l] = kM + l * l % 19 * 4;
    gathered[3] = 0x1234;  // of a lane that is not active
    writer.to(0, 0);
    writer.single(single_of(kLoadM), 1000, kM + 84, ~0u);
    writer.escape(escape_of(kGather), 1010, 0xFFFF'FFF7, gathered);
    writer.pair(pair, 1020, 0, 1031, 0);
    writer.single(single_of(kLoadM), 1040, kM + 84 + 80, 0xFFFF'0000);  // lane 16 is thread (0,1)
    writer.close(1100);
    Decoded decoded;
    const Trace trace = hand.read(writer, &decoded);
    EXPECT_EQ(decoded.records, 5u);
    EXPECT_EQ(decoded.written, 32u + 3 * 16 + 272);
    EXPECT_FALSE(decoded.clock_gaps);
    ASSERT_EQ(trace.steps(), 5u);
    EXPECT_EQ(trace.time, (Column{0, 10, 20, 31, 40}));
    EXPECT_EQ(trace.blocks[0].clock, 1000u);
    EXPECT_EQ(trace.blocks[0].sm, 7u);

    const Access first = decode(trace, 0), second = decode(trace, 1), third = decode(trace, 2),
                 fourth = decode(trace, 3), fifth = decode(trace, 4);
    EXPECT_EQ(first.site, kLoadM);
    EXPECT_EQ(first.array, 0);
    EXPECT_EQ(second.mask, 0xFFFF'FFF7u);
    EXPECT_EQ(third.mask, ~0u);
    EXPECT_EQ(third.array, 1);
    EXPECT_EQ(fourth.site, kHandBarrier);
    EXPECT_EQ(fourth.mask, ~0u);
    EXPECT_EQ(fifth.mask, 0xFFFF'0000u);
    for (uint64_t l = 0; l < 32; ++l) {
        EXPECT_EQ(first.offset[l], 84 + l % 16 * 4 + l / 16 * 80) << l;
        EXPECT_EQ(second.offset[l], l == 3 ? 0 : l * l % 19 * 4) << l;
        EXPECT_EQ(third.offset[l], l * 4) << l;
        EXPECT_EQ(fifth.offset[l], l < 16 ? 0 : first.offset[l]) << l;
    }
}

TEST(DeviceBuffer, StreamsOfABlockAreOneSequenceInTheOrderOfTheClock) {
    Hand hand;
    DeviceWriter writer(8, 512);
    writer.to(0, 1);  // 16 lanes
    writer.single(single_of(kHandBarrier), 500, 0, 0xFFFF);
    writer.to(0, 0, 0);  // warp 0, divided: two parts, each written by its lowest lane
    writer.single(single_of(kLoadM), 520, kM, 0x0000'FFFF);
    writer.single(single_of(kLoadM), 560, kM + 40, 0x0000'FFFF);
    writer.to(0, 0, 16);
    writer.single(single_of(kStoreMds), 520, 64, 0xFFFF'0000);
    writer.to(0, 0);
    writer.single(single_of(kHandBarrier), 580, 0, ~0u);
    writer.to(0, 1);
    writer.single(single_of(kLoadM), 560, kM + 160, 0xFFFF);
    writer.close(600);
    const Trace trace = hand.read(writer);
    ASSERT_EQ(trace.steps(), 6u);
    const uint32_t sites[] = {kHandBarrier, kLoadM, kStoreMds, kLoadM, kLoadM, kHandBarrier};
    const uint32_t warps[] = {1, 0, 0, 0, 1, 0};  // ties: by warp, then lane
    for (uint64_t s = 0; s < 6; ++s) {
        EXPECT_EQ(decode(trace, s).site, sites[s]) << s;
        EXPECT_EQ(trace.warp_of(s), warps[s]) << s;
    }
    EXPECT_EQ(trace.time, (Column{0, 20, 20, 60, 60, 80}));
}

// Warp 0 reads a clock behind each barrier before warp 1 has come to it, which cannot be when it asks.
TEST(DeviceBuffer, NobodyAsksBehindABarrierBeforeTheLastHasCome) {
    Hand hand;
    hand.code.one_barrier = true;
    const auto write = [](DeviceWriter& writer) {
        writer.to(0, 0);
        writer.single(single_of(kHandBarrier), 1000, 0, ~0u);
        writer.single(single_of(kLoadM), 1010, kM, ~0u);
        writer.single(single_of(kLoadM), 1030, kM + 4, ~0u);
        writer.single(single_of(kHandBarrier), 1040, 0, ~0u);
        writer.single(single_of(kLoadM), 1050, kM + 8, ~0u);
        writer.to(0, 1);
        writer.single(single_of(kHandBarrier), 1025, 0, 0xFFFF);
        writer.single(single_of(kLoadM), 1028, kM, 0xFFFF);
        writer.single(single_of(kHandBarrier), 1090, 0, 0xFFFF);
        writer.single(single_of(kLoadM), 1095, kM, 0xFFFF);
        writer.close(1100);
    };
    DeviceWriter writer(8, 512);
    write(writer);
    const Trace trace = hand.read(writer);
    EXPECT_EQ(trace.time, (Column{0, 25, 26, 28, 30, 40, 90, 91, 95}));
    const uint32_t warps[] = {0, 1, 0, 1, 0, 0, 1, 0, 1};
    for (uint64_t s = 0; s < 9; ++s) EXPECT_EQ(trace.warp_of(s), warps[s]) << s;

    // Barriers of which nobody knows who waits for whom: the clocks as they were read.
    hand.code.one_barrier = false;
    DeviceWriter again(8, 512);
    write(again);
    EXPECT_EQ(hand.read(again).time, (Column{0, 10, 25, 28, 30, 40, 50, 90, 95}));
}

TEST(DeviceBuffer, ChunksFollowOneAnotherAndTheFirstMayBeShort) {
    // Room for 30, or in the first chunk 2, or none.
    for (const uint64_t pool_start : {0u, 448u, 480u}) {
        Hand hand;
        DeviceWriter writer(8, 512, pool_start);
        writer.dropped.assign(1, 0);
        for (uint32_t i = 0; i < 100; ++i) {
            writer.to(0, i & 1);
            writer.single(single_of(kLoadM), 1000 + 10 * i, kM + 4 * (i % 20), i & 1 ? 0xFFFF : ~0u);
        }
        writer.close(3000);
        EXPECT_EQ(writer.chunks(), pool_start == 0 ? 4u : pool_start == 448 ? 5u : 5u);
        Decoded decoded;
        const Trace trace = hand.read(writer, &decoded);
        EXPECT_FALSE(decoded.clock_gaps);
        EXPECT_EQ(decoded.written, 1600 + 32 * writer.chunks());
        ASSERT_EQ(trace.steps(), 100u);
        for (uint32_t i = 0; i < 100; ++i) {
            EXPECT_EQ(trace.time[i], 10 * i);
            EXPECT_EQ(decode(trace, i).offset[0], i % 20 * 4);
            EXPECT_EQ(trace.warp_of(i), i & 1);
        }
    }
}

TEST(DeviceBuffer, APadEndsAChunk) {
    Hand hand;
    DeviceWriter writer(8, 512);
    std::array<uint64_t, 32> at{};
    for (uint64_t l = 0; l < 32; ++l) at[l] = kM + 4 * (31 - l);
    writer.to(0, 0);
    for (uint32_t i = 0; i < 3; ++i) writer.escape(escape_of(kGather), 100 + i, ~0u, at);
    EXPECT_EQ(writer.chunks(), 3u);  // one each: 272 of 480 bytes
    writer.close(200);
    Decoded decoded;
    const Trace trace = hand.read(writer, &decoded);
    EXPECT_EQ(trace.steps(), 3u);
    EXPECT_EQ(decoded.written, 3 * (32u + 272));
    // Memory that is all zeros behind the last record is a pad too: a stream that was never closed.
    std::fill(writer.bytes().begin() + 1024 + 32 + 272, writer.bytes().end(), std::byte{0});
    std::fill_n(writer.bytes().begin() + 1024 + 16, 4, std::byte{0});
    std::fill_n(writer.bytes().begin() + 1024 + 24, 8, std::byte{0});
    EXPECT_EQ(hand.read(writer).steps(), 3u);
}

TEST(DeviceBuffer, EveryBlockOfTheWindowIsThereWithWhatItDropped) {
    Hand hand;
    hand.options.grid = {5, 4, 2};
    hand.options.window = {1, 3, 2, 9};  // clipped: 2 x 2 blocks, twice
    DeviceWriter writer(8, 512);
    writer.dropped = {0, 3, 0, 0, 0, 0, 4, 0};
    writer.to(6, 0);
    writer.single(single_of(kHandBarrier), 50, 0, ~0u);
    writer.to(3, 1);
    writer.single(single_of(kHandBarrier), 70, 0, 0xFFFF);
    writer.close(90);
    Decoded decoded;
    const Trace trace = hand.read(writer, &decoded);
    EXPECT_EQ(decoded.dropped, 7u);
    ASSERT_EQ(trace.blocks.size(), 8u);
    for (uint32_t b = 0; b < 8; ++b) {
        const Block& block = trace.blocks[b];
        EXPECT_EQ(block.x, 1 + b % 2);
        EXPECT_EQ(block.y, 2 + b / 2 % 2);
        EXPECT_EQ(block.z, b / 4);
        EXPECT_EQ(block.count, b == 6 || b == 3 ? 1u : 0u);
        EXPECT_EQ(block.dropped, writer.dropped[b]);
        EXPECT_EQ(block.clock, b == 6 ? 50u : b == 3 ? 70u : 0u);
    }
}

TEST(DeviceBuffer, SharedVariablesAndArraysAreMovedToWhereTheTraceHasThem) {
    Hand hand;
    hand.code.symbols = {"nds", "other", "mds"};
    hand.options.device_base = {0x7AAA'0000'0100, 0, 0};
    DeviceWriter writer(8, 512);
    writer.symbols = {0x400, 0x500, 0x600};  // the device has them the other way round
    writer.to(0, 0);
    writer.single(single_of(kStoreMds), 10, 0x600, ~0u);
    writer.single(single_of(kLoadNds), 11, 0x400 + 16, ~0u);
    writer.single(single_of(kStoreMds), 12, 0x400, ~0u);
    writer.single(single_of(kLoadNds), 13, 0x508, 1);  // in `other`, which is no array: as it is
    writer.single(single_of(kLoadM), 14, 0x7AAA'0000'0100 + 80, ~0u);
    writer.single(single_of(kLoadM), 15, kM, 1);  // in no array of the device
    std::array<uint64_t, 32> at{};
    for (uint64_t l = 0; l < 32; ++l) at[l] = 0x7AAA'0000'0100 + l * l;
    writer.escape(escape_of(kGather), 16, ~0u, at);
    writer.close(20);
    const Trace trace = hand.read(writer);
    ASSERT_EQ(trace.steps(), 7u);
    const auto expect = [&](uint64_t step, uint8_t array, uint64_t offset) {
        EXPECT_EQ(decode(trace, step).array, array) << step;
        EXPECT_EQ(decode(trace, step).offset[0], offset) << step;
    };
    expect(0, 1, 0);
    expect(1, 2, 16);
    expect(2, 2, 0);
    expect(3, kNoArray, 0x508);
    expect(4, 0, 80);
    expect(5, 0, 0);  // the trace's own M lies there
    expect(6, 0, 0);
    EXPECT_EQ(decode(trace, 0).offset[17], 68u);
    EXPECT_EQ(decode(trace, 1).offset[31], 80u);
    EXPECT_EQ(decode(trace, 6).offset[5], 25u);
}

// 32-bit addresses of shared memory wrap around as the device's do.
TEST(DeviceBuffer, LanesBeyondAVariableKeepTheirDistanceFromIt) {
    Hand hand;
    hand.code.symbols = {"mds", "nds"};
    DeviceWriter writer(8, 512);
    writer.symbols = {0x400, 0x900};
    writer.to(0, 0);
    writer.single(single_of(kStoreMds), 10, 0x400 + 192, ~0u);  // lanes 16 to 31 behind the end of Mds
    writer.single(single_of(kStoreMds), 11, 0xFFFF'FFFC, 3);    // lane 1 at 0
    writer.close(20);
    const Trace trace = hand.read(writer);
    ASSERT_EQ(trace.steps(), 2u);
    const Access over = decode(trace, 0), wrapped = decode(trace, 1);
    EXPECT_EQ(over.array, kNoArray);
    EXPECT_EQ(over.offset[0], 192u);
    EXPECT_EQ(over.offset[31], 192u + 64 + 60);
    EXPECT_EQ(wrapped.offset[0], 0xFFFF'FFFCu);
    EXPECT_EQ(wrapped.offset[1], 0u);
}

TEST(DeviceBuffer, ClocksOfAFewBitsAreUnrolled) {
    Hand hand(24);  // 8 bits of clock in a tag
    const uint32_t pair = hand.pair_of(kLoadM, kStoreMds);
    const uint64_t start = 0x5'FFFF'FF80;  // the low half wraps, too
    DeviceWriter writer(24, 512);
    writer.to(0, 0);
    uint64_t clock = start;
    Column expected;
    for (uint32_t i = 0; i < 50; ++i) {
        writer.single(single_of(kHandBarrier), clock, 0, ~0u);
        expected.push_back(static_cast<uint32_t>(clock - start));
        clock += i % 5 == 0 ? 255 : i;
    }
    // The second of a pair has all 32 bits, and what comes after counts from it.
    writer.pair(pair, clock, kM, clock + 3'000'000'000, 0);
    expected.push_back(static_cast<uint32_t>(clock - start));
    expected.push_back(static_cast<uint32_t>(clock - start) + 3'000'000'000);
    clock += 3'000'000'000 + 255;
    writer.single(single_of(kHandBarrier), clock, 0, ~0u);
    expected.push_back(static_cast<uint32_t>(clock - start));
    writer.close(clock + 255);
    Decoded decoded;
    Trace trace = hand.read(writer, &decoded);
    EXPECT_FALSE(decoded.clock_gaps);
    EXPECT_EQ(trace.blocks[0].clock, start);
    EXPECT_EQ(trace.time, expected);
}

TEST(DeviceBuffer, ClocksThatCannotBeUnrolledAreSeen) {
    struct Case {
        const char* what;
        uint64_t second, closed;
        uint32_t records_between;  // so that a chunk ends between the two
        bool gap;
    };
    for (const Case& c : {Case{"256 apart: a whole turn of 8 bits", 1256, 1256 + 10, 0, true},
                          Case{"255 apart", 1255, 1255 + 10, 0, false},
                          Case{"closed a turn later", 1010, 1010 + 256, 0, true},
                          Case{"seen by the next chunk's header", 1400, 1410, 29, true},
                          Case{"short enough before it", 1250, 1260, 29, false},
                          Case{"closed before it ended", 1010, 900, 0, true}}) {
        SCOPED_TRACE(c.what);
        Hand hand(24);
        DeviceWriter writer(24, 512);
        writer.to(0, 0);
        for (uint32_t i = 0; i <= c.records_between; ++i)
            writer.single(single_of(kHandBarrier), 1000, 0, ~0u);
        writer.single(single_of(kHandBarrier), c.second, 0, ~0u);
        writer.close(c.closed);
        Decoded decoded;
        const Trace trace = hand.read(writer, &decoded);
        EXPECT_EQ(decoded.clock_gaps, c.gap);
        EXPECT_TRUE(std::is_sorted(trace.time.begin(), trace.time.end()));
    }
}

TEST(DeviceBuffer, TimesBeyondThirtyTwoBitsAreMarked) {
    Hand hand;
    DeviceWriter writer(8, 512);
    writer.to(0, 0);
    writer.single(single_of(kHandBarrier), 100, 0, ~0u);
    writer.to(0, 1);
    writer.single(single_of(kHandBarrier), 100 + 0x1'0000'0000, 0, 0xFFFF);
    writer.close(100 + 0x1'0000'0000);
    Decoded decoded;
    const Trace trace = hand.read(writer, &decoded);
    EXPECT_TRUE(decoded.clock_gaps);
    EXPECT_EQ(trace.time, (Column{0, UINT32_MAX}));
}

TEST(DeviceBuffer, ABlockOnTwoSmsHasNoClock) {
    Hand hand;
    DeviceWriter writer(8, 512);
    writer.to(0, 0);
    writer.single(single_of(kHandBarrier), 100, 0, ~0u);
    writer.sm = 8;
    writer.to(0, 1);
    writer.single(single_of(kHandBarrier), 110, 0, 0xFFFF);
    writer.close(120);
    Decoded decoded;
    EXPECT_EQ(hand.read(writer, &decoded).steps(), 2u);
    EXPECT_TRUE(decoded.clock_gaps);
}

}  // namespace
}  // namespace tilescope::trace
