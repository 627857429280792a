#include <cstdlib>

#include "fake.h"

namespace fake {

Gpu gpu;
thread_local Context* current = nullptr;

static const struct AtExit {
    ~AtExit() { drop_all(); }
} at_exit;

static std::string words() {
    const char* text = std::getenv("FAKE_CUDA");
    return std::string(" ") + (text ? text : "") + " ";
}

long value_of(const std::string& word, long otherwise) {
    const std::string all = words();
    const size_t at = all.find(" " + word + "=");
    return at == std::string::npos ? otherwise : std::atol(all.c_str() + at + word.size() + 2);
}

int code_of(const std::string& word) { return static_cast<int>(value_of(word, 0)); }

bool busy() { return Clock::now() < gpu.busy_until; }

// What every call on the context begins with.
int enter(bool waits) {
    if (!gpu.started) return 3;
    if (!current || !current->alive) return 201;
    if (current->sick) return 719;
    if (gpu.fault && !busy()) return gpu.fault;
    if (waits && busy()) ++gpu.blocked;
    return 0;
}

void drop_all() {
    for (const auto& [address, bytes] : gpu.memory) std::free(reinterpret_cast<void*>(address));
    gpu.memory.clear();
    gpu.mapped.clear();
    gpu.locked.clear();
    for (void* event : gpu.events) delete static_cast<Event*>(event);
    gpu.events.clear();
    for (void* module : gpu.modules) delete static_cast<Module*>(module);
    gpu.modules.clear();
}

static bool holds(const std::map<uint64_t, size_t>& pieces, uint64_t address, size_t bytes) {
    auto after = pieces.upper_bound(address);
    if (after == pieces.begin()) return false;
    --after;
    return address + bytes <= after->first + after->second;
}

bool owns(uint64_t address, size_t bytes) {
    return holds(gpu.memory, address, bytes) || holds(gpu.mapped, address, bytes);
}

}  // namespace fake

using namespace fake;

// For the tests: how often something of a context that is gone was given back, how many calls would have
// waited for a kernel that hangs, how often the context was
// reset, how often one beside the primary was made, and how many pieces are still held.
EXPORT int fake_stale() { return gpu.stale; }
EXPORT int fake_blocked() { return gpu.blocked; }
EXPORT int fake_resets() { return gpu.resets; }
EXPORT int fake_held() {
    return static_cast<int>(gpu.memory.size() + gpu.locked.size() + gpu.events.size() + gpu.modules.size());
}
EXPORT int fake_open() { return gpu.primary.alive + gpu.other.alive; }
EXPORT int fake_others() { return gpu.others; }
EXPORT void fake_forget() {
    drop_all();
    gpu = Gpu{};
}
