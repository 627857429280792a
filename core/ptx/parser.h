// What the files of the parser share: the tokens, the place in them, and the first error.
//
//   parse.cpp      module: directives, kernels and their parameters
//   body.cpp       a kernel's body: scopes, labels, .loc, the frame of an instruction
//   variables.cpp  .reg and variables with their initialisers
//   suffixes.cpp   ".global.f32" against the rule of the instruction
//   operands.cpp   "%f1, [%rd4+8]" against the rule of the instruction
//   functions.cpp  .func, calls and brx.idx: bodies are read again where they are called
//   opaque.cpp     instructions that are not known, kept as text
//   call_values.cpp  .param variables of calls that were inlined become registers
//
// Functions return false after an error and leave its sentence in Parser::message; the first stays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "core/ptx/ast.h"
#include "core/ptx/lexer.h"
#include "core/ptx/ops.h"

namespace tilescope::ptx {

inline constexpr size_t kMaxRegisters = size_t{1} << 17;      // of a module, over all kernels
inline constexpr size_t kMaxRegistersRead = size_t{1} << 18;  // those of kernels that are refused too
inline constexpr size_t kMaxInstructions = size_t{1} << 18;   // of a module, over all kernels
inline constexpr size_t kMaxVariables = size_t{1} << 16;      // the same
inline constexpr size_t kMaxDepth = 64;                       // nested { }, in a function
inline constexpr size_t kMaxCallDepth = 64;                   // functions that call one another
inline constexpr size_t kMaxInlined = size_t{1} << 23;        // tokens of bodies that are read again
inline constexpr size_t kMaxRelocations = size_t{1} << 18;    // of a module
inline constexpr size_t kMaxReached = size_t{1} << 20;        // variables that kernels name, over all kernels
inline constexpr size_t kMaxDimensions = 16;
inline constexpr uint64_t kMaxVariableBytes = uint64_t{1} << 31;
inline constexpr uint64_t kMaxInitialisedBytes = uint64_t{1} << 24;  // of a module

// A .func of the module: where its pieces stand among the tokens.
struct FunctionTokens {
    size_t first = 0, end = 0;           // the declaration, from its linkage to before its body or ';'
    size_t results = 0, parameters = 0;  // their '('; 0 where there is none
    size_t body = 0, body_end = 0;       // from its '{' to after its '}'; 0 where there is none
};

struct Parser {
    std::string_view name;      // of the text, for messages
    std::vector<Token> tokens;  // the last is End
    size_t at = 0;
    std::string message;  // empty: no error yet
    Module module;
    std::unordered_map<std::string_view, int32_t> variables;  // of the module, by name
    std::unordered_set<std::string_view> kernels;
    std::unordered_map<std::string_view, FunctionTokens> functions;
    std::unordered_map<std::string_view, std::string_view> aliases;  // .alias: name, function
    size_t inlined_read = 0;                                         // tokens of inlined bodies so far
    size_t relocations_read = 0, variables_reached = 0;
    std::unordered_map<std::string, uint32_t> names_in_kernels;  // names used in kernels that are not refused
    struct ReadSoFar {  // so far, over all kernels that are not refused
        size_t registers = 0, instructions = 0, variables = 0;
    } read;
    size_t registers_read = 0;      // registers of all kernels, refused ones too
    uint64_t initialised_read = 0;  // bytes of initialisers, of refused kernels too

    const Token& peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
    const Token& next() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
    bool accept(char c) { return peek().is(c) && (next(), true); }
    bool accept(std::string_view text) { return peek().text == text && (next(), true); }

    // "name:line: sentence", of which the caller gives the sentence.
    bool fail_at(uint32_t line, std::string_view sentence) {
        if (message.empty()) message = fmt::format("{}:{}: {}", name, line, sentence);
        return false;
    }
    // The sentence alone, which names a place of the source.
    bool fail_plainly(std::string sentence) {
        if (message.empty()) message = std::move(sentence);
        return false;
    }
    template <class... Args>
    bool fail(uint32_t line, fmt::format_string<Args...> form, Args&&... args) {
        return fail_at(line, fmt::format(form, std::forward<Args>(args)...));
    }
    bool expect(char c, std::string_view where) {
        if (accept(c)) return true;
        return fail(peek().line, "'{}' is missing {}, before {}; the text is damaged there", c, where,
                    quoted(peek()));
    }

