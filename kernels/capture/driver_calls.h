// The parameters of calls of the driver as CUPTI hands them on, and the functions of the driver that capture asks
// beside those of kernels/gpu.
//
// A kernel may be known to the driver in two ways, by which its handle answers to different functions:
//
//   CUfunction   of a CUmodule    cuFuncGetName, cuFuncGetModule
//   CUkernel     of a CUlibrary   cuKernelGetName, cuKernelGetLibrary; cuKernelGetFunction gives its CUfunction
//
// Source: CUDA Driver API reference manual, "Module Management", "Library Management", "Execution Control"; CUPTI's
// generated_cuda_meta.h for the order of parameters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/result.h"
#include "kernels/gpu/driver_api.h"

namespace tilescope::capture {

struct LaunchParameters {  // cuLaunchKernel, cuLaunchCooperativeKernel (which has no extra)
    void* function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    void* stream;
    void** parameters;
    void** extra;
};

struct LaunchExParameters {  // cuLaunchKernelEx
    const gpu::LaunchConfig* config;
    void* function;
    void** parameters;
    void** extra;
};

struct LoadParameters {  // cuModuleLoad, cuModuleLoadData, …, cuLibraryLoadData, cuLibraryLoadFromFile
    void** handle;
    const void* image;  // or the file's name
};

struct UnloadParameters {  // cuModuleUnload, cuLibraryUnload
    void* handle;
};

struct TiledMapParameters {  // cuTensorMapEncodeTiled
    void* map;
    uint32_t type, rank;
    uint64_t address;
    const uint64_t *extents, *strides;
    const uint32_t *box, *element_strides;
    uint32_t interleave, swizzle, promotion, fill;
};

struct Im2colMapParameters {  // cuTensorMapEncodeIm2col
    void* map;
    uint32_t type, rank;
    uint64_t address;
    const uint64_t *extents, *strides;
    const int32_t *lower_corner, *upper_corner;
    uint32_t channels, pixels;
    const uint32_t* element_strides;
    uint32_t interleave, swizzle, promotion, fill;
};

struct MoveMapParameters {  // cuTensorMapReplaceAddress
    void* map;
    uint64_t address;
};

// In `extra`, pairs of a name and a value: CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE.
inline constexpr uintptr_t kExtraEnd = 0, kExtraBuffer = 1, kExtraSize = 2;

// X(member, exported name, parameters): all return CUresult.
#define TILESCOPE_CAPTURE_FUNCTIONS(X)                                                            \
    X(function_name, "cuFuncGetName", (const char** name, void* function))                        \
    X(function_module, "cuFuncGetModule", (void** module, void* function))                        \
    X(kernel_name, "cuKernelGetName", (const char** name, void* kernel))                          \
    X(kernel_library, "cuKernelGetLibrary", (void** library, void* kernel))                       \
    X(kernel_function, "cuKernelGetFunction", (void** function, void* kernel))                    \
    X(function_load, "cuFuncLoad", (void* function))                                              \
    X(pointer_attribute, "cuPointerGetAttribute", (void* value, int attribute, uint64_t pointer)) \
    X(context_current, "cuCtxGetCurrent", (void** context))                                       \
    X(context_device, "cuCtxGetDevice", (int* device))                                            \
    X(device_attribute, "cuDeviceGetAttribute", (int* value, int attribute, int device))          \
    X(context_synchronize, "cuCtxSynchronize", ())                                                \
    X(capture_status, "cuStreamIsCapturing", (void* stream, int* status))                         \
    X(capture_mode, "cuThreadExchangeStreamCaptureMode", (int* mode))                             \
    X(module_global, "cuModuleGetGlobal_v2",                                                      \
      (uint64_t * address, size_t * bytes, void* module, const char* name))                       \
    X(event_create, "cuEventCreate", (void** event, unsigned flags))                              \
    X(event_record, "cuEventRecord", (void* event, void* stream))                                 \
    X(event_query, "cuEventQuery", (void* event))                                                 \
    X(event_elapsed, "cuEventElapsedTime", (float* milliseconds, void* from, void* to))

struct CaptureApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): parts of a declaration take none
#define TILESCOPE_MEMBER(member, name, parameters) int(*member) parameters = nullptr;
    TILESCOPE_CAPTURE_FUNCTIONS(TILESCOPE_MEMBER)
#undef TILESCOPE_MEMBER
};

inline constexpr int kRangeStart = 11, kRangeBytes = 12;  // CUpointer_attribute
inline constexpr int kCaptureRelaxed = 2;                 // CUstreamCaptureMode
// CU_STREAM_PER_THREAD: what a null stream means for calls by thread.
inline constexpr uintptr_t kPerThreadStream = 2;

// The driver that this process has. Error: one older than CUDA 12.4, which does not tell the names of kernels.
Result<CaptureApi> open_capture_api();

}  // namespace tilescope::capture
