// The operations that compiled kernels make without calling the interpreter's functions.
#pragma once

#include <string>

#include "core/ptx/ast.h"

namespace tilescope::compiled {

// The name of what an operation is called in prelude.h, without u_ or v_; empty where it is not there.
std::string native_name(const ptx::Operation& does);
bool has_scalar(const ptx::Operation& does);  // u_NAME is there, too
// Of fp32: whether the operands may be, and the result may be, any NaN and not only the one that is seen.
bool takes_any_nan(const ptx::Operation& does);
bool makes_any_nan(const ptx::Operation& does);

}  // namespace tilescope::compiled
