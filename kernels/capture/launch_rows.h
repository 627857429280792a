// The launches of a process, counted: a row for each kernel and shape, and which launch is to be recorded.
//
//   seen()      called for each launch, within a fraction of a microsecond
//   changed()   the rows whose numbers have changed since it was last asked: when a second has passed, and at the end
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/launched/captured.h"
#include "kernels/launched/orders.h"

namespace tilescope::capture {

struct LaunchShape {
    Dim3 grid, block;
    uint32_t shared = 0;
    bool operator<(const LaunchShape& other) const { return key() < other.key(); }
    bool operator==(const LaunchShape&) const = default;

private:
    std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t> key() const {
        return {grid.x, grid.y, grid.z, block.x, block.y, block.z, shared};
    }
};

struct CountedRow {
    launched::CapturedRow row;
    bool changed = true;
};

// A kernel of a module or library, by its handle.
struct CountedKernel {
    std::string entry, name;  // name: as people call it
    std::string ptx, without, remark;
    uint64_t recorded = 0;  // launches that were recorded, or tried
    std::map<LaunchShape, CountedRow*> rows{};
    LaunchShape last_shape{};
    CountedRow* last = nullptr;  // its row: most launches repeat the one before
};

class LaunchRows {
public:
    // Counts a launch, and gives its row; number() is then the launch's.
    CountedRow& seen(CountedKernel& kernel, const LaunchShape& shape);
    uint64_t number() const { return launches_; }
    // Whether this launch is one of those whose time is taken: the first, second, fourth, eighth, … of a row.
    static bool is_timed(const CountedRow& row);
    void add_time(CountedRow& row, double ms);
    std::vector<launched::CapturedRow> changed();

private:
    std::vector<std::unique_ptr<CountedRow>> rows_;
    uint64_t launches_ = 0;
};

// Whether orders name launches at all: else they are listed only.
bool records(const launched::Orders& orders);
// Whether the launch of that number is to be recorded: those that --launch names; of the kernels that --kernel names,
// or all, each one's first, or with --every all.
bool is_chosen(const launched::Orders& orders, const CountedKernel& kernel, uint64_t number);

}  // namespace tilescope::capture
