// cvt. Source: PTX ISA, "Data Movement and Conversion Instructions: cvt". Floats to integers saturate;
// a NaN becomes 0, or 1 << (width - 1) where source or destination has 64 bits.
namespace tilescope::simt::TILESCOPE_LANES {

struct Resize {
    template <class D, class A>
    static D convert(A a) {
        return static_cast<D>(a);
    }
};
// .sat: clamped to the range of the destination.
struct Clamp {
    template <class D, class A>
    static D convert(A a) {
        using Limits = std::numeric_limits<D>;
        if constexpr (std::is_signed_v<A>) {
            const int64_t x = a;
            if constexpr (std::is_signed_v<D>) {
                if (x < int64_t{Limits::min()}) return Limits::min();
                if (x > int64_t{Limits::max()}) return Limits::max();
            } else {
                if (x < 0) return 0;
                if (static_cast<uint64_t>(x) > uint64_t{Limits::max()}) return Limits::max();
            }
        } else if (uint64_t{a} > static_cast<uint64_t>(Limits::max())) {
            return Limits::max();
        }
        return static_cast<D>(a);
    }
};
template <class How, class D>
struct To {
    template <class A>
    static D apply(A a) {
        return How::template convert<D>(a);
    }
};

inline float integral(float x, Round r) {
    switch (r) {
        case Round::Rni: return __builtin_rintf(x);
        case Round::Rmi: return __builtin_floorf(x);
        case Round::Rpi: return __builtin_ceilf(x);
        default: return __builtin_truncf(x);
    }
}
inline double integral(double x, Round r) {
    switch (r) {
        case Round::Rni: return __builtin_rint(x);
        case Round::Rmi: return __builtin_floor(x);
        case Round::Rpi: return __builtin_ceil(x);
        default: return __builtin_trunc(x);
    }
}

template <class D, class A, Round R, bool Ftz>
struct FloatToInt {
    static D apply(A a) {
        using Limits = std::numeric_limits<D>;
        if (a != a) {
            constexpr bool kWide = sizeof(A) == 8 || sizeof(D) == 8;
            return kWide ? static_cast<D>(std::make_unsigned_t<D>{1} << (sizeof(D) * 8 - 1)) : D{0};
        }
        if constexpr (Ftz) a = flushed<true>(a);
        const A x = integral(a, R);
        // 2^width (or 2^(width-1)) is exact in both float types; the largest integer may not be.
        const A beyond = static_cast<A>(Limits::max() / 2 + 1) * A{2};
        if (x >= beyond) return Limits::max();
        if (std::is_signed_v<D> ? x < -beyond : x < A{0}) return Limits::min();
        return static_cast<D>(x);
    }
};

template <class F, bool Sat>
struct IntToFloat {
    template <class A>
    static F apply(A a) {
        if constexpr (Sat) return a > 0 ? F{1} : F{0};
        return static_cast<F>(a);
    }
};

template <bool Ftz, bool Sat>
struct Narrow {
    static float apply(double a) { return finished<Ftz, Sat>(static_cast<float>(a)); }
};
template <bool Ftz>
struct Widen {
    static double apply(float a) {
        const double r = flushed<Ftz>(a);
        return r != r ? quiet(r) : r;
    }
};
// F, with its fp64 result clamped to [0, 1]; a NaN becomes +0.
template <class F>
struct Sat64 {
    template <class A>
    static double apply(A a) {
        const double r = F::apply(a);
        return r > 0 ? (r < 1 ? r : 1.0) : 0.0;
    }
};
template <Round R, bool Ftz, bool Sat>
struct Integral32 {
    static float apply(float a) { return finished<Ftz, Sat>(integral(flushed<Ftz>(a), R)); }
};
template <bool Ftz, bool Sat>
struct Same32 {
    static float apply(float a) { return finished<Ftz, Sat>(flushed<Ftz>(a)); }
};
template <Round R>
struct Integral64 {
    static double apply(double a) { return canonical(integral(a, R), a, a, a); }
};

struct Same64 {
    static double apply(double a) { return a; }
};
template <Round R, bool Sat>
LaneOp integral64() {
    if constexpr (Sat) return unary<Sat64<Integral64<R>>, double, double>();
    return unary<Integral64<R>, double, double>();
}

// Calls f with a rounding to an integer, as a constant.
template <class Fn>
LaneOp with_integral(Round r, Fn f) {
    return with_one_of<Round::Rni, Round::Rzi, Round::Rmi, Round::Rpi>(r, f);
}

template <class D, class A, bool Ftz>
LaneOp float_to_int(Round r) {
    return with_integral(
        r, [](auto known) { return unary<FloatToInt<D, A, decltype(known)::value, Ftz>, D, A>(); });
}

template <bool Ftz, bool Sat>
LaneOp float_to_float(const Operation& i) {
    const bool from64 = i.type2 == Type::F64, to64 = i.type == Type::F64;
    if (from64 && !to64) return i.round == Round::Rn ? unary<Narrow<Ftz, Sat>, float, double>() : LaneOp{};
    if (!from64 && to64) {
        if (i.round != Round::None) return {};
        return Sat ? unary<Sat64<Widen<Ftz>>, double, float>() : unary<Widen<Ftz>, double, float>();
    }
    if (from64) {
        if (Ftz) return {};
        if (i.round == Round::None)
            return Sat ? unary<Sat64<Same64>, double, double>() : unary<Identity, uint64_t, uint64_t>();
        return with_integral(i.round, [](auto known) { return integral64<decltype(known)::value, Sat>(); });
    }
    if (i.round == Round::None) return unary<Same32<Ftz, Sat>, float, float>();
    return with_integral(i.round, [](auto known) {
        return unary<Integral32<decltype(known)::value, Ftz, Sat>, float, float>();
    });
}

inline LaneOp find_convert(const Operation& i) {
    if (i.op != Op::Cvt || is_half(i.type) || is_half(i.type2)) return {};
    if (!lies_in_memory(i.type) || !lies_in_memory(i.type2)) return {};  // lanes_small_floats.inl
    const bool to_float = is_float(i.type), from_float = is_float(i.type2);
    if (to_float && from_float)
        return with_flags(i.ftz, i.sat, [&](auto ftz, auto sat) { return float_to_float<ftz, sat>(i); });
    if (from_float)  // saturates with or without .sat
        return with_any_integer(i.type, [&](auto zero) -> LaneOp {
            using D = decltype(zero);
            if (i.type2 == Type::F64) return float_to_int<D, double, false>(i.round);
            return i.ftz ? float_to_int<D, float, true>(i.round) : float_to_int<D, float, false>(i.round);
        });
    return with_any_integer(i.type2, [&](auto source) -> LaneOp {
        using A = decltype(source);
        if (to_float) {
            if (i.round != Round::Rn && !i.sat) return {};  // directed: lanes_directed.cpp
            return with_flags(i.type == Type::F64, i.sat, [](auto wide, auto sat) {
                using F = std::conditional_t<wide, double, float>;
                return unary<IntToFloat<F, sat>, F, A>();
            });
        }
        return with_any_integer(i.type, [&](auto destination) -> LaneOp {
            using D = decltype(destination);
            return i.sat ? unary<To<Clamp, D>, D, A>() : unary<To<Resize, D>, D, A>();
        });
    });
}

}  // namespace tilescope::simt::TILESCOPE_LANES
