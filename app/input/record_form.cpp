// The form that records: presets, what ships, or any kernel of the catalogue at any size; of its blocks all
// or a window picked out of the grid, as nobody records all 262,144 blocks of 8192 x 8192 elements.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/input/overlays.h"
#include "core/base/text.h"
#include "kernels/run/record.h"

namespace tilescope::input {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

void choose_kernel(RecordForm& form, const kernels::KernelInfo& kernel) {
    const uint32_t tile = form.shape.tile;
    const bool keeps = tile > 0 && !kernel.own_tile;
    form.kernel = kernel.name;
    form.shape.tile = kernels::tile_width(kernel.name, keeps ? std::optional(tile) : std::nullopt);
}

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

BlockWindow resized(BlockWindow window, int dx, int dy, uint32_t grid_x, uint32_t grid_y) {
    window = clipped(window, grid_x, grid_y);
    window.x1 = static_cast<uint32_t>(std::max<int64_t>(int64_t{window.x1} + dx, 0));
    window.y1 = static_cast<uint32_t>(std::max<int64_t>(int64_t{window.y1} + dy, 0));
    return clipped(window, grid_x, grid_y);  // which leaves a block of it
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
    double steps[2] = {};
    const kernels::KernelInfo* const info = kernels::find(kernel);
    const kernels::BlockTile own = info ? block_tile(*info, {.tile = tile}) : kernels::BlockTile{};
    // A multiple of the columns of M that a phase takes.
    const uint32_t depth = tile > 0 ? tile : kernels::kDefaultTile;
    for (const int at : {0, 1}) {
        auto plan = kernels::plan(kernel, {own.rows, depth * (at == 0 ? 2 : 4), own.cols, tile});
        if (!plan) return plan.error();
        kernels::RecordOptions options;
        options.timestamp = false;
        auto trace = kernels::record_cpu(*plan, options);
        if (!trace) return trace.error();
        if (!trace->blocks.empty()) steps[at] = static_cast<double>(trace->blocks[0].count);
    }
    const double each = (steps[1] - steps[0]) / (2.0 * depth);
    return BlockSteps{steps[0] - each * 2.0 * depth, each};
}

namespace {

void keys(RecordForm& form, uint32_t x, uint32_t y) {
    for (const auto& [key, dx, dy] : {std::tuple{ImGuiKey_LeftArrow, -1, 0},
                                      {ImGuiKey_RightArrow, 1, 0},
                                      {ImGuiKey_UpArrow, 0, -1},
                                      {ImGuiKey_DownArrow, 0, 1}}) {
        if (!ImGui::IsKeyPressed(key)) continue;
        form.window =
            ImGui::GetIO().KeyShift ? resized(form.window, dx, dy, x, y) : moved(form.window, dx, dy, x, y);
    }
}

// The overview of a grid: a drag picks a window, arrow keys move it, with Shift they resize it.
void block_picker(draw::Ui& ui, RecordForm& form) {
    const auto plan = kernels::plan(form.kernel, form.shape);
    if (!plan) return;
    const uint32_t gx = std::max(plan->launch.grid.x, 1u), gy = std::max(plan->launch.grid.y, 1u);
    if (uint64_t{gx} * gy < 2) {
        form.window = {};
        return;
    }
    const float pitch = ui.px(132) / static_cast<float>(std::max(gx, gy));
    const ImVec2 size{std::max(ui.px(8), pitch * static_cast<float>(gx)),
                      std::max(ui.px(8), pitch * static_cast<float>(gy))};
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton("##blocks", size);
    if (ImGui::IsItemActive()) {
        const ImVec2 from = ImGui::GetIO().MouseClickedPos[0], to = ImGui::GetIO().MousePos;
        form.window = dragged(from.x - at.x, from.y - at.y, to.x - at.x, to.y - at.y, size.x, size.y, gx, gy);
    }
    if (ImGui::IsItemFocused() || ImGui::IsItemHovered()) keys(form, gx, gy);
    const BlockWindow window = clipped(form.window, gx, gy);
    const auto corner = [&](uint32_t x, uint32_t y) {  // of a block
        return ImVec2{at.x + pitch * static_cast<float>(x), at.y + pitch * static_cast<float>(y)};
    };
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 end{at.x + size.x, at.y + size.y};
    list.AddRectFilled(at, end, ui.ink(Ink::Cell));
    if (pitch >= ui.px(4)) {
        for (uint32_t i = 1; i < std::max(gx, gy); ++i) {
            const float x = std::round(corner(i, 0).x), y = std::round(corner(0, i).y);
            if (i < gx) list.AddLine({x, at.y}, {x, end.y}, ui.ink(Ink::Panel));
            if (i < gy) list.AddLine({at.x, y}, {end.x, y}, ui.ink(Ink::Panel));
        }
    }
    // Of 262,144 blocks 16 are less than a pixel: never drawn smaller than can be seen.
    const ImVec2 a = corner(window.x0, window.y0), far = corner(window.x1, window.y1);
    const ImVec2 b{std::max(far.x, a.x + ui.px(4)), std::max(far.y, a.y + ui.px(4))};
    list.AddRectFilled(a, b, draw::with_alpha(ui.ink(Ink::Accent), 0.35f));
    list.AddRect(a, b, ui.ink(Ink::Accent), 0.f, 0, ui.px(2));
    list.AddRect(at, end, ui.ink(Ink::LineStrong));

    ImGui::SameLine();
    ImGui::BeginGroup();
    const uint64_t blocks = blocks_of(window, gx, gy), all = uint64_t{gx} * gy;
    ImGui::TextUnformatted(blocks == all ? "all blocks" : window_text(window).c_str());
    ImGui::TextDisabled("%s of %s blocks", grouped(blocks).c_str(), grouped(all).c_str());
    const std::pair asked{form.kernel, form.shape.tile};
    auto known = form.block_steps.find(asked);
    if (known == form.block_steps.end())
        known = form.block_steps.emplace(asked, block_steps(asked.first, asked.second)).first;
    if (const Result<BlockSteps>& made = known->second) {
        const uint64_t steps = made->of(form.shape.k);
        ImGui::TextDisabled("about %s requests", short_count(steps * blocks).c_str());
        ImGui::TextDisabled("%s a block", grouped(steps).c_str());
    }
    if (blocks != all && ImGui::SmallButton("All blocks")) form.window = {};
    if (blocks == all) ImGui::TextDisabled("drag to pick a window");
    ImGui::EndGroup();
}

void label(const char* text) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(text);
    ImGui::SameLine();
}

void order(Ui<State>& ui) {
    session::record(ui.session, ui.state.form);
    if (ui.session.message.empty()) ui.state.form.open = false;
}

// To the form of a program, or back to that of a kernel.
void other_form(Ui<State>& ui, const char* label) {
    if (!ImGui::Button(label)) return;
    RecordForm& form = ui.state.form;
    form.of_program = !form.of_program;
    if (form.program.path.empty() && ui.session.program) form.program = ui.session.program->order;
}

float button_width(const char* label) {
    return ImGui::CalcTextSize(label).x + ImGui::GetStyle().FramePadding.x * 2;
}

// Recordings that ship: picking one opens it.
void shipped_list(Ui<State>& ui, float width) {
    const auto& recordings = ui.session.assets.recordings();
    if (recordings.empty()) return;
    ImGui::SetNextItemWidth(width);
    const std::string title = fmt::format("Recorded on an {}\u2026", recordings.front().device);
    if (!ImGui::BeginCombo("##shipped", title.c_str())) return;
    for (const kernels::ShippedRecording& recording : recordings) {
        if (!ImGui::Selectable(recording.label.c_str())) continue;
        session::open_shipped(ui.session, recording.name);
        ui.state.form.open = false;
    }
    ImGui::EndCombo();
}

// Where to record: a GPU can be chosen where there is one; elsewhere a sentence says what it would add.
void backend_choice(Ui<State>& ui, bool low) {
    RecordForm& form = ui.state.form;
    const session::GpuThere& gpu = ui.session.gpu;
    if (!gpu.asked && !ui.context.still) session::ask_for_gpu(ui.session);
    label("On");
    constexpr const char* kLabels[] = {"GPU if there is one", "CPU", "GPU"};  // of BackendChoice
    for (int at = 0; at < 3; ++at) {
        const auto choice = static_cast<gpu::BackendChoice>(at);
        const bool can = choice != gpu::BackendChoice::Gpu || gpu.there;
        if (!can && form.backend == choice) form.backend = gpu::BackendChoice::Auto;
        ImGui::BeginDisabled(!can);
        if (ImGui::RadioButton(kLabels[at], form.backend == choice)) form.backend = choice;
        ImGui::EndDisabled();
        if (at < 2) ImGui::SameLine();
    }
    const bool none = gpu.asked && !gpu.there;
    const std::string said = !gpu.asked    ? "Looking for a GPU\u2026"
                             : none && low ? std::string("No GPU here.")
                             : none        ? std::string("No GPU here. ") + gpu::kWithAGpu
                                           : gpu.what;
    ImGui::TextDisabled("%s", said.c_str());
    if (none && ImGui::IsItemHovered()) ui.tip = gpu.what;
}

}  // namespace

