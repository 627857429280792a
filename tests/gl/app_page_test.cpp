// A block's phases on a page, as pictures: a storyboard and a poster; of every kernel nothing that is written is
// cut, outside the page or on another text.
#include <fmt/format.h>

#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/launch_examples.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State page(const char* kernel, kernels::Shape shape, State::Page page) {
    State state;
    show_trace(state, kernels::recorded(kernel, shape));
    state.session.text_scale = kPageText;
    EXPECT_TRUE(make_page(state, page));
    return state;
}

TEST(Page, StoryboardOfATiledProduct) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(page("tiled", {64, 64, 64, 16}, State::Page::Storyboard), 1600, 900),
                        "page_storyboard");
}

TEST(Page, PosterOfAProductWhosePhasesAreManyInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = page("tiled", {32, 80, 32, 8}, State::Page::Poster);
    state.session.theme = Theme::Dark;
    test::expect_golden(picture(std::move(state), 1400, 1980), "page_poster_dark");
}

TEST(Page, IsWrittenWhole) {
    SKIP_WITHOUT_OPENGL();
    Drawn slide(1600, 900), sheet(1400, 1980);
    for (const std::string& kernel : kernels::names_of_kernels()) {
        const bool tile = std::ranges::count(kernels::names_without_tile_width(), kernel) == 0;
        for (const auto which : {State::Page::Storyboard, State::Page::Poster}) {
            SCOPED_TRACE(kernel);
            State state = page(kernel.c_str(),
                               tile ? kernels::Shape{20, 52, 20, 8} : kernels::Shape{70, 44, 72, 0}, which);
            const bool poster = which == State::Page::Poster;
            Drawn& drawn = poster ? sheet : slide;
            drawn.frames(state);
            const auto& texts = drawn.seen().texts;
            EXPECT_GT(texts.size(), 30u);
            for (size_t i = 0; i < texts.size(); ++i) {
                EXPECT_FALSE(texts[i].cut) << texts[i].text;
                EXPECT_LE(texts[i].max.x, poster ? 1400 : 1600) << texts[i].text;
                EXPECT_LE(texts[i].max.y, poster ? 1980 : 900) << texts[i].text;
                for (size_t j = 0; j < i; ++j)
                    EXPECT_FALSE(texts[i].min.x < texts[j].max.x - 1 && texts[j].min.x < texts[i].max.x - 1 &&
                                 texts[i].min.y < texts[j].max.y - 4 && texts[j].min.y < texts[i].max.y - 4)
                        << texts[i].text << " lies on " << texts[j].text;
            }
        }
    }
}

// Of a launch that is no product there is none, and one sentence says so.
TEST(Page, OfNoProductIsRefused) {
    State state;
    show_trace(state, kernels::recorded(kernels::vector_add()));
    const auto can = make_page(state, State::Page::Storyboard);
    ASSERT_FALSE(can);
    EXPECT_NE(can.error().message.find("no product of two matrices"), std::string::npos);
}

}  // namespace
}  // namespace tilescope::app
