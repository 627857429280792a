// The palettes, cividis, and contrast.
#include "app/draw/theme.h"

#include <algorithm>
#include <cmath>

namespace tilescope::draw {

namespace {

constexpr std::array<Rgba, kInks> kLight = {
    rgb(0xF3F4F6),  // Ground
    rgb(0xFFFFFF),  // Panel
    rgb(0xECEEF2),  // Raised
    rgb(0xDFE2E8),  // Line
    rgb(0x9AA2B0),  // LineStrong
    rgb(0x1A1E26),  // Text
    rgb(0x515968),  // TextQuiet
    rgb(0x747C8A),  // TextFaint
    rgb(0xFFFFFF),  // TextOnColor
    rgb(0x2F3747),  // Accent
    rgb(0xE9ECF1),  // Cell
    rgb(0xF3F4F6),  // Outside
    rgb(0xC6CBD4),  // Inactive
    rgb(0x39486B),  // Heat (by strength)
    rgb(0x1A1E26),  // Selected
    rgb(0xF0DC3A),  // Product: yellow
    rgb(0xC476A2),  // Barrier: reddish purple
    rgb(0x008A64),  // SharedLoad: bluish green
    rgb(0x0069A8),  // GlobalLoad: blue
    rgb(0x4AAEE6),  // SharedStore: sky blue
    rgb(0xD98E00),  // GlobalStore: orange
    rgb(0xC8470A),  // Fault: vermillion
};

constexpr std::array<Rgba, kInks> kDark = {
    rgb(0x14171C),  // Ground
    rgb(0x1B1F26),  // Panel
    rgb(0x292F39),  // Raised
    rgb(0x2C323C),  // Line
    rgb(0x5B6473),  // LineStrong
    rgb(0xE8EBF0),  // Text
    rgb(0xAAB2C0),  // TextQuiet
    rgb(0x838C9B),  // TextFaint
    rgb(0x0E1013),  // TextOnColor
    rgb(0xD5DBE6),  // Accent
    rgb(0x2B313B),  // Cell
    rgb(0x171A20),  // Outside
    rgb(0x434A57),  // Inactive
    rgb(0x707173),  // Heat (by strength)
    rgb(0xF4F6FA),  // Selected
    rgb(0xF0E442),  // Product: yellow
    rgb(0xD88BB8),  // Barrier: reddish purple
    rgb(0x21B88C),  // SharedLoad: bluish green
    rgb(0x3B8FD9),  // GlobalLoad: blue
    rgb(0x86D4F7),  // SharedStore: sky blue
    rgb(0xF0AB2B),  // GlobalStore: orange
    rgb(0xF2703A),  // Fault: vermillion
};

// In a lit room a projector adds grey to everything: surfaces that differ by little become one, so the
// steps between them are larger here, quiet words are nearly as dark as loud ones, and hues are deeper.
constexpr std::array<Rgba, kInks> kLightLecture = {
    rgb(0xDDE1E8),  // Ground
    rgb(0xFFFFFF),  // Panel
    rgb(0xD3D9E3),  // Raised
    rgb(0xA9B1BF),  // Line
    rgb(0x5C6575),  // LineStrong
    rgb(0x000000),  // Text
    rgb(0x272D38),  // TextQuiet
    rgb(0x414958),  // TextFaint
    rgb(0xFFFFFF),  // TextOnColor
    rgb(0x141A26),  // Accent
    rgb(0xCFD6E1),  // Cell
    rgb(0xEEF0F4),  // Outside
    rgb(0x98A2B2),  // Inactive
    rgb(0x39486B),  // Heat (by strength)
    rgb(0x000000),  // Selected
    rgb(0xF5DC00),  // Product: yellow
    rgb(0xBB6497),  // Barrier: reddish purple
    rgb(0x00704F),  // SharedLoad: bluish green
    rgb(0x004F8C),  // GlobalLoad: blue
    rgb(0x1C8ACB),  // SharedStore: sky blue
    rgb(0xB86E00),  // GlobalStore: orange
    rgb(0xB03600),  // Fault: vermillion
};

constexpr std::array<Rgba, kInks> kDarkLecture = {
    rgb(0x000000),  // Ground
    rgb(0x11151B),  // Panel
    rgb(0x323A47),  // Raised
    rgb(0x4C5665),  // Line
    rgb(0x93A0B4),  // LineStrong
    rgb(0xFFFFFF),  // Text
    rgb(0xDCE2EC),  // TextQuiet
    rgb(0xBAC3D1),  // TextFaint
    rgb(0x000000),  // TextOnColor
    rgb(0xF2F5FA),  // Accent
    rgb(0x38414F),  // Cell
    rgb(0x1B212A),  // Outside
    rgb(0x677286),  // Inactive
    rgb(0x707173),  // Heat (by strength)
    rgb(0xFFFFFF),  // Selected
    rgb(0xFFF14A),  // Product: yellow
    rgb(0xF2A6D3),  // Barrier: reddish purple
    rgb(0x2EDDA8),  // SharedLoad: bluish green
    rgb(0x58ABF5),  // GlobalLoad: blue
    rgb(0xB0E6FF),  // SharedStore: sky blue
    rgb(0xFFBE3D),  // GlobalStore: orange
    rgb(0xFF8450),  // Fault: vermillion
};

// cividis at ten even places; straight lines between them are within 2 of 255 of the full table.
constexpr Rgba kCividis[] = {rgb(0x00204D), rgb(0x00336F), rgb(0x39486B), rgb(0x575C6D), rgb(0x707173),
                             rgb(0x8A8779), rgb(0xA69D75), rgb(0xC4B56C), rgb(0xE4CF5B), rgb(0xFFEA46)};

Palette make(Theme theme, bool lecture) {
    Palette p;
    p.theme = theme;
    const bool light = theme == Theme::Light;
    p.ink = lecture ? (light ? kLightLecture : kDarkLecture) : (light ? kLight : kDark);
    constexpr float spans = static_cast<float>(std::size(kCividis) - 1);
    for (size_t i = 0; i < 256; ++i) {
        float at = static_cast<float>(i) / 255.f * spans;
        size_t k = std::min(static_cast<size_t>(at), std::size(kCividis) - 2);
        p.heat[i] = mix(kCividis[k], kCividis[k + 1], at - static_cast<float>(k));
    }
    return p;
}

float channel(Rgba c, int shift) { return static_cast<float>(c >> shift & 0xFF); }

// Relative luminance, WCAG 2.1.
float luminance(Rgba c) {
    auto linear = [](float v) {
        v /= 255.f;
        return v <= 0.03928f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
    };
    return 0.2126f * linear(channel(c, 0)) + 0.7152f * linear(channel(c, 8)) +
           0.0722f * linear(channel(c, 16));
}

}  // namespace

Rgba mix(Rgba a, Rgba b, float t) {
    t = std::clamp(t, 0.f, 1.f);
    Rgba out = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        float v = channel(a, shift) + (channel(b, shift) - channel(a, shift)) * t;
        out |= static_cast<Rgba>(v + 0.5f) << shift;
    }
    return out;
}

