// The runtime's functions of the device: there is one, of assets/devices, and its memory is this machine's.
//
// What the device's file does not say is what most devices of today have, or nothing: a property that stands
// for something that is not offered here (textures, CUDA arrays, peers) is 0.
//
// Source: CUDA Runtime API 12, "Device Management", "Peer Device Memory Access", "Version Management"; CUDA
// C++ Programming Guide, "Technical Specifications per Compute Capability".
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {
namespace {

constexpr int kVersion = CUDART_VERSION;
constexpr int kMostGridX = 0x7FFF'FFFF, kMostGridYz = 65'535;
constexpr const char* kBusId = "0000:00:00.0";

cudaDeviceProp properties_of(const Runtime& r) {
    const analysis::SmLimits& sm = r.device.sm;
    const auto number = [](uint64_t value) { return static_cast<int>(value); };
    cudaDeviceProp p{};
    const std::string name = "NVIDIA " + r.device.name;
    std::snprintf(p.name, sizeof(p.name), "%s", name.c_str());
    p.totalGlobalMem = r.memory.total();
    p.sharedMemPerBlock = sm.shared_per_block;
    p.sharedMemPerMultiprocessor = sm.shared_per_sm;
    p.sharedMemPerBlockOptin = sm.shared_per_block_optin;
    p.reservedSharedMemPerBlock = sm.shared_reserved;
    p.regsPerBlock = number(sm.registers_per_block);
    p.regsPerMultiprocessor = number(sm.registers_per_sm);
    p.warpSize = number(sm.warp_size);
    p.memPitch = 0x7FFF'FFFF;
    p.maxThreadsPerBlock = number(sm.threads_per_block);
    p.maxThreadsPerMultiProcessor = number(sm.threads_per_sm);
    p.maxBlocksPerMultiProcessor = number(sm.blocks_per_sm);
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = number(sm.threads_per_block);
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = kMostGridX, p.maxGridSize[1] = p.maxGridSize[2] = kMostGridYz;
    p.totalConstMem = kMostConstantBytes;
    p.major = number(sm.major), p.minor = number(sm.minor);
    p.multiProcessorCount = number(r.device.sms);
    // Programs compute GB/s and GFLOP/s from these: twice the clock times the bus is the stated bandwidth.
    constexpr int kBusBits = 1024;
    p.memoryBusWidth = kBusBits;
    p.memoryClockRate = static_cast<int>(r.device.memory_gbs * 1e6 / (2.0 * kBusBits / 8));
    p.clockRate = r.device.sms ? static_cast<int>(r.device.peak_gflops * 1e6 / (r.device.sms * 256.0)) : 0;
    p.l2CacheSize = 4 << 20;
    p.textureAlignment = 512, p.texturePitchAlignment = 32, p.surfaceAlignment = 512;
    p.concurrentKernels = p.deviceOverlap = p.asyncEngineCount = 1;
    p.unifiedAddressing = p.canMapHostMemory = p.managedMemory = p.concurrentManagedAccess = 1;
    p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
    p.computePreemptionSupported = p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = 1;
    p.cooperativeLaunch = 1;
    p.memoryPoolsSupported = 1;
    p.singleToDoublePrecisionPerfRatio = 2;
    return p;
}

using Getter = int (*)(const cudaDeviceProp&);

// Attributes are properties by another name; those that are not here are 0.
const std::map<cudaDeviceAttr, Getter>& attributes() {
    using P = const cudaDeviceProp&;
    static const auto* const table = new std::map<cudaDeviceAttr, Getter>{
        {cudaDevAttrMaxThreadsPerBlock, [](P p) { return p.maxThreadsPerBlock; }},
        {cudaDevAttrMaxBlockDimX, [](P p) { return p.maxThreadsDim[0]; }},
        {cudaDevAttrMaxBlockDimY, [](P p) { return p.maxThreadsDim[1]; }},
        {cudaDevAttrMaxBlockDimZ, [](P p) { return p.maxThreadsDim[2]; }},
        {cudaDevAttrMaxGridDimX, [](P p) { return p.maxGridSize[0]; }},
        {cudaDevAttrMaxGridDimY, [](P p) { return p.maxGridSize[1]; }},
        {cudaDevAttrMaxGridDimZ, [](P p) { return p.maxGridSize[2]; }},
        {cudaDevAttrMaxSharedMemoryPerBlock, [](P p) { return static_cast<int>(p.sharedMemPerBlock); }},
        {cudaDevAttrTotalConstantMemory, [](P p) { return static_cast<int>(p.totalConstMem); }},
        {cudaDevAttrWarpSize, [](P p) { return p.warpSize; }},
        {cudaDevAttrMaxPitch, [](P p) { return static_cast<int>(p.memPitch); }},
        {cudaDevAttrMaxRegistersPerBlock, [](P p) { return p.regsPerBlock; }},
        {cudaDevAttrClockRate, [](P p) { return p.clockRate; }},
        {cudaDevAttrTextureAlignment, [](P p) { return static_cast<int>(p.textureAlignment); }},
        {cudaDevAttrGpuOverlap, [](P p) { return p.deviceOverlap; }},
        {cudaDevAttrMultiProcessorCount, [](P p) { return p.multiProcessorCount; }},
        {cudaDevAttrCanMapHostMemory, [](P p) { return p.canMapHostMemory; }},
        {cudaDevAttrConcurrentKernels, [](P p) { return p.concurrentKernels; }},
        {cudaDevAttrMemoryClockRate, [](P p) { return p.memoryClockRate; }},
        {cudaDevAttrGlobalMemoryBusWidth, [](P p) { return p.memoryBusWidth; }},
        {cudaDevAttrL2CacheSize, [](P p) { return p.l2CacheSize; }},
        {cudaDevAttrMaxThreadsPerMultiProcessor, [](P p) { return p.maxThreadsPerMultiProcessor; }},
        {cudaDevAttrAsyncEngineCount, [](P p) { return p.asyncEngineCount; }},
        {cudaDevAttrUnifiedAddressing, [](P p) { return p.unifiedAddressing; }},
        {cudaDevAttrComputeCapabilityMajor, [](P p) { return p.major; }},
        {cudaDevAttrComputeCapabilityMinor, [](P p) { return p.minor; }},
        {cudaDevAttrStreamPrioritiesSupported, [](P p) { return p.streamPrioritiesSupported; }},
        {cudaDevAttrGlobalL1CacheSupported, [](P p) { return p.globalL1CacheSupported; }},
        {cudaDevAttrLocalL1CacheSupported, [](P p) { return p.localL1CacheSupported; }},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
         [](P p) { return static_cast<int>(p.sharedMemPerMultiprocessor); }},
        {cudaDevAttrMaxRegistersPerMultiprocessor, [](P p) { return p.regsPerMultiprocessor; }},
        {cudaDevAttrManagedMemory, [](P p) { return p.managedMemory; }},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, [](P p) { return p.singleToDoublePrecisionPerfRatio; }},
        {cudaDevAttrConcurrentManagedAccess, [](P p) { return p.concurrentManagedAccess; }},
        {cudaDevAttrComputePreemptionSupported, [](P p) { return p.computePreemptionSupported; }},
        {cudaDevAttrCanUseHostPointerForRegisteredMem,
         [](P p) { return p.canUseHostPointerForRegisteredMem; }},
        {cudaDevAttrCooperativeLaunch, [](P p) { return p.cooperativeLaunch; }},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin,
         [](P p) { return static_cast<int>(p.sharedMemPerBlockOptin); }},
        {cudaDevAttrHostRegisterSupported, [](P p) { return p.hostRegisterSupported; }},
        {cudaDevAttrMaxBlocksPerMultiprocessor, [](P p) { return p.maxBlocksPerMultiProcessor; }},
        {cudaDevAttrReservedSharedMemoryPerBlock,
         [](P p) { return static_cast<int>(p.reservedSharedMemPerBlock); }},
        {cudaDevAttrMemoryPoolsSupported, [](P p) { return p.memoryPoolsSupported; }},
    };
    return *table;
}

