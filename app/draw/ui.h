// What every panel draws with: the frame's palette and type (fonts.cpp), and a few shapes (ui.cpp), so that
// spacing, titles, tooltips and marks are the same everywhere. Sizes are logical; px() makes pixels. It knows
// no state: what is drawn is the caller's.
#pragma once

#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/draw/grid_renderer.h"
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
    Font of(Face face, Size size) const {  // CellSmall and CellTiny are of Mono only; others give Small
        return fonts_[static_cast<size_t>(face)][static_cast<size_t>(size)];
    }
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

// Widgets from here to ImGui::PopFont() are set in that font.
void push_font(const Font& font);

// Text from files may be long, and hold controls: what the window shows of it, on one line. No line of a
// screen has room for more than kMostDrawn bytes. held: keeps it, where it is not the text itself.
inline constexpr size_t kMostDrawn = 4096;
std::string_view shown(std::string_view text, std::string& held);

// Text straight into a draw list, as shown() has it; positions in framebuffer pixels, rounded to be crisp.
ImVec2 text_size(const Font& font, std::string_view text);
enum class Align : uint8_t { Left, Center, Right };
// pos: the top left, top centre or top right corner.
void draw_text(ImDrawList& list, const Font& font, ImVec2 pos, Rgba color, std::string_view text,
               Align align = Align::Left);
// In the middle of a box; nothing where it does not fit.
void draw_text_in(ImDrawList& list, const Font& font, ImVec2 min, ImVec2 max, Rgba color,
                  std::string_view text);

struct Rect {
    ImVec2 min, max;
    float width() const { return max.x - min.x; }
    float height() const { return max.y - min.y; }
    bool contains(ImVec2 p) const { return p.x >= min.x && p.x < max.x && p.y >= min.y && p.y < max.y; }
    Rect inset(float by) const { return {{min.x + by, min.y + by}, {max.x - by, max.y - by}}; }
};

// What a frame wrote, and where: so that a test can hold that no text is cut, lies outside the window or on
// another text. Nothing is noted where nobody asks (Frame::inspect).
struct Written {
    std::string text;                  // the whole text, even where less of it is shown
    ImVec2 min, max;                   // framebuffer pixels
    bool cut = false;                  // an ellipsis stands for the rest
    const ImDrawList* list = nullptr;  // texts of different lists may lie on each other: an overlay's do
    bool place = false;                // a number of a ruler: where a row or column lies
};
struct Inspection {
    std::vector<Written> texts;
    std::vector<ImVec4> surfaces;                     // boxes of panels: left, top, right, bottom
    std::vector<std::pair<uint8_t, GridView>> grids;  // of arrays, by the array's number
    std::vector<std::pair<uint8_t, GridMark>> marks;  // on cells of arrays, by the array's number
    std::vector<ImVec4> moving;                       // what is on its way: left, top, right, bottom
};

// What panels lie on: rounded rectangles of one colour, under all else. They cover most of a frame. A clear
// costs software OpenGL a fraction of what triangles cost, so the frame clears them, all but the corners.
struct Surface {
    ImVec2 min, max;     // whole framebuffer pixels
    float rounding = 0;  // no more than its sides allow
    Rgba color = 0;
};

// A panel of a frame, which lies on one surface.
struct Panel {
    const char* name = "";  // what it was called as it was drawn: "request_panel", "timeline"
    Rect rect{};
};
// "request": as a menu and the name of a file say it.
std::string panel_word(const char* name);

// The words under the mouse, for explanations. Numbers and code, in the monospace face, are no words.
struct Pointed {
    std::string text;
    Font font{};
    ImVec2 at{};  // its left upper corner
};

// What one frame is drawn with. Valid while it is built.
struct DrawContext {
    float scale = 1;  // framebuffer pixels per logical pixel, the size of type included
    const Palette& palette;
    const Fonts& fonts;
    GridRenderer& grids;
    std::vector<Surface>* surfaces = nullptr;  // cleared under the draw lists; null: drawn in them
    double time = 0;                           // seconds since the program started; fixed in pictures
    bool still = false;                        // a picture: nothing may depend on time
    bool waits = false;                        // the frame waits for all work beside the window
    bool paper = false;                        // for print: nothing on it can be pressed
    bool typing = false;                       // a text field has the keyboard: key bindings are off
    bool closes_lists = false;                 // a key was pressed: a list of a chooser that lies open closes
    Inspection* inspection = nullptr;          // notes what is written, where a test asks
    // out
    std::vector<Panel>* panels = nullptr;  // notes the panels, in the order in which they are drawn
    bool another_frame = false;            // something moves: draw again at once
    bool soon = false;                     // work goes on beside the window: look again before long
    std::string tip{};                     // a line or two beside the mouse
    Pointed pointed{};
};