Rgba Palette::hot(float t) const { return heat[static_cast<size_t>(std::clamp(t, 0.f, 1.f) * 255.f + 0.5f)]; }

Rgba Palette::text_on(Rgba fill) const {
    constexpr Rgba black = rgb(0x000000), white = rgb(0xFFFFFF);
    return contrast(fill, black) >= contrast(fill, white) ? black : white;
}

Ink ink_of(StepKind kind) {
    switch (kind) {
        case StepKind::GlobalLoad:
            return Ink::GlobalLoad;
        case StepKind::GlobalStore:
            return Ink::GlobalStore;
        case StepKind::SharedLoad:
            return Ink::SharedLoad;
        case StepKind::SharedStore:
            return Ink::SharedStore;
        case StepKind::Barrier:
            return Ink::Barrier;
    }
    return Ink::Text;
}

const Palette& palette(Theme theme, bool lecture) {
    static const Palette all[2][2] = {{make(Theme::Light, false), make(Theme::Dark, false)},
                                      {make(Theme::Light, true), make(Theme::Dark, true)}};
    return all[lecture ? 1 : 0][theme == Theme::Light ? 0 : 1];
}

float contrast(Rgba a, Rgba b) {
    float la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05f) / (std::min(la, lb) + 0.05f);
}

}  // namespace tilescope::draw
