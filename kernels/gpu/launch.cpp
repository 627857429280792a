// Launches, and waiting for them.
//
// The program waits by asking for an event again and again: first without a pause, so that a short kernel
// costs no more than it takes, then with sleeps that grow with the time waited. Between two questions it can
// see that it was asked to stop, or that the kernel takes too long; a blocking call of the driver could not.
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "core/base/cluster.h"
#include "core/base/words.h"
#include "kernels/gpu/context.h"

namespace tilescope::gpu {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Runs that are queued before the first is waited for. The driver's own queue is longer (it blocks when it
// is full, which must not happen behind a kernel that hangs).
constexpr uint32_t kBatch = 64;

// A kernel's parameters end where the kernel says, so an old driver that does not tell how many there are
// would read on beyond too few: it finds zeros there.
constexpr size_t kPaddedParameters = 512;
constexpr size_t kLargestParameter = 4096;

void pause_after(double waited_s) {
    if (waited_s < 0.0003) return std::this_thread::yield();
    std::this_thread::sleep_for(Seconds(std::min(waited_s / 8, 0.001)));
}

Error fault(Context& context, int code, const std::string& what) {
    return failure(context, code, fmt::format("running {} on {}", what, context.info.name),
                   loses_context(code) ? "check the kernel's indices and launch (recording it with --backend "
                                         "cpu names a wrong access); the GPU is opened anew for the next run"
                                       : "check the launch");
}

Result<void> wait_for(Context& context, CuEvent event, const std::string& what,
                      const LaunchOptions& options) {
    const auto start = Clock::now();
    for (;;) {
        const int code = context.api->event_query(event);
        if (code == kCuSuccess) return {};
        if (code != kCuNotReady) return fault(context, code, what);
        const double waited_s = Seconds(Clock::now() - start).count();
        if (options.stop && *options.stop) {
            abandon(context, event, fmt::format("{} was stopped before its end", what));
            return Error{fmt::format("{} was stopped before its end; {} can be used again when it has ended",
                                     what, context.info.name)};
        }
        if (!(waited_s < options.timeout_s)) {
            abandon(context, event, fmt::format("{} does not end", what));
            return Error{fmt::format(
                "{} did not end within {:g} s on {} and counts as hung; look for a loop or a barrier that "
                "never ends, or for a launch too large",
                what, options.timeout_s, context.info.name)};
        }
        pause_after(waited_s);
    }
}

// What the driver would refuse with fewer words.
Result<void> check_launch(const Context& context, const Function& function, const Dim3& grid,
                          const Dim3& block, size_t parameters, const LaunchOptions& options) {
    const auto* module = static_cast<const DriverModule*>(function.owner.get());
    if (!module || module->context.get() != &context) {
        return Error{fmt::format("'{}' is not loaded on {} as it is open now; load it again", function.name,
                                 context.info.name)};
    }
    if (grid.count() == 0 || block.count() == 0) {
        return Error{fmt::format("a grid of {} blocks of {} threads runs nothing; give at least one of each",
                                 size_text(grid), size_text(block))};
    }
    if (block.count() > static_cast<uint64_t>(function.max_threads)) {
        return Error{
            fmt::format("a block of {} has {} threads, and '{}' can have {} on {} (it takes {} "
                        "registers a thread); choose a smaller block",
                        size_text(block), block.count(), function.name, function.max_threads,
                        context.info.name, function.registers)};
    }
    const uint64_t shared = static_cast<uint64_t>(function.shared_bytes) + options.shared_bytes;
    const auto most =
        static_cast<uint64_t>(std::max(context.info.shared_per_block, context.info.shared_per_block_optin));
    if (shared > most) {
        return Error{
            fmt::format("'{}' asks for {} bytes of shared memory a block, and {} has {}; choose a "
                        "smaller tile",
                        function.name, shared, context.info.name, most)};
    }
    if (function.parameters >= 0 && parameters != static_cast<size_t>(function.parameters)) {
        return Error{fmt::format("'{}' takes {} parameters and was given {}; give each of them one value",
                                 function.name, function.parameters, parameters)};
    }
    return {};
}

}  // namespace

