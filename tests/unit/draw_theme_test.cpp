// The palettes keep what the look promises: words can be read, colours can be told apart.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "app/draw/theme.h"

namespace tilescope::draw {
namespace {

constexpr Ink kMeanings[] = {Ink::GlobalLoad, Ink::GlobalStore, Ink::SharedLoad, Ink::SharedStore,
                             Ink::Barrier,    Ink::Fault,       Ink::Atomic,     Ink::Local,
                             Ink::Constant,   Ink::Exchange};

float channel(Rgba c, int i) { return static_cast<float>(c >> (8 * i) & 255) / 255.f; }

// As a person without red cones (protan) or green cones (deutan) sees a colour, in linear light.
// Source: Viénot, Brettel, Mollon, "Digital video colourmaps for checking the legibility of displays by
// dichromats", Color Research and Application 24(4), 1999: the matrices for linear RGB.
std::array<float, 3> seen_by(Rgba c, bool protan) {
    float lin[3];
    for (int i = 0; i < 3; ++i) lin[i] = std::pow(channel(c, i), 2.2f);
    const float a = protan ? 0.11238f : 0.29275f, b = 1 - a;
    const float rg = a * lin[0] + b * lin[1];
    const float k = protan ? 0.00401f : -0.02234f;
    const float blue = k * lin[0] - k * lin[1] + lin[2];
    return {std::pow(std::max(rg, 0.f), 1 / 2.2f), std::pow(std::max(rg, 0.f), 1 / 2.2f),
            std::pow(std::max(blue, 0.f), 1 / 2.2f)};
}

struct Look {
    draw::Theme theme;
    bool lecture;
};
class Themes : public testing::TestWithParam<Look> {
protected:
    const Palette& p = palette(GetParam().theme, GetParam().lecture);
};
INSTANTIATE_TEST_SUITE_P(All, Themes,
                         testing::Values(Look{draw::Theme::Light, false}, Look{draw::Theme::Dark, false},
                                         Look{draw::Theme::Light, true}, Look{draw::Theme::Dark, true}),
                         [](const auto& look) {
                             return std::string(look.param.theme == draw::Theme::Light ? "light" : "dark") +
                                    (look.param.lecture ? "_lecture" : "");
                         });

// Every ink of words on every ground that has words: panels, buttons, cells, what lies outside a matrix.
TEST_P(Themes, WordsCanBeRead) {
    for (Ink ground : {Ink::Panel, Ink::Ground, Ink::Raised, Ink::Cell, Ink::Outside}) {
        EXPECT_GE(contrast(p[Ink::Text], p[ground]), 10) << static_cast<int>(ground);
        EXPECT_GE(contrast(p[Ink::TextQuiet], p[ground]), 5) << static_cast<int>(ground);
        EXPECT_GE(contrast(p[Ink::TextFaint], p[ground]), kTextContrast) << static_cast<int>(ground);
    }
    for (Rgba hot : p.heat) EXPECT_GE(contrast(p.text_on(hot), hot), 4.5);
    for (int i = 0; i < kInks; ++i) EXPECT_GE(contrast(p.text_on(p.ink[i]), p.ink[i]), 4.5) << i;
}

TEST_P(Themes, SignsHaveAnEdgeOnAPanel) {
    for (int i = static_cast<int>(Ink::Product); i < kInks; ++i) {
        const Ink ink = static_cast<Ink>(i);
        const bool own = contrast(p[ink], p[Ink::Panel]) >= kSignContrast;
        EXPECT_GE(contrast(p.edge_of(ink), p[Ink::Panel]), kSignContrast) << i;
        EXPECT_EQ(p.edge_of(ink) == p[ink], own) << i << ": an edge of its own only where it needs one";
    }
}

// A projector in a lit room: every step that tells things apart is larger than on a screen.
TEST_P(Themes, LecturesHaveMoreContrast) {
    const Palette& usual = palette(GetParam().theme, false);
    if (!GetParam().lecture) return;
    for (Ink ink :
         {Ink::Text, Ink::TextQuiet, Ink::TextFaint, Ink::Cell, Ink::Inactive, Ink::Line, Ink::LineStrong,
          Ink::GlobalLoad, Ink::GlobalStore, Ink::SharedLoad, Ink::SharedStore, Ink::Barrier, Ink::Fault})
        EXPECT_GT(contrast(p[ink], p[Ink::Panel]), contrast(usual[ink], usual[Ink::Panel]))
            << static_cast<int>(ink);
    EXPECT_GE(contrast(p[Ink::TextFaint], p[Ink::Panel]), 7);
}

TEST_P(Themes, LoudColoursStandOutFromTheQuietCell) {
    for (Ink ink : kMeanings) EXPECT_GE(contrast(p[ink], p[Ink::Cell]), 1.9) << static_cast<int>(ink);
}

TEST_P(Themes, EveryTwoMeaningsDifferForColourBlindEyesToo) {
    for (Ink a : kMeanings)
        for (Ink b : kMeanings)
            for (bool protan : {true, false}) {
                if (a >= b) continue;
                auto x = seen_by(p[a], protan), y = seen_by(p[b], protan);
                float far = 0;
                for (size_t i = 0; i < 3; ++i) far += (x[i] - y[i]) * (x[i] - y[i]);
                EXPECT_GT(std::sqrt(far), 0.12f) << static_cast<int>(a) << " and " << static_cast<int>(b)
                                                 << (protan ? " protan" : " deutan");
            }
}

TEST_P(Themes, HeatGrowsLighterAllTheWay) {
    const Rgba black = rgb(0);
    for (size_t i = 1; i < 256; ++i)
        // Channels are whole numbers, whose rounding may take back a fraction of a percent.
        EXPECT_GE(contrast(p.heat[i], black), 0.998f * contrast(p.heat[i - 1], black)) << i;
}

// A sum of values that nobody stored is NaN.
TEST_P(Themes, HeatHasAColourForEveryNumber) {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float low : {-1.f, std::numeric_limits<float>::quiet_NaN(), -infinity})
        EXPECT_EQ(p.hot(low), p.hot(0)) << low;
    for (const float high : {2.f, infinity}) EXPECT_EQ(p.hot(high), p.hot(1)) << high;
}

}  // namespace
}  // namespace tilescope::draw
