// Modules: the PTX that is built into the program, and what the compiler's host code says of it when the
// program starts. The text is read when it is needed first.
//
// The compiler passes a wrapper whose pointer leads to the text, which ends with a zero byte; for each kernel
// and variable an address in the host's code or data, by which C functions know them, and the name in the
// PTX.
#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "core/base/demangle.h"
#include "core/ptx/parse.h"
#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {

namespace {

// Variables that a compiler makes for its own use, such as the texts of printf: nobody writes them, and each
// run begins with what the PTX gives them.
bool is_compilers(const std::string& name) {
    constexpr std::array<std::string_view, 7> kBegins = {
        "$", "_$_", "__unnamed", "__const", "__PRETTY_FUNCTION__", "__func__", "str$"};
    return std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); });
}

// Host code uses managed variables by their host address: where that is aligned as device memory is, it is
// the device's address too. The header declares __managed__ variables so.
constexpr uint64_t kManagedAlignment = 256;

const void* managed_place(const Runtime& r, const LoadedModule& module, const std::string& name) {
    for (const auto& [host, variable] : r.variables)
        if (variable.module == &module && variable.name == name && !variable.constant && !variable.managed &&
            reinterpret_cast<uintptr_t>(host) % kManagedAlignment == 0)
            return host;
    return nullptr;
}

void place_variable(Runtime& r, LoadedModule& module, const ptx::Symbol& symbol) {
    const void* const host = managed_place(r, module, symbol.name);
    Allocation* place = nullptr;
    if (host) {
        Allocation own;
        own.base = reinterpret_cast<uintptr_t>(host), own.bytes = symbol.bytes();
        own.kind = MemoryKind::Managed;
        place = r.memory.add(own);
    }
    void** managed = nullptr;
    for (auto& [at, variable] : r.variables)
        if (variable.module == &module && variable.name == symbol.name) managed = variable.managed;
    if (r.gpu && !managed) {
        const auto on_device = r.gpu->variable(module, symbol.name);
        if (!on_device) return;
        if (place) {
            r.gpu->manage(*on_device, place->data());
        } else if (Allocation* const copy = r.memory.allocate(symbol.bytes(), MemoryKind::Variable)) {
            Allocation own = *copy;
            own.base = on_device->address, own.place = copy->data();
            place = r.memory.add(own);
        }
    } else if (!place) {
        place = r.memory.allocate(symbol.bytes(), managed ? MemoryKind::Managed : MemoryKind::Variable);
    }
    if (!place) return;
    place->symbol = symbol.name;
    module.bases[symbol.name] = place->base;
    if (managed) *managed = place->pointer();
}

// All variables but the compiler's own, which need a place only where another one holds their address.
void place_variables(Runtime& r, LoadedModule& module) {
    std::set<std::string> pointed_to;
    for (const ptx::Symbol& symbol : module.ptx.variables)
        for (const ptx::Relocation& to : symbol.relocations)
            pointed_to.insert(module.ptx.variables[static_cast<size_t>(to.variable)].name);
    for (const ptx::Symbol& symbol : module.ptx.variables) {
        const bool kept = symbol.space == ptx::StateSpace::Global || symbol.space == ptx::StateSpace::Const;
        const bool needed = !is_compilers(symbol.name) || pointed_to.contains(symbol.name);
        if (kept && needed && !symbol.is_extern && symbol.bytes() > 0) place_variable(r, module, symbol);
    }
    for (const ptx::Symbol& symbol : module.ptx.variables) {
        const auto base = module.bases.find(symbol.name);
        if (base == module.bases.end()) continue;
        const std::vector<uint8_t> bytes = ptx::initial_bytes(symbol, [&](const ptx::Relocation& to) {
            const auto at = module.bases.find(module.ptx.variables[static_cast<size_t>(to.variable)].name);
            return at == module.bases.end() ? 0 : at->second;
        });
        std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()),
                    std::min<size_t>(bytes.size(), symbol.bytes()), r.memory.find(base->second)->data());
    }
}

}  // namespace

