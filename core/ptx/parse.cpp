// The module: its directives, variables, and kernels with their parameters.
//
// Source: PTX ISA, "Directives".
#include "core/ptx/parse.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "core/ptx/forms.h"
#include "core/ptx/matrix.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {
namespace {

bool read_version(Parser& parser) {
    const Token& token = parser.next();
    const size_t dot = token.text.find('.');
    const auto number = [](std::string_view text, uint32_t& value) {
        value = 0;
        for (const char c : text) {
            if (c < '0' || c > '9' || value > 999) return false;
            value = value * 10 + static_cast<uint32_t>(c - '0');
        }
        return !text.empty();
    };
    if (token.kind == Token::Kind::Number && dot != std::string_view::npos &&
        number(token.text.substr(0, dot), parser.module.version_major) &&
        number(token.text.substr(dot + 1), parser.module.version_minor))
        return true;
    return parser.fail(token.line, ".version needs a version such as 7.0, not {}; write one",
                       Parser::quoted(token));
}

bool read_target(Parser& parser) {
    std::string& target = parser.module.target;
    target.clear();
    do {
        const Token& token = parser.next();
        if (token.kind != Token::Kind::Word) {
            return parser.fail(token.line, ".target needs an architecture such as sm_70, not {}; write one",
                               Parser::quoted(token));
        }
        target += target.empty() ? "" : ", ";
        target += token.text;
    } while (parser.accept(','));
    return true;
}

bool read_file(Parser& parser) {
    SourceFile file;
    uint64_t index = 0;
    if (!read_count(parser, 0, UINT32_MAX, index, "the number of .file")) return false;
    file.index = static_cast<uint32_t>(index);
    const Token& name = parser.next();
    if (name.kind != Token::Kind::String) {
        return parser.fail(name.line, ".file needs a name in quotes, not {}; write one",
                           Parser::quoted(name));
    }
    file.name = std::string(name.text.substr(1, name.text.size() - 2));
    while (parser.accept(',')) {
        uint64_t value = 0;
        if (!read_count(parser, 0, INT64_MAX, value, "time or size of .file")) return false;
        file.attributes += fmt::format(", {}", value);
    }
    parser.module.files.push_back(std::move(file));
    return true;
}

// Kept as written; what is in it (DWARF) is nothing that runs.
bool read_section(Parser& parser, const Token& start) {
    const Token& name = parser.next();
    if (name.kind != Token::Kind::Dot || !parser.accept('{'))
        return parser.fail(start.line, ".section needs a name and '{{'; the text is damaged there");
    while (!parser.peek().is('}')) {
        if (parser.peek().kind == Token::Kind::End)
            return parser.fail(start.line, "the section that starts here does not end; close it with '}}'");
        parser.next();
    }
    parser.next();
    parser.module.sections.emplace_back(parser.through(start));
    return true;
}

bool read_parameters(Parser& parser, Body& body) {
    if (!parser.accept('(') || parser.accept(')')) return true;
    do {
        const Token& first = parser.peek();
        if (first.text != ".param") {
            return parser.fail(first.line,
                               "a parameter of '{}' should stand where {} does; declare it with .param",
                               body.kernel.name, Parser::quoted(first));
        }
        Symbol symbol;
        if (!read_variable(parser, symbol)) return false;
        const auto index = static_cast<int32_t>(body.kernel.symbols.size());
        std::string unique;
        if (!declare(parser, body, symbol.name, Name::Kind::Symbol, index, first.line, unique)) return false;
        body.kernel.symbols.push_back(std::move(symbol));
        body.kernel.parameters.push_back(index);
    } while (parser.accept(','));
    return parser.expect(')', "after the parameters");
}

// Source: PTX ISA, "Performance-Tuning Directives", "Cluster Dimension Directives".
struct Directive {
    std::string_view name;
    bool has_numbers = true;
};
constexpr Directive kDirectives[] = {{".maxntid"},
                                     {".reqntid"},
                                     {".minnctapersm"},
                                     {".maxnctapersm"},
                                     {".maxnreg"},
                                     {".reqnctapercluster"},
                                     {".maxclusterrank"},
                                     {".explicitcluster", false},
                                     {".blocksareclusters", false},
                                     {".noreturn", false}};

bool read_kernel_directives(Parser& parser, Kernel& kernel) {
    while (parser.peek().kind == Token::Kind::Dot) {
        const Token& first = parser.next();
        const std::string_view name = first.text;
        const auto* const known = std::ranges::find(kDirectives, name, &Directive::name);
        if (known == std::end(kDirectives)) {
            return parser.fail(first.line,
                               "directive '{}' of kernel '{}' is not known to Tilescope; build it without",
                               name.substr(0, 60), kernel.name);
        }
        std::string text(name);
        int count = 0;
        do {
            if (!known->has_numbers) break;
            uint64_t value = 0;
            if (!read_count(parser, 1, UINT32_MAX, value, name)) return false;
            text += fmt::format("{}{}", count == 0 ? " " : ", ", value);
        } while (++count < 3 && parser.accept(','));
        kernel.directives.push_back(std::move(text));
    }
    return true;
}

// Everything up to the end of the next body, or to the ';' of a declaration. False at the end of the text.
bool skip_function(Parser& parser) {
    for (size_t depth = 0;;) {
        const Token& token = parser.peek();
        if (token.kind == Token::Kind::End) return false;
        parser.next();
        if (token.is('{')) ++depth;
        if (token.is('}') && (depth == 0 || --depth == 0)) return true;
        if (token.is(';') && depth == 0) return true;
    }
}

// A body that cannot be read ends the reading of this kernel, not of the module.
bool refuse(Parser& parser, std::string_view kernel, size_t start, const Parser::ReadSoFar& before) {
    parser.at = start;
    parser.read = before;
    if (!skip_function(parser)) return false;
    parser.module.refused.push_back({std::string(kernel), std::move(parser.message)});
    parser.message.clear();
    return true;
}

bool read_kernel(Parser& parser, std::string_view linkage) {
    Body body;
    body.scopes.emplace_back();
    const Token& name = parser.next();
    if (name.kind != Token::Kind::Word || name.text == "_") {
        return parser.fail(name.line, ".entry needs the name of a kernel, not {}; write one",
                           Parser::quoted(name));
    }
    if (!parser.kernels.insert(name.text).second)
        return parser.fail(name.line, "kernel '{}' is defined twice; rename one", name.text.substr(0, 60));
    const size_t start = parser.at;
    const Parser::ReadSoFar before = parser.read;
    body.kernel.name = std::string(name.text);
    body.kernel.visible = linkage == ".visible";
    body.kernel.weak = linkage == ".weak";
    if (!read_parameters(parser, body) || !read_kernel_directives(parser, body.kernel) ||
        !read_body(parser, body))
        return refuse(parser, name.text, start, before);
    parser.names_in_kernels.merge(body.used);
    parser.module.kernels.push_back(std::move(body.kernel));
    return true;
}

bool read_module_variable(Parser& parser, std::string_view linkage) {
    const Token& first = parser.peek();
    Symbol symbol;
    symbol.linkage = std::string(linkage);
    if (first.text == ".param" || first.text == ".local") {
        return parser.fail(first.line, "a {} variable outside a kernel is not known to Tilescope; move it",
                           first.text);
    }
    if (!read_variable(parser, symbol)) return false;
    // It is printed before the kernels, where theirs would hide it.
    if (parser.names_in_kernels.contains(symbol.name))
        return parser.fail(first.line, "a kernel above has its own '{}'; rename this variable", symbol.name);
    // The name as the text has it: a view that stays.
    const auto index = static_cast<int32_t>(parser.module.variables.size());
    for (size_t i = parser.at; i-- > 0;) {
        if (parser.tokens[i].text != symbol.name) continue;
        if (!parser.variables.try_emplace(parser.tokens[i].text, index).second)
            return parser.fail(first.line, "variable '{}' is declared twice; rename one", symbol.name);
        break;
    }
    parser.module.variables.push_back(std::move(symbol));
    return true;
}

bool read_item(Parser& parser) {
    const Token* token = &parser.next();
    std::string_view linkage;
    if (token->text == ".visible" || token->text == ".weak" || token->text == ".extern" ||
        token->text == ".common") {
        linkage = token->text;
        if (at_variable(parser.peek())) return read_module_variable(parser, linkage);
        token = &parser.next();
        if (token->text == ".entry" && (linkage == ".visible" || linkage == ".weak"))
            return read_kernel(parser, linkage);
    } else {
        if (token->text == ".entry") return read_kernel(parser, linkage);
        if (token->text == ".file") return read_file(parser);
        if (token->text == ".section") return read_section(parser, *token);
        if (token->text == ".alias") return skip_function(parser);  // its names are known
        if (at_variable(*token)) return --parser.at, read_module_variable(parser, linkage);
    }
    if (token->text == ".func") {
        if (skip_function(parser)) return true;
        return parser.fail(token->line, "the function that starts here does not end; close it with '}}'");
    }
    return parser.fail(token->line,
                       "directive {} is not known to Tilescope outside a kernel; build the kernel without "
                       "it",
                       Parser::quoted(*token));
}

bool read_module(Parser& parser) {
    if (!parser.accept(".version")) {
        return parser.fail(parser.peek().line,
                           "a PTX module begins with .version, not with {}; give PTX text",
                           Parser::quoted(parser.peek()));
    }
    if (!read_version(parser)) return false;
    if (!parser.accept(".target")) {
        return parser.fail(parser.peek().line,
                           ".target is missing after .version; add it, as \".target sm_70\"");
    }
    if (!read_target(parser)) return false;
    if (parser.accept(".address_size")) {
        uint64_t size = 0;
        if (!read_count(parser, 64, 64, size, ".address_size")) return false;
    }
    while (parser.peek().kind != Token::Kind::End)
        if (!read_item(parser)) return false;
    return true;
}

}  // namespace

