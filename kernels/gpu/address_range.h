// Device memory at addresses that are chosen first: a range is reserved, and made usable from its beginning
// on.
//
//   first()   | usable ........ | reserved: an access faults ...   |
//                           backed()
//
// Source: CUDA Driver API reference manual, "Virtual Memory Management".
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "kernels/gpu/driver.h"

namespace tilescope::gpu {

class AddressRange {
public:
    // wanted: where it begins if the driver has nothing there. The device outlives the range.
    static Result<std::unique_ptr<AddressRange>> reserve(Device& device, uint64_t bytes, uint64_t wanted);
    ~AddressRange();
    AddressRange(const AddressRange&) = delete;
    AddressRange& operator=(const AddressRange&) = delete;

    uint64_t first() const { return first_; }
    uint64_t backed() const { return backed_; }

    // Makes the addresses below `end` usable. Its bytes are anything.
    Result<void> back(uint64_t end);

private:
    struct BackedPiece {
        uint64_t address, bytes;
        unsigned long long handle;
    };
    explicit AddressRange(Device& device) : device_(&device) {}
    Device* device_;
    uint64_t first_ = 0, bytes_ = 0, backed_ = 0;
    std::vector<BackedPiece> pieces_;
};

}  // namespace tilescope::gpu
