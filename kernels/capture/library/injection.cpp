// libtilescope_capture.so: the driver loads it when a program first asks for CUDA, because CUDA_INJECTION64_PATH names
// it, and calls InitializeInjection. `tilescope capture` sets that, and TILESCOPE_CAPTURE (kernels/launched/captured.h).
//
// Source: CUPTI documentation, "CUPTI Initialization"; the driver takes any result but 0 for success.
#include <cstdlib>
#include <exception>
#include <string>

#include "core/base/file.h"
#include "kernels/capture/cupti.h"
#include "kernels/capture/watch.h"

namespace {

using namespace tilescope;
using namespace tilescope::capture;

// Never destroyed: the program's threads may launch for as long as they live.
ProcessWatch* watch = nullptr;
thread_local bool inside = false;  // a call of ours, which is not told

void launch_kernel(const CallData& call, bool cooperative, bool per_thread) {
    const auto& given = *static_cast<const LaunchParameters*>(call.parameters);
    SeenLaunch launch;
    launch.shape = {{given.grid_x, given.grid_y, given.grid_z},
                    {given.block_x, given.block_y, given.block_z},
                    given.shared};
    launch.stream = given.stream;
    if (per_thread && !launch.stream) launch.stream = reinterpret_cast<void*>(kPerThreadStream);
    launch.parameters = given.parameters;
    if (!cooperative) launch.extra = given.extra;
    launch.cooperative = cooperative;
    watch->before(given.function, launch);
}

void launch_kernel_ex(const CallData& call, bool per_thread) {
    const auto& given = *static_cast<const LaunchExParameters*>(call.parameters);
    const gpu::LaunchConfig& config = *given.config;
    SeenLaunch launch;
    launch.shape = {{config.grid_x, config.grid_y, config.grid_z},
                    {config.block_x, config.block_y, config.block_z},
                    config.shared};
    launch.stream = config.stream;
    if (per_thread && !launch.stream) launch.stream = reinterpret_cast<void*>(kPerThreadStream);
    launch.parameters = given.parameters;
    launch.extra = given.extra;
    for (unsigned i = 0; i < config.attribute_count && config.attributes; ++i) {
        const gpu::LaunchAttribute& attribute = config.attributes[i];
        if (attribute.id == gpu::kAttributeCooperative) launch.cooperative = attribute.value[0] != 0;
        if (attribute.id == gpu::kAttributeCluster)
            launch.cluster = {attribute.value[0], attribute.value[1], attribute.value[2]};
    }
    watch->before(given.function, launch);
}

void before(DriverCall which, const CallData& call) {
    switch (which) {
        case DriverCall::LaunchKernel: return launch_kernel(call, false, false);
        case DriverCall::LaunchKernelPerThread: return launch_kernel(call, false, true);
        case DriverCall::LaunchCooperative: return launch_kernel(call, true, false);
        case DriverCall::LaunchCooperativePerThread: return launch_kernel(call, true, true);
        case DriverCall::LaunchKernelEx: return launch_kernel_ex(call, false);
        case DriverCall::LaunchKernelExPerThread: return launch_kernel_ex(call, true);
        case DriverCall::GraphLaunch:
        case DriverCall::GraphLaunchPerThread: return watch->graph_launched();
        case DriverCall::ModuleUnload:
        case DriverCall::LibraryUnload:
            return watch->unloaded(static_cast<const UnloadParameters*>(call.parameters)->handle);
        case DriverCall::TensorMapMove:
            return watch->moving(*static_cast<const MoveMapParameters*>(call.parameters));
        default: return;
    }
}

void behind(DriverCall which, const CallData& call) {
    const auto& given = *static_cast<const LoadParameters*>(call.parameters);
    const bool done = call.result == nullptr || *static_cast<const int*>(call.result) == 0;
    switch (which) {
        case DriverCall::ModuleLoadData:
        case DriverCall::ModuleLoadDataEx:
        case DriverCall::ModuleLoadFatBinary:
        case DriverCall::LibraryLoadData:
            if (done) watch->loaded(*given.handle, given.image);
            return;
        case DriverCall::ModuleLoad:
        case DriverCall::LibraryLoadFromFile:
            if (done) watch->loaded_file(*given.handle, static_cast<const char*>(given.image));
            return;
        case DriverCall::TensorMapTiled:
            if (done) watch->made(*static_cast<const TiledMapParameters*>(call.parameters));
            return;
        case DriverCall::TensorMapIm2col:
            if (done) watch->made(*static_cast<const Im2colMapParameters*>(call.parameters));
            return;
        case DriverCall::TensorMapMove:
            if (done) watch->moved(*static_cast<const MoveMapParameters*>(call.parameters));
            return;
        case DriverCall::LaunchKernel:
        case DriverCall::LaunchKernelPerThread:
        case DriverCall::LaunchCooperative:
        case DriverCall::LaunchCooperativePerThread:
        case DriverCall::LaunchKernelEx:
        case DriverCall::LaunchKernelExPerThread: return watch->behind();
        default: return;
    }
}

void on_call(void*, uint32_t domain, uint32_t number, const void* data) {
    if (inside || domain != kDriverDomain || !data) return;
    inside = true;
    const auto& call = *static_cast<const CallData*>(data);
    const auto which = static_cast<DriverCall>(number);
    try {
        if (call.site == kBeforeCall)
            before(which, call);
        else
            behind(which, call);
    } catch (const std::exception& error) {
        watch->tell_problem(std::string("a launch could not be looked at: ") + error.what());
    }
    inside = false;
}

}  // namespace

// Called by capture_launch.py (tell()) in the thread that launches, before and behind a launch.
extern "C" __attribute__((visibility("default"))) void tilescope_capture_tell(const char* launch) {
    ProcessWatch::tell(launch ? launch : "");
}

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    const char* const path = std::getenv(launched::kCaptureVariable);
    if (watch || !path) return 1;
    try {
        const auto text = read_whole(path, uint64_t{1} << 20);
        if (!text) return 1;
        auto orders = launched::orders_from_json(*text);
        if (!orders) return 1;
        watch = new ProcessWatch(std::move(*orders));
        using C = DriverCall;
        const auto begun =
            subscribe(on_call, {C::ModuleLoad, C::ModuleLoadData, C::ModuleLoadDataEx, C::ModuleLoadFatBinary,
                                C::ModuleUnload, C::LaunchKernel, C::LaunchKernelPerThread,
                                C::LaunchCooperative, C::LaunchCooperativePerThread, C::GraphLaunch,
                                C::GraphLaunchPerThread, C::LaunchKernelEx, C::LaunchKernelExPerThread,
                                C::LibraryLoadData, C::LibraryLoadFromFile, C::LibraryUnload,
                                C::TensorMapTiled, C::TensorMapIm2col, C::TensorMapMove});
        if (!begun) watch->tell_problem(begun.error().message);
        std::atexit([] { watch->finish(); });
    } catch (const std::exception&) {
        return 1;
    }
    return 1;
}
