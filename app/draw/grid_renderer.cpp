// Grids inside ImGui's draw lists: their cells, pyramids in memory of which the levels that were drawn are
// textures, and the callback that draw() leaves in a list. It runs in its turn when the list is rendered, and
// then asks ImGui's renderer to set its own state again.
#include "app/draw/grid_renderer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <deque>
#include <unordered_map>

#include "app/draw/program.h"
#include "app/platform/gl.h"

namespace tilescope::draw {

namespace {

// A new one, bound, whose texels are fetched as they are.
GLuint nearest_texture() {
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    return texture;
}

GLuint texture_of(const CellLevel& level) {
    const GLuint texture = nearest_texture();
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R16UI, static_cast<GLsizei>(level.cols),
                 static_cast<GLsizei>(level.rows), 0, GL_RED_INTEGER, GL_UNSIGNED_SHORT, nullptr);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
    constexpr uint32_t kBandTexels = 2u << 20;  // 4 MB at a time, so that a driver needs no second copy
    const uint32_t band = std::max(1u, kBandTexels / std::max(1u, level.cols));
    for (uint32_t r = 0; r < level.rows; r += band)
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, static_cast<GLint>(r), static_cast<GLsizei>(level.cols),
                        static_cast<GLsizei>(std::min(band, level.rows - r)), GL_RED_INTEGER,
                        GL_UNSIGNED_SHORT, level.cells.data() + size_t{r} * level.cols);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    return texture;
}

struct Grid {
    struct UploadedLevel {
        CellLevel cells;
        GLuint texture = 0;  // made when first drawn
    };
    uint64_t version = 0;
    uint64_t drawn = 0;                 // frame
    std::vector<UploadedLevel> levels;  // [0] the cells; the rest as far as was drawn

    Grid() = default;
    Grid(const Grid&) = delete;
    Grid& operator=(const Grid&) = delete;
    ~Grid() { clear(); }
    void clear() {
        for (const UploadedLevel& level : levels) glDeleteTextures(1, &level.texture);  // skips 0
        levels.clear();
    }

    // The first level that has at least a pixel a cell and fits a texture, and those below it, are made.
    uint32_t reach(float pitch, uint32_t max_size) {
        for (uint32_t want = level_for(pitch), i = 0;; ++i) {
            const CellLevel& l = levels[i].cells;
            if ((i >= want && std::max(l.rows, l.cols) <= max_size) || (l.rows == 1 && l.cols == 1)) return i;
            if (i + 1 == levels.size()) levels.push_back({reduced(l)});
        }
    }
};

}  // namespace

struct GridRenderer::State {
    struct Item : DrawnGrid {  // one draw(), until the next frame
        State* state = nullptr;
        uint64_t id = 0;
    };
    static constexpr size_t kMost = 24;      // grids that are kept though they are not drawn
    GLuint cells = 0, marks = 0;             // programs
    GLuint no_vertices = 0, mark_array = 0;  // vertex arrays
    GLuint mark_buffer = 0;
    GLuint colors = 0;  // a texture: inks in its first row, heat in its second
    std::array<std::array<Rgba, 256>, 2> uploaded{};
    uint64_t frame = 0;
    uint32_t max_size = 1024;  // of a texture
    std::unordered_map<uint64_t, Grid> grids;
    std::deque<Item> items;  // a deque: callbacks keep pointers to its elements

    ~State() {
        glDeleteProgram(cells);
        glDeleteProgram(marks);
        glDeleteVertexArrays(1, &no_vertices);
        glDeleteVertexArrays(1, &mark_array);
        glDeleteBuffers(1, &mark_buffer);
        glDeleteTextures(1, &colors);
    }

    // What a command draws: cut to its clip rectangle, on whole pixels, with the level of the pyramid that is
    // seen. Null where nothing is left of it.
    static Item* in_sight(const ImDrawCmd& command) {
        Item& item = *static_cast<Item*>(command.UserCallbackData);
        ImVec2 &low = item.view.clip_min, &high = item.view.clip_max;
        const ImVec4& clip = command.ClipRect;
        low = {std::round(std::max(clip.x, low.x)), std::round(std::max(clip.y, low.y))};
        high = {std::round(std::min(clip.z, high.x)), std::round(std::min(clip.w, high.y))};
        if (low.x >= high.x || low.y >= high.y) return nullptr;
        const auto found = item.state->grids.find(item.id);
        if (found == item.state->grids.end() || found->second.levels.empty()) return &item;
        Grid& grid = found->second;
        grid.drawn = item.state->frame;
        item.level = grid.reach(item.view.pitch, item.state->max_size);
        item.cells = &grid.levels[item.level].cells;
        return &item;
    }