    static std::string quoted(const Token& token) {
        if (token.kind == Token::Kind::End) return "the end of the text";
        return fmt::format("'{}'{}", token.text.substr(0, 60), token.text.size() > 60 ? "..." : "");
    }
    // The text from a token to the one taken last, as it was written.
    std::string_view through(const Token& first) const {
        const std::string_view last = tokens[at > 0 ? at - 1 : 0].text;
        return {first.text.data(), static_cast<size_t>(last.data() + last.size() - first.text.data())};
    }
};

// An integer constant: decimal, 0x, 0b or octal, perhaps with U; with its sign.
struct Integer {
    uint64_t bits = 0;         // two's complement
    bool is_unsigned = false;  // U after it, or too large for int64_t
    std::string text;          // as written
};
bool read_integer(Parser& parser, Integer& integer, std::string_view what);
// An integer in [least, most], for sizes and counts.
bool read_count(Parser& parser, uint64_t least, uint64_t most, uint64_t& value, std::string_view what);
// 0f3F800000 or 0d3FF0000000000000: is the token one, and its type and bits.
bool read_float_bits(std::string_view text, Type& type, uint64_t& bits);

// The kernel that is being read, and its names.
struct Name {
    enum class Kind : uint8_t { Register, Symbol, Label } kind{};
    int32_t index = -1;
};

struct Jump {  // a branch whose label may still come
    uint32_t instruction = 0;
    uint32_t line = 0;
};

struct Scope {
    std::unordered_map<std::string, Name> names;
    uint32_t first = 0;        // index of its first instruction
    bool is_function = false;  // names around it are not seen in it
};

// A function that is being inlined.
struct Inlining {
    std::string_view function;
    int32_t end = -1;  // the label that its ret goes to
    size_t depth = 0;  // scopes around its body
    SourceLocation call;
};

struct Body {
    Kernel kernel;
    std::vector<Scope> scopes;  // innermost last; [0] holds the parameters
    std::unordered_map<std::string_view, std::vector<Jump>> jumps;  // by label, in the order of the text
    // Names given out in the whole kernel, and copies of each.
    std::unordered_map<std::string, uint32_t> used;
    std::vector<int32_t> module_symbols;                 // module variables that it names, in order
    std::unordered_map<int32_t, int32_t> module_symbol;  // module variable -> index above
    SourceLocation source;                               // of the latest .loc
    std::string unused_loc;                              // its text, until an instruction takes it
    std::unordered_map<std::string_view, uint32_t> inlined;
    std::vector<Inlining> inlinings;              // innermost last
    std::unordered_map<size_t, int32_t> statics;  // variables that all copies of a function share, by token
    std::unordered_map<std::string_view, size_t> branch_targets;  // token after .branchtargets, by label

    const Name* find(std::string_view name) const;
};

// While a body is read, an operand names the i-th module symbol by kModuleSymbol - i; at the end of
// the body these follow the kernel's own symbols and the operands are set right.
inline constexpr int32_t kModuleSymbol = -2;

// Puts a name into the innermost scope, made unique in the kernel; the unique form is `unique`.
bool declare(Parser& parser, Body& body, std::string_view name, Name::Kind kind, int32_t index, uint32_t line,
             std::string& unique);

// A name that nothing in the kernel has yet.
std::string fresh_name(Parser& parser, Body& body, std::string_view name, bool is_parameter = false);

// The elements of a vector of registers: v.x is the first of v (PTX ISA, "Vectors").
inline constexpr std::string_view kVectorElements = "xyzw";

// At ".reg": one declaration to its ';'.
bool read_registers(Parser& parser, Body& body);
// At a state space: one variable to its ';' (or, of a kernel's parameter, to before ',' or ')').
bool read_variable(Parser& parser, Symbol& symbol);
// At an address in an initialiser: generic(x)+8, x, 0xFF00(x).
bool at_relocation(const Parser& parser);
bool read_relocation(Parser& parser, Symbol& symbol, uint64_t offset);
// Does ".global", ".shared", ... stand here?
bool at_variable(const Token& token);

// in_name: how many suffixes belong to the rule's name. news: it has one that no instruction is known with.
bool read_suffixes(Parser& parser, const OpRule& rule, size_t in_name, Instruction& instruction, bool& news);
// Behind the suffixes of an instruction that is not known, or has one that is not (rule: of its mnemonic): keeps it as
// text. False, with nothing changed, where it cannot be kept.
bool read_opaque(Parser& parser, const Body& body, const OpRule* rule, Instruction& instruction);
// What an unknown instruction of that name belongs to, "textures"; "" where that is not known either.
std::string_view not_read(std::string_view mnemonic);
std::string opaque_text(const Kernel& kernel, const Instruction& instruction);  // its operands
bool read_operands(Parser& parser, Body& body, const OpRule& rule, Instruction& instruction);

// From '{' to its '}': a kernel's body.
bool read_body(Parser& parser, Body& body);
// The same for a body in a scope of its own, of a function that is inlined.
bool read_scopes(Parser& parser, Body& body, std::string_view whose);

// Finds the functions of the text; nothing in their bodies is read.
void find_functions(Parser& parser);
// The declarations of functions that are still called, into the module.
void keep_declarations(Parser& parser);
// After "call{.uni}": inlines the function, or keeps the call of one that has no body.
bool read_call(Parser& parser, Body& body, Instruction& made);
// After "ret" in a function that is inlined.
bool read_return(Parser& parser, Body& body, Instruction& made);
// After "brx{.idx}": a comparison and a branch for each target.
bool read_indexed_branch(Parser& parser, Body& body, Instruction& made);
// Rewrites what calls are given and return, where the call was inlined.
bool settle_call_values(Parser& parser, Body& body);

// Is it one of the kernel's own parameters? They are its first symbols.
inline bool is_kernel_parameter(const Body& body, int32_t symbol) {
    return symbol >= 0 && static_cast<size_t>(symbol) < body.kernel.parameters.size();
}

}  // namespace tilescope::ptx
