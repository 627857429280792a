// Boxes of tensors, copied by kernels whose parameter is a tensor map: random ones against a twin that goes element by
// element, and what is wrong.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/tensor_kernel.h"
#include "tests/twin/tensor_box.h"
#include "tests/unit/simt_words.h"

namespace tilescope::simt {
namespace {

using test::WordRun, test::WordStep;
using tilescope::test::BoxForm, tilescope::test::RandomBox;

constexpr uint64_t kTensorAt = 0x100000, kTileAt = 0x10000;

Argument map_argument(const ptx::TensorMap& map) {
    const ptx::TensorMapBytes bytes = ptx::encode(map);
    Argument argument;
    argument.object.assign(bytes.begin(), bytes.end());
    return argument;
}

// update: "add", ...: the copy updates the tensor so; "" for one that does not.
WordRun box_run(const RandomBox& one, bool load, BoxForm form, const std::string& update = "") {
    WordRun run;
    std::string text = tilescope::test::box_kernel(one.map, one.box, load, form);
    if (const std::string copy = "cp.async.bulk.tensor", where = "global.shared::cta"; !update.empty()) {
        text.replace(text.find(copy), copy.size(), "cp.reduce.async.bulk.tensor");
        text.insert(text.find(where) + where.size(), "." + update);
    }
    run.program = test::program_of(text, "box");
    run.launch.block = {32, 1, 1};
    run.launch.arguments = test_arguments({0, kTileAt});
    run.launch.arguments[0] = map_argument(one.map);
    run.memory.buffers = {{"tile", kTileAt, Bytes(tilescope::test::kBoxTileBytes)},
                          {"tensor", one.map.address, Bytes(one.bytes)}};
    std::mt19937 random(7);
    for (Buffer& buffer : run.memory.buffers)
        for (std::byte& byte : buffer.bytes) byte = static_cast<std::byte>(random());
    return run;
}

// A float rounded to the 10 bits of a tf32's fraction; half of the last one goes to the even one.
uint32_t slowly_rounded(uint32_t bits) {
    if ((bits & 0x7F80'0000) == 0x7F80'0000) return (bits & 0x7F'FFFF) != 0 ? 0x7FFF'E000 : bits;
    const uint32_t low = bits & ~0x1FFFu, rest = bits & 0x1FFF;
    const bool up = rest > 0x1000 || (rest == 0x1000 && (low & 0x2000) != 0);
    return up ? low + 0x2000 : low;
}

std::string text_of(const RandomBox& one) {
    std::string text = fmt::format("{} rank {} swizzle {} box", ptx::name_of(one.map.type), one.map.rank,
                                   ptx::name_of(one.map.swizzle));
    for (size_t i = 0; i < one.map.rank; ++i)
        text += fmt::format(" {} of {} at {}", one.map.box[i], one.map.extent[i], one.box.at[i]);
    return text;
}

void expect_box_copied(const RandomBox& one, bool load, BoxForm form) {
    SCOPED_TRACE(text_of(one));
    WordRun run = box_run(one, load, form);
    Bytes tile(tilescope::test::kBoxTileBytes, std::byte{0xFF}), tensor = run.memory.buffers[1].bytes;
    if (!load) tile = run.memory.buffers[0].bytes;
    const uint32_t size = ptx::size_of(one.map.type);
    const bool rounds = one.map.type == ptx::TensorType::TF32 || one.map.type == ptx::TensorType::TF32Ftz;
    uint64_t read = 0, written = 0;
    for (const auto& element : tilescope::test::box_elements(one.map, one.box)) {
        std::array<std::byte, 8> value{};
        const uint64_t at = element.global - one.map.address;
        if (load) {
            if (!element.outside) std::memcpy(value.data(), tensor.data() + at, size), read += size;
            uint32_t bits = 0;
            std::memcpy(&bits, value.data(), 4);
            if (rounds && !element.outside) bits = slowly_rounded(bits), std::memcpy(value.data(), &bits, 4);
            for (size_t i = 0; element.outside && one.map.fills_with_nan && i < 8; ++i)
                value[i] = static_cast<std::byte>(i % 2 ? 0x7F : 0xF7);
        }
        for (uint32_t i = 0; i < size; ++i) {
            std::byte& in_tile = tile[tilescope::test::swizzled_byte(one.map.swizzle, element.shared + i)];
            if (load)
                in_tile = value[i];
            else if (element.moved)
                tensor.at(at + i) = in_tile, ++written;
        }
    }
    ASSERT_EQ(run.fault(), "");
    EXPECT_EQ(run.memory.buffers[0].bytes, tile);
    EXPECT_EQ(run.memory.buffers[1].bytes, tensor);
    // Its two steps say the same of it: the box's bytes, and what they read and write.
    uint32_t steps = 0;
    for (const WordStep& step : run.steps) {
        if (step.barrier || run.site_of(step).box != ptx::Box::Tensor) continue;
        ++steps;
        ASSERT_EQ(step.mask, 1u);
        EXPECT_EQ(step.words[0][0], ptx::box_bytes(one.map, one.box.gathers));
        EXPECT_EQ(step.words[0][1], load ? tilescope::test::kBoxTileBytes : ptx::kNoBarrier);
        EXPECT_EQ(step.words[0][2], 0u);
        EXPECT_EQ(step.words[0][3], ptx::kMapInParameters);
        for (size_t i = 0; i < (form == BoxForm::Gather ? 5 : one.map.rank); ++i)
            EXPECT_EQ(static_cast<int32_t>(step.words[0][4 + i]), one.box.at[i]);
        uint64_t bytes = 0;
        for (const auto& piece : step.pieces) bytes += piece.data.size();
        const bool stores = run.site_of(step).kind == ptx::SiteKind::Store;
        EXPECT_EQ(bytes, !load ? written : stores ? step.words[0][0] : read);
    }
    EXPECT_EQ(steps, 2u);
    EXPECT_EQ(run.landed.size(), 1u);
}

TEST(TensorBoxes, AreThoseOfATwin) {
    std::mt19937 random(39);
    const auto some = [&](int count, bool load, BoxForm form) {
        for (int i = 0; i < count; ++i)
            expect_box_copied(tilescope::test::random_box(random, kTensorAt, load, form), load, form);
    };
    some(120, true, BoxForm::Tile);
    some(60, false, BoxForm::Tile);
    some(40, true, BoxForm::Im2col);
    some(20, false, BoxForm::Im2col);
    some(10, true, BoxForm::Gather);
    some(10, false, BoxForm::Gather);
}

TEST(TensorBoxes, UpdateTheElementsThatTheyReach) {
    std::mt19937 random(41);
    for (int made = 0; made < 20;) {
        const RandomBox one = tilescope::test::random_box(random, kTensorAt, false, BoxForm::Tile);
        if (one.map.type != ptx::TensorType::U32) continue;
        SCOPED_TRACE(text_of(one));
        ++made;
        WordRun run = box_run(one, false, BoxForm::Tile, "add");
        const Bytes tile = run.memory.buffers[0].bytes;
        Bytes tensor = run.memory.buffers[1].bytes;
        for (const auto& element : tilescope::test::box_elements(one.map, one.box)) {
            if (!element.moved) continue;
            uint32_t added = 0, sum = 0;
            std::byte* const there = tensor.data() + (element.global - one.map.address);
            for (uint32_t i = 0; i < sizeof added; ++i)
                reinterpret_cast<std::byte*>(&added)[i] =
                    tile[tilescope::test::swizzled_byte(one.map.swizzle, element.shared + i)];
            std::memcpy(&sum, there, sizeof sum);
            sum += added;
            std::memcpy(there, &sum, sizeof sum);
        }
        ASSERT_EQ(run.fault(), "");
        EXPECT_EQ(run.memory.buffers[1].bytes, tensor);
    }
    RandomBox bytes;
    bytes.map.type = ptx::TensorType::U8, bytes.map.rank = 1, bytes.map.address = kTensorAt;
    bytes.map.extent = {64, 1, 1, 1, 1}, bytes.map.box = {64, 1, 1, 1, 1}, bytes.bytes = 64;
    EXPECT_EQ(box_run(bytes, false, BoxForm::Tile, "add").fault(),
              "thread[0] of block(0) updates a tensor at line 20, whose elements are UINT8, which this copy "
              "cannot");
}

TEST(TensorBoxes, WhatIsNoMapOrNoBoxIsSaid) {
    RandomBox good;
    good.map.type = ptx::TensorType::F16, good.map.rank = 2, good.map.address = kTensorAt;
    good.map.extent = {64, 32, 1, 1, 1}, good.map.stride = {128, 0, 0, 0}, good.map.box = {64, 8, 1, 1, 1};
    good.bytes = 4096;
    const std::string begin = "thread[0] of block(0) copies a box of a tensor at line 20, ";
    const auto fault = [&](const auto& change, bool load = true, BoxForm form = BoxForm::Tile) {
        RandomBox one = good;
        change(one);
        return box_run(one, load, form).fault();
    };
    EXPECT_EQ(fault([](RandomBox&) {}), "");
    EXPECT_EQ(fault([](RandomBox& one) { one.box.at[0] = 4; }),
              begin +
                  "and the first coordinate is 4, 8 bytes from the tensor's begin; a box must begin at a "
                  "multiple of 16 "
                  "bytes");
    EXPECT_EQ(fault([](RandomBox& one) { one.box.shared = 64; }),
              begin + "and the box's address in shared memory is 0x40; it must be a multiple of 128");
    EXPECT_EQ(fault([](RandomBox& one) { one.box.at[1] = -1; }, false),
              begin + "and coordinate 1 of a box that is stored is -1; it must not be negative");
    EXPECT_EQ(fault([](RandomBox& one) { one.box.shared = 32768 - 512; }),
              "thread[0] of block(0) writes 1,024 bytes in bulk at offset 0x7e00 at line 20, outside the "
              "block's 32,776 "
              "bytes");
    EXPECT_EQ(fault([](RandomBox& one) { one.box.shared = 32768 - 512; }, false),
              "thread[0] of block(0) reads 1,024 bytes in bulk at offset 0x7e00 at line 20, outside the "
              "block's 32,776 "
              "bytes");
    EXPECT_EQ(fault([](RandomBox& one) { one.bytes = 1000; }),
              "thread[0] of block(0) reads 128 bytes in bulk at address 0x100380 at line 20, a row of its "
              "tensor, which "
              "does not lie in one buffer of the launch");
    EXPECT_EQ(fault([](RandomBox& one) { one.bytes = 1000; }, false),
              "thread[0] of block(0) writes 1,024 bytes in bulk at address 0x100000 at line 20, rows of its "
              "tensor, which "
              "do not lie in one buffer of the launch");
    EXPECT_EQ(
        fault([](RandomBox& one) { one.map.rank = 3, one.map.interleave = 1, one.map.stride[1] = 4096; }),
        begin +
            "whose map a tensor map with an interleaved layout can be recorded on a GPU only; use "
            "CU_TENSOR_MAP_INTERLEAVE_NONE");
    const std::string no_map =
        begin + "but at address 0x{:x} lies no tensor map that cuTensorMapEncodeTiled or Im2col has made";
    WordRun damaged = box_run(good, true, BoxForm::Tile);
    const std::string kernel = tilescope::test::box_kernel(good.map, good.box, true);
    damaged.launch.arguments[0].object[40] ^= std::byte{1};
    EXPECT_NE(damaged.fault().find("lies no tensor map"), std::string::npos) << damaged.fault();

    // In global memory it may lie as well, but not elsewhere.
    for (const bool at_map : {true, false}) {
        WordRun run = box_run(good, true, BoxForm::Tile);
        std::string text = kernel;
        const std::string from = "cvta.param.u64 %d1, %d0;";
        text.replace(text.find(from), from.size(),
                     fmt::format("mov.u64 %d1, {};", 0x200000 + (at_map ? 0 : 64)));
        run.program = test::program_of(text, "box");
        const ptx::TensorMapBytes bytes = ptx::encode(good.map);
        run.memory.buffers.push_back({"map", 0x200000, Bytes(bytes.begin(), bytes.end())});
        EXPECT_EQ(run.fault(), at_map ? "" : fmt::format(fmt::runtime(no_map), 0x200040));
    }
    // An instruction of another number of dimensions.
    WordRun run = box_run(good, true, BoxForm::Tile);
    good.map.rank = 1;
    run.program = test::program_of(tilescope::test::box_kernel(good.map, good.box, true), "box");
    EXPECT_EQ(run.fault(), begin + "with 1 coordinate where its map has 2 dimensions");
}

}  // namespace
}  // namespace tilescope::simt
