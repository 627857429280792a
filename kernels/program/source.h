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

// The source with what nvcc accepts and clang does not: in the templates of asm statements with operands,
// "%laneid" becomes "%%laneid"; a comma is put between operands that have none, and a blank between extern "C"
// and __global__. Lines stay. None where nothing is to do.
std::optional<std::string> as_nvcc_reads_it(std::string_view source);

}  // namespace tilescope::program
