// Pairs of recordings on the Compare screen, drawn and read: its pictures, and all that is written in them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "app/frame.h"
#include "tests/app_names.h"
#include "tests/gl/canvas.h"
#include "tests/gl/golden.h"
#include "tests/recorded.h"

namespace tilescope::app {

inline const std::vector<kernels::ShippedRecording> kNothingShips;
inline const std::vector<kernels::Timings> kNoTimes;  // the pictures do not change with what ships

inline constexpr kernels::Shape kShape{64, 64, 64, 16};

inline State alone(trace::Trace trace) {
    State state;
    show_trace(state, std::move(trace), "test.tsc");
    state.session.assets.recordings = Assets::of(kNothingShips);
    state.session.assets.timings = Assets::of(kNoTimes);
    state.session.screen = "compare";
    return state;
}

inline std::shared_ptr<const session::Recording> recording_of(trace::Trace trace) {
    auto made = session::make_recording(std::move(trace), "test.tsc");
    EXPECT_TRUE(made);
    return *made;
}

inline State pair(trace::Trace a, trace::Trace b) {
    State state = alone(std::move(a));
    set_beside(state.compare, recording_of(std::move(b)));
    return state;
}

inline State pair(const char* a, kernels::Shape of_a, const char* b, kernels::Shape of_b) {
    return pair(kernels::recorded(a, of_a), kernels::recorded(b, of_b));
}

// Every quad of glyphs has its character's place in the font atlas.
inline std::string written(const ImDrawData& data) {
    std::map<std::pair<float, float>, ImWchar> characters;
    for (const ImFont* font : ImGui::GetIO().Fonts->Fonts)
        for (const ImFontGlyph& glyph : font->Glyphs)
            if (glyph.Visible) characters[{glyph.U0, glyph.V0}] = static_cast<ImWchar>(glyph.Codepoint);
    std::string text;
    for (int list = 0; list < data.CmdListsCount; ++list) {
        const ImVector<ImDrawVert>& vertices = data.CmdLists[list]->VtxBuffer;
        for (int i = 0; i + 2 < vertices.Size; ++i) {
            const auto found = characters.find({vertices[i].uv.x, vertices[i].uv.y});
            if (found == characters.end() || vertices[i].pos.y != vertices[i + 1].pos.y) continue;
            if (found->second < 0x80)
                text += static_cast<char>(found->second);
            else if (found->second == 0x2026)
                text += "\u2026";
            else
                text += '?';
        }
    }
    return text;
}

class Drawn {
public:
    Drawn(int width, int height) : canvas_{width, height, 1} {
        headless_ = std::move(*platform::open_offscreen(width, height));
        frame_ = std::move(*Frame::create());
    }
    void frames(State& state, const platform::Input& input = {}, int count = 3, bool still = true) {
        for (int i = 0; i < count; ++i) frame_->build(state, input, canvas_, still);
    }
    platform::Image picture(State& state) {
        frames(state);
        frame_->render();
        return headless_->read();
    }
    // All that is written in a frame, in the order in which it is drawn. Spaces leave no trace in it.
    std::string words(State& state) {
        frames(state);
        return written(*ImGui::GetDrawData());
    }

    // The same of a frame of the window, which waits for nothing.
    std::string words_now(State& state) {
        frames(state, {}, 1, false);
        return written(*ImGui::GetDrawData());
    }

private:
    Canvas canvas_;
    std::unique_ptr<platform::Backend> headless_;
    std::unique_ptr<Frame> frame_;
};

inline void golden(State state, int width, int height, const std::string& name) {
    Drawn drawn(width, height);
    test::expect_golden(drawn.picture(state), name);
}

inline size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

inline std::string without_spaces(std::string text) {
    std::erase(text, ' ');
    return text;
}

inline testing::AssertionResult says(const std::string& drawn, const std::string& words) {
    if (drawn.find(without_spaces(words)) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << words << "' is not in " << drawn;
}

}  // namespace tilescope::app
