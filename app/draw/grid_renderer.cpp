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
#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "app/platform/gl.h"

namespace tilescope::draw {

std::string_view embedded_shader(std::string_view path);  // made by cmake/embed.cmake

namespace {

// A shader's text; a line  #include "x.glsl"  stands for shaders/x.glsl.
std::string shader_text(std::string_view file) {
    std::string text(embedded_shader(fmt::format("shaders/{}", file)));
    constexpr std::string_view directive = "#include \"";
    for (size_t at; (at = text.find(directive)) != std::string::npos;) {
        const size_t name = at + directive.size(), end = text.find('"', name);
        text.replace(at, end + 1 - at, embedded_shader("shaders/" + text.substr(name, end - name)));
    }
    return text;
}

// The program of shaders/NAME.vert.glsl and shaders/NAME.frag.glsl.
Result<GLuint> link_program(std::string_view name) {
    const GLuint program = glCreateProgram();
    GLint good = 0;
    char log[1024] = {};
    for (const auto& [kind, ending] : {std::pair{GL_VERTEX_SHADER, "vert"}, {GL_FRAGMENT_SHADER, "frag"}}) {
        const std::string file = fmt::format("{}.{}.glsl", name, ending), text = shader_text(file);
        const char* source = text.c_str();
        const GLuint shader = glCreateShader(kind);
        glShaderSource(shader, 1, &source, nullptr);
        glCompileShader(shader);
        glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
        if (!good) glGetShaderInfoLog(shader, sizeof log, nullptr, log);
        glAttachShader(program, shader);
        glDeleteShader(shader);  // as soon as the program lets go of it
        if (good) continue;
        glDeleteProgram(program);
        return Error{fmt::format("The OpenGL driver does not take the shader {}: {}", file, log)};
    }
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &good);
    if (good) return program;
    glGetProgramInfoLog(program, sizeof log, nullptr, log);
    glDeleteProgram(program);
    return Error{fmt::format("The OpenGL driver cannot link the shaders {}: {}", name, log)};
}

// Into a texture, in bands of 4 MB, so that a driver needs no second copy.
void upload(GLuint texture, const CellLevel& level) {
    constexpr uint32_t kBandTexels = 2u << 20;
    glBindTexture(GL_TEXTURE_2D, texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
    const uint32_t band = std::max(1u, kBandTexels / std::max(1u, level.cols));
    for (uint32_t r = 0; r < level.rows; r += band)
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, static_cast<GLint>(r), static_cast<GLsizei>(level.cols),
                        static_cast<GLsizei>(std::min(band, level.rows - r)), GL_RED_INTEGER,
                        GL_UNSIGNED_SHORT, level.cells.data() + size_t{r} * level.cols);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

GLuint texture_of(const CellLevel& level) {
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R16UI, static_cast<GLsizei>(level.cols),
                 static_cast<GLsizei>(level.rows), 0, GL_RED_INTEGER, GL_UNSIGNED_SHORT, nullptr);
    upload(texture, level);
    return texture;
}

struct Grid {
    uint64_t version = 0;
    uint64_t drawn = 0;             // frame
    std::vector<CellLevel> levels;  // [0] the cells; the rest as far as was drawn
    std::vector<GLuint> textures;   // of the levels, 0 where never drawn

    Grid() = default;
    Grid(const Grid&) = delete;
    Grid& operator=(const Grid&) = delete;
    ~Grid() { drop_textures(); }
    void drop_textures() {
        glDeleteTextures(static_cast<GLsizei>(textures.size()), textures.data());  // skips zeros
        textures.clear();
    }

    // Into the levels and textures that there are, where the size stays.
    void set(uint32_t rows, uint32_t cols, std::span<const Cell> cells) {
        if (levels.empty() || levels[0].rows != rows || levels[0].cols != cols) {
            drop_textures();
            levels.resize(cells.empty() ? 0 : 1);
        }
        for (size_t i = 0; i < levels.size(); ++i) {
            levels[i] = i > 0 ? reduced(levels[i - 1]) : CellLevel{rows, cols, {cells.begin(), cells.end()}};
            if (i < textures.size() && textures[i]) upload(textures[i], levels[i]);
        }
    }

    // The first level that has at least a pixel a cell and fits a texture, and those below it, are made.
    uint32_t reach(float pitch, uint32_t max_size) {
        for (uint32_t want = level_for(pitch), i = 0;; ++i) {
            const CellLevel& l = levels[i];
            if ((i >= want && std::max(l.rows, l.cols) <= max_size) || (l.rows == 1 && l.cols == 1)) return i;
            if (i + 1 == levels.size()) levels.push_back(reduced(l));
        }
    }
};

std::array<float, 4> floats(Rgba c) {
    std::array<float, 4> out;
    for (size_t i = 0; i < 4; ++i) out[i] = static_cast<float>(c >> (8 * i) & 0xFF) / 255.f;
    return out;
}

}  // namespace

struct GridRenderer::State {
    struct Item {  // one draw(), until the next frame
        State* state = nullptr;
        uint64_t id = 0;
        DrawnGrid grid;

