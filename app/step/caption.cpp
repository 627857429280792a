// What just happened, in words, with where that is: the bar above the panels, and the large one of lecture
// mode.
#include <cmath>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/look/block_clock.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// "step 12 of 352" at the right of a line, and the block and the phase on the line below. Returns their
// width.
float standing(Ui& ui, float right, float y, float below, const char* gap) {
    const trace::Block& block = ui.trace().blocks[ui.session.cursor.block];
    const std::string step = fmt::format("step {} of {}", grouped(ui.step() + 1), grouped(ui.index()->steps));
    const std::string phase = look::phase_text(*ui.index(), ui.step());
    const std::string where =
        block_name(ui.trace().launch.grid, block.x, block.y, block.z) + (phase.empty() ? "" : gap + phase);
    const float width = std::max(draw::text_size(ui.font(Face::Mono, Size::Body), step).x,
                                 draw::text_size(ui.font(Face::Mono, Size::Small), where).x);
    line(ui, {right, y}, width + 1, Face::Mono, Size::Body, Ink::Text, step, Align::Right);
    line(ui, {right, below}, width + 1, Face::Mono, Size::Small, Ink::TextQuiet, where, Align::Right);
    return width;
}

}  // namespace

void caption_bar(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const session::Session& session = ui.session;
    const Rect in{{rect.min.x + ui.px(16), rect.min.y}, {rect.max.x - ui.px(16), rect.max.y}};
    const float title = line_height(ui, Size::Title), body = line_height(ui, Size::Body),
                small = line_height(ui, Size::Small);
    if (ui.index() == nullptr) {
        line(ui, {in.min.x, rect.min.y + (rect.height() - title) / 2}, in.width(), Face::Text, Size::Title,
             Ink::TextQuiet, "Reading this block\u2026");
        return;
    }
    const float y = rect.min.y + (rect.height() - title - small) / 2;
    const float width = in.width() - standing(ui, in.max.x, y + ui.px(3), y + title, "   ") - ui.px(24);
    const std::string text = caption(ui.trace(), *ui.index(), session.replay.get(), ui.step());
    const look::BarrierTimes* barrier = look::barrier_of_step(*ui.index(), ui.step());
    std::vector<std::string> faults;
    if (session.faults && session.message.empty())
        faults = look::fault_captions(ui.trace(), *session.faults, ui.step());
    const draw::Font small_font = ui.font(Face::Text, Size::Small);
    const std::string below =
        !session.message.empty()     ? session.message
        : !faults.empty()            ? fitting(small_font, faults, width)
        : !session.no_values.empty() ? session.no_values
        : barrier != nullptr && !session.playback.playing
            ? look::wait_words(ui.trace(), *barrier, ui.trace().warp_of(ui.index()->first + ui.step()))
            : hint(*ui.index(), ui.step(), session.playback.playing);
    // Where the line below needs two, the one above steps back.
    const bool two = draw::text_size(small_font, below).x > width;
    const bool fits = !two && draw::text_size(ui.font(Face::Strong, Size::Title), text).x <= width;
    const float top = two ? std::round((rect.min.y + rect.max.y - body - small * 2) / 2) + ui.px(1)
                          : y + (fits ? 0 : ui.px(4));
    line(ui, {in.min.x, top}, width, Face::Strong, fits ? Size::Title : Size::Body, Ink::Text, text);
    paragraph(ui, {in.min.x, two ? top + body - ui.px(2) : y + title}, width, Face::Text, Size::Small,
              session.message.empty() && faults.empty() ? Ink::TextQuiet : Ink::Fault, below, two ? 2 : 1);
    if (!faults.empty() && ui.over(rect)) ui.tip = faults.front();
}

void caption_large(Ui& ui, const Rect& rect, const std::vector<std::string>& faults) {
    surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y + ui.px(6)}, {rect.max.x - ui.px(16), rect.max.y}};
    const float body = line_height(ui, Size::Body), title = line_height(ui, Size::Title);
    const float width = in.width() - standing(ui, in.max.x, in.min.y, in.min.y + body, "  ") - ui.px(28);
    const bool told = !ui.session.message.empty();
    const std::string text =
        told ? ui.session.message : caption(ui.trace(), *ui.index(), ui.session.replay.get(), ui.step());
    if (faults.empty()) {
        const bool two = wrapped(ui.font(Face::Strong, Size::Title), text, width).size() > 1;
        const float y = two ? in.min.y : in.min.y + (rect.height() - ui.px(12) - title) / 2;
        paragraph(ui, {in.min.x, y}, width, Face::Strong, Size::Title, told ? Ink::Fault : Ink::Text, text,
                  2);
        return;
    }
    line(ui, in.min, width, Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body), {text, text.substr(0, text.find(". ") + 1)}, width));
    const bool whole = wrapped(ui.font(Face::Text, Size::Body), faults.front(), width).size() <= 2;
    paragraph(ui, {in.min.x, in.min.y + body}, width, Face::Text, Size::Body, Ink::Fault,
              whole ? faults.front() : faults.back(), 2);
}

}  // namespace tilescope::step
