#include "kernels/capture/launch_rows.h"

#include <algorithm>
#include <bit>

namespace tilescope::capture {

CountedRow& LaunchRows::seen(CountedKernel& kernel, const LaunchShape& shape) {
    ++launches_;
    if (!kernel.last || !(kernel.last_shape == shape)) {
        CountedRow*& found = kernel.rows[shape];
        if (!found) {
            rows_.push_back(std::make_unique<CountedRow>());
            found = rows_.back().get();
            launched::CapturedRow& row = found->row;
            row.id = rows_.size();
            row.kernel = kernel.name;
            row.entry = kernel.entry;
            row.grid = shape.grid;
            row.block = shape.block;
            row.shared = shape.shared;
            row.first = launches_;
            row.ptx = kernel.ptx;
            row.without = kernel.without;
            row.remark = kernel.remark;
        }
        kernel.last = found;
        kernel.last_shape = shape;
    }
    ++kernel.last->row.count;
    kernel.last->changed = true;
    return *kernel.last;
}

bool LaunchRows::is_timed(const CountedRow& row) { return std::has_single_bit(row.row.count); }

void LaunchRows::add_time(CountedRow& row, double ms) {
    ++row.row.timed;
    row.row.ms += ms;
    row.changed = true;
}

std::vector<launched::CapturedRow> LaunchRows::changed() {
    std::vector<launched::CapturedRow> rows;
    for (const auto& one : rows_) {
        if (!one->changed) continue;
        rows.push_back(one->row);
        one->changed = false;
    }
    return rows;
}

bool records(const launched::Orders& orders) {
    return orders.every || !orders.kernels.empty() || !orders.numbers.empty();
}

bool is_chosen(const launched::Orders& orders, const CountedKernel& kernel, uint64_t number) {
    const auto in = [](const auto& list, const auto& value) {
        return std::ranges::find(list, value) != list.end();
    };
    if (!records(orders)) return false;
    if (!orders.numbers.empty()) return in(orders.numbers, number);
    if (!orders.kernels.empty() && !in(orders.kernels, kernel.name) && !in(orders.kernels, kernel.entry))
        return false;
    return orders.every || kernel.recorded == 0;
}

}  // namespace tilescope::capture
