#include "app/draw/words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tilescope {

std::string grouped(uint64_t number) {
    std::string digits = std::to_string(number);
    for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
        digits.insert(static_cast<size_t>(at), ",");
    }
    return digits;
}

std::string short_count(uint64_t number) {
    const auto size = static_cast<double>(number);
    if (number < 1'000'000) return grouped(number);
    return number < 1'000'000'000 ? fmt::format("{:.2f} M", size / 1e6) : fmt::format("{:.2f} G", size / 1e9);
}

std::string counted(uint64_t number, std::string_view noun) {
    return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string bytes_text(uint64_t bytes) {
    constexpr double kKi = 1024.0;
    const double size = static_cast<double>(bytes);
    if (bytes < 10'000) return counted(bytes, "byte");
    if (size < kKi * kKi) return fmt::format("{:.1f} KiB", size / kKi);
    if (size < kKi * kKi * kKi) return fmt::format("{:.1f} MiB", size / kKi / kKi);
    return fmt::format("{:.1f} GiB", size / kKi / kKi / kKi);
}

std::string short_value(float value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (std::floor(value) == value && std::abs(value) < 1e6f) {
        return fmt::format("{}", static_cast<int>(value));
    }
    return fmt::format("{:.3g}", value);
}

std::string range_words(std::string_view noun, uint32_t first, uint32_t end) {
    if (end <= first + 1) return fmt::format("{} {}", noun, first);
    if (end == first + 2) return fmt::format("{}s {} and {}", noun, first, first + 1);
    return fmt::format("{}s {} to {}", noun, first, end - 1);
}

std::string element_name(const Array& array, uint64_t index) {
    const uint64_t cols = std::max<uint64_t>(array.cols, 1);
    return fmt::format("{}[{},{}]", array.name, index / cols, index % cols);
}

std::string thread_name(const trace::Meta& meta, uint32_t thread) {
    const uint32_t width = std::max(meta.block.x, 1u), height = std::max(meta.block.y, 1u);
    return fmt::format("thread ({},{})", thread % width, thread / width % height);
}

}  // namespace tilescope
