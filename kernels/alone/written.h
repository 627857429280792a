// A launch that took place and was written down: launch.json beside the kernel's PTX, as capture_launch.py makes it
// (docs/capture.md), or a person by hand.
//
//   { "schema": "tilescope.launch/1", "number": 3,
//     "kernel": "softmax_rows", "ptx": "softmax_rows.ptx", "source": "softmax.py",
//     "grid": [64], "block": [128], "cluster": [2], "shared": 16,
//     "arguments": [
//       { "name": "out", "dtype": "float32", "shape": [64, 500], "strides": [500, 1], "result": "out.after" },
//       { "name": "x", "dtype": "float32", "shape": [64, 500], "strides": [512, 1], "offset": 8, "contents": "x.bin" },
//       { "name": "cols", "type": "int32", "value": 500 },
//       { "name": "scratch", "null": true } ] }
//
// Arguments are the kernel's parameters, in their order, and give them their names; the pointers to scratch memory
// with which Triton ends its lists may be left out. An array is the memory that a tensor's elements lie in:
//
//   shape [64,500], strides [512,1]     rows of 512 elements, x[r,c]: the strides are the pitches
//   shape [64,500], strides [1,64]      500 rows of 64, as it lies in memory
//   others that are no rows of rows     one row as long as the strides span
//   offset 8                            elements in front of the first one, from the beginning of the storage. The array
//                                       begins at whole rows before it where addresses would else lie elsewhere in their
//                                       256 bytes
//   storage 1                           tensors of one storage whose bytes overlap are one array
//
// contents, result: files in the same folder, bytes from a tensor's first to its last element as they lie in memory
// before and after the launch. Names of files are names alone, without a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "kernels/alone/description.h"
#include "kernels/run/plan.h"

namespace tilescope::kernels {

inline constexpr const char* kWrittenLaunch = "launch.json";
inline constexpr const char* kWrittenSchema = "tilescope.launch/1";
inline constexpr uint64_t kMostWrittenText = uint64_t{1} << 20;  // bytes of a launch.json

// What the memory of a tensor holds after the launch.
struct WrittenResult {
    size_t argument = 0;  // of the description, whose array it lies in
    uint64_t offset = 0;  // bytes from the array's first byte
    std::vector<std::byte> bytes;
};

struct WrittenLaunch {
    uint64_t number = 0;      // in the program, from 1; 0 where it is not said
    std::string ptx, source;  // names of files beside it; source: "" for none
    Description said;
    std::vector<WrittenResult> results;
};

// The whole of a file beside it, of so many bytes or fewer.
using ReadBeside = std::function<Result<std::string>(const std::string& name, uint64_t most)>;

// Error: a sentence that names the argument and the field.
Result<WrittenLaunch> parse_written(std::string_view json, const ReadBeside& read_beside);

// The Python program that writes launches down: the text of capture_launch.py.
std::string_view capture_recipe();

// What Python runs first so that capture_launch.py tells a running program's library of its tensors.
std::string_view capture_site();

// Number, kernel and nothing else, for a list of launches.
Result<WrittenLaunch> parse_written_head(std::string_view json);

// Grid and block as Triton's cache says them beside its PTX, NAME.json: threads by the number of warps, shared bytes.
// Nothing where the text is no such document.
Description described_by_metadata(std::string_view json);

// Holds what a recording of the whole grid leaves in memory against the results; empty where there are none. Whole
// numbers and bits must be equal. Floats may be off by kUlps units in the last place of the largest magnitude that
// the array holds: kernels of one PTX differ by their approximate functions and by the order of atomics alone.
inline constexpr int kUlps = 8;
Check check_of(const WrittenLaunch& written);

}  // namespace tilescope::kernels
