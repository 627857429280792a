// A page in place of the screens: a storyboard or a poster of the cursor's block (pictures/storyboard.h).
#include "app/app.h"
#include "app/pictures/storyboard.h"

namespace tilescope::app {
namespace {

constexpr uint32_t kSlideColumns = 5, kPosterColumns = 4;

struct PageOf {
    std::optional<look::CubeBlock> block;
    Result<look::Story> story;
};

PageOf page_of(const State& state) {
    const session::Session& session = state.session;
    auto block = look::cube_of_block(session.trace(), *session.block, session.replay.get());
    auto story = look::story_of(*session.recording, *session.block, block ? &*block : nullptr,
                                state.page == State::Page::Poster ? kPosterColumns : kSlideColumns);
    return {std::move(block), std::move(story)};
}

}  // namespace

Result<void> can_draw_page(const State& state) {
    const session::Session& session = state.session;
    if (!session.recording || !session.block || session.trace().blocks.empty())
        return Error{"the recording holds no block; record the kernel again"};
    if (!session.block->why_not.empty()) return Error{session.block->why_not};
    const PageOf page = page_of(state);
    if (!page.story) return page.story.error();
    return {};
}

void draw_page(const State& state, draw::Ui& ui, const draw::Rect& page) {
    ui.list.AddRectFilled(page.min, page.max, ui.ink(draw::Ink::Panel));
    if (!can_draw_page(state)) return;
    const session::Session& session = state.session;
    const PageOf of = page_of(state);
    const pictures::StoryScene scene{session.trace(),
                                     *session.block,
                                     *of.block,
                                     *of.story,
                                     look::middle_thread(*session.block, *of.block),
                                     session.replay.get()};
    (state.page == State::Page::Poster ? pictures::poster : pictures::storyboard)(ui, page, scene);
}

}  // namespace tilescope::app
