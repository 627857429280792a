// A kernel without a main: what is not said of its launch is guessed, so that every thread does something
// sensible and nothing lies outside.
//
//   kernel      the only one, or the first that can be read
//   block       .reqntid, .maxntid; else what the source calls its block or tile, or the size of a shared
//               array; else 16 x 16 where the threads' y is read, 256 in a row elsewhere
//   scalars     by name: sizes are 64, in one dimension 1,024; offsets 0; others small
//   grid        as many blocks as cover the sizes, without those that touch nothing; of blocks that work on tiles, as
//               Triton's do, so many each way that no array is touched beyond the sizes
//   arrays      run with much room, then cut to what was touched
//   contents    small whole numbers; zeros for what is written only; where a thread reaches outside,
//               0, 1, 2, … in arrays of integers, which may be indices, or ones where there are none
//
// Of a launch that was written down (written.h) nothing is guessed, and nothing is tried.
//
// Where a guess ends in a fault the next one is tried: other contents, another block, smaller sizes.
#pragma once

#include <atomic>
#include <string>

#include "core/base/result.h"
#include "kernels/alone/description.h"
#include "kernels/run/plan.h"

namespace tilescope::kernels {

// Instructions of a warp, a second of the interpreter: a kernel whose arguments nobody checked may loop for ever.
inline constexpr uint64_t kMostAlone = uint64_t{1} << 26;

struct Alone {
    std::string ptx, ptx_name;
    std::string source, source_name;  // "" where there is none
};

struct GuessedLaunch {
    Plan plan;
    Description whole;    // the whole launch, as a person could describe it
    std::string problem;  // what still goes wrong in the best launch that was found; "" for nothing
};

// Error: no such kernel, one that cannot be interpreted, a description that does not fit it.
Result<GuessedLaunch> guess_launch(const Alone& alone, const Description& said,
                                   const std::atomic<bool>* stop = nullptr);

// "tilescope record add.ptx --kernel add --grid 4 --block 256 --arg …": the command that repeats a launch.
std::string command_of(const std::string& file, const Description& whole);

}  // namespace tilescope::kernels
