// Roofs from bandwidth: how many operations memory feeds, untiled and with tiles, beside the peak.
//
//   untiled    ##                                    | peak
//   T = 2      ####                                  |
//   T = 16     ################################      |
//
// The cases are those of core/limits/roofline.h, which has their source.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/limits/roofline.h"
#include "kernels/textbook/devices.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kRoof, kTile };

constexpr uint32_t kTiles[] = {1, 2, 4, 8, 16, 32};

std::string text_of(double value) { return number_text(static_cast<uint64_t>(std::llround(value * 100)), 2); }

// The lectures' roofs, each once, and behind them one of today's. A device goes by the name that its case has
// for it, "G80" of "G80, untiled", and figures without a device by their bandwidth.
struct Named {
    std::string label;
    analysis::Roof roof;
};
const std::vector<Named>& roofs() {
    static const std::vector<Named> all = [] {
        std::vector<Named> made;
        const auto cases = analysis::roof_cases(kernels::devices());
        for (const analysis::RoofCase& one : cases ? *cases : std::vector<analysis::RoofCase>()) {
            const auto same = [&](const Named& other) { return other.roof.name == one.roof.name; };
            if (std::ranges::any_of(made, same)) continue;
            made.push_back({one.known ? one.title.substr(0, one.title.find(','))
                                      : text_of(one.roof.memory_gbs) + " GB/s",
                            one.roof});
        }
        for (const analysis::DeviceSpec& device : kernels::devices())
            if (device.id == "h200") made.push_back({device.name, stated_roof(device)});
        if (made.empty()) made.push_back({"a device", {"a device", 100, 1000}});
        return made;
    }();
    return all;
}

const analysis::Roof& roof_of(std::span<const int> set) {
    return roofs()[static_cast<size_t>(set[kRoof])].roof;
}
uint32_t tile_of(std::span<const int> set) { return kTiles[set[kTile]]; }

// Without the peak, which a kernel cannot pass either: what memory alone would let it do.
double fed_gflops(const analysis::Roof& roof, uint32_t tile) {
    return roof.memory_gbs * analysis::tile_intensity(tile);
}

NamedNumber with_two(const char* name, const char* noun, double value) {
    return {name, static_cast<uint64_t>(std::llround(value * 100)), noun, 2};
}

std::string tile_words(uint32_t tile) {
    return tile == 1 ? std::string("untiled") : fmt::format("{0} \u00d7 {0} tiles", tile);
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const analysis::Roof& roof = roof_of(set);
    const uint32_t tile = tile_of(set);
    std::vector<NamedNumber> all{
        with_two("memory_gbs", "GB/s", roof.memory_gbs),
        {"operand_bytes", static_cast<uint64_t>(analysis::kFp32Bytes)},
        with_two("giga_operands", "G operands/s", analysis::operands_per_second(roof)),
        {"tile_width", tile},
        {"cgma", tile},
        with_two("intensity", "FLOP/B", analysis::tile_intensity(tile)),
        {"tile_bytes", analysis::tile_shared_bytes(tile), "byte"},
        with_two("untiled_gflops", "GFLOP/s", fed_gflops(roof, 1)),
        with_two("bound_gflops", "GFLOP/s", fed_gflops(roof, tile))};
    if (!roof.has_peak()) return all;
    all.push_back(with_two("peak_gflops", "GFLOP/s", roof.peak_gflops));
    all.push_back(with_two("untiled_percent", "%", 100 * fed_gflops(roof, 1) / roof.peak_gflops));
    all.push_back(with_two("peak_percent", "%", 100 * fed_gflops(roof, tile) / roof.peak_gflops));
    all.push_back({"memory_bound", fed_gflops(roof, tile) < roof.peak_gflops ? 1u : 0u});
    return all;
}

