// For programs that ask for cuda-samples' header of this name and do not bring it: checks of the runtime's
// results, and the choice of a device.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime.h"
#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }

template <class T>
inline void check(T result, const char* call, const char* file, int line) {
    if (!result) return;
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, (int)result,
            _cudaGetErrorEnum((cudaError_t)result), call);
    exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)

inline bool tilescope_last_error(const char* message, const char* file, int line) {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        fprintf(stderr, "%s(%i) : CUDA error : %s : (%d) %s.\n", file, line, message, (int)error,
                cudaGetErrorString(error));
    return error != cudaSuccess;
}
inline void __getLastCudaError(const char* message, const char* file, int line) {
    if (tilescope_last_error(message, file, line)) exit(EXIT_FAILURE);
}
inline void __printLastCudaError(const char* message, const char* file, int line) {
    tilescope_last_error(message, file, line);
}
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

inline int ftoi(float value) { return value >= 0 ? (int)(value + 0.5f) : (int)(value - 0.5f); }

// FP32 lanes of an SM: CUDA C++ Programming Guide, "Arithmetic Instructions", throughput of 32-bit additions.
inline int _ConvertSMVer2Cores(int major, int minor) {
    switch (major) {
        case 3: return 192;
        case 5: return 128;
        case 6: return minor == 0 ? 64 : 128;
        case 7: return 64;
        case 8: return minor == 0 ? 64 : 128;
        default: return 128;
    }
}
inline const char* _ConvertSMVer2ArchName(int major, int minor) {
    switch (major) {
        case 3: return "Kepler";
        case 5: return "Maxwell";
        case 6: return "Pascal";
        case 7: return minor == 5 ? "Turing" : "Volta";
        case 8: return minor == 9 ? "Ada" : "Ampere";
        case 9: return "Hopper";
        default: return "Blackwell";
    }
}
inline int gpuDeviceInit(int device) {
    checkCudaErrors(cudaSetDevice(device < 0 ? 0 : device));
    return device < 0 ? 0 : device;
}
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int findCudaDevice(int argc, const char** argv) {
    int device = 0;
    if (checkCmdLineFlag(argc, argv, "device")) device = getCmdLineArgumentInt(argc, argv, "device");
    device = gpuDeviceInit(device);
    cudaDeviceProp properties;
    checkCudaErrors(cudaGetDeviceProperties(&properties, device));
    printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device, properties.name, properties.major,
           properties.minor);
    return device;
}
inline int findIntegratedGPU() { return -1; }
inline bool checkCudaCapabilities(int major, int minor) {
    cudaDeviceProp properties;
    checkCudaErrors(cudaGetDeviceProperties(&properties, 0));
    return properties.major > major || (properties.major == major && properties.minor >= minor);
}
