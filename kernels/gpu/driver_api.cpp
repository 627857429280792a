#include "kernels/gpu/driver_api.h"

#include <fmt/format.h>

#include "kernels/gpu/library.h"

namespace tilescope::gpu {

namespace {

constexpr int kOldestCuda = 11000;  // the first with PTX ISA 7.0 and cuDevicePrimaryCtxReset_v2

}  // namespace

Result<std::shared_ptr<const DriverApi>> open_driver(const std::string& name) {
    const Library library = open_library({name});
    if (!library) {
        return Error{
            fmt::format("no NVIDIA driver was found ({} cannot be opened); record with --backend cpu, or "
                        "install the driver on a machine with an NVIDIA GPU",
                        name)};
    }
    auto api = std::make_shared<DriverApi>();
    int (*version)(int*) = nullptr;
    const int code =
        find_symbol(library, "cuDriverGetVersion", version) ? version(&api->version) : kCuNotFound;
    if (code == kCuStubLibrary) {
        return Error{
            fmt::format("{} is the CUDA Toolkit's stub, against which programs are linked, and no "
                        "driver; take the folder 'stubs' out of LD_LIBRARY_PATH, or record with "
                        "--backend cpu",
                        name)};
    }
    if (code) {
        return Error{
            fmt::format("{} does not say which CUDA it supports; reinstall the NVIDIA driver, or "
                        "record with --backend cpu",
                        name)};
    }
    if (api->version < kOldestCuda) {
        return Error{fmt::format(
            "the NVIDIA driver is too old: it supports CUDA {}.{} and CUDA 11.0 is needed; update "
            "the driver (version 450 or newer), or record with --backend cpu",
            api->version / 1000, api->version % 1000 / 10)};
    }
    const char* missing = nullptr;
#define TILESCOPE_FIND(member, exported, parameters) \
    if (!find_symbol(library, exported, api->member)) missing = exported;
    TILESCOPE_CUDA_FUNCTIONS(TILESCOPE_FIND)
#undef TILESCOPE_FIND
    find_symbol(library, "cuFuncLoad", api->function_load);
    find_symbol(library, "cuLaunchKernelEx", api->launch_with);
    find_symbol(library, "cuTensorMapEncodeTiled", api->tensor_map_tiled);
    find_symbol(library, "cuTensorMapEncodeIm2col", api->tensor_map_im2col);
    if (missing) {
        return Error{
            fmt::format("the NVIDIA driver's {} has no function {}; reinstall or update the driver, "
                        "or record with --backend cpu",
                        name, missing)};
    }
    return std::shared_ptr<const DriverApi>(std::move(api));
}

std::string words_of(const DriverApi& api, int code) {
    const char* text = nullptr;
    if (api.error_string(code, &text) != kCuSuccess || !text) return fmt::format("CUDA error {}", code);
    return text;
}

// Source: CUDA Driver API reference manual, CUresult: those results that leave "the process in an
// inconsistent state", as the manual says of each.
bool loses_context(int code) {
    switch (code) {
        case 214:  // ECC_UNCORRECTABLE
        case 220:  // NVLINK_UNCORRECTABLE
        case 226:  // CONTAINED
        case 700:  // ILLEGAL_ADDRESS
        case 702:  // LAUNCH_TIMEOUT
        case 709:  // CONTEXT_IS_DESTROYED
        case 710:  // ASSERT
        case 714:  // HARDWARE_STACK_ERROR
        case 715:  // ILLEGAL_INSTRUCTION
        case 716:  // MISALIGNED_ADDRESS
        case 717:  // INVALID_ADDRESS_SPACE
        case 718:  // INVALID_PC
        case 719:  // LAUNCH_FAILED
        case 721:  // TENSOR_MEMORY_LEAK
        case 911:  // EXTERNAL_DEVICE
        case 999:  // UNKNOWN
            return true;
        default: return false;
    }
}

}  // namespace tilescope::gpu
