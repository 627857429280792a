// What the grid renderer puts on the screen, pixel by pixel.
#include <algorithm>
#include <cmath>

#include "tests/gl/canvas.h"

namespace tilescope::draw {
namespace {

using test::pixel;
const Palette& kLight = palette(draw::Theme::Light);

GridView view_at(float x, float y, float pitch, int width, int height) {
    return {x, y, pitch, {0, 0}, {static_cast<float>(width), static_cast<float>(height)}};
}

TEST(Grid, CellsLandWhereTheyShouldInExactlyTheirColour) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(200, 160);
    const Ink inks[] = {Ink::Cell, Ink::GlobalLoad, Ink::SharedStore, Ink::Barrier, Ink::Fault, Ink::Product};
    std::vector<Cell> cells;  // 3 rows, 4 columns
    for (size_t i = 0; i < 12; ++i) cells.push_back(cell(inks[i % 6]));
    canvas.grids().set_cells(1, 1, 3, 4, cells);
    auto view = view_at(20, 10, 40, 200, 160);
    auto image =
        canvas.frame(kLight, [&](ImDrawList& list) { canvas.grids().draw(list, 1, view, kLight, 1); });
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c) {
            const Rgba want = kLight[inks[(r * 4 + c) % 6]];
            EXPECT_EQ(pixel(image, 20 + c * 40 + 20, 10 + r * 40 + 20), want) << r << "," << c;
            EXPECT_EQ(pixel(image, 20 + c * 40 + 39, 10 + r * 40 + 39), want)
                << "last pixel of " << r << "," << c;
            EXPECT_EQ(pixel(image, 20 + c * 40, 10 + r * 40 + 20), kLight[Ink::Panel])
                << "the line left of it";
            EXPECT_EQ(pixel(image, 20 + c * 40 + 1, 10 + r * 40 + 1), want) << "the line is one pixel wide";
        }
    EXPECT_EQ(pixel(image, 19, 10), kLight[Ink::Ground]);
    EXPECT_EQ(pixel(image, 20 + 160, 30), kLight[Ink::Ground]) << "right of the last column";
    EXPECT_EQ(pixel(image, 30, 10 + 120), kLight[Ink::Ground]) << "below the last row";
}

TEST(Grid, LinesAreOnePixelAtAnyZoomAndPosition) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(300, 40);
    std::vector<Cell> cells(40, cell(Ink::GlobalLoad));
    canvas.grids().set_cells(1, 1, 1, 40, cells);
    // No line falls on the middle of a pixel, where either neighbour would be right.
    for (float pitch : {9.313f, 11.f, 17.77f, 31.513f})
        for (float x : {0.f, 3.25f, -7.6f}) {
            auto view = view_at(x, -5, pitch, 300, 40);
            view.y = -pitch * 0.3f;
            auto image = canvas.frame(
                kLight, [&](ImDrawList& list) { canvas.grids().draw(list, 1, view, kLight, 1); });
            for (int px = 1; px < 300; ++px) {
                const auto of = [&](int at) {
                    return std::floor((static_cast<float>(at) + 0.5f - x) / pitch);
                };
                if (of(px) >= 40 || of(px) < 0) continue;
                const bool line = of(px) != of(px - 1);
                EXPECT_EQ(pixel(image, px, 3), line ? kLight[Ink::Panel] : kLight[Ink::GlobalLoad])
                    << "pitch " << pitch << " x " << x << " pixel " << px;
            }
        }
}

TEST(Grid, StrengthBlendsOverTheQuietCellAndHeatFollowsCividis) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(120, 40);
    std::vector<Cell> cells = {cell(Ink::GlobalLoad, 128), cell(Ink::Heat, 0), cell(Ink::Heat, 255)};
    canvas.grids().set_cells(7, 1, 1, 3, cells);
    auto image = canvas.frame(kLight, [&](ImDrawList& list) {
        canvas.grids().draw(list, 7, view_at(0, 0, 40, 120, 40), kLight, 1);
    });
    const Rgba blend = mix(kLight[Ink::Cell], kLight[Ink::GlobalLoad], 128.f / 255.f),
               got = pixel(image, 20, 20);
    for (int shift : {0, 8, 16})  // the GPU's rounding of a blend may differ by one
        EXPECT_NEAR(static_cast<int>(got >> shift & 255), static_cast<int>(blend >> shift & 255), 1);
    EXPECT_EQ(pixel(image, 60, 20), kLight.heat[0]);
    EXPECT_EQ(pixel(image, 100, 20), kLight.heat[255]);
}

TEST(Grid, AHotCellOfALargeMatrixStaysInSightAtAnyZoom) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(300, 300);
    constexpr uint32_t n = 8192;
    std::vector<Cell> cells(size_t{n} * n);
    for (auto [row, col] : {std::pair{0u, 0u}, {5000u, 1234u}, {8191u, 8191u}})
        cells[size_t{row} * n + col] = cell(Ink::Fault);
    canvas.grids().set_cells(1, 1, n, n, cells);
    for (float pitch : {0.03f, 0.0111f}) {
        auto image = canvas.frame(kLight, [&](ImDrawList& list) {
            canvas.grids().draw(list, 1, view_at(2, 2, pitch, 300, 300), kLight, 1);
        });
        for (auto [row, col] : {std::pair{0.5, 0.5}, {5000.5, 1234.5}, {8191.5, 8191.5}}) {
            const int x = static_cast<int>(2 + col * pitch), y = static_cast<int>(2 + row * pitch);
            bool seen = false;  // in the pixel where it lies, or a neighbour: a texel covers 1 to 2 pixels
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx) seen |= pixel(image, x + dx, y + dy) == kLight[Ink::Fault];
            EXPECT_TRUE(seen) << row << "," << col << " at pitch " << pitch;
        }
        EXPECT_EQ(pixel(image, 50, 30), kLight[Ink::Cell]);
    }
}

