// Where the pinned element came from, or who touched it: a title, what is known of it, and a list in which a
// click goes to the step.
//
//   P[3,5]                            x
//   row 3 of M times column 5 of N
//   sum so far 37, after 20 of 64 products
//   element   value  loaded by  at step  used
//   phase 1
//   # M[3,16]    -4     (0,3)       342   16x      # a loaded element   / a zero fill   <> a stale value
#include <algorithm>
#include <cmath>

#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/panels.h"
#include "app/step/provenance_rows.h"

namespace tilescope::step {
namespace {

constexpr uint64_t kScannedAFrame = 200'000;  // steps: well under a millisecond

// Told apart by shape: a full square, a struck one, a hollow diamond, a disc, a cross.
void origin_mark(Ui& ui, const Rect& box, Origin origin) {
    const ImVec2 middle{(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2};
    const float half = box.width() / 2, width = std::max(1.f, ui.px(1.5f));
    switch (origin) {
        case Origin::Element:
            ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::GlobalLoad));
            break;
        case Origin::ZeroFill:
            ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Outside));
            ui.list.AddRect(box.min, box.max, ui.ink(Ink::LineStrong));
            ui.list.AddLine({box.min.x, box.max.y}, {box.max.x, box.min.y}, ui.ink(Ink::TextQuiet), width);
            break;
        case Origin::Stale:
            ui.list.AddQuad({middle.x, box.min.y - 1}, {box.max.x + 1, middle.y}, {middle.x, box.max.y + 1},
                            {box.min.x - 1, middle.y}, ui.ink(Ink::Fault), width);
            break;
        case Origin::Computed:
            ui.list.AddCircleFilled(middle, half, ui.ink(Ink::Product));
            break;
        case Origin::Nothing:
            ui.list.AddLine(box.min, box.max, ui.ink(Ink::Fault), width);
            ui.list.AddLine({box.min.x, box.max.y}, {box.max.x, box.min.y}, ui.ink(Ink::Fault), width);
            break;
    }
}

// Right edges of the columns; the first is aligned left. A column that does not fit is left out (0).
using Columns = std::array<float, ProvenanceRow::kColumns>;
Columns columns_of(Ui& ui, const ProvenanceList& list, float x, float width) {
    const draw::Font font = ui.font(Face::Mono, Size::Small), words = ui.font(Face::Text, Size::Small);
    Columns wide{}, right{};
    float all = 0;
    for (size_t i = 0; i < wide.size(); ++i) {
        if (list.columns[i].empty()) continue;
        wide[i] =
            std::max(draw::text_size(font, list.widest[i]).x, draw::text_size(words, list.columns[i]).x);
        all += wide[i];
    }
    // The step goes first: pointing at the row still says it.
    const float gap = ui.px(6);
    const auto used = [&] {
        return all + gap * static_cast<float>(
                               std::count_if(wide.begin(), wide.end(), [](float w) { return w > 0; }) - 1);
    };
    for (const size_t column : {size_t{3}, size_t{1}}) {
        if (used() <= width) break;
        all -= wide[column];
        wide[column] = 0;
    }
    const float spare = std::max(0.f, width - used());
    const auto shown =
        static_cast<float>(std::count_if(wide.begin(), wide.end(), [](float w) { return w > 0; }));
    float at = x;
    bool first = true;
    for (size_t i = 0; i < wide.size(); ++i) {
        if (wide[i] == 0) continue;
        at += wide[i] + (first ? 0 : gap + spare / std::max(1.f, shown - 1));
        right[i] = at;
        first = false;
    }
    return right;
}

void row_text(Ui& ui, const std::array<std::string, ProvenanceRow::kColumns>& text, const Columns& right,
              float x, float y, Face face, Ink ink) {
    bool first = true;
    for (size_t i = 0; i < text.size(); ++i) {
        if (right[i] == 0) continue;
        if (first)
            line(ui, {x, y}, right[i] - x + ui.px(6), face, Size::Small, ink, text[i]);
        else
            line(ui, {right[i], y}, right[i] - x, face, Size::Small, ink, text[i], draw::Align::Right);
        first = false;
    }
}

