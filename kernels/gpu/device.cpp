#include <new>

#include <fmt/format.h>
#include <sys/mman.h>

#include "core/base/words.h"
#include "kernels/gpu/context.h"

namespace tilescope::gpu {

namespace {

struct DeviceAllocation {
    std::shared_ptr<Context> context;
    CuAddress address = 0;

    ~DeviceAllocation() {
        if (enter_to_release(*context)) context->api->memory_free(address);
    }
};

// The pages are the program's own and only locked by the driver, so that resetting a context, which takes
// away what the driver allocated, leaves them readable. Where they cannot be locked, copies are slower.
struct HostAllocation {
    std::shared_ptr<Context> context;
    void* start = nullptr;
    size_t bytes = 0;
    bool locked = false;

    ~HostAllocation() {
        // A kernel that still runs may write here: left to it, deliberately leaked.
        if (context->health == Context::Health::Hung) return;
        if (locked && enter_to_release(*context)) context->api->host_unregister(start);
        munmap(start, bytes);
    }
};

constexpr const char* kRepeat = "open the GPU again and repeat";

// Whether [offset, offset + bytes) lies in a piece of memory of this context.
Result<void> check_range(const Context& context, const std::shared_ptr<void>& owner, uint64_t size,
                         uint64_t offset, uint64_t bytes) {
    if (!owner || static_cast<const DeviceAllocation*>(owner.get())->context.get() != &context) {
        return Error{
            fmt::format("this memory is not of {} as it is open now; allocate it again", context.info.name)};
    }
    if (offset > size || bytes > size - offset) {
        return Error{fmt::format("{} bytes from byte {} on lie outside a buffer of {} bytes; ask for fewer",
                                 bytes, offset, size)};
    }
    return {};
}

}  // namespace

Device::Device(std::shared_ptr<Context> context) : context_(std::move(context)) {}
Device::~Device() = default;
const DeviceInfo& Device::info() const { return context_->info; }
int Device::fault_code() const { return context_->fault; }
bool Device::lost() const { return context_->health != Context::Health::Good; }

Result<std::shared_ptr<Device>> Device::open(int ordinal) {
    auto context = open_context(ordinal);
    if (!context) return context.error();
    return std::shared_ptr<Device>(new Device(std::move(*context)));
}

Result<std::shared_ptr<Device>> Device::borrow(void* handle, int ordinal) {
    auto context = borrow_context(static_cast<CuContext>(handle), ordinal);
    if (!context) return context.error();
    return std::shared_ptr<Device>(new Device(std::move(*context)));
}

Result<uint64_t> Device::free_bytes() {
    size_t free = 0, total = 0;
    const auto asked =
        called(*context_, fmt::format("asking {} for its free memory", info().name), "open it again",
               [&](const DriverApi& api) { return api.memory_info(&free, &total); });
    return asked ? Result<uint64_t>(uint64_t{free}) : asked.error();
}

Result<Memory> Device::allocate(uint64_t bytes, const std::string& what) {
    Context& context = *context_;
    if (auto in = enter(context); !in) return in.error();
    if (bytes == 0) return Error{fmt::format("{} has no bytes; give it at least one", what)};
    CuAddress address = 0;
    if (const int code = context.api->memory_allocate(&address, bytes)) {
        const std::string task =
            fmt::format("allocating {} on {} for {}", bytes_text(bytes), info().name, what);
        if (code != kCuOutOfMemory) return failure(context, code, task, "open the GPU again");
        size_t free = 0, total = 0;
        context.api->memory_info(&free, &total);
        return failure(context, code, task,
                       fmt::format("{} of {} are free, so choose smaller sizes or end other programs "
                                   "that use the GPU",
                                   bytes_text(free), bytes_text(total)));
    }
    auto owner = std::make_shared<DeviceAllocation>();
    owner->context = context_;
    owner->address = address;
    Memory memory;
    memory.address_ = address;
    memory.bytes_ = bytes;
    memory.owner_ = std::move(owner);
    return memory;
}

Result<HostMemory> Device::allocate_host(uint64_t bytes, const std::string& what) {
    Context& context = *context_;
    if (auto in = enter(context); !in) return in.error();
    if (bytes == 0) return Error{fmt::format("{} has no bytes; give it at least one", what)};
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return Error{
            fmt::format("there are no {} of memory for {}; choose smaller sizes or end other "
                        "programs",
                        bytes_text(bytes), what)};
    }
    auto owner = std::make_shared<HostAllocation>();
    owner->context = context_;
    owner->start = start;
    owner->bytes = bytes;
    const int code = context.api->host_register(start, bytes, 0);
    owner->locked = code == kCuSuccess;
    if (loses_context(code)) {
        return failure(context, code, fmt::format("locking {} for {}", bytes_text(bytes), what),
                       "open the GPU again");
    }
    HostMemory memory;
    memory.data_ = start;
    memory.bytes_ = bytes;
    memory.owner_ = std::move(owner);
    return memory;
}

