// What several figures are drawn with, and the figures themselves, for their table.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "app/draw/widgets.h"
#include "app/lessons/figures/figure.h"
#include "app/session/session.h"
#include "core/base/words.h"

namespace tilescope::lessons {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Size;

// What is no access to memory is drawn without colour: those of accesses and products mean the same everywhere.
inline constexpr Ink kPlain = Ink::TextQuiet, kOther = Ink::Accent;

// A sign and what it means, from `at` on, which moves on. Or an ink that fills it.
using Sign = std::function<void(draw::Ui& ui, const Rect& box)>;
void key_of(draw::Ui& ui, ImVec2& at, std::string_view text, const Sign& sign);
void key_of(draw::Ui& ui, ImVec2& at, std::string_view text, Ink ink, float rounding = 0);

// Text in the middle of a box of that colour; nothing where no font has room for it.
void text_in(draw::Ui& ui, const Rect& box, const std::optional<draw::Font>& font, draw::Rgba ground,
             const std::string& text);

// A share for each value that a parameter can have, as bars side by side: what each kind of bar means stands
// above them, the value that is set is lit. No bars where there is no room for them.
struct Bars {
    std::string means;
    Ink ink = Ink::Text;
    std::function<double(int value)> share;  // 0 to 1
};
void bars_over(draw::Ui& ui, const Rect& rect, const FigureParameter& along, int now,
               std::span<const Bars> bars);

// Whether a question about the figure's numbers is open. What the question gives stays in sight then; what
// tells its answer is left out, and unknown() stands in its place: a quiet "?", in an outline.
inline bool asked(const session::Session& session) { return session.question.hides(session::Hide::Numbers); }
void unknown(draw::Ui& ui, const Rect& box);

// A parameter as it is set, of those that are counts.
inline uint32_t at(std::span<const int> set, size_t parameter) {
    return static_cast<uint32_t>(set[parameter]);
}

void fill(draw::Ui& ui, const Rect& box, Ink ink, float rounding = 0);
void lost(draw::Ui& ui, const Rect& box);  // slots, lanes or bytes that nobody uses

Figure latency_figure();
Figure schedule_figure();
Figure blocks_figure();
Figure partition_figure();
Figure divergence_figure();
Figure bursts_figure();
Figure reuse_figure();
Figure roof_figure();
Figure tile_width_figure();
Figure gate_figure();
Figure memory_figure();
Figure layout_figure();
Figure fragments_figure();

}  // namespace tilescope::lessons
