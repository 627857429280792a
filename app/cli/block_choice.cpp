#include "app/cli/block_choice.h"

#include <fmt/format.h>

#include "app/cli/values.h"

namespace tilescope::cli {

Result<void> check_block(const std::string& option) {
    if (option.empty() || parse_pair(option, ',')) return {};
    return Error{fmt::format("--block '{}' is not a block; give it as x,y, such as 0,0", option)};
}

Result<uint32_t> choose_block(const std::string& option, const trace::Trace& trace, const std::string& file) {
    if (trace.blocks.empty()) return Error{fmt::format("'{}' holds no blocks; record it again", file)};
    if (option.empty()) return uint32_t{0};
    if (auto good = check_block(option); !good) return good.error();
    const auto [x, y] = *parse_pair(option, ',');
    for (uint32_t i = 0; i < trace.blocks.size(); ++i)
        if (trace.blocks[i].x == x && trace.blocks[i].y == y) return i;
    const trace::Block& first = trace.blocks.front();
    const trace::Block& last = trace.blocks.back();
    return Error{
        fmt::format("block {},{} is not in '{}', which holds blocks {},{} to {},{}; choose one of them", x, y,
                    file, first.x, first.y, last.x, last.y)};
}

}  // namespace tilescope::cli
