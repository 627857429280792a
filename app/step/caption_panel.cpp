// What just happened, in one sentence, with where that is, and below it what is at fault or what to press next:
// a bar on the desk, large type in a lecture.
#include <algorithm>
#include <cmath>

#include "app/look/request.h"
#include "app/look/timeline.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// "step 12 of 352" at the right of a line, block and phase on the line below.
struct Standing {
    std::string step, where;
    float width = 0;
};
Standing standing_of(Ui& ui, const char* gap) {
    const trace::Block& block = ui.trace().blocks[ui.session.cursor.block];
    // While a question is open only where it is, and not of how many.
    const session::Question& asked = ui.session.question;
    Standing made;
    std::string phase;
    if (!asked.hides(session::Hide::Standing)) {
        made.step = "step " + grouped(ui.step() + 1);
        if (!asked.hides_any()) made.step += " of " + grouped(ui.index()->steps);
        if (!asked.hides(session::Hide::Phases)) phase = look::phase_text(*ui.index(), ui.step());
        if (asked.hides_any()) phase.resize(std::min(phase.size(), phase.find(" (")));
        if (asked.hides_any()) phase.resize(std::min(phase.size(), phase.find(" of ")));
    }
    made.where = block_name(ui.trace().launch.grid, {block.x, block.y, block.z}, ui.notation()) +
                 (phase.empty() ? "" : gap + phase);
    made.width = std::max(draw::text_size(ui.font(Face::Mono, Size::Body), made.step).x,
                          draw::text_size(ui.font(Face::Mono, Size::Small), made.where).x);
    return made;
}
void write_standing(Ui& ui, const Standing& of, float right, float y, float below) {
    line(ui, {right, y}, of.width + 1, Face::Mono, Size::Body, Ink::Text, of.step, Align::Right);
    line(ui, {right, below}, of.width + 1, Face::Mono, Size::Small, Ink::TextQuiet, of.where, Align::Right);
}

std::string caption_here(const Ui& ui) {
    const std::optional<look::OlderView> older = older_of(ui);
    return caption_of(ui.session, older ? &*older : nullptr);
}

// The caption bar's margins, and between its words and where that is.
constexpr float kCaptionMargin = 16, kCaptionGap = 24;

// The lines of a fault beside where it is: a fault is the one text that must be read whole.
std::vector<std::string> fault_lines(Ui& ui, float bar, const std::vector<std::string>& faults) {
    const bool lecture = ui.session.lecture;
    const float width =
        bar - ui.px(2 * kCaptionMargin + kCaptionGap) - standing_of(ui, lecture ? "  " : "   ").width;
    const draw::Font font = ui.font(Face::Text, lecture ? Size::Body : Size::Small);
    std::vector<std::string> lines;
    for (const std::string& words : faults) {  // the longest wording first
        lines = wrapped(font, words, width);
        if (lines.size() <= 3) break;
    }
    return lines;
}

}  // namespace

float caption_height(Ui& ui, float width, const std::vector<std::string>& faults, bool low) {
    const session::Session& session = ui.session;
    const bool lecture = session.lecture;
    if (ui.index() == nullptr || faults.empty()) {
        // A lesson's strip says in a lecture what the step does, the panel beside the picture who does it.
        const bool said = session.unfolds() || (lecture && session.at_stop && session.no_values.empty());
        if (said && ui.index() != nullptr && session.message.empty()) return 0;
        // While a question is open it says no more than who does what.
        if (lecture && ui.session.question.hides_any()) return ui.px(48);
        return ui.px(lecture ? 64 : low ? 52 : 58);
    }
    const auto lines = static_cast<float>(fault_lines(ui, width, faults).size());
    if (lecture) return std::max(ui.px(80), line_height(ui, Size::Body) * (lines + 1) + ui.px(14));
    return std::max(ui.px(low ? 52 : 58),
                    line_height(ui, Size::Body) + line_height(ui, Size::Small) * lines + ui.px(14));
}

