// The memory that launches can use, as whoever brings them knows it: what is allocated, and what was freed.
// A pointer among a launch's arguments is found here by its value alone.
//
// Without a GPU the device's addresses are this process's. With one the device has the bytes, and this
// process a copy, which is brought up to date when it is asked for; what was written to it goes to the device
// before the next launch:
//
//   device   | bytes |  --- bytes(), where it is behind --->   | copy |   this process
//            | bytes |  <-- send(), where it is ahead  -----   | copy |
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/simt/interpreter.h"
#include "kernels/launched/filled.h"

namespace tilescope::gpu {
class Device;
}

namespace tilescope::launched {

enum class MemoryKind : uint8_t {
    Device,      // for kernels; host code copies
    Managed,     // host code uses it too
    Host,        // locked memory of the host, which kernels use where it lies
    Registered,  // the same, which the program itself had allocated
    Variable,    // a variable of a module
};

struct Allocation {
    uint64_t base = 0, bytes = 0;  // as kernels and the program know it
    MemoryKind kind = MemoryKind::Device;
    unsigned flags = 0;    // as the program gave them when it allocated or registered it
    uint64_t version = 0;  // changes when host code or a launch writes to it
    std::string symbol;    // of a variable: its name in the PTX
    uint64_t pitch = 0;    // bytes from row to row, where the program asked for rows
    // Of a GPU's memory: this process's copy, and whether that is ahead of the GPU's bytes or behind them.
    std::byte* place = nullptr;
    bool ahead = true, behind = false;
    // The last launch that was given it.
    struct Used {
        std::string name;  // its parameter's
        uint64_t elements = 0, element_bytes = 1, threads = 0, launch = 0;
    };
    Used used{};
    std::shared_ptr<FilledMap> filled{};  // null: all of it is filled, or that is not followed
    uint64_t end() const { return base + bytes; }
    // Its bytes in this process; a GPU may have newer ones (KnownMemory::bytes()).
    std::byte* data() const { return place ? place : reinterpret_cast<std::byte*>(base); }
    void* pointer() const { return reinterpret_cast<void*>(base); }
    // Whether host code may read and write it without a copy.
    bool on_host() const { return kind != MemoryKind::Device && kind != MemoryKind::Variable; }
};

// Addresses are never given out twice, so that a pointer to freed memory is told apart from all others.
class KnownMemory {
public:
    // Null where it overlaps what is known already.
    Allocation* add(Allocation allocation);
    void remove(uint64_t base);  // nothing where nothing begins there
    void note_freed(const Allocation& gone) { freed_[gone.base] = gone.end(); }

    Allocation* find(uint64_t address);  // the allocation that holds it; null for none
    Allocation* find(const void* pointer) { return find(reinterpret_cast<uintptr_t>(pointer)); }
    // The allocation that holds all of the bytes; null for none. 0 bytes may also lie at its end.
    Allocation* holds(uint64_t address, uint64_t bytes);
    Allocation* holds(const void* pointer, uint64_t bytes) {
        return holds(reinterpret_cast<uintptr_t>(pointer), bytes);
    }
    bool freed(uint64_t address) const;
    const Allocation* nearest(uint64_t address) const;  // null where nothing is near

    // Sets the GPU whose memory all copies are of; null at first.
    void lies_on(gpu::Device* device) { device_ = device; }
    // The bytes as the device left them; null where the GPU that has them does not answer.
    std::byte* bytes(Allocation& allocation);
    // Brings everything to the device that was written here.
    Result<void> send();
    // To be called when this process has written to it, to all of it or to nobody knows what; to these bytes;
    // or when a launch has (stored: this process's bytes, touched: those of the GPU).
    void written(Allocation& allocation) { stored(allocation), allocation.filled.reset(); }
    void written(Allocation& allocation, uint64_t address, uint64_t bytes);
    void stored(Allocation& allocation) { touched(allocation), allocation.ahead = true; }
    void touched(Allocation& allocation) { allocation.version = ++stamp_; }
    // Follows which bytes of a new allocation are filled.
    static void follow(Allocation& allocation);
    // The bytes from an address on become what those of `from` are, filled or not.
    void copied(Allocation& allocation, uint64_t address, const Allocation* source, uint64_t from,
                uint64_t bytes);
    // What is filled whole by now is followed no longer.
    void settle();
    std::vector<simt::View> views() const;  // ascending
    std::map<uint64_t, Allocation>& all() { return live_; }

private:
    Allocation* at_or_before(uint64_t address);

    std::map<uint64_t, Allocation> live_;  // by base
    std::map<uint64_t, uint64_t> freed_;   // end by base
    uint64_t stamp_ = 0;
    gpu::Device* device_ = nullptr;
};

// The heap of malloc and free in device code: a range of device memory, made when it is first asked for, that
// stays until the program ends.
//
// Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations" (8 MB where nothing
// is said, aligned to 16 bytes, kept between launches).
class DeviceHeap {
public:
    uint64_t allocate(uint64_t bytes);  // 0 where there is no room
    void release(uint64_t address);     // nothing where nothing begins there
    void place(uint64_t base, uint64_t bytes) { base_ = base, end_ = base + bytes; }
    bool placed() const { return base_ != 0; }
    using Taken = std::map<uint64_t, uint64_t>;  // end by base
    Taken taken() const { return taken_; }
    void restore(Taken taken) { taken_ = std::move(taken); }

private:
    std::mutex mutex_;
    uint64_t base_ = 0, end_ = 0;
    Taken taken_;
};

}  // namespace tilescope::launched
