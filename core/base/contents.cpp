#include "core/base/contents.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/parallel.h"

namespace tilescope {
namespace {

// A float of fewer than 32 bits, rounded to the nearest, ties to even. In units of its last place a number is
// its fraction with the leading 1, so that the exponent is counted on from one less; a carry runs into it.
uint64_t small_float_bits(double value, int exponent_bits, int fraction_bits, bool has_infinity) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint64_t sign = std::signbit(value) ? uint64_t{1} << (exponent_bits + fraction_bits) : 0;
    const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << fraction_bits;
    const uint64_t nan = infinity | ((uint64_t{1} << fraction_bits) - 1);
    if (std::isnan(value)) return nan;
    const double size = std::abs(value);
    if (size == 0) return sign;
    if (std::isinf(size)) return sign | (has_infinity ? infinity : nan);
    const int exponent = std::max(std::ilogb(size), 1 - bias);
    if (exponent > bias + 1) return sign | (has_infinity ? infinity : nan);
    const auto places = static_cast<uint64_t>(std::nearbyint(std::ldexp(size, fraction_bits - exponent)));
    const uint64_t bits = places + (static_cast<uint64_t>(exponent + bias - 1) << fraction_bits);
    return sign | std::min(bits, has_infinity ? infinity : nan);
}

// Small integers into elements of `Size` bytes. They are few: the bits of each are worked out once.
template <size_t Size>
void fill_small_integers(const Array& array, std::byte* bytes) {
    uint64_t bits[19] = {};  // of -9 to 9
    for (int value = -9; value <= 9; ++value)
        if (value != 0) bits[value + 9] = bits_of(array.type, value);
    const auto [seed, stream] = std::pair(array.contents.seed, array.contents.stream);
    const uint64_t count = array.elements();
    constexpr uint64_t kPiece = 1 << 20;  // elements: worth a thread
    for_each_index((count + kPiece - 1) / kPiece, 0, [&](uint64_t piece) {
        for (uint64_t i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); ++i)
            std::memcpy(bytes + i * Size, &bits[small_integer(seed, stream, i) + 9], Size);
    });
}

}  // namespace

uint64_t bits_of(ElementType type, double value) {
    switch (type) {
        case ElementType::F64: return value_of(value).bits;
        case ElementType::F32: return value_of(static_cast<float>(value)).bits;
        case ElementType::BF16: return small_float_bits(value, 8, 7, true);
        case ElementType::F16: return small_float_bits(value, 5, 10, true);
        case ElementType::E5M2: return small_float_bits(value, 5, 2, true);
        case ElementType::E4M3: return small_float_bits(value, 4, 3, false);
        default: break;
    }
    if (std::isnan(value)) return 0;
    // Beyond the range of 64 bits a conversion would be undefined.
    if (value >= 0x1p64) return UINT64_MAX;
    if (value >= 0) return static_cast<uint64_t>(value);
    return static_cast<uint64_t>(value <= -0x1p63 ? INT64_MIN : static_cast<int64_t>(value));
}

int small_integer(uint64_t seed, uint32_t stream, uint64_t index) {
    // splitmix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
    uint64_t bits = seed * 0xD1B5'4A32'D192'ED03u + uint64_t{stream} * 0xAEF1'7502'108E'F2D9u +
                    (index + 1) * 0x9E37'79B9'7F4A'7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58'476D'1CE4'E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D0'49BB'1331'11EBu;
    bits ^= bits >> 31;
    const int value = static_cast<int>((bits >> 32) * 18 >> 32);  // 0..17
    return value < 9 ? value - 9 : value - 8;
}

void fill(const Array& array, std::byte* bytes) {
    const Contents& contents = array.contents;
    if (contents.kind == Contents::Kind::Zeros) return void(std::memset(bytes, 0, array.bytes()));
    if (contents.kind == Contents::Kind::Stored) {
        const uint64_t stored =
            contents.bytes ? std::min<uint64_t>(contents.bytes->size(), array.bytes()) : 0;
        if (stored > 0) std::memcpy(bytes, contents.bytes->data(), stored);
        std::memset(bytes + stored, 0, array.bytes() - stored);
        return;
    }
    switch (array.element_bytes()) {
        case 1: return fill_small_integers<1>(array, bytes);
        case 2: return fill_small_integers<2>(array, bytes);
        case 4: return fill_small_integers<4>(array, bytes);
        default: return fill_small_integers<8>(array, bytes);
    }
}

Value initial_value(const Array& array, uint64_t element) {
    const Contents& contents = array.contents;
    const uint64_t at = element * array.element_bytes();
    switch (contents.kind) {
        case Contents::Kind::SmallIntegers: {
            const uint64_t bits = bits_of(array.type, small_integer(contents.seed, contents.stream, element));
            return value_at(type_at(array, element, array.element_bytes()), &bits);
        }
        case Contents::Kind::Stored:
            if (contents.bytes && at + array.element_bytes() <= contents.bytes->size())
                return value_at(type_at(array, element, contents.bytes->size() - at),
                                contents.bytes->data() + at);
            break;
        case Contents::Kind::Zeros: break;
    }
    return {type_at(array, element, array.bytes() - at), 0};
}

}  // namespace tilescope
