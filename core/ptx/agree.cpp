#include "core/ptx/agree.h"

namespace tilescope::ptx {

bool agrees(Type wanted, Type given) {
    if (wanted == Type::Pred || given == Type::Pred) return wanted == given;
    if (size_of(wanted) != size_of(given)) return false;
    return is_bits(wanted) || is_bits(given) || is_float(wanted) == is_float(given);
}

bool agrees_relaxed(Type wanted, Type given) {
    if (agrees(wanted, given)) return true;
    if (is_float(wanted) || is_float(given) || given == Type::Pred) return false;
    return size_of(given) > size_of(wanted);
}

bool immediate_fits(Type wanted, Type given) {
    if (given == Type::F32 || given == Type::F64)
        return size_of(wanted) == size_of(given) && (is_bits(wanted) || is_float(wanted));
    return !is_float(wanted) && wanted != Type::Pred;
}

}  // namespace tilescope::ptx
