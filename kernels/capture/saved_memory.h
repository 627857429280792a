// What allocations of a running program hold, kept to be put back: on the device where there is room, else on the host.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "kernels/gpu/driver.h"

namespace tilescope::capture {

class SavedMemory {
public:
    // allocations: bytes by base. Error: there is no room for them, or the device fails.
    static Result<SavedMemory> of(gpu::Device& device, const std::map<uint64_t, uint64_t>& allocations);
    Result<void> restore();
    uint64_t bytes() const { return bytes_; }

private:
    struct SavedPiece {
        uint64_t address = 0, bytes = 0;
        gpu::Memory copy;             // on the device, or:
        std::vector<std::byte> host;  // here
    };
    explicit SavedMemory(gpu::Device& device) : device_(&device) {}

    gpu::Device* device_;
    std::vector<SavedPiece> pieces_;
    uint64_t bytes_ = 0;
};

}  // namespace tilescope::capture
