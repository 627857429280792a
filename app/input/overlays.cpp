// What lies over the screens, drawn: the list of keys, the command palette and the path box, whose keys are
// in overlay_keys.cpp.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/input/actions.h"
#include "app/input/panels.h"

namespace tilescope::input {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size;
namespace {

ImDrawList& over() { return *ImGui::GetForegroundDrawList(); }

// Dims the screen and draws the box; `top` logical pixels below the screen's top, in the middle where
// negative.
Rect overlay_box(draw::Ui& ui, const Rect& screen, float width, float height, float top = -1) {
    over().AddRectFilled(screen.min, screen.max, draw::with_alpha(draw::rgb(0), 0.45f));
    width = std::min(width, screen.width() - ui.px(16));
    height = std::min(height, screen.height() - ui.px(16));
    const float x = std::round((screen.min.x + screen.max.x - width) / 2);
    const float middle = (screen.min.y + screen.max.y - height) / 2;
    const float y = std::round(top < 0 ? middle : std::min(screen.min.y + ui.px(top), middle));
    const Rect box{{x, y}, {x + width, y + height}};
    over().AddRectFilled(box.min, box.max, ui.ink(Ink::Panel), ui.px(8));
    over().AddRect(box.min, box.max, ui.ink(Ink::LineStrong), ui.px(8));
    return box;
}

// A line of text with its caret, framed.
void text_line(draw::Ui& ui, const Rect& rect, const TextField& field, const char* when_empty) {
    over().AddRectFilled(rect.min, rect.max, ui.ink(Ink::Raised), ui.px(4));
    over().AddRect(rect.min, rect.max, ui.ink(Ink::Accent), ui.px(4), 0, ui.px(1.5f));
    const draw::Font font = ui.font(Face::Mono, Size::Body);
    const float pad = ui.px(12), room = rect.width() - pad * 2;
    const float caret = draw::text_size(font, std::string_view(field.text).substr(0, field.caret)).x;
    const float shift = std::max(0.f, caret - room);  // the caret is always in sight
    const float high = draw::text_size(font, "0").y, y = std::round((rect.min.y + rect.max.y - high) / 2);
    const float x = rect.min.x + pad;
    over().PushClipRect({x, rect.min.y}, {rect.max.x - pad + ui.px(2), rect.max.y}, true);
    if (field.text.empty())
        put(ui, over(), ui.font(Face::Text, Size::Body), {x + ui.px(4), y}, ui.ink(Ink::TextFaint),
            when_empty);
    put(ui, over(), font, {x - shift, y}, ui.ink(Ink::Text), field.text);
    over().AddRectFilled({x - shift + caret, y}, {x - shift + caret + ui.px(2), y + high},
                         ui.ink(Ink::Accent));
    over().PopClipRect();
}

// Rows that fit are drawn, scrolled so that the chosen one is among them; returns the row clicked, or -1.
struct OverlayRow {
    std::string text, right;  // right: its keys, or what kind it is
};
int overlay_rows(draw::Ui& ui, const Rect& rect, const std::vector<OverlayRow>& rows, int chosen) {
    const float high = line_height(ui, Size::Body) + ui.px(6), pad = ui.px(12);
    const draw::Font mono = ui.font(Face::Mono, Size::Small), body = ui.font(Face::Text, Size::Body);
    const int fit = std::max(1, static_cast<int>(rect.height() / high)),
              count = static_cast<int>(rows.size());
    const int first = std::clamp(chosen - fit / 2, 0, std::max(0, count - fit));
    int clicked = -1;
    for (int at = first; at < std::min(count, first + fit); ++at) {
        const float y = rect.min.y + static_cast<float>(at - first) * high;
        const Rect row{{rect.min.x, y}, {rect.max.x, y + high}};
        const bool on = at == chosen;
        if (on || ui.over(row))
            over().AddRectFilled(row.min, row.max, ui.ink(on ? Ink::Accent : Ink::Raised), ui.px(4));
        const Rgba ink = on ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text);
        const Rgba quiet = on ? ink : ui.ink(Ink::TextQuiet);
        const auto& [text, right] = rows[static_cast<size_t>(at)];
        const float room = row.width() - pad * 3 - draw::text_size(mono, right).x;
        put(ui, over(), body, {row.min.x + pad, y + ui.px(3)}, ink, elided(body, text, room), Align::Left,
            text);
        put(ui, over(), mono, {row.max.x - pad, y + ui.px(5)}, quiet, right, Align::Right);
        if (ui.clicked(row)) clicked = at;
    }
    if (count > fit) {  // how far down the list this is
        const float part = rect.height() / static_cast<float>(count);
        const float y = rect.min.y + part * static_cast<float>(first);
        over().AddRectFilled({rect.max.x + ui.px(4), y},
                             {rect.max.x + ui.px(8), y + part * static_cast<float>(fit)},
                             ui.ink(Ink::LineStrong), ui.px(2));
    }
    return clicked;
}

// A box with a line of text and the rows that were found for it, under a title where there is one. Returns
// the row that was clicked, or -1.
struct Finder {
    const char *title, *when_empty;
    Ink ink;  // of the foot
    std::string foot;
};
int find_box(draw::Ui& ui, const Rect& screen, const Finder& box, const TextField& text,
             const std::vector<OverlayRow>& rows, int chosen) {
    constexpr float kTop = 72, kWidth = 720, kRowsShown = 11;
    const float pad = ui.px(16), high = ui.px(40), small = line_height(ui, Size::Small);
    const float title = *box.title == 0 ? 0 : line_height(ui, Size::Title) + ui.px(8);
    const float list = (line_height(ui, Size::Body) + ui.px(6)) * kRowsShown;
    const Rect in =
        overlay_box(ui, screen, ui.px(kWidth), pad * 2 + title + high + ui.px(16) + list + small, kTop)
            .inset(pad);
    put(ui, over(), ui.font(Face::Strong, Size::Title), in.min, ui.ink(Ink::Text), box.title);
    const float y = in.min.y + title;
    text_line(ui, {{in.min.x, y}, {in.max.x, y + high}}, text, box.when_empty);
    const int clicked = overlay_rows(
        ui, {{in.min.x, y + high + ui.px(8)}, {in.max.x, in.max.y - small - ui.px(8)}}, rows, chosen);
    const draw::Font font = ui.font(Face::Text, Size::Small);
    put(ui, over(), font, {in.min.x, in.max.y - small}, ui.ink(box.ink), elided(font, box.foot, in.width()),
        Align::Left, box.foot);
    return clicked;
}

const char* words_of(Suggestion::Kind kind) {
    constexpr const char* kWords[] = {"folder", "recording", "opened lately", "ships"};
    return kWords[static_cast<size_t>(kind)];
}

}  // namespace

