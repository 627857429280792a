#include "kernels/gpu/address_range.h"

#include <fmt/format.h>

#include "core/base/words.h"
#include "kernels/gpu/context.h"

namespace tilescope::gpu {

namespace {

// A multiple of the unit of mapping, 2 MiB on all devices so far; so large that few pieces are needed.
constexpr uint64_t kStep = uint64_t{64} << 20;

}  // namespace

Result<std::unique_ptr<AddressRange>> AddressRange::reserve(Device& device, uint64_t bytes, uint64_t wanted) {
    Context& context = device.context();
    if (auto in = enter(context); !in) return in.error();
    std::unique_ptr<AddressRange> range(new AddressRange(device));
    range->bytes_ = (bytes + kStep - 1) / kStep * kStep;
    CuAddress address = 0;
    int code = context.api->range_reserve(&address, range->bytes_, kStep, wanted, 0);
    if (code) code = context.api->range_reserve(&address, range->bytes_, kStep, 0, 0);
    if (code)
        return failure(context, code, fmt::format("reserving addresses on {}", context.info.name),
                       "run the program with --backend cpu");
    range->first_ = range->backed_ = address;
    return range;
}

AddressRange::~AddressRange() {
    Context& context = device_->context();
    if (first_ == 0 || !enter_to_release(context)) return;
    for (const BackedPiece& piece : pieces_) {
        context.api->memory_unmap(piece.address, piece.bytes);
        context.api->memory_release(piece.handle);
    }
    context.api->range_free(first_, bytes_);
}

Result<void> AddressRange::back(uint64_t end) {
    if (end <= backed_) return {};
    Context& context = device_->context();
    if (auto in = enter(context); !in) return in;
    BackedPiece piece{backed_, (end - backed_ + kStep - 1) / kStep * kStep, 0};
    const auto failed = [&](int code) {
        return failure(context, code,
                       fmt::format("allocating {} on {}", counted(piece.bytes, "byte"), context.info.name),
                       "give the program smaller sizes, or end other programs that use the GPU");
    };
    if (piece.address + piece.bytes > first_ + bytes_) return failed(kCuOutOfMemory);
    CuMemoryProperties properties;
    properties.location.id = context.device;
    if (const int code = context.api->memory_create(&piece.handle, piece.bytes, &properties, 0))
        return failed(code);
    if (const int code = context.api->memory_map(piece.address, piece.bytes, 0, piece.handle, 0)) {
        context.api->memory_release(piece.handle);
        return failed(code);
    }
    pieces_.push_back(piece);
    backed_ += piece.bytes;
    CuMemoryAccess access;
    access.location.id = context.device;
    if (const int code = context.api->memory_access(piece.address, piece.bytes, &access, 1))
        return failed(code);
    return {};
}

}  // namespace tilescope::gpu
