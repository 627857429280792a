#include "kernels/call/call.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace tilescope::kernels {

namespace {

// The function that the runtime offers for this (kernels/cudart/call.cpp).
constexpr const char* kMake = "tilescope_make_argument";

bool is_const(std::string_view type) {
    return type.substr(0, 6) == "const " || (type.size() > 6 && type.substr(type.size() - 6) == " const");
}

// A type for the made main: as the source writes it where C++ or CUDA has that type.
std::string type_text(const CallParameter& parameter) {
    if (held_type("", parameter.written)) return parameter.written;
    return (is_const(parameter.written) ? "const " : "") + std::string(c_name_of(parameter.type));
}

std::string without_const(std::string_view type) {
    if (type.substr(0, 6) == "const ") type.remove_prefix(6);
    if (type.size() > 6 && type.substr(type.size() - 6) == " const") type.remove_suffix(6);
    return std::string(type);
}

}  // namespace

std::optional<FunctionText> function_to_call(std::string_view source, const std::string& name) {
    std::vector<FunctionText> all = host_functions_in(source);
    std::erase_if(all, [&](const FunctionText& one) {
        return one.name == "main" || (!name.empty() && one.name != name);
    });
    const auto only = [&](const auto& fits) -> std::optional<FunctionText> {
        const auto at = std::find_if(all.begin(), all.end(), fits);
        if (at == all.end()) return std::nullopt;
        const bool another = std::any_of(at + 1, all.end(), fits);
        if (another && name.empty()) return std::nullopt;
        return *at;
    };
    if (!name.empty()) {
        if (auto found = only([](const FunctionText& one) { return one.launches; })) return found;
        return only([](const FunctionText&) { return true; });
    }
    if (auto found =
            only([](const FunctionText& one) { return one.name == "solve" || one.name == "solution"; }))
        return found;
    if (auto found = only([](const FunctionText& one) { return one.c_linkage && one.launches; }))
        return found;
    return only([](const FunctionText& one) { return one.launches; });
}

Result<Call> call_of(std::string_view source, const FunctionText& function) {
    Call call;
    call.function = function.name;
    call.c_linkage = function.c_linkage;
    // What it returns is dropped; an object would need a place that the made main does not give.
    const std::string& result = function.result;
    if (result.back() != '*' && result != "void" && result != "cudaError_t" &&
        !held_type(source, without_const(result)))
        return Error{fmt::format("{} returns {}, which no call here can take; write a main that calls it",
                                 one_line(function.name), one_line(result))};
    for (const ParameterText& text : function.parameters) {
        CallParameter& parameter = call.parameters.emplace_back();
        parameter.name = text.name.empty() ? fmt::format("arg{}", call.parameters.size()) : text.name;
        parameter.pointer = text.indirections == 1;
        parameter.written = text.type;
        parameter.constant = parameter.pointer && is_const(text.type);
        const auto held = held_type(source, without_const(text.type));
        const auto no = [&](const char* what) {
            return Error{
                fmt::format("parameter '{}' of {} is {}, which cannot be described; write a main "
                            "that calls it",
                            one_line(parameter.name), one_line(function.name), what)};
        };
        if (text.indirections > 1) return no("a pointer to pointers");
        if (text.reference) return no("a reference");
        if (!parameter.pointer && (!held || held->count > 1)) return no("a struct");
        parameter.type = held ? held->type : ElementType::B8;
    }
    return call;
}

std::string main_for(const Call& call) {
    std::string text =
        "// Calls a function with the arguments that a description gives.\n"
        "#include <cstddef>\n#include <cstdint>\n#include <cstdio>\n"
        "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n\n";
    text += fmt::format(
        "extern \"C\" void {}(const char* value, unsigned place, const char* type, void* to);\n", kMake);
    std::string types, made, given;
    for (size_t i = 0; i < call.parameters.size(); ++i) {
        const CallParameter& parameter = call.parameters[i];
        std::string type = type_text(parameter);
        if (parameter.pointer && call.c_linkage) {
            type = "void*";  // such a function's name says nothing of its types
        } else if (parameter.pointer) {
            const std::string bare = without_const(parameter.written);
            if (parameter.type == ElementType::B8 && bare != "void") {
                text += fmt::format("struct {};\n", bare);
                type = parameter.written;
            }
            type += "*";
        }
        const char* comma = i == 0 ? "" : ", ";
        types += comma + type;
        // A value's type without its const, so that it can be written to.
        const std::string variable = parameter.pointer ? type : without_const(type);
        made += fmt::format("    {0} a{1};\n    {2}(given[{3}], {1}, \"{4}\", (void*)&a{1});\n", variable, i,
                            kMake, i + 1, parameter.pointer ? "" : name_of(parameter.type));
        given += fmt::format("{}a{}", comma, i);
    }
    text += fmt::format("{}void {}({});\n\n", call.c_linkage ? "extern \"C\" " : "", call.function, types);
    text += fmt::format(
        "int main(int, char** given) {{\n    (void)given;\n{}    {}({});\n"
        "    cudaError_t error = cudaDeviceSynchronize();\n"
        "    if (error == cudaSuccess) error = cudaGetLastError();\n"
        "    if (error != cudaSuccess)\n"
        "        std::fprintf(stderr, \"{}: %s\\n\", cudaGetErrorString(error));\n"
        "    return error != cudaSuccess;\n}}\n",
        made, call.function, given, call.function);
    return text;
}

std::vector<std::string> words_for(const Description& whole) {
    std::vector<std::string> words;
    for (const GivenArgument& argument : whole.arguments) words.push_back(value_text(argument));
    return words;
}

std::string call_command(const std::string& file, const Description& whole) {
    std::vector<std::string> arguments;
    for (const GivenArgument& argument : whole.arguments)
        arguments.push_back(argument.name + "=" + value_text(argument));
    return fmt::format("tilescope record {} --call {}", shell_word(file),
                       shell_word(fmt::format("{}({})", whole.kernel, fmt::join(arguments, ", "))));
}

}  // namespace tilescope::kernels
