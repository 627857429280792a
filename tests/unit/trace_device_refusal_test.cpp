// Device trace buffers that cannot be, each refused in a sentence.
#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/device_hand.h"

namespace tilescope::trace {
namespace {

using namespace test;

std::string refusal_of_run(Hand& hand, const DeviceWriter& writer) {
    const auto decoded = hand.try_read(writer);
    return decoded ? "accepted" : decoded.error().message;
}

TEST(DeviceBufferRefusal, ARunThatCannotBeIsRefused) {
    Hand hand;
    hand.code.places.resize(hand.code.sites.size());
    hand.code.places[kLoadM].base = 0;
    hand.code.places[kStoreMds] = {2, 0, 6};
    hand.code.codes.push_back({ptx::Code::Kind::Run, kLoadM, kStoreMds, 1});
    const auto code = static_cast<uint32_t>(hand.code.codes.size()) - 1;
    const auto written = [&](uint32_t lane) {
        DeviceWriter writer(8, 512);
        writer.dropped.assign(1, 0);
        writer.to(0, 0, lane);
        writer.run(code, 100, {static_cast<uint32_t>(kM), 0, 0, 110});
        writer.close(120);
        return writer;
    };
    const DeviceWriter whole = written(ptx::kWarpStream);
    EXPECT_EQ(refusal_of_run(hand, whole), "accepted");
    EXPECT_NE(refusal_of_run(hand, written(0)).find("only a whole warp"), std::string::npos);
    const auto about = [&](const char* words, const auto& change) {
        const ptx::Instrumented right = hand.code;
        change(hand.code);
        EXPECT_NE(refusal_of_run(hand, whole).find(words), std::string::npos) << refusal_of_run(hand, whole);
        hand.code = right;
    };
    const char* const cannot = "cannot be read; instrument the kernel again";
    about(cannot, [&](auto& c) { c.codes[code].slots = 0; });
    about(cannot, [&](auto& c) { c.codes[code].slots = 33; });
    about(cannot, [&](auto& c) { std::swap(c.codes[code].site, c.codes[code].second); });
    about(cannot, [&](auto& c) { c.places.pop_back(); });
    about(cannot, [&](auto& c) { c.places[kLoadM].clock = 4; });
    about(cannot, [&](auto& c) { c.places[kStoreMds].clock = 8; });
    about(cannot, [&](auto& c) { c.places[kStoreMds].base = 4; });
    about(cannot, [&](auto& c) { c.shapes[kStoreMds].affine = false; });
    about("where the chunk ends", [&](auto& c) { c.codes[code].slots = 32; });
}

// One thing wrong at a time; each is said in a sentence.
TEST(DeviceBufferRefusal, WhatCannotBeIsRefused) {
    struct Case {
        const char* about;
        size_t at;  // byte in the pool
        uint32_t word;
    };
    const auto written = [](Hand&) {
        DeviceWriter writer(8, 512);
        writer.dropped.assign(1, 0);
        writer.to(0, 1);
        writer.single(single_of(kLoadM), 100, kM, 0xFFFF);
        writer.to(0, 0, 3);
        writer.single(single_of(kLoadM), 100, kM, 8);
        writer.close(120);
        return writer;
    };
    for (const Case& c :
         {Case{"block 1 of 1", 0, 1}, Case{"warp 2 of 2", 4, 2 | 0xFF00}, Case{"lane 32", 4, 1 | 32 << 8},
          Case{"lane 16 of warp 1", 4, 1 | 16 << 8}, Case{"lane 16777215", 4, ~0u ^ 0xFE},
          Case{"47 of its 512", 16, 47}, Case{"16 of its 512", 16, 16}, Case{"528 of its 512", 16, 528},
          Case{"code 11 of 11", 36, 11}, Case{"0x1ffff", 44, 0x1FFFF}, Case{"active mask 0x0", 44, 0},
          Case{"16 lanes at site 3", 36, single_of(kGather)},
          Case{"where the chunk ends", 36, escape_of(kGather)}}) {
        Hand hand;
        DeviceWriter writer = written(hand);
        ASSERT_EQ(refusal_of_run(hand, writer), "accepted");
        std::memcpy(&writer.bytes()[c.at], &c.word, 4);
        EXPECT_NE(refusal_of_run(hand, writer).find(c.about), std::string::npos)
            << refusal_of_run(hand, writer);
    }
    Hand pairs;
    const uint32_t pair = pairs.pair_of(kLoadM, kStoreMds), bad = pairs.pair_of(kLoadM, kGather);
    DeviceWriter writer(8, 512);
    writer.dropped.assign(1, 0);
    writer.to(0, 0, 0);
    writer.pair(pair, 1, kM, 2, 0);
    EXPECT_NE(refusal_of_run(pairs, writer).find("only a whole warp"), std::string::npos);
    DeviceWriter gather(8, 512);
    gather.dropped.assign(1, 0);
    gather.to(0, 0);
    gather.pair(bad, 1, kM, 2, kM);
    EXPECT_NE(refusal_of_run(pairs, gather).find("follow from no lane"), std::string::npos);
    pairs.arrays.push_back(test_array("N", Space::Global, ArrayRole::Input, 1, 1, 0));
    pairs.options.device_base.push_back(kM + (uint64_t{1} << 32));
    EXPECT_NE(refusal_of_run(pairs, gather).find("'N'"), std::string::npos);
}

TEST(DeviceBufferRefusal, WhatWasAskedForWrongIsRefused) {
    const auto said = [](const auto& change) {
        Hand hand;
        DeviceWriter writer(8, 512);
        writer.dropped.assign(1, 0);
        writer.to(0, 0);
        writer.single(single_of(kLoadM), 100, kM, ~0u);
        writer.close(110);
        change(hand, writer);
        return refusal_of_run(hand, writer);
    };
    const auto about = [&](const char* words, const auto& change) {
        EXPECT_NE(said(change).find(words), std::string::npos) << said(change);
    };
    using H = Hand&;
    using W = DeviceWriter&;
    about("accepted", [](H, W) {});
    about("power of two", [](H h, W) { h.code.chunk_bytes = 1000; });
    about("power of two", [](H h, W) { h.code.chunk_bytes = 256; });
    about("11 codes", [](H h, W) { h.code.code_bits = 3; });
    about("11 codes", [](H h, W) { h.code.code_bits = 32; });
    about("site 9 of 5", [](H h, W) { h.code.codes[3].site = 9; });
    about("shapes of 4", [](H h, W) { h.code.shapes.pop_back(); });
    about("16 × 65 × 1", [](H h, W) { h.options.block = {16, 65, 1}; });
    about("0 × 3 × 1", [](H h, W) { h.options.block = {0, 3, 1}; });
    about("arrays and sites", [](H h, W) { h.options.arrays = nullptr; });
    about("give one for each", [](H h, W) { h.options.device_base.pop_back(); });
    about("1 variables have 0", [](H h, W) { h.code.symbols = {"mds"}; });
    about("holds no block", [](H h, W) { h.options.window = {1, 2, 0, 1}; });
    about("0 dropped", [](H, W w) { w.dropped.clear(); });
    about("2 × 1 × 1 blocks", [](H h, W) { h.options.grid = {2, 1, 1}; });
    about("4294967295 × 4294967295", [](H h, W) { h.options.grid = {~0u, ~0u, ~0u}; });
    about("whole number", [](H, W w) { w.bytes().pop_back(); });
}

}  // namespace
}  // namespace tilescope::trace
