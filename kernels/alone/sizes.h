// What guesses at launches of a kernel (guess.h) and calls of a host function (kernels/call/guess.h) share:
// single parts, before anything is run, and the order in which they are tried.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/ptx/ast.h"
#include "kernels/alone/description.h"
#include "kernels/run/parameters.h"

namespace tilescope::kernels {

// Which numbers of a thread and a block a kernel reads: how many dimensions it works in.
struct Reads {
    bool thread_y = false, thread_z = false, block_y = false, block_z = false;
    bool y() const { return thread_y || block_y; }
    bool z() const { return thread_z || block_z; }
};
Reads reads_of(const ptx::Kernel& kernel);

// Blocks in the order in which they are worth a try.
std::vector<Dim3> blocks_for(const ptx::Module& module, const ptx::Kernel& kernel, std::string_view source);

// The sizes that are taken where nothing is said, in elements.
struct Sizes {
    uint64_t x = 64, y = 64, z = 16;  // columns, rows, slices
};
// Sizes for a kernel with this many scalars that look like one.
Sizes sizes_for(const Reads& reads, size_t sizes);

// What a name of a whole number stands for.
enum class Meaning : uint8_t { Columns, Rows, Slices, Zero, One, Few, Window };
Meaning meaning_of(std::string_view name);
bool is_size(Meaning meaning);
uint64_t number_for(Meaning meaning, const Sizes& sizes);
// A number guessed by what its name stands for, in its type; one that is no size, such as a bool, is 1.
GivenNumber guessed_number(std::string_view name, ElementType type, const Sizes& sizes);

// One guess at everything that is not said of a launch.
struct LaunchGuess {
    Dim3 block;            // of a kernel
    uint32_t divided = 1;  // number by which sizes are divided
    // Contents of input arrays of integers, which may be indices; of all input arrays where there are none.
    GivenFill contents = GivenFill::Random;
    Sizes of(const Sizes& sizes) const;
};
// In the order in which they are worth a try. sized: sizes are said, and less would hide what goes wrong at
// them. indices: there are input arrays of integers.
std::vector<LaunchGuess> guesses(const std::vector<Dim3>& blocks, bool sized, bool indices);

// Whether a guess has taken as long as a person waits for it.
class Patience {
public:
    bool over() const { return std::chrono::steady_clock::now() - start_ > std::chrono::seconds(20); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The parameter that argument number `place` of those that are said is of: by its name, or by its place.
// Error:
// there is none; `what`, such as "kernel 'add'", has the parameters `names`.
Result<size_t> parameter_of(const std::vector<GivenArgument>& said, size_t place,
                            const std::vector<std::string>& names, const std::string& what);

}  // namespace tilescope::kernels
