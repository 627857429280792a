// Draws grids inside ImGui's draw lists: draw() leaves a callback in the list, which runs in its turn
// when the list is rendered and then asks ImGui's renderer to set its own state again.
#include "app/draw/grid_renderer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <deque>

#include "app/draw/gl_program.h"
#include "app/draw/grid_store.h"
#include "app/platform/gl.h"

namespace tilescope::draw {

namespace {

// As the vertex shader of the marks reads it.
struct Instance {
    float rect[4];  // col, row, cols, rows
    Rgba fill, edge;
    float style[3];  // edge pixels, dashed, pattern
};

struct Item {  // one draw(), until the next frame
    GridRenderer::State* state = nullptr;
    uint64_t id = 0;
    GridView view;
    const Palette* palette = nullptr;
    float scale = 1;
    std::vector<Instance> marks;
};

std::array<float, 4> floats(Rgba c) {
    std::array<float, 4> out;
    for (size_t i = 0; i < 4; ++i) out[i] = static_cast<float>(c >> (8 * i) & 0xFF) / 255.f;
    return out;
}

}  // namespace

struct GridRenderer::State {
    GLuint cells = 0, marks = 0;             // programs
    GLuint no_vertices = 0, mark_array = 0;  // vertex arrays
    GLuint mark_buffer = 0;
    GridStore store;
    std::deque<Item> items;  // a deque: callbacks keep pointers to its elements

    ~State() {
        glDeleteProgram(cells);
        glDeleteProgram(marks);
        glDeleteVertexArrays(1, &no_vertices);
        glDeleteVertexArrays(1, &mark_array);
        glDeleteBuffers(1, &mark_buffer);
    }

    void set_common(GLuint program, const float (&canvas)[2]) const {
        glUseProgram(program);
        glUniform2f(glGetUniformLocation(program, "u_canvas"), canvas[0], canvas[1]);
        glUniform2f(glGetUniformLocation(program, "u_origin"), 0, 0);
    }

    void draw_cells(const Item& item, const float (&canvas)[2]) {
        const GridStore::Level level = store.level(item.id, item.view.pitch);
        if (!level.texture) return;
        const float pitch = std::ldexp(item.view.pitch, static_cast<int>(level.level));
        auto at = [&](const char* name) { return glGetUniformLocation(cells, name); };
        set_common(cells, canvas);
        const float right = item.view.x + pitch * static_cast<float>(level.cols),
                    bottom = item.view.y + pitch * static_cast<float>(level.rows);
        glUniform4f(at("u_rect"), std::floor(std::max(item.view.clip_min.x, item.view.x)),
                    std::floor(std::max(item.view.clip_min.y, item.view.y)),
                    std::ceil(std::min(item.view.clip_max.x, right)),
                    std::ceil(std::min(item.view.clip_max.y, bottom)));
        glUniform2f(at("u_corner"), item.view.x, item.view.y);
        glUniform1f(at("u_pitch"), pitch);
        glUniform2i(at("u_size"), static_cast<GLint>(level.cols), static_cast<GLint>(level.rows));
        std::array<std::array<float, 4>, 32> ink{};
        for (size_t i = 0; i < item.palette->ink.size(); ++i) ink[i] = floats(item.palette->ink[i]);
        std::array<std::array<float, 4>, 256> heat;
        for (size_t i = 0; i < heat.size(); ++i) heat[i] = floats(item.palette->heat[i]);
        glUniform4fv(at("u_ink"), 32, ink[0].data());
        glUniform4fv(at("u_heat"), 256, heat[0].data());
        // Lines fade in between 4 and 8 pixels a cell.
        std::array<float, 4> line = floats((*item.palette)[Ink::Panel]);
        line[3] = level.level > 0 ? 0.f : std::clamp((item.view.pitch / item.scale - 4.f) / 4.f, 0.f, 1.f);
        glUniform4fv(at("u_line"), 1, line.data());
        glUniform1i(at("u_cells"), 0);
        glUniform1i(at("u_cell_ink"), static_cast<GLint>(Ink::Cell));
        glUniform1i(at("u_heat_ink"), static_cast<GLint>(Ink::Heat));
        glUniform1f(at("u_scale"), item.scale);
        glActiveTexture(GL_TEXTURE0);
        glBindTexture(GL_TEXTURE_2D, level.texture);
        glBindVertexArray(no_vertices);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }

    void draw_marks(const Item& item, const float (&canvas)[2]) {
        if (item.marks.empty()) return;
        set_common(marks, canvas);
        glUniform2f(glGetUniformLocation(marks, "u_corner"), item.view.x, item.view.y);
        glUniform1f(glGetUniformLocation(marks, "u_pitch"), item.view.pitch);
        glUniform1f(glGetUniformLocation(marks, "u_scale"), item.scale);
        glBindVertexArray(mark_array);
        glBindBuffer(GL_ARRAY_BUFFER, mark_buffer);
        glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(item.marks.size() * sizeof(Instance)),
                     item.marks.data(), GL_STREAM_DRAW);
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<GLsizei>(item.marks.size()));
    }

    static void callback(const ImDrawList*, const ImDrawCmd* command) {
        const Item& item = *static_cast<const Item*>(command->UserCallbackData);
        GLint viewport[4];
        glGetIntegerv(GL_VIEWPORT, viewport);
        const int height = viewport[3];
        auto whole = [](float v) { return static_cast<int>(std::round(v)); };
        const int x0 = whole(std::max(command->ClipRect.x, item.view.clip_min.x)),
                  y0 = whole(std::max(command->ClipRect.y, item.view.clip_min.y)),
                  x1 = whole(std::min(command->ClipRect.z, item.view.clip_max.x)),
                  y1 = whole(std::min(command->ClipRect.w, item.view.clip_max.y));
        if (x0 >= x1 || y0 >= y1) return;
        glEnable(GL_SCISSOR_TEST);
        glScissor(x0, height - y1, x1 - x0, y1 - y0);
        const float canvas[2] = {static_cast<float>(viewport[2]), static_cast<float>(viewport[3])};
        glBindSampler(0, 0);
        item.state->draw_cells(item, canvas);
        item.state->draw_marks(item, canvas);
    }
};

