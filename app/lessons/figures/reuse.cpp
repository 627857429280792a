// Why tiles help here and not there: how often an element is used, and by how many loads it is brought.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"

namespace tilescope::lessons {
namespace {

enum At : uint8_t { kTile, kRadius, kWidth };

// Of one element of the output.
struct Row {
    const char* name;
    const char* what;
    double uses = 0;              // of an input element, in all
    double operations = 0;        // of fp32
    double plain = 0, tiled = 0;  // loads from global memory
};
std::array<Row, 3> rows(std::span<const int> set) {
    const double t = set[kTile], side = 2.0 * set[kRadius] + 1, n = set[kWidth];
    const double halo = t + 2.0 * set[kRadius];
    return {
        {{"matrix addition", "P = M + N", 1, 1, 2, 2},
         {"image blur", "a mean of neighbours", side * side, side * side, side * side, halo * halo / (t * t)},
         {"matrix product", "P = M \u00b7 N", n, 2 * n, 2 * n, 2 * std::ceil(n / t)}}};
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const auto all = rows(set);
    const auto factor = [](const Row& row) { return static_cast<uint64_t>(row.plain / row.tiled + 0.5); };
    return {{"addition_factor", factor(all[0])},
            {"blur_factor", factor(all[1])},
            {"product_factor", factor(all[2])}};
}

std::string concludes(std::span<const int> set) {
    const auto all = rows(set);
    return fmt::format(
        "Tiles divide the loads of the product by {:.0f} and those of the blur by {:.1f}. Addition uses "
        "nothing twice: there is nothing to keep, and tiles only cost time.",
        all[2].plain / all[2].tiled, all[1].plain / all[1].tiled);
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session&) {
    const auto all = rows(set);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    const float high = (rect.height() - small - ui.px(12)) / 3;
    double most = 0;
    for (const Row& row : all) most = std::max(most, row.plain / row.tiled);
    for (size_t at = 0; at < all.size(); ++at) {
        const Row& row = all[at];
        float y = rect.min.y + high * static_cast<float>(at);
        const float wide =
            line(ui, {rect.min.x, y}, rect.width() / 3, Face::Strong, Size::Body, Ink::Text, row.name);
        note(ui, {rect.min.x + wide + ui.px(12), y + body - small}, rect.width() / 3, row.what);
        y += body + ui.px(4);
        const float label = ui.px(150), figures = ui.px(230), bar = rect.width() - label - figures;
        const auto loads = [&](const char* name, double count, Ink ink) {
            note(ui, {rect.min.x, y}, label, name);
            const float length = std::max(ui.px(2), bar * static_cast<float>(count / row.plain));
            ui.list.AddRectFilled({rect.min.x + label, y + ui.px(2)},
                                  {rect.min.x + label + length, y + small - ui.px(2)}, ui.ink(ink), ui.px(2));
            line(ui, {rect.min.x + label + bar + ui.px(12), y}, figures, Face::Mono, Size::Small, Ink::Text,
                 fmt::format("{:.4g} loads   CGMA {:.3g}", count, row.operations / count));
            y += small + ui.px(3);
        };
        loads("without tiles", row.plain, Ink::GlobalLoad);
        loads("with tiles", row.tiled, Ink::SharedLoad);
        note(ui, {rect.min.x, y}, rect.width(),
             fmt::format(
                 "An input element is used {:.4g} {}. Intensity {:.3g} FLOP/B without tiles, {:.3g} with.",
                 row.uses, row.uses == 1 ? "time" : "times", row.operations / row.plain / 4,
                 row.operations / row.tiled / 4));
    }
    note(ui, {rect.min.x, rect.max.y - small}, rect.width(),
         "For one element of the output. CGMA = operations / loads from global memory; intensity = "
         "operations / bytes of those loads.");
}

}  // namespace

Figure reuse_figure() {
    return {"tiles_help",
            "Why tiles help here and not there",
            "A bar is what one element of the output loads from global memory.",
            {{"tile", "Tile width T", 2, 32, 16},
             {"radius", "Radius of the blur", 1, 8, 1},
             {"width", "Width of the product", 32, 1024, 64, 32}},
            numbers,
            concludes,
            draw_figure};
}

}  // namespace tilescope::lessons
