#include "kernels/gpu/arrays.h"

#include <fmt/format.h>

namespace tilescope::gpu {

namespace {

constexpr uint64_t kFourGiB = uint64_t{1} << 32;
constexpr uint64_t kAlignment = 256;  // of cudaMalloc, which sectors and lines are judged by
constexpr uint64_t kGap = 4096;       // so that an index past an end meets no other array's element

uint64_t rounded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Result<DeviceArrays> place_arrays(Device& device, const kernels::ReadyLaunch& ready) {
    const auto& arrays = ready.launch.arrays;
    uint64_t total = 0;
    for (const Array& array : arrays)
        total += array.space == Space::Global ? rounded(array.bytes()) + kGap : 0;
    // In twice the bytes there is always a piece that does not cross a multiple of 4 GiB.
    const bool fits = total <= kFourGiB;
    auto memory = device.allocate(fits ? 2 * total : total, "the arrays");
    if (!memory) return memory.error();
    DeviceArrays placed;
    placed.memory = *memory;
    uint64_t at = memory->address();
    if (fits && at / kFourGiB != (at + total - 1) / kFourGiB) at = (at / kFourGiB + 1) * kFourGiB;
    placed.same_high = fits;
    placed.high = static_cast<uint32_t>(at >> 32);
    for (const Array& array : arrays) {
        if (array.space != Space::Global) {
            placed.base.push_back(0);
            continue;
        }
        placed.base.push_back(at);
        at += rounded(array.bytes()) + kGap;
    }
    for (const Argument& argument : ready.launch.arguments) {
        if (!argument.object.empty())
            return Error{fmt::format(
                "the kernel takes an object of {} bytes by value, which is passed only on the CPU; record it "
                "with --backend cpu",
                argument.object.size())};
        placed.parameters.push_back(argument.array < 0
                                        ? argument.value
                                        : placed.base[static_cast<size_t>(argument.array)] + argument.offset);
    }
    if (auto ok = upload_arrays(device, placed, ready); !ok) return ok.error();
    return placed;
}

Result<void> upload_arrays(Device& device, const DeviceArrays& placed, const kernels::ReadyLaunch& ready) {
    for (size_t i = 0; i < ready.launch.arrays.size(); ++i) {
        if (ready.launch.arrays[i].space == Space::Global) {
            const auto& bytes = ready.memory.buffers[kernels::buffer_of(ready.launch.arrays, i)].bytes;
            if (auto ok = device.upload(placed.memory, placed.base[i] - placed.memory.address(), bytes.data(),
                                        bytes.size());
                !ok)
                return ok;
        }
    }
    return {};
}

Result<void> download_outputs(Device& device, const DeviceArrays& placed, kernels::ReadyLaunch& ready) {
    for (size_t i = 0; i < ready.launch.arrays.size(); ++i) {
        if (ready.launch.arrays[i].writes()) {
            auto& bytes = ready.memory.buffers[kernels::buffer_of(ready.launch.arrays, i)].bytes;
            if (auto ok = device.download(bytes.data(), placed.memory,
                                          placed.base[i] - placed.memory.address(), bytes.size());
                !ok)
                return ok;
        }
    }
    return {};
}

}  // namespace tilescope::gpu