struct Ui {
    DrawContext& context;
    ImDrawList& list;
    bool mouse = false;  // the panels have the mouse: no popup is in the way
    std::string& tip = context.tip;

    float px(float logical) const { return logical * context.scale; }
    Rgba ink(Ink i) const { return context.palette[i]; }
    Font font(Face face, Size size) const { return context.fonts.of(face, size); }
    ImVec2 cursor() const { return ImGui::GetIO().MousePos; }
    bool over(const Rect& rect) const { return mouse && rect.contains(cursor()); }
    bool clicked(const Rect& rect) const { return over(rect) && ImGui::IsMouseClicked(0); }
};

// Text where its left, middle or right upper corner is; all words of panels and overlays go through here, and
// are noted for whoever inspects the frame. whole: what was meant, where `text` is a part of it.
void put(Ui& ui, ImDrawList& list, const Font& font, ImVec2 at, Rgba color, std::string_view text,
         Align align = Align::Left, std::string_view whole = {});

// A panel's surface. name: of the panel; the function that draws it gives its own.
void surface(Ui& ui, const Rect& rect, const char* name = __builtin_FUNCTION());
// Text on one line, cut with an ellipsis where it is wider than `width`. Returns its width.
float line(Ui& ui, ImVec2 at, float width, Face face, Size size, Ink ink, std::string_view text,
           Align align = Align::Left);
// The same small and quiet: what stands beside what matters.
inline float note(Ui& ui, ImVec2 at, float width, std::string_view text, Align align = Align::Left) {
    return line(ui, at, width, Face::Text, Size::Small, Ink::TextQuiet, text, align);
}
// In the first wording that has room.
void note(Ui& ui, ImVec2 at, float width, const std::vector<std::string>& wordings);
// Text over several lines, at most `most`; returns the height taken.
float paragraph(Ui& ui, ImVec2 at, float width, Face face, Size size, Ink ink, std::string_view text,
                int most = 4);
std::vector<std::string> wrapped(const Font& font, std::string_view text, float width);
std::string elided(const Font& font, std::string_view text, float width);
// The first wording that is not wider; the last one where none is.
const std::string& fitting(const Font& font, const std::vector<std::string>& wordings, float width);
inline float line_height(const Ui& ui, Size size) {
    return std::round(ui.px(kSizes[static_cast<size_t>(size)]) * 1.3f);
}

// A button with a label; returns true when pressed. on: drawn as chosen. On paper there is none.
bool button(Ui& ui, const Rect& rect, std::string_view label, bool on = false, bool enabled = true,
            const char* tip = nullptr);

void hatch(Ui& ui, const Rect& rect, Rgba color, float spacing);

// What a shared cell holds where that is no element of this phase: a zero for one outside the matrix is
// struck out, a value of an earlier phase has a notch in its corner. Signs of the legend and of the cells.
void zero_sign(Ui& ui, const Rect& cell);
void stale_notch(Ui& ui, const Rect& cell);
void stale_sign(Ui& ui, const Rect& box);  // a cell with its notch, as the legend shows it

// A mark in one cell or rectangle of a grid.
GridMark fill_mark(const CellRect& cells, Rgba fill);
GridMark frame_mark(const CellRect& cells, Rgba edge, float edge_px, bool dashed = false);

// A cell at fault: framed, with a stroke in each corner, so that its colour is not the only sign and its
// value stays readable. pitch: pixels a cell.
GridMark fault_mark(const Ui& ui, const CellRect& cell, float pitch);
void fault_sign(Ui& ui, const Rect& box);  // the same as the legend shows it

// The cell of a grid under the mouse, as row * cols + col; none beside the grid or outside `box`.
std::optional<uint64_t> cell_under(const Ui& ui, const Rect& box, const GridView& grid, uint32_t rows,
                                   uint32_t cols);
// The element of an array, drawn as its sheet, under the mouse.
std::optional<uint64_t> element_under(const Ui& ui, const Rect& box, const GridView& grid,
                                      const Array& array);

}  // namespace tilescope::draw
