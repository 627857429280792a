// A loaded module: what keeps a Function's code on the device.
#pragma once

#include <memory>

#include "kernels/gpu/context.h"

namespace tilescope::gpu {

struct LoadedModule {
    std::shared_ptr<Context> context;
    CuModule handle = nullptr;

    LoadedModule() = default;
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;
    ~LoadedModule();
};

}  // namespace tilescope::gpu
