// Compares a picture with the one in tests/data/goldens.
//
// Two pictures agree when they have the same size, their channels differ by at most 1 of 255 on
// average, and at most one pixel in 500 differs by more than 32 in any channel. The tolerance is for
// what differs between machines: FreeType's and Mesa's releases round edges of letters and blends
// differently, by little or on few pixels. A tile's frame moved by a cell, its colour changed or a word more
// is well beyond it (GoldenTolerance in app_golden_test.cpp).
//
// TILESCOPE_UPDATE_GOLDENS=1 writes the goldens anew instead; look at them before you commit them.
#pragma once

#include <string>

#include "app/platform/png.h"

namespace tilescope::test {

struct Difference {
    double mean = 0;    // of all channels, 0..255
    double beyond = 0;  // share of pixels beyond kPixelLimit
};
inline constexpr double kMeanLimit = 1.0, kBeyondLimit = 1.0 / 500;
inline constexpr int kPixelLimit = 32;

Difference difference(const platform::Image& a, const platform::Image& b);  // of one size
inline bool agree(const Difference& d) { return d.mean <= kMeanLimit && d.beyond <= kBeyondLimit; }

// Fails the running test, with the numbers and the path of the picture that was made, where the
// picture and tests/data/goldens/NAME.png disagree.
void expect_golden(const platform::Image& image, const std::string& name);

}  // namespace tilescope::test
