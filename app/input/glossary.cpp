// The glossary: every word of the field, those of the screen below it first, found by typing.
//
//   +-- find ---------------------------------------------+
//   | On this screen                                      |
//   |  sector      32 aligned bytes of global memory      |
//   |              a request is judged by ...     Lessons |
//   | All others ...                                      |
#include <algorithm>
#include <cmath>

#include "app/draw/widgets.h"
#include "app/input/overlays.h"

namespace tilescope::input {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size;
namespace {

bool before(const look::Term* a, const look::Term* b) {
    return std::ranges::lexicographical_compare(
        std::string_view(a->word), std::string_view(b->word), {}, [](char c) { return std::tolower(c); },
        [](char c) { return std::tolower(c); });
}

}  // namespace

std::vector<const look::Term*> words_of(const draw::Inspection& screen) {
    std::vector<const look::Term*> here;
    for (const draw::Written& written : screen.texts)
        for (const look::SaidTerm& said : look::terms_in(written.text))
            if (std::ranges::find(here, said.term) == here.end()) here.push_back(said.term);
    std::ranges::sort(here, before);
    return here;
}

GlossaryList glossary_list(const Glossary& glossary) {
    struct FoundTerm {
        const look::Term* term;
        int score;
    };
    GlossaryList list;
    std::vector<const look::Term*> others;
    for (const look::Term& term : look::terms())
        if (std::ranges::find(glossary.here, &term) == glossary.here.end()) others.push_back(&term);
    std::ranges::sort(others, before);
    const auto add = [&](const std::vector<const look::Term*>& terms) {
        std::vector<FoundTerm> found;
        for (const look::Term* term : terms) {
            const std::string title = std::string(term->word) + ": " + term->means + " " + term->more;
            for (const bool forgiving : {false, true})
                if (const int score = match(glossary.query.text, title, forgiving); score >= 0) {
                    found.push_back({term, score});
                    break;
                }
        }
        std::ranges::stable_sort(found, std::greater(), &FoundTerm::score);
        for (const FoundTerm& one : found) list.terms.push_back(one.term);
    };
    if (!glossary.query.text.empty()) {
        // What is looked for comes first, wherever it stands.
        std::vector<const look::Term*> all = glossary.here;
        all.insert(all.end(), others.begin(), others.end());
        add(all);
        return list;
    }
    add(glossary.here);
    list.here = list.terms.size();
    add(others);
    return list;
}

void open_glossary(State& state) {
    state.glossary = {.open = true, .looks = true, .asked = state.resting.term};
    state.show_keys = false;
}

void press_in_glossary(State& state, Session& session, const KeyPress& press) {
    Glossary& glossary = state.glossary;
    if (press.character != 0) {
        type(glossary.query, press.character);
        glossary.chosen = 0;
    } else if (press.control && press.key == Key::Q) {
        session.ask(session::wish::Quit{});
    } else if (press.key == Key::Escape) {
        glossary.open = false;
    } else {
        const GlossaryList list = glossary_list(glossary);
        if (press.key == Key::Enter && !list.terms.empty()) {
            glossary.open = false;
            session.ask_to(list.terms[std::min(glossary.chosen, list.terms.size() - 1)]->shown_by);
        } else if (!choose(glossary.chosen, list.terms.size(), press) && edit(glossary.query, press)) {
            glossary.chosen = 0;
        }
    }
}

void glossary_box(Ui<State>& ui, const Rect& screen, std::span<const Offer> offers) {
    Glossary& glossary = ui.state.glossary;
    if (!glossary.open) return;
    const GlossaryList list = glossary_list(glossary);
    if (const look::Term* asked = std::exchange(glossary.asked, nullptr))
        if (const auto at = std::ranges::find(list.terms, asked); at != list.terms.end())
            glossary.chosen = static_cast<size_t>(at - list.terms.begin());
    glossary.chosen = std::min(glossary.chosen, list.terms.empty() ? 0 : list.terms.size() - 1);

    ImDrawList& over = *ImGui::GetForegroundDrawList();
    const float pad = ui.px(16), high = ui.px(40), small = line_height(ui, Size::Small),
                body = line_height(ui, Size::Body), title = line_height(ui, Size::Title);
    const Rect in = overlay_box(ui, screen, ui.px(880), screen.height() - ui.px(96)).inset(pad);
    put(ui, over, ui.font(Face::Strong, Size::Title), in.min, ui.ink(Ink::Text), "Words");
    float y = in.min.y + title + ui.px(8);
    text_line(ui, over, {{in.min.x, y}, {in.max.x, y + high}}, glossary.query, "Find a word");
    y += high + ui.px(8);
    const Rect area{{in.min.x, y}, {in.max.x, in.max.y - small - ui.px(8)}};

    // Every row's height, so that the chosen one can be brought into the middle.
    const draw::Font strong = ui.font(Face::Strong, Size::Body), font = ui.font(Face::Text, Size::Body),
                     quiet = ui.font(Face::Text, Size::Small);
    float words = 0;
    for (const look::Term& term : look::terms())
        words = std::max(words, draw::text_size(strong, term.word).x);
    const float left = area.min.x + ui.px(12), column = left + words + ui.px(20),
                width = area.max.x - ui.px(16) - column;
    struct GlossaryRow {
        std::vector<std::string> means, more;
        float top = 0, height = 0;
        const char* heading = nullptr;  // above it
    };
    std::vector<GlossaryRow> rows;
    float total = 0;
    const float heading = small + ui.px(12);
    for (size_t at = 0; at < list.terms.size(); ++at) {
        const look::Term& term = *list.terms[at];
        GlossaryRow row{draw::wrapped(font, term.means, width), draw::wrapped(quiet, term.more, width)};
        if (list.here > 0 && (at == 0 || at == list.here)) {
            row.heading = at == 0 ? "On this screen" : "All others";
            total += heading;
        }
        row.top = total;
        row.height = body * static_cast<float>(row.means.size()) +
                     small * static_cast<float>(row.more.size()) + ui.px(8);
        total += row.height;
        rows.push_back(std::move(row));
    }
    float shift = 0;
    if (!rows.empty()) {
        const GlossaryRow& chosen = rows[glossary.chosen];
        shift = std::round(std::clamp(chosen.top + chosen.height / 2 - area.height() / 2, 0.f,
                                      std::max(0.f, total - area.height())));
    }
    over.PushClipRect(area.min, area.max, true);
    for (size_t at = 0; at < rows.size(); ++at) {
        const GlossaryRow& row = rows[at];
        const float top = area.min.y + row.top - shift;
        // Whole rows alone: half a sentence says nothing.
        if (top < area.min.y - 1 || top + row.height > area.max.y + 1) continue;
        if (row.heading != nullptr && top - heading >= area.min.y - 1)
            put(ui, over, ui.font(Face::Strong, Size::Small), {left, top - heading + ui.px(8)},
                ui.ink(Ink::TextQuiet), row.heading);
        const Rect box{{area.min.x, top}, {area.max.x - ui.px(12), top + row.height}};
        const bool on = at == glossary.chosen, under = ui.over(box) && area.contains(ui.cursor());
        if (on || under) over.AddRectFilled(box.min, box.max, ui.ink(Ink::Raised), ui.px(4));
        if (on)
            over.AddRectFilled(box.min, {box.min.x + ui.px(3), box.max.y}, ui.ink(Ink::Accent), ui.px(1.5f));
        float line = top + ui.px(4);
        put(ui, over, strong, {left, line}, ui.ink(Ink::Text), list.terms[at]->word);
        for (const std::string& one : row.means) {
            put(ui, over, font, {column, line}, ui.ink(Ink::Text), one);
            line += body;
        }
        for (const std::string& one : row.more) {
            put(ui, over, quiet, {column, line}, ui.ink(Ink::TextQuiet), one);
            line += small;
        }
        if (under && ImGui::IsMouseClicked(0)) glossary.chosen = at;
    }
    over.PopClipRect();
    scroll_mark(ui, over, {{area.max.x - ui.px(4), area.min.y}, area.max}, shift, area.height(), total);
    std::string foot = "No word is called that; Backspace takes back what was typed";
    if (!list.terms.empty()) {
        const std::string action = std::string("term:") + list.terms[glossary.chosen]->word;
        const auto offer = std::ranges::find(offers, action, &Offer::name);
        foot = "\u2191 \u2193 choose, Enter shows it (" + (offer != offers.end() ? offer->keys : "") +
               "), Esc closes";
    }
    put(ui, over, quiet, {in.min.x, in.max.y - small}, ui.ink(Ink::TextQuiet),
        elided(quiet, foot, in.width()), Align::Left, foot);
}

}  // namespace tilescope::input
