// The runtime's functions of launches, of kernels, and of what orders them: streams and events.
//
// All work is done when its call returns, in the order of the calls, which every order that a program may ask
// of streams allows. A stream is never busy; an event has the time of its record, so that what lies between
// two is the time that this machine took, the interpreter's for launches.
//
// Source: CUDA Runtime API 12, "Execution Control", "Occupancy", "Stream Management", "Event Management".
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <type_traits>

#include "core/limits/occupancy.h"
#include "core/ptx/parse.h"
#include "kernels/cudart/runtime.h"

struct CUstream_st {
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    std::map<cudaStreamAttrID, cudaStreamAttrValue>
        attributes;  // as the program set them; they change nothing
};

struct CUevent_st {
    unsigned flags = 0;
    bool recorded = false;
    std::chrono::steady_clock::time_point time;
};

namespace tilescope::cudart {
namespace {

// What is there now: host code may hand in what was destroyed.
std::set<cudaStream_t>& streams() {
    static auto* const all = new std::set<cudaStream_t>;
    return *all;
}
std::set<cudaEvent_t>& events() {
    static auto* const all = new std::set<cudaEvent_t>;
    return *all;
}

bool known(cudaStream_t stream) {
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
           streams().contains(stream);
}

constexpr int kGreatestPriority = -5;  // as an H200 says; 0 is the least

template <class Body>
cudaError_t with_stream(cudaStream_t stream, Body body) {
    return call([&](Runtime& r) { return known(stream) ? body(r) : cudaErrorInvalidResourceHandle; });
}

template <class Body>
cudaError_t with_event(cudaEvent_t event, Body body) {
    return call(
        [&](Runtime& r) { return events().contains(event) ? body(r) : cudaErrorInvalidResourceHandle; });
}

cudaError_t synchronise(Runtime& r) {
    flush_prints(r);
    return cudaSuccess;
}

// PTX has no registers of the hardware: this many are what a compiler gives a kernel of common size.
constexpr int kRegisters = 32;

template <class Body>
cudaError_t with_kernel(const void* host, Body body) {
    return call([&](Runtime& r) {
        HostFunction* const function = find_function(r, host);
        const ptx::Kernel* const kernel = function ? kernel_of(r, *function) : nullptr;
        return kernel ? body(r, *function, *kernel) : cudaErrorInvalidDeviceFunction;
    });
}

analysis::Occupancy resident(const Runtime& r, const HostFunction& function, const ptx::Kernel& kernel,
                             int threads, size_t dynamic) {
    analysis::BlockUse use;
    use.threads = static_cast<uint32_t>(std::max(threads, 0));
    use.registers = kRegisters;
    use.shared = static_cast<uint32_t>(launched::bytes_in(kernel, ptx::StateSpace::Shared) + dynamic);
    use.carveout = function.carveout;
    return analysis::occupancy(r.device.sm, use, analysis::Sum::Hardware);
}

struct CallConfiguration {
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = nullptr;
};

// Configurations that `<<<>>>` has pushed and its kernel's stub has not popped: more than one where an argument
// launches, too. Nothing of it is ever destroyed, as destructors of static objects may launch.
struct CallConfigurations {
    std::array<CallConfiguration, 64> all;
    size_t count = 0;
};
static_assert(std::is_trivially_destructible_v<CallConfigurations>);
thread_local CallConfigurations configurations;

}  // namespace
}  // namespace tilescope::cudart

using namespace tilescope::cudart;
namespace analysis = tilescope::analysis;
namespace launched = tilescope::launched;
namespace ptx = tilescope::ptx;

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream) {
    if (configurations.count == configurations.all.size()) return cudaErrorLaunchOutOfResources;
    configurations.all[configurations.count++] = {grid, block, shared, static_cast<cudaStream_t>(stream)};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
    if (configurations.count == 0) return cudaErrorMissingConfiguration;
    const CallConfiguration& top = configurations.all[--configurations.count];
    *grid = top.grid, *block = top.block, *shared = top.shared;
    *static_cast<cudaStream_t*>(stream) = top.stream;
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
    return with_stream(stream,
                       [&](Runtime& r) { return launch(r, function, grid, block, arguments, shared); });
}

