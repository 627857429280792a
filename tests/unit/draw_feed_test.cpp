// Keys on their way to ImGui.
#include <algorithm>

#include <gtest/gtest.h>

#include "app/platform/input.h"
#include "imgui.h"

namespace tilescope::platform {
namespace {

// Enter on a text field opens it, so that ImGui wants text by the time the key is let go.
TEST(Feed, EnterThatOpensAFieldLeavesNoKeyDown) {
#if IMGUI_VERSION_NUM >= 18700
    GTEST_SKIP() << "this Dear ImGui is told of keys as events, and keeps none down by itself";
#else
    ImGuiContext* const context = ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    ImguiFeed feed;
    std::vector<KeyPress> keys{{Key::Enter}};
    feed.feed({}, 100, 100, &keys);
    io.WantTextInput = true;
    feed.feed({}, 100, 100, &keys);
    EXPECT_EQ(std::count(std::begin(io.KeysDown), std::end(io.KeysDown), true), 0);
    ImGui::DestroyContext(context);
#endif
}

}  // namespace
}  // namespace tilescope::platform
