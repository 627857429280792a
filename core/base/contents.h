// What a global array holds before a launch, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/launch.h"

namespace tilescope {

// Small whole numbers, -9..9 without 0, a pure function of (seed, stream, index): sums of their products are
// exact in fp32, cells are short to read, and any part can be made again anywhere.
int small_integer(uint64_t seed, uint32_t stream, uint64_t index);

// The bits of a number in an element's type: floats rounded to the nearest, whole numbers cut off, of which
// the lowest size_of(type) bytes count.
uint64_t bits_of(ElementType type, double value);

// Writes the contents of a global array, array.bytes() of them.
void fill(const Array& array, std::byte* bytes);

// The value of one element before the launch, or of the whole member of a struct that begins with it.
// element < array.elements().
Value initial_value(const Array& array, uint64_t element);

}  // namespace tilescope
