
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/input/block_window.h"
#include "app/input/panels.h"
#include "kernels/run/record.h"

namespace tilescope::input {

using draw::Ink;
namespace {

// Steps of a whole block, kept in the window's own storage: two small recordings the first time.
std::optional<uint64_t> steps_of_block(const session::Order& form) {
    ImGuiStorage& kept = *ImGui::GetStateStorage();
    const std::string name = fmt::format("steps {} {}", form.kernel, form.shape.tile);
    const ImGuiID first = ImGui::GetID((name + " first").c_str()),
                  each = ImGui::GetID((name + " each").c_str());
    if (kept.GetFloat(each, -1) < 0) {
        const auto made = block_steps(form.kernel, form.shape.tile);
        kept.SetFloat(first, made ? static_cast<float>(made->first) : 0);
        kept.SetFloat(each, made ? static_cast<float>(made->each) : 0);
    }
    const BlockSteps steps{double{kept.GetFloat(first)}, double{kept.GetFloat(each)}};
    if (steps.each <= 0) return {};
    return steps.of(form.shape.k);
}

void keys(session::Order& form, uint32_t x, uint32_t y) {
    const bool grow = ImGui::GetIO().KeyShift;
    const auto step = [&](ImGuiKey key, int dx, int dy) {
        if (!ImGui::IsKeyPressed(key)) return;
        if (!grow) {
            form.window = moved(form.window, dx, dy, x, y);
            return;
        }
        BlockWindow window = clipped(form.window, x, y);
        const auto size = [](uint32_t first, uint32_t end, int by) {
            return static_cast<uint32_t>(std::max<int64_t>(int64_t{end} + by, int64_t{first} + 1));
        };
        window.x1 = size(window.x0, window.x1, dx);
        window.y1 = size(window.y0, window.y1, dy);
        form.window = clipped(window, x, y);
    };
    step(ImGuiKey_LeftArrow, -1, 0);
    step(ImGuiKey_RightArrow, 1, 0);
    step(ImGuiKey_UpArrow, 0, -1);
    step(ImGuiKey_DownArrow, 0, 1);
}

}  // namespace

void block_picker(draw::Ui& ui, session::Order& form) {
    const auto plan = kernels::plan(form.kernel, form.shape);
    if (!plan) return;
    const uint32_t gx = std::max(plan->launch.grid.x, 1u), gy = std::max(plan->launch.grid.y, 1u);
    if (uint64_t{gx} * gy < 2) {
        form.window = {};
        return;
    }
    BlockWindow window = clipped(form.window, gx, gy);
    const float most = ui.px(132), longest = static_cast<float>(std::max(gx, gy));
    const float pitch = most / longest;
    const ImVec2 size{std::max(ui.px(8), pitch * static_cast<float>(gx)),
                      std::max(ui.px(8), pitch * static_cast<float>(gy))};
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton("##blocks", size);
    if (ImGui::IsItemActive()) {
        const ImVec2 from = ImGui::GetIO().MouseClickedPos[0], to = ImGui::GetIO().MousePos;
        window = form.window =
            dragged(from.x - at.x, from.y - at.y, to.x - at.x, to.y - at.y, size.x, size.y, gx, gy);
    }
    if (ImGui::IsItemFocused() || ImGui::IsItemHovered()) {
        keys(form, gx, gy);
        window = clipped(form.window, gx, gy);
    }
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 end{at.x + size.x, at.y + size.y};
    list.AddRectFilled(at, end, ui.ink(Ink::Cell));
    if (pitch >= ui.px(4)) {
        for (uint32_t x = 1; x < gx; ++x)
            list.AddLine({std::round(at.x + pitch * static_cast<float>(x)), at.y},
                         {std::round(at.x + pitch * static_cast<float>(x)), end.y}, ui.ink(Ink::Panel));
        for (uint32_t y = 1; y < gy; ++y)
            list.AddLine({at.x, std::round(at.y + pitch * static_cast<float>(y))},
                         {end.x, std::round(at.y + pitch * static_cast<float>(y))}, ui.ink(Ink::Panel));
    }
    // Of 262,144 blocks 16 are less than a pixel: never drawn smaller than can be seen.
    const ImVec2 a{at.x + pitch * static_cast<float>(window.x0),
                   at.y + pitch * static_cast<float>(window.y0)};
    const ImVec2 b{std::max(at.x + pitch * static_cast<float>(window.x1), a.x + ui.px(4)),
                   std::max(at.y + pitch * static_cast<float>(window.y1), a.y + ui.px(4))};
    list.AddRectFilled(a, b, draw::with_alpha(ui.ink(Ink::Accent), 0.35f));
    list.AddRect(a, b, ui.ink(Ink::Accent), 0.f, 0, ui.px(2));
    list.AddRect(at, end, ui.ink(Ink::LineStrong));

    ImGui::SameLine();
    ImGui::BeginGroup();
    const uint64_t blocks = blocks_of(window, gx, gy), all = uint64_t{gx} * gy;
    ImGui::TextUnformatted(blocks == all ? "all blocks" : window_text(window).c_str());
    ImGui::TextDisabled("%s of %s blocks", grouped(blocks).c_str(), grouped(all).c_str());
    if (const auto steps = steps_of_block(form)) {
        ImGui::TextDisabled("about %s requests", short_count(*steps * blocks).c_str());
        ImGui::TextDisabled("%s a block", grouped(*steps).c_str());
    }
    if (blocks != all && ImGui::SmallButton("All blocks")) form.window = {};
    if (blocks == all) ImGui::TextDisabled("drag to pick a window");
    ImGui::EndGroup();
}

}  // namespace tilescope::input
