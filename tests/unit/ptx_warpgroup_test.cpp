// wgmma: forms, who holds what by the PTX ISA's formulas, descriptors, and where a GPU found the elements of random ones
// (tests/gpu/tensors).
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "core/ptx/warpgroup.h"
#include "tests/gpu/tensors/answers.h"

namespace tilescope::ptx {
namespace {

using M = MatrixType;

TEST(Warpgroup, HasTheFormsOfThePtxIsa) {
    const auto widths = [](MatrixType d, MatrixType a, MatrixType b) {
        std::string text;
        for (uint32_t n = 0; n <= 264; ++n)
            if (warpgroup_form(n, d, a, b)) text += std::to_string(n) + " ";
        return text;
    };
    std::string all;
    for (uint32_t n = 8; n <= 256; n += 8) all += std::to_string(n) + " ";
    const std::string integers = "8 16 24 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256 ";
    using Row = std::tuple<MatrixType, MatrixType, MatrixType, std::string>;
    for (const auto& [d, a, b, expected] : {
             Row{M::F32, M::F16, M::F16, all},
             Row{M::F16, M::F16, M::F16, all},
             Row{M::F32, M::BF16, M::BF16, all},
             Row{M::F16, M::BF16, M::BF16, ""},
             Row{M::F32, M::TF32, M::TF32, all},
             Row{M::F32, M::E4M3, M::E5M2, all},
             Row{M::F16, M::E5M2, M::E4M3, all},
             Row{M::F32, M::F16, M::BF16, ""},
             Row{M::S32, M::S8, M::U8, integers},
             Row{M::S32, M::U8, M::S8, integers},
             Row{M::S32, M::B1, M::B1, integers},
             Row{M::F32, M::S8, M::S8, ""},
             Row{M::F64, M::F64, M::F64, ""},
             Row{M::S32, M::S4, M::S4, ""},
         })
        EXPECT_EQ(widths(d, a, b), expected) << name_of(a) << name_of(b);
    EXPECT_FALSE(warpgroup_form(8, M::S32, M::B1, M::B1, true));
    const auto k = [](MatrixType type) { return k_of_warpgroup(type); };
    EXPECT_EQ((std::vector{k(M::F16), k(M::BF16), k(M::TF32), k(M::E4M3), k(M::S8), k(M::B1)}),
              (std::vector{16u, 16u, 8u, 32u, 32u, 256u}));
}

TEST(Warpgroup, EachElementOfDHasOneHolder) {
    for (const MatrixType sum : {M::F32, M::F16, M::S32}) {
        const MatrixForm form =
            *warpgroup_form(48, sum, sum == M::S32 ? M::S8 : M::F16, sum == M::S32 ? M::S8 : M::F16);
        const uint32_t registers = warpgroup_registers(form, MatrixRole::D), each = sum == M::F16 ? 2 : 1;
        EXPECT_EQ(registers, 24 / each);
        std::set<std::pair<int, int>> seen;
        for (uint32_t warp = 0; warp < 4; ++warp)
            for (uint8_t lane = 0; lane < 32; ++lane)
                for (uint8_t i = 0; i < registers; ++i)
                    for (uint8_t e = 0; e < each; ++e) {
                        // Of d0, d1, .. of a thread: two side by side, two 8 rows below, then the next 8 columns.
                        const uint32_t number = i * each + e;
                        const MatrixPlace place = warpgroup_place(form, MatrixRole::D, warp, {lane, i, e});
                        EXPECT_EQ(place.row, 16 * warp + lane / 4u + 8 * (number / 2 % 2));
                        EXPECT_EQ(place.column, 8 * (number / 4) + 2 * (lane % 4u) + number % 2);
                        seen.emplace(place.row, place.column);
                        const WarpgroupHolder holder = warpgroup_holder(form, MatrixRole::D, place);
                        EXPECT_EQ(holder, (WarpgroupHolder{static_cast<uint8_t>(warp), {lane, i, e}}));
                    }
        EXPECT_EQ(seen.size(), 64u * 48);
    }
}

TEST(Warpgroup, RegistersOfAAreThoseOfMma) {
    for (const MatrixType type : {M::F16, M::TF32, M::E4M3, M::S8, M::B1}) {
        const MatrixForm form = *warpgroup_form(8, is_integer(type) ? M::S32 : M::F32, type, type);
        const uint32_t each = 32 / bits_of(type);
        EXPECT_EQ(warpgroup_registers(form, MatrixRole::A), 4u);
        for (uint32_t warp = 0; warp < 4; ++warp)
            for (uint8_t lane = 0; lane < 32; ++lane)
                for (uint8_t i = 0; i < 4; ++i) {
                    const MatrixPlace place = warpgroup_place(form, MatrixRole::A, warp, {lane, i, 0});
                    EXPECT_EQ(place.row, 16 * warp + lane / 4u + 8 * (i % 2u));
                    EXPECT_EQ(place.column, each * (lane % 4u) + 4 * each * (i / 2u));
                    EXPECT_EQ(warpgroup_holder(form, MatrixRole::A, place).warp, warp);
                }
    }
}

TEST(MatrixDescriptor, FieldsAreWhereThePtxIsaPutsThem) {
    const MatrixDescriptor descriptor{0x2340, 0x10, 1024, 5, Swizzle::B128};
    const uint64_t bits = bits_of(descriptor);
    EXPECT_EQ(bits, 0x234u | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{5} << 49 | uint64_t{1} << 62);
    EXPECT_EQ(matrix_descriptor(bits), descriptor);
    for (const auto& [swizzle, number] :
         {std::pair{Swizzle::None, 0u}, {Swizzle::B64, 2u}, {Swizzle::B32, 3u}}) {
        EXPECT_EQ(bits_of({0, 0, 0, 0, swizzle}) >> 62, number);
        EXPECT_EQ(matrix_descriptor(uint64_t{number} << 62).swizzle, swizzle);
    }
}

// Of a K-major tile of halves with the 128-byte swizzle: 8 rows x 128 bytes are 64 in the descriptor, the next 16 halves 2
// more, whatever the leading offset says; each element lies where a box of TMA puts it.
TEST(MatrixDescriptor, OfASwizzledTileFollowsTheBox) {
    for (const uint32_t leading : {0u, 16u, 4096u}) {
        const uint64_t first = bits_of({2048, leading, 1024, 0, Swizzle::B128});
        EXPECT_EQ(first >> 32 & 0x3FFF, 64u);
        for (uint32_t slice = 0; slice < 4; ++slice)
            for (uint32_t row = 0; row < 64; ++row)
                for (uint32_t k = 0; k < 16; ++k) {
                    const MatrixDescriptor descriptor = matrix_descriptor(first + 2 * slice);
                    const uint32_t x = 16 * slice + k;
                    EXPECT_EQ(address_of_element(descriptor, false, 16, row, k),
                              2048 + row * 128 + ((x / 8) ^ (row % 8)) * 16 + x % 8 * 2);
                }
    }
}

TEST(TensorHardware, ElementsLieWhereTheGpuFoundThem) {
    std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/data/hardware/tensor_addresses.txt");
    int compared = 0;
    for (std::string text; std::getline(file, text);) {
        if (text.starts_with('#')) continue;
        std::istringstream line(text);
        char of = 0;
        std::string type, sum;
        bool transposed = false;
        uint32_t leading = 0, stride = 0, base = 0, swizzle = 0, address = 0;
        line >> of >> type >> transposed >> leading >> stride >> base >> swizzle >> address >> sum;
        MatrixDescriptor descriptor = matrix_descriptor(uint64_t{swizzle} << 62);
        descriptor.address = address, descriptor.leading = leading, descriptor.stride = stride;
        descriptor.base_offset = static_cast<uint8_t>(base);
        ASSERT_EQ(matrix_descriptor(bits_of(descriptor)), descriptor);
        const uint32_t bits = tilescope::test::asked_bits(type), k = 8 * kBytesAlongK / bits;
        tilescope::test::AnswerSum ours;
        for (uint32_t row = 0; row < (of == 'a' ? 64u : 32u); ++row)
            for (uint32_t i = 0; i < k; ++i)
                ours.add(address_of_element(descriptor, transposed, bits, row, i));
        EXPECT_EQ(ours.value, std::stoull(sum, nullptr, 16)) << text;
        ++compared;
    }
    EXPECT_EQ(compared, 1296);
}

}  // namespace
}  // namespace tilescope::ptx
