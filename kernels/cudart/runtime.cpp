// The one Runtime, its orders, and what it writes to the program's streams.
#include "kernels/cudart/runtime.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/trace/claims.h"
#include "kernels/cudart/caller.h"
#include "kernels/textbook/devices.h"

namespace tilescope::cudart {

thread_local cudaError_t last_error = cudaSuccess;

void say(const std::string& sentence) {
    std::fflush(stdout);  // so that the two come in order where they go to one place
    fmt::print(stderr, "tilescope: {}\n", sentence);
    std::fflush(stderr);  // which a program may have buffered
}

void note(Runtime& r, const char* severity, const std::string& sentence) {
    const Caller from = caller();
    const std::string call = name_of(from, r.orders.source);
    constexpr size_t kMostNoted = 100;
    if (r.noted.size() >= kMostNoted || !r.noted.insert(call + sentence.substr(0, 16)).second) return;
    const std::string whole = call + " " + sentence;
    say(std::string_view(severity) == "remark" ? "remark: " + whole : whole);
    tell_line(r, to_json(launched::CallNote{severity, from.line, whole}));
}

void note_at(Runtime& r, const char* severity, const Caller& place, const std::string& sentence) {
    const std::string at =
        place.line == 0 ? ""
                        : fmt::format("line {}{}: ", place.line,
                                      place.file == std::filesystem::path(r.orders.source).filename().string()
                                          ? ""
                                          : " of " + place.file);
    if (!r.noted.insert(at + sentence.substr(0, 16)).second) return;
    say(std::string_view(severity) == "remark" ? "remark: " + at + sentence : at + sentence);
    tell_line(r, to_json(launched::CallNote{severity, place.line, at + sentence}));
}

void flush_prints(Runtime& r) {
    const std::lock_guard lock(r.print_mutex);
    if (r.printed.empty()) return;
    std::fwrite(r.printed.data(), 1, r.printed.size(), stdout);
    r.printed.clear();
}

namespace {

Runtime* make_runtime() {
    auto* const r = new Runtime;
    if (const char* path = std::getenv(launched::kOrdersVariable); path && *path) {
        const auto text = read_whole(path, uint64_t{1} << 24);
        const auto orders = text ? launched::orders_from_json(*text) : Result<launched::Orders>(text.error());
        if (orders) {
            r->orders = *orders;
            r->recording = true;
            if (auto source = read_whole(r->orders.source, trace::most_of(trace::Claim::SourceBytes)))
                r->source = std::move(*source);
        } else {
            say(orders.error().message);
        }
    }
    if (r->orders.backend == "gpu" || r->orders.backend == "auto") {
        auto gpu = Gpu::open(kAddresses, kFirstAddress);
        if (gpu) {
            r->gpu = std::move(*gpu);
            r->memory.use(r->gpu.get());
        } else if (r->orders.backend == "gpu") {
            say(gpu.error().message);
            std::exit(1);
        }
    }
    const auto* const own = r->gpu ? kernels::find_driver_name(r->gpu->device().info().name) : nullptr;
    if (own && r->orders.device.empty()) r->orders.device = own->name;
    const auto device = kernels::device_named(r->orders.device.empty() ? "h200" : r->orders.device);
    if (device)
        r->device = *device;
    else
        say(device.error().message);
    std::atexit([] {
        open_managed(runtime());
        flush_prints(runtime());
        runtime().kernels.end();
    });
    return r;
}

}  // namespace

Runtime& runtime() {
    static Runtime* const only = make_runtime();
    return *only;
}

}  // namespace tilescope::cudart