template <class Body>
cudaError_t with_device(int device, Body body) {
    return call([&](Runtime& r) { return device == 0 ? body(r) : cudaErrorInvalidDevice; });
}

// Limits that a program sets and reads back; nothing here needs them.
std::map<cudaLimit, size_t>& limits() {
    static auto* const all = new std::map<cudaLimit, size_t>{{cudaLimitStackSize, 1024},
                                                             {cudaLimitPrintfFifoSize, 1 << 20},
                                                             {cudaLimitMallocHeapSize, 8 << 20},
                                                             {cudaLimitDevRuntimeSyncDepth, 2},
                                                             {cudaLimitDevRuntimePendingLaunchCount, 2048},
                                                             {cudaLimitMaxL2FetchGranularity, 64},
                                                             {cudaLimitPersistingL2CacheSize, 0}};
    return *all;
}

unsigned device_flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
cudaFuncCache cache_config = cudaFuncCachePreferNone;

cudaError_t no_peer(int device, int peer) {
    return call([&](Runtime&) {
        return device == 0 && peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice;
    });
}

cudaError_t unsupported() {
    return call([](Runtime&) { return cudaErrorNotSupported; });
}

cudaError_t nothing_to_do() {
    return call([](Runtime&) { return cudaSuccess; });
}

