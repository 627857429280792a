#include "kernels/record_launch.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "core/ptx/parse.h"
#include "kernels/record.h"

namespace tilescope::kernels {

namespace {

// The kernel of the plan's name, or the only one that there is.
Result<std::string> kernel_name(const ptx::Module& module, const Plan& plan) {
    if (plan.kernel && ptx::find_kernel(module, plan.kernel->name)) {
        return plan.kernel->name;
    }
    if (module.kernels.size() == 1) {
        return module.kernels.front().name;
    }
    return Error{fmt::format("{} holds {} kernels and none is named {}; compile it with that one",
                             plan.ptx_name, module.kernels.size(),
                             plan.kernel ? plan.kernel->name : "as the recording says")};
}

const ptx::Symbol* find_shared(const ptx::Module& module, const ptx::Kernel& kernel,
                               const std::string& name) {
    for (const auto* symbols : {&kernel.symbols, &module.variables}) {
        for (const ptx::Symbol& symbol : *symbols) {
            if (symbol.space == ptx::StateSpace::Shared && is_symbol_of(symbol.name, name)) {
                return &symbol;
            }
        }
    }
    return nullptr;
}

// atom and red are no sites: what they touch would be missing in the recording, and nobody could see it.
Result<void> check_no_atomics(const ptx::Kernel& kernel, const Plan& plan) {
    for (const ptx::Instruction& instruction : kernel.instructions) {
        if (instruction.op == ptx::Op::Atom || instruction.op == ptx::Op::Red) {
            return Error{
                fmt::format("{}:{}: kernel {} updates memory with {}, and atomic operations are not "
                            "recorded yet; record a kernel without them",
                            plan.ptx_name, instruction.text_line, kernel.name,
                            instruction.op == ptx::Op::Atom ? "atom" : "red")};
        }
    }
    return {};
}

Result<void> place_shared(const ptx::Module& module, const ptx::Kernel& kernel, const Plan& plan,
                          ReadyLaunch& ready) {
    for (Array& array : ready.launch.arrays) {
        if (array.space != Space::Shared) {
            continue;
        }
        const ptx::Symbol* symbol = find_shared(module, kernel, array.name);
        const int64_t offset = symbol ? simt::shared_offset(*ready.program, symbol->name) : -1;
        if (offset < 0 || symbol->bytes() < array.bytes()) {
            return Error{fmt::format("{} has no shared array {} of {} bytes; compile it from {}",
                                     plan.ptx_name, array.name, array.bytes(), plan.source_name)};
        }
        array.symbol = symbol->name;
        array.base = static_cast<uint64_t>(offset);
    }
    return {};
}

}  // namespace

bool is_symbol_of(std::string_view symbol, std::string_view name) {
    if (symbol == name) {
        return true;
    }
    const std::string tail = fmt::format("E{}{}", name.size(), name);
    const size_t at = symbol.rfind(tail);
    if (symbol.substr(0, 3) != "_ZZ" || at == std::string_view::npos) {
        return false;
    }
    const std::string_view after = symbol.substr(at + tail.size());
    return after.empty() || after.front() == '_';
}

void fill_buffer(simt::Buffer& buffer, const Array& array, uint64_t seed) {
    buffer.name = array.name;
    buffer.base = array.base;
    buffer.bytes.assign(array.bytes(), std::byte{0});
    if (array.role != ArrayRole::Input) {
        return;
    }
    const uint64_t count = array.bytes() / sizeof(float);
    const auto fill = [&](uint64_t first, uint64_t last) {
        for (uint64_t i = first; i < last; ++i) {
            const float value = input_value(seed, array.parameter, i);
            std::memcpy(buffer.bytes.data() + i * sizeof value, &value, sizeof value);
        }
    };
    constexpr uint64_t kWorthAThread = 1 << 20;
    const uint64_t parts =
        std::clamp<uint64_t>(count / kWorthAThread, 1, std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::jthread> helpers;
    for (uint64_t part = 1; part < parts; ++part) {
        helpers.emplace_back(fill, count * part / parts, count * (part + 1) / parts);
    }
    fill(0, count / parts);
}

size_t buffer_of(const std::vector<Array>& arrays, size_t array) {
    return static_cast<size_t>(std::count_if(arrays.begin(), arrays.begin() + static_cast<ptrdiff_t>(array),
                                             [](const Array& a) { return a.space == Space::Global; }));
}

Result<ReadyLaunch> make_ready(const Plan& plan, uint64_t seed) {
    auto module = ptx::parse(plan.ptx, plan.ptx_name);
    if (!module) {
        return module.error();
    }
    const auto name = kernel_name(*module, plan);
    if (!name) {
        return name.error();
    }
    if (auto ok = check_no_atomics(*ptx::find_kernel(*module, *name), plan); !ok) {
        return ok.error();
    }
    auto program = simt::prepare(*module, *name);
    if (!program) {
        return program.error();
    }
    ReadyLaunch ready;
    ready.program = *program;
    ready.launch.grid = plan.grid;
    ready.launch.block = plan.block;
    ready.launch.parameters = plan.parameters;
    ready.launch.arrays = plan.arrays;
    if (auto ok = place_shared(*module, *ptx::find_kernel(*module, *name), plan, ready); !ok) {
        return ok.error();
    }
    try {
        for (const Array& array : plan.arrays) {
            if (array.space == Space::Global) {
                fill_buffer(ready.memory.buffers.emplace_back(), array, seed);
            }
        }
    } catch (const std::exception&) {  // bad_alloc or length_error
        return Error{
            fmt::format("too little memory for the matrices of {} with m={} k={} n={}; choose smaller sizes",
                        plan.ptx_name, plan.shape.m, plan.shape.k, plan.shape.n)};
    }
    ready.module = std::move(*module);
    ready.kernel = *name;
    return ready;
}

}  // namespace tilescope::kernels
