// The runtime's functions that allocate, free, copy and set memory.
//
// Host and device share addresses, so a copy is a copy; what is checked is that the device's side lies within
// what was allocated. Copies and sets in a stream are done when they return.
//
// Source: CUDA Runtime API 12, "Memory Management", "Unified Addressing".
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include <fmt/format.h>
#include <sys/mman.h>

#include "core/base/words.h"
#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {
namespace {

constexpr size_t kPitchUnit = 512;  // bytes

cudaError_t allocate(Runtime& r, void** pointer, size_t bytes, MemoryKind kind, unsigned flags = 0) {
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    Allocation* const made = r.memory.allocate(bytes, kind, flags);
    if (!made) {
        // Programs may ask for more than there is to learn how much that is.
        note(r, "remark", gets_no_memory(bytes, "the device", r.memory.total(), r.memory.left()));
        return cudaErrorMemoryAllocation;
    }
    if (kind == MemoryKind::Device && r.recording && !r.gpu) r.memory.follow(*made);
    *pointer = made->pointer();
    return cudaSuccess;
}

cudaError_t release(Runtime& r, void* pointer, bool host) {
    if (!pointer) return cudaSuccess;
    const Allocation* const one = r.memory.find(pointer);
    const bool right = one && one->pointer() == pointer && one->kind != MemoryKind::Variable &&
                       one->kind != MemoryKind::Registered && (one->kind == MemoryKind::Host) == host;
    if (!right) return cudaErrorInvalidValue;
    flush_prints(r);
    r.memory.release(one->base);
    return cudaSuccess;
}

// A side of a copy: `rows` rows of `width` bytes in `slices` slices, and what the device has to hold of it.
struct Side {
    const void* pointer = nullptr;
    size_t pitch = 0, slice = 0;  // bytes from row to row, from slice to slice
    const std::byte* row(size_t z, size_t y) const {
        return static_cast<const std::byte*>(pointer) + z * slice + y * pitch;
    }
};
struct CopyExtent {
    size_t width = 0, rows = 1, slices = 1;
    bool empty() const { return width == 0 || rows == 0 || slices == 0; }
};

size_t span(const Side& side, const CopyExtent& box) {
    return (box.slices - 1) * side.slice + (box.rows - 1) * side.pitch + box.width;
}

// The side where this process has its bytes; null where a GPU does not answer.
bool bring(Runtime& r, Side& side) {
    Allocation* const one = r.memory.find(side.pointer);
    if (!one) return true;
    const std::byte* const bytes = r.memory.bytes(*one);
    if (bytes) side.pointer = bytes + (reinterpret_cast<uintptr_t>(side.pointer) - one->base);
    return bytes != nullptr;
}

const char* name_of(cudaMemcpyKind kind) {
    constexpr const char* kNames[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                      "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                      "cudaMemcpyDefault"};
    return kNames[kind];
}

// What a copy says of its memory, where that is not so: which side is whose, and what is meant.
bool right_direction(Runtime& r, const Side& to, const Side& from, cudaMemcpyKind kind) {
    if (kind == cudaMemcpyDefault) return true;
    const Allocation* const target = r.memory.find(to.pointer);
    const Allocation* const source = r.memory.find(from.pointer);
    const bool says_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool says_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const auto fits = [](const Allocation* one, bool device) {
        return one ? device || one->on_host() : !device;
    };
    if (fits(target, says_to) && fits(source, says_from)) return true;
    for (const auto& [wrong, side, words] :
         {std::tuple{says_to && !target, &to, "cudaMemcpyToSymbol"},
          std::tuple{says_from && !source, &from, "cudaMemcpyFromSymbol"}}) {
        if (!wrong) continue;
        if (const HostVariable* const variable = variable_at(r, side->pointer)) {
            note(r, "fault",
                 fmt::format("is given the variable {}, which is a {} one, where a pointer to device memory "
                             "belongs: {} is meant",
                             name_of(*variable), variable->constant ? "__constant__" : "__device__", words));
            return false;
        }
        if (r.memory.freed(reinterpret_cast<uintptr_t>(side->pointer))) {
            note(r, "fault",
                 fmt::format("copies {} device memory that was freed; free it behind the last copy",
                             side == &to ? "to" : "from"));
            return false;
        }
    }
    const bool to_device = target && !(target->on_host() && !says_to);
    const bool from_device = source && !(source->on_host() && !says_from);
    const cudaMemcpyKind meant = to_device ? from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice
                                 : from_device ? cudaMemcpyDeviceToHost
                                               : cudaMemcpyHostToHost;
    const auto where = [](bool device) { return device ? "device memory" : "the host's memory"; };
    note(r, "fault",
         meant == cudaMemcpyHostToHost
             ? fmt::format(
                   "says {}, but both of its pointers are of the host's memory: copy to what cudaMalloc gave",
                   name_of(kind))
             : fmt::format("says {}, but copies from {} to {}: {} is meant", name_of(kind),
                           where(from_device), where(to_device), name_of(meant)));
    return false;
}

// Whether the bytes lie within what was allocated; says what is wrong.
bool fits(Runtime& r, const Side& side, const CopyExtent& box, const char* what) {
    if (!side.pointer) return false;
    const Allocation* const one = r.memory.find(side.pointer);
    const size_t bytes = span(side, box);
    if (!one || r.memory.holds(side.pointer, bytes)) return true;
    note(r, "fault",
         fmt::format("reaches {} behind the end of its {}'s allocation of {}, with {}",
                     counted(reinterpret_cast<uintptr_t>(side.pointer) + bytes - one->end(), "byte"), what,
                     counted(one->bytes, "byte"), counted(bytes, "byte")));
    return false;
}

// from: null where the bytes are the host's.
void note_written(Runtime& r, const Side& to, const Side* from, const CopyExtent& box) {
    Allocation* const one = r.memory.find(to.pointer);
    if (!one) return;
    const Allocation* const source = from ? r.memory.find(from->pointer) : nullptr;
    for (size_t z = 0; z < box.slices; ++z)
        for (size_t y = 0; y < box.rows; ++y)
            r.memory.copied(*one, reinterpret_cast<uintptr_t>(to.row(z, y)), source,
                            source ? reinterpret_cast<uintptr_t>(from->row(z, y)) : 0, box.width);
    if (one->filled && one->filled->whole()) one->filled.reset();
    if (!one->symbol.empty()) ++r.constants_version;
}

// Remarks on what the host copies of an array that launches stored most of, and that no thread stored.
void tell_unstored(Runtime& r, const Side& to, const Side& from, const CopyExtent& box) {
    Allocation* const one = r.memory.find(from.pointer);
    const Allocation* const target = r.memory.find(to.pointer);
    if (!one || !one->filled || !one->used.elements || (target && !target->on_host()) ||
        box.rows * box.slices > 1)
        return;
    const uint64_t first = reinterpret_cast<uintptr_t>(from.pointer) - one->base;
    uint64_t begin = box.width, end = 0, missing = 0;
    for (uint64_t i = 0; i < box.width; ++i) {
        if (one->filled->is_filled(first + i)) continue;
        if (missing++ == 0) begin = i;
        end = i + 1;
    }
    if (missing == 0 || missing * 2 > box.width || !one->filled->rest_is_zero(one->data())) return;
    const uint64_t size = one->used.element_bytes, low = (first + begin) / size,
                   high = (first + end - 1) / size;
    note(r, "remark",
         fmt::format(
             "copies {}[{}]{} to the host, and no thread stored {}: launch {} has {} threads, and {} has {}",
             one->used.name, low, high > low ? fmt::format(" to {}[{}]", one->used.name, high) : "",
             missing / size == high - low + 1 ? "there" : counted(missing / size, "element") + " of them",
             one->used.launch, grouped(one->used.threads), one->used.name,
             counted(one->used.elements, "element")));
}

cudaError_t copy(Runtime& r, const Side& to, const Side& from, const CopyExtent& box, cudaMemcpyKind kind) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    flush_prints(r);
    if (box.empty()) return cudaSuccess;
    if (!to.pointer || !from.pointer || !right_direction(r, to, from, kind) ||
        !fits(r, to, box, "destination") || !fits(r, from, box, "source"))
        return cudaErrorInvalidValue;
    tell_unstored(r, to, from, box);
    Side target = to, source = from;
    if (!bring(r, target) || !bring(r, source)) return cudaErrorUnknown;
    for (size_t z = 0; z < box.slices; ++z)
        for (size_t y = 0; y < box.rows; ++y)
            std::memmove(const_cast<std::byte*>(target.row(z, y)), source.row(z, y), box.width);
    note_written(r, to, &from, box);
    return cudaSuccess;
}

cudaError_t copy(Runtime& r, void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
    return copy(r, {dst, 0, 0}, {src, 0, 0}, {bytes, 1, 1}, kind);
}

cudaError_t set(Runtime& r, const Side& to, const CopyExtent& box, int value) {
    if (box.empty()) return cudaSuccess;
    if (!to.pointer) return cudaErrorInvalidValue;
    if (!r.memory.find(to.pointer)) {
        const HostVariable* const variable = variable_at(r, to.pointer);
        note(r, "fault",
             variable ? "sets a variable of the device by the host's name of it; ask for its address with "
                        "cudaGetSymbolAddress"
                      : "sets memory that is no device memory; give it what cudaMalloc gave");
        return cudaErrorInvalidValue;
    }
    if (!fits(r, to, box, "destination")) return cudaErrorInvalidValue;
    Side target = to;
    if (!bring(r, target)) return cudaErrorUnknown;
    for (size_t z = 0; z < box.slices; ++z)
        for (size_t y = 0; y < box.rows; ++y)
            std::memset(const_cast<std::byte*>(target.row(z, y)), value, box.width);
    note_written(r, to, nullptr, box);
    return cudaSuccess;
}

cudaError_t copy_3d(Runtime& r, const cudaMemcpy3DParms& p) {
    if (p.srcArray || p.dstArray) return cudaErrorNotSupported;  // there are no CUDA arrays
    const auto side = [](const cudaPitchedPtr& at, const cudaPos& from) {
        const size_t slice = at.pitch * at.ysize;
        const auto* const first = static_cast<const std::byte*>(at.ptr);
        return Side{first ? first + from.z * slice + from.y * at.pitch + from.x : nullptr, at.pitch, slice};
    };
    if (p.extent.width > p.srcPtr.pitch || p.extent.width > p.dstPtr.pitch) return cudaErrorInvalidPitchValue;
    return copy(r, side(p.dstPtr, p.dstPos), side(p.srcPtr, p.srcPos),
                {p.extent.width, p.extent.height, p.extent.depth}, p.kind);
}

cudaError_t copy_2d(Runtime& r, void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                    size_t height, cudaMemcpyKind kind) {
    if (width > dpitch || width > spitch) return cudaErrorInvalidPitchValue;
    return copy(r, {dst, dpitch, 0}, {src, spitch, 0}, {width, height, 1}, kind);
}

cudaError_t set_3d(Runtime& r, const cudaPitchedPtr& at, int value, const cudaExtent& extent) {
    if (extent.width > at.pitch) return cudaErrorInvalidPitchValue;
    return set(r, {at.ptr, at.pitch, at.pitch * at.ysize}, {extent.width, extent.height, extent.depth},
               value);
}

// Whether a pointer to device memory was given in place of a variable: the header's function takes its address.
bool is_device_pointer(Runtime& r, const void* symbol) {
    if (!symbol || r.memory.find(symbol)) return symbol != nullptr;
    const uint64_t page = reinterpret_cast<uintptr_t>(symbol) / 4096 * 4096;
    if (reinterpret_cast<uintptr_t>(symbol) % alignof(void*) != 0 ||
        msync(reinterpret_cast<void*>(page), 1, MS_ASYNC) != 0)
        return false;
    const void* pointer = nullptr;
    std::memcpy(&pointer, symbol, sizeof pointer);
    return r.memory.find(pointer) != nullptr;
}

// The bytes of a variable from an offset on; null where it has not so many.
std::byte* in_symbol(Runtime& r, const void* symbol, size_t offset, size_t bytes, cudaError_t& error) {
    Allocation* const variable = memory_of_symbol(r, symbol);
    if (!variable && is_device_pointer(r, symbol))
        note(r, "fault",
             "is given a pointer to device memory where the name of a __constant__ or __device__ variable "
             "belongs: cudaMemcpy is meant");
    error = !variable                                                      ? cudaErrorInvalidSymbol
            : offset > variable->bytes || bytes > variable->bytes - offset ? cudaErrorInvalidValue
                                                                           : cudaSuccess;
    return error == cudaSuccess ? static_cast<std::byte*>(variable->pointer()) + offset : nullptr;
}

cudaError_t to_symbol(Runtime& r, const void* symbol, const void* src, size_t bytes, size_t offset,
                      cudaMemcpyKind kind) {
    cudaError_t error = cudaSuccess;
    std::byte* const at = in_symbol(r, symbol, offset, bytes, error);
    if (!at) return error;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return copy(r, at, src, bytes, kind);
}

cudaError_t from_symbol(Runtime& r, void* dst, const void* symbol, size_t bytes, size_t offset,
                        cudaMemcpyKind kind) {
    cudaError_t error = cudaSuccess;
    const std::byte* const at = in_symbol(r, symbol, offset, bytes, error);
    if (!at) return error;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return copy(r, dst, at, bytes, kind);
}

}  // namespace

