// The state behind the CUDA runtime's C functions: one device, whose memory is this process's memory and
// whose launches are runs of the interpreter.
//
//   api_*.cpp     the C functions: arguments checked, then one of these
//   memory        what is allocated, at which addresses; what was freed
//   modules       PTX and its kernels and variables, as the compiler's host code registers them
//   launch        a launch: checked, run, its faults told
//   recorder      chosen launches become recordings
//
// Everything happens at once and in order: a call returns when its work is done. So streams are names, and an
// event is a point in time. What the interpreter takes is what a program measures.
//
// Source: CUDA Runtime API 12; CUDA C++ Programming Guide 12, "CUDA Runtime".
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits/device_spec.h"
#include "core/ptx/ast.h"
#include "core/simt/interpreter.h"
#include "kernels/cudart/gpu.h"
#include "kernels/cudart/include/cuda_runtime_api.h"
#include "kernels/cudart/orders.h"
#include "kernels/run/parameters.h"

namespace tilescope::cudart {

// Addresses of the device, where nothing else of the process lies: 8 TiB.
inline constexpr uint64_t kFirstAddress = 0x2000'0000'0000, kAddresses = uint64_t{1} << 43;

enum class MemoryKind : uint8_t {
    Device,      // cudaMalloc and its sisters
    Managed,     // cudaMallocManaged: host code uses it too
    Host,        // cudaMallocHost, cudaHostAlloc
    Registered,  // cudaHostRegister: memory of the program's own
    Variable,    // a variable of a module
};

struct Allocation {
    uint64_t base = 0, bytes = 0;  // as kernels and the program know it
    MemoryKind kind = MemoryKind::Device;
    unsigned flags = 0;    // as given to cudaHostAlloc, cudaHostRegister, cudaMallocManaged
    uint64_t version = 0;  // changes when the runtime or a launch writes to it
    std::string symbol;    // of a variable: its name in the PTX
    // Of memory of a GPU: this process's copy, and which of the two has bytes that the other lacks.
    std::byte* place = nullptr;
    bool ahead = true, behind = false;
    uint64_t end() const { return base + bytes; }
    // In this process; Memory::bytes() where a GPU may have newer ones.
    std::byte* data() const { return place ? place : reinterpret_cast<std::byte*>(base); }
    void* pointer() const { return reinterpret_cast<void*>(base); }
    // Whether host code may read and write it without a copy.
    bool on_host() const { return kind != MemoryKind::Device && kind != MemoryKind::Variable; }
};

// Memory that launches can use. Addresses are never given out twice, so that a pointer to freed memory is
// told apart from all others; between two allocations lies memory of nobody.
class Memory {
public:
    // From now on, which is before anything is allocated, memory of the device is a GPU's.
    void use(Gpu* gpu) { gpu_ = gpu; }
    // Bytes are zero. Null where there is no memory left.
    Allocation* allocate(uint64_t bytes, MemoryKind kind, unsigned flags = 0);
    // Memory that lies elsewhere; null where it overlaps what is known already.
    Allocation* adopt(Allocation allocation);
    bool release(uint64_t base);  // false where nothing begins there
    void release_all();           // but variables and registered memory

    Allocation* find(uint64_t address);  // that holds the address; null
    Allocation* find(const void* pointer) { return find(reinterpret_cast<uintptr_t>(pointer)); }
    // That holds all of the bytes; null. None at all (bytes 0) are held by any that holds the address or ends
    // there.
    Allocation* holds(const void* pointer, uint64_t bytes);
    bool freed(uint64_t address) const;
    const Allocation* nearest(uint64_t address) const;  // null where nothing is near

