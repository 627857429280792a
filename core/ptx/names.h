// How PTX spells types, comparisons, roundings and special registers.
#pragma once

#include <optional>
#include <string_view>

#include "core/ptx/ast.h"

namespace tilescope::ptx {

// Each takes the name without its dot and answers nothing for one that it does not know.
std::optional<Type> find_type(std::string_view name);                // "u32"
std::optional<Compare> find_compare(std::string_view name);          // "lt"
std::optional<Bool> find_bool(std::string_view name);                // "and"
std::optional<Round> find_round(std::string_view name);              // "rn"
std::optional<Atomic> find_atomic(std::string_view name);            // "add"
std::optional<StateSpace> find_space(std::string_view name);         // "shared", "shared::cta"
std::optional<SpecialRegister> find_special(std::string_view name);  // "%tid.x"

const char* name_of(SpecialRegister special);  // "%tid.x"
const char* name_of(StateSpace space);         // "shared"; "" for Generic
Type type_of(SpecialRegister special);         // U32 or U64

}  // namespace tilescope::ptx
