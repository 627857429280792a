#include "app/lessons/stop_picture.h"

#include <algorithm>

#include "app/look/cube.h"
#include "app/look/cube_cells.h"

namespace tilescope::lessons {

using analysis::StepKind, draw::CellRect;

StopPicture picture_of(const analysis::Recording& recording, const look::BlockIndex& index, uint32_t step,
                       uint8_t panels, bool asks) {
    using session::Panel;
    const auto shows = [&](Panel panel) { return (panels & static_cast<uint8_t>(panel)) != 0; };
    const bool acts = shows(Panel::Source) || shows(Panel::Request), tiles = shows(Panel::Tiles);
    const trace::Trace& trace = *recording.trace;
    const std::vector<Array>& arrays = trace.launch.arrays;
    const uint64_t at = index.first + step;
    StopPicture made;
    made.kind = look::kind_of(trace, at);
    made.product = index.product.has_value();
    const look::CubeShape of = made.product ? look::cube_shape(*index.product) : look::CubeShape();
    const uint8_t touched = trace.form_of(at).array;
    std::vector<CellRect> cells;
    if (touched < arrays.size()) {
        const draw::Sheet sheet(arrays[touched]);
        look::for_elements(trace, at,
                           [&](uint32_t, uint64_t element) { cells.push_back(sheet.cell(element)); });
        cells = look::joined(std::move(cells));
    }
    const auto part_of = [&](uint8_t array) {
        const draw::Sheet sheet(arrays[array]);
        StopPicture::Part part{sheet.rows, sheet.cols};
        if (asks) {
            if (array == touched) part.tile.push_back({0, sheet.rows, 0, sheet.cols});
            return part;
        }
        const bool output = made.product && array == of.arrays[2];
        if (arrays[array].space != Space::Shared && (tiles || (output && shows(Panel::Threads))))
            for (const CellRect& tile : look::slices_of_phase(trace, index, array, index.phase_at(step)))
                if (!tile.empty()) part.tile.push_back(tile);
        if (array == touched && acts) part.lit = cells;
        return part;
    };
    std::vector<uint8_t> shown;
    if (made.product) {
        shown.assign(of.arrays.begin(), of.arrays.end());
    } else {
        // What the step touches, and then the others as the kernel has them; drawn in that order again.
        for (uint8_t array = 0; array < arrays.size(); ++array)
            if (arrays[array].space != Space::Shared && arrays[array].elements() > 0) shown.push_back(array);
        std::ranges::stable_partition(shown, [&](uint8_t array) { return array == touched; });
        shown.resize(std::min(shown.size(), kMostPictured));
        std::ranges::sort(shown);
    }
    for (const uint8_t array : shown) made.arrays.push_back(part_of(array));
    if (made.product)
        for (StopPicture::Part& part : made.arrays) part.tile_rows = part.tile_cols = tiles ? of.tile : 1;
    for (const uint8_t array : index.shared)
        if (tiles && (made.shared.size() < 2 || array == touched)) made.shared.push_back(part_of(array));
    if (made.shared.size() > 2) made.shared.erase(made.shared.begin() + 1, made.shared.end() - 1);
    if (made.kind == StepKind::Barrier && acts && !asks) made.gate = look::gate_at(trace, index, step);
    if (made.kind == StepKind::Exchange && acts && !asks)
        made.exchange = look::exchange_view(trace, index, nullptr, step);
    return made;
}

}  // namespace tilescope::lessons
