// How numbers, ranges and places are said on every panel, so that the same thing is always said the
// same way: 32,768 · 1 sector, 4 sectors · rows 0 and 1 · M[1,19] · thread (3,1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/trace/trace.h"

namespace tilescope {

std::string grouped(uint64_t number);                         // 1,048,576
std::string short_count(uint64_t number);                     // 999,999, then 1.05 M, 2.10 G
std::string counted(uint64_t number, std::string_view noun);  // "1 sector", "4 sectors"
std::string bytes_text(uint64_t bytes);                       // "512 bytes", "16.0 KiB"
std::string short_value(float value);                         // "-9", "2.5", "1.2e+6", "NaN"

// "row 3", "rows 0 and 1", "rows 0 to 3" of the half-open range.
std::string range_words(std::string_view noun, uint32_t first, uint32_t end);
// "M[1,19]"
std::string element_name(const Array& array, uint64_t index);
// "thread (3,1)": x first, as CUDA prints threadIdx.
std::string thread_name(const trace::Meta& meta, uint32_t thread);

}  // namespace tilescope
