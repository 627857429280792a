// How numbers, elements, threads and launches are said everywhere, so that the same thing is always said the
// same way: 32,768 · 1 sector, 4 sectors · rows 0 and 1 · M[1,19] · thread[1,3].
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/launch.h"

namespace tilescope {

// How a reader wants indices, matrices and phases written. Threads are thread[y,x], blocks block(y,x) and
// elements M[row,col], unless x is to come first.
struct Notation {
    bool x_first = false;  // thread[x,y], block(x,y), M[col,row]
    bool phases_from_1 = false;
    std::vector<std::pair<std::string, std::string>> renamed;  // array's name -> "A"
    bool operator==(const Notation&) const = default;
};

inline constexpr std::string_view kComma = ",", kThinSpace = "\xE2\x80\x89";
// The minus of what the window writes; reports and files keep to ASCII. as_typed: a number with "-" for it.
inline constexpr std::string_view kMinus = "\xE2\x88\x92";
std::string with_minus(
    std::string text);  // for the "-" before each number that stands at its begin or behind a space
std::string as_typed(std::string text);

std::string grouped(uint64_t number, std::string_view separator = kComma);  // 1,048,576
std::string short_count(uint64_t number);  // 999,999, then 1.05 M, 12.3 M: seven characters at most
// "1 sector", "4 sectors"
std::string counted(uint64_t number, std::string_view noun, std::string_view separator = kComma);
std::string ordinal(uint64_t number);        // "1st", "22nd", "113th"
std::string times_in_words(uint64_t times);  // "once", "16 times"
// Bytes that are moved or stored, by powers of 1000 as bandwidths are, so that "131 kB" at "4.80 GB/s" can be
// divided in the head: "640 bytes", "2.05 kB", "131 kB", "8.59 GB". Three digits at most.
std::string bytes_text(uint64_t bytes);
std::string bytes_text(std::floating_point auto bytes) {  // of a model
    return bytes_text(static_cast<uint64_t>(std::llround(bytes)));
}
// What shared memory, a cache or a register file can hold, by powers of 1024 as CUDA's documentation counts it:
// "640 bytes", "48 KiB", "227 KiB", "50 MiB". Nothing else is written so.
std::string capacity_text(uint64_t bytes);
// Three digits at most: "87.5 %", "0.668 %", "100 %"; ">99.9 %" and "<0.01 %" of what is not all, or not
// nothing. A share of a bound may be more than all: "112 %".
std::string share_text(double share);
// How many times, in three digits: "1.47", "12.2", "134", "1,040".
std::string ratio_text(double ratio);
// What `b` is beside `a`: "14.1 × fewer", "2.25 × more", "same" where that is what three digits say; "" where
// either is 0.
std::string times_fewer(double a, double b);
// "a", "a and b", "a, b and c", or "a, b or c"; of more than `most` the first ones, "a, b and 5 more".
std::string listed(const std::vector<std::string>& parts, size_t most = SIZE_MAX,
                   std::string_view last = "and");
// "row 3", "rows 0 and 1", "rows 0 to 3" of the half-open range.
std::string range_words(std::string_view noun, uint64_t first, uint64_t end);

// "lane 3", "lanes 0 to 31", "lanes 1 to 3, 7 and 9" of a mask.
std::string lanes_named(uint32_t mask);

// The array's name in a notation, on one line and not longer than about kLongestName.
inline constexpr size_t kLongestName = 128;  // bytes
std::string name_in(const Notation& notation, const Array& array);
// Indices as they are written: "[1,19]"; "[5]" of a one-dimensional array, "[0,1,2]" of slices; "[1].x" where
// elements are members of structs, ".x" of a variable that is one struct.
std::string index_text(const Array& array, int64_t element, const Notation& notation = {});
// The same, of rows and columns alone: "[1,0]" where that is "[1].x".
std::string position_text(const Array& array, int64_t element, const Notation& notation = {});
std::string element_name(const Array& array, int64_t element, const Notation& notation = {});  // "M[1,19]"
// "full[0]": what lies at a byte of shared memory and has so many bytes; where that is no element of an array,
// "the mbarrier at byte 1024 of shared memory" for a noun of "mbarrier".
std::string shared_name(const std::vector<Array>& arrays, uint64_t offset, uint32_t bytes,
                        std::string_view noun, const Notation& notation = {});
std::string elements_text(const Array& array, const ElementBox& box,
                          const Notation& notation = {});                    // "M[3,0..15]"
std::string extents_text(const Array& array, std::string_view times = "×");  // "64 × 64", "1024", "4 × 8 × 8"
std::string array_text(const Array& array);  // what it is an array of, "float[64 × 64]", "P[32]" of structs
// A thread by its linear number in a block: "thread[1,3]", "thread[0,1,3]"; "thread[3]" of one row.
std::string thread_name(const Dim3& block, uint64_t thread, const Notation& notation = {});
std::string thread_index(const Dim3& block, uint64_t thread, const Notation& notation = {});  // "[1,3]"
// A block by its blockIdx: "block(2,1)" is blockIdx.y 2 and blockIdx.x 1, "block(0,2,1)" of a grid with depth,
// "block(3)" of a grid of one row; with x first "block(1,2)".
std::string block_name(const Dim3& grid, const Dim3& block, const Notation& notation = {});
std::string block_index(const Dim3& grid, const Dim3& block, const Notation& notation = {});  // "(2,1)"
// "phase 0"; "phase 1" where they are counted from 1.
std::string phase_name(uint64_t phase, const Notation& notation = {});
std::string size_text(const Dim3& size);  // "4 × 4", "4 × 4 × 2"

}  // namespace tilescope
