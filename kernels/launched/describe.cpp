#include "kernels/launched/describe.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/demangle.h"
#include "core/base/file.h"
#include "core/ptx/large.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "kernels/run/source_text.h"

namespace tilescope::launched {

namespace {

// "scale" for "_ZL5scale".
std::string variable_name(const std::string& symbol) {
    const std::string text = demangled(symbol);
    return text.empty() ? symbol : text;
}

// The one type that the kernel loads constants as; none where there are several, or bits.
std::optional<ElementType> type_of_constants(const ptx::Kernel& code) {
    std::optional<ElementType> type;
    for (const ptx::Instruction& one : code.instructions) {
        if (one.op != ptx::Op::Ld || one.space != ptx::StateSpace::Const) continue;
        if (!lies_in_memory(one.type) || is_bits(one.type) || (type && *type != one.type))
            return std::nullopt;
        type = one.type;
    }
    return type;
}

// Type of a variable's elements: what the source declares, what the kernel loads, or bits as PTX has them, where arrays
// are of bytes.
ElementType type_of(const ptx::Symbol& symbol, const ptx::Kernel& code, const std::string& source) {
    const ElementType type = lies_in_memory(symbol.type) ? symbol.type : ElementType::B8;
    if (!is_bits(type) && !symbol.is_array && size_of(type) > 1) return type;
    std::string name = variable_name(symbol.name);
    if (const size_t scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
    const bool constant = symbol.space == ptx::StateSpace::Const;
    if (const auto declared = kernels::declaration(source, constant ? "__constant__" : "__device__", symbol,
                                                   name, symbol.bytes());
        declared && symbol.bytes() % size_of(declared->type) == 0)
        return declared->type;
    size_t constants = 0;
    for (const ptx::Symbol& one : code.symbols) constants += one.space == ptx::StateSpace::Const;
    const auto loaded = constant && constants == 1 ? type_of_constants(code) : std::nullopt;
    if (loaded && symbol.bytes() % size_of(*loaded) == 0) return *loaded;
    return is_bits(type) && size_of(type) == 1 && symbol.alignment == 4 ? ElementType::B32 : type;
}

// Path and text of the file that the kernel stands in, where that is another than the program's source.
std::optional<std::pair<std::string, std::string>> own_file_of(const ptx::Module& module,
                                                               const ptx::Kernel& code,
                                                               std::string_view source) {
    if (source.empty()) return std::nullopt;
    auto own = source_file_of(module, code);
    return own && own->second != source ? own : std::nullopt;
}

// The variables of the module that the kernel names.
void add_variables(Launch& launch, KnownMemory& memory, const LoadedModule& module, const ptx::Kernel& code,
                   const std::string& source) {
    for (const ptx::Symbol& symbol : code.symbols) {
        const auto base = module.bases.find(symbol.name);
        if (base == module.bases.end()) continue;
        const Allocation* const variable = memory.find(base->second);
        if (!variable ||
            !add_array(launch, *variable, variable_name(symbol.name), type_of(symbol, code, source)))
            continue;
        Array& array = launch.arrays.back();
        if (symbol.space == ptx::StateSpace::Const) {
            array.space = Space::Const;
            array.role = ArrayRole::Input;
            array.contents.kind = Contents::Kind::Stored;
            array.contents.bytes = std::make_shared<const std::vector<std::byte>>(
                variable->data(), variable->data() + variable->bytes);  // no kernel writes it
        }
    }
}

// Arrays of structs whose rows have a pitch that is not one of whole structs are rows of words.
void keep_pitches(Launch& launch, KnownMemory& memory) {
    for (Array& array : launch.arrays) {
        const Allocation* const of = array.members.of ? memory.find(array.base) : nullptr;
        if (!of || of->pitch == 0 || of->pitch % array.members.of->bytes == 0) continue;
        if (of->pitch % array.element_bytes() != 0) continue;
        array.extents = ExtentSource::Known;
        array.rank = 2;
        array.rows = static_cast<uint32_t>(array.bytes() / of->pitch);
        array.cols = static_cast<uint32_t>(of->pitch / array.element_bytes());
    }
}

}  // namespace

std::optional<std::pair<std::string, std::string>> source_file_of(const ptx::Module& module,
                                                                  const ptx::Kernel& code) {
    constexpr uint64_t kMost = uint64_t{16} << 20;  // bytes
    const uint32_t number = ptx::source_file_of(code);
    for (const ptx::SourceFile& file : module.files) {
        if (file.index != number) continue;
        auto text = read_whole(file.name, kMost);
        if (!text || text->find('\0') != std::string::npos) return std::nullopt;
        return std::pair{file.name, std::move(*text)};
    }
    return std::nullopt;
}

bool LoadedModule::parse() {
    if (std::exchange(parsed, true)) return problem.empty();
    auto read = ptx::is_large(text) ? ptx::parse_heads(text, name) : ptx::parse(text, name);
    if (read)
        ptx = std::move(*read);
    else
        problem = read.error().message;
    return problem.empty();
}

const ptx::Kernel* LoadedKernel::look_up(std::string_view program_source) {
    if (!own_module && (ptx::is_large(module->text) || ptx::refusal_of(module->ptx, entry))) {
        own_text = module->text;
        auto alone = ptx::parse_for(own_text, module->name, entry);
        if (alone) own_module = std::make_shared<const ptx::Module>(std::move(*alone));
    }
    const ptx::Kernel* const code = ptx::find_kernel(ptx_module(), entry);
    if (!code) {
        const std::string* const why = ptx::refusal_of(ptx_module(), entry);
        problem = why ? *why : fmt::format("the program's PTX has no kernel {}; compile it again", entry);
        return nullptr;
    }
    if (source.empty() && !program_source.empty()) {
        source = program_source;
        if (auto own = own_file_of(ptx_module(), *code, program_source))
            std::tie(own_file, source) = std::move(*own);
    }
    if (parameters.size() != code->parameters.size())
        parameters = kernels::parameters_of(ptx_module(), *code, source);
    uses_heap = std::ranges::any_of(code->instructions, [](const ptx::Instruction& one) {
        return one.op == ptx::Op::Call && (one.callee == "malloc" || one.callee == "free");
    });
    return code;
}

bool LoadedKernel::prepare(const Launch& launch, uint64_t constants) {
    if (!program) {
        auto made = simt::prepare(ptx_module(), entry, launch.arrays);
        if (!made) {
            problem = made.error().message;
            return false;
        }
        program = *made;
    } else if (constants_version != constants) {
        program = simt::with_constants(*program, launch.arrays);
    }
    constants_version = constants;
    return true;
}

uint64_t bytes_in(const ptx::Kernel& kernel, ptx::StateSpace space) {
    uint64_t bytes = 0;
    for (const ptx::Symbol& symbol : kernel.symbols)
        if (symbol.space == space) {
            const uint64_t unit = std::max<uint64_t>({symbol.alignment, size_of(symbol.type), 1});
            bytes = (bytes + unit - 1) / unit * unit + symbol.bytes();
        }
    return bytes;
}

Launch describe(KnownMemory& memory, const LoadedKernel& kernel, const ptx::Kernel& code,
                const LaunchSize& size, const std::vector<std::span<const std::byte>>& arguments) {
    Launch launch;
    launch.entry = kernel.entry;
    launch.grid = size.grid;
    launch.block = size.block;
    launch.dynamic_shared = size.shared;
    launch.cluster = size.cluster;
    // The array that an address lies in, or ends; -1 for none.
    const auto point = [&](uint64_t address, const std::string& name, ElementType type) -> int32_t {
        const Allocation* const to = memory.holds(address, 0);
        if (!to || !add_array(launch, *to, name, type)) return -1;
        return static_cast<int32_t>(std::ranges::find(launch.arrays, to->base, &Array::base) -
                                    launch.arrays.begin());
    };
    for (size_t p = 0; p < code.parameters.size(); ++p) {
        const kernels::KernelParameter& parameter = kernel.parameters[p];
        const std::span<const std::byte> bytes = arguments[p];
        Argument& argument = launch.arguments.emplace_back();
        argument.name = parameter.name;
        argument.type = parameter.pointer ? ElementType::U64 : parameter.type;
        if (code.symbols[static_cast<size_t>(code.parameters[p])].is_array || bytes.size() > 8) {
            argument.object.assign(bytes.begin(), bytes.end());
            for (uint64_t at = 0; at + 8 <= bytes.size(); at += 8) {
                uint64_t word = 0;
                std::memcpy(&word, bytes.data() + at, 8);
                point(word, fmt::format("{}+{}", parameter.name, at), parameter.type);
            }
            continue;
        }
        std::memcpy(&argument.value, bytes.data(), bytes.size());
        if (bytes.size() == 8)
            argument.array =
                point(argument.value, parameter.name, parameter.pointer ? parameter.type : ElementType::B32);
        if (argument.array >= 0) {
            argument.offset = argument.value - launch.arrays[static_cast<size_t>(argument.array)].base;
            argument.value = 0;
        }
    }
    add_variables(launch, memory, *kernel.module, code, kernel.source);
    ptx::shape_by_members(launch, kernel.ptx_module().structs);
    keep_pitches(launch, memory);
    return launch;
}

bool add_array(Launch& launch, const Allocation& allocation, std::string name, ElementType type) {
    for (const Array& array : launch.arrays)
        if (array.space == Space::Global && array.base == allocation.base) return true;
    constexpr size_t kMost = 200;
    if (launch.arrays.size() >= kMost || allocation.bytes == 0) return false;
    Array array;
    array.name = std::move(name);
    array.role = ArrayRole::InOut;
    array.type = allocation.bytes % size_of(type) == 0 ? type : ElementType::B8;
    array.rank = 1;
    array.extents = ExtentSource::Flat;
    array.cols = static_cast<uint32_t>(allocation.bytes / array.element_bytes());
    array.base = allocation.base;
    array.symbol = allocation.symbol;
    launch.arrays.push_back(std::move(array));
    return true;
}

}  // namespace tilescope::launched
