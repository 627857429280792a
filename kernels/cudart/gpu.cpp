#include "kernels/cudart/gpu.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "core/ptx/parse.h"

namespace tilescope::cudart {

using launched::LoadedKernel, launched::LoadedModule;

namespace {

// What cooperative_groups.h calls for a barrier of the whole grid, which the interpreter has itself: the
// first thread of each block counts its block in, and waits for the round to end that the last one ends. All
// blocks are resident, as cudaLaunchCooperativeKernel has seen to.
constexpr std::string_view kGridBarrier = "cudaCGSynchronizeGrid";
constexpr std::string_view kGridBarrierText = R"(.global .align 8 .b32 ts_grid_barrier[2];
.func cudaCGSynchronizeGrid()
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %d;
    barrier.sync 0;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    or.b32 %r0, %r0, %r1;
    mov.u32 %r1, %tid.z;
    or.b32 %r0, %r0, %r1;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra $ts_together;
    mov.u32 %r2, %nctaid.x;
    mov.u32 %r1, %nctaid.y;
    mul.lo.u32 %r2, %r2, %r1;
    mov.u32 %r1, %nctaid.z;
    mul.lo.u32 %r2, %r2, %r1;
    sub.u32 %r2, %r2, 1;
    mov.u64 %d, ts_grid_barrier;
    ld.volatile.global.u32 %r3, [%d+4];
    membar.gl;
    atom.global.inc.u32 %r4, [%d], %r2;
    setp.ne.u32 %p1, %r4, %r2;
    @!%p1 red.global.add.u32 [%d+4], 1;
$ts_wait:
    ld.volatile.global.u32 %r5, [%d+4];
    setp.eq.u32 %p2, %r5, %r3;
    @%p2 bra $ts_wait;
    membar.gl;
$ts_together:
    barrier.sync 0;
    ret;
}
)";

// The PTX with the version and the target that its kernels need: compilers state the least that they know to
// be needed, which inline assembly may not be of.
std::string with_version(const std::string& text, const ptx::Module& module) {
    uint32_t needed = module.version_major * 10 + module.version_minor;
    std::string target = module.target;
    for (const ptx::Kernel& kernel : module.kernels) {
        needed = std::max(needed, ptx::version_for(kernel));
        target = ptx::target_for(kernel, target);
    }
    const auto with = [](const std::string& whole, const char* directive, const std::string& value) {
        const size_t at = whole.find(directive);
        if (at == std::string::npos) return whole;
        return whole.substr(0, at) + directive + value +
               whole.substr(std::min(whole.find('\n', at), whole.size()));
    };
    std::string made = text;
    if (needed > module.version_major * 10 + module.version_minor)
        made = with(made, ".version ", fmt::format("{}.{}", needed / 10, needed % 10));
    return target == module.target ? made : with(made, ".target ", target);
}

// The PTX with that function in place of its declaration.
std::string with_grid_barrier(const std::string& text) {
    const size_t name = text.find(kGridBarrier);
    const size_t begin = name == std::string::npos ? name : text.rfind(".extern", name);
    const size_t end = name == std::string::npos ? name : text.find(';', name);
    if (begin == std::string::npos || end == std::string::npos) return text;
    return text.substr(0, begin) + std::string(kGridBarrierText) + text.substr(end + 1);
}

}  // namespace

Result<std::unique_ptr<Gpu>> Gpu::open(uint64_t bytes, uint64_t wanted) {
    auto device = gpu::Device::open();
    if (!device) return device.error();
    auto made = std::make_unique<Gpu>();
    made->device_ = *device;
    auto range = gpu::AddressRange::reserve(**device, bytes, wanted);
    if (!range) return range.error();
    made->range_ = std::move(*range);
    return made;
}

Result<std::shared_ptr<void>> Gpu::load(LoadedModule& module) {
    std::shared_ptr<void>& loaded = modules_[&module];
    if (!loaded) {
        auto made =
            device_->load_module(with_version(with_grid_barrier(module.text), module.ptx), module.name);
        if (!made) return made.error();
        loaded = *made;
    }
    return loaded;
}

Result<gpu::Variable> Gpu::variable(LoadedModule& module, const std::string& name) {
    const auto loaded = load(module);
    if (!loaded) return loaded.error();
    return device_->variable_of(*loaded, name);
}

Result<double> Gpu::launch(launched::KnownMemory& memory, LoadedKernel& kernel, const Launch& launch,
                           const std::atomic<bool>* stop) {
    auto found = functions_.find(&kernel);
    if (found == functions_.end()) {
        const auto loaded = load(*kernel.module);
        if (!loaded) return loaded.error();
        const auto made = device_->function_of(*loaded, kernel.module->name, kernel.entry,
                                               static_cast<int>(kernel.parameters.size()));
        if (!made) return made.error();
        found = functions_.emplace(&kernel, *made).first;
    }
    if (auto ok = memory.send(); !ok) return ok.error();
    for (const auto& [address, variable] : managed_)
        if (auto ok = device_->write(address, variable.host, variable.bytes); !ok) return ok.error();

    gpu::LaunchOptions options;
    options.timeout_s = 24 * 3600;  // Ctrl-C ends it
    options.stop = stop;
    options.shared_bytes = launch.dynamic_shared;
    std::vector<uint64_t> values;
    for (const Argument& argument : launch.arguments) {
        if (!argument.object.empty()) options.objects[values.size()] = argument.object;
        values.push_back(argument.object.empty() ? launch.bits_of(argument) : 0);
    }
    std::fflush(stdout);  // what the kernel prints goes there too
    const auto ms = device_->launch(found->second, launch.grid, launch.block, values, options);
    if (!ms) return ms;
    if (auto ok = device_->synchronize(); !ok) return ok.error();
    for (auto& [base, allocation] : memory.all()) {
        allocation.behind = allocation.place != nullptr;
        memory.touched(allocation);
    }
    for (const auto& [address, variable] : managed_)
        if (auto ok = device_->read(variable.host, address, variable.bytes); !ok) return ok.error();
    return ms;
}

}  // namespace tilescope::cudart
