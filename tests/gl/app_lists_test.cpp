// A list of a chooser that lies open, and the keys.
#include <gtest/gtest.h>

#include "tests/gl/drawn.h"

namespace tilescope::app {
namespace {

using platform::Key;

TEST(OpenLists, LeaveTheKeysToTheWindow) {
    SKIP_WITHOUT_OPENGL();
    State state;
    state.session.screen = "limits";
    Drawn drawn(1280, 720);
    const auto frame = [&](std::vector<platform::KeyPress> presses = {}) {
        platform::Input input;
        input.presses = std::move(presses);
        drawn.frames(state, input, 1, false);
    };
    frame();
    const auto& texts = drawn.seen().texts;
    const auto label = std::ranges::find(texts, "Case", &draw::Written::text);
    ASSERT_NE(label, texts.end());
    platform::Input click;
    click.mouse_x = label->max.x + 60;
    click.mouse_y = (label->min.y + label->max.y) / 2;
    const auto open_the_list = [&] {
        for (const bool down : {false, true, false, false}) {
            click.mouse_down[0] = down;
            drawn.frames(state, click, 1, false);
        }
    };
    open_the_list();
    ASSERT_TRUE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup));
    state.session.message = "a message";
    frame({{.key = Key::Escape}});
    frame();
    EXPECT_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) << "Esc closes it";
    EXPECT_EQ(state.session.message, "a message") << "and nothing else";
    open_the_list();
    ASSERT_TRUE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup));
    frame({{.key = Key::Digit1}});
    frame();
    EXPECT_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup));
    EXPECT_EQ(state.session.screen, "step") << "another key does what it always does";
}

}  // namespace
}  // namespace tilescope::app
