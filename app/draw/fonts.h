// Type: Inter for words, JetBrains Mono for numbers and code, in four sizes.
//
// The font files are built into the program from the system's packages; where they were missing at
// build time they are looked for at run time, and where they are missing then too, ImGui's own face
// stands in and notice() says so.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "app/draw/theme.h"
#include "imgui.h"

namespace tilescope::draw {

enum class Face : uint8_t { Text, Strong, Mono };           // Strong is Inter SemiBold
enum class Size : uint8_t { Small, Body, Title, Display };  // 13, 16, 20, 28 logical pixels
inline constexpr float kSizes[] = {13, 16, 20, 28};

struct Font {
    ImFont* font = nullptr;
    float px = 16;  // framebuffer pixels
};

class Fonts {
public:
    // Builds the atlas of the current ImGui context for a scale (framebuffer pixels per logical
    // pixel); does nothing when it is built for that scale already. Returns true if it was rebuilt.
    bool ensure(float scale);
    Font of(Face face, Size size) const;
    float scale() const { return scale_; }
    const std::string& notice() const { return notice_; }  // one sentence, or empty

private:
    std::array<std::array<Font, 4>, 3> fonts_{};
    float scale_ = 0;
    std::string notice_;
};

// Widgets between push and pop are set in that font.
void push_font(const Font& font);
void pop_font();

// Text straight into a draw list, positions in framebuffer pixels, rounded so that it is crisp.
ImVec2 text_size(const Font& font, std::string_view text);
enum class Align : uint8_t { Left, Center, Right };
// pos: the top left, top centre or top right corner.
void draw_text(ImDrawList& list, const Font& font, ImVec2 pos, Rgba color, std::string_view text,
               Align align = Align::Left);
// In the middle of a box; returns false and draws nothing where it does not fit.
bool draw_text_in(ImDrawList& list, const Font& font, ImVec2 min, ImVec2 max, Rgba color,
                  std::string_view text);

}  // namespace tilescope::draw
