#include "core/compiled/kernel.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/compiled/values.h"

namespace tilescope::compiled {

// Made by cmake/embed.cmake.
std::string_view embedded_text(std::string_view path);

Result<Kernel> make_kernel(const simt::Program& program, const Launch& launch) {
    const auto values = Values::of(program, launch);
    if (!values) return values.error();
    Printed printed = print(program, *values);
    Kernel kernel;
    kernel.program = &program, kernel.launch = &launch;
    kernel.text = std::string(embedded_text("core/compiled/abi.h")) +
                  std::string(embedded_text("core/compiled/prelude.h")) + printed.text;
    kernel.warps = values->warps;
    kernel.saved_bytes = printed.saved_bytes;
    kernel.in_turns = values->in_turns, kernel.blocks_communicate = values->blocks_communicate;
    kernel.groups = std::move(printed.groups);
    for (uint32_t w = 0; w < values->warps; ++w) {
        std::vector<Shape>& shapes = kernel.shapes.emplace_back();
        for (uint32_t s = 0; s < values->shapes.size(); ++s) {
            const int64_t* const d = values->shape_of(s, w);
            Shape& shape = shapes.emplace_back();
            const auto [low, high] = std::minmax_element(d, d + kWarpSize);
            shape.low = *low, shape.span = *high - *low;
            for (int lane = 0; lane < kWarpSize; ++lane)
                shape.lane[lane] = d[lane], shape.lane32[lane] = static_cast<uint32_t>(d[lane]);
        }
        std::vector<uint64_t>& firsts = kernel.firsts.emplace_back();
        for (const int32_t table : printed.firsts) firsts.push_back(values->table(table, w)[0]);
        std::vector<uint32_t>& predicates = kernel.predicates.emplace_back();
        for (const int32_t table : printed.predicates)
            predicates.push_back(static_cast<uint32_t>(values->table(table, w)[0]));
    }
    for (const simt::MicroOp& op : program.code)
        for (const simt::LaneFn fn : {op.full, op.partial})
            kernel.lanes.push_back(reinterpret_cast<LaneFunction>(fn));
    return kernel;
}

}  // namespace tilescope::compiled
