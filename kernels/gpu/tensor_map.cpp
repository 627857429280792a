// Tensor maps as the driver encodes them, for kernels that run on a GPU.
//
// Source: CUDA Driver API, "Tensor Map Object Management".
#include <fmt/format.h>

#include "kernels/gpu/context.h"

namespace tilescope::gpu {

Result<ptx::TensorMapBytes> Device::tensor_map(const ptx::TensorMap& map) {
    Context& context = *context_;
    const std::string what = fmt::format("making a tensor map on {}", context.info.name);
    struct alignas(128) {
        ptx::TensorMapBytes bytes;
    } made{};
    auto* const start = reinterpret_cast<void*>(map.address);
    const int type = static_cast<int>(map.type), swizzle = static_cast<int>(map.swizzle);
    const int interleave = map.interleave, promotion = map.l2_promotion, fill = map.fills_with_nan ? 1 : 0;
    const auto encoded = called(
        context, what, "update the driver, or record it with --backend cpu", [&](const DriverApi& api) {
            if (map.im2col)
                return api.tensor_map_im2col == nullptr
                           ? kCuNotFound
                           : api.tensor_map_im2col(
                                 &made, type, map.rank, start, map.extent.data(), map.stride.data(),
                                 map.lower_corner.data(), map.upper_corner.data(), map.channels, map.pixels,
                                 map.element_stride.data(), interleave, swizzle, promotion, fill);
            return api.tensor_map_tiled == nullptr
                       ? kCuNotFound
                       : api.tensor_map_tiled(&made, type, map.rank, start, map.extent.data(),
                                              map.stride.data(), map.box.data(), map.element_stride.data(),
                                              interleave, swizzle, promotion, fill);
        });
    if (!encoded) return encoded.error();
    return made.bytes;
}

}  // namespace tilescope::gpu
