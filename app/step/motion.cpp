// An element travels from its cell in M to its cell in Mds in a fifth of a second, then all stands
// still. Only single steps move: while many steps a second go by there is nothing to follow.
#include <cmath>

#include "app/draw/sheet.h"
#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {

constexpr double kSeconds = 0.2;

Rect Places::of(uint8_t array, const CellRect& cell) const {
    for (const Grid& grid : grids) {
        if (grid.array != array) continue;
        const ImVec2 corner = draw::corner_of(grid.view, cell.row0, cell.col0);
        const float pitch = grid.view.pitch;
        const Rect clip{grid.view.clip_min, grid.view.clip_max};
        if (!clip.contains({corner.x + pitch / 2, corner.y + pitch / 2})) return {};
        return {corner, {corner.x + pitch, corner.y + pitch}};
    }
    return {};
}

void motion(Ui& ui) {
    const session::Session& session = ui.session;
    Motion& moving = ui.state.moving;
    if (!(moving.shown == session.cursor)) {
        const bool one_step =
            moving.shown.block == session.cursor.block && session.cursor.step == moving.shown.step + 1;
        const bool slow =
            !session.playback.playing || session::steps_per_second(session) <= session::kFastestMotion;
        const bool starts = one_step && slow && session.motion && !ui.context.still;
        moving = {session.cursor, starts ? ui.context.time : -1};
    }
    if (moving.since < 0 || !session.replay || ui.index() == nullptr || ui.step() >= ui.index()->steps)
        return;
    const double part = (ui.context.time - moving.since) / kSeconds;
    if (part >= 1 || part < 0) return;
    ui.context.another_frame = true;
    const uint64_t step = ui.index()->first + ui.step();
    const StepKind kind = look::kind_of(ui.trace(), step);
    const trace::Access access = trace::decode(ui.trace(), step);
    if (access.array == trace::kNoArray || kind != StepKind::SharedStore) return;
    const auto& arrays = ui.trace().launch.arrays;
    const auto eased = static_cast<float>(1 - std::pow(1 - part, 3));
    for_lanes(access.mask, [&](uint32_t lane) {
        const uint64_t cell = access.offset[lane] / arrays[access.array].element_bytes();
        const playback::Element source = session.replay->cell(access.array, cell, ui.step()).source;
        if (source.array == trace::kNoArray) return;
        const Rect from =
            ui.state.places.of(source.array, draw::cell_on_sheet(arrays[source.array], source.index));
        const Rect to = ui.state.places.of(access.array, draw::cell_on_sheet(arrays[access.array], cell));
        if (from.width() <= 0 || to.width() <= 0) return;
        const auto between = [&](float a, float b) { return a + (b - a) * eased; };
        const ImVec2 min{between(from.min.x, to.min.x), between(from.min.y, to.min.y)};
        const float size = between(from.width(), to.width()) * 0.86f;
        ui.list.AddRectFilled(min, {min.x + size, min.y + size}, ui.ink(ink_of(kind)), ui.px(2));
    });
}

}  // namespace tilescope::step
