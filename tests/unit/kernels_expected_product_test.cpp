// The check of a large product: right ones pass, and any one wrong element anywhere is found.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "kernels/run/record.h"
#include "kernels/textbook/expected_product.h"
#include "kernels/textbook/reference.h"

namespace tilescope::kernels {
namespace {

struct ProductCase {
    std::vector<float> M, N, P;
    ExpectedProduct expected;
};

ProductCase make(uint32_t m, uint32_t k, uint32_t n, uint64_t seed = 1) {
    ProductCase made;
    made.M = make_input(seed, 0, uint64_t{m} * k);
    made.N = make_input(seed, 1, uint64_t{k} * n);
    for (double value : reference_product(made.M, made.N, m, k, n))
        made.P.push_back(static_cast<float>(value));
    auto expected = expect_product(made.M, made.N, m, k, n, 2);
    EXPECT_TRUE(expected) << expected.error().message;
    made.expected = std::move(*expected);
    return made;
}

TEST(ExpectedProduct, TakesTheRightOneOfAnyShape) {
    const uint32_t shapes[][3] = {{1, 1, 1},    {3, 3, 3},     {64, 64, 64},
                                  {65, 40, 66}, {200, 17, 90}, {70, 300, 1}};
    for (const auto& [m, k, n] : shapes) {
        const ProductCase made = make(m, k, n);
        const ProductCheck check = check_product(made.expected, made.P, 2);
        EXPECT_TRUE(check.right) << check.why;
        EXPECT_EQ(check.wrong_rows, 0u);
        EXPECT_EQ(check.why, "");
    }
}

TEST(ExpectedProduct, SamplesEdgesAndCornersAndAtLeast4096Elements) {
    const ProductCase made = make(90, 5, 300);
    const ExpectedProduct& e = made.expected;
    ASSERT_EQ(e.rows.size() * e.cols.size(), 4096u);
    for (const auto& [places, count] : {std::pair{e.rows, 90u}, {e.cols, 300u}}) {
        for (size_t i = 1; i < places.size(); ++i) EXPECT_LT(places[i - 1], places[i]);
        EXPECT_EQ(places.front(), 0u);
        EXPECT_EQ(places[1], 1u);
        EXPECT_EQ(places[62], count - 2);
        EXPECT_EQ(places.back(), count - 1);
    }
    for (size_t i = 0; i < 64; ++i)
        for (size_t j = 0; j < 64; ++j)
            EXPECT_EQ(static_cast<float>(e.sample[i * 64 + j]), made.P[e.rows[i] * 300 + e.cols[j]]);
}

TEST(ExpectedProduct, FindsEveryWrongElement) {
    ProductCase made = make(13, 9, 17);
    for (float& value : made.P) {
        const float right = value;
        value = right + 1;
        const ProductCheck check = check_product(made.expected, made.P, 1);
        EXPECT_FALSE(check.right);
        EXPECT_EQ(check.wrong_rows, 1u);
        value = right;
    }
}

// Outside the sample as well, where only the row's sum can tell.
TEST(ExpectedProduct, FindsWrongElementsOutsideTheSample) {
    ProductCase made = make(150, 20, 170);
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        const size_t at = random() % made.P.size();
        const float right = made.P[at];
        const float wrong[] = {right + 1,    -right - 1, std::nanf(""), INFINITY,
                               right + 0.5F, 1e30F,      right * 2 + 1};
        made.P[at] = wrong[random() % std::size(wrong)];
        const ProductCheck check = check_product(made.expected, made.P, 1);
        EXPECT_FALSE(check.right) << at;
        EXPECT_FALSE(check.why.empty());
        made.P[at] = right;
    }
    // Two that make up for each other in a plain sum of the row, and two rows exchanged.
    made.P[151] += 3;
    made.P[152] -= 3;
    EXPECT_FALSE(check_product(made.expected, made.P, 1).right);
    made.P[151] -= 3;
    made.P[152] += 3;
    for (int col = 0; col < 170; ++col) std::swap(made.P[col], made.P[10 * 170 + col]);
    EXPECT_EQ(check_product(made.expected, made.P, 1).wrong_rows, 2u);
}

TEST(ExpectedProduct, FindsAProductThatNobodyStored) {
    const ProductCase made = make(20, 5, 30);
    const ProductCheck check = check_product(made.expected, std::vector<float>(600, std::nanf("")), 1);
    EXPECT_FALSE(check.right);
    EXPECT_EQ(check.wrong_rows, 20u);
    EXPECT_NE(check.why.find("P[0,0] is not a number"), std::string::npos) << check.why;
    EXPECT_FALSE(check_product(made.expected, std::vector<float>(599), 1).right);
}

TEST(ExpectedProduct, IsTheSameForAnyNumberOfThreads) {
    const std::vector<float> M = make_input(5, 0, 100 * 30), N = make_input(5, 1, 30 * 80);
    const auto one = expect_product(M, N, 100, 30, 80, 1), many = expect_product(M, N, 100, 30, 80, 7);
    ASSERT_TRUE(one && many);
    EXPECT_EQ(one->sample, many->sample);
    EXPECT_EQ(one->rows_by_x, many->rows_by_x);
}

// 207 126 * 81 is the last below 2^24.
TEST(ExpectedProduct, RefusesSumsThatFp32MightRound) {
    const std::vector<float> M(207127, 9), N(207127, 9);
    const auto refused = expect_product(M, N, 1, 207127, 1, 1);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("k=207127"), std::string::npos) << refused.error().message;
    EXPECT_NE(refused.error().message.find("up to 207126"), std::string::npos) << refused.error().message;
    const auto taken = expect_product(M, N, 1, 207126, 1, 1);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->sample[0], 207126 * 81);
    EXPECT_TRUE(check_product(*taken, {207126.0F * 81}, 1).right);
}

}  // namespace
}  // namespace tilescope::kernels
