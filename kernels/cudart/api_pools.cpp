// The runtime's functions of memory pools, and of where managed memory should lie.
//
// A pool here is a name with numbers: its allocations come from the device's memory as all others do, and are
// given back at once. Managed memory lies where both sides use it, so that advice changes nothing.
//
// Source: CUDA Runtime API 12, "Stream Ordered Memory Allocator", "Memory Management".
#include <algorithm>
#include <set>

#include "kernels/cudart/runtime.h"

struct CUmemPoolHandle_st {
    std::set<uint64_t> allocations;  // their bases; some may have been freed
    uint64_t threshold = 0, high = 0;
    int reuse[3] = {1, 1, 1};  // as the program set them
};

namespace tilescope::cudart {
namespace {

std::set<cudaMemPool_t>& pools() {
    static auto* const all = new std::set<cudaMemPool_t>;
    return *all;
}

// That of the device, which always is.
cudaMemPool_t default_pool() {
    static const cudaMemPool_t pool = *pools().insert(new CUmemPoolHandle_st).first;
    return pool;
}
cudaMemPool_t& current_pool() {
    static cudaMemPool_t pool = default_pool();
    return pool;
}

template <class Body>
cudaError_t with_pool(cudaMemPool_t pool, Body body) {
    return call([&](Runtime& r) {
        default_pool();
        return pools().contains(pool) ? body(r) : cudaErrorInvalidValue;
    });
}

// Bytes that are in use of a pool.
uint64_t used(Runtime& r, cudaMemPool_t pool) {
    uint64_t bytes = 0;
    std::erase_if(pool->allocations, [&](uint64_t base) {
        const Allocation* const one = r.memory.find(base);
        if (one) bytes += one->bytes;
        return one == nullptr;
    });
    return bytes;
}

cudaError_t give_pool(cudaMemPool_t* to, int device, cudaMemPool_t (*pool)()) {
    return call([&](Runtime&) {
        if (!to) return cudaErrorInvalidValue;
        if (device != 0) return cudaErrorInvalidDevice;
        *to = pool();
        return cudaSuccess;
    });
}

bool is_ours(const cudaMemLocation& location) {
    return location.type != cudaMemLocationTypeDevice || location.id == 0;
}

}  // namespace
}  // namespace tilescope::cudart

using namespace tilescope::cudart;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return give_pool(pool, device, default_pool);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    return give_pool(pool, device, [] { return current_pool(); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return with_pool(pool, [&](Runtime&) {
        if (device != 0) return cudaErrorInvalidDevice;
        current_pool() = pool;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    return call([&](Runtime&) {
        if (!pool || !properties || !is_ours(properties->location)) return cudaErrorInvalidValue;
        if (properties->handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;
        *pool = *pools().insert(new CUmemPoolHandle_st).first;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return with_pool(pool, [&](Runtime&) {
        if (pool == default_pool()) return cudaErrorInvalidValue;
        if (current_pool() == pool) current_pool() = default_pool();
        pools().erase(pool);
        delete pool;
        return cudaSuccess;
    });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return with_pool(pool, [&](Runtime& r) {
        const cudaError_t error = cudaMalloc(pointer, bytes);
        static_cast<void>(stream);  // it is allocated when the call returns
        if (error != cudaSuccess || !*pointer) return error;
        pool->allocations.insert(reinterpret_cast<uintptr_t>(*pointer));
        pool->high = std::max(pool->high, used(r, pool));
        return cudaSuccess;
    });
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, current_pool(), stream);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    return with_pool(pool, [](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return with_pool(pool, [&](Runtime&) {
        if (!value) return cudaErrorInvalidValue;
        switch (attribute) {
            case cudaMemPoolReuseFollowEventDependencies:
            case cudaMemPoolReuseAllowOpportunistic:
            case cudaMemPoolReuseAllowInternalDependencies:
                pool->reuse[attribute - 1] = *static_cast<const int*>(value);
                return cudaSuccess;
            case cudaMemPoolAttrReleaseThreshold:
                pool->threshold = *static_cast<const uint64_t*>(value);
                return cudaSuccess;
            case cudaMemPoolAttrReservedMemHigh:
            case cudaMemPoolAttrUsedMemHigh:
                if (*static_cast<const uint64_t*>(value) != 0) return cudaErrorInvalidValue;
                pool->high = 0;
                return cudaSuccess;
            default: return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return with_pool(pool, [&](Runtime& r) {
        if (!value) return cudaErrorInvalidValue;
        const uint64_t now = used(r, pool);
        switch (attribute) {
            case cudaMemPoolReuseFollowEventDependencies:
            case cudaMemPoolReuseAllowOpportunistic:
            case cudaMemPoolReuseAllowInternalDependencies:
                *static_cast<int*>(value) = pool->reuse[attribute - 1];
                return cudaSuccess;
            case cudaMemPoolAttrReleaseThreshold:
                *static_cast<uint64_t*>(value) = pool->threshold;
                return cudaSuccess;
            case cudaMemPoolAttrReservedMemCurrent:
            case cudaMemPoolAttrUsedMemCurrent: *static_cast<uint64_t*>(value) = now; return cudaSuccess;
            case cudaMemPoolAttrReservedMemHigh:
            case cudaMemPoolAttrUsedMemHigh:
                *static_cast<uint64_t*>(value) = std::max(pool->high, now);
                return cudaSuccess;
            default: return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
    return with_pool(pool, [&](Runtime&) {
        const bool ours = list && std::all_of(list, list + count, [](const cudaMemAccessDesc& one) {
                              return is_ours(one.location);
                          });
        return count == 0 || ours ? cudaSuccess : cudaErrorInvalidDevice;
    });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
    return with_pool(pool, [&](Runtime&) {
        if (!flags || !location || !is_ours(*location)) return cudaErrorInvalidValue;
        *flags = cudaMemAccessFlagsProtReadWrite;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t) {
    return call([&](Runtime& r) {
        if (device != 0 && device != cudaCpuDeviceId) return cudaErrorInvalidDevice;
        const Allocation* const one = r.memory.holds(pointer, bytes);
        return one && one->kind == MemoryKind::Managed ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemPrefetchAsync_v2(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int,
                                    cudaStream_t stream) {
    const bool host = location.type != cudaMemLocationTypeDevice;
    return cudaMemPrefetchAsync(pointer, bytes, host ? cudaCpuDeviceId : location.id, stream);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise, int device) {
    return cudaMemPrefetchAsync(pointer, bytes, device, nullptr);
}

cudaError_t cudaMemAdvise_v2(const void* pointer, size_t bytes, cudaMemoryAdvise, cudaMemLocation location) {
    return cudaMemPrefetchAsync_v2(pointer, bytes, location, 0, nullptr);
}

// As for memory that was given no advice.
cudaError_t cudaMemRangeGetAttribute(void* data, size_t dataBytes, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes) {
    return call([&](Runtime& r) {
        const Allocation* const one = r.memory.holds(pointer, bytes);
        if (!data || dataBytes == 0 || dataBytes % sizeof(int) != 0 || !one ||
            one->kind != MemoryKind::Managed)
            return cudaErrorInvalidValue;
        const int none = attribute == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId;
        std::fill_n(static_cast<int*>(data), dataBytes / sizeof(int), none);
        return cudaSuccess;
    });
}
