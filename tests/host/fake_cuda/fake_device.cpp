// The driver, its devices and their contexts.
#include <cstring>

#include "fake.h"

using namespace fake;

EXPORT int cuDriverGetVersion(int* version) {
    *version = static_cast<int>(value_of("version", 13000));
    return code_of("asked");
}

EXPORT int cuInit(unsigned) {
    gpu.started = code_of("init") == 0;
    gpu.broken_starts = code_of("sick");
    return code_of("init");
}

EXPORT int cuGetErrorString(int code, const char** text) {
    switch (code) {
        case 1: *text = "invalid argument"; return 0;
        case 2: *text = "out of memory"; return 0;
        case 34: *text = "CUDA driver is a stub library"; return 0;
        case 46: *text = "CUDA-capable device(s) is/are busy or unavailable"; return 0;
        case 100: *text = "no CUDA-capable device is detected"; return 0;
        case 209: *text = "no kernel image is available for execution on the device"; return 0;
        case 218: *text = "a PTX JIT compilation failed"; return 0;
        case 221: *text = "PTX JIT compiler library not found"; return 0;
        case 222: *text = "the provided PTX was compiled with an unsupported toolchain."; return 0;
        case 304: *text = "OS call failed or operation not supported on this OS"; return 0;
        case 500: *text = "named symbol not found"; return 0;
        case 700: *text = "an illegal memory access was encountered"; return 0;
        case 701: *text = "too many resources requested for launch"; return 0;
        case 719: *text = "unspecified launch failure"; return 0;
        case 803: *text = "system has unsupported display driver / cuda driver combination"; return 0;
        default: *text = nullptr; return 1;
    }
}

EXPORT int cuDeviceGetCount(int* count) { return *count = static_cast<int>(value_of("count", 1)), 0; }
EXPORT int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }

EXPORT int cuDeviceGetName(char* name, int bytes, int) {
    std::strncpy(name, "Stand-in GPU", static_cast<size_t>(bytes));
    return 0;
}

EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int) {
    return *bytes = static_cast<size_t>(value_of("memory", 1L << 30)), 0;
}

EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
    static const std::map<int, int> values{{1, 1024},      {8, 49152},   {10, 32},      {12, 65536},
                                           {13, 1980000},  {16, 132},    {36, 3201000}, {37, 6144},
                                           {38, 62914560}, {39, 2048},   {76, 0},       {81, 233472},
                                           {82, 65536},    {97, 232448}, {106, 32}};
    if (attribute == 75) return *value = static_cast<int>(value_of("major", 9)), 0;
    const auto known = values.find(attribute);
    if (known == values.end()) return 1;
    return *value = known->second, 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void** context, int) {
    if (const int code = code_of("retain")) return code;
    gpu.primary.sick = gpu.broken_starts > 0;
    if (gpu.primary.sick) --gpu.broken_starts;
    ++gpu.primary.alive;
    *context = &gpu.primary;
    return 0;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
    if (gpu.primary.alive == 0) return 201;
    if (--gpu.primary.alive == 0) drop_all();
    return 0;
}

EXPORT int cuDevicePrimaryCtxReset_v2(int) {
    if (busy()) ++gpu.blocked;
    ++gpu.resets;
    drop_all();
    gpu.primary = Context{};
    gpu.fault = gpu.pending_fault = 0;
    return 0;
}

EXPORT int cuCtxCreate_v2(void** context, unsigned, int) {
    if (const int code = code_of("create")) return code;
    ++gpu.others;
    gpu.other.alive = 1;
    *context = &gpu.other;
    return 0;
}

EXPORT int cuCtxDestroy_v2(void*) {
    if (busy()) ++gpu.blocked;
    drop_all();
    gpu.other = Context{};
    gpu.fault = gpu.pending_fault = 0;
    return 0;
}

EXPORT int cuCtxSetCurrent(void* context) { return current = static_cast<Context*>(context), 0; }
EXPORT int cuCtxSynchronize() { return enter(true); }

// NVRTC looks for this in whatever libcuda.so.1 the process has opened.
EXPORT int cuGetExportTable(const void** table, const void*) { return *table = nullptr, 500; }
