// A page in place of the screens: a storyboard or a poster of the cursor's block (pictures/storyboard.h).
#include "app/app.h"
#include "app/pictures/storyboard.h"

namespace tilescope::app {

Result<void> make_page(State& state, State::Page page) {
    constexpr uint32_t kSlideColumns = 5, kPosterColumns = 4;
    const session::Session& session = state.session;
    if (!session.recording || !session.block || session.trace().blocks.empty())
        return Error{"the recording holds no block; record the kernel again"};
    if (!session.block->why_not.empty()) return Error{session.block->why_not};
    auto story = look::story_of(*session.recording, *session.block, session.cube.get(),
                                page == State::Page::Poster ? kPosterColumns : kSlideColumns);
    if (!story) return story.error();
    state.page = page;
    state.story = std::make_shared<const look::Story>(std::move(*story));
    return {};
}

void draw_page(const State& state, draw::Ui& ui, const draw::Rect& page) {
    ui.list.AddRectFilled(page.min, page.max, ui.ink(draw::Ink::Panel));
    const session::Session& session = state.session;
    const pictures::StoryScene scene{session.trace(),
                                     *session.block,
                                     *session.cube,
                                     *state.story,
                                     look::middle_thread(*session.block, *session.cube),
                                     session.replay.get()};
    (state.page == State::Page::Poster ? pictures::poster : pictures::storyboard)(ui, page, scene);
}

}  // namespace tilescope::app