// What just happened, in words, with where that is. faults: what is wrong at the step.
void caption_bar(Ui& ui, const Rect& rect, const std::vector<std::string>& faults) {
    surface(ui, rect, "caption");
    const session::Session& session = ui.session;
    const float margin = ui.px(kCaptionMargin);
    const Rect in{{rect.min.x + margin, rect.min.y}, {rect.max.x - margin, rect.max.y}};
    const float title = line_height(ui, Size::Title), body = line_height(ui, Size::Body);
    const float small = line_height(ui, Size::Small);
    if (ui.index() == nullptr && session.block) {
        paragraph(ui, {in.min.x, rect.min.y + (rect.height() - body * 2) / 2}, in.width(), Face::Text,
                  Size::Body, Ink::Fault, session.block->why_not + ".", 2);
        return;
    }
    if (ui.index() == nullptr) {
        line(ui, {in.min.x, rect.min.y + (rect.height() - title) / 2}, in.width(), Face::Text, Size::Title,
             Ink::TextQuiet, "Reading this block\u2026");
        return;
    }
    const float y = rect.min.y + (rect.height() - title - small) / 2;
    const Standing standing = standing_of(ui, "   ");
    write_standing(ui, standing, in.max.x, y + ui.px(3), y + title);
    const float width = in.width() - standing.width - ui.px(kCaptionGap);
    const std::string text = caption_here(ui);
    const look::BarrierTimes* barrier = look::barrier_of_step(*ui.index(), ui.step());
    const draw::Font small_font = ui.font(Face::Text, Size::Small);
    std::vector<std::string> below;
    if (!session.message.empty())
        below = wrapped(small_font, session.message, width);
    else if (session.question.hides_any())
        below = {ui.context.paper ? "" : "The rest is shown once the question above is answered."};
    else if (!faults.empty())
        below = fault_lines(ui, rect.width(), faults);
    else if (!session.no_values.empty())
        below = wrapped(small_font, session.no_values, width);
    else if (barrier != nullptr && !session.playback.playing)
        below = wrapped(
            small_font,
            look::wait_words(ui.trace(), *barrier, ui.trace().warp_of(ui.index()->first + ui.step())), width);
    else if (!ui.context.paper && !ui.state.subject)
        below = {fitting(small_font, {hint(*ui.index(), ui.step(), session.playback.playing), ""}, width)};
    if (below.size() == 1 && below[0].empty()) below.clear();
    // Where the lines below need more, the one above steps back.
    const bool fits =
        below.size() <= 1 && draw::text_size(ui.font(Face::Strong, Size::Title), text).x <= width;
    const auto lines = static_cast<float>(below.size());
    // A sentence too long for a line takes the place of what is said below it, unless that matters more.
    const draw::Font strong = ui.font(Face::Strong, Size::Body);
    const bool two = draw::text_size(strong, text).x > width;
    if (two && lines <= 1 && faults.empty() && session.message.empty()) {
        const float high =
            body * static_cast<float>(std::min<size_t>(wrapped(strong, text, width).size(), 2));
        paragraph(ui, {in.min.x, std::round((rect.min.y + rect.max.y - high) / 2)}, width, Face::Strong,
                  Size::Body, Ink::Text, text, 2);
        return;
    }
    const float first = fits ? title : body;
    const float top = std::round((rect.min.y + rect.max.y - first - small * lines) / 2);
    line(ui, {in.min.x, top}, width, Face::Strong, fits ? Size::Title : Size::Body, Ink::Text,
         fitting(strong, {text, text.substr(0, text.find(". ") + 1)}, fits ? 1e6f : width));
    std::string all;
    for (const std::string& part : below) all += (all.empty() ? "" : " ") + part;
    const auto most = static_cast<int>(std::max(1.f, (rect.max.y - top - first) / small));
    paragraph(ui, {in.min.x, top + first}, width, Face::Text, Size::Small,
              session.message.empty() && faults.empty() ? Ink::TextQuiet : Ink::Fault, all, most);
    if (!faults.empty() && ui.over(rect)) ui.tip = faults.front();
}

void caption_large(Ui& ui, const Rect& rect, const std::vector<std::string>& faults) {
    surface(ui, rect, "caption");
    const float margin = ui.px(kCaptionMargin);
    const Rect in{{rect.min.x + margin, rect.min.y + ui.px(6)}, {rect.max.x - margin, rect.max.y}};
    const float body = line_height(ui, Size::Body), title = line_height(ui, Size::Title);
    const Standing standing = standing_of(ui, "  ");
    write_standing(ui, standing, in.max.x, in.min.y, in.min.y + body);
    const float width = in.width() - standing.width - ui.px(kCaptionGap);
    const bool told = !ui.session.message.empty();
    const std::string text = told ? ui.session.message : caption_here(ui);
    if (faults.empty()) {
        // Two lines of large type, else three of smaller.
        const size_t lines = wrapped(ui.font(Face::Strong, Size::Title), text, width).size();
        const float y = lines > 1 ? in.min.y : in.min.y + (rect.height() - ui.px(12) - title) / 2;
        paragraph(ui, {in.min.x, lines > 2 ? in.min.y - ui.px(4) : y}, width, Face::Strong,
                  lines > 2 ? Size::Body : Size::Title, told ? Ink::Fault : Ink::Text, text,
                  lines > 2 ? 3 : 2);
        return;
    }
    line(ui, in.min, width, Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body), {text, text.substr(0, text.find(". ") + 1)}, width));
    const std::vector<std::string> lines = fault_lines(ui, rect.width(), faults);
    for (size_t i = 0; i < lines.size(); ++i)
        line(ui, {in.min.x, in.min.y + body * static_cast<float>(i + 1)}, width, Face::Text, Size::Body,
             Ink::Fault, lines[i]);
}

}  // namespace tilescope::step
