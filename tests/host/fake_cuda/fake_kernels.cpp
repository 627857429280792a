// Modules, kernels and events.
#include <algorithm>
#include <cstring>

#include "fake.h"

using namespace fake;

static int count_parameters(const std::string& ptx, size_t at) {
    const size_t end = ptx.find(')', at);
    int count = 0;
    for (at = ptx.find(".param", at); at < end; at = ptx.find(".param", at + 1)) ++count;
    return count;
}

EXPORT int cuEventCreate(void** event, unsigned) {
    if (const int code = enter(false)) return code;
    gpu.events.insert(*event = new Event);
    return 0;
}

EXPORT int cuEventDestroy_v2(void* event) {
    if (const int code = enter(false)) return ++gpu.stale, code;
    if (gpu.events.erase(event) == 0) return ++gpu.stale, 400;
    delete static_cast<Event*>(event);
    return 0;
}

EXPORT int cuEventRecord(void* event, void*) {
    if (const int code = enter(false)) return code;
    *static_cast<Event*>(event) = {std::max(Clock::now(), gpu.busy_until), gpu.pending_fault};
    return 0;
}

EXPORT int cuEventQuery(void* event) {
    if (!current || !current->alive) return 201;
    if (gpu.events.count(event) == 0) return ++gpu.stale, 400;
    const Event& asked = *static_cast<Event*>(event);
    if (Clock::now() < asked.at) return 600;
    if (asked.fault) gpu.fault = asked.fault;
    return asked.fault;
}

EXPORT int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
    *milliseconds =
        std::chrono::duration<float, std::milli>(static_cast<Event*>(to)->at - static_cast<Event*>(from)->at)
            .count();
    return 0;
}

EXPORT int cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* names, void** values) {
    if (const int code = enter(true)) return code;
    if (const int code = code_of("load")) {
        for (unsigned i = 0; i < options && code == 218; ++i) {
            if (names[i] == 5) {
                std::strcpy(static_cast<char*>(values[i]),
                            "\nptxas application ptx input, line 7; error   : Unknown symbol 'nothing'\n"
                            "ptxas fatal   : Ptx assembly aborted due to errors\n");
            }
        }
        return code;
    }
    auto* loaded = new Module;
    const std::string ptx = static_cast<const char*>(image);
    for (size_t at = ptx.find(".entry "); at != std::string::npos; at = ptx.find(".entry ", at + 1)) {
        const size_t from = at + 7, to = ptx.find('(', from);
        const std::string name = ptx.substr(from, to - from);
        loaded->functions[name] = {name, count_parameters(ptx, to)};
    }
    gpu.modules.insert(*module = loaded);
    return 0;
}

EXPORT int cuModuleUnload(void* module) {
    if (const int code = enter(true)) return ++gpu.stale, code;
    if (gpu.modules.erase(module) == 0) return ++gpu.stale, 400;
    delete static_cast<Module*>(module);
    return 0;
}

EXPORT int cuModuleGetFunction(void** function, void* module, const char* name) {
    auto& functions = static_cast<Module*>(module)->functions;
    const auto found = functions.find(name);
    if (found == functions.end()) return 500;
    return *function = &found->second, 0;
}

EXPORT int cuModuleGetGlobal_v2(uint64_t*, size_t*, void*, const char*) { return 500; }

EXPORT int cuFuncGetAttribute(int* value, int attribute, void*) {
    static const std::map<int, int> values{{0, 1024}, {1, 1024}, {3, 8}, {4, 24}};
    const auto known = values.find(attribute);
    if (known == values.end()) return 1;
    return *value = known->second, 0;
}

EXPORT int cuFuncSetAttribute(void*, int attribute, int value) { return attribute == 8 && value > 0 ? 0 : 1; }

// The kernel add_one(p, n) adds one to n words from p on; any other does nothing.
EXPORT int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void*, void** parameters, void**) {
    if (const int code = enter(false)) return code;
    if (const int code = code_of("launch")) {
        if (code == 700) gpu.fault = 700;
        return code;
    }
    if (static_cast<Function*>(function)->name == "add_one") {
        uint64_t address = 0;
        uint32_t count = 0;
        std::memcpy(&address, parameters[0], 8);
        std::memcpy(&count, parameters[1], 4);
        if (!owns(address, size_t{count} * 4)) {
            gpu.pending_fault = 700;
            return 0;
        }
        auto* values = reinterpret_cast<uint32_t*>(address);
        for (uint32_t i = 0; i < count; ++i) ++values[i];
    }
    gpu.pending_fault = code_of("fault");
    gpu.busy_until = std::max(Clock::now(), gpu.busy_until) + std::chrono::milliseconds(value_of("hang", 0));
    return 0;
}
