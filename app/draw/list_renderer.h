// ImGui's draw lists, drawn by OpenGL.
//
// ImGui's own renderer saves all of OpenGL's state before a frame and restores it behind it: some 25 questions, each of which
// waits in a browser until all that was drawn is done. Here nobody else draws, and nothing is asked.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "imgui.h"

namespace tilescope::draw {

class ListRenderer {
public:
    // Needs a current OpenGL context, now and until destruction, and ImGui's current context, which it is for.
    static Result<std::unique_ptr<ListRenderer>> create();
    ~ListRenderer();

    void upload_type();                 // the atlas of ImGui's fonts, once it was made anew
    void draw(const ImDrawData& data);  // into the framebuffer that is bound; leaves the scissor test off

private:
    struct State;
    explicit ListRenderer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace tilescope::draw
