// Guesses about single parts of a launch, before anything is run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/ptx/ast.h"
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

// The elements of each size that is not said.
struct Sizes {
    uint64_t x = 64, y = 64, z = 16;  // columns, rows, slices
};
// Of this many scalars that look like a size.
Sizes sizes_for(const Reads& reads, size_t sizes);

// What a name of a whole number stands for.
enum class Meaning : uint8_t { Columns, Rows, Slices, Zero, One, Few, Window };
Meaning meaning_of(std::string_view name);
bool is_size(Meaning meaning);
uint64_t number_for(Meaning meaning, const Sizes& sizes);
// Of a floating-point number.
double real_for(std::string_view name);

}  // namespace tilescope::kernels