template <class T>
cudaError_t give(T* to, T value) {
    return call([&](Runtime&) { return put(to, value); });
}

}  // namespace
}  // namespace tilescope::cudart

using namespace tilescope::cudart;

cudaError_t cudaGetDeviceCount(int* count) { return give(count, 1); }
cudaError_t cudaGetDevice(int* device) { return give(device, 0); }
cudaError_t cudaDriverGetVersion(int* version) { return give(version, kVersion); }
cudaError_t cudaRuntimeGetVersion(int* version) { return give(version, kVersion); }
cudaError_t cudaGetDeviceFlags(unsigned int* flags) { return give(flags, device_flags); }
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) { return give(config, cache_config); }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return give(config, cudaSharedMemBankSizeFourByte);
}

cudaError_t cudaSetDevice(int device) {
    return with_device(device, [](Runtime&) { return cudaSuccess; });
}
cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { return cudaSetDevice(device); }
cudaError_t cudaSetValidDevices(int* devices, int count) {
    return call([&](Runtime&) {
        if (!devices || count < 0) return cudaErrorInvalidValue;
        return std::all_of(devices, devices + count, [](int d) { return d == 0; }) ? cudaSuccess
                                                                                   : cudaErrorInvalidDevice;
    });
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return give(device, 0); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    return with_device(device, [&](Runtime& r) { return put(properties, properties_of(r)); });
}
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {
    return cudaGetDeviceProperties(properties, device);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return with_device(device, [&](Runtime& r) {
        if (!value || attribute <= 0 || attribute >= cudaDevAttrMax) return cudaErrorInvalidValue;
        const auto found = attributes().find(attribute);
        *value = found == attributes().end() ? 0 : found->second(properties_of(r));
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
    return with_device(device, [&](Runtime&) {
        if (!id || length <= 0) return cudaErrorInvalidValue;
        std::snprintf(id, static_cast<size_t>(length), "%s", kBusId);
        return cudaSuccess;
    });
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
    if (!id || std::strcmp(id, kBusId) != 0) return call([](Runtime&) { return cudaErrorInvalidValue; });
    return give(device, 0);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    return call([&](Runtime&) {
        if ((flags & ~unsigned{cudaDeviceMask}) != 0) return cudaErrorInvalidValue;
        device_flags = flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}

// Memory is freed and streams end. Source: "Device Management", cudaDeviceReset.
cudaError_t cudaDeviceReset() {
    return call([](Runtime& r) {
        flush_prints(r);
        r.memory.release_all();
        return cudaSuccess;
    });
}
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return call([&](Runtime& r) {
        if (!limits().contains(limit)) return cudaErrorUnsupportedLimit;
        if (limit == cudaLimitMallocHeapSize) {
            if (r.heap.placed()) return cudaErrorInvalidValue;  // a launch has used it
            r.heap_bytes = std::max(value, r.heap_bytes);
        }
        limits()[limit] = value;
        return cudaSuccess;
    });
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    return call([&](Runtime&) {
        if (!value) return cudaErrorInvalidValue;
        return limits().contains(limit) ? put(value, limits()[limit]) : cudaErrorUnsupportedLimit;
    });
}
cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return call([&](Runtime&) {
        cache_config = config;
        return cudaSuccess;
    });
}
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
cudaError_t cudaCtxResetPersistingL2Cache() { return nothing_to_do(); }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return nothing_to_do(); }
cudaError_t cudaProfilerStart() { return nothing_to_do(); }
cudaError_t cudaProfilerStop() { return nothing_to_do(); }

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (device != 0 || peer != 0) return call([](Runtime&) { return cudaErrorInvalidDevice; });
    return give(can, 0);
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int device, int peer) {
    return cudaDeviceCanAccessPeer(value, device, peer);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int) { return no_peer(0, peer); }
cudaError_t cudaDeviceDisablePeerAccess(int peer) { return no_peer(0, peer); }
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return unsupported(); }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned int) { return unsupported(); }
cudaError_t cudaIpcCloseMemHandle(void*) { return unsupported(); }
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) { return unsupported(); }
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) { return unsupported(); }
