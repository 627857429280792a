// The driver's functions that programs call beside the runtime: tensor maps, and what finds functions by name.
//
// A tensor map's 128 bytes are ours (core/ptx/tensor_map.h), which the interpreter reads. On a GPU they are the driver's,
// and the runtime keeps what they say.
//
// Source: CUDA Driver API 12, "Tensor Map Object Management", "Driver Entry Point Access"; CUDA Runtime API 12, "Driver
// Entry Point Access".
#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "kernels/cudart/include/cuda.h"
#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {
namespace {

using ptx::TensorMap;

constexpr size_t kMapAlignment = ptx::kTensorMapAlignment;
static_assert(sizeof(CUtensorMap) == ptx::kTensorMapBytes && alignof(CUtensorMap) == kMapAlignment);

// A call of the driver's: errors are its own, which cudaGetLastError does not tell.
template <class Body>
CUresult driver_call(Body body) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    open_managed(r);
    return r.sticky != cudaSuccess ? static_cast<CUresult>(r.sticky) : body(r);
}

CUresult refuse(Runtime& r, const std::string& why) {
    note(r, "remark", "is refused: " + why);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult give_map(Runtime& r, CUtensorMap* to, const TensorMap& map) {
    if (const auto allowed = ptx::check(map, r.device.sm.major); !allowed)
        return refuse(r, allowed.error().message);
    ptx::TensorMapBytes bytes = ptx::encode(map);
    if (r.gpu) {
        const auto made = r.gpu->device().tensor_map(map);
        if (!made) {
            say(made.error().message);
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        bytes = *made;
        r.tensor_maps.made(bytes, map);
    }
    std::memcpy(to, bytes.data(), bytes.size());
    return CUDA_SUCCESS;
}

// What both forms of a map have.
struct Given {
    CUtensorMap* to;
    CUtensorMapDataType type;
    cuuint32_t rank;
    void* start;
    const cuuint64_t *extents, *strides;
    const cuuint32_t* element_strides;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

// What is wrong with it, as a sentence; empty where it is read.
std::string read_map(const Given& given, TensorMap& map) {
    if (given.to == nullptr || reinterpret_cast<uintptr_t>(given.to) % kMapAlignment != 0)
        return fmt::format("tensorMap is {}; it must be the address of a CUtensorMap, a multiple of {}",
                           static_cast<void*>(given.to), kMapAlignment);
    if (given.rank < 1 || given.rank > ptx::kMostDimensions)
        return fmt::format("tensorRank is {}; it must be 1 to {}", given.rank, ptx::kMostDimensions);
    for (const auto& [name, pointer] : {std::pair<const char*, const void*>{"globalDim", given.extents},
                                        {"elementStrides", given.element_strides},
                                        {"globalStrides", given.rank > 1 ? given.strides : given.extents}})
        if (pointer == nullptr) return fmt::format("{} is null", name);
    if (static_cast<uint32_t>(given.fill) > 1)
        return fmt::format("oobFill is {}, which is no way to fill", static_cast<uint32_t>(given.fill));
    map =
        ptx::map_of({static_cast<uint32_t>(given.type), given.rank, reinterpret_cast<uintptr_t>(given.start),
                     given.extents, given.strides, given.element_strides,
                     static_cast<uint32_t>(given.interleave), static_cast<uint32_t>(given.swizzle),
                     static_cast<uint32_t>(given.promotion), static_cast<uint32_t>(given.fill)});
    return "";
}

// read_rest(map) reads what one form alone has, and says what is wrong with it.
template <class Fn>
CUresult encode(const Given& given, Fn read_rest) {
    return driver_call([&](Runtime& r) {
        TensorMap map;
        std::string wrong = read_map(given, map);
        if (wrong.empty()) wrong = read_rest(map);
        return wrong.empty() ? give_map(r, given.to, map) : refuse(r, wrong);
    });
}

struct DriverFunction {
    std::string_view name;
    void* function;
    unsigned since;  // version of CUDA, 12000 for 12.0
};

const DriverFunction* find_function(std::string_view name) {
    static const DriverFunction all[] = {
        {"cuGetErrorName", reinterpret_cast<void*>(&cuGetErrorName), 6000},
        {"cuGetErrorString", reinterpret_cast<void*>(&cuGetErrorString), 6000},
        {"cuGetProcAddress", reinterpret_cast<void*>(&cuGetProcAddress), 12000},
        {"cuTensorMapEncodeTiled", reinterpret_cast<void*>(&cuTensorMapEncodeTiled), 12000},
        {"cuTensorMapEncodeIm2col", reinterpret_cast<void*>(&cuTensorMapEncodeIm2col), 12000},
        {"cuTensorMapReplaceAddress", reinterpret_cast<void*>(&cuTensorMapReplaceAddress), 12000},
    };
    const auto* const found = std::ranges::find(all, name, &DriverFunction::name);
    return found == std::end(all) ? nullptr : found;
}

// The enumerations of runtime and driver have the same numbers.
CUdriverProcAddressQueryResult give_function(Runtime& r, const char* name, void** to, unsigned version) {
    const DriverFunction* const found = find_function(name);
    *to = found && version >= found->since ? found->function : nullptr;
    if (!found) note(r, "remark", fmt::format("asks for {}, which is not part of Tilescope's runtime", name));
    return !found ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
           : *to  ? CU_GET_PROC_ADDRESS_SUCCESS
                  : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
}

cudaError_t entry_point(const char* name, void** to, unsigned version,
                        cudaDriverEntryPointQueryResult* status) {
    return call([&](Runtime& r) {
        if (!name || !to) return cudaErrorInvalidValue;
        const auto result = give_function(r, name, to, version);
        if (status) *status = static_cast<cudaDriverEntryPointQueryResult>(result);
        return status || *to ? cudaSuccess : cudaErrorSymbolNotFound;
    });
}

}  // namespace
}  // namespace tilescope::cudart

using namespace tilescope::cudart;
namespace ptx = tilescope::ptx;

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* status) {
    return entry_point(symbol, function, CUDART_VERSION, status);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int cudaVersion,
                                             unsigned long long, cudaDriverEntryPointQueryResult* status) {
    return entry_point(symbol, function, cudaVersion, status);
}