void legend(Ui& ui, const Rect& row, const ProvenanceList& list) {
    float x = row.min.x;
    const float size = ui.px(9);
    const auto entry = [&](Origin origin, const char* text) {
        const float top = std::round((row.min.y + row.max.y - size) / 2);
        origin_mark(ui, {{x, top}, {x + size, top + size}}, origin);
        x += size + ui.px(6);
        x += line(ui, {x, row.min.y}, row.max.x - x, Face::Text, Size::Small, Ink::TextQuiet, text) +
             ui.px(12);
    };
    entry(Origin::Element, "loaded");
    if (list.zeros) entry(Origin::ZeroFill, "zero fill");
    if (list.stale) entry(Origin::Stale, "stale");
}

// In words what the rows of the next product say: who loaded its two factors, when, and how often each was
// used.
std::vector<std::string> spelled_out(Ui& ui, const ProvenanceList& list, float width) {
    std::vector<std::string> lines;
    size_t row = list.here;
    if (row < list.rows && provenance_row(ui.state.provenance, ui.session, nullptr, row).heading) ++row;
    for (size_t i = row; i < std::min(row + 2, list.rows); ++i) {
        const std::string& said = provenance_row(ui.state.provenance, ui.session, nullptr, i).tip;
        for (std::string& part : wrapped(ui.font(Face::Text, Size::Small), said, width))
            lines.push_back(std::move(part));
    }
    return lines;
}

// The first row in sight: the one of the step, until the wheel is turned.
size_t first_row(Ui& ui, const ProvenanceList& list, const Rect& area, size_t shown) {
    Provenance& known = ui.state.provenance;
    const uint64_t step = ui.index()->first + ui.step();
    if (known.step != step) {
        known.step = step;
        known.follows = true;
    }
    const double last = list.rows > shown ? static_cast<double>(list.rows - shown) : 0;
    if (known.follows) {
        const double third = static_cast<double>(shown / 3);
        known.scroll = static_cast<double>(list.here) - third;
    }
    if (ui.over(area) && ImGui::GetIO().MouseWheel != 0) {
        known.follows = false;
        known.scroll -= 3 * static_cast<double>(ImGui::GetIO().MouseWheel);
    }
    known.scroll = std::clamp(known.scroll, 0.0, last);
    return static_cast<size_t>(std::round(known.scroll));
}

}  // namespace

