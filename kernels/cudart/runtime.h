// The state behind the CUDA runtime's C functions: one device, whose memory is this process's memory and
// whose launches are runs of the interpreter.
//
//   api_*.cpp     the C functions: arguments checked, then one of these
//   memory        where allocations lie
//   modules       PTX and its kernels and variables, as the compiler's host code registers them
//   launch        a launch: checked, run, its faults told
//   blas_*, rand* cuBLAS and cuRAND, computed here (library.h)
//
// What is allocated, what describes a launch and what records it stands in kernels/launched, which knows
// nothing of CUDA's runtime.
//
// Everything happens at once and in order: a call returns when its work is done. So streams are names, and an
// event is a point in time. What the interpreter takes is what a program measures.
//
// Source: CUDA Runtime API 12; CUDA C++ Programming Guide 12, "CUDA Runtime".
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits/device_spec.h"
#include "core/ptx/tensor_map.h"
#include "kernels/compiled/engine.h"
#include "kernels/cudart/caller.h"
#include "kernels/cudart/gpu.h"
#include "kernels/cudart/guard.h"
#include "kernels/cudart/include/cuda_runtime_api.h"
#include "kernels/launched/record.h"

namespace tilescope::cudart {

using launched::Allocation, launched::LoadedModule, launched::MemoryKind;

inline constexpr uint64_t kPage = 4096;  // of the host's memory, bytes
// Addresses of the device, where nothing else of the process lies: 8 TiB.
inline constexpr uint64_t kFirstAddress = 0x2000'0000'0000, kAddresses = uint64_t{1} << 43;

// The device's memory: allocations in a range of addresses, with gaps between them.
class DeviceMemory : public launched::KnownMemory {
public:
    // Device memory is a GPU's from now on; to be called before anything is allocated.
    void use(Gpu* gpu);
    // Bytes are zero. Null where there is no memory left.
    Allocation* allocate(uint64_t bytes, MemoryKind kind, unsigned flags = 0);
    bool release(uint64_t base);  // false where nothing begins there
    void release_all();           // except variables and registered memory
    uint64_t total() const;       // bytes of the device
    uint64_t left() const { return total() - std::min(total(), used_); }

private:
    bool reserve();
    Gpu* gpu_ = nullptr;
    uint64_t first_ = 0, host_ = 0;              // first addresses: of the device's range, of this process's
    uint64_t next_ = 0, mapped_ = 0, used_ = 0;  // offsets: not given out, not usable yet; bytes in use
};

// A variable that the host knows by the address of its own.
struct HostVariable {
    LoadedModule* module = nullptr;
    std::string name;
    uint64_t bytes = 0;
    bool constant = false;
    void** managed = nullptr;  // takes the address
};

struct HostFunction : launched::LoadedKernel {
    uint64_t most_dynamic_shared = 0;  // as cudaFuncSetAttribute asked; 0: what needs no asking
    int carveout = -1;
    bool large_clusters = false;  // cudaFuncAttributeNonPortableClusterSizeAllowed
    uint64_t last_blocks = 0;
    // That it reads what nobody filled, or nobody's lane; that it was interpreted where it was to be compiled.
    bool told_unfilled = false, told_absent = false, told_interpreted = false;
    double last_ms = 0;
    compiled::History history;
};

// What a launch did that may be repeated: it loaded nothing that it stored.
struct Repeatable {
    uint64_t number = 0;
    std::vector<std::pair<uint64_t, uint64_t>> versions;  // base, version after it
};

struct Runtime {
    std::recursive_mutex mutex;  // guards all that follows; held during a launch
    std::unique_ptr<Gpu> gpu;    // the GPU that launches run on; null: the interpreter
    DeviceMemory memory;
    launched::DeviceHeap heap;
    uint64_t heap_bytes = 8 << 20;
    std::vector<std::unique_ptr<LoadedModule>> modules;
    std::map<const void*, HostFunction> functions;  // by the host's address
    std::map<const void*, HostVariable> variables;  // by the host's address
    uint64_t constants_version = 1;
    cudaError_t sticky = cudaSuccess;  // the error of a fault, which every later call returns
    launched::Orders orders;
    compiled::Library kernels;  // that were compiled
    bool recording = false;     // orders were given
    std::string source;         // text of the program's source; empty where it is not known
    analysis::DeviceSpec device;
    uint64_t launches = 0;
    double launches_ms = 0;                        // of all launches so far
    std::map<std::string, Repeatable> repeatable;  // by kernel, sizes and arguments
    launched::DriverMaps tensor_maps;              // that the GPU's driver encoded
    std::set<std::string> noted;                   // calls that something was said of
    std::mutex print_mutex;
    std::string printed;  // output of kernels that is not on standard output yet
};

// Made at its first use, never destroyed: host code may call it from destructors.
Runtime& runtime();

extern thread_local cudaError_t last_error;

// Writes what kernels have printed to standard output. Source: CUDA C++ Programming Guide, "Formatted
// Output": it is written at launches, at synchronisations and blocking copies, and when the context ends.
void flush_prints(Runtime& r);

// One sentence on standard error, and to nobody else.
void say(const std::string& sentence);

// A sentence about the call that is being answered, which begins with its name and line, on standard error and
// to whoever gave the orders. A program that goes on in a loop is told it once for each line.
void note(Runtime& r, const char* severity, const std::string& sentence);
// The same of what the host's own code does at a place.
void note_at(Runtime& r, const char* severity, const Caller& place, const std::string& sentence);
// Such a sentence, of a call that asks for more than `holder` ("the device") has left, all in bytes.
std::string gets_no_memory(uint64_t bytes, const char* holder, uint64_t total, uint64_t left);

// What most C functions are: under the lock, not after a fault, the error kept for cudaGetLastError.
template <class Body>
cudaError_t call(Body body) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    open_managed(r);
    cudaError_t error = r.sticky;
    if (error == cudaSuccess) try {
            error = body(r);
        } catch (const std::bad_alloc&) {
            error = cudaErrorMemoryAllocation;
        }
    if (error != cudaSuccess) last_error = error;
    return error;
}

// For a function that gives one value.
template <class T>
cudaError_t put(T* to, T value) {
    if (!to) return cudaErrorInvalidValue;
    *to = value;
    return cudaSuccess;
}

// api_memory.cpp
// To be called when this process has written to the memory that holds this address.
void note_written(Runtime& r, const void* pointer);

// modules.cpp
// Reads the PTX unless that was done, and gives its variables their memory. False if it cannot be read.
bool load(Runtime& r, LoadedModule& module);
// The memory of a variable by the host's address; null where there is none.
Allocation* memory_of_symbol(Runtime& r, const void* symbol);
// The variable of the module whose own variable of the host an address lies in; null for none.
const HostVariable* variable_at(const Runtime& r, const void* pointer);
// "coef", as the program calls it.
std::string name_of(const HostVariable& variable);
HostFunction* find_function(Runtime& r, const void* host);
const ptx::Kernel* kernel_of(Runtime& r, HostFunction& function);

// launch.cpp
// Adds a line to the file of launches, where orders name one.
void tell_line(const Runtime& r, const std::string& line);
cudaError_t launch(Runtime& r, const void* host, const dim3& grid, const dim3& block, void** arguments,
                   size_t shared, bool cooperative = false, std::optional<dim3> cluster = {});

}  // namespace tilescope::cudart
