// Numbers in an element's type: every value of the small floats comes back from its number, and what lies
// between two of them goes to the nearer one, to the even one from the middle.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/base/contents.h"

namespace tilescope {
namespace {

TEST(BitsOf, EverySmallFloatComesBack) {
    for (const ElementType type :
         {ElementType::F16, ElementType::BF16, ElementType::E5M2, ElementType::E4M3}) {
        const uint64_t count = uint64_t{1} << 8 * size_of(type);
        for (uint64_t bits = 0; bits < count; ++bits) {
            const Value value{type, bits};
            if (!is_nan(value)) ASSERT_EQ(bits_of(type, number_of(value)), bits) << name_of(type);
        }
    }
}

TEST(BitsOf, RoundsToTheNearerAndToTheEvenOne) {
    for (const ElementType type :
         {ElementType::F16, ElementType::BF16, ElementType::E5M2, ElementType::E4M3}) {
        const uint64_t half = uint64_t{1} << (8 * size_of(type) - 1);
        for (uint64_t bits = 0; bits + 1 < half; ++bits) {
            const double low = number_of({type, bits}), high = number_of({type, bits + 1});
            if (!std::isfinite(high) || !std::isfinite(low)) break;
            const double middle = low + (high - low) / 2;
            ASSERT_EQ(bits_of(type, middle), bits % 2 == 0 ? bits : bits + 1) << name_of(type) << " " << bits;
            ASSERT_EQ(bits_of(type, std::nextafter(middle, 1e300)), bits + 1) << name_of(type) << " " << bits;
            ASSERT_EQ(bits_of(type, -std::nextafter(middle, 0)), half | bits) << name_of(type) << " " << bits;
        }
    }
}

TEST(BitsOf, WhatIsTooLargeIsInfiniteOrNoNumber) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(bits_of(ElementType::F16, 65520), 0x7C00u);
    EXPECT_EQ(bits_of(ElementType::F16, -1e300), 0xFC00u);
    EXPECT_EQ(bits_of(ElementType::BF16, infinity), 0x7F80u);
    EXPECT_EQ(bits_of(ElementType::E4M3, 1000), 0x7Fu);
    EXPECT_TRUE(is_nan({ElementType::F16, bits_of(ElementType::F16, NAN)}));
    EXPECT_EQ(bits_of(ElementType::S32, -3.9) & 0xFFFF'FFFF, 0xFFFF'FFFDu);
    EXPECT_EQ(bits_of(ElementType::U64, 1e300), UINT64_MAX);
    EXPECT_EQ(bits_of(ElementType::S64, -1e300), uint64_t{1} << 63);
    EXPECT_EQ(bits_of(ElementType::S32, NAN), 0u);
}

}  // namespace
}  // namespace tilescope
