// How a person describes the launch of a kernel that has no main; what is not said is guessed (guess.h).
//
//   --kernel NAME --grid X,Y,Z --block X,Y,Z --cluster X,Y,Z --shared BYTES --arg NAME=VALUE ...
//   --call 'NAME(NAME=VALUE, VALUE, ...)'      values without a name are the parameters in their order
//   // tilescope: --grid 4 --arg n=1000        the same options, in a comment of the source
//
//   VALUE   512   -1.5   0x1F              a number, in the parameter's type
//           float[512,512]                 an array of rows of columns; contents as guessed
//           float[512,512]:random          zeros, random, iota (0, 1, 2, …), ones, or a number
//           bytes:00ff12                   a struct, as it lies in memory
//           null                           a pointer to nothing
//           tensor(half[128,64], box=64x64, swizzle=128B)    a tensor map of an array of its own; with a name in place of
//                                          the array, of that argument's
//
// The elements are C++'s types, CUDA's vectors of them (float4: four floats), and PTX's (f32).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/element.h"
#include "core/base/launch.h"
#include "core/base/result.h"

namespace tilescope::kernels {

// A number as it was written: whole ones keep all their 64 bits.
struct GivenNumber {
    double value = 0;
    std::optional<uint64_t> whole;  // the bits of a whole number, negative ones as two's complement
    bool operator==(const GivenNumber&) const = default;
};
// "512", "-9", "0x1F", "2.5f", "1e-3", "true"; nothing for other text.
std::optional<GivenNumber> parse_given_number(std::string_view text);
uint64_t bits_in(ElementType type, const GivenNumber& number);

enum class GivenFill : uint8_t { Guessed, Zeros, Random, Iota, Ones, Number, Stored };
struct GivenContents {
    GivenFill kind = GivenFill::Guessed;
    GivenNumber number;
    std::shared_ptr<const std::vector<std::byte>> bytes{};  // Stored: as many as the array has; not in words
    bool operator==(const GivenContents&) const = default;
};
// ":random"; "" for guessed ones.
std::string contents_text(const GivenContents& contents);

// The most elements of an array: what lies beyond is a typing error, and would not fit a memory.
inline constexpr uint64_t kMostArrayElements = uint64_t{1} << 31;

enum class GivenKind : uint8_t { Number, Array, Object, Null, Tensor };
struct GivenArgument {
    GivenKind kind = GivenKind::Number;
    std::string name;               // "" where its place says which parameter it is
    GivenNumber number;             // Number
    ElementType type{};             // Array; of a launch that was written down, Number too
    std::vector<uint64_t> extents;  // Array, outermost first, 1 to 3 of them
    GivenContents contents;         // Array
    std::vector<std::byte> object;  // Object
    // Tensor: its array, as of an Array, or the name of the argument that is; what a copy moves, outermost first; the
    // swizzle by its name; what lies outside is NaN, not zero.
    std::string tensor_of;
    std::vector<uint64_t> box;
    std::string swizzle;
    bool fills_with_nan = false;
    // Of a launch that was written down (written.h). Array:
    uint64_t offset = 0;       // bytes from the array's first byte
    int32_t shares = -1;       // the argument whose array it leads into; -1: its own
    bool known_shape = false;  // the extents are those of a tensor, also where there is one
    bool operator==(const GivenArgument&) const = default;
};
// "n=512", or a value alone.
Result<GivenArgument> parse_argument(std::string_view text);
// A value as it would be given again: "float[512,512]:random".
std::string value_text(const GivenArgument& argument);

// Type and extents of an argument that is an array; without contents, name and role.
Array array_of(const GivenArgument& argument);
// stream: tells the arrays of a launch apart and is the same each time, as the place among the parameters;
// guessed contents are random ones.
void put_contents(Array& array, const GivenContents& contents, uint32_t stream);

struct Description {
    std::string kernel;  // as people call it, or its name in the PTX; "" for a guess
    std::optional<Dim3> grid, block, cluster;
    std::optional<uint32_t> shared;  // dynamic bytes a block
    std::vector<GivenArgument> arguments;
    // It took place: the arguments are the parameters, in their order and with their names, and nothing is guessed.
    bool written = false;
    bool operator==(const Description&) const = default;
};

// "4", "4,2", "16x16", "4,2,1".
std::optional<Dim3> parse_size(std::string_view text);

// "solve(A=float[1024], N=1024)" into kernel and arguments.
Result<void> add_call(Description& description, std::string_view text);

// The words of a comment or of a command: "--grid", "4,2". Takes --kernel, --grid, --block, --cluster, --shared, --arg,
// --call, each with its value behind it or behind a '='. An argument that is there by that name is replaced.
Result<void> add_options(Description& description, const std::vector<std::string>& words);

// Words as a shell splits them: blanks, '…', "…" and \.
Result<std::vector<std::string>> words_of(std::string_view text);
// A word as a shell takes it: in quotes where it needs them.
std::string shell_word(std::string_view word);

// What the comments `// tilescope: ...` of a source or a PTX text say of the launch of `kernel`; of the first
// kernel that they name, where that is "". Lines that name none are of every kernel.
Result<Description> described_in(std::string_view source, const std::string& kernel);
bool has_description(std::string_view source);

// What was said on top of what a comment says.
Description joined(Description comment, const Description& said);

}  // namespace tilescope::kernels
