// An element travels from its cell in M to its cell in Mds in a fifth of a second, then all stands
// still. Only single steps move: while many steps a second go by there is nothing to follow.
#include <algorithm>
#include <bit>
#include <cmath>

#include "app/draw/sheet.h"
#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

constexpr double kSeconds = 0.2;

}  // namespace

Rect Places::of(uint8_t array, uint32_t row, uint32_t col) const {
    for (const Grid& grid : grids) {
        if (grid.array != array) continue;
        const ImVec2 at = draw::corner_of(grid.view, row, col);
        const float pitch = grid.view.pitch;
        const Rect clip{grid.view.clip_min, grid.view.clip_max};
        if (!clip.contains({at.x + pitch / 2, at.y + pitch / 2})) return {};
        return {at, {at.x + pitch, at.y + pitch}};
    }
    return {};
}

void motion(Ui& ui) {
    session::Session& session = ui.session;
    Motion& moving = ui.state.moving;
    const bool moved = !(moving.shown == session.cursor);
    const bool one_step =
        moving.shown.block == session.cursor.block && session.cursor.step == moving.shown.step + 1;
    if (moved) {
        const bool slow =
            !session.playback.playing || session::steps_per_second(ui.session) <= session::kFastestMotion;
        moving = {session.cursor,
                  one_step && slow && session.motion && !ui.context.still ? ui.context.time : -1};
    }
    if (moving.since < 0 || !session.replay || ui.index() == nullptr || ui.step() >= ui.index()->steps)
        return;
    const double part = (ui.context.time - moving.since) / kSeconds;
    if (part >= 1 || part < 0) return;
    ui.context.another_frame = true;
    const trace::Access access = trace::decode(ui.trace(), ui.index()->first + ui.step());
    if (access.array == trace::kNoArray) return;
    const Array& array = ui.trace().launch.arrays[access.array];
    if (array.space != Space::Shared) return;
    const draw::StepKind kind = look::kind_of(ui.trace(), ui.index()->first + ui.step());
    if (kind != draw::StepKind::SharedStore) return;
    const auto eased = static_cast<float>(1 - std::pow(1 - part, 3));
    for_lanes(access.mask, [&](uint32_t lane) {
        const uint64_t cell = access.offset[lane] / array.element_bytes();
        const playback::CellState held = session.replay->cell(access.array, cell, ui.step());
        if (!held.written || held.source.array == trace::kNoArray) return;
        const CellRect source =
            draw::cell_on_sheet(ui.trace().launch.arrays[held.source.array], held.source.index);
        const CellRect target = draw::cell_on_sheet(array, cell);
        const Rect from = ui.state.places.of(held.source.array, source.row0, source.col0);
        const Rect to = ui.state.places.of(access.array, target.row0, target.col0);
        if (from.width() <= 0 || to.width() <= 0) return;
        const auto between = [&](float a, float b) { return a + (b - a) * eased; };
        const ImVec2 min{between(from.min.x, to.min.x), between(from.min.y, to.min.y)};
        const float size = between(from.width(), to.width()) * 0.86f;
        ui.list.AddRectFilled(min, {min.x + size, min.y + size}, ui.ink(ink_of(kind)), ui.px(2));
    });
}

}  // namespace tilescope::step
