// Divergence: a warp whose lanes take both paths of a branch runs both, one after the other.
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/base/launch.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kBranch, kThreads, kLimit };

Split of(std::span<const int> set) {
    return split(static_cast<Branch>(set[kBranch]), at(set, kThreads), at(set, kLimit));
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const Split made = of(set);
    return {{"divergent_warps", made.divergent, "warp"},
            {"warps_of_block", made.masks.size(), "warp"},
            {"passes", made.passes},
            {"idle_lanes", made.idle, "turn"}};
}

std::string condition(std::span<const int> set) {
    switch (static_cast<Branch>(set[kBranch])) {
        case Branch::Thread: return fmt::format("if (threadIdx.x > {})", set[kLimit]);
        case Branch::Warp: return fmt::format("if (threadIdx.x / 32 > {})", set[kLimit]);
        case Branch::Vector: break;
    }
    return fmt::format("if (i < {})", set[kLimit]);
}

// The plural of "pass" is not made with an s alone.
std::string passes_text(uint32_t passes) { return passes == 1 ? "1 pass" : grouped(passes) + " passes"; }

std::string concludes(std::span<const int> set) {
    const Split made = of(set);
    const std::string warps = counted(made.masks.size(), "warp");
    if (made.divergent == 0)
        return fmt::format("No warp of the {} has lanes on both paths: {}, and no lane waits.", warps,
                           passes_text(made.passes));
    return fmt::format(
        "{} of {} {} both paths, one after the other: {} in place of {}, and {} of a lane are lost in "
        "waiting.",
        made.divergent, warps, made.divergent == 1 ? "takes" : "take", passes_text(made.passes),
        made.masks.size(), counted(made.idle, "turn"));
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const Split made = of(set);
    const bool hidden = asked(session);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    line(ui, rect.min, rect.width(), Face::Mono, Size::Body, Ink::Text, condition(set));
    const float top = rect.min.y + body + ui.px(10), foot = small + ui.px(14);
    const size_t shown = made.masks.size();
    const float gap = ui.px(shown > 8 ? 2.f : 6.f), label = ui.px(76);
    const float room = rect.max.y - foot - top;
    const float high = std::clamp((room - gap * static_cast<float>(shown)) /
                                      static_cast<float>(hidden ? shown : std::max<size_t>(made.passes, 1)),
                                  ui.px(3), ui.px(56));
    const float pitch =
        std::min((rect.width() - label - ui.px(180)) / static_cast<float>(kWarpSize), ui.px(48));
    const auto named = static_cast<size_t>(std::ceil(small / (high + gap)));  // so that names do not touch
    float y = top;
    const auto threads = at(set, kThreads);
    for (size_t warp = 0; warp < shown && y + high <= rect.max.y - foot + gap; ++warp) {
        const uint32_t lanes =
            std::min<uint32_t>(threads - static_cast<uint32_t>(warp) * kWarpSize, kWarpSize);
        const uint32_t whole = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
        const uint32_t mask = made.masks[warp];
        if (warp % named == 0)
            note(ui, {rect.min.x, y + (high - small) / 2}, label, fmt::format("warp {}", warp));
        const float right = rect.min.x + label + pitch * kWarpSize + ui.px(10);
        if (hidden) {  // the lanes, and on which path each is not told
            for (uint32_t lane = 0; lane < lanes; ++lane) {
                const float x = rect.min.x + label + pitch * static_cast<float>(lane);
                fill(ui, {{x, y}, {x + pitch - ui.px(1), y + high - ui.px(1)}}, Ink::Cell);
                if (high >= small && pitch >= ui.px(20))
                    note(ui, {x + pitch / 2, y + (high - small) / 2}, pitch,
                         std::to_string(warp * kWarpSize + lane), Align::Center);
            }
            unknown(ui, {{right, y}, {right + ui.px(100), y + high - ui.px(1)}});
            y += high + gap;
            continue;
        }
        for (const bool first : {true, false}) {
            const uint32_t active = first ? mask : whole & ~mask;
            if (active == 0) continue;
            for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
                const float x = rect.min.x + label + pitch * static_cast<float>(lane);
                const Rect cell{{x, y}, {x + pitch - ui.px(1), y + high - ui.px(1)}};
                if (active >> lane & 1)
                    fill(ui, cell, first ? kPlain : kOther);
                else if (whole >> lane & 1)
                    lost(ui, cell);
            }
            if (high >= small - ui.px(2))
                note(ui, {right, y + (high - small) / 2}, ui.px(170),
                     fmt::format("{}: {}", first ? "then" : "else",
                                 counted(static_cast<uint32_t>(std::popcount(active)), "lane")));
            y += high;
        }
        y += gap;
    }
    ImVec2 at{rect.min.x + label, std::min(y + ui.px(8), rect.max.y - small)};
    if (hidden) {
        note(ui, at, rect.max.x - at.x, "A cell is a thread, by its number.");
        return;
    }
    key_of(ui, at, "takes the branch", kPlain);
    key_of(ui, at, "takes the other path", kOther);
    key_of(ui, at, "waits meanwhile", lost);
}

}  // namespace

Figure divergence_figure() {
    return {"divergence",
            "Divergence: a split warp runs both paths",
            "A row is a pass of a warp: the lanes of one path run, those of the other wait.",
            {{"branch",
              "The branch asks for",
              0,
              2,
              0,
              1,
              {"the thread's number", "the warp's number", "the end of a vector"}},
             {"threads", "Threads of the block", 32, 512, 128, 32, {}, "thread"},
             {"limit", "Limit", 0, 511, 2}},
            numbers,
            concludes,
            draw_figure};
}

}  // namespace tilescope::lessons