namespace {

// A grid whose blocks wait for each other needs all of them at once. Source: "Execution Control",
// cudaLaunchCooperativeKernel.
cudaError_t launch_cooperative(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream, std::optional<dim3> cluster) {
    bool too_many = false;
    const cudaError_t known_kernel =
        with_kernel(function, [&](Runtime& r, const HostFunction& f, const ptx::Kernel& kernel) {
            const int threads =
                static_cast<int>(std::min<uint64_t>(uint64_t{block.x} * block.y * block.z, 1 << 20));
            const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
            const uint64_t most = uint64_t{resident(r, f, kernel, threads, shared).blocks} * r.device.sms;
            too_many = most > 0 && blocks > most;
            return too_many ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
        });
    if (too_many) return known_kernel;
    return with_stream(stream, [&](Runtime& r) {
        return launch(r, function, grid, block, arguments, shared, true, cluster);
    });
}

}  // namespace

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        size_t shared, cudaStream_t stream) {
    return launch_cooperative(function, grid, block, arguments, shared, stream, {});
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
    if (!config) return call([](Runtime&) { return cudaErrorInvalidValue; });
    bool cooperative = false;
    std::optional<dim3> cluster;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = config->attrs[i];
        const auto& size = attribute.val.clusterDim;
        if (attribute.id == cudaLaunchAttributeCooperative) cooperative = attribute.val.cooperative != 0;
        if (attribute.id == cudaLaunchAttributeClusterDimension) cluster = dim3(size.x, size.y, size.z);
    }
    if (cooperative)
        return launch_cooperative(function, config->gridDim, config->blockDim, arguments,
                                  config->dynamicSmemBytes, config->stream, cluster);
    return with_stream(config->stream, [&](Runtime& r) {
        return launch(r, function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                      false, cluster);
    });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
    return with_kernel(function, [&](Runtime& r, const HostFunction& f, const ptx::Kernel& kernel) {
        if (!attributes) return cudaErrorInvalidValue;
        const analysis::SmLimits& sm = r.device.sm;
        *attributes = {};
        attributes->sharedSizeBytes = launched::bytes_in(kernel, ptx::StateSpace::Shared);
        attributes->constSizeBytes = launched::bytes_in(kernel, ptx::StateSpace::Const);
        attributes->localSizeBytes = launched::bytes_in(kernel, ptx::StateSpace::Local);
        attributes->maxThreadsPerBlock = static_cast<int>(sm.threads_per_block);
        attributes->numRegs = kRegisters;
        attributes->ptxVersion = attributes->binaryVersion = static_cast<int>(sm.major * 10 + sm.minor);
        attributes->maxDynamicSharedSizeBytes = static_cast<int>(
            std::max<uint64_t>(f.most_dynamic_shared, sm.shared_per_block - attributes->sharedSizeBytes));
        attributes->preferredShmemCarveout = f.carveout;
        if (const auto cluster = ptx::size_directive(kernel, ".reqnctapercluster")) {
            attributes->clusterDimMustBeSet = 1;
            attributes->requiredClusterWidth = static_cast<int>(cluster->x);
            attributes->requiredClusterHeight = static_cast<int>(cluster->y);
            attributes->requiredClusterDepth = static_cast<int>(cluster->z);
        }
        attributes->nonPortableClusterSizeAllowed = f.large_clusters;
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
    return with_kernel(function, [&](Runtime& r, HostFunction& f, const ptx::Kernel& kernel) {
        const uint64_t most = r.device.sm.shared_per_block_optin;
        const uint64_t fixed = launched::bytes_in(kernel, ptx::StateSpace::Shared);
        switch (attribute) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize:
                if (value < 0 || fixed + static_cast<uint64_t>(value) > most) return cudaErrorInvalidValue;
                f.most_dynamic_shared = static_cast<uint64_t>(value);
                return cudaSuccess;
            case cudaFuncAttributePreferredSharedMemoryCarveout:
                if (value < -1 || value > 100) return cudaErrorInvalidValue;
                f.carveout = value;
                return cudaSuccess;
            case cudaFuncAttributeNonPortableClusterSizeAllowed:
                f.large_clusters = value != 0;
                return cudaSuccess;
            case cudaFuncAttributeClusterSchedulingPolicyPreference: return cudaSuccess;
            default: return cudaErrorNotSupported;
        }
    });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
    return with_kernel(function, [&](Runtime&, const HostFunction& f, const ptx::Kernel&) {
        return put(name, f.entry.c_str());
    });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
    return with_kernel(function, [](Runtime&, HostFunction&, const ptx::Kernel&) { return cudaSuccess; });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
    return cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int blockSize,
                                                          size_t shared) {
    return with_kernel(function, [&](Runtime& r, const HostFunction& f, const ptx::Kernel& kernel) {
        if (!blocks || blockSize <= 0) return cudaErrorInvalidValue;
        *blocks = static_cast<int>(resident(r, f, kernel, blockSize, shared).blocks);
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int blockSize, size_t shared,
                                                                   unsigned int) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, blockSize, shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared, const void* function, int blocks,
                                                      int blockSize) {
    return with_kernel(function, [&](Runtime& r, const HostFunction& f, const ptx::Kernel& kernel) {
        if (!shared || blocks <= 0 || blockSize <= 0) return cudaErrorInvalidValue;
        const uint64_t fixed = launched::bytes_in(kernel, ptx::StateSpace::Shared);
        *shared = 0;
        constexpr size_t kUnit = 256;
        for (size_t bytes = kUnit; fixed + bytes <= r.device.sm.shared_per_block_optin; bytes += kUnit)
            if (resident(r, f, kernel, blockSize, bytes).blocks >= static_cast<uint32_t>(blocks))
                *shared = bytes;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
    return call([&](Runtime&) {
        if (!stream || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
        static unsigned long long streams_made = 0;
        *stream = new CUstream_st{flags, std::clamp(priority, kGreatestPriority, 0), ++streams_made, {}};
        streams().insert(*stream);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return call([&](Runtime&) {
        if (streams().erase(stream) == 0) return cudaErrorInvalidResourceHandle;
        delete stream;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return with_stream(stream, synchronise); }

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return with_stream(stream, [](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    return with_stream(
        stream, [&](Runtime&) { return put(priority, streams().contains(stream) ? stream->priority : 0); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
    return with_stream(stream, [&](Runtime&) {
        return put(flags, streams().contains(stream) ? stream->flags : cudaStreamDefault);
    });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
    return with_stream(stream,
                       [&](Runtime&) { return put(id, streams().contains(stream) ? stream->id : 0); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
    return with_stream(stream, [&](Runtime&) { return put(device, 0); });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
    return with_stream(stream, [&](Runtime&) {
        if (!value) return cudaErrorInvalidValue;
        if (streams().contains(stream)) stream->attributes[attribute] = *value;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
    return with_stream(stream, [&](Runtime&) {
        if (!value) return cudaErrorInvalidValue;
        *value = {};
        if (streams().contains(stream) && stream->attributes.contains(attribute))
            *value = stream->attributes[attribute];
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return call([&](Runtime&) {
        if (!streams().contains(to) || !streams().contains(from)) return cudaErrorInvalidResourceHandle;
        to->attributes = from->attributes;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call([&](Runtime&) {
        if (least) *least = 0;
        if (greatest) *greatest = kGreatestPriority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
    return with_event(event,
                      [&](Runtime&) { return known(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned int) {
    return with_stream(stream, [&](Runtime& r) {
        const Allocation* const one = r.memory.find(pointer);
        return one && one->kind == MemoryKind::Managed ? cudaSuccess : cudaErrorInvalidValue;
    });
}

// Host functions run outside the lock: they may take their time, and wait for other threads that call us.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* userData) {
    const cudaError_t error =
        with_stream(stream, [&](Runtime& r) { return function ? synchronise(r) : cudaErrorInvalidValue; });
    if (error == cudaSuccess) function(userData);
    return error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* userData,
                                  unsigned int flags) {
    const cudaError_t error = with_stream(
        stream, [&](Runtime& r) { return callback && flags == 0 ? synchronise(r) : cudaErrorInvalidValue; });
    if (error == cudaSuccess) callback(stream, cudaSuccess, userData);
    return error;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    return call([&](Runtime&) {
        if (!event || flags > (cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess))
            return cudaErrorInvalidValue;
        *event = new CUevent_st{flags, false, {}};
        events().insert(*event);
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return call([&](Runtime&) {
        if (events().erase(event) == 0) return cudaErrorInvalidResourceHandle;
        delete event;
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return with_event(event, [&](Runtime&) {
        if (!known(stream)) return cudaErrorInvalidResourceHandle;
        event->recorded = true;
        event->time = std::chrono::steady_clock::now();
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) {
    return cudaEventRecord(event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return with_event(event, [](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return with_event(event, synchronise); }

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
    return with_event(start, [&](Runtime&) {
        if (!ms) return cudaErrorInvalidValue;
        const bool timed = events().contains(end) && start->recorded && end->recorded &&
                           ((start->flags | end->flags) & cudaEventDisableTiming) == 0;
        if (!timed) return cudaErrorInvalidResourceHandle;
        const double took = std::chrono::duration<double, std::milli>(end->time - start->time).count();
        // Programs divide by it; half a microsecond is what NVIDIA's runtime tells apart.
        *ms = static_cast<float>(took >= 0 ? std::max(took, 0.0005) : took);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSynchronize() { return call(synchronise); }

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
