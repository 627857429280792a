// The one Runtime, its orders, and what it writes to the program's streams.
#include "kernels/cudart/runtime.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/words.h"
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

namespace {

// place: what the sentence begins with.
void note_once(Runtime& r, const char* severity, uint32_t line, const std::string& place,
               const std::string& sentence) {
    constexpr size_t kMostNoted = 100;
    if (r.noted.size() >= kMostNoted || !r.noted.insert(place + sentence.substr(0, 16)).second) return;
    const std::string whole = place + sentence;
    say(std::string_view(severity) == "remark" ? "remark: " + whole : whole);
    tell_line(r, to_json(launched::CallNote{severity, line, whole}));
}

}  // namespace

void note(Runtime& r, const char* severity, const std::string& sentence) {
    const Caller from = caller();
    note_once(r, severity, from.line, name_of(from, r.orders.source) + " ", sentence);
}

void note_at(Runtime& r, const char* severity, const Caller& place, const std::string& sentence) {
    const bool own = place.file == std::filesystem::path(r.orders.source).filename().string();
    note_once(r, severity, place.line,
              place.line == 0 ? "" : fmt::format("line {}{}: ", place.line, own ? "" : " of " + place.file),
              sentence);
}

std::string gets_no_memory(uint64_t bytes, const char* holder, uint64_t total, uint64_t left) {
    return fmt::format(
        "gets no memory: it asks for {}, and {} has {}, of which {} are free; give the program a smaller "
        "size",
        bytes_text(bytes), holder, bytes_text(total), bytes_text(left));
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