void command_palette(Ui<State>& ui, const Rect& screen, std::span<const Offer> offers) {
    CommandPalette& palette = ui.state.palette;
    if (!palette.open) return;
    const std::vector<Command> found = find_commands(ui.session, offers, palette.query.text);
    std::vector<OverlayRow> rows;
    for (const Command& command : found) rows.push_back({command.title, command.keys});
    palette.chosen = std::min(palette.chosen, rows.empty() ? 0 : rows.size() - 1);
    const Finder box{
        "", "Find: next phase, record edges, open transposed, step 12, block 1,0", Ink::TextQuiet,
        rows.empty() ? "Nothing is called that. Steps, blocks and phases are found where they exist."
                     : "\u2191 \u2193 choose, Enter does it, Esc closes"};
    const int clicked = find_box(ui, screen, box, palette.query, rows, static_cast<int>(palette.chosen));
    if (clicked >= 0) run_command(ui.state, ui.session, offers, found[static_cast<size_t>(clicked)].id);
}

void path_box(Ui<State>& ui, const Rect& screen) {
    PathBox& box = ui.state.path;
    if (box.mode == PathBox::Mode::Closed) return;
    const bool save = box.mode == PathBox::Mode::Save;
    const session::ExportChoice* const exported = session::find_export(box.exported);
    std::vector<OverlayRow> rows;
    for (const Suggestion& one : suggestions(box, ui.session)) rows.push_back({one.text, words_of(one.kind)});
    box.chosen = std::min(box.chosen, rows.size());
    const Finder finder{exported     ? exported->title
                        : save       ? "Save this recording"
                        : box.beside ? "Open a recording beside this one, as B"
                                     : "Open a recording",
                        exported ? "The path of the file to write" : "The path of a .tsc file",
                        box.problem.empty() ? Ink::TextQuiet : Ink::Fault,
                        !box.problem.empty() ? box.problem
                        : save ? "Tab completes, \u2191 \u2193 choose, Enter saves, Esc leaves it"
                               : "Tab completes, \u2191 \u2193 choose, Enter opens, Esc leaves it"};
    const int clicked = find_box(ui, screen, finder, box.path, rows, static_cast<int>(box.chosen) - 1);
    if (clicked < 0) return;
    box.chosen = static_cast<size_t>(clicked) + 1;
    take_path(ui.state, ui.session);
}

