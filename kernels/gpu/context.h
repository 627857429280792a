// What lies behind a Device: the driver of this process, and one context a GPU.
//
// A context is in one of three states.
//
//     good ---- a kernel faults ----------------------------> lost    reset at once; all it held is gone
//       `------ a kernel does not end, or is given up ------> hung    abandoned as it is
//                                                              `-- its kernel has ended: lost, and reset
//
// The driver cannot end a kernel that runs, and nearly every call on its context waits for it. So a hung
// context is left alone, its memory deliberately leaked, until its kernel is seen to have ended. Memory and
// modules look at the state before they give anything back, so they may outlive their context.
//
// This is the primary context, which a process has in any case. If a driver's primary context stays broken
// after a reset, it is one made for this program alone. In a program of somebody else's it is that program's own,
// which stays as it is, whatever becomes of it. All work goes to the default stream, in order.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "kernels/gpu/driver.h"
#include "kernels/gpu/driver_api.h"

namespace tilescope::gpu {

struct Context : std::enable_shared_from_this<Context> {
    enum class Health { Good, Lost, Hung };

    std::shared_ptr<const DriverApi> api;
    DeviceInfo info;
    int device = 0;  // CUdevice
    CuContext handle = nullptr;
    bool primary = true;
    bool borrowed = false;  // a program's own, which is neither reset nor given back
    std::atomic<Health> health = Health::Good;
    std::string why;              // why it is no longer good
    int fault = 0;                // lost: the driver's number of what lost it
    std::vector<CuEvent> events;  // made when needed, used again
    CuEvent pending = nullptr;    // hung: the event that has not come

    Context() = default;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context();
};

// The driver and its devices, opened by the first call and then kept.
struct Driver {
    std::shared_ptr<const DriverApi> api;
    std::vector<DeviceInfo> devices;
};
Result<std::shared_ptr<const Driver>> driver();

// For tests: forget the driver and use that library instead.
void use_driver(const std::string& library);

// The GPU's context: the one in use, or a new one.
Result<std::shared_ptr<Context>> open_context(int ordinal);

// A context that a program has made, on the GPU of that ordinal.
Result<std::shared_ptr<Context>> borrow_context(CuContext handle, int ordinal);

// Makes the context the calling thread's own, and says why where it is no longer good.
Result<void> enter(Context& context);

// Enters as far as giving something back needs it; false where there is nothing to give back to.
bool enter_to_release(Context& context);

// The Error for a call that failed: "WHAT failed: the driver's words; ADVICE". A fault resets the context.
Error failure(Context& context, int code, const std::string& what, const std::string& advice);

// Enters the context and calls the driver, as `call` does with its functions; says what failed of `what`.
template <class Call>
Result<void> called(Context& context, const std::string& what, const std::string& advice, Call call) {
    if (auto in = enter(context); !in) return in;
    if (const int code = call(*context.api)) return failure(context, code, what, advice);
    return {};
}

// What a compiler's log has to say, in one line: the first that complains ("error", "fatal"), else the first
// that is not empty; runs of blanks made one.
std::string first_complaint(std::string_view log);

// Gives a context up whose event does not come; the next open_context looks whether it has come since.
void abandon(Context& context, CuEvent pending, const std::string& why);

// Event number `index` of the context.
Result<CuEvent> event_of(Context& context, size_t index);

// A loaded module: what keeps a Function's code on the device.
struct DriverModule {
    std::shared_ptr<Context> context;
    CuModule handle = nullptr;

    DriverModule() = default;
    DriverModule(const DriverModule&) = delete;
    DriverModule& operator=(const DriverModule&) = delete;
    ~DriverModule();
};

}  // namespace tilescope::gpu
