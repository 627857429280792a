// The text of LLVM's intermediate representation (IR), as far as copies of structs need it.
//
// Source: LLVM Language Reference, "Type System", "Metadata", "getelementptr".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::program {

std::optional<uint64_t> number_of(std::string_view text);

// The parts between commas that stand in no brackets.
std::vector<std::string_view> parts_of(std::string_view text);

// "ptr addrspace(3) align 16 %5", or before clang 15 "i8 addrspace(3)* align 16 %5".
struct PointerArgument {
    bool typed = false;
    std::string_view space;  // " addrspace(3)"
    std::string_view value;
    uint64_t alignment = 1;
};
std::optional<PointerArgument> pointer_of(std::string_view text);

// The text of a numbered piece of metadata: "i64 0, i64 4, !7" for "!5" and a line "!5 = !{i64 0, i64 4, !7}".
std::string_view metadata(std::string_view ir, std::string_view name);

// A number in memory.
struct Scalar {
    uint64_t at = 0, bytes = 0;
    std::string_view type;  // of LLVM; "" for what may be anything
};

// The types and variables of a module.
class Declarations {
public:
    explicit Declarations(std::string_view ir);

    // What a type holds, from its first byte on: four of float for "%struct.float4". Nothing for packed structs,
    // vectors, and what holds very much.
    std::vector<Scalar> scalars_of(std::string_view type) const;
    // Whether a type is an array, or a struct with one.
    bool holds_array(std::string_view type) const;
    // Whether a variable, "@name", is an array of numbers.
    bool is_array_of_scalars(std::string_view variable) const { return arrays_.contains(variable); }

private:
    struct Extent {
        uint64_t bytes = 0, alignment = 1;
    };
    std::optional<Extent> lay_out(std::string_view type, uint64_t at, std::vector<Scalar>& scalars,
                                  int depth) const;

    std::map<std::string, std::string_view, std::less<>> types_;  // "{ float, float }" by "%struct.float2"
    std::set<std::string, std::less<>> arrays_;
};

}  // namespace tilescope::program
