// The command palette and the path box. Their keys are in overlay_keys.cpp.
#include <algorithm>

#include "app/input/actions.h"
#include "app/input/palette.h"
#include "app/input/panels.h"
#include "app/input/path_box.h"
#include "app/session/exporting.h"

namespace tilescope::input {

using draw::Align;
using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Size;
namespace {

constexpr float kTop = 72, kWidth = 720, kRowsShown = 11;

float rows_height(draw::Ui& ui) { return (line_height(ui, Size::Body) + ui.px(6)) * kRowsShown; }

void foot(draw::Ui& ui, ImVec2 at, float width, Ink ink, const std::string& text) {
    const draw::Font font = ui.font(Face::Text, Size::Small);
    put(ui, *ImGui::GetForegroundDrawList(), font, at, ui.ink(ink), elided(font, text, width), Align::Left,
        text);
}

const char* words_of(Suggestion::Kind kind) {
    switch (kind) {
        case Suggestion::Kind::Folder:
            return "folder";
        case Suggestion::Kind::File:
            return "recording";
        case Suggestion::Kind::Recent:
            return "opened lately";
        case Suggestion::Kind::Shipped:
            return "ships";
    }
    return "";
}

}  // namespace

void command_palette(Ui<State>& ui, const Rect& screen, std::span<const Offer> offers) {
    CommandPalette& palette = ui.state.palette;
    if (!palette.open) return;
    const float pad = ui.px(16), field = ui.px(40), small = line_height(ui, Size::Small);
    const Rect box =
        overlay_box(ui, screen, ui.px(kWidth), pad * 2 + field + ui.px(16) + rows_height(ui) + small, kTop);
    const Rect in = box.inset(pad);
    text_line(ui, {in.min, {in.max.x, in.min.y + field}}, palette.query,
              "Find: next phase, record edges, open transposed, step 12, block 1,0");
    const auto found = find_commands(ui.session, offers, palette.query.text);
    std::vector<OverlayRow> rows;
    for (const Command& command : found) rows.push_back({command.title, command.keys});
    const Rect list{{in.min.x, in.min.y + field + ui.px(8)}, {in.max.x, in.max.y - small - ui.px(8)}};
    palette.chosen = std::min(palette.chosen, rows.empty() ? 0 : rows.size() - 1);
    const int clicked = overlay_rows(ui, list, rows, static_cast<int>(palette.chosen));
    foot(ui, {in.min.x, in.max.y - small}, in.width(), Ink::TextQuiet,
         rows.empty() ? "Nothing is called that. Steps, blocks and phases are found where they exist."
                      : "\u2191 \u2193 choose, Enter does it, Esc closes");
    if (clicked >= 0) run_command(ui.state, ui.session, offers, found[static_cast<size_t>(clicked)].id);
}

void path_box(Ui<State>& ui, const Rect& screen) {
    PathBox& box = ui.state.path;
    if (box.mode == PathBox::Mode::Closed) return;
    const bool save = box.mode == PathBox::Mode::Save;
    const session::ExportChoice* const exported = session::find_export(box.exported);
    const float pad = ui.px(16), field = ui.px(40), small = line_height(ui, Size::Small);
    const float title = line_height(ui, Size::Title) + ui.px(8);
    const Rect around = overlay_box(ui, screen, ui.px(kWidth),
                                    pad * 2 + title + field + ui.px(16) + rows_height(ui) + small, kTop);
    const Rect in = around.inset(pad);
    put(ui, *ImGui::GetForegroundDrawList(), ui.font(Face::Strong, Size::Title), in.min, ui.ink(Ink::Text),
        exported     ? exported->title
        : save       ? "Save this recording"
        : box.beside ? "Open a recording beside this one, as B"
                     : "Open a recording");
    const float y = in.min.y + title;
    text_line(ui, {{in.min.x, y}, {in.max.x, y + field}}, box.path,
              exported ? "The path of the file to write" : "The path of a .tsc file");
    const auto all = suggestions(box, ui.session);
    std::vector<OverlayRow> rows;
    for (const Suggestion& one : all) rows.push_back({one.text, words_of(one.kind)});
    box.chosen = std::min(box.chosen, rows.size());
    const int clicked =
        overlay_rows(ui, {{in.min.x, y + field + ui.px(8)}, {in.max.x, in.max.y - small - ui.px(8)}}, rows,
                     static_cast<int>(box.chosen) - 1);
    foot(ui, {in.min.x, in.max.y - small}, in.width(), box.problem.empty() ? Ink::TextQuiet : Ink::Fault,
         !box.problem.empty() ? box.problem
         : save               ? "Tab completes, \u2191 \u2193 choose, Enter saves, Esc leaves it"
                              : "Tab completes, \u2191 \u2193 choose, Enter opens, Esc leaves it");
    if (clicked < 0) return;
    box.chosen = static_cast<size_t>(clicked) + 1;
    take_path(ui.state, ui.session);
}

}  // namespace tilescope::input
