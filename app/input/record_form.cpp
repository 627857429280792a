// What lies over the screen when asked for: the list of keys, and the form that records.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "core/base/words.h"

namespace tilescope::input {

using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Size;

// Actions under their headings, in three columns of about the same height.
void keys_overlay(Ui<State>& ui, const Rect& screen, std::span<const Offer> offers) {
    if (!ui.state.show_keys) return;
    struct Group {
        std::string name;
        std::vector<const Offer*> rows;
    };
    std::vector<Group> groups;
    for (const Offer& action : offers) {
        if (action.keys.empty()) continue;
        const auto same = [&](const Group& group) { return group.name == action.group; };
        auto at = std::find_if(groups.begin(), groups.end(), same);
        if (at == groups.end()) at = groups.insert(groups.end(), {action.group, {}});
        at->rows.push_back(&action);
    }
    constexpr size_t kColumns = 3;
    size_t tallest = 0;
    std::vector<std::vector<const Group*>> columns(kColumns);
    std::vector<size_t> heights(kColumns, 0);
    for (const Group& group : groups) {
        // Each to the column that is least full, so that none stands out.
        const auto at =
            static_cast<size_t>(std::min_element(heights.begin(), heights.end()) - heights.begin());
        columns[at].push_back(&group);
        heights[at] += group.rows.size() + 2;
        tallest = std::max(tallest, heights[at]);
    }
    const float pad = ui.px(24), title = line_height(ui, Size::Title);
    // In lecture mode on a small projector the rows stand closer.
    const float room = screen.height() - ui.px(16) - pad * 2 - title - ui.px(8);
    const float row =
        std::min(line_height(ui, Size::Small) + ui.px(4), std::floor(room / static_cast<float>(tallest)));
    // A column is as wide as its longest keys and words; where all are wider than the window, type is
    // smaller.
    draw::Font mono = ui.font(Face::Mono, Size::Small), words = ui.font(Face::Text, Size::Small);
    const float gap = ui.px(16), between = ui.px(40);
    std::array<float, kColumns> keys{}, helps{};
    float needed = between * (kColumns - 1);
    for (size_t c = 0; c < kColumns; ++c) {
        for (const Group* group : columns[c]) {
            for (const Offer* action : group->rows) {
                keys[c] = std::max(keys[c], draw::text_size(mono, action->keys).x);
                helps[c] = std::max(helps[c], draw::text_size(words, action->help).x);
            }
        }
        needed += keys[c] + gap + helps[c];
    }
    const float most = screen.width() - ui.px(24) - pad * 2, smaller = std::min(1.f, most / needed);
    if (smaller < 1) mono = ui.font(Face::Mono, Size::CellSmall);
    words.px *= smaller;
    const Rect box = overlay_box(ui, screen, needed * smaller + pad * 2 + ui.px(4),
                                 pad * 2 + title + ui.px(8) + row * static_cast<float>(tallest));
    ImDrawList& over = *ImGui::GetForegroundDrawList();
    put(ui, over, ui.font(Face::Strong, Size::Title), {box.min.x + pad, box.min.y + pad}, ui.ink(Ink::Text),
        "Keys");
    float x = box.min.x + pad;
    for (size_t c = 0; c < kColumns; ++c) {
        float y = box.min.y + pad + title + ui.px(8);
        for (const Group* group : columns[c]) {
            put(ui, over, ui.font(Face::Strong, Size::Small), {x, y + row * 0.4f}, ui.ink(Ink::TextQuiet),
                group->name);
            y += row * 1.5f;
            for (const Offer* action : group->rows) {
                put(ui, over, mono, {x, y}, ui.ink(Ink::Text), action->keys);
                put(ui, over, words, {x + (keys[c] + gap) * smaller, y}, ui.ink(Ink::TextQuiet),
                    action->help);
                y += row;
            }
            y += row * 0.5f;
        }
        x += (keys[c] + gap + helps[c] + between) * smaller;
    }
    if (ui.mouse && ImGui::IsMouseClicked(0)) ui.state.show_keys = false;
}

namespace {

void label(const char* text) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(text);
    ImGui::SameLine();
}

void size_field(const char* name, const char* id, uint32_t& value, float width) {
    int number = static_cast<int>(value);
    label(name);
    ImGui::SetNextItemWidth(width);
    if (ImGui::InputInt(id, &number, 0, 0)) value = static_cast<uint32_t>(std::max(number, 0));
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
    std::optional<session::Ordered>& running = ui.session.ordered;
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
    draw::pop_font();
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
            session::record(ui.session, form);
            if (ui.session.message.empty()) form.open = false;
        }
    }
    if (low) {
        ImGui::PopStyleVar();
        draw::pop_font();
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
        for (const int tile : kernels::kTiles)
            if (ImGui::Selectable(std::to_string(tile).c_str(),
                                  static_cast<uint32_t>(tile) == form.shape.tile))
                form.shape.tile = static_cast<uint32_t>(tile);
        ImGui::EndCombo();
    }
    ImGui::SameLine();
    size_field("m", "##m", form.shape.m, ui.px(72));
    ImGui::SameLine();
    size_field("k", "##k", form.shape.k, ui.px(72));
    ImGui::SameLine();
    size_field("n", "##n", form.shape.n, ui.px(72));
    block_picker(ui, form);
    backend_choice(ui, low);
    if (ImGui::Button("Record", {-1, ui.px(34)})) {
        session::record(ui.session, form);
        if (ui.session.message.empty()) form.open = false;
    }
    // Below the button, which stays where it was pressed.
    if (!ui.session.message.empty()) ImGui::TextUnformatted(ui.session.message.c_str());
    ImGui::PopTextWrapPos();
    ImGui::End();
}

}  // namespace tilescope::input
