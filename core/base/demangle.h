// Names of functions and variables as the source has them.
//
// Source: Itanium C++ ABI, 5.1 "External Names (a.k.a. Mangling)".
#pragma once

#include <string>
#include <string_view>

namespace tilescope {

// "f(float const*, int)" for "_Z1fPKfi"; "" for what is no mangled name, as "w" is none though it mangles a
// type. A short name can stand for a very long text by naming its own parts again and again: such a name from a
// stranger's file is none either.
std::string demangled(std::string_view name);

}  // namespace tilescope
