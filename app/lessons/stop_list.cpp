// The stops of a lesson, on its page and on its end:
//
//   1 [picture]  what it says or asks          4 [picture]  ...
//                what it is shown on
//   2 [picture]  ...
//
// All rows are as high as leaves room for all of them, and the pictures as large as the rows. Words and pictures are
// worked out once, a recording a frame.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "app/lessons/asking.h"
#include "app/lessons/panels.h"

namespace tilescope::lessons {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

namespace {

// Logical pixels: a picture is at least so high, or there is none; a row is no higher; a column no narrower.
constexpr float kLeastPicture = 36, kMostRow = 116, kLeastColumn = 340;
constexpr float kWider = 1.6f;  // a picture's width by its height
constexpr float kBetween = 16;  // logical pixels from column to column

struct StopRows {
    size_t columns = 1;
    float high = 0, wide = 0;  // of a row
    ImVec2 picture{0, 0};      // 0: none
};

// fits: whether all words have room beside pictures so wide, in rows so wide and so high.
StopRows rows_in(const Ui& ui, const Rect& rect, size_t stops, float words, float pad,
                 const std::function<bool(const StopRows&)>& fits) {
    const auto in = [&](size_t columns) {
        const float gap = ui.px(kBetween), n = static_cast<float>(columns);
        const auto each = static_cast<float>((stops + columns - 1) / columns);
        const float high = std::floor(std::min(rect.height() / std::max(each, 1.f), ui.px(kMostRow)));
        StopRows rows{columns, std::max(high, words + ui.px(2)), (rect.width() - gap * (n - 1)) / n, {0, 0}};
        // As large as leaves the words their room; else none.
        for (float tall = high - pad * 2; tall >= ui.px(kLeastPicture); tall -= ui.px(6)) {
            rows.picture = {std::round(tall * kWider), std::round(tall)};
            if (fits(rows)) return rows;
        }
        rows.picture = {0, 0};
        return rows;
    };
    const StopRows one = in(1);
    if (one.high >= ui.px(kMostRow) * 0.7f || rect.width() < ui.px(kLeastColumn * 2 + kBetween)) return one;
    const StopRows two = in(2);
    return fits(two) && (two.picture.y > one.picture.y || !fits(one)) ? two : one;
}

}  // namespace

void stop_list(Ui& ui, const Rect& rect, size_t number) {
    const std::vector<LessonStop>& all = (*ui.state.lessons)[number].stops;
    if (std::exchange(ui.state.wording, ui.session.wording) != ui.session.wording)
        ui.state.said.clear(), ui.state.pictures.clear();
    if (work_out_words(ui.state, number, ui.context.waits)) ui.context.another_frame = true;
    const std::vector<Standing>& said = ui.state.said[number];
    ListType type = list_type(ui, rect);
    float body = line_height(ui, type.words);
    const float small = line_height(ui, type.notes), pad = ui.px(4);
    const float indent = ui.px(type.words == Size::Body ? 40 : 48), gap = ui.px(12);
    draw::Font font = ui.font(Face::Text, type.words);
    const auto words_of = [&](size_t at) {  // what a stop asks comes before what it says
        if (at >= said.size()) return std::string();
        return said[at].asks.empty() ? said[at].words : said[at].asks;
    };
    const auto room_in = [&](const StopRows& of) {
        return of.wide - indent - (of.picture.x > 0 ? of.picture.x + gap : 0) - ui.px(8);
    };
    const auto fits = [&](const StopRows& of, float below) {
        for (size_t at = 0; at < all.size(); ++at)
            if (static_cast<float>(wrapped(font, words_of(at), room_in(of)).size()) * body + below + pad * 2 >
                of.high)
                return false;
        return true;
    };
    const auto laid_out = [&] {
        return rows_in(ui, rect, all.size(), body, pad, [&](const StopRows& of) { return fits(of, 0); });
    };
    StopRows rows = laid_out();
    // Whole words rather than rows of one height, and rather than large type.
    std::vector<float> heights;  // a row each; empty: all the same
    const auto own_heights = [&] {
        float sum = 0;
        for (size_t at = 0; at < all.size(); ++at) {
            const auto lines = static_cast<float>(
                std::max<size_t>(wrapped(font, words_of(at), rows.wide - indent - ui.px(8)).size(), 1));
            heights.push_back(std::floor(lines * body + pad * 1.5f));
            sum += heights.back();
        }
        if (sum > rect.height() + pad) heights.clear();
    };
    if (!fits(rows, 0) && rows.columns == 1) own_heights();
    if (!fits(rows, 0) && heights.empty()) {
        type.words = type.notes;
        body = line_height(ui, type.words), font = ui.font(Face::Text, type.words);
        rows = laid_out();
        if (!fits(rows, 0) && rows.columns == 1) own_heights();
    }
    if (!heights.empty()) rows.picture = {0, 0};
    const float room = room_in(rows);
    // With what it is shown on below the words, where all have room for both.
    const bool shown = fits(rows, small);
    const size_t each = (all.size() + rows.columns - 1) / rows.columns;
    float top = rect.min.y;
    for (size_t at = 0; at < all.size(); ++at) {
        const std::string words = words_of(at);
        const float left = rect.min.x + static_cast<float>(at / each) * (rows.wide + ui.px(kBetween));
        if (at % each == 0) top = rect.min.y;
        const float row_high = heights.empty() ? rows.high : heights[at];
        const auto most = static_cast<int>(std::max(1.f, std::floor((row_high - pad) / body)));
        const Rect row{{left, top}, {left + rows.wide, top + row_high}};
        const float row_top = std::exchange(top, row.max.y);
        if (row.max.y > rect.max.y + pad) continue;
        row_ground(ui, row, false);
        const float x = row.min.x + indent, number_high = line_height(ui, type.words);
        const float picture_y = std::round(row_top + (row_high - rows.picture.y) / 2);
        if (rows.picture.x > 0)
            stop_picture(ui, {{x, picture_y}, {x + rows.picture.x, picture_y + rows.picture.y}}, number, at);
        const Notation notation = at < said.size() ? said[at].notation : Notation{};
        const std::string on = shown_on(all[at]), where = on + ": " + stands_at(all[at], notation);
        const std::string text = words.empty() ? fitting(font, {where, on}, room) : words;
        const auto lines = std::min<size_t>(wrapped(font, text, room).size(), static_cast<size_t>(most));
        const bool note = shown && !words.empty();
        const float high = body * static_cast<float>(std::max<size_t>(lines, 1)) + (note ? small : 0);
        const float y = std::round(row.min.y + std::max(pad / 2, (row_high - high) / 2));
        line(ui, {row.min.x + ui.px(14), rows.picture.x > 0 ? row_top + (row_high - number_high) / 2 : y},
             ui.px(32), Face::Mono, type.words, Ink::TextQuiet, std::to_string(at + 1), draw::Align::Center);
        const float words_x = x + (rows.picture.x > 0 ? rows.picture.x + gap : 0);
        const float below = paragraph(ui, {words_x, y}, room, Face::Text, type.words, Ink::Text, text, most);
        if (note)
            line(ui, {words_x, y + below}, room, Face::Text, type.notes, Ink::TextQuiet,
                 fitting(ui.font(Face::Text, type.notes), {where, on, ""}, room));
        if (ui.clicked(row)) go_to_stop(ui.state, ui.session, number, at);
    }
}

bool work_out_words(State& state, size_t lesson, bool all) {
    state.said.resize(state.lessons->size());
    state.pictures.resize(state.lessons->size());
    const std::vector<LessonStop>& stops = (*state.lessons)[lesson].stops;
    std::vector<Standing>& done = state.said[lesson];
    auto& pictures = state.pictures[lesson];
    while (done.size() < stops.size()) {
        const LessonStop& first = stops[done.size()];
        if (is_modelled(first)) {
            done.push_back(standing_on(first));
            pictures.push_back(nullptr);
            continue;
        }
        std::shared_ptr<const session::Recording> recording;
        if (auto made = recording_of(first)) recording = session::worded(std::move(*made), state.wording);
        std::shared_ptr<const look::BlockIndex> index;  // of the block of the stop before
        while (done.size() < stops.size() && same_recording(stops[done.size()], first)) {
            done.push_back(recording ? standing_of(*recording, stops[done.size()]) : Standing{});
            pictures.push_back(nullptr);
            const playback::Cursor at = done.back().at;
            if (done.back().words.empty()) continue;
            if (!index || index->block != at.block) index = look::index_block(*recording, at.block);
            const LessonStop& stop = stops[done.size() - 1];
            pictures.back() = std::make_shared<const StopPicture>(
                picture_of(*recording, *index, at.step, stop.panels, stop.ask.has_value()));
        }
        if (!all) break;
    }
    return done.size() < stops.size();
}

}  // namespace tilescope::lessons
