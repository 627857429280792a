#include "app/cli/ptx_choice.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "kernels/gpu/nvrtc.h"

namespace tilescope::cli {

namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostSource = 4 << 20;  // bytes

std::optional<std::string> text_of(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kMostSource || error)
        return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) return std::nullopt;
    return text.str();
}

// By the name that the PTX gives, as it is, beside the PTX, or as a file that ships.
void find_source(kernels::Plan& plan, const std::string& ptx_path) {
    plan.source.clear();
    plan.source_name = plan.ptx_name;
    const auto module = ptx::parse(plan.ptx, plan.ptx_name);
    if (!module) return;  // said when it is recorded
    const ptx::Kernel* kernel = ptx::find_kernel(*module, plan.launch.entry);
    if (!kernel && module->kernels.size() == 1) kernel = &module->kernels.front();
    const uint32_t number = kernel ? ptx::source_file_of(*kernel) : 0;
    for (const ptx::SourceFile& file : module->files) {
        if (number == 0 || file.index != number) continue;
        const fs::path name(file.name);
        plan.source_name = name.filename().string();
        auto text = text_of(name);
        if (!text) text = text_of(fs::path(ptx_path).parent_path() / name.filename());
        plan.source = text ? *text : std::string(kernels::shipped_file(file.name));
    }
}

}  // namespace

Result<void> use_ptx_file(kernels::Plan& plan, const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return Error{fmt::format("'{}' is a folder; give --ptx a PTX file", path)};
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf()))
        return Error{fmt::format("PTX file '{}' cannot be read; check its name and permissions", path)};
    plan.ptx = text.str();
    plan.ptx_name = std::filesystem::path(path).filename().string();
    find_source(plan, path);
    return {};
}

Result<void> use_nvrtc(kernels::TextbookPlan& plan, int compute_capability) {
    auto compiled = gpu::compile(plan.source, plan.source_name, compute_capability,
                                 fmt::format("TILE_WIDTH={}", plan.shape.tile));
    if (!compiled) return compiled.error();
    plan.ptx = std::move(compiled->ptx);
    plan.ptx_name = fmt::format("{} by {}", plan.source_name, compiled->compiler);
    return {};
}

}  // namespace tilescope::cli