    // Takes a program and tells it what both need to know. Returns where its other uniforms are.
    static auto use(GLuint program, const ImVec2& canvas, const DrawnGrid& shown, float pitch) {
        const auto at = [program](const char* name) { return glGetUniformLocation(program, name); };
        glUseProgram(program);
        glUniform2f(at("u_canvas"), canvas.x, canvas.y);
        glUniform2f(at("u_corner"), shown.view.x, shown.view.y);
        glUniform1f(at("u_pitch"), pitch);
        glUniform1f(at("u_scale"), shown.scale);
        return at;
    }

    // The texture of colours, which is bound.
    void color_with(const Palette& palette) {
        std::array<std::array<Rgba, 256>, 2> wanted{};
        std::ranges::copy(palette.ink, wanted[0].begin());
        std::ranges::copy(palette.heat, wanted[1].begin());
        if (wanted == uploaded) return;
        uploaded = wanted;
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 256, 2, GL_RGBA, GL_UNSIGNED_BYTE, uploaded.data());
    }

    void draw_cells(const Item& shown, const ImVec2& canvas) {
        if (!shown.cells) return;
        const GridView& view = shown.view;
        const Palette& palette = *shown.palette;
        const CellLevel& level = *shown.cells;
        GLuint& texture = grids.at(shown.id).levels[shown.level].texture;
        if (!texture) texture = texture_of(level);
        const float pitch = std::ldexp(view.pitch, static_cast<int>(shown.level));
        const auto at = use(cells, canvas, shown, pitch);
        const float right = view.x + pitch * static_cast<float>(level.cols),
                    bottom = view.y + pitch * static_cast<float>(level.rows);
        glUniform4f(at("u_rect"), std::floor(std::max(view.clip_min.x, view.x)),
                    std::floor(std::max(view.clip_min.y, view.y)),
                    std::ceil(std::min(view.clip_max.x, right)),
                    std::ceil(std::min(view.clip_max.y, bottom)));
        glUniform2i(at("u_size"), static_cast<GLint>(level.cols), static_cast<GLint>(level.rows));
        glActiveTexture(GL_TEXTURE1);
        glBindTexture(GL_TEXTURE_2D, colors);
        color_with(palette);
        glUniform1i(at("u_colors"), 1);
        ImVec4 line = ImGui::ColorConvertU32ToFloat4(palette[Ink::Panel]);
        line.w = shown.level > 0 ? 0.f : line_strength(view.pitch / shown.scale);
        glUniform4fv(at("u_line"), 1, &line.x);
        glUniform1i(at("u_cells"), 0);
        glUniform1i(at("u_cell_ink"), static_cast<GLint>(Ink::Cell));
        glUniform1i(at("u_heat_ink"), static_cast<GLint>(Ink::Heat));
        glActiveTexture(GL_TEXTURE0);
        glBindTexture(GL_TEXTURE_2D, texture);
        glBindVertexArray(no_vertices);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }

    void draw_marks(const DrawnGrid& shown, const ImVec2& canvas) const {
        if (shown.marks.empty()) return;
        use(marks, canvas, shown, shown.view.pitch);
        glBindVertexArray(mark_array);
        glBindBuffer(GL_ARRAY_BUFFER, mark_buffer);
        glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(shown.marks.size() * sizeof(GridMark)),
                     shown.marks.data(), GL_STREAM_DRAW);
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<GLsizei>(shown.marks.size()));
    }

    static void callback(const ImDrawList*, const ImDrawCmd* command) {
        const Item* const item = in_sight(*command);
        if (!item) return;
        const ImVec2 low = item->view.clip_min, high = item->view.clip_max,
                     canvas = ImGui::GetDrawData()->DisplaySize;  // framebuffer pixels
        glEnable(GL_SCISSOR_TEST);
        glScissor(static_cast<GLint>(low.x), static_cast<GLint>(canvas.y) - static_cast<GLint>(high.y),
                  static_cast<GLint>(high.x - low.x), static_cast<GLint>(high.y - low.y));
        item->state->draw_cells(*item, canvas);
        item->state->draw_marks(*item, canvas);
    }
};