Result<std::vector<double>> Device::time_work(const std::function<Result<void>()>& begin,
                                              const std::string& what, uint32_t times,
                                              const LaunchOptions& options) {
    Context& context = *context_;
    const DriverApi& api = *context.api;
    if (auto in = enter(context); !in) return in.error();
    std::vector<double> milliseconds;
    milliseconds.reserve(times);
    while (milliseconds.size() < times) {
        const size_t runs = std::min<size_t>(kBatch, times - milliseconds.size());
        for (size_t run = 0; run < 2 * runs; ++run)
            if (auto event = event_of(context, run); !event) return event.error();
        for (size_t run = 0; run < runs; ++run) {
            if (const int code = api.event_record(context.events[2 * run], nullptr))
                return fault(context, code, what);
            if (auto begun = begin(); !begun) return begun.error();
            if (const int code = api.event_record(context.events[2 * run + 1], nullptr))
                return fault(context, code, what);
        }
        for (size_t run = 0; run < runs; ++run) {
            CuEvent before = context.events[2 * run], after = context.events[2 * run + 1];
            if (auto ended = wait_for(context, after, what, options); !ended) return ended.error();
            float time = 0;
            if (const int code = api.event_elapsed(&time, before, after)) return fault(context, code, what);
            milliseconds.push_back(double{time});
        }
    }
    return milliseconds;
}

Result<std::vector<double>> Device::launch_timed(const Function& function, const Dim3& grid,
                                                 const Dim3& block, const std::vector<uint64_t>& parameters,
                                                 uint32_t times, const LaunchOptions& options) {
    Context& context = *context_;
    const DriverApi& api = *context.api;
    if (auto in = enter(context); !in) return in.error();
    if (auto sound = check_launch(context, function, grid, block, parameters.size(), options); !sound)
        return sound.error();
    auto* handle = static_cast<CuFunction>(function.handle);
    const std::string what = fmt::format("'{}'", function.name);
    if (options.shared_bytes > 0) {
        if (const int code =
                api.function_set(handle, kCuFunctionDynamicShared, static_cast<int>(options.shared_bytes))) {
            return failure(context, code,
                           fmt::format("giving {} {} bytes of shared memory", what, options.shared_bytes),
                           "choose a smaller tile");
        }
    }
    alignas(16) static const std::array<std::byte, kLargestParameter> zeros{};
    std::vector<uint64_t> values = parameters;
    std::vector<void*> pointers(std::max(values.size(), kPaddedParameters),
                                const_cast<std::byte*>(zeros.data()));
    for (size_t i = 0; i < values.size(); ++i) pointers[i] = &values[i];
    for (const auto& [i, bytes] : options.objects)
        if (i < values.size()) pointers[i] = const_cast<std::byte*>(bytes.data());
    const Dim3& cluster = options.cluster;
    const bool clusters = cluster.count() > 1;
    if (clusters && api.launch_with == nullptr)
        return Error{fmt::format("{} runs in clusters of {}, which this driver does not launch; update it",
                                 what, size_text(cluster))};
    if (cluster.count() > kPortableCluster) api.function_set(handle, kCuFunctionLargeCluster, 1);
    const auto begin = [&]() -> Result<void> {
        const LaunchAttribute attribute{kAttributeCluster, 0, {cluster.x, cluster.y, cluster.z}};
        const LaunchConfig config{
            grid.x, grid.y, grid.z, block.x, block.y, block.z, options.shared_bytes, nullptr, &attribute, 1};
        const int code = clusters ? api.launch_with(&config, handle, pointers.data(), nullptr)
                                  : api.launch(handle, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                               options.shared_bytes, nullptr, pointers.data(), nullptr);
        if (code == kCuSuccess) return {};
        if (loses_context(code)) return fault(context, code, what);
        return failure(
            context, code,
            fmt::format(
                "launching {} with {} blocks of {} threads{} on {}", what, size_text(grid), size_text(block),
                clusters ? fmt::format(" in clusters of {}", size_text(cluster)) : "", context.info.name),
            clusters ? "choose a smaller cluster, grid or block" : "choose a smaller grid or block");
    };
    return time_work(begin, what, times, options);
}

Result<double> Device::launch(const Function& function, const Dim3& grid, const Dim3& block,
                              const std::vector<uint64_t>& parameters, const LaunchOptions& options) {
    auto times = launch_timed(function, grid, block, parameters, 1, options);
    if (!times) return times.error();
    return times->front();
}

}  // namespace tilescope::gpu
