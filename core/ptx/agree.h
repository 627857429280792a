// Which registers and constants an operand of a type may be.
//
// Source: PTX ISA, "Operand Type Checking"; "Operand Size Exceeding Instruction-Type Size" (the
// relaxed rules of ld, st and cvt).
#pragma once

#include "core/ptx/ast.h"

namespace tilescope::ptx {

// Same size, and untyped bits or the same kind of number on both sides.
bool agrees(Type wanted, Type given);

// ld, st, cvt: an integer may sit in a wider register.
bool agrees_relaxed(Type wanted, Type given);

// Constants are of F32 or F64 with all their bits, or integers, which are cut to size.
bool immediate_fits(Type wanted, Type given);

}  // namespace tilescope::ptx
