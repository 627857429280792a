// NVIDIA's driver, opened at run time by name: no header or library of the CUDA Toolkit is needed to
// build, and the same program runs where there is no GPU.
//
// Every function that fails says in one sentence what failed, in the driver's own words, and what to
// try. After a kernel's fault (an address outside its buffers, a trap) the driver refuses everything that
// a context holds, and what belonged to it only gives errors. The next Device::open opens the device anew
// where the driver lets it: NVIDIA's manual says of such faults that the process must be started again
// (CUresult, CUDA_ERROR_ILLEGAL_ADDRESS and its like), driver 580 holds to that, and the error then says so.
//
// Source: CUDA Driver API reference manual.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/ptx/tensor_map.h"

namespace tilescope::gpu {

struct DeviceInfo {
    int ordinal = 0;
    std::string name;                    // "NVIDIA H200"
    std::string driver;                  // "580.159.04" where it can be read, else ""
    int cuda_major = 0, cuda_minor = 0;  // version of CUDA that the driver supports
    int major = 0, minor = 0;            // compute capability
    int sms = 0;
    int clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
    uint64_t memory_bytes = 0, l2_bytes = 0;
    int shared_per_block = 0, shared_per_block_optin = 0, shared_per_sm = 0;
    int registers_per_block = 0, registers_per_sm = 0;
    int threads_per_block = 0, threads_per_sm = 0, blocks_per_sm = 0, warp_size = 0;
};

// All devices; an error where there is no driver, a driver too old, or no device. Cheap after the
// first call; never throws, never ends the program.
Result<std::vector<DeviceInfo>> devices();

// "NVIDIA H200, driver 580.159.04, CUDA 13.0, compute capability 9.0"
std::string describe(const DeviceInfo& info);

class Device;
struct Context;  // context.h

// A piece of device memory; given back when the last owner goes.
class Memory {
public:
    Memory() = default;
    uint64_t address() const { return address_; }
    uint64_t bytes() const { return bytes_; }

private:
    friend class Device;
    uint64_t address_ = 0, bytes_ = 0;
    std::shared_ptr<void> owner_;
};

// Page-locked host memory, which copies at the bus's full rate. Its bytes stay readable after a fault.
class HostMemory {
public:
    HostMemory() = default;
    std::byte* data() const { return static_cast<std::byte*>(data_); }
    uint64_t bytes() const { return bytes_; }

private:
    friend class Device;
    void* data_ = nullptr;
    uint64_t bytes_ = 0;
    std::shared_ptr<void> owner_;
};

struct Function {
    void* handle = nullptr;
    std::string name;
    int registers = 0, local_bytes = 0, shared_bytes = 0, max_threads = 0;
    int parameters = -1;          // how many it takes, -1 where the driver does not tell (before CUDA 12.4)
    std::shared_ptr<void> owner;  // the loaded module
};

struct LaunchOptions {
    double timeout_s = 60;                    // a run that takes longer counts as hung
    const std::atomic<bool>* stop = nullptr;  // set by another thread to give up waiting
    uint32_t shared_bytes = 0;                // dynamic shared memory
    Dim3 cluster;                             // blocks that run together; 1 × 1 × 1: as the kernel says
    // By parameter: objects that are passed by value, whose bytes stand in place of the parameter's value.
    std::map<size_t, std::vector<std::byte>> objects;
};

// Where a module's variable lies on the device.
struct Variable {
    uint64_t address = 0, bytes = 0;
};

// One GPU and this program's (primary) context on it. One thread at a time. All work is done in order, on the
// context's default stream.
class Device {
public:
    static Result<std::shared_ptr<Device>> open(int ordinal = 0);
    // In a context (CUcontext) that a program of somebody else's has made on the GPU of that ordinal: that context is
    // never reset, so that after a fault nothing opens it anew.
    static Result<std::shared_ptr<Device>> borrow(void* context, int ordinal);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const DeviceInfo& info() const;
    // True after a fault or a hung kernel: everything gives errors until the device is opened anew. What a
    // library such as cuBLAS holds of the context is then gone as well and must not be given back.
    bool lost() const;
    // The driver's number of the fault after which that is so, by which CUDA's runtime calls it too; 0.
    int fault_code() const;
    Result<uint64_t> free_bytes();
    Result<Memory> allocate(uint64_t bytes, const std::string& what);  // `what` is named in the error
    Result<HostMemory> allocate_host(uint64_t bytes, const std::string& what);
    Result<void> upload(const Memory& to, uint64_t offset, const void* from, uint64_t bytes);
    Result<void> download(void* to, const Memory& from, uint64_t offset, uint64_t bytes);
    // Copies by address, which must be mapped in this context: a variable's, or one of an AddressRange.
    Result<void> write(uint64_t address, const void* from, uint64_t bytes);
    Result<void> read(void* to, uint64_t address, uint64_t bytes);
    // Lets kernels use memory of this process at its own address; the pages must not be locked already.
    Result<void> lock(void* start, uint64_t bytes);
    void unlock(void* start);
    // Waits for all work, and writes what kernels have printed to standard output.
    Result<void> synchronize();
    // Copies and fills are only begun; what comes after them, waits for them.
    Result<void> copy(const Memory& to, const Memory& from, uint64_t bytes);
    Result<void> fill(const Memory& memory, uint8_t byte);
    Result<void> fill32(const Memory& memory, uint32_t word, uint64_t words);

    // Has the driver compile PTX for this device. The error holds the compiler's own first complaint.
    // max_registers: for a thread, 0 for as many as the compiler likes.
    Result<Function> load(const std::string& ptx, const std::string& ptx_name, const std::string& kernel,
                          unsigned max_registers = 0);
    // The same in two steps, for kernels that share a module's variables. A Function owns the module, too.
    Result<std::shared_ptr<void>> load_module(const std::string& ptx, const std::string& ptx_name,
                                              unsigned max_registers = 0);
    Result<Function> function_of(const std::shared_ptr<void>& module, const std::string& ptx_name,
                                 const std::string& kernel, int parameters);
    Result<Variable> variable_of(const std::shared_ptr<void>& module, const std::string& name);
    // The driver's own contents of a tensor map that ptx::check() allows.
    Result<ptx::TensorMapBytes> tensor_map(const ptx::TensorMap& map);

    // Runs a kernel to its end and returns its time on the device in milliseconds, by events.
    // parameters: by parameter, the value's bits, of which the kernel takes as many bytes as it declares.
    Result<double> launch(const Function& function, const Dim3& grid, const Dim3& block,
                          const std::vector<uint64_t>& parameters, const LaunchOptions& options = {});

    // The same `times` times, back to back with an event before and after each: milliseconds of each.
    Result<std::vector<double>> launch_timed(const Function& function, const Dim3& grid, const Dim3& block,
                                             const std::vector<uint64_t>& parameters, uint32_t times,
                                             const LaunchOptions& options = {});

    // The same for any work that `begin` gives to the default stream (a copy, a call of cuBLAS) without
    // waiting for it. `what` is named in errors. The runs of a batch are queued before the first has ended.
    Result<std::vector<double>> time_work(const std::function<Result<void>()>& begin, const std::string& what,
                                          uint32_t times, const LaunchOptions& options = {});

    Context& context() { return *context_; }

private:
    explicit Device(std::shared_ptr<Context> context);
    std::shared_ptr<Context> context_;
};

}  // namespace tilescope::gpu
