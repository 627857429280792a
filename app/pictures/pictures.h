// Pictures of what a block's warps do, drawn alike for window, film, page and poster: the mark of a kind of
// step, a request from its lanes to what they meet, a barrier as a gate, and what a timeline is made of.
#pragma once

#include <functional>
#include <optional>

#include "app/draw/ui.h"
#include "app/look/older.h"
#include "app/look/request.h"
#include "app/look/timeline.h"

namespace tilescope::pictures {

using analysis::StepKind, look::BarrierTimes, look::GateView, look::OlderView, look::PhaseSpan,
    look::RequestView, look::TimelineView;
using draw::Align, draw::Face, draw::Font, draw::Ink, draw::Rect, draw::Rgba, draw::Size, draw::Ui,
    draw::with_alpha;

// The ink that a kind of step has everywhere.
constexpr Ink ink_of(StepKind kind) {
    constexpr std::array<Ink, analysis::kStepKinds> kOfKind = {
        Ink::GlobalLoad, Ink::GlobalStore, Ink::SharedLoad, Ink::SharedStore, Ink::Atomic,
        Ink::Atomic,     Ink::Local,       Ink::Local,      Ink::Constant,    Ink::Barrier,
        Ink::Exchange,   Ink::Barrier,     Ink::Barrier};
    return kOfKind[static_cast<size_t>(kind)];
}

// The sign of a kind of step: a square, its pattern told apart without colour.
//   global   load: full         store: frame
//   shared   load: lower half   store: upper half      barrier: a bar      exchange: an hourglass
//   mbarrier signal: a triangle that points up         wait: one that points down
void sign(Ui& ui, const Rect& box, StepKind kind, float alpha = 1);

// A warp's wait at a barrier: hatched, from its arrival on the left to the opening on the right.
void wait_bar(Ui& ui, const Rect& box);

// --- one request or barrier, as a picture with a title and a verdict (request_picture.cpp)

// One line of body text: the sign of its kind, and the title.
void request_title(Ui& ui, ImVec2 at, float width, const RequestView& request);

// The verdict in words, with a mark of its own shape: a disc where it is as good as can be, else a triangle.
// Returns the height taken; most: lines of the verdict. tight: in small type where it would need more lines,
// and without the note on lanes that sit it out.
float request_verdict(Ui& ui, ImVec2 at, float width, const RequestView& request, int most,
                      bool tight = false);

// barrier: of a step that arrives at one in a block with clocks, else null. older: shows its transactions in
// place of today's sectors. Returns the lane under the mouse, where the block has a thread in it.
std::optional<uint32_t> request_picture(Ui& ui, const Rect& rect, const RequestView& request,
                                        const BarrierTimes* barrier, uint32_t lane_lit,
                                        const OlderView* older = nullptr);

// A gate with a row a warp: who is on the way, who is held, and the bar (gate_picture.cpp).
void gate_picture(Ui& ui, const Rect& rect, const GateView& gate);
// The bar alone with a mark for each warp before it, as narrow as kGateWidth. middle: of a warp's row.
inline constexpr float kGateWidth = 11;  // logical pixels
void slim_gate(Ui& ui, const Rect& rect, const GateView& gate,
               const std::function<float(const GateView::WarpAtGate&)>& middle);

// --- a timeline: the band of phases, a row per warp, the playhead. They draw any TimelineView, so that two
// blocks can stand one above the other.

// Where things of the axis are on the screen.
struct TimeScale {
    const TimelineView& time;
    bool clocks = false;
    float left = 0, width = 1;
    double scale = 1;  // pixels a step or a clock
    float x(double at) const { return left + static_cast<float>((at - time.first) * scale); }
};

// A band with the phases' numbers where there is room for them. phases: of the block; phase: of the step that is shown, which
// warps of a ring may have ahead of the playhead or behind it.
void phase_band(Ui& ui, const TimeScale& axis, uint32_t phases, const Rect& band, uint32_t phase,
                const Notation& notation = {});

// The marks of a warp's steps and, by clocks, its waits.
void warp_row(Ui& ui, const TimeScale& axis, size_t warp, const Rect& row);

void playhead(Ui& ui, const TimeScale& axis, float top, float bottom, double now);

// A block's phases and, below them, its warps on one strip, with the playhead at a step. kept: its timeline, as
// wide as it was last drawn. Returns the step under the mouse while it is held down from here on.
std::optional<uint32_t> block_strip(Ui& ui, const Rect& plot, look::BlockStrip& kept,
                                    const trace::Trace& trace,
                                    const std::shared_ptr<const look::BlockIndex>& block, uint32_t step);

}  // namespace tilescope::pictures
