// What a CUDA program includes first: the runtime's C interface, vectors, and the templates that give its
// functions types.
//
// Source: CUDA Runtime API 12, "C++ API Routines", "Highlevel APIs: Occupancy".
#pragma once

// By these, programs ask whether the toolkit's headers of those names were read.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__

#include "cuda_runtime_api.h"
#include "host_defines.h"
#include "tilescope_textures.h"
#include "vector_functions.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus

static inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width, size_t height) {
    return {pointer, pitch, width, height};
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    return {width, height, depth};
}

template <class T>
static inline cudaError_t cudaMalloc(T** pointer, size_t bytes) {
    return ::cudaMalloc((void**)pointer, bytes);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
    return ::cudaMallocManaged((void**)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
    return ::cudaMallocPitch((void**)pointer, pitch, width, height);
}
template <class T>
static inline cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned flags = 0) {
    return ::cudaHostAlloc((void**)pointer, bytes, flags);
}
static inline cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned flags) {
    return ::cudaHostAlloc(pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned flags) {
    return ::cudaHostAlloc((void**)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags) {
    return ::cudaHostGetDevicePointer((void**)device, host, flags);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
    return ::cudaMallocAsync((void**)pointer, bytes, stream);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void**)pointer, bytes, pool, stream);
}
template <class T>
static inline cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t pool,
                                                  cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void**)pointer, bytes, pool, stream);
}
static inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                               unsigned flags, cudaStream_t stream = 0) {
    return ::cudaMemPrefetchAsync_v2(pointer, bytes, location, flags, stream);
}
static inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                                        cudaMemLocation location) {
    return ::cudaMemAdvise_v2(pointer, bytes, advice, location);
}
template <class T>
static inline cudaError_t cudaFuncGetName(const char** name, T* function) {
    return ::cudaFuncGetName(name, (const void*)function);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t bytes, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return ::cudaMemcpyToSymbol((const void*)&symbol, src, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t bytes,
                                                  size_t offset = 0,
                                                  cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                  cudaStream_t stream = 0) {
    return ::cudaMemcpyToSymbolAsync((const void*)&symbol, src, bytes, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return ::cudaMemcpyFromSymbol(dst, (const void*)&symbol, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t bytes,
                                                    size_t offset = 0,
                                                    cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                    cudaStream_t stream = 0) {
    return ::cudaMemcpyFromSymbolAsync(dst, (const void*)&symbol, bytes, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
    return ::cudaGetSymbolAddress(pointer, (const void*)&symbol);
}
template <class T>
static inline cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
    return ::cudaGetSymbolSize(bytes, (const void*)&symbol);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
    return ::cudaEventCreateWithFlags(event, flags);
}

template <class T>
static inline cudaError_t cudaLaunchKernel(T* function, dim3 grid, dim3 block, void** arguments,
                                           size_t shared = 0, cudaStream_t stream = 0) {
    return ::cudaLaunchKernel((const void*)function, grid, block, arguments, shared, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T* function, dim3 grid, dim3 block, void** arguments,
                                                      size_t shared = 0, cudaStream_t stream = 0) {
    return ::cudaLaunchCooperativeKernel((const void*)function, grid, block, arguments, shared, stream);
}
template <class... Parameters, class... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*function)(Parameters...),
                                             Arguments&&... arguments) {
    // Each argument as the parameter's type, for as long as the call.
    return [&](Parameters... values) {
        void* all[] = {(void*)&values..., nullptr};
        return ::cudaLaunchKernelExC(config, (const void*)function, all);
    }(static_cast<Arguments&&>(arguments)...);
}
template <class T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* function) {
    return ::cudaFuncGetAttributes(attributes, (const void*)function);
}
template <class T>
static inline cudaError_t cudaFuncSetAttribute(T* function, cudaFuncAttribute attribute, int value) {
    return ::cudaFuncSetAttribute((const void*)function, attribute, value);
}
template <class T>
static inline cudaError_t cudaFuncSetCacheConfig(T* function, cudaFuncCache config) {
    return ::cudaFuncSetCacheConfig((const void*)function, config);
}
template <class T>
static inline cudaError_t cudaFuncSetSharedMemConfig(T* function, cudaSharedMemConfig config) {
    return ::cudaFuncSetSharedMemConfig((const void*)function, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* function,
                                                                        int blockSize, size_t shared) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)function, blockSize, shared);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T* function,
                                                                                 int blockSize, size_t shared,
                                                                                 unsigned flags) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)function, blockSize,
                                                                    shared, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared, T* function, int blocks,
                                                                    int blockSize) {
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(shared, (const void*)function, blocks, blockSize);
}

// The block size that keeps most threads on an SM, and the fewest blocks that fill the device with it.
template <class SharedOf, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* least_blocks, int* block_size,
                                                                         T function, SharedOf shared_of,
                                                                         int limit = 0) {
    int device = 0, sms = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = ::cudaGetDevice(&device);
    if (error == cudaSuccess) error = ::cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = ::cudaFuncGetAttributes(&attributes, (const void*)function);
    if (error != cudaSuccess) return error;
    int most = attributes.maxThreadsPerBlock, best = 0;
    if (limit > 0 && limit < most) most = limit;
    *least_blocks = *block_size = 0;
    for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
        const int threads = size < most ? size : most;
        int blocks = 0;
        error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)function, threads,
                                                                shared_of(threads));
        if (error != cudaSuccess) return error;
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        *block_size = threads;
        *least_blocks = blocks * sms;
    }
    return cudaSuccess;
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* least_blocks, int* block_size, T function,
                                                             size_t shared = 0, int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        least_blocks, block_size, function, [shared](int) { return shared; }, limit);
}

#ifdef __CUDA__
// What Thrust and CUB name in functions that launch from the device; no device code of theirs comes to call it.
extern "C" {
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
__device__ void* cudaGetParameterBuffer(size_t alignment, size_t bytes);
__device__ cudaError_t cudaLaunchDevice(void* function, void* parameters, dim3 grid, dim3 block,
                                        unsigned int shared, cudaStream_t stream);
}
#endif

#endif  // __cplusplus
