// CUPTI's callbacks, opened at run time and declared by hand, so that no header of the CUDA Toolkit is needed: CUPTI
// calls a function of ours before and after chosen calls of the driver, with the parameters that these are given.
//
// Single calls are chosen and never the whole domain: whatever the callback asks of the driver would call it again.
//
// Source: CUPTI documentation, "CUPTI Callback API"; the numbers of calls are those of cupti_driver_cbid.h, which never
// change.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tilescope::capture {

// CUpti_CallbackId of calls of the driver (CUPTI_DRIVER_TRACE_CBID_...).
enum class DriverCall : uint32_t {
    ModuleLoad = 18,
    ModuleLoadData = 19,
    ModuleLoadDataEx = 20,
    ModuleLoadFatBinary = 21,
    ModuleUnload = 22,
    LaunchKernel = 307,
    LaunchKernelPerThread = 442,
    LaunchCooperative = 477,
    LaunchCooperativePerThread = 478,
    GraphLaunch = 514,
    GraphLaunchPerThread = 515,
    LaunchKernelEx = 652,
    LaunchKernelExPerThread = 653,
    LibraryLoadData = 678,
    LibraryLoadFromFile = 679,
    LibraryUnload = 680,
    TensorMapTiled = 697,
    TensorMapIm2col = 698,
    TensorMapMove = 699,
};

inline constexpr uint32_t kDriverDomain = 1;  // CUPTI_CB_DOMAIN_DRIVER_API
inline constexpr uint32_t kBeforeCall = 0;    // CUPTI_API_ENTER

// CUpti_CallbackData, as far as it is read.
struct CallData {
    uint32_t site;  // kBeforeCall, or behind the call
    const char* function;
    const void* parameters;  // a struct of driver_calls.h
    void* result;            // CUresult*, behind the call
};

using CallFunction = void (*)(void* user, uint32_t domain, uint32_t call, const void* data);

// Where CUPTI may be, in the order in which it is looked for: what the program has loaded already, where the system
// looks, beside the CUDA libraries that are loaded (as wheels of Python lie), in the CUDA Toolkit.
std::vector<std::string> cupti_names(const std::vector<std::string>& loaded);

// Has `function` called for these calls from now on. Error: there is no CUPTI, or something else in this process uses
// its callbacks.
Result<void> subscribe(CallFunction function, std::initializer_list<DriverCall> calls);

}  // namespace tilescope::capture
