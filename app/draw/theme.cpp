// The palettes, cividis, and contrast.
#include "app/draw/theme.h"

#include <algorithm>
#include <cmath>

namespace tilescope::draw {

namespace {

// In a lit room a projector adds grey to everything, and surfaces that differ by little look the same. So for
// lectures the steps between them are larger, quiet words are nearly as dark as loud ones, hues deeper.
constexpr uint32_t kColors[kInks][4] = {
    // light, dark, light and dark for lectures
    {0xF3F4F6, 0x14171C, 0xDDE1E8, 0x000000},  // Ground
    {0xFFFFFF, 0x1B1F26, 0xFFFFFF, 0x11151B},  // Panel
    {0xECEEF2, 0x292F39, 0xD3D9E3, 0x323A47},  // Raised
    {0xDFE2E8, 0x2C323C, 0xA9B1BF, 0x4C5665},  // Line
    {0x9AA2B0, 0x5B6473, 0x5C6575, 0x93A0B4},  // LineStrong
    {0x1A1E26, 0xE8EBF0, 0x000000, 0xFFFFFF},  // Text
    {0x515968, 0xAAB2C0, 0x272D38, 0xDCE2EC},  // TextQuiet
    {0x616977, 0x939CAB, 0x414958, 0xBAC3D1},  // TextFaint
    {0x2F3747, 0xD5DBE6, 0x141A26, 0xF2F5FA},  // Accent
    {0xE9ECF1, 0x2B313B, 0xCFD6E1, 0x38414F},  // Cell
    {0xF3F4F6, 0x171A20, 0xEEF0F4, 0x1B212A},  // Outside
    {0xC6CBD4, 0x434A57, 0x98A2B2, 0x677286},  // Inactive
    {0x39486B, 0x707173, 0x39486B, 0x707173},  // Heat (by strength)
    {0x1A1E26, 0xF4F6FA, 0x000000, 0xFFFFFF},  // Selected
    {0xDCC000, 0xF0E442, 0xD2B200, 0xFFF14A},  // Product: yellow
    {0xC476A2, 0xD88BB8, 0xBB6497, 0xF2A6D3},  // Barrier: reddish purple
    {0x4D627B, 0x3B6876, 0x243E36, 0x438781},  // Constant: slate
    {0x8F7E39, 0x686B2A, 0x606627, 0x77712F},  // Local: olive
    {0xA3134E, 0xCC145E, 0xD91664, 0xFF40A9},  // Exchange: rose
    {0x008A64, 0x21B88C, 0x00704F, 0x2EDDA8},  // SharedLoad: bluish green
    {0x0069A8, 0x3B8FD9, 0x004F8C, 0x58ABF5},  // GlobalLoad: blue
    {0x4AAEE6, 0x86D4F7, 0x1C8ACB, 0xB0E6FF},  // SharedStore: sky blue
    {0xD98E00, 0xF0AB2B, 0xB86E00, 0xFFBE3D},  // GlobalStore: orange
    {0x9A5FEE, 0x7246B1, 0x4F2865, 0x9856D9},  // Atomic: violet
    {0xC8470A, 0xF2703A, 0xB03600, 0xFF8450},  // Fault: vermillion
};

// cividis at ten even places; straight lines between them are within 2 of 255 of the full table.
constexpr Rgba kCividis[] = {rgb(0x00204D), rgb(0x00336F), rgb(0x39486B), rgb(0x575C6D), rgb(0x707173),
                             rgb(0x8A8779), rgb(0xA69D75), rgb(0xC4B56C), rgb(0xE4CF5B), rgb(0xFFEA46)};

Palette make(size_t column) {
    Palette p;
    for (size_t i = 0; i < p.ink.size(); ++i) p.ink[i] = rgb(kColors[i][column]);
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

Rgba Palette::hot(float t) const {
    return heat[static_cast<size_t>((t > 0 ? std::min(t, 1.f) : 0.f) * 255.f + 0.5f)];
}

Rgba Palette::text_on(Rgba fill) const {
    constexpr Rgba black = rgb(0x000000), white = rgb(0xFFFFFF);
    return contrast(fill, black) >= contrast(fill, white) ? black : white;
}

Rgba Palette::edge_of(Ink of) const {
    const Rgba own = (*this)[of], ground = (*this)[Ink::Panel], far = text_on(ground);
    float t = 0;
    while (t < 1 && contrast(mix(own, far, t), ground) < kSignContrast) t += 0.0625f;
    return mix(own, far, t);
}

const Palette& palette(Theme theme, bool lecture) {
    static const Palette all[] = {make(0), make(1), make(2), make(3)};
    return all[(lecture ? 2 : 0) + (theme == Theme::Dark ? 1 : 0)];
}

float contrast(Rgba a, Rgba b) {
    float la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05f) / (std::min(la, lb) + 0.05f);
}

}  // namespace tilescope::draw
