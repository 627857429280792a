#include "kernels/capture/cupti.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <link.h>

#include "kernels/gpu/library.h"

namespace tilescope::capture {

namespace {

namespace fs = std::filesystem;

constexpr int kMultipleSubscribers = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED

// The libraries that this process has loaded, by their paths.
std::vector<std::string> loaded_libraries() {
    std::vector<std::string> paths;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* into) {
            if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0')
                static_cast<std::vector<std::string>*>(into)->emplace_back(info->dlpi_name);
            return 0;
        },
        &paths);
    return paths;
}

const std::vector<std::string>& numbers() {
    static const std::vector<std::string> all{"14", "13", "12", "11.8"};
    return all;
}

void add_folder(std::vector<std::string>& names, const std::string& folder) {
    for (const std::string& number : numbers()) names.push_back(folder + "/libcupti.so." + number);
    names.push_back(folder + "/libcupti.so");
}

}  // namespace

std::vector<std::string> cupti_names(const std::vector<std::string>& loaded) {
    std::vector<std::string> names;
    for (const std::string& path : loaded)
        if (fs::path(path).filename().string().starts_with("libcupti.so")) names.push_back(path);
    for (const std::string& number : numbers()) names.push_back("libcupti.so." + number);
    names.emplace_back("libcupti.so");
    std::vector<std::string> folders;
    for (const std::string& path : loaded) {
        const fs::path folder = fs::path(path).parent_path().lexically_normal();
        const std::string file = fs::path(path).filename().string();
        if (file.starts_with("libcudart.so") || file.starts_with("libnvrtc.so") ||
            file.starts_with("libcublas.so")) {
            folders.push_back(folder.string());  // nvidia/cu13/lib, lib64
            folders.push_back((folder / ".." / ".." / "cuda_cupti" / "lib").lexically_normal().string());
            folders.push_back((folder / ".." / "extras" / "CUPTI" / "lib64").lexically_normal().string());
        }
        // Wheels of one environment lie side by side, whichever of its modules is loaded.
        const size_t at = path.find("/site-packages/");
        if (at == std::string::npos) continue;
        const std::string nvidia = path.substr(0, at) + "/site-packages/nvidia/";
        for (const char* part : {"cu14/lib", "cu13/lib", "cuda_cupti/lib"}) folders.push_back(nvidia + part);
    }
    for (const std::string& home : gpu::toolkit_folders())
        for (const char* part : {"/extras/CUPTI/lib64", "/lib64", "/lib"}) folders.push_back(home + part);
    std::vector<std::string> looked;
    for (const std::string& folder : folders) {
        if (std::ranges::find(looked, folder) != looked.end()) continue;
        looked.push_back(folder);
        add_folder(names, folder);
    }
    return names;
}

Result<void> subscribe(CallFunction function, std::initializer_list<DriverCall> calls) {
    const gpu::Library library = gpu::open_library(cupti_names(loaded_libraries()));
    if (!library)
        return Error{
            "CUPTI (libcupti.so) is not there, by which launches are seen; install it with the CUDA Toolkit "
            "or "
            "'pip install nvidia-cuda-cupti', or add its folder to LD_LIBRARY_PATH"};
    int (*begin)(void** subscriber, CallFunction callback, void* user) = nullptr;
    int (*enable)(uint32_t enable, void* subscriber, uint32_t domain, uint32_t call) = nullptr;
    if (!gpu::find_symbol(library, "cuptiSubscribe", begin) ||
        !gpu::find_symbol(library, "cuptiEnableCallback", enable))
        return Error{fmt::format("'{}' has no callbacks; install CUPTI of CUDA 11.8 or newer", library.name)};
    void* subscriber = nullptr;
    if (const int code = begin(&subscriber, function, nullptr)) {
        if (code == kMultipleSubscribers)
            return Error{
                "another tool uses CUPTI's callbacks in this program; run it without its profiler, or "
                "without "
                "the other tool"};
        return Error{fmt::format("CUPTI ('{}') does not begin: error {}; install one that fits the driver",
                                 library.name, code)};
    }
    for (const DriverCall call : calls)
        enable(1, subscriber, kDriverDomain, static_cast<uint32_t>(call));  // an older CUPTI lacks some
    return {};
}

}  // namespace tilescope::capture
