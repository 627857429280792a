// The panel of one recording: which it is, where it stands, and the maps of its matrices (compare_maps.cpp).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/compare/opening.h"
#include "app/compare/panels.h"
#include "app/input/panels.h"
#include "app/session/playing.h"

namespace tilescope::compare {

namespace {

// Which recording it is, and where it stands; as much of both as fits. Returns the height taken.
float whose(Ui& ui, const Rect& in, const Pane& pane) {
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    const trace::Meta& meta = pane.trace.meta;
    const float mark = badge(ui, {in.min.x, in.min.y}, body, pane.letter) + ui.px(8);
    const float title = line(
        ui, {in.min.x + mark, in.min.y}, in.width() - mark, Face::Strong, Size::Body, Ink::Text,
        pane.index.product ? fmt::format("{} T={}", meta.kernel, pane.index.product->tile) : meta.kernel);
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const std::string device = meta.backend == trace::Backend::Gpu ? meta.device : "CPU lockstep";
    const float room = in.width() - mark - title - ui.px(8);
    if (draw::text_size(font, device).x <= room)
        line(ui, {in.max.x, in.min.y + ui.px(3)}, room, Face::Text, Size::Small, Ink::TextQuiet, device,
             draw::Align::Right);
    const trace::Block& block = pane.trace.blocks[pane.cursor.block];
    const std::string step =
        fmt::format("{}, step {}", block_name(pane.trace.launch.grid, block.x, block.y, block.z),
                    grouped(pane.cursor.step + 1));
    const std::string of = step + " of " + grouped(pane.index.steps);
    const std::string phase = look::phase_text(pane.index, pane.cursor.step);
    const std::string all = phase.empty() ? of : of + ", " + phase;
    const auto fits = [&](const std::string& text) { return draw::text_size(font, text).x <= in.width(); };
    line(ui, {in.min.x, in.min.y + body}, in.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fits(all)  ? all
         : fits(of) ? of
                    : step);
    return body + small + ui.px(8);
}

// Global arrays that are read, or written, in the order of the kernel's parameters.
std::vector<uint8_t> arrays_that(const trace::Trace& trace, bool (Array::*is)() const) {
    std::vector<uint8_t> found;
    const auto& arrays = trace.launch.arrays;
    for (size_t at = 0; at < arrays.size(); ++at)
        if (arrays[at].space == Space::Global && (arrays[at].*is)())
            found.push_back(static_cast<uint8_t>(at));
    return found;
}

}  // namespace

uint32_t most_loads(const Pane& pane) {
    uint32_t most = 0;
    for (const uint32_t loads : pane.totals.most_loads) most = std::max(most, loads);
    return most;
}

void heat_panel(Ui& ui, const Rect& rect, const Pane& pane, uint32_t most, bool with_output) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float top = in.min.y + whose(ui, in, pane);
    // What is wrong is of the output; where three would be too small to read, the second input goes.
    std::vector<uint8_t> inputs = arrays_that(pane.trace, &Array::reads), outputs;
    if (with_output || inputs.empty()) outputs = arrays_that(pane.trace, &Array::writes);
    inputs.resize(std::min<size_t>(inputs.size(), outputs.empty() || in.width() >= ui.px(296) ? 2 : 1));
    outputs.resize(std::min<size_t>(outputs.size(), 1));
    const float gap = ui.px(16),
                columns = static_cast<float>(std::max<size_t>(inputs.size() + outputs.size(), 1));
    const float width = std::floor((in.width() - gap * (columns - 1)) / columns);
    float left = in.min.x;
    const auto next = [&] {
        const Rect column{{left, top}, {left + width, in.max.y}};
        left += width + gap;
        return column;
    };
    for (const uint8_t array : inputs) input_map(ui, next(), pane, array, most);
    for (const uint8_t array : outputs) output_map(ui, next(), pane, array);
}

}  // namespace tilescope::compare