Result<Module> parse(std::string_view text, std::string_view name) {
    auto tokens = tokenise(text, name);
    if (!tokens) return tokens.error();
    Parser parser;
    parser.name = name;
    parser.tokens = std::move(*tokens);
    find_functions(parser);
    if (!read_module(parser)) return Error{std::move(parser.message)};
    keep_declarations(parser);
    parser.module.structs = structs_in(text);
    if (parser.module.kernels.empty() && !parser.module.refused.empty())
        return Error{std::move(parser.module.refused.front().why)};
    return std::move(parser.module);
}

namespace {

// Source: PTX ISA, "cp.async" (PTX ISA version 7.0, sm_80).
DeviceNeeds needs_of(const Kernel& kernel) {
    DeviceNeeds needs;
    for (const Instruction& one : kernel.instructions) {
        const OpRule& rule = rule_of(one.op);
        const DeviceNeeds own = (rule.suffixes & kForm) != 0     ? needs_of_form(one.op)
                                : rule.unit == SmUnit::Copy      ? DeviceNeeds{80, 70}
                                : (rule.suffixes & kMatrix) != 0 ? needs_of_matrices(one)
                                                                 : DeviceNeeds{};
        needs = {std::max(needs.target, own.target), std::max(needs.version, own.version)};
    }
    return needs;
}

}  // namespace