TEST(Grid, CellsUploadedLaterChangeEveryLevelThatWasDrawn) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(128, 128);
    std::vector<Cell> cells(size_t{513} * 511);
    canvas.grids().set_cells(1, 1, 513, 511, cells);
    EXPECT_FALSE(canvas.grids().stale(1, 1));
    auto shot = [&](float pitch) {
        return canvas.frame(kLight, [&](ImDrawList& list) {
            canvas.grids().draw(list, 1, view_at(0, 0, pitch, 128, 128), kLight, 1);
        });
    };
    auto count = [](const platform::Image& image) {
        int n = 0;
        for (int y = 0; y < 128; ++y)
            for (int x = 0; x < 128; ++x) n += pixel(image, x, y) == kLight[Ink::GlobalStore];
        return n;
    };
    EXPECT_EQ(count(shot(0.2f)), 0);
    EXPECT_EQ(count(shot(2.f)), 0);
    for (const size_t row : {30u, 31u})
        std::fill_n(cells.begin() + static_cast<std::ptrdiff_t>(row * 511 + 20), 3, cell(Ink::GlobalStore));
    canvas.grids().set_cells(1, 2, 513, 511, cells);
    EXPECT_FALSE(canvas.grids().stale(1, 2));
    EXPECT_TRUE(canvas.grids().stale(1, 1));
    EXPECT_GE(count(shot(0.2f)), 1);
    EXPECT_EQ(count(shot(2.f)), 2 * 2 * 6) << "six cells of two by two pixels";
    cells.back() = cell(Ink::GlobalStore);
    canvas.grids().set_cells(1, 3, 513, 511, cells);
    EXPECT_GE(count(shot(0.2f)), 2) << "the odd last row and column";
}

TEST(Grid, PatternsAreThereBesideTheColours) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(192, 48);
    std::vector<Cell> cells;
    for (CellPattern p : {CellPattern::None, CellPattern::Hatch, CellPattern::Dots, CellPattern::Cross})
        cells.push_back(cell(Ink::Inactive, 255, p));
    for (const draw::Theme theme : {draw::Theme::Light, draw::Theme::Dark}) {
        const Palette& p = palette(theme);
        canvas.grids().set_cells(1, 1, 1, 4, cells);
        auto image = canvas.frame(
            p, [&](ImDrawList& list) { canvas.grids().draw(list, 1, view_at(0, 0, 48, 192, 48), p, 1); });
        for (int c = 0; c < 4; ++c) {
            int plain = 0, other = 0;
            float most = 1;
            for (int y = 4; y < 44; ++y)
                for (int x = c * 48 + 4; x < c * 48 + 44; ++x) {
                    const Rgba got = pixel(image, x, y);
                    (got == p[Ink::Inactive] ? plain : other)++;
                    most = std::max(most, contrast(got, p[Ink::Inactive]));
                }
            if (c == 0) {
                EXPECT_EQ(other, 0);
            } else {
                EXPECT_GT(other, 40 * 40 / 50) << "pattern " << c;
                EXPECT_GT(plain, 40 * 40 / 2) << "pattern " << c;
                EXPECT_GT(most, 1.5f) << "pattern " << c << " is too faint";
            }
        }
    }
}

TEST(Grid, MarksFrameExactlyTheirCellsAndStayInTheClip) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(200, 200);
    canvas.grids().set_cells(1, 1, 10, 10, std::vector<Cell>(100));
    GridView view{10, 10, 18, {0, 0}, {100, 200}};
    const Rgba red = rgb(0xC00010), blue = rgb(0x1020C0);
    const std::vector<GridMark> marks = {{2, 3, 2, 5, 0, red, 3, false, CellPattern::None},
                                         {6, 0, 1, 1, blue, 0, 0, false, CellPattern::None}};
    auto image =
        canvas.frame(kLight, [&](ImDrawList& list) { canvas.grids().draw(list, 1, view, kLight, 1, marks); });
    const int left = 10 + 3 * 18, top = 10 + 2 * 18;
    EXPECT_EQ(pixel(image, left, top), red);
    EXPECT_EQ(pixel(image, left + 2, top + 8), red);
    EXPECT_NE(pixel(image, left + 3, top + 8), red) << "three pixels wide";
    EXPECT_NE(pixel(image, left - 1, top), red);
    EXPECT_EQ(pixel(image, 99, top), red);
    EXPECT_EQ(pixel(image, 100, top), kLight[Ink::Ground]) << "outside the clip";
    EXPECT_EQ(pixel(image, 10, 10 + 6 * 18), blue);
    EXPECT_EQ(pixel(image, 27, 10 + 7 * 18 - 1), blue);
    EXPECT_NE(pixel(image, 28, 10 + 6 * 18 + 9), blue);
}

TEST(Grid, WhatIsDrawnAfterAGridLiesOnTopOfItAndKeepsItsColour) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(64, 64);
    canvas.grids().set_cells(1, 1, 4, 4, std::vector<Cell>(16, cell(Ink::GlobalLoad)));
    const Rgba green = rgb(0x00A000);
    auto image = canvas.frame(kLight, [&](ImDrawList& list) {
        canvas.grids().draw(list, 1, view_at(0, 0, 16, 64, 64), kLight, 1);
        list.AddRectFilled({20, 20}, {30, 30}, green);
    });
    EXPECT_EQ(pixel(image, 25, 25), green);
    EXPECT_EQ(pixel(image, 40, 40), kLight[Ink::GlobalLoad]);
}

}  // namespace
}  // namespace tilescope::draw
