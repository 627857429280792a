// What the text of a CUDA source says, as far as it can be read without a compiler: constants, types, the
// declarations of shared arrays and the parameters of kernels. What cannot be read so is left unsaid: there
// is no preprocessor here, and no overload is chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/element.h"
#include "core/ptx/ast.h"

namespace tilescope::kernels {

// Whether a PTX symbol is the mangled name of the array `name` inside a function or a namespace: "_ZZ5tiledE3Mds",
// "_ZN4deep5tilesE".
// Source: Itanium C++ ABI, 5.1.7 "Scope Encoding": _Z Z <function> E <length><name> [_<number>]; 5.1.2 "General Structure":
// _Z N (<length><name>)* E.
bool is_symbol_of(std::string_view symbol, std::string_view name);
// The name inside such a symbol; the symbol itself where it is not mangled.
std::string_view name_in_symbol(std::string_view symbol);

bool is_word(char c);   // of a name: a letter, a digit or _
bool is_blank(char c);  // a line end too
// Without blanks around it.
std::string_view trimmed(std::string_view text);
// The next place of `word` that is not a part of a longer one; npos.
size_t find_word(std::string_view text, std::string_view word, size_t from = 0);

// The source with blanks for comments, literals of text: as many characters, and lines where they were.
std::string code_of(std::string_view source);

// The parts of a text between its commas that stand in no brackets, without blanks around them.
std::vector<std::string_view> parts_between_commas(std::string_view text);

// A number, or names, sums, products and shifts of what a #define, an enum, a constexpr or a const of the
// source says: "TILE + 2 * RADIUS".
std::optional<uint64_t> constant_in(std::string_view source, std::string_view expression);

// What a C type holds, one after the other: float4 holds four floats.
struct HeldType {
    ElementType type = ElementType::F32;
    uint32_t count = 1;
    bool operator==(const HeldType&) const = default;
};
// What a type holds, by its C or C++ name, qualifiers and order of its words aside, or by a name that a
// typedef, a using or a #define of the source gives it. Nothing for structs, templates' own names and void.
std::optional<HeldType> held_type(std::string_view source, std::string_view type);

// What a declaration of a source behind `__shared__` or `__constant__` says of an array: its element type and
// extents, as far as they are constants of the source.
struct Declaration {
    ElementType type = ElementType::F32;
    std::vector<uint64_t> extents;  // outermost first; empty where one is not known
};
std::optional<Declaration> declaration(std::string_view source, std::string_view keyword,
                                       std::string_view name);

// The same of the variable that a symbol of the PTX is. Where a flag of the compiler's gives a macro another meaning than
// the source does, the PTX has the size of the elements. bytes: of all of it.
std::optional<Declaration> declaration(std::string_view source, std::string_view keyword,
                                       const ptx::Symbol& symbol, std::string_view name, uint64_t bytes);

// A parameter as a kernel's declaration writes it.
struct ParameterText {
    std::string name;           // "" where it has none
    std::string type;           // without name, *, &, [] and default: "const float"
    uint32_t indirections = 0;  // number of * and []
    bool reference = false;
};
// Parameters of the kernel `name`, which has `count` of them; the definition before a declaration. Nothing
// where the source has no such __global__ function.
std::optional<std::vector<ParameterText>> parameters_in(std::string_view source, std::string_view name,
                                                        size_t count);

// A function of the host that the source defines, outside of classes and namespaces, and that other files can
// call: neither static nor inline, no template.
struct FunctionText {
    std::string name;
    std::string result;  // its result type
    std::vector<ParameterText> parameters;
    bool c_linkage = false;  // extern "C"
    bool launches = false;   // a launch stands in its body
};
std::vector<FunctionText> host_functions_in(std::string_view source);

}  // namespace tilescope::kernels
