// Which forms instructions have on half precision, its pairs and smaller floats.
#pragma once

#include "core/ptx/ops.h"

namespace tilescope::ptx {

// F16, BF16, and pairs of these or of F32: types with rules of their own.
bool has_short_rules(Type type);
// What is wrong with the modifiers of an arithmetic instruction on such a type, or null.
const char* fault_of_short(const Operation& made);
// The same of a conversion to or from a type that has .relu, .satfinite, or a pair in it; and of set.
bool converts_short(const Operation& made);
const char* fault_of_short_conversion(const Operation& made);
const char* fault_of_set(const Operation& made);

}  // namespace tilescope::ptx
