// Why tiles help here and not there: how often an element is used, and by how many loads it is brought.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/limits/roofline.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kTile, kRadius, kWidth };

// Loads for one element of the output.
struct KernelLoads {
    const char* name;
    const char* what;
    double uses = 0;              // of an input element, in all
    double operations = 0;        // of fp32
    double plain = 0, tiled = 0;  // loads from global memory
};
std::array<KernelLoads, 3> rows(std::span<const int> set) {
    const double t = set[kTile], side = 2.0 * set[kRadius] + 1, n = set[kWidth];
    const double halo = t + 2.0 * set[kRadius];
    return {
        {{"matrix addition", "P = M + N", 1, 1, 2, 2},
         {"image blur", "a mean of neighbours", side * side, side * side, side * side, halo * halo / (t * t)},
         {"matrix product", "P = M \u00b7 N", n, 2 * n, 2 * n, 2 * std::ceil(n / t)}}};
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const auto all = rows(set);
    const auto factor = [](const KernelLoads& row) {
        return static_cast<uint64_t>(row.plain / row.tiled + 0.5);
    };
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

// What stands behind a bar: in columns, so that they can be compared.
void figures_of(draw::Ui& ui, float left, float right, float y, Size size, double loads, double operations,
                bool head) {
    const float column = (right - left) / 3;
    const auto cell = [&](float at, const std::string& words) {
        line(ui, {left + column * at, y}, column, head ? Face::Text : Face::Mono, size,
             head ? Ink::TextQuiet : Ink::Text, words, Align::Right);
    };
    cell(1, head ? "loads" : fmt::format("{:.4g}", loads));
    cell(2, head ? "CGMA" : fmt::format("{:.3g}", operations / loads));
    cell(3, head ? "FLOP/B" : fmt::format("{:.3g}", operations / loads / 4));
}

// The operations and loads of the recording that is open, for one element of its output; none where it is no
// product, is not whole, or is still being counted.
std::optional<std::pair<double, double>> of_open(const session::Session& session) {
    if (!session.recording || !session.totals || !session.recording->product) return std::nullopt;
    const auto work = analysis::recorded_work(*session.recording, session.totals->summary);
    if (!work || work->loaded == 0) return std::nullopt;
    const double elements =
        static_cast<double>(work->flops) / static_cast<double>(session.recording->product->flop_an_element());
    return std::pair{static_cast<double>(work->flops) / elements,
                     static_cast<double>(work->loaded) / 4 / elements};
}

std::string concludes_of(std::span<const int> set, const session::Session& session) {
    const auto open = of_open(session);
    if (!open) return "";
    const auto& [operations, loads] = *open;
    return concludes(set) +
           fmt::format(" Open is {}: {:.4g} operations / {:.4g} loads = CGMA {:.3g}, {:.3g} FLOP/B.",
                       analysis::kernel_name(*session.recording), operations, loads, operations / loads,
                       operations / loads / 4);
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const auto all = rows(set);
    const bool hidden = asked(session);
    auto open = of_open(session);
    if (hidden) open.reset();
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    const float label = std::clamp(rect.width() * 0.22f, ui.px(180), ui.px(260)),
                figures = rect.max.x - ui.px(230), bars = rect.min.x + label, bar = figures - bars - ui.px(8);
    const float foot = small + ui.px(10), head = small + ui.px(4);
    // Three kernels of two lines each, and the open one.
    const float lines = open ? 7.f : 6.f, gaps = open ? 3.f : 2.f;
    const float gap = std::min(ui.px(32), (rect.height() - foot - head - lines * body) / gaps);
    const float high = std::clamp((rect.height() - foot - head - gaps * gap) / lines, body, ui.px(60));
    figures_of(ui, figures, rect.max.x, rect.min.y, Size::Small, 0, 0, true);
    // In larger type where the lines are far enough apart.
    const Size size = high > body * 1.2f ? Size::Body : Size::Small;
    // One log scale for all of them, from 1 load on: a factor is as long everywhere.
    double most = 10;
    for (const KernelLoads& row : all) most = std::max(most, row.plain);
    if (open) most = std::max(most, open->second);
    const auto length_of = [&](double count) {
        return std::max(ui.px(2), bar * static_cast<float>(std::log(std::max(count, 1.0)) / std::log(most)));
    };
    note(ui, {bars, rect.min.y}, bar,
         std::vector<std::string>{"loads from global memory, log scale", "loads, log scale"});
    float y = rect.min.y + head;
    const auto middle = [&](float tall) { return y + (high - tall) / 2; };
    const auto loads = [&](double count, double operations, Ink ink) {
        fill(ui, {{bars, y + high * 0.16f}, {bars + length_of(count), y + high * 0.84f}}, ink, 2);
        figures_of(ui, figures, rect.max.x, middle(line_height(ui, size)), size, count, operations, false);
        y += high;
    };
    for (const KernelLoads& row : all) {
        line(ui, {rect.min.x, middle(body)}, label - ui.px(8), Face::Strong, Size::Body, Ink::Text, row.name);
        loads(row.plain, row.operations, Ink::GlobalLoad);
        note(ui, {rect.min.x, middle(small)}, label - ui.px(8),
             std::vector<std::string>{
                 fmt::format("{}; used {:.4g} {}", row.what, row.uses, row.uses == 1 ? "time" : "times"),
                 row.what});
        if (hidden) {
            unknown(ui, {{bars, y + high * 0.16f}, {rect.max.x, y + high * 0.84f}});
            y += high;
        } else {
            loads(row.tiled, row.operations, Ink::SharedLoad);
        }
        y += gap;
    }
    if (open) {
        line(ui, {rect.min.x, middle(body)}, label - ui.px(8), Face::Strong, Size::Body, Ink::Text,
             "open: " + analysis::kernel_name(*session.recording));
        loads(open->second, open->first, Ink::Constant);
        y += gap;
    }
    ImVec2 at{rect.min.x, std::min(y + ui.px(2), rect.max.y - small)};
    const auto key = [&](const char* words, Ink ink) { key_of(ui, at, words, ink, 2); };
    key("without tiles", Ink::GlobalLoad);
    key("with tiles", Ink::SharedLoad);
    if (open) key("recorded", Ink::Constant);
    note(ui, at, rect.max.x - at.x,
         std::vector<std::string>{
             "For one element of the output. CGMA = operations / loads; intensity in FLOP/B "
             "= operations / bytes of those loads.",
             "CGMA = operations / loads; FLOP/B = operations / bytes of them.", "CGMA = operations / loads"});
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
            draw_figure,
            concludes_of};
}

}  // namespace tilescope::lessons
