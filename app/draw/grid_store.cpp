#include "app/draw/grid_store.h"

#include <algorithm>
#include <cassert>

#include "app/platform/gl.h"

namespace tilescope::draw {

namespace {

constexpr uint32_t kBandTexels =
    2u << 20;  // uploads go in bands of 4 MB, so that a driver needs no second copy

void upload_part(const CellLevel& level, uint32_t row, uint32_t col, uint32_t rows, uint32_t cols) {
    glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, static_cast<GLint>(level.cols));
    const uint32_t band = std::max(1u, kBandTexels / std::max(1u, cols));
    for (uint32_t r = row; r < row + rows; r += band) {
        const uint32_t count = std::min(band, row + rows - r);
        glTexSubImage2D(GL_TEXTURE_2D, 0, static_cast<GLint>(col), static_cast<GLint>(r),
                        static_cast<GLsizei>(cols), static_cast<GLsizei>(count), GL_RED_INTEGER,
                        GL_UNSIGNED_SHORT, level.cells.data() + size_t{r} * level.cols + col);
    }
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

uint32_t texture_of(const CellLevel& level) {
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R16UI, static_cast<GLsizei>(level.cols),
                 static_cast<GLsizei>(level.rows), 0, GL_RED_INTEGER, GL_UNSIGNED_SHORT, nullptr);
    upload_part(level, 0, 0, level.rows, level.cols);
    return texture;
}

}  // namespace

GridStore::GridStore() {
    GLint size = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
    max_size_ = static_cast<uint32_t>(std::max(size, 1024));
}

GridStore::~GridStore() {
    for (auto& [id, grid] : grids_) drop_textures(grid);
}

void GridStore::drop_textures(Grid& grid) {
    for (GLuint texture : grid.textures)
        if (texture) glDeleteTextures(1, &texture);
    grid.textures.clear();
}

bool GridStore::stale(uint64_t id, uint64_t version) const {
    auto found = grids_.find(id);
    return found == grids_.end() || found->second.version != version;
}

void GridStore::set(uint64_t id, uint64_t version, uint32_t rows, uint32_t cols,
                    std::span<const Cell> cells) {
    assert(cells.size() == size_t{rows} * cols);
    Grid& grid = grids_[id];
    grid.drawn = frame_;
    if (!grid.levels.empty() && grid.levels[0].rows == rows && grid.levels[0].cols == cols) {
        set_part(id, version, 0, 0, rows, cols, cells);
        return;
    }
    drop_textures(grid);
    grid.version = version;
    grid.levels.clear();
    if (!cells.empty()) grid.levels.push_back({rows, cols, {cells.begin(), cells.end()}});
}

void GridStore::set_part(uint64_t id, uint64_t version, uint32_t row, uint32_t col, uint32_t rows,
                         uint32_t cols, std::span<const Cell> cells) {
    Grid& grid = grids_.at(id);
    assert(cells.size() == size_t{rows} * cols);
    grid.version = version;
    if (grid.levels.empty() || cells.empty()) return;
    assert(row + rows <= grid.levels[0].rows && col + cols <= grid.levels[0].cols);
    for (uint32_t r = 0; r < rows; ++r)
        std::copy_n(cells.data() + size_t{r} * cols, cols,
                    grid.levels[0].cells.data() + size_t{row + r} * grid.levels[0].cols + col);

    uint32_t row1 = row + rows, col1 = col + cols;
    for (size_t i = 0; i < grid.levels.size(); ++i) {
        if (i < grid.textures.size() && grid.textures[i]) {
            glBindTexture(GL_TEXTURE_2D, grid.textures[i]);
            upload_part(grid.levels[i], row, col, row1 - row, col1 - col);
        }
        if (i + 1 == grid.levels.size()) break;
        reduce_part(grid.levels[i], grid.levels[i + 1], row, row1, col, col1);
        row /= 2, col /= 2, row1 = (row1 + 1) / 2, col1 = (col1 + 1) / 2;
    }
}

void GridStore::forget(uint64_t id) {
    auto found = grids_.find(id);
    if (found == grids_.end()) return;
    drop_textures(found->second);
    grids_.erase(found);
}

void GridStore::begin_frame() {
    ++frame_;
    while (grids_.size() > kMost) {
        const auto oldest = std::min_element(grids_.begin(), grids_.end(), [](const auto& a, const auto& b) {
            return a.second.drawn < b.second.drawn;
        });
        if (oldest->second.drawn + 1 >= frame_) return;  // all are in use
        drop_textures(oldest->second);
        grids_.erase(oldest);
    }
}

size_t GridStore::reach(Grid& grid, float pitch) {
    grid.drawn = frame_;
    size_t want = level_for(pitch), i = 0;
    for (;; ++i) {
        const CellLevel& l = grid.levels[i];
        if ((i >= want && std::max(l.rows, l.cols) <= max_size_) || (l.rows == 1 && l.cols == 1)) return i;
        if (i + 1 == grid.levels.size()) grid.levels.push_back(reduced(l));
    }
}

GridStore::Level GridStore::level(uint64_t id, float pitch) {
    auto found = grids_.find(id);
    if (found == grids_.end() || found->second.levels.empty()) return {};
    Grid& grid = found->second;
    const size_t i = reach(grid, pitch);
    if (grid.textures.size() <= i) grid.textures.resize(i + 1, 0);
    if (!grid.textures[i]) grid.textures[i] = texture_of(grid.levels[i]);
    return {grid.textures[i], static_cast<uint32_t>(i), grid.levels[i].rows, grid.levels[i].cols};
}

const CellLevel* GridStore::cells(uint64_t id, float pitch, uint32_t& level) {
    auto found = grids_.find(id);
    if (found == grids_.end() || found->second.levels.empty()) return nullptr;
    const size_t i = reach(found->second, pitch);
    level = static_cast<uint32_t>(i);
    return &found->second.levels[i];
}

}  // namespace tilescope::draw
