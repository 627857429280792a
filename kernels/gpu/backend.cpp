#include "kernels/gpu/backend.h"

#include <iterator>

#include <fmt/format.h>

#include "kernels/gpu/record_gpu.h"

namespace tilescope::gpu {
namespace {

Result<trace::Trace> on_the_gpu(const kernels::Plan& plan, const GpuRecordOptions& options,
                                std::string& said) {
    auto device = Device::open();
    if (!device) return device.error();
    said = "on the GPU, " + describe((*device)->info());
    return record_gpu(**device, plan, options);
}

bool stopped(const GpuRecordOptions& options) {
    return options.common.stop != nullptr && options.common.stop->load();
}

}  // namespace

std::optional<BackendChoice> backend_of(std::string_view name) {
    for (size_t at = 0; at < std::size(kBackendNames); ++at)
        if (name == kBackendNames[at]) return static_cast<BackendChoice>(at);
    return std::nullopt;
}

Result<trace::Trace> record(const kernels::Plan& plan, const GpuRecordOptions& options, BackendChoice choice,
                            std::string& said) {
    const bool scheduled = options.common.schedule.has_value();
    if (choice == BackendChoice::Gpu && scheduled) {
        return Error{
            "an order of warps can be chosen on the CPU only, because a GPU has its own; leave out the order "
            "or record on the CPU"};
    }
    if (choice == BackendChoice::Gpu) return on_the_gpu(plan, options, said);
    said = "on the CPU, in lockstep";
    if (choice == BackendChoice::Auto && !scheduled) {
        if (devices()) {
            auto trace = on_the_gpu(plan, options, said);
            if (trace || stopped(options)) return trace;
            said = "on the CPU, in lockstep, because " + trace.error().message;
            if (options.common.blocks_done != nullptr) *options.common.blocks_done = 0;
        }
    }
    return kernels::record_cpu(plan, options.common);
}

}  // namespace tilescope::gpu
