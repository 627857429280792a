// The look, as pictures: every ink, pattern, size of type and kind of mark, in both themes.
#include <fmt/format.h>

#include "tests/gl/canvas.h"
#include "tests/gl/golden.h"

namespace tilescope::draw {
namespace {

constexpr Ink kShown[] = {Ink::Cell,        Ink::GlobalLoad, Ink::GlobalStore, Ink::SharedLoad,
                          Ink::SharedStore, Ink::Barrier,    Ink::Product,     Ink::Inactive,
                          Ink::Outside,     Ink::Selected,   Ink::Fault,       Ink::Heat};
constexpr const char* kNames[] = {"untouched",    "global load", "global store", "shared load",
                                  "shared store", "barrier",     "multiplied",   "inactive",
                                  "outside",      "selected",    "fault",        "heat"};
constexpr int kWidth = 640, kHeight = 480;

// A row for each ink, a column for each strength, then one for each pattern.
std::vector<Cell> samples() {
    std::vector<Cell> cells;
    for (Ink ink : kShown) {
        for (int s : {64, 128, 192, 255}) cells.push_back(cell(ink, static_cast<uint8_t>(s)));
        for (CellPattern p : {CellPattern::Hatch, CellPattern::Dots, CellPattern::Cross})
            cells.push_back(cell(ink, 255, p));
    }
    return cells;
}

void paint(test::Canvas& canvas, const Palette& p, ImDrawList& list) {
    auto font = [&](Face face, Size size) { return canvas.fonts().of(face, size); };
    list.AddRectFilled({8, 8}, {kWidth - 8, kHeight - 8}, p[Ink::Panel], 6);
    draw_text(list, font(Face::Strong, Size::Display), {24, 16}, p[Ink::Text], "tiled T=16");
    draw_text(list, font(Face::Strong, Size::Title), {200, 24}, p[Ink::Text], "64 × 64 × 64");
    draw_text(list, font(Face::Text, Size::Body), {24, 52}, p[Ink::TextQuiet],
              "Warp 0 loads row 0: 32 lanes → 4 sectors");
    draw_text(list, font(Face::Text, Size::Small), {24, 74}, p[Ink::TextFaint], "Space play · ← → step");
    draw_text(list, font(Face::Mono, Size::Body), {616, 24}, p[Ink::Text], "1,048,576", Align::Right);
    draw_text(list, font(Face::Mono, Size::Small), {616, 52}, p[Ink::TextQuiet], "acc += Mds[ty][i]",
              Align::Right);

    canvas.grids().set_cells(1, 1, std::size(kShown), 7, samples());
    const GridView view{24, 104, 28, {0, 0}, {kWidth, kHeight}};
    const std::vector<GridMark> marks = {
        {1, 1, 4, 3, 0, p[Ink::Selected], 3, false, CellPattern::None},
        {6, 0, 3, 4, 0, p[Ink::Selected], 2, true, CellPattern::None},
        {0.5f, 5.5f, 1, 1, p[Ink::GlobalLoad], p[Ink::Panel], 2, false, CellPattern::None}};
    canvas.grids().draw(list, 1, view, p, 1, marks);
    for (size_t r = 0; r < std::size(kShown); ++r) {
        const ImVec2 at = corner_of(view, static_cast<double>(r), 3);
        const Rgba fill = kShown[r] == Ink::Heat ? p.heat[255] : p[kShown[r]];
        draw_text_in(list, font(Face::Mono, Size::Small), at, {at.x + 28, at.y + 28}, p.text_on(fill), "-9");
        draw_text(list, font(Face::Text, Size::Small), {232, at.y + 6}, p[Ink::Text], kNames[r]);
    }
    std::vector<Cell> ramp;
    for (uint32_t i = 0; i < 64 * 64; ++i)
        ramp.push_back(cell(Ink::Heat, static_cast<uint8_t>(i / 64 * 2 + i % 64 * 2)));
    canvas.grids().set_cells(2, 1, 64, 64, ramp);
    float y = 104;
    for (float pitch : {2.5f, 1.f, 0.4f}) {
        canvas.grids().draw(list, 2, {360, y, pitch, {0, 0}, {kWidth, kHeight}}, p, 1);
        canvas.grids().draw(list, 1, {540, y, pitch * 3, {0, 0}, {kWidth, kHeight}}, p, 1);
        y += 64 * pitch + 16;
    }
}

void look(draw::Theme theme, const std::string& name) {
    test::Canvas canvas(kWidth, kHeight);
    const Palette& p = palette(theme);
    test::expect_golden({canvas.frame(p, [&](ImDrawList& list) { paint(canvas, p, list); }), {}}, name);
}

TEST(Look, Light) {
    SKIP_WITHOUT_OPENGL();
    look(draw::Theme::Light, "look-light");
}

TEST(Look, Dark) {
    SKIP_WITHOUT_OPENGL();
    look(draw::Theme::Dark, "look-dark");
}

TEST(GoldenTolerance, TakesNoiseButNoChangeThatAPersonWouldSee) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(kWidth, kHeight);
    const Palette& p = palette(draw::Theme::Light);
    auto shot = [&](float shift, Ink frame, bool word) {
        return canvas.frame(p, [&](ImDrawList& list) {
            paint(canvas, p, list);
            list.AddRect({350 + shift, 290}, {590 + shift, 470}, p[frame], 0, 0, 2);
            if (word)
                draw_text(list, canvas.fonts().of(Face::Strong, Size::Title), {370, 340}, p[Ink::Text],
                          "a verdict in eight or nine more words");
        });
    };
    const auto before = shot(0, Ink::GlobalLoad, false);
    auto noisy = before;
    for (size_t i = 0; i < noisy.rgba.size(); i += 5)  // one channel in five by 4: what rounding does
        noisy.rgba[i] = static_cast<uint8_t>(noisy.rgba[i] < 128 ? noisy.rgba[i] + 4 : noisy.rgba[i] - 4);
    EXPECT_TRUE(test::agree(test::difference(before, noisy)));
    EXPECT_FALSE(test::agree(test::difference(before, shot(28, Ink::GlobalLoad, false))))
        << "a frame moved by a cell";
    EXPECT_FALSE(test::agree(test::difference(before, shot(0, Ink::Fault, false)))) << "another colour";
    EXPECT_FALSE(test::agree(test::difference(before, shot(0, Ink::GlobalLoad, true)))) << "words more";
}

// With other fonts: the same words, each wherever it stands, and the same layout.
TEST(GoldenTolerance, WithOtherFontsTakesOtherLettersButNoOtherLayoutOrWords) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(kWidth, kHeight);
    auto shot = [&](Theme theme, Face face, float shift) {
        return canvas.frame(palette(theme), [&](ImDrawList& list) {
            const Palette& p = palette(theme);
            paint(canvas, p, list);
            list.AddRectFilled({320 + shift, 290}, {460 + shift, 470}, p[Ink::GlobalLoad]);
            for (float y = 110; y < 280; y += 20)
                draw_text(list, canvas.fonts().of(face, Size::Body), {330, y}, p[Ink::Text],
                          "the quick brown fox jumps over it");
        });
    };
    const auto before = shot(Theme::Light, Face::Text, 0);
    EXPECT_FALSE(test::agree(test::difference(before, shot(Theme::Light, Face::Mono, 0))));
    EXPECT_LE(test::squares_apart(before, shot(Theme::Light, Face::Mono, 0)), test::kSquaresLimit / 2);
    EXPECT_GT(test::squares_apart(before, shot(Theme::Light, Face::Text, 140)), test::kSquaresLimit);
    EXPECT_GT(test::squares_apart(before, shot(Theme::Dark, Face::Text, 0)), test::kSquaresLimit);

