// The field's words (app/look/terms.h) as rows of the palette, and what is said of the word under the mouse.
#include "app/look/terms.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/app.h"

namespace tilescope::app {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

namespace {

// "lesson", "Limits", "record": where a row leads, for its right end.
std::string place_of(std::string_view action) {
    const std::string_view kind = action.substr(0, action.find(':'));
    if (kind == "example") return "program";
    for (const ScreenRow& screen : screens())
        if (action == fmt::format("screen_{}", screen.option) || kind == screen.option) return screen.name;
    return std::string(kind);
}

}  // namespace

const input::Actions<input::State>& terms() {
    static const input::Actions<input::State> all = [] {
        input::Actions<input::State> rows;
        for (const look::Term& term : look::terms())
            rows.emplace_back(std::string("term:") + term.word, std::string(term.word) + ": " + term.means,
                              place_of(term.shown_by), input::Chord(), input::Chord(),
                              [&term](session::Session& session) { session.ask_to(term.shown_by); });
        return rows;
    }();
    return all;
}

PointedTerm pointed_term(const draw::Pointed& pointed, ImVec2 cursor) {
    const auto x_of = [&](size_t byte) {
        return pointed.at.x + draw::text_size(pointed.font, std::string_view(pointed.text).substr(0, byte)).x;
    };
    for (const look::SaidTerm& said : look::terms_in(pointed.text)) {
        const Rect box{{x_of(said.first), pointed.at.y},
                       {x_of(said.end), pointed.at.y + draw::text_size(pointed.font, "x").y}};
        if (box.contains(cursor)) return {said.term, box};
    }
    return {};
}

void explain(draw::Ui& ui, const Rect& screen, input::Resting& resting) {
    const PointedTerm now = ui.tip.empty() ? pointed_term(ui.context.pointed, ui.cursor()) : PointedTerm{};
    const ImVec2 at = now.box.min;
    if (now.term != resting.term || at.x != resting.at.x || at.y != resting.at.y) {
        resting = {now.term, at, ui.context.time};
        ui.context.another_frame = ui.context.another_frame || now.term != nullptr;
    }
    if (now.term == nullptr || ui.context.still) return;
    if (ui.context.time - resting.since < kRest) {
        ui.context.soon = true;
        return;
    }
    ImDrawList& over = *ImGui::GetForegroundDrawList();
    const draw::Font strong = ui.font(Face::Strong, Size::Small), font = ui.font(Face::Text, Size::Small);
    const float pad = ui.px(8), high = line_height(ui, Size::Small);
    std::vector<std::string> lines = draw::wrapped(font, now.term->means, ui.px(360));
    if (*now.term->more != 0)
        for (std::string& one : draw::wrapped(font, now.term->more, ui.px(360)))
            lines.push_back(std::move(one));
    float width = draw::text_size(strong, now.term->word).x;
    for (const std::string& one : lines) width = std::max(width, draw::text_size(font, one).x);
    const float height = high * static_cast<float>(lines.size() + 1);
    // Below the line of the word and of the mouse's arrow, above it where there is no room: never on it.
    const float below = std::max(now.box.max.y + ui.px(6), ui.cursor().y + ui.px(18));
    const bool fits = below + height + pad * 2 <= screen.max.y;
    const float y = std::round(fits ? below : now.box.min.y - ui.px(6) - height - pad * 2);
    const float x = std::round(std::clamp(now.box.min.x - pad, screen.min.x,
                                          std::max(screen.min.x, screen.max.x - ui.px(8) - width - pad * 2)));
    const Rect box{{x, y}, {x + width + pad * 2, y + height + pad * 2}};
    over.AddRectFilled(box.min, box.max, ui.ink(Ink::Panel), ui.px(6));
    over.AddRect(box.min, box.max, ui.ink(Ink::LineStrong), ui.px(6));
    over.AddLine({now.box.min.x, now.box.max.y}, now.box.max, ui.ink(Ink::Accent), ui.px(1.5f));
    float line = y + pad;
    put(ui, over, strong, {x + pad, line}, ui.ink(Ink::Text), now.term->word);
    for (const std::string& one : lines)
        put(ui, over, font, {x + pad, line += high}, ui.ink(Ink::TextQuiet), one);
}

}  // namespace tilescope::app
