// Compares a picture with tests/data/goldens/NAME.png, and its texts with NAME.txt, one a line.
//
// Where the program has the fonts that the goldens were drawn with (fonts.txt beside them, the SHA-256 of
// each file; cmake/app.cmake compares) the pictures have to agree pixel by pixel and the texts letter by
// letter: channels differ by at most 1 of 255 on average, and at most one pixel in 500 by more than 32 in any
// channel. The tolerance is for what differs between machines: FreeType's and Mesa's releases round edges of
// letters and blends differently, by little or on few pixels. A tile's frame moved by a cell, its colour
// changed or a word more is well beyond it (GoldenTolerance in app_golden_test.cpp).
//
// With other fonts letters are wider or narrower, lines break elsewhere, and where room is short a shorter
// wording may stand. So the words are compared, in any order, and the layout: the picture as squares of
// 16 x 16 pixels, each its average colour. At most one word in ten and one square in twelve may differ; with
// Inter 4.1 in place of 4.0 beta it is one in 12 and one in 21 in the pictures where most do.
//
// TILESCOPE_UPDATE_GOLDENS=1 writes the goldens anew instead; look at them before you commit them.
#pragma once

#include <string>

#include "app/draw/ui.h"
#include "app/platform/backend.h"

namespace tilescope::test {

struct Difference {
    double mean = 0;    // of all channels, 0..255
    double beyond = 0;  // share of pixels beyond kPixelLimit
};
inline constexpr double kMeanLimit = 1.0, kBeyondLimit = 1.0 / 500;
inline constexpr int kPixelLimit = 32;
inline constexpr double kWordsLimit = 1.0 / 10, kSquaresLimit = 1.0 / 12;

Difference difference(const platform::Image& a, const platform::Image& b);  // of one size
inline bool agree(const Difference& d) { return d.mean <= kMeanLimit && d.beyond <= kBeyondLimit; }

// The share of squares of 16 x 16 pixels that differ by more than kPixelLimit in a channel of their averages.
double squares_apart(const platform::Image& a, const platform::Image& b);
// Words that stand in only one of two texts, as a share of those of `want`.
double words_apart(const std::string& want, const std::string& got);

// A picture, and what is written in it; where a test does not inspect what it draws that is empty.
struct Picture : platform::Image {
    draw::Inspection seen;
};

Result<platform::Image> read_png(const std::string& path);

// The lines of a picture's texts that write sizes, bytes or blocks in another way than all screens do: "16 x 16"
// for 16 × 16, "62.5 KiB" for 64.0 kB, "block (1,0)" for block(0,1). Lines of source and of paths aside.
std::string foreign_forms(const std::string& texts);

// Fails the running test, with the numbers and the path of the picture that was made, where the picture and
// its golden disagree.
void expect_golden(const Picture& picture, const std::string& name);

}  // namespace tilescope::test
