// The top bar (screens, the recording's name, record, theme, keys) and the caption below it: what just
// happened, in words.
#include <algorithm>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/look/block_clock.h"
#include "app/session/playing.h"
#include "app/step/caption.h"
#include "app/step/panels.h"

namespace tilescope::step {

void caption_bar(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y}, {rect.max.x - ui.px(16), rect.max.y}};
    const float title = line_height(ui, Size::Title), small = line_height(ui, Size::Small);
    if (ui.index() == nullptr) {
        line(ui, {in.min.x, rect.min.y + (rect.height() - title) / 2}, in.width(), Face::Text, Size::Title,
             Ink::TextQuiet, "Reading this block\u2026");
        return;
    }
    const trace::Block& block = ui.trace().blocks[ui.session.cursor.block];
    const std::string where =
        fmt::format("step {} of {}", grouped(ui.step() + 1), grouped(ui.index()->steps));
    const std::string phase =
        fmt::format("{}   {}", block_name(ui.trace().launch.grid, block.x, block.y, block.z),
                    look::phase_text(*ui.index(), ui.step()));
    const float side = std::max(draw::text_size(ui.font(Face::Mono, Size::Body), where).x,
                                draw::text_size(ui.font(Face::Mono, Size::Small), phase).x) +
                       ui.px(8);
    const float y = rect.min.y + (rect.height() - title - small) / 2;
    line(ui, {in.max.x, y + ui.px(3)}, side, Face::Mono, Size::Body, Ink::Text, where, draw::Align::Right);
    line(ui, {in.max.x, y + title}, side, Face::Mono, Size::Small, Ink::TextQuiet, phase, draw::Align::Right);
    const std::string text = caption(ui.trace(), *ui.index(), ui.session.replay.get(), ui.step());
    const float width = in.width() - side - ui.px(16);
    const look::BarrierTimes* barrier = look::barrier_of_step(*ui.index(), ui.step());
    const std::vector<std::string> faults =
        ui.session.faults && ui.session.message.empty()
            ? look::fault_captions(ui.trace(), *ui.session.faults, ui.step())
            : std::vector<std::string>();
    const draw::Font small_font = ui.font(Face::Text, Size::Small);
    const std::string below =
        !ui.session.message.empty()     ? ui.session.message
        : !faults.empty()               ? fitting(small_font, faults, width)
        : !ui.session.no_values.empty() ? ui.session.no_values
        : barrier != nullptr && !ui.session.playback.playing
            ? look::wait_words(ui.trace(), *barrier, ui.trace().warp_of(ui.index()->first + ui.step()))
            : hint(*ui.index(), ui.step(), ui.session.playback.playing);
    // Where the line below needs two, the one above steps back.
    const bool two = draw::text_size(small_font, below).x > width;
    const bool fits = !two && draw::text_size(ui.font(Face::Strong, Size::Title), text).x <= width;
    const float body = line_height(ui, Size::Body);
    const float top = two ? std::round((rect.min.y + rect.max.y - body - small * 2) / 2) + ui.px(1)
                          : y + (fits ? 0 : ui.px(4));
    line(ui, {in.min.x, top}, width, Face::Strong, fits ? Size::Title : Size::Body, Ink::Text, text);
    paragraph(ui, {in.min.x, two ? top + body - ui.px(2) : y + title}, width, Face::Text, Size::Small,
              ui.session.message.empty() && faults.empty() ? Ink::TextQuiet : Ink::Fault, below, two ? 2 : 1);
    if (!faults.empty() && ui.over(rect)) ui.tip = faults.front();
}

}  // namespace tilescope::step