std::string concludes(std::span<const int> set) {
    const analysis::Roof& roof = roof_of(set);
    const uint32_t tile = tile_of(set);
    const double fed = fed_gflops(roof, tile), operands = analysis::operands_per_second(roof);
    const std::string sum =
        tile == 1
            ? fmt::format("{} GB/s / 4 B = {} G operands/s; each feeds one operation (CGMA 1): {} GFLOP/s",
                          text_of(roof.memory_gbs), text_of(operands), text_of(fed))
            : fmt::format("{} GB/s / 4 B = {} G operands/s; each feeds {} operations (CGMA {}): {} GFLOP/s",
                          text_of(roof.memory_gbs), text_of(operands), tile, tile, text_of(fed));
    if (!roof.has_peak()) return sum + ", by memory alone; its peak is not said.";
    if (fed >= roof.peak_gflops)
        return fmt::format("{}: more than its peak of {}, which is the bound now.", sum,
                           text_of(roof.peak_gflops));
    return fmt::format("{}, {} % of its peak of {}: memory bounds it.", sum,
                       text_of(100 * fed / roof.peak_gflops), text_of(roof.peak_gflops));
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const analysis::Roof& roof = roof_of(set);
    const bool hidden = asked(session);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    const float label = ui.px(120), figures = ui.px(176);
    const float from = rect.min.x + label, room = rect.width() - label - figures;
    const double most = std::max(roof.peak_gflops, fed_gflops(roof, std::ranges::max(kTiles))) * 1.02;
    const auto x_of = [&](double gflops) { return from + room * static_cast<float>(gflops / most); };
    const float foot = small * 2 + ui.px(12);
    const float high = std::min((rect.height() - foot) / static_cast<float>(std::size(kTiles)), ui.px(110));
    float y = rect.min.y;
    for (const uint32_t tile : kTiles) {
        const bool on = tile == tile_of(set);
        const Rect band{{rect.min.x - ui.px(8), y}, {rect.max.x + ui.px(8), y + high - ui.px(4)}};
        if (on) fill(ui, band, Ink::Raised, 4);
        const float text = (band.min.y + band.max.y - body) / 2;
        line(ui, {rect.min.x, text}, label, on ? Face::Strong : Face::Text, Size::Body, Ink::Text,
             tile == 1 ? std::string("untiled") : fmt::format("T = {}", tile));
        if (!hidden || tile < tile_of(set)) {
            const double fed = fed_gflops(roof, tile);
            const bool above = roof.has_peak() && fed > roof.peak_gflops;
            const float top = band.min.y + ui.px(6), bottom = band.max.y - ui.px(6);
            const float end = x_of(above ? roof.peak_gflops : fed);
            fill(ui, {{from, top}, {end, bottom}}, tile == 1 ? Ink::GlobalLoad : Ink::SharedLoad, 2);
            if (above) hatch(ui, {{end, top}, {x_of(fed), bottom}}, ui.ink(Ink::Inactive), ui.px(6));
            line(ui, {rect.max.x, text}, figures, Face::Mono, Size::Body, Ink::Text,
                 text_of(fed) + " GFLOP/s", Align::Right);
        } else {
            unknown(ui, {{from, band.min.y + ui.px(6)}, {rect.max.x, band.max.y - ui.px(6)}});
        }
        y += high;
    }
    if (roof.has_peak()) {
        const float x = x_of(roof.peak_gflops);
        fill(ui, {{x - ui.px(1), rect.min.y}, {x + ui.px(1), y + ui.px(4)}}, Ink::Text);
        const bool right = x > rect.min.x + rect.width() * 0.6f;
        line(ui, {x, y + ui.px(4)}, ui.px(320), Face::Strong, Size::Small, Ink::Text,
             fmt::format("peak {} GFLOP/s", text_of(roof.peak_gflops)), right ? Align::Right : Align::Left);
    }
    ImVec2 at{rect.min.x, rect.max.y - small};
    key_of(ui, at, "what memory feeds, untiled", Ink::GlobalLoad);
    key_of(ui, at, "with tiles", Ink::SharedLoad);
    key_of(ui, at, "beyond the peak",
           [&](draw::Ui&, const Rect& box) { hatch(ui, box, ui.ink(Ink::Inactive), ui.px(6)); });
}

}  // namespace

Figure roof_figure() {
    Figure figure{
        "roof",
        "A roof from bandwidth: what memory feeds",
        "Every multiply-add takes two operands of 4 bytes, and a tile uses each of them T times.",
        {{"roof", "Device", 0, static_cast<int>(roofs().size()) - 1, 1}, {"tile", "Tile width", 0, 5, 0}},
        numbers,
        concludes,
        draw_figure};
    for (const Named& one : roofs()) figure.parameters[kRoof].words.push_back(one.label);
    for (const uint32_t tile : kTiles) figure.parameters[kTile].words.push_back(tile_words(tile));
    return figure;
}

}  // namespace tilescope::lessons
