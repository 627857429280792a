// Tensor maps and swizzles: exact tables, a slow twin of boxes element by element, damage, and the answers of a GPU
// (tests/gpu/tensors): where it put each byte of random boxes, and which maps its driver refused.
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/ptx/tensor_map.h"
#include "tests/gpu/tensors/answers.h"

namespace tilescope::ptx {
namespace {

TensorMap halves(uint32_t rows, uint32_t columns) {
    TensorMap map;
    map.type = TensorType::F16, map.rank = 2, map.address = 0x10000;
    map.extent = {columns, rows, 1, 1, 1};
    map.stride = {columns * 2, 0, 0, 0};
    map.box = {columns, rows, 1, 1, 1};
    return map;
}

TEST(Swizzle, ChunksOfEachRowStandAsThePtxIsaDrawsThem) {
    const auto chunks = [](Swizzle swizzle, uint32_t line) {
        std::string text(8, '?');
        for (uint32_t chunk = 0; chunk < 8; ++chunk)
            text[swizzled(swizzle, 128 * line + 16 * chunk) % 128 / 16] = static_cast<char>('0' + chunk);
        return text;
    };
    const std::map<Swizzle, std::vector<std::string>> rows = {
        {Swizzle::None, {"01234567", "01234567"}},
        {Swizzle::B32, {"01234567", "10325476", "01234567"}},
        {Swizzle::B64, {"01234567", "10325476", "23016745", "32107654", "01234567"}},
        {Swizzle::B128,
         {"01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210",
          "01234567"}},
        {Swizzle::B128Atom32, {"01234567", "23016745", "45670123", "67452301", "01234567"}},
        {Swizzle::B128Atom64, {"01234567", "45670123", "01234567"}},
    };
    for (const auto& [swizzle, lines] : rows)
        for (uint32_t line = 0; line < lines.size(); ++line)
            EXPECT_EQ(chunks(swizzle, line), lines[line]) << name_of(swizzle);
    EXPECT_EQ(swizzled(Swizzle::B128Atom32Flip8, 128), 128u + 32 + 8);
}

TEST(Swizzle, IsItsOwnInverseAndRepeatsWithItsPeriod) {
    for (size_t i = 0; i < kSwizzles; ++i) {
        const auto swizzle = static_cast<Swizzle>(i);
        const SwizzleRule& rule = rule_of(swizzle);
        for (uint32_t address = 0; address < 4096; ++address) {
            const uint32_t to = swizzled(swizzle, address);
            EXPECT_EQ(swizzled(swizzle, to), address);
            EXPECT_EQ(to / 128, address / 128);
            EXPECT_EQ(swizzled(swizzle, address + rule.period), to + rule.period);
            EXPECT_EQ(swizzled(swizzle, address / rule.chunk * rule.chunk) + address % rule.chunk, to);
            EXPECT_EQ(swizzled(swizzle, address, 1), swizzled(swizzle, address + 7 * 128) - 7 * 128);
        }
    }
}

// Byte y 128 + ((x / 8) xor (y mod 8)) 16 + 2 (x mod 8) of the tile; where it lies 512 bytes behind a boundary of 1,024,
// the pattern begins at its fifth line.
TEST(TensorMap, ElementsOfASwizzledBoxLieWhereTheFormulaSays) {
    TensorMap map = halves(64, 64);
    map.swizzle = Swizzle::B128;
    for (const uint32_t shared : {0u, 512u}) {
        TensorBox box;
        box.shared = 2048 + shared;
        uint32_t bytes = 0;
        for_pieces(map, box, [&](const TensorPiece& piece) {
            ASSERT_FALSE(piece.outside);
            const auto at = static_cast<uint32_t>(piece.global - map.address), y = at / 128,
                       chunk = at % 128 / 16;
            EXPECT_EQ(piece.bytes, 16u);
            EXPECT_EQ(piece.shared, box.shared + y * 128 + ((chunk ^ (y + shared / 128)) & 7) * 16);
            bytes += piece.bytes;
        });
        EXPECT_EQ(bytes, 8192u);
        EXPECT_EQ(box_bytes(map), 8192u);
    }
}

// What each byte of shared memory, or of global memory if the box is stored, is in the end: from what byte.
struct CopiedByte {
    bool outside = false;
    uint64_t from = 0;
    bool operator==(const CopiedByte&) const = default;
};
using CopiedBytes = std::map<uint64_t, CopiedByte>;

CopiedBytes copied(const TensorMap& map, const TensorBox& box) {
    CopiedBytes bytes;
    for_pieces(map, box, [&](const TensorPiece& piece) {
        EXPECT_GT(piece.bytes, 0u);
        EXPECT_LE(piece.bytes, 16u);
        for (uint32_t i = 0; i < piece.bytes; ++i)
            if (!box.stores)
                bytes[piece.shared + i] = {piece.outside, piece.outside ? 0 : piece.global + i};
            else if (!piece.outside)
                bytes[piece.global + i] = {false, piece.shared + i};
    });
    return bytes;
}

// The same, element by element.
CopiedBytes slowly_loaded(const TensorMap& map, const TensorBox& box) {
    CopiedBytes bytes;
    const uint32_t size = size_of(map.type);
    std::array<int64_t, 5> count{1, 1, 1, 1, 1};
    for (size_t i = 0; i < map.rank; ++i)
        count[i] = i == 0 ? map.box[0] : (map.box[i] + map.element_stride[i] - 1) / map.element_stride[i];
    const uint32_t pitch = std::max<uint32_t>(rule_of(map.swizzle).span, map.box[0] * size);
    for (int64_t number = 0; number < count[0] * count[1] * count[2] * count[3] * count[4]; ++number) {
        int64_t left = number, row = 0, rows = 1, address = static_cast<int64_t>(map.address);
        bool inside = true;
        for (size_t i = 0; i < 5; ++i) {
            const int64_t index = left % count[i];
            left /= count[i];
            if (i >= map.rank) continue;
            const int64_t at = box.at[i] + index * (i == 0 ? 1 : map.element_stride[i]);
            inside = inside && at >= 0 && at < static_cast<int64_t>(map.extent[i]);
            address += at * (i == 0 ? size : static_cast<int64_t>(map.stride[i - 1]));
            if (i > 0) row += index * rows, rows *= count[i];
        }
        for (uint32_t byte = 0; byte < size; ++byte) {
            const auto plain =
                static_cast<uint32_t>(box.shared + row * pitch + number % count[0] * size + byte);
            bytes[swizzled(map.swizzle, plain)] = {!inside,
                                                   inside ? static_cast<uint64_t>(address) + byte : 0};
        }
    }
    return bytes;
}

TEST(TensorMap, BoxesAreThoseOfTheSlowTwin) {
    std::mt19937 random(39);
    const auto draw = [&](uint32_t from, uint32_t to) {
        return std::uniform_int_distribution<uint32_t>(from, to)(random);
    };
    for (int number = 0; number < 200; ++number) {
        TensorMap map;
        map.type = static_cast<TensorType>(draw(0, 12));
        map.rank = static_cast<uint8_t>(draw(1, 5));
        map.swizzle = static_cast<Swizzle>(draw(0, kSwizzles - 1));
        map.address = 16 * draw(1, 1000);
        const uint32_t span = map.swizzle == Swizzle::None ? 128 : rule_of(map.swizzle).span;
        uint64_t stride = 0;
        TensorBox box;
        for (size_t i = 0; i < map.rank; ++i) {
            map.box[i] = i == 0 ? 16 * draw(1, span / 16) / size_of(map.type) : draw(1, 5);
            map.extent[i] = draw(1, 2 * map.box[i]);
            map.element_stride[i] = draw(1, 3);
            if (i > 0) map.stride[i - 1] = stride;
            stride = i == 0 ? (map.extent[0] * size_of(map.type) + 15) / 16 * 16 : stride * map.extent[i];
            const uint32_t step = i == 0 ? std::max(1u, 16 / size_of(map.type)) : 1;
            box.at[i] = static_cast<int32_t>(step * draw(0, 8)) - static_cast<int32_t>(4 * step);
        }
        box.shared = 128 * draw(0, 9);
        ASSERT_TRUE(check(map, 10)) << check(map, 10).error().message;
        ASSERT_TRUE(check(map, box)) << check(map, box).error().message;
        const CopiedBytes bytes = copied(map, box);
        ASSERT_EQ(bytes, slowly_loaded(map, box)) << number;
        EXPECT_EQ(bytes.size(), box_bytes(map));
    }
}

// Two images of 3 x 4 pixels, 3 x 3 filters with a border of one pixel: the pixels of tap (r, s) of each output pixel.
TEST(TensorMap, ColumnsOfImagesFollowTheFilter) {
    TensorMap map;
    map.type = TensorType::F16, map.rank = 4, map.im2col = true;
    map.extent = {8, 4, 3, 2, 1};
    map.stride = {16, 64, 192, 0};
    map.lower_corner = {-1, -1, 0}, map.upper_corner = {-1, -1, 0};
    map.channels = 8, map.pixels = 24;
    ASSERT_TRUE(check(map)) << check(map).error().message;
    for (uint16_t r = 0; r < 3; ++r)
        for (uint16_t s = 0; s < 3; ++s) {
            TensorBox box{{0, -1, -1, 0, 0}, {s, r, 0}, false, false, 0};
            TensorRow row;
            TensorRows rows(map, box);
            for (int n = 0; n < 2; ++n)
                for (int y = 0; y < 3; ++y)
                    for (int x = 0; x < 4; ++x) {
                        ASSERT_TRUE(rows.next(row));
                        const int w = x + s - 1, h = y + r - 1;
                        if (w < 0 || w >= 4 || h < 0 || h >= 3) {
                            EXPECT_EQ(row.inside_bytes, 0u);
                            continue;
                        }
                        EXPECT_EQ(row.inside_bytes, 16u);
                        EXPECT_EQ(row.global, static_cast<uint64_t>(16 * w + 64 * h + 192 * n));
                    }
            EXPECT_FALSE(rows.next(row));
        }
}

TEST(TensorMap, FourRowsAreGathered) {
    TensorMap map = halves(64, 64);
    map.box[1] = 1;
    TensorBox box{{8, 5, 63, 0, 64}, {}, true, false, 128};
    std::vector<std::tuple<uint64_t, uint32_t, uint32_t>> rows;
    TensorRow row;
    for (TensorRows all(map, box); all.next(row);)
        rows.emplace_back(row.global, row.inside_bytes, row.shared);
    EXPECT_EQ(rows,
              (std::vector<std::tuple<uint64_t, uint32_t, uint32_t>>{{map.address + 5 * 128 + 16, 112, 128},
                                                                     {map.address + 63 * 128 + 16, 112, 256},
                                                                     {map.address + 16, 112, 384},
                                                                     {0, 0, 512}}));
    EXPECT_EQ(box_bytes(map, true), 512u);
}

TEST(TensorMap, SaysWhatIsWrongAndWhatIsAsked) {
    const auto said = [](auto change) {
        TensorMap map = halves(64, 64);
        change(map);
        const auto result = check(map);
        return result ? "" : result.error().message;
    };
    EXPECT_EQ(said([](TensorMap&) {}), "");
    EXPECT_EQ(said([](TensorMap& m) { m.address += 8; }),
              "globalAddress is 0x10008; it must be a multiple of 16");
    EXPECT_EQ(said([](TensorMap& m) { m.stride[0] = 130; }),
              "globalStrides[0] is 130; it must be a multiple of 16 below 2^40");
    EXPECT_EQ(said([](TensorMap& m) { m.box[1] = 300; }), "boxDim[1] is 300; it must be 1 to 256");
    EXPECT_EQ(said([](TensorMap& m) { m.swizzle = Swizzle::B64; }),
              "boxDim[0] makes rows of 128 bytes; swizzle 64B allows 64");
    EXPECT_EQ(said([](TensorMap& m) { m.box[0] = 4; }),
              "boxDim[0] makes rows of 8 bytes; they must be a multiple of 16");
    EXPECT_EQ(said([](TensorMap& m) { m.swizzle = Swizzle::B128Atom32; }),
              "swizzle is 128B_ATOM_32B, which needs sm_100");
    EXPECT_EQ(said([](TensorMap& m) { m.type = TensorType::U8, m.fills_with_nan = true; }),
              "oobFill asks for NaNs, which UINT8 has not");
}

TEST(TensorMap, ComesBackFromItsBytesUnlessTheyAreDamaged) {
    TensorMap map = halves(64, 64);
    map.swizzle = Swizzle::B128, map.l2_promotion = 2, map.fills_with_nan = true;
    TensorMap column = map;
    column.rank = 5, column.im2col = true, column.box = {};
    column.extent = {64, 9, 8, 7, uint64_t{1} << 32},
    column.stride = {128, 2048, 32768, (uint64_t{1} << 40) - 16};
    column.lower_corner = {-1, -16, 3}, column.upper_corner = {15, 2, -2};
    column.channels = 64, column.pixels = 1024, column.element_stride = {1, 8, 2, 3, 4};
    column.type = TensorType::U8, column.fills_with_nan = false;
    for (const TensorMap& one : {map, column}) {
        ASSERT_TRUE(check(one)) << check(one).error().message;
        const TensorMapBytes bytes = encode(one);
        EXPECT_EQ(decode(bytes), one);
        for (size_t bit = 0; bit < 8 * kTensorMapBytes; ++bit) {
            TensorMapBytes damaged = bytes;
            damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
            EXPECT_FALSE(decode(damaged)) << bit;
        }
    }
    EXPECT_FALSE(decode({}));
    map.rank = 6;
    EXPECT_FALSE(decode(encode(map)));
}

// --- the answers of a GPU

std::vector<std::string> answers(const char* name) {
    std::ifstream file(std::string(TILESCOPE_SOURCE_DIR "/tests/data/hardware/") + name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        if (!line.starts_with('#')) lines.push_back(line);
    return lines;
}

// A map and a box of a line of tests/gpu/tensors/boxes.cu, with the driver's verdict.
struct AskedMap {
    TensorMap map;
    TensorBox box;
    uint32_t fill = 0;
    int verdict = 0;
};
AskedMap asked_map(std::istringstream& line) {
    AskedMap asked;
    TensorMap& map = asked.map;
    const auto take = [&](auto& to) {
        long long value = 0;
        line >> value;
        to = static_cast<std::remove_reference_t<decltype(to)>>(value);
    };
    take(map.type), take(map.rank), take(map.address);
    for (auto& v : map.extent) take(v);
    for (auto& v : map.stride) take(v);
    for (auto& v : map.box) take(v);
    for (auto& v : map.element_stride) take(v);
    take(map.interleave), take(map.l2_promotion), take(map.swizzle), take(asked.fill), take(map.im2col);
    map.fills_with_nan = asked.fill != 0;
    for (auto& v : map.lower_corner) take(v);
    for (auto& v : map.upper_corner) take(v);
    take(map.channels), take(map.pixels);
    for (auto& v : asked.box.at) take(v);
    for (auto& v : asked.box.offset) take(v);
    take(asked.box.shared), take(asked.verdict);
    return asked;
}

TEST(TensorHardware, EachByteOfABoxIsWhereTheGpuPutIt) {
    std::map<Swizzle, int> compared;
    for (const std::string& text : answers("tensor_boxes.txt")) {
        std::istringstream line(text);
        std::string number, what, sum;
        int state = 0;
        line >> number >> what;
        AskedMap asked = asked_map(line);
        ASSERT_EQ(asked.verdict == 0, static_cast<bool>(check(asked.map))) << text;
        if (asked.verdict != 0) continue;
        line >> state >> sum;
        asked.box.stores = what == "store";
        ASSERT_TRUE(check(asked.map, asked.box)) << text;
        EXPECT_EQ(state, 1) << "the mbarrier counted other bytes than box_bytes()";
        tilescope::test::AnswerSum ours;
        for (const auto& [to, byte] : copied(asked.map, asked.box)) {
            const bool nan = byte.outside && asked.map.fills_with_nan;
            ours.add(to), ours.add(!byte.outside ? tilescope::test::kFromSource
                                   : nan         ? tilescope::test::kConstant
                                                 : tilescope::test::kZero);
            ours.add(byte.from);
        }
        EXPECT_EQ(ours.value, std::stoull(sum, nullptr, 16)) << text;
        ++compared[asked.map.swizzle];
    }
    for (const Swizzle swizzle : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128})
        EXPECT_GE(compared[swizzle], 100) << name_of(swizzle);
}

TEST(TensorHardware, MapsAreRefusedAsTheDriverRefusesThem) {
    int compared = 0;
    for (const std::string& text : answers("tensor_verdicts.txt")) {
        std::istringstream line(text);
        std::string what;
        line >> what;
        const AskedMap asked = asked_map(line);
        if (asked.fill > 1) continue;  // no value of the enumeration
        const auto result = check(asked.map);
        EXPECT_EQ(static_cast<bool>(result), asked.verdict == 0)
            << text << (result ? "" : result.error().message);
        ++compared;
    }
    EXPECT_GE(compared, 700);
}

// A box of 24 words of which 16 lie in the tensor.
TEST(TensorHardware, ValuesChangeAsTheGpuChangesThem) {
    std::vector<uint32_t> words;
    int compared = 0;
    for (const std::string& text : answers("tensor_values.txt")) {
        std::istringstream line(text);
        std::string what, skipped;
        uint32_t type = 0, nan = 0, verdict = 0;
        line >> what >> type;
        if (what == "value") line >> skipped >> nan >> skipped >> verdict;
        if (verdict != 0) continue;
        TensorMap map;
        map.type = static_cast<TensorType>(type), map.fills_with_nan = nan != 0;
        std::vector<uint32_t> got;
        for (std::string word; line >> word;)
            got.push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
        ASSERT_EQ(got.size(), what == "value" ? 24u : 16u) << text;
        if (words.empty()) words.assign(got.begin(), got.begin() + 16);  // those of UINT8, as they were
        for (size_t i = 0; i < got.size(); ++i) {
            const uint32_t outside = filled(map) * 0x10001u;
            EXPECT_EQ(got[i], i >= 16           ? outside
                              : what == "value" ? loaded(map.type, words[i])
                                                : words[i])
                << text << i;
            ++compared;
        }
    }
    EXPECT_GE(compared, 500);
}

// tests/gpu/tensors/boxes.cu, `edge`: these end with an illegal instruction, or with a misaligned address.
TEST(TensorHardware, WhatStopsTheGpuIsRefused) {
    TensorMap map = halves(32, 64);
    map.rank = 3, map.extent[2] = 8, map.stride[1] = 4096, map.box = {8, 8, 2, 1, 1};
    TensorMap column = map;
    column.im2col = true, column.channels = 8, column.pixels = 16;
    const auto stops = [](const TensorMap& of, std::array<int32_t, 2> at, uint32_t shared, bool stores) {
        return !check(of, TensorBox{{at[0], at[1], 0, 0, 0}, {}, false, stores, shared});
    };
    for (const int32_t at : {4, -1, 1, 1001}) EXPECT_TRUE(stops(map, {at, 0}, 0, false)) << at;
    for (const uint32_t shared : {16u, 32u, 64u, 8u})
        EXPECT_TRUE(stops(map, {0, 0}, shared, false)) << shared;
    EXPECT_FALSE(stops(map, {8, 0}, 0, false));
    EXPECT_FALSE(stops(map, {-8, -1}, 128, false));
    for (const std::array<int32_t, 2> at : {std::array{-8, 0}, {0, -1}, {-64, 0}, {0, -100}})
        EXPECT_TRUE(stops(map, at, 0, true));
    for (const std::array<int32_t, 2> at : {std::array{8, 3}, {64, 0}}) EXPECT_FALSE(stops(map, at, 0, true));
    for (const std::array<int32_t, 2> at : {std::array{0, -1}, {0, 32}, {0, 40}, {4, 0}})
        EXPECT_TRUE(stops(column, at, 0, false));
    for (const std::array<int32_t, 2> at : {std::array{0, 0}, {0, 31}})
        EXPECT_FALSE(stops(column, at, 0, false));
}

}  // namespace
}  // namespace tilescope::ptx
