#include "core/base/element.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope {
namespace {

struct TypeRow {
    const char* name;
    const char* c_name;
    uint8_t bytes;
};

// In the order of ElementType.
constexpr TypeRow kTypes[] = {
    {"b8", "8 bits", 1},
    {"b16", "16 bits", 2},
    {"b32", "32 bits", 4},
    {"b64", "64 bits", 8},
    {"u8", "unsigned char", 1},
    {"u16", "unsigned short", 2},
    {"u32", "unsigned", 4},
    {"u64", "unsigned long", 8},
    {"s8", "char", 1},
    {"s16", "short", 2},
    {"s32", "int", 4},
    {"s64", "long", 8},
    {"e4m3", "float8 e4m3", 1},
    {"e5m2", "float8 e5m2", 1},
    {"f16", "half", 2},
    {"bf16", "bfloat16", 2},
    {"f32", "float", 4},
    {"f64", "double", 8},
    {"tf32", "float", 4},
    {"b128", "128 bits", 16},
    {"f16x2", "half2", 4},
    {"bf16x2", "bfloat162", 4},
    {"f32x2", "float2", 8},
    {"e4m3x2", "two float8 e4m3", 2},
    {"e5m2x2", "two float8 e5m2", 2},
    {"e3m2x2", "two float6 e3m2", 2},
    {"e2m3x2", "two float6 e2m3", 2},
    {"e2m1x2", "two float4 e2m1", 1},
    {"ue8m0x2", "two exponents", 2},
    {"pred", "predicate", 0},
    {"", "", 0},
};
static_assert(std::size(kTypes) == static_cast<size_t>(ElementType::None) + 1);

const TypeRow& row_of(ElementType type) { return kTypes[static_cast<size_t>(type)]; }

// A float of fewer than 32 bits: sign, exponent, fraction. E4M3 has no infinity, and one NaN for each sign
// (PTX ISA, "Alternate Floating-Point Data Formats").
double small_float(uint64_t bits, int exponent_bits, int fraction_bits, bool has_infinity) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto fraction = static_cast<int>(bits & ((1u << fraction_bits) - 1));
    const auto exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    const bool negative = bits >> (exponent_bits + fraction_bits) & 1;
    const bool highest = exponent == (1 << exponent_bits) - 1;
    double value = 0;
    if (highest && (has_infinity ? fraction != 0 : fraction == (1 << fraction_bits) - 1))
        return std::numeric_limits<double>::quiet_NaN();
    if (highest && has_infinity)
        value = std::numeric_limits<double>::infinity();
    else if (exponent == 0)
        value = std::ldexp(fraction, 1 - bias - fraction_bits);
    else
        value = std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return negative ? -value : value;
}

template <class T>
double whole(uint64_t bits) {
    return static_cast<double>(static_cast<T>(bits));
}

std::string whole_text(Value value) {
    switch (value.type) {
        case ElementType::S8: return std::to_string(static_cast<int8_t>(value.bits));
        case ElementType::S16: return std::to_string(static_cast<int16_t>(value.bits));
        case ElementType::S32: return std::to_string(static_cast<int32_t>(value.bits));
        case ElementType::S64: return std::to_string(static_cast<int64_t>(value.bits));
        case ElementType::B8:
        case ElementType::B16:
        case ElementType::B32:
        case ElementType::B64: return fmt::format("{:#0{}x}", value.bits, 2 + 2 * size_of(value.type));
        default: return std::to_string(value.bits);
    }
}

}  // namespace

uint32_t size_of(ElementType type) { return row_of(type).bytes; }
const char* name_of(ElementType type) { return row_of(type).name; }
const char* c_name_of(ElementType type) { return row_of(type).c_name; }

std::optional<ElementType> element_type_of(std::string_view name) {
    for (size_t i = 0; i <= static_cast<size_t>(kLastElementType); ++i)
        if (name == kTypes[i].name || name == kTypes[i].c_name) return static_cast<ElementType>(i);
    return std::nullopt;
}

bool is_float(ElementType type) {
    return type >= ElementType::E4M3 && type < ElementType::Pred && type != ElementType::B128;
}
bool is_signed(ElementType type) { return type >= ElementType::S8 && type <= ElementType::S64; }
bool is_bits(ElementType type) { return type <= ElementType::B64 || type == ElementType::B128; }

ElementType element_of_pair(ElementType type) {
    switch (type) {
        case ElementType::F16X2: return ElementType::F16;
        case ElementType::BF16X2: return ElementType::BF16;
        case ElementType::F32X2: return ElementType::F32;
        case ElementType::E4M3X2: return ElementType::E4M3;
        case ElementType::E5M2X2: return ElementType::E5M2;
        default: return ElementType::None;
    }
}

ElementType bits_of_size(uint32_t bytes) {
    return bytes == 8   ? ElementType::B64
           : bytes == 4 ? ElementType::B32
           : bytes == 2 ? ElementType::B16
                        : ElementType::B8;
}

ElementType integer_of_size(uint32_t bytes, bool is_signed) {
    const auto first = static_cast<int>(is_signed ? ElementType::S8 : ElementType::U8);
    return static_cast<ElementType>(first + static_cast<int>(bits_of_size(bytes)));
}

Value value_of(float value) { return {ElementType::F32, std::bit_cast<uint32_t>(value)}; }
Value value_of(double value) { return {ElementType::F64, std::bit_cast<uint64_t>(value)}; }

Value value_at(ElementType type, const void* bytes) {
    Value value{type, 0};
    std::memcpy(&value.bits, bytes, size_of(type));
    return value;
}

double number_of(Value value) {
    switch (value.type) {
        case ElementType::S8: return whole<int8_t>(value.bits);
        case ElementType::S16: return whole<int16_t>(value.bits);
        case ElementType::S32: return whole<int32_t>(value.bits);
        case ElementType::S64: return whole<int64_t>(value.bits);
        case ElementType::E4M3: return small_float(value.bits, 4, 3, false);
        case ElementType::E5M2: return small_float(value.bits, 5, 2, true);
        case ElementType::F16: return small_float(value.bits, 5, 10, true);
        case ElementType::BF16: return small_float(value.bits, 8, 7, true);
        case ElementType::F32: return std::bit_cast<float>(static_cast<uint32_t>(value.bits));
        case ElementType::F64: return std::bit_cast<double>(value.bits);
        default: return whole<uint64_t>(value.bits);
    }
}

bool is_nan(Value value) { return is_float(value.type) && std::isnan(number_of(value)); }

std::string value_text(Value value, int digits) {
    if (!is_float(value.type)) return whole_text(value);
    if (is_nan(value)) return "NaN";
    return fmt::format("{:.{}g}", number_of(value), digits);
}

std::string short_value(Value value) {
    std::string text;
    if (!is_float(value.type)) {
        text = whole_text(value);
    } else {
        const double number = number_of(value);
        if (is_nan(value)) return "NaN";
        const bool whole = std::floor(number) == number && std::abs(number) < 1e6;
        text = whole ? std::to_string(static_cast<int>(number)) : fmt::format("{:.3g}", number);
    }
    return with_minus(std::move(text));
}

}  // namespace tilescope
