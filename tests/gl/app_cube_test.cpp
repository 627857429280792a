// The product as a solid in place of the matrices, as pictures; what is said beside it is whole and apart.
#include <set>

#include <fmt/format.h>

#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/launch_examples.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State solid(const char* kernel, kernels::Shape shape, double part) {
    State state;
    show_trace(state, kernels::recorded(kernel, shape));
    state.session.assets.timings = session::Assets::of(kNoTimes);
    state.session.cursor.step =
        static_cast<uint32_t>(static_cast<double>(state.session.block->steps - 1) * part);
    state.step.middle = Middle::Cube;
    return state;
}

TEST(CubePicture, OfATiledProduct) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(solid("tiled", {64, 64, 64, 16}, 0.45), 1280, 720), "cube_tiled");
}

TEST(CubePicture, OfARegisterTileForTheBackRow) {
    SKIP_WITHOUT_OPENGL();
    State state = solid("register_tile", {128, 16, 128, 0}, 0.6);
    state.session.lecture = true;
    test::expect_golden(picture(std::move(state), 1280, 720), "cube_register_tile_lecture");
}

TEST(CubePicture, OfABlockThatCopiesAheadInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = solid("double_buffer", {128, 32, 128, 0}, 0.34);
    state.session.theme = Theme::Dark;
    test::expect_golden(picture(std::move(state), 1600, 1000), "cube_double_buffer_dark");
}

TEST(CubePicture, WithoutTiles) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(solid("untiled", {64, 64, 64, 16}, 0.3), 1600, 1000), "cube_untiled");
}

// No text is cut, outside or on another one; the walls have their names; of every kernel, at four sizes.
TEST(CubePicture, IsWrittenWhole) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {1920, 1080}, {1120, 1080}}) {
        Drawn drawn(width, height);
        for (const char* kernel :
             {"tiled", "untiled", "tiled_stale_edge", "register_column", "double_buffer"})
            for (const bool lecture : {false, true}) {
                const bool tile = std::string(kernel).find("tile") != std::string::npos;
                State state =
                    solid(kernel, tile ? kernels::Shape{20, 20, 20, 8} : kernels::Shape{70, 24, 72, 0}, 0);
                state.session.lecture = lecture;
                for (const double part : {0.0, 0.3, 0.7, 1.0}) {
                    SCOPED_TRACE(fmt::format("{} at {}, {} x {}{}", kernel, part, width, height,
                                             lecture ? ", lecture" : ""));
                    state.session.cursor.step =
                        static_cast<uint32_t>(static_cast<double>(state.session.block->steps - 1) * part);
                    drawn.frames(state);
                    const auto& texts = drawn.seen().texts;
                    const auto heading =
                        std::ranges::find(texts, "The product as a solid", &draw::Written::text);
                    ASSERT_NE(heading, texts.end());
                    // Of the panel: from the heading on as far as its surface reaches.
                    ImVec4 panel{};
                    for (const ImVec4& box : drawn.seen().surfaces)
                        if (heading->min.x >= box.x && heading->min.x < box.z && heading->min.y >= box.y &&
                            heading->min.y < box.w)
                            panel = box;
                    std::vector<draw::Written> in;
                    for (const draw::Written& text : texts)
                        if (text.min.x >= panel.x && text.min.x < panel.z && text.min.y >= panel.y &&
                            text.min.y < panel.w)
                            in.push_back(text);
                    for (const char* name : {"M", "N", "P"})
                        EXPECT_EQ(std::ranges::count(in, name, &draw::Written::text), 1) << name;
                    EXPECT_GE(in.size(), 9u) << "walls, axes and some lines of the legend";
                    for (size_t i = 0; i < in.size(); ++i) {
                        EXPECT_FALSE(in[i].cut) << in[i].text;
                        EXPECT_LE(in[i].max.x, panel.z) << in[i].text;
                        EXPECT_LE(in[i].max.y, panel.w + 1) << in[i].text;
                        for (size_t j = 0; j < i; ++j)
                            EXPECT_FALSE(in[i].min.x < in[j].max.x - 1 && in[j].min.x < in[i].max.x - 1 &&
                                         in[i].min.y < in[j].max.y - 3 && in[j].min.y < in[i].max.y - 3)
                                << in[i].text << " lies on " << in[j].text;
                    }
                }
            }
    }
}

// Turned any way and zoomed, nothing falls over, and the keys that pan turn it.
TEST(CubePicture, TurnsAndZooms) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = solid("tiled", {64, 64, 64, 8}, 0.5);
    const auto key = [&](platform::Key which) {
        platform::Input input;
        input.presses.push_back({which, false, false});
        drawn.frames(state, input, 1);
    };
    const pictures::CubeCamera before = state.step.cube.camera;
    for (int i = 0; i < 12; ++i) key(platform::Key::D);
    EXPECT_EQ(state.step.cube.camera.turn, -pictures::CubeCamera::kMostTurn);
    key(platform::Key::W), key(platform::Key::W);
    EXPECT_EQ(state.step.cube.camera.tiles, 2u);
    for (int i = 0; i < 12; ++i) key(platform::Key::A);
    EXPECT_EQ(state.step.cube.camera.turn, pictures::CubeCamera::kMostTurn);
    key(platform::Key::F);
    EXPECT_EQ(state.step.cube.camera, before);
}

// A click on a tile of P goes to its block, on an element of M pins it; a drag does neither.
TEST(CubePicture, IsEntered) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = solid("tiled", {64, 64, 64, 16}, 0.4);
    drawn.frames(state);
    // All places of the panel are tried: each block but the shown one is found by its tile.
    std::set<uint32_t> reached;
    std::set<std::pair<uint8_t, uint64_t>>
        pinned;  // elements of M and N; the block's own of P lie behind its column
    const analysis::Product& product = *state.session.block->product;
    const auto click = [&](float x, float y) {
        platform::Input input;
        input.mouse_x = x, input.mouse_y = y;
        drawn.frames(state, input, 1, false);
        input.mouse_down[0] = true;
        drawn.frames(state, input, 1, false);
        input.mouse_down[0] = false;
        drawn.frames(state, input, 1, false);
    };
    for (float y = 200; y < 700; y += 20)
        for (float x = 400; x < 940; x += 20) {
            state.session.cursor.block = 0;
            state.session.pin = {};
            click(x, y);
            const Pick& pin = state.session.pin;
            if (state.session.cursor.block != 0) {
                reached.insert(state.session.cursor.block);
                EXPECT_EQ(pin.kind, Pick::Kind::None) << "a click that goes to a block pins nothing";
            } else if (pin.kind == Pick::Kind::Element) {
                EXPECT_LT(pin.index, state.session.trace().launch.arrays[pin.array].elements());
                pinned.insert({pin.array, pin.index});
            }
        }
    EXPECT_GE(reached.size(), 12u);
    const auto of = [&](uint8_t array) {
        return std::ranges::count(pinned, array, &std::pair<uint8_t, uint64_t>::first);
    };
    EXPECT_GE(of(product.M), 20);
    EXPECT_GE(of(product.N), 20);
}

// A launch that is no product says so.
TEST(CubePicture, OfNoProductSaysSo) {
    SKIP_WITHOUT_OPENGL();
    State state;
    show_trace(state, kernels::recorded(kernels::vector_add()));
    state.step.middle = Middle::Cube;
    Drawn drawn(1280, 720);
    EXPECT_NE(drawn.words(state).find("noproductoftwomatrices"), std::string::npos);
}

}  // namespace
}  // namespace tilescope::app
