#include "kernels/gpu/device_list.h"

#include <array>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "kernels/gpu/context.h"
#include "kernels/gpu/library.h"

namespace tilescope::gpu {

namespace {

bool is_version(std::string_view word) {
    return !word.empty() && word.front() >= '0' && word.front() <= '9' &&
           word.find('.') != std::string_view::npos &&
           word.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Source: NVML API reference, nvmlInit_v2, nvmlSystemGetDriverVersion (at most 80 characters).
std::string version_by_nvml() {
    const Library nvml = open_library({"libnvidia-ml.so.1"});
    int (*start)() = nullptr;
    int (*stop)() = nullptr;
    int (*version)(char*, unsigned) = nullptr;
    if (!find_symbol(nvml, "nvmlInit_v2", start) || !find_symbol(nvml, "nvmlShutdown", stop) ||
        !find_symbol(nvml, "nvmlSystemGetDriverVersion", version) || start() != 0)
        return {};
    std::array<char, 81> text{};
    const bool known = version(text.data(), text.size() - 1) == 0;
    stop();
    return known ? text.data() : "";
}

constexpr std::pair<int DeviceInfo::*, int> kAttributes[] = {
    {&DeviceInfo::minor, kCuMinor},
    {&DeviceInfo::sms, kCuMultiprocessors},
    {&DeviceInfo::clock_khz, kCuClockRate},
    {&DeviceInfo::memory_clock_khz, kCuMemoryClockRate},
    {&DeviceInfo::memory_bus_bits, kCuMemoryBusWidth},
    {&DeviceInfo::shared_per_block, kCuSharedPerBlock},
    {&DeviceInfo::shared_per_block_optin, kCuSharedPerBlockOptin},
    {&DeviceInfo::shared_per_sm, kCuSharedPerSm},
    {&DeviceInfo::registers_per_block, kCuRegistersPerBlock},
    {&DeviceInfo::registers_per_sm, kCuRegistersPerSm},
    {&DeviceInfo::threads_per_block, kCuThreadsPerBlock},
    {&DeviceInfo::threads_per_sm, kCuThreadsPerSm},
    {&DeviceInfo::blocks_per_sm, kCuBlocksPerSm},
    {&DeviceInfo::warp_size, kCuWarpSize}};

Result<DeviceInfo> info_of(const DriverApi& api, int ordinal) {
    DeviceInfo info;
    info.ordinal = ordinal;
    info.cuda_major = api.version / 1000;
    info.cuda_minor = api.version % 1000 / 10;
    int device = 0, code = api.device_get(&device, ordinal);
    std::array<char, 257> name{};
    if (!code) code = api.device_name(name.data(), static_cast<int>(name.size() - 1), device);
    size_t bytes = 0;
    if (!code) code = api.device_memory(&bytes, device);
    if (!code) code = api.device_attribute(&info.major, kCuMajor, device);
    const auto ask = [&](int attribute) {  // 0 where the driver does not know it
        int value = 0;
        return api.device_attribute(&value, attribute, device) == kCuSuccess ? value : 0;
    };
    for (const auto& [member, attribute] : kAttributes) info.*member = ask(attribute);
    info.l2_bytes = static_cast<uint64_t>(ask(kCuL2Bytes));
    if (code) {
        return Error{
            fmt::format("the NVIDIA driver does not describe GPU {}: {}; see whether nvidia-smi "
                        "shows it, or record with --backend cpu",
                        ordinal, words_of(api, code))};
    }
    info.name = name.data();
    info.memory_bytes = bytes;
    return info;
}

Error no_start(const DriverApi& api, int code) {
    const std::string words = words_of(api, code);
    switch (code) {
        case kCuNoDevice:
            return Error{
                fmt::format("the NVIDIA driver sees no GPU ({}); check nvidia-smi and "
                            "CUDA_VISIBLE_DEVICES, or record with --backend cpu",
                            words)};
        case kCuDriverMismatch:
            return Error{
                fmt::format("the NVIDIA driver's parts do not fit together ({}); restart the "
                            "machine after a driver update, or record with --backend cpu",
                            words)};
        default:
            return Error{
                fmt::format("the NVIDIA driver does not start: {}; see what nvidia-smi says, or "
                            "record with --backend cpu",
                            words)};
    }
}

}  // namespace

std::string version_in(std::string_view proc_text) {
    std::istringstream words{std::string(proc_text.substr(0, proc_text.find('\n')))};
    for (std::string word; words >> word;)
        if (is_version(word)) return word;
    return {};
}

std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::stringstream text;
    text << file.rdbuf();
    std::string version = version_in(text.str());
    return version.empty() ? version_by_nvml() : version;
}

Result<std::vector<DeviceInfo>> list_devices(const DriverApi& api) {
    if (const int code = api.init(0)) return no_start(api, code);
    int count = 0;
    if (const int code = api.device_count(&count)) return no_start(api, code);
    if (count == 0) return no_start(api, kCuNoDevice);
    const std::string version = driver_version();
    std::vector<DeviceInfo> infos;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        auto info = info_of(api, ordinal);
        if (!info) return info.error();
        info->driver = version;
        infos.push_back(std::move(*info));
    }
    return infos;
}

Result<std::vector<DeviceInfo>> devices() {
    const auto opened = driver();
    if (!opened) return opened.error();
    return (*opened)->devices;
}

std::string describe(const DeviceInfo& info) {
    return fmt::format("{}{}{}, CUDA {}.{}, compute capability {}.{}", info.name,
                       info.driver.empty() ? "" : ", driver ", info.driver, info.cuda_major, info.cuda_minor,
                       info.major, info.minor);
}

}  // namespace tilescope::gpu