Result<std::unique_ptr<GridRenderer>> GridRenderer::create() {
    auto state = std::make_unique<State>();
    for (auto [name, program] : {std::pair{"cells", &state->cells}, std::pair{"marks", &state->marks}}) {
        auto linked = link_program(name);
        if (!linked) return linked.error();
        *program = *linked;
    }
    state->colors = nearest_texture();
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 256, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, state->uploaded.data());
    GLint size = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
    state->max_size = std::max(static_cast<uint32_t>(size), state->max_size);
    glGenVertexArrays(1, &state->no_vertices);
    glGenVertexArrays(1, &state->mark_array);
    glGenBuffers(1, &state->mark_buffer);
    glBindVertexArray(state->mark_array);
    glBindBuffer(GL_ARRAY_BUFFER, state->mark_buffer);
    GLuint index = 0;
    const auto attribute = [&](GLint count, GLenum type, size_t offset, bool color = false) {
        glEnableVertexAttribArray(index);
        glVertexAttribPointer(index, count, type, color, sizeof(GridMark),
                              reinterpret_cast<const void*>(offset));
        glVertexAttribDivisor(index++, 1);
    };
    attribute(4, GL_FLOAT, offsetof(GridMark, row));
    attribute(4, GL_UNSIGNED_BYTE, offsetof(GridMark, fill), true);
    attribute(4, GL_UNSIGNED_BYTE, offsetof(GridMark, edge), true);
    attribute(1, GL_FLOAT, offsetof(GridMark, edge_px));
    attribute(1, GL_UNSIGNED_BYTE, offsetof(GridMark, dashed));
    attribute(1, GL_UNSIGNED_BYTE, offsetof(GridMark, pattern));
    glBindVertexArray(0);
    return std::unique_ptr<GridRenderer>(new GridRenderer(std::move(state)));
}

GridRenderer::GridRenderer(std::unique_ptr<State> state) : state_(std::move(state)) {}
GridRenderer::~GridRenderer() = default;

bool GridRenderer::stale(uint64_t id, uint64_t version) const {
    const auto found = state_->grids.find(id);
    return found == state_->grids.end() || found->second.version != version;
}

void GridRenderer::set_cells(uint64_t id, uint64_t version, uint32_t rows, uint32_t cols,
                             std::span<const Cell> cells) {
    assert(cells.size() == size_t{rows} * cols);
    Grid& grid = state_->grids[id];
    grid.drawn = state_->frame;
    grid.version = version;
    grid.clear();
    if (!cells.empty()) grid.levels.push_back({{rows, cols, {cells.begin(), cells.end()}}});
}

void GridRenderer::begin_frame() {
    auto& grids = state_->grids;
    state_->items.clear();
    ++state_->frame;
    while (grids.size() > State::kMost) {
        const auto oldest = std::min_element(grids.begin(), grids.end(), [](const auto& a, const auto& b) {
            return a.second.drawn < b.second.drawn;
        });
        if (oldest->second.drawn + 1 >= state_->frame) return;  // all are in use
        grids.erase(oldest);
    }
}

void GridRenderer::draw(ImDrawList& list, uint64_t id, const GridView& view, const Palette& palette,
                        float scale, std::span<const GridMark> marks) {
    State::Item& item = state_->items.emplace_back(
        State::Item{{view, &palette, scale, nullptr, 0, {marks.begin(), marks.end()}}, state_.get(), id});
    for (GridMark& mark : item.marks) mark.edge_px = std::max(1.f, std::round(mark.edge_px));
    list.AddCallback(&State::callback, &item);
    list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

const DrawnGrid* GridRenderer::drawn(const ImDrawCmd& command) {
    return command.UserCallback == &State::callback ? State::in_sight(command) : nullptr;
}

ImVec2 corner_of(const GridView& view, double row, double col) {
    return {static_cast<float>(view.x + col * view.pitch), static_cast<float>(view.y + row * view.pitch)};
}

}  // namespace tilescope::draw
