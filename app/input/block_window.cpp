// A window of blocks picked out of a launch, and what recording it takes: out of 8192 x 8192 elements nobody
// records all 262,144 blocks.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "kernels/run/record.h"

namespace tilescope::input {

using draw::Ink;

BlockWindow clipped(BlockWindow window, uint32_t x, uint32_t y) {
    const auto cut = [](uint32_t& first, uint32_t& end, uint32_t size) {
        first = std::min(first, size == 0 ? 0 : size - 1);
        end = std::clamp(end, std::min(first + 1, size), size);
    };
    cut(window.x0, window.x1, x);
    cut(window.y0, window.y1, y);
    return window;
}

uint64_t blocks_of(const BlockWindow& window, uint32_t x, uint32_t y) {
    const BlockWindow inside = clipped(window, x, y);
    return uint64_t{inside.x1 - inside.x0} * (inside.y1 - inside.y0);
}

std::string window_text(const BlockWindow& window) {
    return fmt::format("x {}:{}, y {}:{}", window.x0, window.x1, window.y0, window.y1);
}

BlockWindow dragged(double x0, double y0, double x1, double y1, double width, double height, uint32_t grid_x,
                    uint32_t grid_y) {
    const auto range = [](double a, double b, double size, uint32_t blocks, uint32_t& first, uint32_t& end) {
        if (a > b) std::swap(a, b);
        const double per = std::max(size, 1.0) / std::max(blocks, 1u);
        const auto block = [&](double at) {
            return static_cast<uint32_t>(std::clamp(std::floor(at / per), 0.0, std::max(blocks, 1u) - 1.0));
        };
        first = block(a);
        end = block(b) + 1;
    };
    BlockWindow window;
    range(x0, x1, width, grid_x, window.x0, window.x1);
    range(y0, y1, height, grid_y, window.y0, window.y1);
    return window;
}

BlockWindow moved(BlockWindow window, int dx, int dy, uint32_t grid_x, uint32_t grid_y) {
    window = clipped(window, grid_x, grid_y);
    const auto shift = [](uint32_t& first, uint32_t& end, int64_t by, uint32_t size) {
        by = std::clamp<int64_t>(by, -int64_t{first}, int64_t{size} - end);
        first = static_cast<uint32_t>(first + by);
        end = static_cast<uint32_t>(end + by);
    };
    shift(window.x0, window.x1, dx, grid_x);
    shift(window.y0, window.y1, dy, grid_y);
    return window;
}

uint64_t BlockSteps::of(uint32_t k) const {
    return static_cast<uint64_t>(std::llround(std::max(0.0, first + each * k)));
}

Result<BlockSteps> block_steps(const std::string& kernel, uint32_t tile) {
    uint64_t steps[2] = {0, 0};
    const uint32_t ks[2] = {tile * 2, tile * 4};
    for (int i = 0; i < 2; ++i) {
        auto plan = kernels::plan(kernel, {tile, ks[i], tile, tile});
        if (!plan) return plan.error();
        kernels::RecordOptions options;
        options.timestamp = false;
        auto trace = kernels::record_cpu(*plan, options);
        if (!trace) return trace.error();
        if (!trace->blocks.empty()) steps[i] = trace->blocks[0].count;
    }
    BlockSteps made;
    made.each = (static_cast<double>(steps[1]) - static_cast<double>(steps[0])) / (ks[1] - ks[0]);
    made.first = static_cast<double>(steps[0]) - made.each * ks[0];
    return made;
}

namespace {

// Steps of a whole block; the first time two small recordings are made for it.
std::optional<uint64_t> steps_of_block(RecordForm& form) {
    const auto [known, is_new] = form.block_steps.try_emplace({form.kernel, form.shape.tile});
    if (is_new)
        if (const auto made = block_steps(form.kernel, form.shape.tile)) known->second = *made;
    if (known->second.each <= 0) return {};
    return known->second.of(form.shape.k);
}

void keys(RecordForm& form, uint32_t x, uint32_t y) {
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

void block_picker(draw::Ui& ui, RecordForm& form) {
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