    // The bytes as the device left them; null where the GPU that has them does not answer.
    std::byte* bytes(Allocation& allocation);
    // This process, or the device, wrote to it.
    void written(Allocation& allocation) { touched(allocation), allocation.ahead = true; }
    void touched(Allocation& allocation) { allocation.version = ++stamp_; }
    std::vector<simt::View> views() const;  // ascending
    std::map<uint64_t, Allocation>& all() { return live_; }
    uint64_t total() const;  // bytes of the device
    uint64_t used() const { return used_; }

private:
    std::map<uint64_t, Allocation> live_;  // by base
    std::map<uint64_t, uint64_t> freed_;   // base, end
    bool reserve();
    Gpu* gpu_ = nullptr;
    uint64_t first_ = 0, host_ = 0;  // where addresses begin: the device's, this process's
    uint64_t next_ = 0, mapped_ = 0, used_ = 0, stamp_ = 0;  // the first two from there on
};

// The heap of malloc and free in device code: a range of device memory, made when it is first asked for, that
// stays until the program ends.
//
// Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations" (8 MB where nothing
// is said, aligned to 16 bytes, kept between launches).
class Heap {
public:
    uint64_t allocate(uint64_t bytes);  // 0 where there is no room
    void release(uint64_t address);     // nothing where nothing begins there
    void place(uint64_t base, uint64_t bytes);
    bool placed() const { return base_ != 0; }
    using Taken = std::map<uint64_t, uint64_t>;  // base, end
    Taken taken() const { return taken_; }
    void restore(Taken taken) { taken_ = std::move(taken); }

private:
    std::mutex mutex_;
    uint64_t base_ = 0, end_ = 0;
    Taken taken_;
};

struct Module {
    std::string text, name;
    bool parsed = false;
    ptx::Module ptx;
    std::string problem;                    // why it cannot be read; empty
    std::map<std::string, uint64_t> bases;  // of its variables, by name
};

// A variable that the host knows by the address of its own.
struct Variable {
    Module* module = nullptr;
    std::string name;
    uint64_t bytes = 0;
    bool constant = false;
    void** managed = nullptr;  // takes the address
};

struct Function {
    Module* module = nullptr;
    std::string entry;                 // in the PTX
    std::string name;                  // as people call it: "transpose" for "_Z9transposePfS_ii"
    uint64_t most_dynamic_shared = 0;  // as cudaFuncSetAttribute asked; 0: what needs no asking
    int carveout = -1;
    std::shared_ptr<const simt::Program> program;  // once it was launched
    uint64_t constants_version = 0;                // that the program's constants are of
    std::string problem;                           // why it cannot be run; empty
    bool recorded = false;                         // some launch of it was
    bool uses_heap = false;                        // it calls malloc or free
    uint64_t launches = 0, last_blocks = 0;
    double last_ms = 0;
    std::vector<kernels::Parameter> parameters;  // once its module was read
};

struct CallConfiguration {
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = nullptr;
};

// What a launch did that may be repeated: it loaded nothing that it stored.
struct Repeatable {
    uint64_t number = 0;
    std::vector<std::pair<uint64_t, uint64_t>> versions;  // base, version after it
};

struct Runtime {
    std::recursive_mutex mutex;  // of all that follows; held during a launch
    std::unique_ptr<Gpu> gpu;    // that launches run on; null: the interpreter
    Memory memory;
    Heap heap;
    uint64_t heap_bytes = 8 << 20;
    std::vector<std::unique_ptr<Module>> modules;
    std::map<const void*, Function> functions;  // by the host's address
    std::map<const void*, Variable> variables;  // by the host's address
    uint64_t constants_version = 1;
    cudaError_t sticky = cudaSuccess;  // a fault's: every later call returns it
    Orders orders;
    bool recording = false;  // orders were given
    std::string source;      // text of the program's source; empty where it is not known
    analysis::DeviceSpec device;
    uint64_t launches = 0;
    std::map<std::string, Repeatable> repeatable;  // by kernel, sizes and arguments
    std::mutex print_mutex;
    std::string printed;  // by kernels, not yet on standard output
};

// Made at its first use, never destroyed: host code may call it from destructors.
Runtime& runtime();

extern thread_local cudaError_t last_error;

// Writes what kernels have printed to standard output. Source: CUDA C++ Programming Guide, "Formatted
// Output": it is written at launches, at synchronisations and blocking copies, and when the context ends.
void flush_prints(Runtime& r);

// One sentence on standard error, and to nobody else.
void say(const std::string& sentence);

// What most of the C functions are: under the lock, not after a fault, with the error kept for
// cudaGetLastError.
template <class Body>
cudaError_t call(Body body) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    cudaError_t error = r.sticky;
    if (error == cudaSuccess) try {
            error = body(r);
        } catch (const std::bad_alloc&) {
            error = cudaErrorMemoryAllocation;
        }
    if (error != cudaSuccess) last_error = error;
    return error;
}

// modules.cpp
// Reads the PTX where that was not done yet, and gives its variables their memory. False where it cannot be
// read.
bool load(Runtime& r, Module& module);
// The memory of a variable by the host's address; null where there is none.
Allocation* memory_of_symbol(Runtime& r, const void* symbol);
Function* find_function(Runtime& r, const void* host);
const ptx::Kernel* kernel_of(Runtime& r, Function& function);
// Of the kernel's variables: shared ones a block, local ones a thread, constants.
uint64_t bytes_in(const ptx::Kernel& kernel, ptx::StateSpace space);

// launch.cpp
cudaError_t launch(Runtime& r, const void* host, const dim3& grid, const dim3& block, void** arguments,
                   size_t shared, bool cooperative = false);
// The launch as an interpreter needs it: arguments, and the arrays that they point to.
Launch describe(Runtime& r, Function& function, const ptx::Kernel& kernel, const dim3& grid,
                const dim3& block, void** arguments, size_t shared);
// Adds the memory as an array, where no array is it yet. False where there are as many as there can be.
bool add_array(Launch& launch, const Allocation& allocation, std::string name,
               ElementType type = ElementType::F32);
// What lies at an address that a launch may not use, as the end of a sentence.
std::string name_outside(Runtime& r, uint64_t address);

// recorder.cpp
bool chosen(Runtime& r, const Function& function, uint64_t number);
struct Recorded {
    bool ran = false;  // the launch is done: device memory is as it left it
    std::optional<simt::Fault> fault;
    bool stopped = false;
    std::string path, why_not;  // where the recording is; why there is none
    std::string race;           // the first fault that it proves; empty
    std::string unfilled;       // the first read of shared memory that nobody had filled; empty
    std::string remark;         // what else is to be known of it; empty
};
Recorded record(Runtime& r, Function& function, const Launch& launch, uint64_t number,
                const simt::RunOptions& run);

}  // namespace tilescope::cudart
