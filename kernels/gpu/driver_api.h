// The functions of libcuda that are used here, declared by hand: types, values and versioned names, so that
// no header of the CUDA Toolkit is needed. A name such as cuMemAlloc_v2 is the function that the Toolkit's
// header means by cuMemAlloc: libcuda keeps every version of a function that it ever had.
//
// Source: CUDA Driver API reference manual, "Data types used by CUDA driver" and the functions' chapters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/result.h"

namespace tilescope::gpu {

using CuContext = struct CuContextHandle*;
using CuModule = struct CuModuleHandle*;
using CuFunction = struct CuFunctionHandle*;
using CuEvent = struct CuEventHandle*;
using CuStream = struct CuStreamHandle*;
using CuMemoryHandle = unsigned long long;
using CuAddress = uint64_t;

// CUresult: those that something is done about.
inline constexpr int kCuSuccess = 0, kCuInvalidValue = 1, kCuOutOfMemory = 2, kCuStubLibrary = 34,
                     kCuDeviceUnavailable = 46, kCuNoDevice = 100, kCuNoBinary = 209, kCuInvalidPtx = 218,
                     kCuNoJitCompiler = 221, kCuUnsupportedPtx = 222, kCuNotFound = 500, kCuNotReady = 600,
                     kCuOutOfResources = 701, kCuDriverMismatch = 803;

// CUdevice_attribute
inline constexpr int kCuThreadsPerBlock = 1, kCuSharedPerBlock = 8, kCuWarpSize = 10,
                     kCuRegistersPerBlock = 12, kCuClockRate = 13, kCuMultiprocessors = 16,
                     kCuMemoryClockRate = 36, kCuMemoryBusWidth = 37, kCuL2Bytes = 38, kCuThreadsPerSm = 39,
                     kCuMajor = 75, kCuMinor = 76, kCuSharedPerSm = 81, kCuRegistersPerSm = 82,
                     kCuSharedPerBlockOptin = 97, kCuBlocksPerSm = 106;

// CUfunction_attribute
inline constexpr int kCuFunctionThreads = 0, kCuFunctionShared = 1, kCuFunctionLocal = 3,
                     kCuFunctionRegisters = 4, kCuFunctionDynamicShared = 8,
                     kCuFunctionLargeCluster = 13;  // CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED

// Memory that is mapped to chosen addresses: CUmemAllocationProp, CUmemAccessDesc and their values.
struct CuMemoryLocation {
    int type = 1;  // CU_MEM_LOCATION_TYPE_DEVICE
    int id = 0;
};
struct CuMemoryProperties {
    int type = 1;  // CU_MEM_ALLOCATION_TYPE_PINNED
    int handle_types = 0;
    CuMemoryLocation location;
    void* win32 = nullptr;
    unsigned char flags[8] = {};
};
struct CuMemoryAccess {
    CuMemoryLocation location;
    int flags = 3;  // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};
static_assert(sizeof(CuMemoryProperties) == 32 && sizeof(CuMemoryAccess) == 12);

// CUjit_option
inline constexpr int kCuJitMaxRegisters = 0, kCuJitErrorLog = 5, kCuJitErrorLogBytes = 6;

// X(member, exported name, parameters): all return CUresult.
#define TILESCOPE_CUDA_FUNCTIONS(X)                                                                       \
    X(init, "cuInit", (unsigned flags))                                                                   \
    X(error_string, "cuGetErrorString", (int code, const char** text))                                    \
    X(device_count, "cuDeviceGetCount", (int* count))                                                     \
    X(device_get, "cuDeviceGet", (int* device, int ordinal))                                              \
    X(device_name, "cuDeviceGetName", (char* name, int bytes, int device))                                \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, int device))                                 \
    X(device_attribute, "cuDeviceGetAttribute", (int* value, int attribute, int device))                  \
    X(context_retain, "cuDevicePrimaryCtxRetain", (CuContext * context, int device))                      \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                                      \
    X(context_reset, "cuDevicePrimaryCtxReset_v2", (int device))                                          \
    X(context_create, "cuCtxCreate_v2", (CuContext * context, unsigned flags, int device))                \
    X(context_destroy, "cuCtxDestroy_v2", (CuContext context))                                            \
    X(context_set, "cuCtxSetCurrent", (CuContext context))                                                \
    X(context_synchronize, "cuCtxSynchronize", ())                                                        \
    X(memory_info, "cuMemGetInfo_v2", (size_t * free, size_t * total))                                    \
    X(memory_allocate, "cuMemAlloc_v2", (CuAddress * address, size_t bytes))                              \
    X(memory_free, "cuMemFree_v2", (CuAddress address))                                                   \
    X(range_reserve, "cuMemAddressReserve",                                                               \
      (CuAddress * address, size_t bytes, size_t alignment, CuAddress wanted, unsigned long long flags))  \
    X(range_free, "cuMemAddressFree", (CuAddress address, size_t bytes))                                  \
    X(memory_create, "cuMemCreate",                                                                       \
      (CuMemoryHandle * handle, size_t bytes, const CuMemoryProperties* properties,                       \
       unsigned long long flags))                                                                         \
    X(memory_release, "cuMemRelease", (CuMemoryHandle handle))                                            \
    X(memory_map, "cuMemMap",                                                                             \
      (CuAddress address, size_t bytes, size_t offset, CuMemoryHandle handle, unsigned long long flags))  \
    X(memory_unmap, "cuMemUnmap", (CuAddress address, size_t bytes))                                      \
    X(memory_access, "cuMemSetAccess",                                                                    \
      (CuAddress address, size_t bytes, const CuMemoryAccess* access, size_t count))                      \
    X(host_register, "cuMemHostRegister_v2", (void* start, size_t bytes, unsigned flags))                 \
    X(host_unregister, "cuMemHostUnregister", (void* start))                                              \
    X(upload, "cuMemcpyHtoD_v2", (CuAddress to, const void* from, size_t bytes))                          \
    X(download, "cuMemcpyDtoH_v2", (void* to, CuAddress from, size_t bytes))                              \
    X(copy, "cuMemcpyDtoD_v2", (CuAddress to, CuAddress from, size_t bytes))                              \
    X(fill8, "cuMemsetD8_v2", (CuAddress to, unsigned char value, size_t count))                          \
    X(fill32, "cuMemsetD32_v2", (CuAddress to, unsigned value, size_t count))                             \
    X(event_create, "cuEventCreate", (CuEvent * event, unsigned flags))                                   \
    X(event_destroy, "cuEventDestroy_v2", (CuEvent event))                                                \
    X(event_record, "cuEventRecord", (CuEvent event, CuStream stream))                                    \
    X(event_query, "cuEventQuery", (CuEvent event))                                                       \
    X(event_elapsed, "cuEventElapsedTime", (float* milliseconds, CuEvent from, CuEvent to))               \
    X(module_load, "cuModuleLoadDataEx",                                                                  \
      (CuModule * module, const void* image, unsigned options, int* names, void** values))                \
    X(module_unload, "cuModuleUnload", (CuModule module))                                                 \
    X(module_function, "cuModuleGetFunction", (CuFunction * function, CuModule module, const char* name)) \
    X(module_global, "cuModuleGetGlobal_v2",                                                              \
      (CuAddress * address, size_t * bytes, CuModule module, const char* name))                           \
    X(function_attribute, "cuFuncGetAttribute", (int* value, int attribute, CuFunction function))         \
    X(function_set, "cuFuncSetAttribute", (CuFunction function, int attribute, int value))                \
    X(launch, "cuLaunchKernel",                                                                           \
      (CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,          \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CuStream stream, void** parameters,     \
       void** extra))