Result<void> Device::upload(const Memory& to, uint64_t offset, const void* from, uint64_t bytes) {
    Context& context = *context_;
    if (auto in = enter(context); !in) return in;
    if (auto inside = check_range(context, to.owner_, to.bytes_, offset, bytes); !inside) return inside;
    return write(to.address_ + offset, from, bytes);
}

Result<void> Device::write(uint64_t address, const void* from, uint64_t bytes) {
    return called(
        *context_, fmt::format("copying {} to {}", bytes_text(bytes), info().name), kRepeat,
        [&](const DriverApi& api) { return bytes ? api.upload(address, from, bytes) : kCuSuccess; });
}

Result<void> Device::download(void* to, const Memory& from, uint64_t offset, uint64_t bytes) {
    Context& context = *context_;
    if (auto in = enter(context); !in) return in;
    if (auto inside = check_range(context, from.owner_, from.bytes_, offset, bytes); !inside) return inside;
    return read(to, from.address_ + offset, bytes);
}

Result<void> Device::lock(void* start, uint64_t bytes) {
    constexpr unsigned kDeviceMap = 2;  // CU_MEMHOSTREGISTER_DEVICEMAP
    return called(*context_,
                  fmt::format("giving {} access to {} of the host", info().name, bytes_text(bytes)),
                  "use cudaMalloc, or --backend cpu",
                  [&](const DriverApi& api) { return api.host_register(start, bytes, kDeviceMap); });
}

void Device::unlock(void* start) {
    Context& context = *context_;
    if (enter_to_release(context)) context.api->host_unregister(start);
}

Result<void> Device::synchronize() {
    return called(*context_, fmt::format("waiting for {}", info().name), "open the GPU again",
                  [](const DriverApi& api) { return api.context_synchronize(); });
}

Result<void> Device::read(void* to, uint64_t address, uint64_t bytes) {
    return called(
        *context_, fmt::format("copying {} from {}", bytes_text(bytes), info().name), kRepeat,
        [&](const DriverApi& api) { return bytes ? api.download(to, address, bytes) : kCuSuccess; });
}

Result<void> Device::copy(const Memory& to, const Memory& from, uint64_t bytes) {
    Context& context = *context_;
    if (auto in = enter(context); !in) return in;
    if (auto inside = check_range(context, to.owner_, to.bytes_, 0, bytes); !inside) return inside;
    if (auto inside = check_range(context, from.owner_, from.bytes_, 0, bytes); !inside) return inside;
    return called(context, fmt::format("copying {} on {}", bytes_text(bytes), info().name), kRepeat,
                  [&](const DriverApi& api) {
                      return bytes ? api.copy(to.address_, from.address_, bytes) : kCuSuccess;
                  });
}

Result<void> Device::fill(const Memory& memory, uint8_t byte) {
    Context& context = *context_;
    if (auto in = enter(context); !in) return in;
    if (auto own = check_range(context, memory.owner_, memory.bytes_, 0, memory.bytes_); !own) return own;
    return called(context, fmt::format("filling {} on {}", bytes_text(memory.bytes_), info().name), kRepeat,
                  [&](const DriverApi& api) { return api.fill8(memory.address_, byte, memory.bytes_); });
}

Result<void> Device::fill32(const Memory& memory, uint32_t word, uint64_t words) {
    Context& context = *context_;
    if (auto in = enter(context); !in) return in;
    if (words > memory.bytes_ / 4) words = UINT64_MAX / 4;  // outside, and no overflow in what says so
    if (auto inside = check_range(context, memory.owner_, memory.bytes_, 0, words * 4); !inside)
        return inside;
    return called(
        context, fmt::format("filling {} on {}", bytes_text(words * 4), info().name), kRepeat,
        [&](const DriverApi& api) { return words ? api.fill32(memory.address_, word, words) : kCuSuccess; });
}

}  // namespace tilescope::gpu
