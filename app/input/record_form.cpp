// The form that records: presets, what ships, or any kernel of the catalogue at any size.
#include <algorithm>

#include <fmt/format.h>

#include "app/input/panels.h"

namespace tilescope::input {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

namespace {

void label(const char* text) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(text);
    ImGui::SameLine();
}

void size_field(const std::string& name, uint32_t& value, float width) {
    int number = static_cast<int>(value);
    label(name.c_str());
    ImGui::SetNextItemWidth(width);
    if (ImGui::InputInt(("##" + name).c_str(), &number, 0, 0))
        value = static_cast<uint32_t>(std::max(number, 0));
}

void order(Ui<State>& ui) {
    session::record(ui.session, ui.state.form);
    if (ui.session.message.empty()) ui.state.form.open = false;
}

// Recordings that ship: picking one opens it.
void shipped_list(Ui<State>& ui) {
    const auto& recordings = ui.session.assets.recordings();
    if (recordings.empty()) return;
    ImGui::SetNextItemWidth(-1);
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
    ImGui::TextUnformatted(running ? "Recording" : "Record a kernel");
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
        if (ImGui::Button(preset.label.c_str(), {low ? half : -1, 0})) {
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
    shipped_list(ui);
    ImGui::Separator();
    label("Kernel");
    ImGui::SetNextItemWidth(-1);
    if (ImGui::BeginCombo("##kernel", form.kernel.c_str())) {
        for (const kernels::KernelInfo& kernel : kernels::catalogue())
            if (ImGui::Selectable(kernel.name.c_str(), kernel.name == form.kernel)) form.kernel = kernel.name;
        ImGui::EndCombo();
    }
    if (const kernels::KernelInfo* kernel = lower ? nullptr : kernels::find(form.kernel))
        ImGui::TextDisabled("%s", kernel->teaches.c_str());
    label("T");
    ImGui::SetNextItemWidth(ui.px(72));
    if (ImGui::BeginCombo("##T", std::to_string(form.shape.tile).c_str())) {
        for (const uint32_t tile : kernels::kTiles)
            if (ImGui::Selectable(std::to_string(tile).c_str(), tile == form.shape.tile))
                form.shape.tile = tile;
        ImGui::EndCombo();
    }
    for (const auto& [name, size] :
         {std::pair{"m", &form.shape.m}, std::pair{"k", &form.shape.k}, std::pair{"n", &form.shape.n}}) {
        ImGui::SameLine();
        size_field(name, *size, ui.px(72));
    }
    block_picker(ui, form);
    backend_choice(ui, low);
    if (ImGui::Button("Record", {-1, ui.px(34)})) order(ui);
    // Below the button, which stays where it was pressed.
    if (!ui.session.message.empty()) ImGui::TextUnformatted(ui.session.message.c_str());
    ImGui::PopTextWrapPos();
    ImGui::End();
}

}  // namespace tilescope::input