struct LaunchAttribute {  // CUlaunchAttribute
    int id;
    int pad;
    unsigned value[16];
};
inline constexpr int kAttributeCooperative = 2, kAttributeCluster = 4;

struct LaunchConfig {  // CUlaunchConfig
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    CuStream stream;
    const LaunchAttribute* attributes;
    unsigned attribute_count;
};

struct DriverApi {
    int version = 0;  // of CUDA: 13000 is 13.0
// NOLINTNEXTLINE(bugprone-macro-parentheses): parts of a declaration take none
#define TILESCOPE_MEMBER(member, name, parameters) int(*member) parameters = nullptr;
    TILESCOPE_CUDA_FUNCTIONS(TILESCOPE_MEMBER)
#undef TILESCOPE_MEMBER
    // cuFuncLoad, null before CUDA 12.4. Where it is not called, the first launch also brings the code to the device.
    int (*function_load)(CuFunction function) = nullptr;
    // cuLaunchKernelEx, null before CUDA 11.8.
    int (*launch_with)(const LaunchConfig* config, CuFunction function, void** parameters,
                       void** extra) = nullptr;
    // cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, null before CUDA 12.0.
    int (*tensor_map_tiled)(void* made, int type, uint32_t rank, void* start, const uint64_t* extents,
                            const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,
                            int interleave, int swizzle, int promotion, int fill) = nullptr;
    int (*tensor_map_im2col)(void* made, int type, uint32_t rank, void* start, const uint64_t* extents,
                             const uint64_t* strides, const int* lower, const int* upper, uint32_t channels,
                             uint32_t pixels, const uint32_t* element_strides, int interleave, int swizzle,
                             int promotion, int fill) = nullptr;
};

inline constexpr const char* kDriverLibrary = "libcuda.so.1";

// Opens the driver and checks its version (CUDA 11.0 or newer), without starting it.
Result<std::shared_ptr<const DriverApi>> open_driver(const std::string& library = kDriverLibrary);

// The driver's own words for a result, "an illegal memory access was encountered".
std::string words_of(const DriverApi& api, int code);

// True for results after which the driver refuses everything that the context holds.
bool loses_context(int code);

}  // namespace tilescope::gpu
