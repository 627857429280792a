#include <array>

#include <fmt/format.h>

#include "core/ptx/parse.h"
#include "kernels/gpu/context.h"

namespace tilescope::gpu {

namespace {

// What to do about PTX that the driver does not take.
std::string advice_on_load(const Context& context, int code, const std::string& complaint) {
    const DeviceInfo& info = context.info;
    switch (code) {
        case kCuUnsupportedPtx:
            return fmt::format(
                "the PTX is of a newer CUDA than the driver's {}.{}, so update the driver, or "
                "make the PTX with an older compiler",
                info.cuda_major, info.cuda_minor);
        case kCuNoBinary:
            return fmt::format(
                "its .target asks for more than compute capability {}.{}, so make it for "
                "sm_{}{} or older",
                info.major, info.minor, info.major, info.minor);
        case kCuNoJitCompiler:
            return "the driver's PTX compiler libnvidia-ptxjitcompiler.so.1 is not installed; install the "
                   "whole driver";
        case kCuOutOfMemory: return "end other programs that use the GPU";
        default: break;
    }
    if (!complaint.empty())
        return fmt::format("its compiler says \"{}\", so correct that or make the PTX anew", complaint);
    return "check the PTX with ptxas";
}

Error load_failure(Context& context, int code, const std::string& ptx_name, std::string_view log) {
    return failure(context, code, fmt::format("compiling {} for {}", ptx_name, context.info.name),
                   advice_on_load(context, code, first_complaint(log)));
}

// -1 where the PTX is not known to the parser: then nobody counts what a launch gives.
int count_parameters(const std::string& ptx, const std::string& ptx_name, const std::string& kernel) {
    const auto module = ptx::parse(ptx, ptx_name);
    const ptx::Kernel* const found = module ? ptx::find_kernel(*module, kernel) : nullptr;
    return found ? static_cast<int>(found->parameters.size()) : -1;
}

}  // namespace

DriverModule::~DriverModule() {
    if (handle && enter_to_release(*context)) context->api->module_unload(handle);
}

Result<std::shared_ptr<void>> Device::load_module(const std::string& ptx, const std::string& ptx_name,
                                                  unsigned max_registers) {
    Context& context = *context_;
    const DriverApi& api = *context.api;
    if (auto in = enter(context); !in) return in.error();
    std::array<char, 8192> log{};
    std::array<int, 3> names{kCuJitErrorLog, kCuJitErrorLogBytes, kCuJitMaxRegisters};
    // Values that are no pointers travel in the pointer's own bits.
    std::array<void*, 3> values{log.data(), reinterpret_cast<void*>(log.size() - 1),
                                reinterpret_cast<void*>(static_cast<uintptr_t>(max_registers))};
    const unsigned options = max_registers > 0 ? 3 : 2;
    auto module = std::make_shared<DriverModule>();
    module->context = context_;
    if (const int code =
            api.module_load(&module->handle, ptx.c_str(), options, names.data(), values.data())) {
        module->handle = nullptr;
        return load_failure(context, code, ptx_name, log.data());
    }
    return std::shared_ptr<void>(std::move(module));
}

Result<Function> Device::function_of(const std::shared_ptr<void>& module, const std::string& ptx_name,
                                     const std::string& kernel, int parameters) {
    Context& context = *context_;
    const DriverApi& api = *context.api;
    if (auto in = enter(context); !in) return in.error();
    CuFunction handle = nullptr;
    if (const int code =
            api.module_function(&handle, static_cast<DriverModule*>(module.get())->handle, kernel.c_str())) {
        if (code == kCuNotFound) {
            return Error{fmt::format("{} has no kernel '{}'; give the name of one of its .entry functions",
                                     ptx_name, kernel)};
        }
        return load_failure(context, code, ptx_name, "");
    }
    if (api.function_load)
        if (const int code = api.function_load(handle)) return load_failure(context, code, ptx_name, "");
    Function function;
    function.handle = handle;
    function.name = kernel;
    for (const auto& [attribute, value] : {std::pair{kCuFunctionRegisters, &function.registers},
                                           std::pair{kCuFunctionLocal, &function.local_bytes},
                                           std::pair{kCuFunctionShared, &function.shared_bytes},
                                           std::pair{kCuFunctionThreads, &function.max_threads}})
        if (const int code = api.function_attribute(value, attribute, handle))
            return load_failure(context, code, ptx_name, "");
    function.parameters = parameters;
    function.owner = module;
    return function;
}

Result<Variable> Device::variable_of(const std::shared_ptr<void>& module, const std::string& name) {
    Context& context = *context_;
    if (auto in = enter(context); !in) return in.error();
    CuAddress address = 0;
    size_t bytes = 0;
    if (const int code = context.api->module_global(
            &address, &bytes, static_cast<DriverModule*>(module.get())->handle, name.c_str()))
        return failure(context, code, fmt::format("finding variable '{}' on {}", name, context.info.name),
                       "record it with --backend cpu");
    return Variable{address, bytes};
}

Result<Function> Device::load(const std::string& ptx, const std::string& ptx_name, const std::string& kernel,
                              unsigned max_registers) {
    const auto module = load_module(ptx, ptx_name, max_registers);
    if (!module) return module.error();
    return function_of(*module, ptx_name, kernel, count_parameters(ptx, ptx_name, kernel));
}

}  // namespace tilescope::gpu