void provenance_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    if (work_out(ui.state.provenance, ui.session, ui.context.still ? UINT64_MAX : kScannedAFrame))
        ui.context.another_frame = true;
    const std::optional<CellTrail> cell = pinned_cell(ui.session);
    const CellTrail* const of_cell = cell ? &*cell : nullptr;
    const ProvenanceList list = provenance_list(ui.state.provenance, ui.session, of_cell);
    const Rect in = rect.inset(ui.px(12));
    const float small = line_height(ui, Size::Small);
    float y = in.min.y;
    line(ui, {in.min.x, y}, in.width() - ui.px(80), Face::Strong, Size::Body, Ink::Text, list.title);
    line(ui, {in.max.x, y + ui.px(3)}, ui.px(80), Face::Text, Size::Small, Ink::TextFaint, "Esc closes",
         draw::Align::Right);
    y += line_height(ui, Size::Body) + ui.px(2);
    for (size_t i = 0; i < list.facts.size(); ++i) {
        const bool warn = list.warn == static_cast<int>(i);
        float x = in.min.x;
        if (warn) {
            const float s = ui.px(10), top = y + (small - s) / 2;
            ui.list.AddTriangleFilled({x + s / 2, top}, {x + s, top + s}, {x, top + s}, ui.ink(Ink::Fault));
            x += s + ui.px(6);
        }
        y += paragraph(ui, {x, y}, in.max.x - x, Face::Text, Size::Small, warn ? Ink::Text : Ink::TextQuiet,
                       list.facts[i], 2);
    }
    if (list.rows == 0) return;
    y += ui.px(6);
    ui.list.AddLine({in.min.x, y}, {in.max.x, y}, ui.ink(Ink::Line));
    y += ui.px(4);
    const bool marks = ui.state.provenance.output.has_value();
    const float mark = ui.px(9), x = in.min.x + mark + ui.px(8);
    const Columns columns = columns_of(ui, list, x, in.max.x - x);
    row_text(ui, list.columns, columns, x, y, Face::Text, Ink::TextFaint);
    y += small + ui.px(2);

    std::vector<std::string> words;
    if (marks && in.max.y - y > small * 14) words = spelled_out(ui, list, in.width());
    const float said = words.empty() ? 0 : small * static_cast<float>(words.size()) + ui.px(8);
    const float foot = (marks ? small + ui.px(8) : 0) + said;
    const Rect area{{rect.min.x, y}, {rect.max.x, in.max.y - foot}};
    const auto shown = static_cast<size_t>(std::max(0.f, area.height() / small));
    const size_t first = first_row(ui, list, area, shown);
    for (size_t i = 0; i < shown && first + i < list.rows; ++i) {
        const ProvenanceRow row = provenance_row(ui.state.provenance, ui.session, of_cell, first + i);
        const float top = y + static_cast<float>(i) * small;
        const Rect band{{rect.min.x + ui.px(4), top}, {rect.max.x - ui.px(4), top + small}};
        if (row.heading) {
            line(ui, {in.min.x, top}, in.width(), Face::Strong, Size::Small, Ink::Text, row.text[0]);
            continue;
        }
        if (row.current) {
            ui.list.AddRectFilled(band.min, band.max, draw::with_alpha(ui.ink(Ink::Product), 0.22f));
            ui.list.AddRectFilled(band.min, {band.min.x + ui.px(3), band.max.y}, ui.ink(Ink::Product));
        }
        const Rect box{{in.min.x, std::round(top + (small - mark) / 2)},
                       {in.min.x + mark, std::round(top + (small + mark) / 2)}};
        if (marks)
            origin_mark(ui, box, row.origin);
        else
            sign(ui, box,
                 look::kind_of(ui.trace(), ui.trace().blocks[row.cursor.block].first + row.cursor.step));
        row_text(ui, row.text, columns, x, top, Face::Mono, row.done ? Ink::Text : Ink::TextFaint);
        if (!ui.over(band)) continue;
        ui.tip = row.tip;
        ui.hovered = row.pick;
        if (!row.jumps) continue;
        ui.list.AddRect(band.min, band.max, ui.ink(Ink::Accent), ui.px(3));
        if (ImGui::IsMouseClicked(0)) {
            ui.session.cursor.block = row.cursor.block;
            session::go_to(ui.session, row.cursor.step);
            ui.context.another_frame = true;
        }
    }
    // How much of the list is in sight.
    if (list.rows > shown && shown > 0) {
        const auto rows = static_cast<float>(list.rows);
        const float high = std::max(ui.px(12), area.height() * static_cast<float>(shown) / rows);
        const float at = area.min.y + (area.height() - high) * static_cast<float>(first) /
                                          (rows - static_cast<float>(shown));
        ui.list.AddRectFilled({rect.max.x - ui.px(4), at}, {rect.max.x - ui.px(1), at + high},
                              ui.ink(Ink::LineStrong), ui.px(2));
    }
    if (!words.empty()) {
        float at = in.max.y - foot + ui.px(8);
        ui.list.AddLine({in.min.x, at - ui.px(4)}, {in.max.x, at - ui.px(4)}, ui.ink(Ink::Line));
        for (const std::string& part : words) {
            line(ui, {in.min.x, at}, in.width() + 1, Face::Text, Size::Small, Ink::Text, part);
            at += small;
        }
    }
    if (marks) legend(ui, {{in.min.x, in.max.y - small}, in.max}, list);
}

}  // namespace tilescope::step