// Actions under their headings, in three columns of about the same height.
void keys_overlay(Ui<State>& ui, const Rect& screen, std::span<const Offer> offers) {
    if (!ui.state.show_keys) return;
    struct Group {
        std::string name;
        std::vector<const Offer*> rows;
    };
    std::vector<Group> groups;
    for (const Offer& action : offers) {
        if (action.keys.empty()) continue;
        auto at = std::ranges::find(groups, action.group, &Group::name);
        if (at == groups.end()) at = groups.insert(at, {action.group, {}});
        at->rows.push_back(&action);
    }
    // A column is as wide as its longest keys and words; where all are wider than the window, type is
    // smaller.
    struct Column {
        std::vector<Group> groups;
        size_t height = 0;  // rows, a heading and what surrounds it being two
        float keys = 0, helps = 0;
    };
    std::array<Column, 3> columns;
    draw::Font mono = ui.font(Face::Mono, Size::Small), words = ui.font(Face::Text, Size::Small);
    for (Group& group : groups) {
        // Each to the column that is least full, so that none stands out.
        Column& column = *std::ranges::min_element(columns, {}, &Column::height);
        column.height += group.rows.size() + 2;
        for (const Offer* action : group.rows) {
            column.keys = std::max(column.keys, draw::text_size(mono, action->keys).x);
            column.helps = std::max(column.helps, draw::text_size(words, action->help).x);
        }
        column.groups.push_back(std::move(group));
    }
    const auto tallest = static_cast<float>(std::ranges::max(columns, {}, &Column::height).height);
    const float pad = ui.px(24), title = line_height(ui, Size::Title), gap = ui.px(16), between = ui.px(40);
    // In lecture mode on a small projector the rows stand closer.
    const float room = screen.height() - ui.px(16) - pad * 2 - title - ui.px(8);
    const float row = std::min(line_height(ui, Size::Small) + ui.px(4), std::floor(room / tallest));
    float needed = between * 2;
    for (const Column& column : columns) needed += column.keys + gap + column.helps;
    const float most = screen.width() - ui.px(24) - pad * 2, smaller = std::min(1.f, most / needed);
    if (smaller < 1) mono = ui.font(Face::Mono, Size::CellSmall);
    words.px *= smaller;
    const Rect box = overlay_box(ui, screen, needed * smaller + pad * 2 + ui.px(4),
                                 pad * 2 + title + ui.px(8) + row * tallest);
    put(ui, over(), ui.font(Face::Strong, Size::Title), {box.min.x + pad, box.min.y + pad}, ui.ink(Ink::Text),
        "Keys");
    float x = box.min.x + pad;
    for (const Column& column : columns) {
        float y = box.min.y + pad + title + ui.px(8);
        for (const Group& group : column.groups) {
            put(ui, over(), ui.font(Face::Strong, Size::Small), {x, y + row * 0.4f}, ui.ink(Ink::TextQuiet),
                group.name);
            y += row * 1.5f;
            for (const Offer* action : group.rows) {
                put(ui, over(), mono, {x, y}, ui.ink(Ink::Text), action->keys);
                put(ui, over(), words, {x + (column.keys + gap) * smaller, y}, ui.ink(Ink::TextQuiet),
                    action->help);
                y += row;
            }
            y += row * 0.5f;
        }
        x += (column.keys + gap + column.helps + between) * smaller;
    }
    if (ui.mouse && ImGui::IsMouseClicked(0)) ui.state.show_keys = false;
}

}  // namespace tilescope::input