void note_written(Runtime& r, const void* pointer) {
    Allocation* const one = r.memory.find(pointer);
    if (!one) return;
    r.memory.written(*one);
    if (!one->symbol.empty()) ++r.constants_version;
}

}  // namespace tilescope::cudart

using namespace tilescope::cudart;

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
    return call([&](Runtime& r) { return allocate(r, pointer, bytes, MemoryKind::Device); });
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int flags) {
    return call([&](Runtime& r) {
        if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
            return cudaErrorInvalidValue;
        return allocate(r, pointer, bytes, MemoryKind::Managed, flags);
    });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
    return call([&](Runtime& r) {
        if (flags > (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
            return cudaErrorInvalidValue;
        return allocate(r, pointer, bytes, MemoryKind::Host, flags);
    });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    return call([&](Runtime& r) {
        if (!pitch) return cudaErrorInvalidValue;
        *pitch = (width + kPitchUnit - 1) / kPitchUnit * kPitchUnit;
        const cudaError_t made = allocate(r, pointer, *pitch * height, MemoryKind::Device);
        if (auto* const rows = made == cudaSuccess ? r.memory.find(*pointer) : nullptr) rows->pitch = *pitch;
        return made;
    });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
    if (!pointer) return call([](Runtime&) { return cudaErrorInvalidValue; });
    pointer->xsize = extent.width, pointer->ysize = extent.height;
    return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t cudaFree(void* pointer) {
    return call([&](Runtime& r) { return release(r, pointer, false); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }

cudaError_t cudaFreeHost(void* pointer) {
    return call([&](Runtime& r) { return release(r, pointer, true); });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags) {
    return call([&](Runtime& r) {
        if (!pointer || bytes == 0) return cudaErrorInvalidValue;
        Allocation own;
        own.base = reinterpret_cast<uintptr_t>(pointer), own.bytes = bytes;
        own.kind = MemoryKind::Registered, own.flags = flags;
        if (!r.memory.add(own)) return cudaErrorHostMemoryAlreadyRegistered;
        if (!r.gpu || r.gpu->device().lock(pointer, bytes)) return cudaSuccess;
        r.memory.release(own.base);
        return cudaErrorMemoryAllocation;
    });
}

cudaError_t cudaHostUnregister(void* pointer) {
    return call([&](Runtime& r) {
        const Allocation* const one = r.memory.find(pointer);
        if (!one || one->pointer() != pointer || one->kind != MemoryKind::Registered)
            return cudaErrorHostMemoryNotRegistered;
        r.memory.release(one->base);
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
    return call([&](Runtime& r) {
        const Allocation* const one = r.memory.find(host);
        if (!device || flags != 0 || !one || !one->on_host()) return cudaErrorInvalidValue;
        *device = host;
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
    return call([&](Runtime& r) {
        const Allocation* const one = r.memory.find(host);
        if (!flags || !one || one->kind != MemoryKind::Host) return cudaErrorInvalidValue;
        *flags = one->flags | cudaHostAllocMapped;  // all of it is
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return call([&](Runtime& r) {
        if (!free || !total) return cudaErrorInvalidValue;
        *total = r.memory.total();
        *free = r.memory.left();
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return call([&](Runtime& r) {
        if (!attributes || !pointer) return cudaErrorInvalidValue;
        const Allocation* const one = r.memory.find(pointer);
        *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, const_cast<void*>(pointer)};
        if (!one) return cudaSuccess;
        void* const same = const_cast<void*>(pointer);
        attributes->device = 0;
        attributes->devicePointer = same;
        attributes->hostPointer = one->on_host() ? same : nullptr;
        attributes->type = one->kind == MemoryKind::Managed ? cudaMemoryTypeManaged
                           : one->on_host()                 ? cudaMemoryTypeHost
                                                            : cudaMemoryTypeDevice;
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
    return call([&](Runtime& r) { return copy(r, dst, src, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy(dst, src, bytes, kind);
}

cudaError_t cudaMemcpy2D(void* dst, size_t dstPitch, const void* src, size_t srcPitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
    return call([&](Runtime& r) { return copy_2d(r, dst, dstPitch, src, srcPitch, width, height, kind); });
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dstPitch, const void* src, size_t srcPitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy2D(dst, dstPitch, src, srcPitch, width, height, kind);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
    return call([&](Runtime& r) { return parameters ? copy_3d(r, *parameters) : cudaErrorInvalidValue; });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t) {
    return cudaMemcpy3D(parameters);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
    return call([&](Runtime& r) { return to_symbol(r, symbol, src, bytes, offset, kind); });
}

cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
    return call([&](Runtime& r) { return from_symbol(r, dst, symbol, bytes, offset, kind); });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpyToSymbol(symbol, src, bytes, offset, kind);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpyFromSymbol(dst, symbol, bytes, offset, kind);
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return call([&](Runtime& r) {
        const Allocation* const variable = memory_of_symbol(r, symbol);
        if (!pointer || !variable) return pointer ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
        *pointer = variable->pointer();
        return cudaSuccess;
    });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
    return call([&](Runtime& r) {
        const Allocation* const variable = memory_of_symbol(r, symbol);
        if (!bytes || !variable) return bytes ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
        *bytes = variable->bytes;
        return cudaSuccess;
    });
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
    return call([&](Runtime& r) { return set(r, {pointer, 0, 0}, {bytes, 1, 1}, value); });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t) {
    return cudaMemset(pointer, value, bytes);
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
    return call([&](Runtime& r) {
        if (width > pitch) return cudaErrorInvalidPitchValue;
        return set(r, {pointer, pitch, 0}, {width, height, 1}, value);
    });
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t) {
    return cudaMemset2D(pointer, pitch, value, width, height);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
    return call([&](Runtime& r) { return set_3d(r, pointer, value, extent); });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t) {
    return cudaMemset3D(pointer, value, extent);
}

cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t bytes) {
    if (dstDevice != 0 || srcDevice != 0) return call([](Runtime&) { return cudaErrorInvalidDevice; });
    return cudaMemcpy(dst, src, bytes, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice, size_t bytes,
                                cudaStream_t) {
    return cudaMemcpyPeer(dst, dstDevice, src, srcDevice, bytes);
}
