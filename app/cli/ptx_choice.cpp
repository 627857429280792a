#include "app/cli/ptx_choice.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "kernels/gpu/nvrtc.h"

namespace tilescope::cli {

Result<void> use_ptx_file(kernels::Plan& plan, const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        return Error{fmt::format("'{}' is a folder; give --ptx a PTX file", path)};
    }
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) {
        return Error{fmt::format("PTX file '{}' cannot be read; check its name and permissions", path)};
    }
    plan.ptx = text.str();
    plan.ptx_name = std::filesystem::path(path).filename().string();
    return {};
}

Result<void> use_nvrtc(kernels::Plan& plan, int compute_capability) {
    auto compiled = gpu::compile(plan.source, plan.source_name, compute_capability,
                                 fmt::format("TILE_WIDTH={}", plan.shape.tile));
    if (!compiled) return compiled.error();
    plan.ptx = std::move(compiled->ptx);
    plan.ptx_name = fmt::format("{} by {}", plan.source_name, compiled->compiler);
    return {};
}

}  // namespace tilescope::cli
