// Bytes from level to level as one band.
//
//   threads ask        requests      past L1      from L2     from DRAM
//   1.00 MiB           512 KiB       64.0 KiB     40 KiB      32 KiB
//   ######\            /=counted=/
//   #######\__________
//   #######          #\_________
//   #######          ##        #===========#==========#
//   #######  __________/~~~~~~~~
//   ######/
//          50 % go on   12.5 % go on  62.5 % go on  80 % go on
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/axes.h"
#include "app/levels/panels.h"
#include "core/base/words.h"

namespace tilescope::levels {
namespace {

std::string tip_of(const ChainStage& stage) {
    std::string tip = fmt::format("{} {} bytes, {}.", stage.means,
                                  grouped(static_cast<uint64_t>(std::llround(stage.bytes))),
                                  stage.modelled ? "modelled" : "counted from the recording");
    if (stage.measured)
        tip += fmt::format(" {} bytes by the device's counters.",
                           grouped(static_cast<uint64_t>(std::llround(*stage.measured))));
    return tip;
}

}  // namespace

void chain_panel(Ui& ui, const Rect& rect, const LoadChain& chain) {
    surface(ui, rect);
    Rect in = rect.inset(ui.px(16));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    if (!chain.of.empty()) {
        note(ui, in.min, in.width(), chain.of);
        in.min.y += small + ui.px(4);
    }
    const bool measured =
        std::ranges::any_of(chain.stages, [](const ChainStage& s) { return s.measured.has_value(); });
    // The last column is as wide as its words.
    const float column =
        (in.width() - std::min(ui.px(104), in.width() / static_cast<float>(analysis::kLevelStages))) /
        static_cast<float>(analysis::kLevelStages - 1);
    const float pad = ui.px(8);
    const float head = small + body + small + (measured ? small : 0) + ui.px(6);
    const float foot = small + ui.px(4);
    const Rect plot{{in.min.x, in.min.y + head}, {in.max.x, in.max.y - foot}};
    const double most = std::max(chain.most(), 1.0);
    const float middle = (plot.min.y + plot.max.y) / 2, high = std::max(plot.height(), 0.f);
    const auto half = [&](double bytes) {
        return std::max(high * static_cast<float>(bytes / most), bytes > 0 ? ui.px(1.5f) : 0.f) / 2;
    };
    const auto left = [&](size_t i) { return std::round(in.min.x + column * static_cast<float>(i)); };
    const float bar = std::round(column * 0.42f);
    const Rgba color = ui.ink(Ink::GlobalLoad);
    for (size_t i = 0; i < analysis::kLevelStages; ++i) {
        const ChainStage& stage = chain.stages[i];
        const float x = left(i), h = half(stage.bytes), width = column - pad;
        float y = in.min.y;
        line(ui, {x, y}, width, Face::Strong, Size::Small, Ink::Text, stage.name);
        y += small;
        line(ui, {x, y}, width, Face::Mono, Size::Body, Ink::Text, bytes_text(stage.bytes));
        y += body;
        note(ui, {x, y}, width, stage.modelled ? "modelled" : "exact");
        y += small;
        if (stage.measured) note(ui, {x, y}, width, fmt::format("counted {}", bytes_text(*stage.measured)));
        if (high < ui.px(12)) continue;
        ui.list.AddRectFilled({x, middle - h}, {x + bar, middle + h}, color);
        if (i + 1 < analysis::kLevelStages) {
            const float next = left(i + 1), to = half(chain.stages[i + 1].bytes);
            const ImVec2 slope[] = {
                {x + bar, middle - h}, {next, middle - to}, {next, middle + to}, {x + bar, middle + h}};
            ui.list.AddConvexPolyFilled(slope, 4, draw::with_alpha(color, 0.28f));
            const double here = stage.bytes, there = chain.stages[i + 1].bytes;
            if (there > 0 && here > 0) {
                const std::string part = share_text(there / here);
                const std::vector<std::string> words =
                    here >= there
                        ? std::vector<std::string>{part + " go on", part}
                        : std::vector<std::string>{fmt::format("\u00d7 {}", ratio_text(there / here))};
                const float room = next - x - bar;
                line(ui, {(x + bar + next) / 2, plot.max.y + ui.px(4)}, room, Face::Text, Size::Small,
                     Ink::TextQuiet, fitting(ui.font(Face::Text, Size::Small), words, room), Align::Center);
            }
        }
        if (stage.measured) {
            const float m = half(*stage.measured), from = x - ui.px(3), to = x + bar + ui.px(3);
            for (const float at : {middle - m, middle + m})
                ui.list.AddLine({from, at}, {to, at}, ui.ink(Ink::Text), ui.px(2));
        }
        if (ui.over({{x, in.min.y}, {x + column, in.max.y}})) ui.tip = tip_of(stage);
    }
}

}  // namespace tilescope::levels
