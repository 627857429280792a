// The grids' cells: their pyramids in memory, and the levels that were drawn in textures.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "app/draw/cell.h"

namespace tilescope::draw {

class GridStore {
public:
    GridStore();  // needs a current OpenGL context, now and until destruction
    ~GridStore();
    GridStore(const GridStore&) = delete;
    GridStore& operator=(const GridStore&) = delete;

    bool stale(uint64_t id, uint64_t version) const;
    void set(uint64_t id, uint64_t version, uint32_t rows, uint32_t cols, std::span<const Cell> cells);
    void set_part(uint64_t id, uint64_t version, uint32_t row, uint32_t col, uint32_t rows, uint32_t cols,
                  std::span<const Cell> cells);
    void forget(uint64_t id);
    void begin_frame();  // forgets grids beyond kMost that were not drawn for the longest time

    // The texture of the first level that has at least a pixel a cell and fits a texture; made when
    // first asked for. texture 0: no such grid.
    struct Level {
        uint32_t texture = 0, level = 0, rows = 0, cols = 0;
    };
    Level level(uint64_t id, float pitch);

    // The cells of that level, without a texture; null for no such grid. They last until the next change.
    const CellLevel* cells(uint64_t id, float pitch, uint32_t& level);

private:
    struct Grid {
        uint64_t version = 0;
        uint64_t drawn = 0;              // frame
        std::vector<CellLevel> levels;   // [0] the cells; the rest as far as was drawn
        std::vector<uint32_t> textures;  // one per level, 0 where never drawn
    };
    void drop_textures(Grid& grid);
    size_t reach(Grid& grid, float pitch);  // makes levels as far as that pitch asks for
    static constexpr size_t kMost = 24;
    uint64_t frame_ = 0;
    std::unordered_map<uint64_t, Grid> grids_;
    uint32_t max_size_ = 1024;
};

}  // namespace tilescope::draw
