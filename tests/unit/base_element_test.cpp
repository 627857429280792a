// Types of elements and values of them, held against what the compiler makes of the same bits.
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/contents.h"
#include "core/base/element.h"

namespace tilescope {
namespace {

TEST(Element, TypesHaveNamesAndSizes) {
    for (int i = 0; i <= static_cast<int>(kLastElementType); ++i) {
        const auto type = static_cast<ElementType>(i);
        EXPECT_EQ(element_type_of(name_of(type)), type);
        EXPECT_EQ(element_type_of(c_name_of(type)), type);
        const uint32_t bits = size_of(type) * 8;
        if (type == ElementType::E4M3 || type == ElementType::E5M2) continue;
        EXPECT_TRUE(std::string(name_of(type)).ends_with(std::to_string(bits))) << name_of(type);
    }
    EXPECT_FALSE(element_type_of("f128"));
    EXPECT_EQ(bits_of_size(8), ElementType::B64);
    EXPECT_EQ(bits_of_size(16), ElementType::B8);
    EXPECT_EQ(integer_of_size(8), ElementType::U64);
    EXPECT_EQ(integer_of_size(2, true), ElementType::S16);
    EXPECT_EQ(size_of(ElementType::Pred) + size_of(ElementType::None), 0u);
    EXPECT_FALSE(element_type_of("pred") || element_type_of("")) << "neither lies in memory";
    EXPECT_FALSE(element_type_of("f16x2")) << "it is of registers alone";
    for (const auto pair : {ElementType::F16X2, ElementType::BF16X2, ElementType::F32X2, ElementType::E4M3X2})
        EXPECT_EQ(size_of(pair), 2 * size_of(element_of_pair(pair)));
}

// _Float16 is the compiler's own half.
TEST(Element, HalvesAreTheCompilers) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = std::bit_cast<_Float16>(static_cast<uint16_t>(bits));
        const double number = number_of({ElementType::F16, bits});
        const auto wanted = static_cast<double>(half);
        ASSERT_TRUE(std::isnan(wanted) ? std::isnan(number) : number == wanted) << bits;
    }
}

TEST(Element, BfloatsAreTheUpperHalvesOfFloats) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const float whole = std::bit_cast<float>(bits << 16);
        const double number = number_of({ElementType::BF16, bits});
        ASSERT_TRUE(std::isnan(whole) ? std::isnan(number) : number == double{whole}) << bits;
    }
}

// The largest and the special values of the 8-bit formats (PTX ISA, "Alternate Floating-Point Data Formats").
TEST(Element, FloatsOfEightBits) {
    EXPECT_EQ(number_of({ElementType::E4M3, 0x7E}), 448);
    EXPECT_TRUE(is_nan({ElementType::E4M3, 0x7F}));
    EXPECT_EQ(number_of({ElementType::E4M3, 0x01}), 0x1p-9);
    EXPECT_EQ(number_of({ElementType::E5M2, 0x7B}), 57344);
    EXPECT_EQ(number_of({ElementType::E5M2, 0x7C}), std::numeric_limits<double>::infinity());
    EXPECT_EQ(number_of({ElementType::E5M2, 0xFC}), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(is_nan({ElementType::E5M2, 0x7D}));
}

TEST(Element, ValuesAreShownAsWhatTheyAre) {
    EXPECT_EQ(value_text(value_of(2.5f)), "2.5");
    EXPECT_EQ(value_text(value_of(-9.0)), "-9");
    EXPECT_EQ(value_text(value_of(1234567.0f)), "1.23457e+06");
    EXPECT_EQ(value_text({ElementType::S32, 0xFFFF'FFFE}), "-2");
    EXPECT_EQ(value_text({ElementType::S8, 0x80}), "-128");
    EXPECT_EQ(value_text({ElementType::U32, 0xFFFF'FFFE}), "4294967294");
    EXPECT_EQ(value_text({ElementType::U64, ~uint64_t{0}}), "18446744073709551615");
    EXPECT_EQ(value_text({ElementType::S64, ~uint64_t{0}}), "-1");
    EXPECT_EQ(value_text({ElementType::B16, 0x3F80}), "0x3f80");
    EXPECT_EQ(value_text({ElementType::B32, 7}), "0x00000007");
    EXPECT_EQ(value_text(value_of(-std::numeric_limits<float>::quiet_NaN())), "NaN");
    EXPECT_EQ(short_value(value_of(std::numeric_limits<float>::quiet_NaN())), "NaN");
    EXPECT_EQ(short_value(value_of(-std::numeric_limits<double>::infinity())), "−inf");
    EXPECT_EQ(short_value(value_of(0.33333)), "0.333");
    EXPECT_EQ(short_value(value_of(-123456.0f)), "−123456");
}

// Made contents are the same numbers in every type that can hold them.
TEST(Contents, SmallIntegersAreTheSameNumbersInEveryType) {
    std::mt19937_64 random(5);
    for (int i = 0; i <= static_cast<int>(kLastElementType); ++i) {
        Array array;
        array.type = static_cast<ElementType>(i);
        array.rows = 7, array.cols = 13;
        array.contents = {Contents::Kind::SmallIntegers, random(), 3, {}};
        std::vector<std::byte> bytes(array.bytes());
        fill(array, bytes.data());
        for (uint64_t element = 0; element < array.elements(); ++element) {
            const Value value = initial_value(array, element);
            ASSERT_EQ(value, value_at(array.type, bytes.data() + element * array.element_bytes()));
            const int number = small_integer(array.contents.seed, 3, element);
            ASSERT_NE(number, 0);
            ASSERT_LE(std::abs(number), 9);
            // Types without a sign hold what the bits of a negative number are; E5M2 has no 7 or 9, and gets
            // the next number towards zero.
            const bool holds = array.type >= ElementType::S8 && array.type != ElementType::E5M2;
            if (holds) ASSERT_EQ(number_of(value), number) << name_of(array.type);
        }
    }
}

TEST(Contents, StoredBytesComeBackAndNothingBeyond) {
    Array array;
    array.type = ElementType::S16;
    array.rank = 1;
    array.cols = 5;
    std::vector<std::byte> bytes(10, std::byte{0xAA});
    fill(array, bytes.data());
    EXPECT_EQ(bytes, std::vector<std::byte>(10));
    auto stored = std::make_shared<std::vector<std::byte>>(10);
    for (size_t i = 0; i < 10; ++i) (*stored)[i] = static_cast<std::byte>(i);
    array.contents = {Contents::Kind::Stored, 0, 0, stored};
    fill(array, bytes.data());
    EXPECT_EQ(bytes, *stored);
    EXPECT_EQ(initial_value(array, 2), (Value{ElementType::S16, 0x0504}));
}

}  // namespace
}  // namespace tilescope
