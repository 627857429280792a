// Types: of what lies in memory and of what PTX computes with; and values of them.
//
// The names are PTX's own (PTX ISA, "Fundamental Types" and "Alternate Floating-Point Data Formats"). A B
// type is bits of which nobody says what they mean; they are shown in hexadecimal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilescope {

// clang-format off
enum class ElementType : uint8_t {
    B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, E4M3, E5M2, F16, BF16, F32, F64,
    // Only of instructions and registers. TF32: an F32 of which the upper 19 bits count; X2: two elements in one
    // register, the first in the lower half; UE8M0: an exponent alone; a predicate; no type.
    TF32, B128, F16X2, BF16X2, F32X2, E4M3X2, E5M2X2, E3M2X2, E2M3X2, E2M1X2, UE8M0X2, Pred, None,
};
// clang-format on
inline constexpr ElementType kLastElementType = ElementType::F64;  // of those that lie in memory

constexpr bool lies_in_memory(ElementType type) { return type <= kLastElementType; }
uint32_t size_of(ElementType type);                                 // bytes: 1 to 16; Pred and None: 0
const char* name_of(ElementType type);                              // "f32"; "pred"; "" for None
const char* c_name_of(ElementType type);                            // "float"; "32 bits" for a B type
std::optional<ElementType> element_type_of(std::string_view name);  // by either name; lies in memory
bool is_float(ElementType type);
bool is_signed(ElementType type);  // of integers
bool is_bits(ElementType type);
// How many numbers a register of the type holds: 2 of a pair.
constexpr uint8_t elements_of(ElementType type) {
    return type >= ElementType::F16X2 && type <= ElementType::UE8M0X2 ? 2 : 1;
}
ElementType element_of_pair(
    ElementType type);                     // F16 of F16X2; None of a type that is no pair of those in memory
ElementType bits_of_size(uint32_t bytes);  // B8 to B64; B8 for any other size
ElementType integer_of_size(uint32_t bytes, bool is_signed = false);  // the same of U8 to U64, S8 to S64

// A value of an element: its bits, the first byte in memory lowest.
struct Value {
    ElementType type = ElementType::F32;
    uint64_t bits = 0;
    bool operator==(const Value&) const = default;
};

Value value_of(float value);
Value value_of(double value);
// The first size_of(type) bytes at `bytes`.
Value value_at(ElementType type, const void* bytes);
// As a number: exact for floats and for integers up to 2^53; the bits' own number for a B type.
double number_of(Value value);
bool is_nan(Value value);

// "-9", "2.5", "1.2e+06", "NaN", "0x3f80": whole where that is short, else `digits` significant digits.
std::string value_text(Value value, int digits = 6);
// The same for a small cell of the window, with a true minus: integers and whole floats below a million in full,
// else three digits.
std::string short_value(Value value);

}  // namespace tilescope
