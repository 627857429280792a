#include "core/base/words.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include <fmt/format.h>

#include "core/base/text.h"

namespace tilescope {

std::string grouped(uint64_t number, std::string_view separator) {
    std::string digits = std::to_string(number);
    for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<size_t>(at), separator);
    return digits;
}

std::string short_count(uint64_t number) {
    if (number < 1'000'000) return grouped(number);
    const bool giga = number >= 999'500'000;
    const double size = static_cast<double>(number) / (giga ? 1e9 : 1e6);
    return (size < 99.95 ? fmt::format("{:#.3g}", size) : fmt::format("{:.0f}", size)) + (giga ? " G" : " M");
}

std::string counted(uint64_t number, std::string_view noun, std::string_view separator) {
    return fmt::format("{} {}{}", grouped(number, separator), noun, number == 1 ? "" : "s");
}

std::string ordinal(uint64_t number) {
    constexpr std::string_view kEndings[] = {"th", "st", "nd", "rd"};
    const bool teens = number / 10 % 10 == 1;
    return fmt::format("{}{}", number, kEndings[teens || number % 10 > 3 ? 0 : number % 10]);
}

std::string times_in_words(uint64_t times) { return times == 1 ? "once" : grouped(times) + " times"; }

std::string bytes_text(uint64_t bytes) {
    if (bytes < 1000) return counted(bytes, "byte");
    constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double size = static_cast<double>(bytes) / 1000;
    size_t unit = 0;
    // As it is written, 1000 is 1.00 of the next unit.
    while (size >= 999.5) size /= 1000, ++unit;
    return fmt::format("{} {}", ratio_text(size), kUnits[unit]);
}

std::string capacity_text(uint64_t bytes) {
    if (bytes < 1024) return counted(bytes, "byte");
    constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    while (size >= 1023.5) size /= 1024, ++unit;
    return fmt::format("{:.{}g} {}", size, size < 999.5 ? 3 : 4, kUnits[unit]);
}

std::string with_minus(std::string text) {
    for (size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 1)) {
        const bool begins = at == 0 || text[at - 1] == ' ';
        if (begins && at + 1 < text.size() &&
            (std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0 ||
             text.compare(at + 1, 3, "inf") == 0))
            text.replace(at, 1, kMinus);
    }
    return text;
}

std::string as_typed(std::string text) {
    for (size_t at = text.find(kMinus); at != std::string::npos; at = text.find(kMinus, at))
        text.replace(at, kMinus.size(), "-");
    return text;
}

std::string share_text(double share) {
    if (!std::isfinite(share)) return "-";
    const double of = share * 100;
    if (share == 1 || share <= 0) return share == 1 ? "100 %" : "0 %";
    // A figure of "100 %" or "0 %" would be a lie.
    if (of > 99.9 && of < 100) return ">99.9 %";
    if (of < 0.01) return "<0.01 %";
    return (of < 999.5 ? fmt::format("{:.3g}", of) : grouped(static_cast<uint64_t>(std::llround(of)))) + " %";
}

std::string ratio_text(double ratio) {
    if (ratio < 9.995) return fmt::format("{:.2f}", ratio);
    if (ratio < 99.95) return fmt::format("{:.1f}", ratio);
    return grouped(static_cast<uint64_t>(std::llround(ratio)));
}

std::string times_fewer(double a, double b) {
    if (!(a > 0 && b > 0)) return "";
    const double times = std::max(a, b) / std::min(a, b);
    // Whole factors are exact: "16 × fewer".
    const std::string text =
        times == std::floor(times) ? grouped(static_cast<uint64_t>(times)) : ratio_text(times);
    if (text == "1" || text == "1.00") return "same";
    return fmt::format("{} × {}", text, b < a ? "fewer" : "more");
}

std::string listed(const std::vector<std::string>& parts, size_t most, std::string_view last) {
    std::string text;
    for (size_t at = 0; at < std::min(parts.size(), most); ++at) {
        if (at > 0) text += at + 1 == parts.size() ? fmt::format(" {} ", last) : ", ";
        text += parts[at];
    }
    return parts.size() > most ? text + fmt::format(" and {} more", parts.size() - most) : text;
}

std::string lanes_named(uint32_t mask) {
    std::vector<std::string> parts;
    for (uint32_t rest = mask; rest != 0;) {
        const int first = std::countr_zero(rest), length = std::countr_one(rest >> first);
        if (length == 2) parts.push_back(std::to_string(first));
        parts.push_back(length < 3 ? std::to_string(first + length - 1)
                                   : fmt::format("{} to {}", first, first + length - 1));
        rest &= first + length == kWarpSize ? 0 : ~uint32_t{0} << (first + length);
    }
    return (std::popcount(mask) == 1 ? "lane " : "lanes ") + listed(parts);
}

std::string range_words(std::string_view noun, uint64_t first, uint64_t end) {
    if (end <= first + 1) return fmt::format("{} {}", noun, first);
    if (end == first + 2) return fmt::format("{}s {} and {}", noun, first, first + 1);
    return fmt::format("{}s {} to {}", noun, first, end - 1);
}

std::string name_in(const Notation& notation, const Array& array) {
    for (const auto& [name, other] : notation.renamed)
        if (name == array.name) return other;
    return one_line(array.name, kLongestName);
}

