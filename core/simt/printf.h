// printf of device code: a format and its packed arguments as text.
//
// An argument lies behind those before it, aligned to its size: int 4 bytes; long, long long, pointers,
// double 8. What a format asks for and is not there is left as written; formats are not trusted.
//
// Source: CUDA C++ Programming Guide, "Formatted Output: Format Specifiers"
// (%[flags][width][.precision][size]type) and "Limitations" (the result is the number of arguments).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tilescope::simt {

struct Printed {
    std::string text;
    int32_t arguments = 0;
};

// The bits of an argument, by its place and size; nothing where it cannot be read.
using ReadArgument = std::function<std::optional<uint64_t>(uint64_t offset, uint64_t bytes)>;
// The string at a generic address.
using ReadText = std::function<std::optional<std::string>(uint64_t address)>;

Printed print_format(std::string_view format, const ReadArgument& argument, const ReadText& text);

}  // namespace tilescope::simt