        // The same, cut to the clip rectangle of its command.
        GridView view(const ImDrawCmd& command) const {
            GridView view = grid.view;
            view.clip_min = {std::max(command.ClipRect.x, view.clip_min.x),
                             std::max(command.ClipRect.y, view.clip_min.y)};
            view.clip_max = {std::min(command.ClipRect.z, view.clip_max.x),
                             std::min(command.ClipRect.w, view.clip_max.y)};
            return view;
        }
    };
    static constexpr size_t kMost = 24;      // grids that are kept though they are not drawn
    GLuint cells = 0, marks = 0;             // programs
    GLuint no_vertices = 0, mark_array = 0;  // vertex arrays
    GLuint mark_buffer = 0;
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
    }

    // The grid of that number, drawn in this frame; null for none that has cells.
    Grid* drawn(uint64_t id) {
        const auto found = grids.find(id);
        if (found == grids.end() || found->second.levels.empty()) return nullptr;
        found->second.drawn = frame;
        return &found->second;
    }

    static void use(GLuint program, const ImVec2& canvas, const DrawnGrid& shown, float pitch) {
        const auto at = [&](const char* name) { return glGetUniformLocation(program, name); };
        glUseProgram(program);
        glUniform2f(at("u_canvas"), canvas.x, canvas.y);
        glUniform2f(at("u_origin"), 0, 0);
        glUniform2f(at("u_corner"), shown.view.x, shown.view.y);
        glUniform1f(at("u_pitch"), pitch);
        glUniform1f(at("u_scale"), shown.scale);
    }

    void draw_cells(const Item& item, const ImVec2& canvas) {
        Grid* const grid = drawn(item.id);
        if (!grid) return;
        const GridView& view = item.grid.view;
        const Palette& palette = *item.grid.palette;
        const uint32_t i = grid->reach(view.pitch, max_size);
        const CellLevel& level = grid->levels[i];
        if (grid->textures.size() <= i) grid->textures.resize(i + 1, 0);
        if (!grid->textures[i]) grid->textures[i] = texture_of(level);
        const float pitch = std::ldexp(view.pitch, static_cast<int>(i));
        const auto at = [&](const char* name) { return glGetUniformLocation(cells, name); };
        use(cells, canvas, item.grid, pitch);
        const float right = view.x + pitch * static_cast<float>(level.cols),
                    bottom = view.y + pitch * static_cast<float>(level.rows);
        glUniform4f(at("u_rect"), std::floor(std::max(view.clip_min.x, view.x)),
                    std::floor(std::max(view.clip_min.y, view.y)),
                    std::ceil(std::min(view.clip_max.x, right)),
                    std::ceil(std::min(view.clip_max.y, bottom)));
        glUniform2i(at("u_size"), static_cast<GLint>(level.cols), static_cast<GLint>(level.rows));
        std::array<std::array<float, 4>, 32> ink{};
        std::transform(palette.ink.begin(), palette.ink.end(), ink.begin(), floats);
        std::array<std::array<float, 4>, 256> heat;
        std::transform(palette.heat.begin(), palette.heat.end(), heat.begin(), floats);
        glUniform4fv(at("u_ink"), 32, ink[0].data());
        glUniform4fv(at("u_heat"), 256, heat[0].data());
        std::array<float, 4> line = floats(palette[Ink::Panel]);
        line[3] = i > 0 ? 0.f : line_strength(view.pitch / item.grid.scale);
        glUniform4fv(at("u_line"), 1, line.data());
        glUniform1i(at("u_cells"), 0);
        glUniform1i(at("u_cell_ink"), static_cast<GLint>(Ink::Cell));
        glUniform1i(at("u_heat_ink"), static_cast<GLint>(Ink::Heat));
        glActiveTexture(GL_TEXTURE0);
        glBindTexture(GL_TEXTURE_2D, grid->textures[i]);
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
        const Item& item = *static_cast<const Item*>(command->UserCallbackData);
        GLint viewport[4];
        glGetIntegerv(GL_VIEWPORT, viewport);
        const GridView view = item.view(*command);
        const auto whole = [](float v) { return static_cast<int>(std::round(v)); };
        const int x0 = whole(view.clip_min.x), y0 = whole(view.clip_min.y), x1 = whole(view.clip_max.x),
                  y1 = whole(view.clip_max.y);
        if (x0 >= x1 || y0 >= y1) return;
        glEnable(GL_SCISSOR_TEST);
        glScissor(x0, viewport[3] - y1, x1 - x0, y1 - y0);
        const ImVec2 canvas{static_cast<float>(viewport[2]), static_cast<float>(viewport[3])};
        glBindSampler(0, 0);
        item.state->draw_cells(item, canvas);
        item.state->draw_marks(item.grid, canvas);
    }
};

Result<std::unique_ptr<GridRenderer>> GridRenderer::create() {
    auto state = std::make_unique<State>();
    for (auto [name, program] : {std::pair{"cells", &state->cells}, std::pair{"marks", &state->marks}}) {
        auto linked = link_program(name);
        if (!linked) return linked.error();
        *program = *linked;
    }
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
    grid.set(rows, cols, cells);
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
        State::Item{state_.get(), id, {view, &palette, scale, nullptr, 0, {marks.begin(), marks.end()}}});
    for (GridMark& mark : item.grid.marks) mark.edge_px = std::max(1.f, std::round(mark.edge_px));
    list.AddCallback(&State::callback, &item);
    list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

std::optional<DrawnGrid> GridRenderer::drawn(const ImDrawCmd& command) {
    if (command.UserCallback != &State::callback) return std::nullopt;
    const auto& item = *static_cast<const State::Item*>(command.UserCallbackData);
    DrawnGrid shown = item.grid;
    shown.view = item.view(command);
    if (Grid* const grid = state_->drawn(item.id)) {
        shown.level = grid->reach(shown.view.pitch, state_->max_size);
        shown.cells = &grid->levels[shown.level];
    }
    return shown;
}

CellAt cell_at(const GridView& view, ImVec2 point) {
    return {static_cast<int64_t>(std::floor((point.y - view.y) / view.pitch)),
            static_cast<int64_t>(std::floor((point.x - view.x) / view.pitch))};
}

ImVec2 corner_of(const GridView& view, double row, double col) {
    return {static_cast<float>(view.x + col * view.pitch), static_cast<float>(view.y + row * view.pitch)};
}

}  // namespace tilescope::draw
