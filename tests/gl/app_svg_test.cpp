// SVG pictures: the document is sound, small, and, drawn by another program, the picture that OpenGL makes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <set>
#include <tuple>
#include <vector>

#include "app/app.h"
#include "app/draw/svg.h"
#include "app/lessons/asking.h"
#include "tests/app_names.h"
#include "tests/gl/canvas.h"
#include "tests/gl/drawn.h"
#include "tests/gl/golden.h"
#include "tests/recorded.h"

namespace tilescope {
namespace {

std::string made(const std::string& name) {
    const std::string folder = std::string(TILESCOPE_BINARY_DIR) + "/tests/svg";
    std::filesystem::create_directories(folder);
    return folder + "/" + name;
}

app::State state_of_svg(draw::Theme theme) {
    const auto trace =
        std::make_shared<const trace::Trace>(kernels::recorded("tiled", kernels::Shape{64, 64, 64, 16}));
    app::State state;
    app::show_trace(state, trace, "recorded now");
    state.session.theme = theme;
    state.session.cursor.step = 300;
    return state;
}

// Every tag is closed, in order, and attributes are quoted: what XML asks for as far as these files use it.
void expect_well_formed(const std::string& svg) {
    std::vector<std::string> open;
    EXPECT_EQ(svg.rfind("<?xml", 0), 0u);
    for (size_t at = svg.find("?>") + 2; (at = svg.find('<', at)) != std::string::npos;) {
        const size_t end = svg.find('>', at);
        ASSERT_NE(end, std::string::npos);
        const std::string tag = svg.substr(at + 1, end - at - 1);
        at = end + 1;
        ASSERT_FALSE(tag.empty());
        ASSERT_EQ(tag.find('<'), std::string::npos) << tag.substr(0, 80);
        ASSERT_EQ(std::count(tag.begin(), tag.end(), '"') % 2, 0) << tag.substr(0, 80);
        const std::string name =
            tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/'));
        if (tag[0] == '/') {
            ASSERT_FALSE(open.empty());
            ASSERT_EQ(open.back(), tag.substr(1));
            open.pop_back();
        } else if (tag.back() != '/') {
            open.push_back(tag.substr(0, tag.find(' ')));
        }
    }
    EXPECT_TRUE(open.empty());
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(Svg, IsAWellFormedDocumentOfModestSize) {
    SKIP_WITHOUT_OPENGL();
    app::RenderOptions options;
    const auto svg = app::render_svg(state_of_svg(draw::Theme::Light), options);
    ASSERT_TRUE(svg) << svg.error().message;
    expect_well_formed(*svg);
    EXPECT_LT(svg->size(), 3u << 20);
    EXPECT_NE(svg->find("<title>tiled 64×64×64 T=16 - step 301 of "), std::string::npos);
    EXPECT_NE(svg->find("<use href=\"#g"), std::string::npos) << "type as outlines";
}

// A large recording is counted beside the window, which takes minutes for some; a picture shows what is
// there.
TEST(Svg, OfTheWindowWaitsForNothing) {
    SKIP_WITHOUT_OPENGL();
    app::State state = state_of_svg(draw::Theme::Light);
    app::show_trace(state, kernels::recorded("tiled", kernels::Shape{128, 128, 128, 16}));
    ASSERT_GT(state.session.trace().steps(), session::kCountedAtOnce);
    std::promise<void> end;
    state.session.totals = nullptr;
    state.session.counting = state.session.jobs->start(
        [wait = end.get_future().share()](session::Control&) -> session::MadeTotals {
            wait.wait();
            return Error{"it was not counted"};
        });
    app::Drawn window(1280, 720);
    const std::string svg = window.svg(state, false);
    EXPECT_FALSE(state.session.counting.ready());
    end.set_value();
    expect_well_formed(svg);
    EXPECT_NE(svg.find("tiled"), std::string::npos);
}

// A panel alone, which says nothing of what stands on the others; and as a picture of twice its pixels.
TEST(PanelPicture, IsOfThatPanelAlone) {
    SKIP_WITHOUT_OPENGL();
    app::Drawn window(1280, 720);
    app::State state = state_of_svg(draw::Theme::Light);
    state.session.message = "A message lies over the panels.";
    window.frames(state);
    for (const char* name : {"request_panel", "source_panel", "matrices_panel", "timeline", "caption"}) {
        SCOPED_TRACE(name);
        const auto panels = window.panels();
        const auto found = std::ranges::find_if(
            panels, [&](const draw::Panel& panel) { return std::string_view(panel.name) == name; });
        ASSERT_NE(found, panels.end());
        const auto [low, high] = found->rect;
        const session::PanelAt at{name, (low.x + high.x) / 2 / 1280, (low.y + high.y) / 2 / 720};

        const auto svg = window.svg_of_panel(state, at);
        ASSERT_TRUE(svg) << svg.error().message;
        expect_well_formed(*svg);
        const auto rounded = [](float side) { return static_cast<int>(std::round(side)); };
        const int wide = rounded(high.x) - rounded(low.x), tall = rounded(high.y) - rounded(low.y);
        EXPECT_NE(svg->find("width=\"" + std::to_string(wide) + "\" height=\"" + std::to_string(tall) + "\""),
                  std::string::npos);
        // Glyphs lie on it, and none beside it.
        size_t glyphs = 0;
        for (size_t use = 0; (use = svg->find("<use ", use + 1)) != std::string::npos;) {
            const double x = std::stod(svg->substr(svg->find("x=\"", use) + 3)),
                         y = std::stod(svg->substr(svg->find("y=\"", use) + 3));
            EXPECT_GT(x, low.x - 20);
            EXPECT_LT(x, high.x + 1);
            EXPECT_GT(y, low.y - 1);
            EXPECT_LT(y, high.y + 30);
            ++glyphs;
        }
        EXPECT_GT(glyphs, 15u);
        // Nor is anything drawn that lies on other panels and would not be seen: each shape begins on this one.
        const size_t drawn = svg->find("</defs>");
        size_t paths = 0;
        for (size_t path = drawn; (path = svg->find(" d=\"M", path + 1)) != std::string::npos; ++paths) {
            size_t read = 0;
            const std::string start = svg->substr(path + 5, 40);
            const double x = std::stod(start, &read), y = std::stod(start.substr(read));
            const double beyond = 20;  // what lies across its edge
            EXPECT_TRUE(x > low.x - beyond && x < high.x + beyond && y > low.y - beyond &&
                        y < high.y + beyond)
                << start;
        }
        EXPECT_GT(paths, 0u);

        const auto image = app::panel_image(state, {1280, 720, 1}, at);
        ASSERT_TRUE(image) << image.error().message;
        // The screen shares its middle by cells of whole pixels, which are finer there, in steps of 10 logical pixels.
        EXPECT_NEAR(image->width, 2 * wide, 2 * 10 + 4);
        EXPECT_NEAR(image->height, 2 * tall, 4);
        std::set<uint32_t> colours;
        for (int y = 0; y < image->height; y += 2)
            for (int x = 0; x < image->width; x += 2) colours.insert(test::pixel(*image, x, y));
        EXPECT_GT(colours.size(), 20u) << "it is blank";
        const draw::Palette& palette = draw::palette(draw::Theme::Light);
        EXPECT_EQ(test::pixel(*image, image->width / 2, 4), palette[draw::Ink::Panel]);
        // Drawn anew and not enlarged: some pixels differ from their neighbours in pairs.
        size_t fine = 0;
        for (int y = 0; y + 1 < image->height; y += 2)
            for (int x = 0; x + 1 < image->width; x += 2)
                fine += test::pixel(*image, x, y) != test::pixel(*image, x + 1, y);
        EXPECT_GT(fine, 200u);
    }
    const auto none = window.svg_of_panel(state, {"request_panel", 0.5f, 0.001f});
    EXPECT_FALSE(none) << "on the bar there is no panel";
    EXPECT_FALSE(app::panel_image(state, {1280, 720, 1}, {"request_panel", 0.5f, 0.001f}));
    window.frames(state);  // the window goes on with its own context
    EXPECT_GT(window.panels().size(), 5u);
}

// However large it is, its type has room in the textures that it is made in: then the picture is not twice as large.
TEST(PanelPicture, HasTypeOfASizeThatTexturesHold) {
    SKIP_WITHOUT_OPENGL();
    app::Drawn window(1280, 720);
    app::State state = state_of_svg(draw::Theme::Light);
    for (const auto& [text, lecture, times] : {std::tuple(1.f, false, 2), {1.4f, true, 2}, {2.f, true, 1}}) {
        state.session.text_scale = text;
        state.session.lecture = lecture;
        window.frames(state);
        const draw::Panel panel = window.panels().back();
        const auto [low, high] = panel.rect;
        const auto image = app::panel_image(
            state, {1280, 720, 1}, {panel.name, (low.x + high.x) / 2 / 1280, (low.y + high.y) / 2 / 720});
        ASSERT_TRUE(image) << image.error().message;
        EXPECT_EQ(std::lround(static_cast<float>(image->width) / panel.rect.width()), times) << text;
    }
}

// A button that is held while a picture is made was pressed once, and is pressed no second time after it.
TEST(PanelPicture, PressesNoButtonAnew) {
    SKIP_WITHOUT_OPENGL();
    app::Drawn window(1280, 720);
    app::State state = state_of_svg(draw::Theme::Light);
    window.frames(state);
    const auto texts = window.seen().texts;
    const auto button = std::ranges::find(texts, "Dark", &draw::Written::text);
    ASSERT_NE(button, texts.end());
    platform::Input input;
    input.mouse_x = (button->min.x + button->max.x) / 2, input.mouse_y = (button->min.y + button->max.y) / 2;
    window.frames(state, input, 2, false);
    input.mouse_down[0] = true;
    window.frames(state, input, 2, false);
    ASSERT_EQ(state.session.theme, draw::Theme::Dark);
    const auto [low, high] = window.panels().front().rect;
    const session::PanelAt at{window.panels().front().name, (low.x + high.x) / 2 / 1280,
                              (low.y + high.y) / 2 / 720};
    const std::function<void()> pictures[] = {
        [&] { EXPECT_TRUE(window.svg_of_panel(state, at)); },
        [&] { EXPECT_FALSE(window.svg(state, false).empty()); },
        [&] {
            EXPECT_TRUE(app::panel_image(state, {1280, 720, 1}, at));
        },
    };
    for (const auto& make : pictures) {
        make();
        EXPECT_TRUE(ImGui::GetIO().MouseDown[0]);
        window.frames(state, input, 2, false);
        EXPECT_EQ(state.session.theme, draw::Theme::Dark);
    }
    input.mouse_down[0] = false;
    window.frames(state, input, 2, false);
    EXPECT_EQ(state.session.theme, draw::Theme::Dark);
}

// What an open question hides is hidden on the picture of a panel, too: here the answer's screen is one card.
TEST(PanelPicture, HidesWhatAQuestionHides) {
    SKIP_WITHOUT_OPENGL();
    app::State state = state_of_svg(draw::Theme::Light);
    lessons::ask_me(state.lessons, state.session);
    app::update(state, true);
    ASSERT_TRUE(state.session.question.open) << state.session.message;
    state.session.screen = "compare";
    app::Drawn window(1280, 720);
    window.frames(state);
    ASSERT_TRUE(state.session.question.hides_any());
    for (const draw::Panel& panel : window.panels()) EXPECT_STREQ(panel.name, "hidden_panel");
    const auto shown = app::panel_image(state, {1280, 720, 1}, {"hidden_panel", 0.5f, 0.6f});
    ASSERT_TRUE(shown) << shown.error().message;
    const auto asked = app::panel_image(state, {1280, 720, 1}, {"counters_panel", 0.5f, 0.6f});
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->rgba, shown->rgba) << "whatever was asked for, it is what lies there";
}

// The right button opens the menu on the panel under it, and a click on a row asks for that picture.
TEST(PanelMenu, OpensByTheRightButton) {
    SKIP_WITHOUT_OPENGL();
    app::Drawn window(1280, 720);
    app::State state = state_of_svg(draw::Theme::Light);
    const auto mouse = [&](float x, float y, int button) {  // 0 left, 1 right
        platform::Input input;
        input.mouse_x = x, input.mouse_y = y;
        window.frames(state, input, 2, false);
        input.mouse_down[button] = true;
        window.frames(state, input, 1, false);
        input.mouse_down[button] = false;
        window.frames(state, input, 2, false);
    };
    mouse(1150, 300, 1);
    ASSERT_TRUE(state.input.panel.open);
    EXPECT_EQ(state.input.panel.pointed->name, "request_panel");
    const auto texts = window.seen().texts;
    const auto row = std::ranges::find(texts, "Save as SVG", &draw::Written::text);
    ASSERT_NE(row, texts.end());
    EXPECT_FALSE(row->cut);
    EXPECT_LE(row->max.x, 1280);
    mouse((row->min.x + row->max.x) / 2, (row->min.y + row->max.y) / 2, 0);
    EXPECT_FALSE(state.input.panel.open);
    ASSERT_EQ(state.pictures.size(), 1u);
    EXPECT_EQ(state.pictures[0].path, ".svg");
    EXPECT_EQ(state.pictures[0].panel->name, "request_panel");
    mouse(1150, 300, 1);
    ASSERT_TRUE(state.input.panel.open);
    mouse(200, 300, 0);  // beside it
    EXPECT_FALSE(state.input.panel.open);
    EXPECT_EQ(state.session.pin.kind, look::Pick::Kind::None) << "that click closes the menu alone";
    // Dragged, the right button moves the arrays and opens nothing.
    platform::Input input;
    input.mouse_x = 600, input.mouse_y = 400;
    window.frames(state, input, 1, false);
    input.mouse_down[1] = true;
    for (int i = 0; i < 6; ++i) {
        window.frames(state, input, 1, false);
        input.mouse_x += 10;
    }
    input.mouse_down[1] = false;
    window.frames(state, input, 2, false);
    EXPECT_FALSE(state.input.panel.open);
    mouse(640, 10, 1);  // the bar is no panel
    EXPECT_FALSE(state.input.panel.open);
}

TEST(Svg, IsTheSameEveryTime) {
    SKIP_WITHOUT_OPENGL();
    app::RenderOptions options;
    options.width = 1280, options.height = 720;
    EXPECT_EQ(*app::render_svg(state_of_svg(draw::Theme::Dark), options),
              *app::render_svg(state_of_svg(draw::Theme::Dark), options));
}

// OpenGL takes a pixel's centre or all of ImGui's fringe, an SVG renderer the share of it that is covered; so
// edges differ, and outlines of letters are not the atlas's hinted bitmaps to the pixel. Anything left out or
// in another colour is beyond this: the whole of the type is 3 % of the pixels, a grid more.
constexpr double kMeanShift = 2.5, kBeyondShare = 0.03;

class SvgDrawn : public testing::TestWithParam<draw::Theme> {};

TEST_P(SvgDrawn, IsThePictureThatOpenGlMakes) {
    SKIP_WITHOUT_OPENGL();
    if (std::system("rsvg-convert --version > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "rsvg-convert is not installed; it is in the package librsvg2-bin";
    const std::string name = GetParam() == draw::Theme::Light ? "light" : "dark";
    const std::string svg = made(name + ".svg"), drawn = made(name + ".svg.png"), png = made(name + ".png");
    app::RenderOptions options;
    options.path = png;
    ASSERT_TRUE(app::render_png(state_of_svg(GetParam()), options));
    const auto text = app::render_svg(state_of_svg(GetParam()), options);
    ASSERT_TRUE(text);
    std::ofstream(svg, std::ios::binary) << *text;
    ASSERT_EQ(std::system(("rsvg-convert -o '" + drawn + "' '" + svg + "'").c_str()), 0);
    const auto a = test::read_png(png), b = test::read_png(drawn);
    ASSERT_TRUE(a && b);
    ASSERT_EQ(a->width, b->width);
    ASSERT_EQ(a->height, b->height);
    const test::Difference d = test::difference(*a, *b);
    EXPECT_LT(d.mean, kMeanShift) << drawn;
    EXPECT_LT(d.beyond, kBeyondShare) << drawn;
}
INSTANTIATE_TEST_SUITE_P(Themes, SvgDrawn, testing::Values(draw::Theme::Light, draw::Theme::Dark),
                         [](const auto& of) { return of.param == draw::Theme::Light ? "light" : "dark"; });

// Shapes, type and grids of every kind, without a screen around them. Measured: 0.37 of 255 on average, and
// 0.18 % of the pixels beyond test::kPixelLimit.
TEST(SvgShapes, AreWhatOpenGlDraws) {
    SKIP_WITHOUT_OPENGL();
    if (std::system("rsvg-convert --version > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "rsvg-convert is not installed; it is in the package librsvg2-bin";
    test::Canvas canvas(640, 400);
    const draw::Palette& palette = draw::palette(draw::Theme::Light);
    using draw::Ink;
    std::vector<draw::Cell> cells(16 * 16, draw::cell(Ink::Cell));
    for (size_t i = 0; i < 16; ++i) {
        cells[5 * 16 + i] = draw::cell(Ink::Inactive, 255, draw::CellPattern::Hatch);
        cells[9 * 16 + i] = draw::cell(Ink::SharedStore, 200, draw::CellPattern::Dots);
        cells[i * 16 + 3] = draw::cell(Ink::GlobalLoad, 128);
    }
    cells[200] = draw::cell(Ink::Fault, 255, draw::CellPattern::Cross);
    std::vector<draw::GridMark> marks(2);
    marks[0] = {2, 2, 4, 4, 0, palette[Ink::Selected], 2, false, draw::CellPattern::None};
    marks[1] = {8,
                8,
                6,
                6,
                draw::with_alpha(palette[Ink::Product], 0.3f),
                palette[Ink::Product],
                2,
                true,
                draw::CellPattern::None};
    const auto paint = [&](ImDrawList& list) {
        const auto font = [&](draw::Face face, draw::Size size) { return canvas.fonts().of(face, size); };
        draw::draw_text(list, font(draw::Face::Text, draw::Size::Display), {20, 10}, palette[Ink::Text],
                        "Warp 0 loads row 0: 32 lanes");
        draw::draw_text(list, font(draw::Face::Mono, draw::Size::Body), {20, 50}, palette[Ink::Accent],
                        "Pvalue += Mds[ty][k] * Nds[k][tx];");
        list.AddRectFilled({20, 110}, {120, 150}, palette[Ink::GlobalLoad], 6);
        list.AddRect({130, 110}, {220, 150}, palette[Ink::GlobalStore], 4, 0, 2);
        list.AddCircleFilled({260, 130}, 18, palette[Ink::SharedLoad]);
        list.AddLine({300, 150}, {320, 110}, palette[Ink::Barrier], 1);
        list.PushClipRect({400, 110}, {450, 150}, true);
        list.AddCircleFilled({450, 150}, 40, palette[Ink::Fault]);
        list.PopClipRect();
        if (canvas.grids().stale(1, 1)) canvas.grids().set_cells(1, 1, 16, 16, cells);
        canvas.grids().draw(list, 1, {20.3f, 170.7f, 13.4f, {20, 170}, {230, 380}}, palette, 1, marks);
        canvas.grids().draw(list, 1, {300, 170, 24, {300, 170}, {600, 390}}, palette, 1, {});
    };
    const platform::Image drawn = canvas.frame(palette, paint);
    ImGuiStyle& style = ImGui::GetStyle();
    style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = false;
    canvas.frame(palette, paint);
    const std::string text = draw::svg_of(*ImGui::GetDrawData(), palette[Ink::Ground], "shapes <&>");
    expect_well_formed(text);
    const std::string svg = made("shapes.svg"), png = made("shapes.svg.png");
    std::ofstream(svg, std::ios::binary) << text;
    ASSERT_EQ(std::system(("rsvg-convert -o '" + png + "' '" + svg + "'").c_str()), 0);
    const auto again = test::read_png(png);
    ASSERT_TRUE(again);
    const test::Difference d = test::difference(drawn, *again);
    EXPECT_LT(d.mean, 0.5) << png;
    EXPECT_LT(d.beyond, 0.003) << png;
}

TEST(SvgText, NumbersAndPaint) {
    EXPECT_EQ(draw::svg_number(12.345), "12.35");
    EXPECT_EQ(draw::svg_number(3), "3");
    EXPECT_EQ(draw::svg_number(-0.001), "0");
    EXPECT_EQ(draw::svg_paint("fill", draw::rgb(0x112233)), "fill=\"#112233\"");
    EXPECT_EQ(draw::svg_paint("stroke", 0x80332211), "stroke=\"#112233\" stroke-opacity=\"0.502\"");
}

TEST(SvgText, NeighboursOfOneColourAreOnePath) {
    draw::SvgText svg;
    const ImVec2 square[] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
    const ImVec2 backwards[] = {{10, 0}, {10, 5}, {15, 0}};
    svg.polygon(square, draw::rgb(0xFF0000));
    svg.polygon(backwards, draw::rgb(0xFF0000));
    svg.polygon(square, draw::with_alpha(0, 0));  // nothing to see
    const std::string text = svg.document(20, 10, draw::rgb(0xFFFFFF), "a < b & c");
    EXPECT_NE(text.find("<path fill=\"#ff0000\" d=\"M0 0h4v4h-4zM15 0 10 5 10 0z\"/>"), std::string::npos)
        << text;
    EXPECT_NE(text.find("<title>a &lt; b &amp; c</title>"), std::string::npos);
    expect_well_formed(text);
}

// One hot cell among a thousand by a thousand: too many runs for rectangles, and it is still there.
TEST(SvgGrid, ManyCellsAreAnEmbeddedPicture) {
    draw::CellLevel cells{1000, 1000, {}};
    for (uint32_t i = 0; i < 1'000'000; ++i)
        cells.cells.push_back(draw::cell(draw::Ink::Heat, static_cast<uint8_t>(i % 251)));
    draw::DrawnGrid grid;
    grid.view = {0, 0, 1, {0, 0}, {1000, 1000}};
    grid.palette = &draw::palette(draw::Theme::Light);
    grid.cells = &cells;
    draw::SvgText svg;
    draw::svg_grid(svg, grid, {0, 0, 1000, 1000});
    const std::string text = svg.document(1000, 1000, 0, "");
    EXPECT_NE(text.find("<image x=\"0\" y=\"0\" width=\"1000\""), std::string::npos);
    expect_well_formed(text);
    EXPECT_LT(text.size(), 3u << 20);
}

TEST(SvgGrid, EqualCellsAreOneRectangle) {
    draw::CellLevel cells{4, 4, std::vector<draw::Cell>(16, draw::cell(draw::Ink::Cell))};
    cells.cells[5] = draw::cell(draw::Ink::Fault);
    draw::DrawnGrid grid;
    grid.view = {10, 20, 2, {0, 0}, {100, 100}};
    grid.palette = &draw::palette(draw::Theme::Light);
    grid.cells = &cells;
    draw::SvgText svg;
    draw::svg_grid(svg, grid, {0, 0, 100, 100});
    const std::string text = svg.document(100, 100, 0, "");
    EXPECT_NE(text.find("M12 22h2v2h-2z"), std::string::npos) << "the fault's cell alone: " << text;
    EXPECT_NE(text.find("M10 20h8v2h-8z"), std::string::npos) << "the first row in one: " << text;
    draw::SvgText beside;
    draw::svg_grid(beside, grid, {100, 0, 200, 100});
    EXPECT_EQ(beside.document(100, 100, 0, ""), draw::SvgText().document(100, 100, 0, ""))
        << "a picture of what lies beside it has none of it";
}

}  // namespace
}  // namespace tilescope
