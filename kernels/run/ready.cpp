#include "kernels/run/ready.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <fmt/core.h>

#include "core/base/contents.h"
#include "core/base/words.h"
#include "core/ptx/parse.h"
#include "core/trace/claims.h"
#include "kernels/run/source_text.h"

namespace tilescope::kernels {

namespace {

// The kernel of the launch's entry, or that of the plan's name, or the only one that there is.
Result<std::string> entry_of(const ptx::Module& module, const Plan& plan) {
    for (const std::string& name : {plan.launch.entry, plan.kernel}) {
        if (name.empty()) continue;
        if (ptx::find_kernel(module, name)) return name;
        if (const std::string* why = ptx::refusal_of(module, name)) return Error{*why};
    }
    if (module.kernels.size() == 1 && module.refused.empty()) return module.kernels.front().name;
    return Error{fmt::format("{} holds {} kernels and none is named {}; compile it with that one",
                             plan.ptx_name, module.kernels.size() + module.refused.size(),
                             plan.kernel.empty() ? plan.launch.entry : plan.kernel)};
}

// Calls visit(symbol) for every shared variable that the kernel can name; first those that it does name.
template <class Visit>
void for_shared(const ptx::Module& module, const ptx::Kernel& kernel, Visit visit) {
    for (const auto* symbols : {&kernel.symbols, &module.variables})
        for (const ptx::Symbol& symbol : *symbols)
            if (symbol.space == ptx::StateSpace::Shared) visit(symbol);
}

// Arrays of one dynamic shared memory lie in it one behind the other, in their order.
Result<void> place_shared(const ptx::Module& module, const ptx::Kernel& kernel, const Plan& plan,
                          ReadyLaunch& ready) {
    uint64_t behind = 0;
    for (Array& array : ready.launch.arrays) {
        if (array.space != Space::Shared) continue;
        const ptx::Symbol* found = nullptr;
        for_shared(module, kernel, [&](const ptx::Symbol& symbol) {
            const bool same =
                array.symbol.empty() ? is_symbol_of(symbol.name, array.name) : symbol.name == array.symbol;
            if (!found && same) found = &symbol;
        });
        const int64_t offset = found ? simt::shared_offset(*ready.program, found->name) : -1;
        const uint64_t bytes = !found ? 0 : found->count == 0 ? ready.launch.dynamic_shared : found->bytes();
        const uint64_t before = found && found->count == 0 ? behind : 0;
        if (offset < 0 || before > bytes || bytes - before < array.bytes()) {
            return Error{fmt::format("{} has no shared array {} of {} bytes; compile it from {}",
                                     plan.ptx_name, array.name, array.bytes(), plan.source_name)};
        }
        array.symbol = found->name;
        array.base = static_cast<uint64_t>(offset) + before;
        if (found->count == 0) behind += array.bytes();
    }
    return {};
}

// Rows and columns of `bytes` bytes as a declaration says, or one row of words.
void shape(Array& array, uint64_t bytes, const std::optional<Declaration>& declared) {
    array.type = declared ? declared->type : bits_of_size(bytes % 4 == 0 ? 4 : 1);
    const uint64_t elements = bytes / array.element_bytes();
    array.rank = 1;
    array.cols = static_cast<uint32_t>(elements);
    array.extents = ExtentSource::Flat;
    if (!declared || declared->extents.empty() || declared->extents.size() > 3) return;
    uint64_t product = 1;
    for (const uint64_t extent : declared->extents) product *= extent;
    if (product != elements) return;
    const std::vector<uint64_t>& e = declared->extents;
    array.extents = ExtentSource::Known;
    array.rank = static_cast<uint8_t>(e.size());
    array.cols = static_cast<uint32_t>(e.back());
    if (e.size() > 1) array.rows = static_cast<uint32_t>(e[e.size() - 2]);
    if (e.size() > 2) array.slices = static_cast<uint32_t>(e[0]);
}

// A variable of the kernel: by the PTX's name, in the shape that the source declares.
Array array_of(const ptx::Symbol& symbol, Space space, int64_t offset, uint64_t bytes, const Plan& plan) {
    const bool shared = space == Space::Shared;
    Array array;
    array.name = name_in_symbol(symbol.name);
    array.space = space;
    array.role = shared ? ArrayRole::Shared : ArrayRole::Input;
    array.symbol = symbol.name;
    array.base = static_cast<uint64_t>(offset);
    shape(array, bytes,
          declaration(plan.source, shared ? "__shared__" : "__constant__", symbol, array.name, bytes));
    return array;
}

// Shared variables that the plan does not name.
Result<void> find_shared(const ptx::Module& module, const ptx::Kernel& kernel, const Plan& plan,
                         ReadyLaunch& ready) {
    std::vector<Array>& arrays = ready.launch.arrays;
    for_shared(module, kernel, [&](const ptx::Symbol& symbol) {
        if (arrays.size() > trace::most_of(trace::Claim::Arrays)) return;
        const int64_t offset = simt::shared_offset(*ready.program, symbol.name);
        // Dynamic shared memory is one array, whatever names other kernels, or this one, have for it besides.
        const auto is_it = [&](const Array& array) {
            return array.symbol == symbol.name ||
                   (symbol.count == 0 && array.space == Space::Shared && !array.symbol.empty() &&
                    array.base == static_cast<uint64_t>(offset));
        };
        const uint64_t bytes = symbol.count == 0 ? ready.launch.dynamic_shared : symbol.bytes();
        if (offset < 0 || bytes == 0 || std::any_of(arrays.begin(), arrays.end(), is_it)) return;
        arrays.push_back(array_of(symbol, Space::Shared, offset, bytes, plan));
    });
    if (auto held = trace::within(trace::Claim::Arrays, arrays.size()); !held)
        return Error{fmt::format("{} cannot be recorded: {}", plan.ptx_name, held.error().message)};
    return {};
}

bool names(const ptx::Operand& operand, int32_t symbol) {
    return operand.symbol == symbol ||
           std::ranges::any_of(operand.elements,
                               [&](const ptx::Operand& element) { return names(element, symbol); });
}

// Constant variables that the kernel's instructions name and the plan does not, with what they begin with.
void find_constants(const ptx::Module& module, const ptx::Kernel& kernel, const Plan& plan,
                    ReadyLaunch& ready) {
    std::vector<Array>& arrays = ready.launch.arrays;
    for (Array& array : arrays)
        if (const int64_t at =
                array.space == Space::Const ? simt::constant_offset(*ready.program, array.symbol) : -1;
            at >= 0)
            array.base = static_cast<uint64_t>(at);
    for (size_t i = 0; i < kernel.symbols.size(); ++i) {
        const ptx::Symbol& symbol = kernel.symbols[i];
        const bool used = symbol.space == ptx::StateSpace::Const && symbol.bytes() > 0 &&
                          std::ranges::any_of(kernel.instructions, [&](const ptx::Instruction& at) {
                              return std::ranges::any_of(at.operands, [&](const ptx::Operand& operand) {
                                  return names(operand, static_cast<int32_t>(i));
                              });
                          });
        const auto is_it = [&](const Array& array) { return array.symbol == symbol.name; };
        const int64_t offset = simt::constant_offset(*ready.program, symbol.name);
        if (!used || offset < 0 || std::ranges::any_of(arrays, is_it) ||
            arrays.size() >= trace::most_of(trace::Claim::Arrays))
            continue;
        Array array = array_of(symbol, Space::Const, offset, symbol.bytes(), plan);
        const std::vector<uint8_t>& given =
            (symbol.module_variable < 0 ? symbol
                                        : module.variables[static_cast<size_t>(symbol.module_variable)])
                .initial;
        if (!given.empty()) {
            std::vector<std::byte> bytes(array.bytes());
            std::memcpy(bytes.data(), given.data(), std::min(given.size(), bytes.size()));
            array.contents.kind = Contents::Kind::Stored;
            array.contents.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        }
        arrays.push_back(std::move(array));
    }
}

bool is_zeros(const Array& array) { return array.contents.kind == Contents::Kind::Zeros; }

// What the arrays, the kernel's variables and its registers take, against what is allowed.
Result<void> check_memory(const ReadyLaunch& ready, uint64_t memory, const std::string& doing, bool values,
                          bool little) {
    uint64_t arrays = 0;
    for (const Array& array : ready.launch.arrays)
        if (array.space == Space::Global && !(little && is_zeros(array))) arrays += array.bytes();
    const uint64_t kernel = simt::memory_of(*ready.program, ready.launch, values);
    if (arrays > memory)
        return trace::more_memory(fmt::format("{} with {} of arrays", doing, bytes_text(arrays)));
    if (kernel > memory - arrays)
        return trace::more_memory(fmt::format("{} with {} of arrays, and {} of variables and registers,",
                                              doing, bytes_text(arrays), bytes_text(kernel)));
    return {};
}

}  // namespace

void place_arrays(Launch& launch) {
    std::vector<uint64_t> sizes;
    for (const Array& array : launch.arrays)
        if (array.space == Space::Global) sizes.push_back(array.bytes());
    const std::vector<uint64_t> bases = simt::place_buffers(sizes);
    size_t next = 0;
    for (Array& array : launch.arrays)
        if (array.space == Space::Global) array.base = bases[next++];
}

void place_maps(Launch& launch) {
    for (Argument& argument : launch.arguments) {
        if (argument.map_of < 0 || argument.object.size() != ptx::kTensorMapBytes) continue;
        ptx::TensorMapBytes bytes;
        std::ranges::copy(argument.object, bytes.begin());
        auto map = ptx::decode(bytes);
        if (!map) continue;
        map->address = launch.arrays[static_cast<size_t>(argument.map_of)].base;
        bytes = ptx::encode(*map);
        argument.object.assign(bytes.begin(), bytes.end());
    }
}

size_t buffer_of(const std::vector<Array>& arrays, size_t array) {
    return static_cast<size_t>(std::count_if(arrays.begin(), arrays.begin() + static_cast<ptrdiff_t>(array),
                                             [](const Array& a) { return a.space == Space::Global; }));
}

Result<ReadyLaunch> make_ready(const Plan& plan, uint64_t memory, const std::string& doing, bool values,
                               bool little) {
    std::shared_ptr<const ptx::Module> module = plan.module;
    if (!module) {
        auto parsed = ptx::parse(plan.ptx, plan.ptx_name);
        if (!parsed) return parsed.error();
        module = std::make_shared<const ptx::Module>(std::move(*parsed));
    }
    const auto entry = entry_of(*module, plan);
    if (!entry) return entry.error();
    const ptx::Kernel& kernel = *ptx::find_kernel(*module, *entry);
    ReadyLaunch ready;
    ready.launch = plan.launch;
    ready.launch.entry = *entry;
    const auto unplaced = [](const Array& array) { return array.space == Space::Global && array.base == 0; };
    if (std::any_of(plan.launch.arrays.begin(), plan.launch.arrays.end(), unplaced))
        place_arrays(ready.launch);
    place_maps(ready.launch);
    auto program = simt::prepare(*module, *entry, ready.launch.arrays, plan.exchanges);
    if (!program) return program.error();
    ready.program = *program;
    if (auto ok = place_shared(*module, kernel, plan, ready); !ok) return ok.error();
    if (auto ok = find_shared(*module, kernel, plan, ready); !ok) return ok.error();
    find_constants(*module, kernel, plan, ready);
    ptx::shape_by_members(ready.launch, module->structs);
    if (auto ok = check_memory(ready, memory, doing, values, little); !ok) return ok.error();
    try {
        for (const Array& array : ready.launch.arrays) {
            if (array.space != Space::Global) continue;
            simt::Buffer& buffer = ready.memory.buffers.emplace_back();
            buffer.name = array.name;
            buffer.base = array.base;
            if (little && is_zeros(array)) {
                buffer.zeros_bytes = array.bytes();
                buffer.zeros = simt::untouched_zeros(array.bytes());
                if (!buffer.zeros) throw std::bad_alloc();
                continue;
            }
            buffer.bytes.resize(array.bytes());
            fill(array, buffer.bytes.data());
        }
    } catch (const std::exception&) {  // bad_alloc or length_error
        return Error{
            fmt::format("too little memory for the arrays of {}; choose smaller sizes", plan.ptx_name)};
    }
    ready.module = std::move(module);
    return ready;
}

}  // namespace tilescope::kernels
