#include "kernels/capture/saved_memory.h"

#include <new>

#include <fmt/format.h>

#include "core/base/words.h"
#include "kernels/gpu/context.h"

namespace tilescope::capture {

namespace {

constexpr uint64_t kLeftFree = uint64_t{2}
                               << 30;  // of the device's memory, for the recording and the program
constexpr uint64_t kMostOnHost = uint64_t{16} << 30;

Result<void> copy(gpu::Device& device, uint64_t to, uint64_t from, uint64_t bytes) {
    return gpu::called(device.context(), "copying the program's memory", "run it again without recording",
                       [&](const gpu::DriverApi& api) { return api.copy(to, from, bytes); });
}

}  // namespace

Result<SavedMemory> SavedMemory::of(gpu::Device& device, const std::map<uint64_t, uint64_t>& allocations) {
    SavedMemory saved(device);
    for (const auto& [base, bytes] : allocations) saved.bytes_ += bytes;
    const auto free = device.free_bytes();
    if (!free) return free.error();
    const bool on_device = saved.bytes_ + kLeftFree <= *free;
    if (!on_device && saved.bytes_ > kMostOnHost)
        return Error{
            fmt::format("its memory, {}, finds no room to be saved in; give the program smaller sizes",
                        bytes_text(saved.bytes_))};
    try {
        for (const auto& [base, bytes] : allocations) {
            SavedPiece piece{base, bytes, {}, {}};
            if (on_device) {
                auto room = device.allocate(bytes, "a copy of the program's memory");
                if (!room) return room.error();
                piece.copy = *room;
                if (auto ok = copy(device, room->address(), base, bytes); !ok) return ok.error();
            } else {
                piece.host.resize(bytes);
                if (auto ok = device.read(piece.host.data(), base, bytes); !ok) return ok.error();
            }
            saved.pieces_.push_back(std::move(piece));
        }
    } catch (const std::bad_alloc&) {
        return Error{
            "there is too little memory to save what its arguments lead to; give the program smaller sizes"};
    }
    if (auto ok = device.synchronize(); !ok) return ok.error();
    return saved;
}

Result<void> SavedMemory::restore() {
    for (const SavedPiece& piece : pieces_) {
        auto ok = piece.host.empty() ? copy(*device_, piece.address, piece.copy.address(), piece.bytes)
                                     : device_->write(piece.address, piece.host.data(), piece.bytes);
        if (!ok) return ok;
    }
    return device_->synchronize();
}

}  // namespace tilescope::capture
