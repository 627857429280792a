// What a compiler or linker says of a program that uses what Tilescope's runtime lacks, as a sentence.
#pragma once

#include <string>
#include <string_view>

namespace tilescope::program {

// Looks for names of NVIDIA's interfaces among what is undeclared, undefined or not found in `said`. "the
// program calls cublasCreate_v2, which Tilescope's runtime does not have"; "" for other errors.
std::string missing_call(std::string_view said);

}  // namespace tilescope::program