bool load(Runtime& r, LoadedModule& module) {
    const bool before = module.parsed;
    if (module.parse() && !before) place_variables(r, module);
    return module.problem.empty();
}

Allocation* memory_of_symbol(Runtime& r, const void* symbol) {
    const auto found = r.variables.find(symbol);
    if (found == r.variables.end() || !load(r, *found->second.module)) return nullptr;
    const auto& bases = found->second.module->bases;
    const auto at = bases.find(found->second.name);
    return at == bases.end() ? nullptr : r.memory.find(at->second);
}

const HostVariable* variable_at(const Runtime& r, const void* pointer) {
    const auto after = r.variables.upper_bound(pointer);
    if (after == r.variables.begin()) return nullptr;
    const auto& [host, variable] = *std::prev(after);
    const auto at = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(host);
    return at < variable.bytes && !variable.managed ? &variable : nullptr;
}

std::string name_of(const HostVariable& variable) {
    const std::string name = demangled(variable.name);
    return name.empty() ? variable.name : name;
}

HostFunction* find_function(Runtime& r, const void* host) {
    const auto found = r.functions.find(host);
    return found == r.functions.end() ? nullptr : &found->second;
}

const ptx::Kernel* kernel_of(Runtime& r, HostFunction& function) {
    if (load(r, *function.module)) return function.look_up(r.source);
    function.problem = function.module->problem;
    return nullptr;
}

}  // namespace tilescope::cudart

using namespace tilescope::cudart;

namespace {

// The wrapper that the compiler's host code passes begins with this number.
struct FatBinary {
    int magic, version;
    const void* data;
    void* unused;
};
constexpr int kFatBinaryMagic = 0x466243b1;

LoadedModule* module_of(void** handle) { return reinterpret_cast<LoadedModule*>(handle); }

}  // namespace

void** __cudaRegisterFatBinary(void* wrapper) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    auto module = std::make_unique<LoadedModule>();
    const auto* const given = static_cast<const FatBinary*>(wrapper);
    const char* const text =
        given && given->magic == kFatBinaryMagic ? static_cast<const char*>(given->data) : nullptr;
    if (text && std::strncmp(text, "//", 2) != 0 && std::strncmp(text, ".version", 8) != 0 && *text != '\n') {
        module->parsed = true;
        module->problem = "the program's kernels are no PTX text; compile it with tilescope record";
    } else if (text) {
        module->text = text;
    }
    module->name = "program.ptx";
    r.modules.push_back(std::move(module));
    return reinterpret_cast<void**>(r.modules.back().get());
}

// Host code may use managed variables from now on.
void __cudaRegisterFatBinaryEnd(void** handle) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    LoadedModule* const module = module_of(handle);
    for (const auto& [host, variable] : r.variables)
        if (variable.module == module &&
            (variable.managed || reinterpret_cast<uintptr_t>(host) % kManagedAlignment == 0)) {
            load(r, *module);
            break;
        }
}

// Called as the program ends, when other destructors may still want their memory.
void __cudaUnregisterFatBinary(void**) { flush_prints(runtime()); }

void __cudaRegisterFunction(void** handle, const void* function, char*, const char* deviceName, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    HostFunction made;
    made.module = module_of(handle);
    made.entry = deviceName;
    made.name = tilescope::kernels::plain_name(made.entry);
    r.functions[function] = std::move(made);
}

void __cudaRegisterVar(void** handle, void* variable, char*, const char* deviceName, int, size_t bytes,
                       int isConstant, int) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    r.variables[variable] = {module_of(handle), deviceName, bytes, isConstant != 0, nullptr};
}

void __cudaRegisterManagedVar(void** handle, void** variable, void*, const char* deviceName, size_t bytes,
                              unsigned int) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    r.variables[variable] = {module_of(handle), deviceName, bytes, false, variable};
}