namespace {

// Outermost index first, or the innermost.
template <class Index>
std::string indices(Index outer, Index middle, Index inner, int rank, bool innermost_first) {
    if (rank <= 1) return fmt::format("[{}]", inner);
    if (innermost_first)
        return rank == 2 ? fmt::format("[{},{}]", inner, middle)
                         : fmt::format("[{},{},{}]", inner, middle, outer);
    return rank == 2 ? fmt::format("[{},{}]", middle, inner)
                     : fmt::format("[{},{},{}]", outer, middle, inner);
}

// "[3]" of a row of structs, "[2,3]" of rows of them; "" of a variable that is one struct.
template <class Index>
std::string struct_indices(const Array& array, Index row, Index col, const Notation& notation) {
    if (!array.symbol.empty() && array.bytes() == array.members.of->bytes) return "";
    return indices(Index{}, row, col, array.rank > 2 ? 2 : 1, notation.x_first);
}

// "3", "0..15"
std::string range_text(int64_t first, int64_t last) {
    return first == last ? std::to_string(first) : fmt::format("{}..{}", first, last);
}

std::string name_of_struct_element(const Array& array, int64_t element, const Notation& notation) {
    const auto [index, offset] = struct_place(array, element);
    const Position at = array.rank > 2 ? position_of(array, element) : Position{0, 0, index};
    const std::string where = array.rank > 2 ? struct_indices(array, at.slice, at.row, notation)
                                             : struct_indices(array, int64_t{0}, at.col, notation);
    const std::string member = member_name(*array.members.of, offset);
    return where + (member.front() == '+' ? "" : ".") + member;
}

// Whole structs, but where the box has one member alone.
std::string structs_in(const Array& array, const ElementBox& box, const Notation& notation) {
    const auto element = [&](const Position& at) {
        return (at.slice * array.rows + at.row) * array.cols + at.col;
    };
    const StructPlace first = struct_place(array, element(box.first)),
                      last = struct_place(array, element(box.last));
    const bool flat = array.rank < 2;
    std::string text =
        array.rank > 2 ? struct_indices(array, range_text(box.first.slice, box.last.slice),
                                        range_text(box.first.row, box.last.row), notation)
                       : struct_indices(array, std::string(), range_text(first.index, last.index), notation);
    const Member* const member = member_at(*array.members.of, first.offset);
    if (member && member == member_at(*array.members.of, last.offset) && (!flat || first.index == last.index))
        text += "." + member->name;
    return text;
}

}  // namespace

std::string index_text(const Array& array, int64_t element, const Notation& notation) {
    return has_structs(array) ? name_of_struct_element(array, element, notation)
                              : position_text(array, element, notation);
}

std::string position_text(const Array& array, int64_t element, const Notation& notation) {
    const Position at = position_of(array, element);
    return indices(at.slice, at.row, at.col, array.cols == 0 ? 1 : array.rank, notation.x_first);
}

std::string element_name(const Array& array, int64_t element, const Notation& notation) {
    return name_in(notation, array) + index_text(array, element, notation);
}

std::string elements_text(const Array& array, const ElementBox& box, const Notation& notation) {
    if (has_structs(array)) return name_in(notation, array) + structs_in(array, box, notation);
    return name_in(notation, array) + indices(range_text(box.first.slice, box.last.slice),
                                              range_text(box.first.row, box.last.row),
                                              range_text(box.first.col, box.last.col),
                                              array.cols == 0 ? 1 : array.rank, notation.x_first);
}

std::string extents_text(const Array& array, std::string_view times) {
    if (array.rank < 2) return std::to_string(array.cols);
    const std::string plane = fmt::format("{} {} {}", array.rows, times, array.cols);
    return array.rank == 2 ? plane : fmt::format("{} {} {}", array.slices, times, plane);
}

std::string array_text(const Array& array) {
    if (!has_structs(array)) return fmt::format("{}[{}]", c_name_of(array.type), extents_text(array));
    const std::string name = one_line(array.members.of->name, kLongestName);
    const uint64_t count = array.bytes() / array.members.of->bytes;
    return array.rank > 2 ? fmt::format("{}[{} × {}]", name, array.slices, array.rows)
                          : fmt::format("{}[{}]", name, count);
}

std::string thread_index(const Dim3& block, uint64_t thread, const Notation& notation) {
    const uint64_t width = std::max(block.x, 1u), height = std::max(block.y, 1u);
    const int rank = block.z > 1 ? 3 : block.y > 1 ? 2 : 1;
    return indices(thread / width / height, thread / width % height, thread % width, rank, notation.x_first);
}

std::string thread_name(const Dim3& block, uint64_t thread, const Notation& notation) {
    return "thread" + thread_index(block, thread, notation);
}

std::string block_index(const Dim3& grid, const Dim3& block, const Notation& notation) {
    const int rank = grid.z > 1 ? 3 : grid.y > 1 ? 2 : 1;
    const std::string in_brackets = indices(block.z, block.y, block.x, rank, notation.x_first);
    return "(" + in_brackets.substr(1, in_brackets.size() - 2) + ")";
}

std::string block_name(const Dim3& grid, const Dim3& block, const Notation& notation) {
    return "block" + block_index(grid, block, notation);
}

std::string phase_name(uint64_t phase, const Notation& notation) {
    return fmt::format("phase {}", phase + (notation.phases_from_1 ? 1 : 0));
}

std::string size_text(const Dim3& size) {
    return size.z == 1 ? fmt::format("{} × {}", size.x, size.y)
                       : fmt::format("{} × {} × {}", size.x, size.y, size.z);
}

std::string shared_name(const std::vector<Array>& arrays, uint64_t offset, uint32_t bytes,
                        std::string_view noun, const Notation& notation) {
    for (const Array& array : arrays) {
        if (array.space != Space::Shared || offset < array.base || offset - array.base >= array.bytes())
            continue;
        if (array.element_bytes() != bytes || (offset - array.base) % bytes != 0) continue;
        return array.elements() == 1 && !array.name.empty()
                   ? name_in(notation, array)
                   : element_name(array, static_cast<int64_t>((offset - array.base) / bytes), notation);
    }
    return fmt::format("the {} at byte {} of shared memory", noun, offset);
}

}  // namespace tilescope
