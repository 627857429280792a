// The list of the Lessons screen: a row a lesson, a lecturer's own under their folder's name, and below them
// the figures and the programs. It scrolls where it has more rows than room.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/lessons/panels.h"
#include "core/base/text.h"

namespace tilescope::lessons {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

void strip_ground(Ui& ui, const Rect& strip, Ink ink, float share) {
    ui.list.AddRectFilled(strip.min, strip.max, draw::mix(ui.ink(Ink::Panel), ui.ink(ink), share), ui.px(6));
    ui.list.AddRectFilled(strip.min, {strip.min.x + ui.px(4), strip.max.y}, ui.ink(ink), ui.px(2));
}

size_t rows_of(const State& state, const session::Session& session) {
    return state.lessons->size() + 1 + (session::offered_examples(session).empty() ? 0 : 1);
}
bool lists_figures(const State& state) { return state.listed == state.lessons->size(); }
bool lists_programs(const State& state, const session::Session& session) {
    return state.listed > state.lessons->size() && !session::offered_examples(session).empty();
}

// Titles that may need a second line in larger type.
constexpr size_t kSecondLines = 2;

namespace {

bool is_done(const State& state, size_t at) {
    const Lesson& of = (*state.lessons)[at];
    return of.path.empty() && std::ranges::find(state.done, of.name) != state.done.end();
}

// A tick: walked to its end.
void done_sign(Ui& ui, ImVec2 middle) {
    const ImVec2 points[] = {{middle.x - ui.px(5), middle.y},
                             {middle.x - ui.px(1), middle.y + ui.px(4)},
                             {middle.x + ui.px(6), middle.y - ui.px(5)}};
    ui.list.AddPolyline(points, 3, ui.ink(Ink::Text), 0, ui.px(2));
}

}  // namespace

void lesson_list_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    State& place = ui.state;
    const Rect whole = rect.inset(ui.px(12));
    line(ui, whole.min, whole.width(), Face::Strong, Size::Title, Ink::Text, "Lessons");
    const Rect in{{whole.min.x, whole.min.y + line_height(ui, Size::Title) + ui.px(12)},
                  {whole.max.x, whole.max.y}};
    const float small = line_height(ui, Size::Small);
    // What stands above a row: the group of lessons that begins with it, or the folder of a lecturer's own.
    const auto heading_of = [&](size_t at) -> std::string {
        if (at >= place.lessons->size()) return "";
        const Lesson& of = (*place.lessons)[at];
        const Lesson* const before = at > 0 ? &(*place.lessons)[at - 1] : nullptr;
        if (!of.folder.empty())
            return before != nullptr && before->folder == of.folder
                       ? ""
                       : one_line(std::filesystem::path(of.folder).filename().string());
        return before != nullptr && before->group == of.group ? "" : of.group;
    };
    size_t headings = 0;
    for (size_t at = 0; at < place.lessons->size(); ++at) headings += heading_of(at).empty() ? 0 : 1;
    const float heading_high = small + ui.px(10);
    // In larger type where all rows fit so.
    const auto roomy = [&] {
        const float row = line_height(ui, Size::Title) + ui.px(11);
        return in.width() >= ui.px(380) &&
               row * static_cast<float>(rows_of(place, ui.session) + kSecondLines) +
                       heading_high * static_cast<float>(headings) <=
                   in.height();
    };
    const Size size = roomy() ? Size::Title : Size::Body;
    const float high_of_line = line_height(ui, size), air = ui.px(size == Size::Title ? 8 : 12);
    const float indent = ui.px(size == Size::Title ? 48 : 40);
    const float width = in.width() - indent - ui.px(28), gap = ui.px(size == Size::Title ? 3 : 4);
    struct ListRow {
        std::string heading;
        const std::string* title;
        size_t lines;
        float height;
    };
    std::vector<ListRow> rows;
    for (size_t at = 0; at < rows_of(place, ui.session); ++at) {
        const Face face = at == place.listed ? Face::Strong : Face::Text;
        const size_t lessons = place.lessons->size();
        const std::string& title = at < lessons    ? (*place.lessons)[at].title
                                   : at == lessons ? kFigures
                                                   : input::kPrograms;
        ListRow row{heading_of(at), &title,
                    std::min<size_t>(wrapped(ui.font(face, size), title, width).size(), 3), 0};
        row.height = high_of_line * static_cast<float>(row.lines) + air + gap +
                     (row.heading.empty() ? 0 : heading_high);
        rows.push_back(std::move(row));
    }
    // As many as there is room for, from the first one in sight; one that the keys choose stays in sight.
    const auto fits_from = [&](size_t first) {
        float high = 0;
        size_t end = first;
        while (end < rows.size() && (high += rows[end].height) <= in.height() + gap) ++end;
        return std::max(end, std::min(first + 1, rows.size()));
    };
    size_t last = 0;  // the furthest that the list is scrolled to
    while (fits_from(last) < rows.size()) ++last;
    const float wheel = ImGui::GetIO().MouseWheel;
    if (ui.over(rect) && wheel != 0)
        place.listed_top =
            wheel > 0 ? place.listed_top - std::min<size_t>(place.listed_top, 2) : place.listed_top + 2;
    if (std::exchange(place.listed_seen, place.listed) != place.listed) {
        place.listed_top = std::min(place.listed_top, place.listed);
        while (fits_from(place.listed_top) <= place.listed) ++place.listed_top;
    }
    place.listed_top = std::min(place.listed_top, last);
    const size_t end = fits_from(place.listed_top);
    float y = in.min.y;
    for (size_t at = place.listed_top; at < end; ++at) {
        const bool on = at == place.listed, numbered = at < place.lessons->size();
        if (!rows[at].heading.empty()) {
            y += ui.px(6);
            line(ui, {in.min.x + ui.px(12), y}, in.width() - ui.px(12), Face::Strong, Size::Small,
                 Ink::TextQuiet, rows[at].heading);
            y += small + ui.px(4);
        }
        const float high = high_of_line * static_cast<float>(rows[at].lines) + air;
        const Rect row{{in.min.x, y}, {in.max.x - (last > 0 ? ui.px(8) : 0), y + high}};
        numbered ? row_head(ui, row, ui.px(22), at, on, size) : row_ground(ui, row, on);
        if (on)
            ui.list.AddRectFilled(row.min, {row.min.x + ui.px(3), row.max.y}, ui.ink(Ink::Accent), ui.px(2));
        paragraph(ui, {row.min.x + indent, y + air / 2}, width, on ? Face::Strong : Face::Text, size,
                  Ink::Text, *rows[at].title, static_cast<int>(rows[at].lines));
        if (numbered && is_done(place, at))
            done_sign(ui, {row.max.x - ui.px(16), (row.min.y + row.max.y) / 2});
        if (ui.clicked(row)) place.listed = place.listed_seen = at;
        y += high + gap;
    }
    scroll_mark(ui, ui.list, {{in.max.x - ui.px(4), in.min.y}, in.max}, static_cast<double>(place.listed_top),
                static_cast<double>(end - place.listed_top), static_cast<double>(rows.size()));
}

}  // namespace tilescope::lessons