void record_form(Ui<State>& ui, const Rect& screen, float top) {
    RecordForm& form = ui.state.form;
    std::optional<session::Opening>& running = ui.session.ordered;
    if (!form.open && !running) return;
    const float width = ui.px(420);
    ImGui::SetNextWindowPos({screen.max.x - width - ui.px(12), top});
    ImGui::SetNextWindowSize({width, 0});
    // In a low window, as in a lecture's, presets stand two in a row and the small print goes.
    const float high = screen.max.y - top - ui.px(12);
    const bool low = high < ui.px(664), lower = high < ui.px(600);
    ImGui::SetNextWindowSizeConstraints({width, 0}, {width, high});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, std::max(1.f, ui.px(1)));
    ImGui::PushStyleColor(ImGuiCol_Border, ui.ink(Ink::LineStrong));
    ImGui::Begin("Record", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_AlwaysAutoResize);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    draw::push_font(ui.font(Face::Strong, Size::Body));
    ImGui::TextUnformatted(running ? "Recording" : form.of_program ? "Record a program" : "Record a kernel");
    ImGui::PopFont();
    if (running) {
        ImGui::TextUnformatted(running->what.c_str());
        const uint64_t blocks = running->job.control().done, all = running->job.control().total;
        const float part = all == 0 ? 0 : static_cast<float>(blocks) / static_cast<float>(all);
        const std::string done = fmt::format("{} of {} blocks", grouped(blocks), grouped(all));
        ImGui::ProgressBar(part, {-1, 0}, done.c_str());
        if (ImGui::Button("Cancel", {-1, 0})) {
            running->job.stop();
            running.reset();
        }
        ImGui::End();
        ui.context.soon = true;
        return;
    }
    ImGui::PushTextWrapPos(0);
    if (form.of_program) {
        ImGui::SameLine(ImGui::GetContentRegionMax().x - button_width("A kernel\u2026"));
        other_form(ui, "A kernel\u2026");
        program_fields(ui);
        if (!ui.session.message.empty()) ImGui::TextUnformatted(one_sentence(ui.session.message).c_str());
        ImGui::PopTextWrapPos();
        ImGui::End();
        return;
    }
    const float beside = ImGui::GetStyle().ItemSpacing.x;
    const float half = (ImGui::GetContentRegionAvail().x - beside) / 2;
    bool left = true;
    if (low) {
        draw::push_font(ui.font(Face::Text, Size::Small));
        ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(4), ui.px(6)});
    }
    for (const kernels::Preset& preset : kernels::presets()) {
        if (low && !left) ImGui::SameLine();
        left = !left;
        std::string label = preset.label;  // closer together where its button is too narrow for it
        if (low && ImGui::CalcTextSize(label.c_str()).x > half - ui.px(8))
            for (size_t at; (at = label.find(" \u00d7 ")) != std::string::npos;)
                label.erase(at, 1), label.erase(at + 2, 1);
        if (ImGui::Button(label.c_str(), {low ? half : -1, 0})) {
            form.kernel = preset.kernel;
            form.shape = preset.shape;
            form.window = {};
            order(ui);
        }
    }
    if (low) {
        ImGui::PopStyleVar();
        ImGui::PopFont();
    }
    // Behind what stood here before it: the keys that led through the form still do.
    constexpr const char* kProgram = "A program\u2026";
    const bool programs = ui.session.can.programs;
    shipped_list(ui, programs ? -(button_width(kProgram) + beside) : -1);
    if (programs && !ui.session.assets.recordings().empty()) ImGui::SameLine();
    if (programs) other_form(ui, kProgram);
    if (!programs && !lower) ImGui::TextDisabled("%s", platform::kProgramsElsewhere);
    ImGui::Separator();
    label("Kernel");
    ImGui::SetNextItemWidth(-1);
    if (ImGui::BeginCombo("##kernel", form.kernel.c_str())) {
        for (const kernels::KernelInfo& kernel : kernels::catalogue())
            if (ImGui::Selectable(kernel.name.c_str(), kernel.name == form.kernel))
                choose_kernel(form, kernel);
        ImGui::EndCombo();
    }
    if (const kernels::KernelInfo* kernel = lower ? nullptr : kernels::find(form.kernel))
        ImGui::TextDisabled("%s", kernel->teaches.c_str());
    const bool has_tile = form.shape.tile > 0;
    if (has_tile) {
        label("T");
        ImGui::SetNextItemWidth(ui.px(72));
        if (ImGui::BeginCombo("##T", std::to_string(form.shape.tile).c_str())) {
            for (const uint32_t tile : kernels::kTiles)
                if (ImGui::Selectable(std::to_string(tile).c_str(), tile == form.shape.tile))
                    form.shape.tile = tile;
            ImGui::EndCombo();
        }
    }
    for (const auto& [name, size] :
         {std::pair{"m", &form.shape.m}, {"k", &form.shape.k}, {"n", &form.shape.n}}) {
        int number = static_cast<int>(*size);
        if (has_tile || size != &form.shape.m) ImGui::SameLine();
        label(name);
        ImGui::SetNextItemWidth(ui.px(72));
        if (ImGui::InputInt(fmt::format("##{}", name).c_str(), &number, 0, 0))
            *size = static_cast<uint32_t>(std::max(number, 0));
    }
    block_picker(ui, form);
    if (ui.session.can.gpu) backend_choice(ui, low);
    if (draw::primary_button(ui, "Record", {-1, ui.px(34)})) order(ui);
    // Below the button, which stays where it was pressed.
    if (!ui.session.message.empty()) ImGui::TextUnformatted(one_sentence(ui.session.message).c_str());
    ImGui::PopTextWrapPos();
    ImGui::End();
}

}  // namespace tilescope::input
