// What is read of a source before the compiler sees it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilescope::program {

// Whether a source seems to define a main: the word before a parenthesis, outside of comments and strings.
bool has_main(std::string_view source);

// The source with the brackets of its launches in one piece; nvcc accepts them in two. "<< <" and "< <<"
// become "<<< ", and ">> >" and "> >>" likewise, so that lines and columns stay. None where all are whole.
std::optional<std::string> with_whole_brackets(std::string_view source);

// The source with what nvcc accepts in asm statements with operands, and clang does not: "%laneid" in the
// template becomes "%%laneid", and a comma is put between operands that have none. Lines stay. None where
// nothing is to do.
std::optional<std::string> with_whole_asm(std::string_view source);

}  // namespace tilescope::program
