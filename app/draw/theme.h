// The look: quiet ground, few colours, each with one meaning everywhere.
//
//   Okabe-Ito hues, safe for colour-blind eyes, each tuned so that it keeps its contrast on the light
//   and on the dark ground; heat is cividis, which reads the same to everyone and in grey.
//   Spacing comes in steps of 8, type in 13, 16, 20 and 28 (logical pixels; times Canvas::scale).
//
// Sources: Okabe and Ito, "Color Universal Design" (2008), the eight-colour set; Nunez, Anderton and
// Renslow, "Optimizing colormaps with consideration for color vision deficiency", PLoS ONE 13(7), 2018.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tilescope::draw {

enum class Theme : uint8_t { Light, Dark };

// Red in the lowest byte, alpha in the highest: ImGui's ImU32, and RGBA in memory.
using Rgba = uint32_t;
constexpr Rgba rgb(uint32_t hex) {  // 0xRRGGBB
    return 0xFF000000u | (hex & 0xFF) << 16 | (hex & 0xFF00) | (hex >> 16 & 0xFF);
}
constexpr Rgba with_alpha(Rgba color, float alpha) {  // alpha 0..1 replaces the colour's own
    return (color & 0x00FFFFFFu) | static_cast<uint32_t>(alpha * 255.f + 0.5f) << 24;
}
Rgba mix(Rgba a, Rgba b, float t);  // a at 0, b at 1; all four channels

// What a colour means. From Cell on the order is loudness: where many cells share one pixel, the
// loudest one is seen (grid_renderer.h).
enum class Ink : uint8_t {
    // surfaces and lines
    Ground,      // behind everything
    Panel,       // a panel's surface
    Raised,      // buttons, fields, a selected row
    Line,        // separators, grid lines
    LineStrong,  // borders that must be seen
    // words
    Text,
    TextQuiet,
    TextFaint,
    Accent,  // what can be pressed; the cursor; focus
    // cells, quiet to loud
    Cell,      // an element nobody touched
    Outside,   // no element here: out of bounds, zero filled
    Inactive,  // a lane that sits this one out
    Heat,      // cividis by strength, 0 to 255
    Selected,  // pinned or hovered
    Product,   // read by the multiplication
    Barrier,
    Constant,  // loads of constant memory
    Local,     // loads and stores of local memory
    Exchange,  // shuffles, votes and the like among the lanes of a warp
    SharedLoad,
    GlobalLoad,
    SharedStore,
    GlobalStore,
    Atomic,  // atomics of global and shared memory
    Fault,   // error, race, wrong result
    kCount
};
inline constexpr int kInks = static_cast<int>(Ink::kCount);

// WCAG 2.1, success criteria 1.4.3 and 1.4.11: the least contrast of text, and of what is no text.
inline constexpr float kTextContrast = 4.5f, kSignContrast = 3;

struct Palette {
    std::array<Rgba, kInks> ink{};
    std::array<Rgba, 256> heat{};  // cividis; reversed in no theme: dark is cold
    Rgba operator[](Ink i) const { return ink[static_cast<size_t>(i)]; }
    Rgba hot(float t) const;  // t clamped to 0..1, NaN to 0
    // Text that can be read on a cell of that colour: black or white, whichever has more contrast.
    Rgba text_on(Rgba fill) const;
    // The outline of a sign on a panel: its own colour, or, where that is as pale as yellow on white, that
    // colour darkened or lightened until it has kSignContrast.
    Rgba edge_of(Ink of) const;
};
// lecture: the same hues pushed apart for a projector in a lit room, which washes out what is pale.
const Palette& palette(Theme theme, bool lecture = false);

// WCAG 2.1 contrast ratio of two opaque colours, 1..21.
float contrast(Rgba a, Rgba b);

}  // namespace tilescope::draw
