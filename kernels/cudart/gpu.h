// The GPU that launches run on, where there is one and orders ask for it.
//
// What the device has of memory, this process has too, as a copy (kernels/launched/memory.h). So copies,
// variables, recordings and the interpreter find memory as they do without a GPU.
//
//   cudaMalloc, variables     memory of the device, with a copy        Allocation::place
//   cudaMallocHost, Managed   memory of this process, which kernels use where it lies
//   __managed__               a variable of this process and one of the module, copied both ways at a launch
//
// Launches end before their call returns.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "kernels/gpu/address_range.h"
#include "kernels/gpu/driver.h"
#include "kernels/launched/describe.h"

namespace tilescope::cudart {

class Gpu {
public:
    // bytes, wanted: as in AddressRange::reserve.
    static Result<std::unique_ptr<Gpu>> open(uint64_t bytes, uint64_t wanted);

    gpu::Device& device() { return *device_; }
    uint64_t first() const { return range_->first(); }
    Result<void> back(uint64_t end) { return range_->back(end); }

    // Where the device has a variable of the module.
    Result<gpu::Variable> variable(launched::LoadedModule& module, const std::string& name);
    // The variable's bytes for the host are those at `host`.
    void manage(const gpu::Variable& variable, std::byte* host) {
        managed_[variable.address] = {host, variable.bytes};
    }

    // Milliseconds on the device.
    Result<double> launch(launched::KnownMemory& memory, launched::LoadedKernel& kernel, const Launch& launch,
                          const std::atomic<bool>* stop);

private:
    struct Managed {
        std::byte* host = nullptr;
        uint64_t bytes = 0;
    };
    Result<std::shared_ptr<void>> load(launched::LoadedModule& module);

    std::shared_ptr<gpu::Device> device_;
    std::unique_ptr<gpu::AddressRange> range_;
    std::map<const launched::LoadedModule*, std::shared_ptr<void>> modules_;
    std::map<const launched::LoadedKernel*, gpu::Function> functions_;
    std::map<uint64_t, Managed> managed_;  // by the device's address
};

}  // namespace tilescope::cudart
