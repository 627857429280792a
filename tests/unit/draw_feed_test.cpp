// Keys on their way to ImGui.
#include <algorithm>

#include <gtest/gtest.h>

#include "app/platform/input.h"
#include "imgui.h"

namespace tilescope::platform {
namespace {

// Enter on a text field opens it, so that ImGui wants text by the time the key is let go.
TEST(Feed, EnterThatOpensAFieldLeavesNoKeyDown) {
    ImGuiContext* const context = ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    ImguiFeed feed;
    std::vector<KeyPress> keys{{Key::Enter}};
    feed.feed({}, 100, 100, &keys);
    io.WantTextInput = true;
    feed.feed({}, 100, 100, &keys);
#if IMGUI_VERSION_NUM < 18700
    EXPECT_EQ(std::count(std::begin(io.KeysDown), std::end(io.KeysDown), true), 0);
#endif
    ImGui::DestroyContext(context);
}

}  // namespace
}  // namespace tilescope::platform
