// Products of wgmma: small whole numbers against plain sums, a width that needs many tiles, and every sum that a GPU formed
// (tests/gpu/tensors).
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/simt/matrix_sums.h"
#include "core/simt/warpgroup.h"
#include "tests/gpu/tensors/answers.h"

namespace tilescope::simt {
namespace {

using ptx::MatrixForm;
using ptx::MatrixRole;
using ptx::MatrixType;

MatrixType matrix_type_of(const std::string& name) {
    for (int i = 1; i <= static_cast<int>(MatrixType::E5M2); ++i)
        if (name == ptx::name_of(static_cast<MatrixType>(i))) return static_cast<MatrixType>(i);
    return MatrixType::None;
}

TEST(WarpgroupProduct, OfSmallWholeNumbersIsExact) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> small(-4, 4);
    const MatrixForm form = *ptx::warpgroup_form(256, MatrixType::F32, MatrixType::F16, MatrixType::F16);
    std::vector<int> x(64 * 16), y(256 * 16), z(64 * 256);
    std::vector<uint16_t> a(x.size()), b(y.size());
    std::vector<uint32_t> d(z.size());
    for (size_t i = 0; i < x.size(); ++i) a[i] = static_cast<uint16_t>(half_bits(x[i] = small(random)));
    for (size_t i = 0; i < y.size(); ++i) b[i] = static_cast<uint16_t>(half_bits(y[i] = small(random)));
    for (size_t i = 0; i < z.size(); ++i) d[i] = float_bits(z[i] = small(random));
    for (const bool negates : {false, true}) {
        std::vector<uint32_t> made = d;
        multiply({form, negates}, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), {}, made);
        for (size_t row = 0; row < 64; ++row)
            for (size_t column = 0; column < 256; ++column) {
                int sum = 0;
                for (size_t k = 0; k < 16; ++k) sum += x[row * 16 + k] * y[column * 16 + k];
                EXPECT_EQ(std::bit_cast<float>(made[row * 256 + column]),
                          static_cast<float>(z[row * 256 + column] + (negates ? -sum : sum)));
            }
    }
}

// 1 + 2^-14 of 8-bit floats is 1: 13 bits are left.
TEST(WarpgroupProduct, OfBytesKeepsThirteenBits) {
    const MatrixForm form = *ptx::warpgroup_form(8, MatrixType::F32, MatrixType::E5M2, MatrixType::E5M2);
    std::vector<uint8_t> a(64 * 32), b(8 * 32);
    const auto power = [](int exponent) { return static_cast<uint8_t>((exponent + 15) << 2); };
    for (int exponent = -13; exponent >= -14; --exponent) {
        a[0] = power(0), a[1] = power(-7), b[0] = power(0), b[1] = power(exponent + 7);
        std::vector<uint32_t> d(64 * 8);
        multiply({form}, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), {}, d);
        EXPECT_EQ(std::bit_cast<float>(d[0]), exponent == -13 ? 1 + 0x1p-13f : 1);
        d.assign(d.size(), float_bits(0x1.00001p0));  // C loses its lower bits, too
        multiply({form}, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), {}, d);
        EXPECT_EQ(std::bit_cast<float>(d[8]), 1);
    }
}

TEST(TensorHardware, SumsAreTheGpus) {
    std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/data/hardware/tensor_sums.txt");
    size_t compared = 0;
    for (std::string text; std::getline(file, text);) {
        if (text.starts_with('#')) continue;
        std::istringstream line(text);
        size_t number = 0;
        int kind = 0;
        std::string sum;
        line >> number >> kind >> sum;
        const tilescope::test::AskedProduct& asked = tilescope::test::asked_products()[number];
        const tilescope::test::AskedFactors given = tilescope::test::asked_factors(asked, number, kind);
        const uint32_t n = tilescope::test::kAskedColumns;
        auto form = ptx::warpgroup_form(n, matrix_type_of(asked.d), matrix_type_of(asked.a),
                                        matrix_type_of(asked.b), asked.selector >= 0);
        ASSERT_TRUE(form) << text;
        form->satfinite = asked.saturates;
        const WarpgroupProduct product{*form, asked.negates,
                                       static_cast<uint32_t>(std::max(asked.selector, 0))};
        const uint32_t registers = ptx::warpgroup_registers(*form, MatrixRole::D);
        const uint8_t each = form->type(MatrixRole::D) == MatrixType::F16 ? 2 : 1;
        std::vector<uint32_t> d(64 * n);
        const auto each_held = [&](auto fn) {
            for (uint32_t thread = 0; thread < 128; ++thread)
                for (uint32_t i = 0; i < registers; ++i)
                    for (uint8_t e = 0; e < each; ++e) {
                        const ptx::FragmentPlace held{static_cast<uint8_t>(thread % 32),
                                                      static_cast<uint8_t>(i), e};
                        const auto place = ptx::warpgroup_place(*form, MatrixRole::D, thread / 32, held);
                        fn(thread * 16 + i, 32 / each * e, d[place.row * n + place.column]);
                    }
        };
        each_held([&](size_t word, int shift, uint32_t& element) {
            element = given.c[word] >> shift & (each == 2 ? 0xFFFF : ~0u);
        });
        multiply(product, std::as_bytes(std::span(given.a)), std::as_bytes(std::span(given.b)),
                 given.metadata, d);
        std::map<size_t, uint32_t> words;
        each_held([&](size_t word, int shift, uint32_t element) { words[word] |= element << shift; });
        tilescope::test::AnswerSum ours;
        for (const auto& [word, value] : words) ours.add(value);
        EXPECT_EQ(ours.value, std::stoull(sum, nullptr, 16))
            << asked.a << " " << asked.b << " " << asked.d << " " << text;
        ++compared;
    }
    EXPECT_EQ(compared, tilescope::test::asked_products().size() * tilescope::test::kAskedKinds);
}

}  // namespace
}  // namespace tilescope::simt