// Source: PTX ISA, "Kernel Function Parameters" (8.1).
uint32_t version_for(const Kernel& kernel) {
    constexpr uint64_t kAlways = 4352;  // bytes
    uint64_t bytes = 0;
    for (const int32_t parameter : kernel.parameters) {
        const Symbol& symbol = kernel.symbols[static_cast<size_t>(parameter)];
        const uint64_t unit = std::max<uint64_t>({symbol.alignment, size_of(symbol.type), 1});
        bytes = (bytes + unit - 1) / unit * unit + symbol.bytes();
    }
    return std::max(bytes > kAlways ? 81u : 0u, needs_of(kernel).version);
}

std::string target_for(const Kernel& kernel, const std::string& target) {
    const uint32_t needed = needs_of(kernel).target;
    const bool old = target.starts_with("sm_") && std::strtoul(target.c_str() + 3, nullptr, 10) < needed;
    return old ? fmt::format("sm_{}", needed) + target.substr(std::min(target.find(','), target.size()))
               : target;
}

std::optional<Dim3> size_directive(const Kernel& kernel, std::string_view name) {
    for (const std::string& text : kernel.directives) {
        if (text.compare(0, name.size(), name) != 0) continue;
        std::array<uint32_t, 3> extents{1, 1, 1};
        size_t count = 0;
        const char *at = text.data() + name.size(), *end = text.data() + text.size();
        while (at < end && count < 3) {
            if (!std::isdigit(static_cast<unsigned char>(*at))) {
                ++at;
                continue;
            }
            const auto [next, problem] = std::from_chars(at, end, extents[count++]);
            if (problem != std::errc{}) return std::nullopt;
            at = next;
        }
        return Dim3{extents[0], extents[1], extents[2]};
    }
    return std::nullopt;
}

const Kernel* find_kernel(const Module& module, std::string_view name) {
    for (const Kernel& kernel : module.kernels)
        if (kernel.name == name) return &kernel;
    return nullptr;
}

const std::string* refusal_of(const Module& module, std::string_view name) {
    for (const Refusal& refusal : module.refused)
        if (refusal.kernel == name) return &refusal.why;
    return nullptr;
}

}  // namespace tilescope::ptx
