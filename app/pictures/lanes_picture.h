// What the pictures of one request share: a row of its 32 lanes, and threads from each of them to what it meets below.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/pictures/pictures.h"

namespace tilescope::pictures {

inline float f(size_t number) { return static_cast<float>(number); }

// A row of 32 columns: of lanes, of banks.
inline float middle_of(const Rect& row, size_t column) {
    return row.min.x + row.width() / 32 * (f(column) + 0.5f);
}
inline Rect box_of(const Rect& row, size_t column) {
    const auto edge = [&](size_t at) { return std::round(row.min.x + row.width() / 32 * f(at)); };
    return {{edge(column), row.min.y}, {edge(column + 1) - 1, row.max.y}};
}

// Under a row, at y: the number of every eighth column and of the last.
void column_numbers(Ui& ui, const Rect& row, float y);

// What is drawn of one request: a row of lanes, and below it what they meet.
struct LanesPicture {
    Ui& ui;
    const Rect& area;
    const RequestView& request;
    const uint32_t lane_lit;
    const Rect lanes;  // below their numbers
    const Rgba color = ui.ink(ink_of(request.kind));

    // Returns the lane under the mouse.
    std::optional<uint32_t> lanes_row() const {
        std::optional<uint32_t> under;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            const Rect box = box_of(lanes, lane);
            const look::LaneView& of = request.lanes[lane];
            ui.list.AddRectFilled(box.min, box.max, of.active ? color : ui.ink(Ink::Cell));
            if (!of.active) hatch(ui, box, ui.ink(of.exists ? Ink::LineStrong : Ink::Line), ui.px(4));
            if (lane == lane_lit)
                ui.list.AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1},
                                ui.ink(Ink::Selected), 0, 0, ui.px(2));
            if (ui.over({box.min, {box.max.x + 1, box.max.y}}) && of.exists) under = lane;
        }
        return under;
    }

    // From every active lane to where `end` says that it goes, the lit one on top.
    template <class End>
    void threads(float alpha, End end) const {
        for (const bool lit : {false, true})
            for (uint32_t lane = 0; lane < 32; ++lane)
                if (request.lanes[lane].active && (lane == lane_lit) == lit)
                    ui.list.AddLine({middle_of(lanes, lane), lanes.max.y + 1}, end(lane),
                                    lit ? ui.ink(Ink::Selected) : with_alpha(color, alpha),
                                    ui.px(lit ? 2 : 1));
    }

    void sectors() const;
    void part_of_array() const;
    void transactions(const OlderView& older) const;
    void banks() const;
    struct WordBox {
        look::WordView word;  // of the lanes of its strip
        Rect box;
    };
    void receivers(const Rect& row, const std::vector<WordBox>& words) const;
    void transposed() const;
    std::optional<uint32_t> fragments(std::optional<uint32_t> under) const;
    void addresses() const;
    void shuffle() const;
    void together() const;
    Rect getting(int& lines) const;
    std::optional<Font> type_of_lanes(bool gets) const;
    void write(const std::optional<Font>& font, const Rect& box, const std::string& value, Rgba fill) const;
};

}  // namespace tilescope::pictures
