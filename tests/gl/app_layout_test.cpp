// The Step screen keeps its subject: at every size, in a lecture and below a question, the tiles of M, N and P
// and those in shared memory are in sight whole, their frames closed, with numbers at their edges; and no text is
// cut or lies on another.
#include <map>

#include "app/step/model.h"
#include "tests/gl/compare_drawn.h"
#include "tests/gl/flaws.h"
#include "tests/launch_examples.h"

namespace tilescope::app {
namespace {

struct Size2 {
    int width, height;
    float scale = 1;  // pixels of the framebuffer per logical pixel
};
constexpr Size2 kSizes[] = {{1280, 720}, {1600, 1000}, {1920, 1080},   {2560, 1440}, {960, 1080}, {800, 1200},
                            {1024, 768}, {1366, 768},  {780, 1688, 2}, {844, 390},   {700, 500}};

State at_step(trace::Trace trace, uint32_t step) {
    State state = alone(std::move(trace));
    state.session.screen = "step";
    state.session.cursor.step = step;
    update(state, true);
    return state;
}

// The rows and columns that a grid shows wholly, with room for a frame of two pixels around them.
bool shows(const draw::GridView& grid, const draw::CellRect& cells, float frame) {
    const ImVec2 a = draw::corner_of(grid, cells.row0, cells.col0),
                 b = draw::corner_of(grid, cells.row1, cells.col1);
    return a.x - frame >= grid.clip_min.x - 0.5f && a.y - frame >= grid.clip_min.y - 0.5f &&
           b.x + frame <= grid.clip_max.x + 0.5f && b.y + frame <= grid.clip_max.y + 0.5f;
}

// Numbers stand left of the cells, and above them.
size_t numbers_beside(const draw::Inspection& seen, const draw::GridView& grid, bool rows) {
    const float left = std::max(grid.x, grid.clip_min.x), top = std::max(grid.y, grid.clip_min.y);
    size_t count = 0;
    for (const draw::Written& text : seen.texts) {
        if (text.text.empty() || !std::ranges::all_of(text.text, [](char c) { return c >= '0' && c <= '9'; }))
            continue;
        const float x = (text.min.x + text.max.x) / 2, y = (text.min.y + text.max.y) / 2;
        count += rows ? text.max.x <= left && text.max.x > left - 40 && y > top && y < grid.clip_max.y
                      : text.max.y <= top + 4 && text.min.y > top - 40 && x > left && x < grid.clip_max.x;
    }
    return count;
}

void expect_subject(const draw::Inspection& seen, const State& state) {
    const session::Session& session = state.session;
    const look::BlockIndex& index = *session.block;
    if (!index.product) return;
    const auto& arrays = session.trace().launch.arrays;
    std::map<uint8_t, std::vector<draw::GridView>> grids;
    for (const auto& [array, grid] : seen.grids) grids[array].push_back(grid);
    const uint32_t phase = index.phase_at(session.cursor.step);
    for (const uint8_t array : {index.product->M, index.product->N, index.product->P}) {
        const draw::CellRect tile = look::tile_of_phase(session.trace(), index, array, phase);
        ASSERT_FALSE(grids[array].empty()) << arrays[array].name;
        if (tile.empty()) continue;  // behind the last phase
        const draw::GridView& grid = grids[array].front();
        const float end = grid.x + static_cast<float>(draw::Sheet(arrays[array]).cols) * grid.pitch;
        const float wide = std::min(end, grid.clip_max.x) - std::max(grid.x, grid.clip_min.x);
        const size_t least = wide < 100 || wide < 8 * grid.pitch ? 1 : 2;  // every fourth column has one
        EXPECT_TRUE(shows(grid, tile, 1)) << arrays[array].name << " at a pitch of " << grid.pitch;
        if (grid.pitch < 2) continue;  // a tile of hundreds of rows
        if (array != index.product->P)
            EXPECT_GE(numbers_beside(seen, grid, false), least) << arrays[array].name;
        EXPECT_GE(numbers_beside(seen, grid, true), 1u) << arrays[array].name;
    }
    for (const uint8_t array : index.shared) {
        if (!session.shows(session::Panel::Tiles)) break;  // still to come
        const draw::Sheet sheet(arrays[array]);
        // All rows, in one pane or in several that follow each other.
        std::set<uint32_t> rows;
        for (const draw::GridView& grid : grids[array])
            for (uint32_t row = 0; row < sheet.rows; ++row)
                if (shows(grid, {row, row + 1, 0, sheet.cols}, 0)) rows.insert(row);
        EXPECT_EQ(rows.size(), sheet.rows) << arrays[array].name;
    }
}

std::vector<std::pair<const char*, State>> subjects() {
    std::vector<std::pair<const char*, State>> all;
    all.emplace_back("untiled", at_step(kernels::recorded("untiled", {64, 64, 64, 16}), 70));
    all.emplace_back("tiled", at_step(kernels::recorded("tiled", {64, 64, 64, 16}), 70));
    all.emplace_back("tiled 32", at_step(kernels::recorded("tiled", {64, 64, 64, 32}), 300));
    all.emplace_back("register_tile", at_step(kernels::recorded("register_tile", {64, 64, 64, 0}), 800));
    all.emplace_back("double_buffer", at_step(kernels::recorded("double_buffer", {64, 64, 64, 0}), 800));
    all.emplace_back("vector_add", at_step(kernels::recorded(kernels::vector_add()), 4));
    all.emplace_back("stencil", at_step(kernels::recorded(kernels::stencil()), 9));
    all.emplace_back("histogram", at_step(kernels::recorded(kernels::histogram()), 20));
    return all;
}

TEST(StepLayout, KeepsItsSubject) {
    SKIP_WITHOUT_OPENGL();
    for (auto& [name, state] : subjects())
        for (const Size2& size : kSizes)
            for (const bool lecture : {false, true}) {
                if (lecture && static_cast<float>(size.width) / size.scale < 1024)
                    continue;  // which render refuses
                Drawn drawn(size.width, size.height, size.scale);
                SCOPED_TRACE(
                    fmt::format("{} at {}x{}{}", name, size.width, size.height, lecture ? ", lecture" : ""));
                state.session.lecture = lecture;
                drawn.frames(state);
                expect_subject(drawn.seen(), state);
                for (const std::string& flaw : flaws(drawn.seen(), size.width, size.height))
                    ADD_FAILURE() << flaw;
                expect_whole(drawn.seen(), state);
            }
}

// A lesson's question and its stops in a lecture, at a projector's size.
TEST(StepLayout, KeepsItsSubjectBelowALesson) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    size_t questions = 0;
    for (size_t number = 0; number < lessons::lesson_list().size(); ++number)
        for (size_t stop = 0; stop < lessons::lesson_list()[number].stops.size(); ++stop) {
            State state;
            state.session.assets.timings = Assets::of(kNoTimes);
            go_to_stop(state.lessons, state.session, number, stop);
            update(state, true);
            update(state, true);
            if (std::string_view(state.session.screen) != "step" || !state.session.block) continue;
            state.session.lecture = true;
            SCOPED_TRACE(fmt::format("{}, stop {}", lessons::lesson_list()[number].name, stop + 1));
            drawn.frames(state);
            questions += state.session.question.open;
            if (!state.session.question.hides(session::Hide::Shape)) expect_subject(drawn.seen(), state);
        }
    EXPECT_GT(questions, 10u);
}

// What a lecture keeps is larger than on a desk, and the current line of the source stays.
TEST(StepLayout, ALectureIsLargerAndHasTheLine) {
    SKIP_WITHOUT_OPENGL();
    for (const Size2& size : {Size2{1280, 720}, Size2{1920, 1080}}) {
        State state = at_step(kernels::recorded("tiled", {64, 64, 64, 16}), 70);
        Drawn drawn(size.width, size.height);
        float pitch[2] = {};
        for (const bool lecture : {false, true}) {
            state.session.lecture = lecture;
            EXPECT_TRUE(says(drawn.words(state), "Nds[i][tx]"));
            pitch[lecture] = drawn.seen().grids.empty() ? 0 : drawn.seen().grids.back().second.pitch;
            for (const auto& [array, grid] : drawn.seen().grids)
                if (array == state.session.block->product->P && grid.pitch > 4) pitch[lecture] = grid.pitch;
        }
        EXPECT_GT(pitch[1], pitch[0]);
    }
}

// As far from the first button's words as these are from the next one's.
TEST(TopBar, TabsKeepOffTheButtons) {
    SKIP_WITHOUT_OPENGL();
    for (const int width : {800, 820, 900, 960, 1024, 1100, 1280})
        for (const bool lecture : {false, true}) {
            State state = at_step(kernels::recorded("tiled", {64, 64, 64, 16}), 69);
            state.session.lecture = lecture;
            Drawn drawn(width, 800);
            drawn.frames(state);
            const auto find = [&](std::string_view text) {
                const auto found = std::ranges::find_if(drawn.seen().texts, [&](const draw::Written& one) {
                    return one.text == text && one.min.y < 60;
                });
                EXPECT_NE(found, drawn.seen().texts.end()) << text;
                return found;
            };
            const auto tab = find("Lessons"), record = find("Record\u2026"), theme = find("Dark");
            EXPECT_GE(record->min.x - tab->max.x, theme->min.x - record->max.x)
                << width << (lecture ? " in a lecture" : "");
        }
}

// A fault's sentence is said to its end.
TEST(StepLayout, AFaultIsReadWhole) {
    SKIP_WITHOUT_OPENGL();
    State state;
    const auto& ships = kernels::shipped_recordings();
    const auto found =
        std::ranges::find_if(ships, [](const auto& one) { return one.name == "barrier_condition"; });
    ASSERT_NE(found, ships.end());
    session::open_shipped(state.session, "barrier_condition");
    update(state, true);
    state.session.cursor.step = state.session.block->steps - 1;
    update(state, true);
    for (const bool lecture : {false, true})
        for (const Size2& size : {Size2{1280, 720}, Size2{1024, 768}}) {
            state.session.lecture = lecture;
            Drawn drawn(size.width, size.height);
            drawn.frames(state);
            expect_whole(drawn.seen(), state);
            for (const std::string& flaw : flaws(drawn.seen(), size.width, size.height))
                ADD_FAILURE() << flaw;
        }
}

}  // namespace
}  // namespace tilescope::app
