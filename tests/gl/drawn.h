// A state drawn as the window draws it, without a display: the pixels, and what is written in them and where.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/app.h"
#include "app/platform/backend.h"
#include "tests/gl/canvas.h"
#include "tests/gl/golden.h"

namespace tilescope::app {

// The pictures do not change with what ships.
inline const std::vector<kernels::ShippedRecording> kNothingShips;
inline const std::vector<kernels::Timings> kNoTimes;

class Drawn {
public:
    // In pixels of the framebuffer, so many per logical pixel.
    Drawn(int width, int height, float scale = 1) : canvas_{width, height, scale} {
        auto headless = platform::open_offscreen(width, height);
        auto frame = Frame::create();
        EXPECT_TRUE(headless && frame);
        headless_ = std::move(*headless);
        frame_ = std::move(*frame);
        frame_->inspect(&seen_);
    }
    // Hovering and layout have settled after three.
    void frames(State& state, const platform::Input& input = {}, int count = 3, bool still = true) {
        for (int i = 0; i < count; ++i) frame_->build(state, input, canvas_, still, still);
    }
    test::Picture picture(State& state) {
        frames(state);
        return picture();
    }
    // Of the last frame.
    test::Picture picture() {
        frame_->render();
        return {headless_->read(), seen_};
    }
    std::string svg(State state, bool waits) { return frame_->svg(std::move(state), canvas_, waits); }
    Result<std::string> svg_of_panel(State state, const session::PanelAt& at) {
        return frame_->svg_of_panel(std::move(state), canvas_, at);
    }
    const std::vector<draw::Panel>& panels() const { return frame_->panels(); }  // of the last frame
    const draw::Inspection& seen() const { return seen_; }                       // of the last frame
    // All that is written in a frame, in the order in which it is drawn, without its spaces.
    std::string words(State& state) {
        frames(state);
        return words();
    }
    // The same of a frame of the window, which waits for nothing.
    std::string words_now(State& state) {
        frames(state, {}, 1, false);
        return words();
    }

private:
    std::string words() const {
        std::string all;
        for (const draw::Written& text : seen_.texts)
            if (!text.place) all += text.text;  // a ruler's numbers are no words
        std::erase(all, ' ');
        return all;
    }
    Canvas canvas_;
    draw::Inspection seen_;
    std::unique_ptr<platform::Backend> headless_;
    std::unique_ptr<Frame> frame_;
};

inline test::Picture picture(State state, int width, int height) {
    return Drawn(width, height).picture(state);
}

}  // namespace tilescope::app
