// Type: Inter for words, JetBrains Mono for numbers and code, in four sizes; two smaller ones of Mono
// are for the cells of grids alone.
//
// The font files are built into the program from the system's packages; where they were missing at
// build time they are looked for at run time, and where they are missing then too, ImGui's own face
// stands in and notice() says so. ImGui's widgets are put in the look of the rest here too.
#pragma once

#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "app/draw/theme.h"
#include "imgui.h"

namespace tilescope::draw {

enum class Face : uint8_t { Text, Strong, Mono };  // Strong is Inter SemiBold
enum class Size : uint8_t { Small, Body, Title, Display, CellSmall, CellTiny };
inline constexpr float kSizes[] = {13, 16, 20, 28, 11, 9};  // logical pixels

struct Font {
    ImFont* font = nullptr;
    float px = 16;  // framebuffer pixels
};

class Fonts {
public:
    // Builds the atlas of the current ImGui context for a scale (framebuffer pixels per logical
    // pixel); does nothing when it is built for that scale already. Returns true if it was rebuilt.
    bool ensure(float scale);
    Font of(Face face, Size size) const;  // CellSmall and CellTiny are of Mono only; others give Small
    // Mono for a grid's cells: the largest size, up to `most`, in which `text` fits width x height
    // (framebuffer pixels); none where not even the smallest does. No size is ever scaled, so that what
    // is drawn is crisp and no sign gets lost.
    std::optional<Font> for_cells(std::string_view text, float width, float height,
                                  Size most = Size::Display) const;
    const std::string& notice() const { return notice_; }  // one sentence, or empty

private:
    std::array<std::array<Font, std::size(kSizes)>, 3> fonts_{};
    float scale_ = 0;
    std::string notice_;
};

// ImGui's colours and metrics for a theme; call when theme or scale changed.
void apply_style(const Palette& palette, float scale);

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