CUresult cuGetProcAddress(const char* symbol, void** function, int cudaVersion, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
    return driver_call([&](Runtime& r) {
        if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
        const auto result =
            give_function(r, symbol, function, static_cast<unsigned>(std::max(cudaVersion, 0)));
        if (status) *status = result;
        return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    });
}

// The numbers of CUresult are those of cudaError_t from 100 on, and of the first few.
CUresult cuGetErrorName(CUresult error, const char** name) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = cudaGetErrorName(static_cast<cudaError_t>(error));
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = cudaGetErrorString(static_cast<cudaError_t>(error));
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
                                const cuuint64_t* globalStrides, const cuuint32_t* boxDim,
                                const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                CUtensorMapFloatOOBfill oobFill) {
    return encode({tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                   elementStrides, interleave, swizzle, l2Promotion, oobFill},
                  [&](TensorMap& map) -> std::string {
                      if (!boxDim) return "boxDim is null";
                      std::copy_n(boxDim, map.rank, map.box.begin());
                      return "";
                  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                 cuuint32_t tensorRank, void* globalAddress, const cuuint64_t* globalDim,
                                 const cuuint64_t* globalStrides, const int* pixelBoxLowerCorner,
                                 const int* pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
                                 cuuint32_t pixelsPerColumn, const cuuint32_t* elementStrides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
    return encode({tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                   elementStrides, interleave, swizzle, l2Promotion, oobFill},
                  [&](TensorMap& map) -> std::string {
                      if (!pixelBoxLowerCorner || !pixelBoxUpperCorner)
                          return "a corner of the pixels' box is null";
                      map.im2col = true, map.channels = channelsPerPixel, map.pixels = pixelsPerColumn;
                      const size_t corners = std::max<size_t>(map.rank, 2) - 2;
                      std::copy_n(pixelBoxLowerCorner, corners, map.lower_corner.begin());
                      std::copy_n(pixelBoxUpperCorner, corners, map.upper_corner.begin());
                      return "";
                  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) {
    return driver_call([&](Runtime& r) {
        if (!tensorMap) return refuse(r, "tensorMap is null");
        ptx::TensorMapBytes bytes;
        std::memcpy(bytes.data(), tensorMap, bytes.size());
        auto map = ptx::decode(bytes);
        if (const TensorMap* const known = r.tensor_maps.find(bytes)) map = *known;
        if (!map)
            return refuse(r, "tensorMap was not made by cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col");
        map->address = reinterpret_cast<uintptr_t>(globalAddress);
        return give_map(r, tensorMap, *map);
    });
}
