// Float arithmetic rounded toward zero (.rz), minus (.rm) or plus infinity (.rp), by the processor's
// own rounding modes. Rare in kernels, so lane by lane: every operand passes through a volatile, which
// keeps the compiler from moving the operation past the change of mode.
#include <cfenv>

#include "core/simt/lanes_includes.h"

#define TILESCOPE_LANES directed
// clang-format off
#include "core/simt/lanes_column.inl"
#include "core/simt/lanes_integer.inl"
#include "core/simt/lanes_float.inl"
// clang-format on

namespace tilescope::simt::directed {

template <Round R>
inline constexpr int kMode = R == Round::Rz   ? FE_TOWARDZERO
                             : R == Round::Rm ? FE_DOWNWARD
                                              : FE_UPWARD;

// The operation with the mode set, for one lane.
template <class F, class T, int Operands>
T operate(T a, T b, T c) {
    volatile T x = a, y = b, z = c;
    volatile T r;
    if constexpr (Operands == 1) r = F::op(T{x});
    if constexpr (Operands == 2) r = F::op(T{x}, T{y});
    if constexpr (Operands == 3) r = F::op(T{x}, T{y}, T{z});
    return r;
}

template <class F, class T, int Operands, Round R, bool Ftz, bool Sat>
void arithmetic(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte* c,
                uint32_t mask) {
    T result[kWarpSize] = {};
    std::fesetround(kMode<R>);
    for (int i = 0; i < kWarpSize; ++i) {
        if (!(mask >> i & 1)) continue;
        T x = from_slot<T>(slots<T>(a)[i]), y = x, z = x;
        if constexpr (Operands > 1) y = from_slot<T>(slots<T>(b)[i]);
        if constexpr (Operands > 2) z = from_slot<T>(slots<T>(c)[i]);
        if constexpr (sizeof(T) == 4) {
            result[i] = finished<Ftz, Sat>(
                operate<F, T, Operands>(flushed<Ftz>(x), flushed<Ftz>(y), flushed<Ftz>(z)));
        } else {
            result[i] = canonical(operate<F, T, Operands>(x, y, z), x, y, z);
        }
    }
    std::fesetround(FE_TONEAREST);
    for (int i = 0; i < kWarpSize; ++i)
        if (mask >> i & 1) slots<T>(d)[i] = to_slot<T>(result[i]);
}

template <class D, class A, Round R, bool Ftz = false, bool Sat = false>
void convert(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*,
             uint32_t mask) {
    D result[kWarpSize] = {};
    std::fesetround(kMode<R>);
    for (int i = 0; i < kWarpSize; ++i) {
        volatile A x = from_slot<A>(slots<A>(a)[i]);
        volatile D r = static_cast<D>(x);
        result[i] = r;
    }
    std::fesetround(FE_TONEAREST);
    for (int i = 0; i < kWarpSize; ++i) {
        if (!(mask >> i & 1)) continue;
        if constexpr (sizeof(D) == 4) result[i] = finished<Ftz, Sat>(result[i]);
        slots<D>(d)[i] = to_slot<D>(result[i]);
    }
}

template <class F, int Operands, Round R>
LaneOp arithmetic_op(const Operation& i) {
    if (i.type == Type::F64)
        return i.ftz || i.sat ? LaneOp{} : same(arithmetic<F, double, Operands, R, false, false>);
    return with_flags(i.ftz, i.sat,
                      [](auto ftz, auto sat) { return same(arithmetic<F, float, Operands, R, ftz, sat>); });
}

template <class D, Round R>
LaneOp convert_op(const Operation& i) {
    const bool narrows = sizeof(D) == 4 && i.type2 == Type::F64;
    if ((i.ftz || i.sat) && !narrows) return {};
    if (i.type2 != Type::F64)
        return with_any_integer(i.type2, [](auto zero) { return same(convert<D, decltype(zero), R>); });
    if constexpr (sizeof(D) == 4)
        return with_flags(i.ftz, i.sat,
                          [](auto ftz, auto sat) { return same(convert<D, double, R, ftz, sat>); });
    return {};
}

template <Round R>
LaneOp find_for(const Operation& i) {
    switch (i.op) {
        case Op::Add: return arithmetic_op<FAdd, 2, R>(i);
        case Op::Sub: return arithmetic_op<FSub, 2, R>(i);
        case Op::Mul: return arithmetic_op<FMul, 2, R>(i);
        case Op::Div: return arithmetic_op<FDiv, 2, R>(i);
        case Op::Mad:
        case Op::Fma: return arithmetic_op<FFma, 3, R>(i);
        case Op::Sqrt: return arithmetic_op<FSqrt, 1, R>(i);
        case Op::Rcp: return arithmetic_op<FRcp, 1, R>(i);
        case Op::Cvt: return i.type == Type::F64 ? convert_op<double, R>(i) : convert_op<float, R>(i);
        default: return {};
    }
}

LaneOp find(const Operation& i) {
    if (i.type != Type::F32 && i.type != Type::F64) return {};
    return with_one_of<Round::Rz, Round::Rm, Round::Rp>(
        i.round, [&](auto known) { return find_for<decltype(known)::value>(i); });
}

}  // namespace tilescope::simt::directed