Result<std::unique_ptr<GridRenderer>> GridRenderer::create() {
    auto state = std::make_unique<State>();
    for (auto [name, program] : {std::pair{"cells", &state->cells}, std::pair{"marks", &state->marks}}) {
        auto linked = link_program(name);
        if (!linked) return linked.error();
        *program = *linked;
    }
    glGenVertexArrays(1, &state->no_vertices);
    glGenVertexArrays(1, &state->mark_array);
    glGenBuffers(1, &state->mark_buffer);
    glBindVertexArray(state->mark_array);
    glBindBuffer(GL_ARRAY_BUFFER, state->mark_buffer);
    auto attribute = [](GLuint index, GLint count, GLenum type, size_t offset) {
        glEnableVertexAttribArray(index);
        glVertexAttribPointer(index, count, type, type == GL_UNSIGNED_BYTE, sizeof(Instance),
                              reinterpret_cast<const void*>(offset));
        glVertexAttribDivisor(index, 1);
    };
    attribute(0, 4, GL_FLOAT, offsetof(Instance, rect));
    attribute(1, 4, GL_UNSIGNED_BYTE, offsetof(Instance, fill));
    attribute(2, 4, GL_UNSIGNED_BYTE, offsetof(Instance, edge));
    attribute(3, 3, GL_FLOAT, offsetof(Instance, style));
    glBindVertexArray(0);
    return std::unique_ptr<GridRenderer>(new GridRenderer(std::move(state)));
}

GridRenderer::GridRenderer(std::unique_ptr<State> state) : state_(std::move(state)) {}
GridRenderer::~GridRenderer() = default;

bool GridRenderer::stale(uint64_t id, uint64_t version) const { return state_->store.stale(id, version); }
void GridRenderer::set_cells(uint64_t id, uint64_t version, uint32_t rows, uint32_t cols,
                             std::span<const Cell> cells) {
    state_->store.set(id, version, rows, cols, cells);
}
void GridRenderer::set_part(uint64_t id, uint64_t version, uint32_t row, uint32_t col, uint32_t rows,
                            uint32_t cols, std::span<const Cell> cells) {
    state_->store.set_part(id, version, row, col, rows, cols, cells);
}
void GridRenderer::forget(uint64_t id) { state_->store.forget(id); }
void GridRenderer::begin_frame() {
    state_->items.clear();
    state_->store.begin_frame();
}

void GridRenderer::draw(ImDrawList& list, uint64_t id, const GridView& view, const Palette& palette,
                        float scale, std::span<const GridMark> marks) {
    Item& item = state_->items.emplace_back(Item{state_.get(), id, view, &palette, scale, {}});
    item.marks.reserve(marks.size());
    for (const GridMark& m : marks)
        item.marks.push_back(
            {{m.col, m.row, m.cols, m.rows},
             m.fill,
             m.edge,
             {std::max(1.f, std::round(m.edge_px)), m.dashed ? 1.f : 0.f, static_cast<float>(m.pattern)}});
    list.AddCallback(&State::callback, &item);
    list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

std::optional<DrawnGrid> GridRenderer::drawn(const ImDrawCmd& command) {
    if (command.UserCallback != &State::callback) return std::nullopt;
    const Item& item = *static_cast<const Item*>(command.UserCallbackData);
    DrawnGrid grid;
    grid.view = item.view;
    grid.view.clip_min = {std::max(command.ClipRect.x, item.view.clip_min.x),
                          std::max(command.ClipRect.y, item.view.clip_min.y)};
    grid.view.clip_max = {std::min(command.ClipRect.z, item.view.clip_max.x),
                          std::min(command.ClipRect.w, item.view.clip_max.y)};
    grid.palette = item.palette;
    grid.scale = item.scale;
    grid.cells = state_->store.cells(item.id, item.view.pitch, grid.level);
    for (const Instance& i : item.marks)
        grid.marks.push_back({i.rect[1], i.rect[0], i.rect[3], i.rect[2], i.fill, i.edge, i.style[0],
                              i.style[1] > 0, static_cast<Pattern>(static_cast<int>(i.style[2]))});
    return grid;
}

CellAt cell_at(const GridView& view, ImVec2 point) {
    return {static_cast<int64_t>(std::floor((point.y - view.y) / view.pitch)),
            static_cast<int64_t>(std::floor((point.x - view.x) / view.pitch))};
}

ImVec2 corner_of(const GridView& view, double row, double col) {
    return {static_cast<float>(view.x + col * view.pitch), static_cast<float>(view.y + row * view.pitch)};
}

}  // namespace tilescope::draw
