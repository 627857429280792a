#include <algorithm>
#include <utility>

#include "app/platform/input.h"
#include "imgui.h"

namespace tilescope::platform {

namespace {

// The keys that ImGui's text fields, sliders and menus know.
// clang-format off
constexpr std::pair<Key, ImGuiKey> kKeys[] = {
    {Key::Tab, ImGuiKey_Tab}, {Key::Left, ImGuiKey_LeftArrow}, {Key::Right, ImGuiKey_RightArrow},
    {Key::Up, ImGuiKey_UpArrow}, {Key::Down, ImGuiKey_DownArrow}, {Key::PageUp, ImGuiKey_PageUp},
    {Key::PageDown, ImGuiKey_PageDown}, {Key::Home, ImGuiKey_Home}, {Key::End, ImGuiKey_End},
    {Key::Delete, ImGuiKey_Delete}, {Key::Backspace, ImGuiKey_Backspace}, {Key::Enter, ImGuiKey_Enter},
    {Key::Escape, ImGuiKey_Escape}, {Key::Space, ImGuiKey_Space}, {Key::A, ImGuiKey_A},
    {Key::C, ImGuiKey_C}, {Key::V, ImGuiKey_V}, {Key::X, ImGuiKey_X}, {Key::Y, ImGuiKey_Y}, {Key::Z, ImGuiKey_Z}};
// clang-format on

void set_key(ImGuiIO& io, Key key, bool down) {
#if IMGUI_VERSION_NUM >= 18700
    for (auto [ours, theirs] : kKeys)
        if (ours == key) io.AddKeyEvent(theirs, down);
#else
    io.KeysDown[static_cast<int>(key)] = down;
    // Before 1.87 only Space presses a button; later Enter does too. The release is told in any case.
    if (key == Key::Enter && !(down && io.WantTextInput)) io.KeysDown[static_cast<int>(Key::Space)] = down;
#endif
}

}  // namespace

void ImguiFeed::feed(const Input& input, int width, int height, std::vector<KeyPress>* form) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DisplayFramebufferScale = {1, 1};
    io.BackendPlatformName = "tilescope";
    io.DeltaTime = static_cast<float>(std::clamp(input.dt, 1e-4, 0.1));
    io.ConfigFlags &= ~ImGuiConfigFlags_NavEnableKeyboard;
    if (form != nullptr) io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    if (held_ != Key::None) set_key(io, std::exchange(held_, Key::None), false);
    KeyPress now{Key::None, input.shift, input.control, input.alt};
    if (form != nullptr) {
        auto next = form->begin();
        for (; next != form->end() && next->character != 0; ++next) io.AddInputCharacter(next->character);
        if (next == form->begin() && next != form->end()) {
            now = *next++;
            held_ = now.key;
            set_key(io, held_, true);
        }
        form->erase(form->begin(), next);
    }

    ImVec2 mouse{input.mouse_x, input.mouse_y};
    if (mouse.x < 0 || mouse.y < 0) mouse.x = mouse.y = -3.4e38f;  // ImGui's "no mouse"
#if IMGUI_VERSION_NUM >= 18700
    io.AddKeyEvent(ImGuiMod_Shift, now.shift);
    io.AddKeyEvent(ImGuiMod_Ctrl, now.control);
    io.AddKeyEvent(ImGuiMod_Alt, now.alt);
    io.AddMousePosEvent(mouse.x, mouse.y);
    for (int i = 0; i < 3; ++i) io.AddMouseButtonEvent(i, input.mouse_down[i]);
    if (input.scroll_x != 0 || input.scroll_y != 0) io.AddMouseWheelEvent(input.scroll_x, input.scroll_y);
#else
    for (auto [ours, theirs] : kKeys) io.KeyMap[theirs] = static_cast<int>(ours);
    io.KeyShift = now.shift;
    io.KeyCtrl = now.control;
    io.KeyAlt = now.alt;
    io.MousePos = mouse;
    for (int i = 0; i < 3; ++i) io.MouseDown[i] = input.mouse_down[i];
    io.MouseWheelH += input.scroll_x;
    io.MouseWheel += input.scroll_y;
#endif
}

}  // namespace tilescope::platform