    const std::string thirteen = "Warp 0 loads row 0 of the M tile: 32 lanes, 4 sectors";
    EXPECT_EQ(test::words_apart(thirteen, "4 sectors Warp 0 loads row\n0 of the M tile: 32 lanes,"), 0);
    EXPECT_EQ(test::words_apart(thirteen, thirteen + " more"), 1 / 13.0);
    EXPECT_GT(test::words_apart(thirteen, "Warp 1 loads row 1 of the M tile: 32 lanes, 4 sectors"),
              test::kWordsLimit);
}

TEST(Goldens, WriteSizesBytesAndBlocksInOneWay) {
    for (const char* foreign : {"16 x 16", "tiled 64x64x64", "2kB of it", "64 KB", "62.5 KiB", "8.0 GiB read",
                                "step 2 of block (1,0)"})
        EXPECT_EQ(test::foreign_forms(foreign), std::string(foreign) + "\n");
    for (const char* ours : {"16 × 16", "62.5 kB", "48 KiB", "8.59 GB read", "4,800 GB/s", "block(0,1)",
                             "// a patch of 8 x 8", "next 4", "a.tsc, 2x2"})
        EXPECT_EQ(test::foreign_forms(ours), "");
}

// A notice, not a check: skipped where the goldens are held by their words and layout alone.
TEST(Goldens, AreHeldByTheirPixels) {
    if (!TILESCOPE_GOLDEN_FONTS)
        GTEST_SKIP() << "the fonts here are not those that the goldens were drawn with "
                        "(tests/data/goldens/fonts.txt): pictures are held by their words and layout";
}

}  // namespace
}  // namespace tilescope::draw
