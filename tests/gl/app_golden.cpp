#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/gl/golden.h"

namespace tilescope::test {

Difference difference(const platform::Image& a, const platform::Image& b) {
    uint64_t sum = 0, beyond = 0;
    const size_t pixels = a.rgba.size() / 4;
    for (size_t i = 0; i < pixels; ++i) {
        int most = 0;
        for (size_t c = 0; c < 3; ++c) {
            const int d = std::abs(int{a.rgba[4 * i + c]} - int{b.rgba[4 * i + c]});
            sum += static_cast<uint64_t>(d);
            most = std::max(most, d);
        }
        beyond += most > kPixelLimit;
    }
    const auto n = static_cast<double>(pixels);
    return {static_cast<double>(sum) / (3 * n), static_cast<double>(beyond) / n};
}

void expect_golden(const platform::Image& image, const std::string& name) {
    const std::string golden = std::string(TILESCOPE_SOURCE_DIR) + "/tests/data/goldens/" + name + ".png";
    if (std::getenv("TILESCOPE_UPDATE_GOLDENS")) {
        auto written = platform::write_png(image, golden);
        ASSERT_TRUE(written) << written.error().message;
        return;
    }
    const std::string folder = std::string(TILESCOPE_BINARY_DIR) + "/tests/goldens";
    std::filesystem::create_directories(folder);
    const std::string made = folder + "/" + name + ".png";
    auto written = platform::write_png(image, made);
    ASSERT_TRUE(written) << written.error().message;
    auto want = platform::read_png(golden);
    ASSERT_TRUE(want) << want.error().message << " TILESCOPE_UPDATE_GOLDENS=1 makes it.";
    ASSERT_EQ(image.width, want->width) << made;
    ASSERT_EQ(image.height, want->height) << made;
    const Difference d = difference(image, *want);
    EXPECT_TRUE(agree(d)) << made << " differs from its golden by " << d.mean
                          << " of 255 on average, and by more than " << kPixelLimit << " on "
                          << d.beyond * 100 << " % of its pixels.";
}

}  // namespace tilescope::test
