#include "kernels/program/cache.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/shell_words.h"

namespace tilescope::program {

std::vector<std::pair<std::string_view, std::string_view>> embedded_headers();  // made by cmake/embed.cmake

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestSource = uint64_t{64} << 20;  // bytes
constexpr std::string_view kHeaders = "kernels/cudart/include/";

// Headers that only pass on what another one has: by names of the toolkit, of LeetGPU's older starter code
// (solve.h, which declares the function that a solution defines) and of cuda-samples (exception.h).
struct Forwarded {
    const char *to, *names;
};
constexpr Forwarded kForwarded[] = {
    {"cuda_runtime.h",
     "builtin_types.h channel_descriptor.h common_functions.h crt/common_functions.h "
     "crt/device_double_functions.h crt/device_functions.h crt/host_config.h crt/host_defines.h "
     "crt/math_functions.h crt/sm_70_rt.h crt/sm_80_rt.h crt/sm_90_rt.h cuda_device_runtime_api.h "
     "cuda_occupancy.h cuda_profiler_api.h cuda_stdint.h cuda_surface_types.h cuda_texture_types.h "
     "cudart_platform.h "
     "device_atomic_functions.h device_atomic_functions.hpp device_double_functions.h device_functions.h "
     "device_launch_parameters.h device_types.h driver_functions.h driver_types.h host_config.h "
     "math_functions.h math_functions.hpp sm_20_atomic_functions.h sm_20_atomic_functions.hpp "
     "sm_20_intrinsics.h sm_20_intrinsics.hpp sm_30_intrinsics.h sm_30_intrinsics.hpp "
     "sm_32_atomic_functions.h sm_32_atomic_functions.hpp sm_32_intrinsics.h sm_32_intrinsics.hpp "
     "sm_35_atomic_functions.h sm_35_intrinsics.h sm_60_atomic_functions.h sm_60_atomic_functions.hpp "
     "sm_61_intrinsics.h sm_61_intrinsics.hpp solve.h surface_functions.h surface_indirect_functions.h "
     "surface_types.h texture_fetch_functions.h texture_indirect_functions.h texture_types.h "
     "vector_functions.hpp"},
    {"cublas_v2.h", "cublas.h cublas_api.h"},
    {"curand_kernel.h",
     "curand_lognormal.h curand_normal.h curand_philox4x32_x.h curand_poisson.h curand_uniform.h"},
    {"cuda.h", "cudaProfiler.h"},
    {"cooperative_groups/reduce.h", "cooperative_groups/scan.h"},
    {"cuda_bf16.h", "cuda_bf16.hpp"},
    {"cuda_fp16.h", "cuda_fp16.hpp"},
    {"cuda_pipeline.h", "cuda_pipeline_helpers.h cuda_pipeline_primitives.h"},
    {"cuda_fp8.h", "cuda_fp8.hpp"},
    {"mma.h", "crt/mma.h"},
    {"nvtx3/nvToolsExt.h",
     "nvToolsExt.h nvToolsExtCuda.h nvToolsExtCudaRt.h nvtx3/nvToolsExtCuda.h nvtx3/nvToolsExtCudaRt.h "
     "nvtx3/nvToolsExtSync.h"},
    {"stdexcept", "exception.h"},
};

// What a function of these headers does stands at the line of the program that calls it: the device's code is
// made without lines of their own.
std::string without_lines(std::string_view text) {
    constexpr std::string_view kOnce = "#pragma once\n";
    const size_t once = text.find(kOnce);
    if (once == std::string_view::npos) return std::string(text);
    const size_t behind = once + kOnce.size();
    return fmt::format(
        "{}#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))\n#line "
        "{}\n{}\n"
        "#pragma clang attribute pop\n",
        text.substr(0, behind),
        1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(behind), '\n'),
        text.substr(behind));
}

// Name and text of every header.
std::vector<std::pair<std::string, std::string>> all_headers() {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [name, text] : embedded_headers())
        all.emplace_back(name.substr(kHeaders.size()), without_lines(text));
    for (const Forwarded& row : kForwarded)
        for (const std::string& name : shell_words(row.names, Backslash::Plain).words)
            all.emplace_back(name, fmt::format("#pragma once\n#include \"{}\"\n", row.to));
    return all;
}

}  // namespace

Result<fs::path> headers_folder() {
    const auto headers = all_headers();
    Digest digest;
    for (const auto& [name, text] : headers) digest.add(name).add(text);
    auto all = cache_folder("headers");
    if (!all) return all.error();
    const fs::path folder = *all / digest.text();
    std::error_code error;
    const auto usable = [&]() -> Result<fs::path> {
        if (const std::string why = why_not_ours(folder); !why.empty())
            return Error{fmt::format("the headers in '{}' are not used: {}; remove that folder",
                                     folder.string(), why)};
        return folder;
    };
    if (fs::is_directory(folder, error)) return usable();
    auto work = WorkFolder::make(*all);
    if (!work) return work.error();
    const fs::path made = work->path() / "include";
    for (const auto& [name, text] : headers) {
        const fs::path path = made / name;
        fs::create_directories(path.parent_path(), error);
        if (const std::string why = write_whole(path.string(), text); !why.empty())
            return Error{
                fmt::format("'{}' cannot be written: {}; make room in the cache", path.string(), why)};
    }
    const std::string why = put_in_place(made, folder);
    // Another start may have been faster, with the same headers.
    if (!why.empty() && !fs::is_directory(folder))
        return Error{
            fmt::format("'{}' cannot be made: {}; look at the cache's permissions", folder.string(), why)};
    return usable();
}

std::optional<std::string> digest_of_files(const std::vector<std::string>& paths) {
    Digest digest;
    for (const std::string& path : paths) {
        const auto text = read_whole(path, kLargestSource);
        if (!text) return std::nullopt;
        digest.add(path).add(*text);
    }
    return digest.text();
}

}  // namespace tilescope::program
