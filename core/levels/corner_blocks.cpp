#include "core/levels/corner_blocks.h"

#include <optional>
#include <utility>

#include "core/levels/recorded_blocks.h"

namespace tilescope::analysis {

namespace {

// A block of one of the two recordings of a launch.
struct CornerBlock {
    const trace::Trace* trace = nullptr;
    uint32_t number = 0;
    const trace::Block& block() const { return trace->blocks[number]; }
};

CornerBlock block_at(const RecordedCorners& corners, uint32_t x, uint32_t y) {
    for (const trace::Trace* trace : {&corners.first, &corners.last})
        for (uint32_t i = 0; i < trace->blocks.size(); ++i)
            if (trace->blocks[i].x == x && trace->blocks[i].y == y) return {trace, i};
    return {};
}

// Bytes by slot between the addresses of two blocks that do the same steps; nothing where they do not, or
// where an array's differences are not the same everywhere.
std::optional<std::vector<int64_t>> relocation_between(const CornerBlock& from, const CornerBlock& to) {
    const trace::Trace &a = *from.trace, &b = *to.trace;
    const trace::Block &first = from.block(), &second = to.block();
    if (first.count != second.count) return std::nullopt;
    std::vector<std::optional<int64_t>> known(level_slots(a.launch));
    for (uint64_t i = 0; i < first.count; ++i) {
        const uint64_t p = first.first + i, q = second.first + i;
        const trace::Form &f = a.form_of(p), &g = b.form_of(q);
        if (f.site != g.site || f.mask != g.mask || f.array != g.array || f.space != g.space ||
            a.warp_of(p) != b.warp_of(q))
            return std::nullopt;
        if (!ptx::asks_memory(a.sites[f.site].kind)) continue;
        const trace::Access x = trace::decode(a, p), y = trace::decode(b, q);
        // Shared memory is the block's own: the same addresses.
        std::optional<int64_t> shared = 0;
        auto& difference = f.space == Space::Global ? known[level_slot(a.launch, f.array)] : shared;
        bool same = true;
        for_lanes(f.mask, [&](uint32_t lane) {
            const auto here = static_cast<int64_t>(y.offset[lane] - x.offset[lane]);
            same &= here == difference.value_or(here);
            difference = here;
        });
        if (!same) return std::nullopt;
    }
    std::vector<int64_t> bytes;
    for (const auto& difference : known) bytes.push_back(difference.value_or(0));
    return bytes;
}

std::vector<int64_t> relocation(const RecordedCorners& corners, int64_t right, int64_t down) {
    std::vector<int64_t> bytes(corners.by_x.size());
    for (size_t slot = 0; slot < bytes.size(); ++slot)
        bytes[slot] = right * corners.by_x[slot] + down * corners.by_y[slot];
    return bytes;
}

}  // namespace

bool find_relocations(RecordedCorners& corners) {
    const Dim3& grid = corners.first.launch.grid;
    const CornerBlock origin = block_at(corners, 0, 0);
    corners.by_x.assign(level_slots(corners.first.launch), 0);
    corners.by_y = corners.by_x;
    const auto find = [&](uint32_t x, uint32_t y, std::vector<int64_t>& by) {
        auto found = relocation_between(origin, block_at(corners, x, y));
        if (found) by = std::move(*found);
        return found.has_value();
    };
    const auto is_relocated = [&](uint32_t x, uint32_t y) {
        return relocation_between(origin, block_at(corners, x, y)) == relocation(corners, x, y);
    };
    // Columns 0 and 1 are of a class where there are three.
    if (grid.x > 2 && !find(1, 0, corners.by_x)) return false;
    if (grid.y > 2 && !find(0, 1, corners.by_y)) return false;
    if (grid.x > 2 && grid.y > 2 && !is_relocated(1, 1)) return false;
    // The one before the last of a row or column is of the first one's class.
    return is_relocated(grid.x > 2 ? grid.x - 2 : 0, grid.y > 2 ? grid.y - 2 : 0);
}

PlacedBlock CornerBlocks::block(uint64_t number) {
    const Dim3& grid = corners_.first.launch.grid;
    const auto x = static_cast<uint32_t>(number % grid.x), y = static_cast<uint32_t>(number / grid.x);
    const bool last_x = x + 1 == grid.x, last_y = y + 1 == grid.y;
    // The block that stands for the class.
    const uint32_t at_x = last_x ? x : (last_y ? grid.x - 2 : 0);
    const uint32_t at_y = last_y ? y : (last_x ? grid.y - 2 : 0);
    BlockOffset by(relocation(corners_, int64_t{x} - at_x, int64_t{y} - at_y));
    auto& work = works_[{last_x, last_y, by.rest}];
    if (!work) {
        const CornerBlock from = block_at(corners_, at_x, at_y);
        work = std::make_shared<BlockWork>(work_of_block(*from.trace, code_, from.number, rules_, by.rest));
    }
    return {work, std::move(by.lines)};
}

}  // namespace tilescope::analysis
