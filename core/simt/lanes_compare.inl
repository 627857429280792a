// setp, set, selp, slct and predicates. Source: PTX ISA, "Comparison and Selection Instructions".
// Ordered comparisons are false where an operand is a NaN, unordered ones (equ, neu, ...) true.
namespace tilescope::simt::TILESCOPE_LANES {

struct Eq {
    template <class T>
    static bool test(T a, T b) {
        return a == b;
    }
};
struct Ne {
    template <class T>
    static bool test(T a, T b) {  // ordered: false with a NaN
        if constexpr (std::is_floating_point_v<T>)
            return a < b || a > b;
        else
            return a != b;
    }
};
struct Lt {
    template <class T>
    static bool test(T a, T b) {
        return a < b;
    }
};
struct Le {
    template <class T>
    static bool test(T a, T b) {
        return a <= b;
    }
};
struct Gt {
    template <class T>
    static bool test(T a, T b) {
        return a > b;
    }
};
struct Ge {
    template <class T>
    static bool test(T a, T b) {
        return a >= b;
    }
};
struct Equ {
    template <class T>
    static bool test(T a, T b) {
        return !(a < b || a > b);
    }
};
struct Neu {
    template <class T>
    static bool test(T a, T b) {
        return !(a == b);
    }
};
struct Ltu {
    template <class T>
    static bool test(T a, T b) {
        return !(a >= b);
    }
};
struct Leu {
    template <class T>
    static bool test(T a, T b) {
        return !(a > b);
    }
};
struct Gtu {
    template <class T>
    static bool test(T a, T b) {
        return !(a <= b);
    }
};
struct Geu {
    template <class T>
    static bool test(T a, T b) {
        return !(a < b);
    }
};
struct Num {
    template <class T>
    static bool test(T a, T b) {
        return a == a && b == b;
    }
};
struct IsNan {
    template <class T>
    static bool test(T a, T b) {
        return a != a || b != b;
    }
};

template <bool Ftz, class T>
inline T compared(T x) {
    if constexpr (Ftz)
        return flushed<true>(x);
    else
        return x;
}

template <class F, class T, bool Ftz>
void setp(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte*, uint32_t mask) {
    const Slot<T>* x = slots<T>(a);
    const Slot<T>* y = slots<T>(b);
    uint32_t bits = 0;
    for (int i = 0; i < kWarpSize; ++i) {
        const bool t = F::test(compared<Ftz>(from_slot<T>(x[i])), compared<Ftz>(from_slot<T>(y[i])));
        bits |= t ? 1u << i : 0u;
    }
    word(d) = (word(d) & ~mask) | (bits & mask);
}

// set: all ones or zero for an integer destination, 1.0f or 0.0f for a float one.
template <class F, bool Ftz, uint32_t True>
struct SetTo {
    template <class T>
    static uint32_t apply(T a, T b) {
        return F::test(compared<Ftz>(a), compared<Ftz>(b)) ? True : 0u;
    }
};

template <class F, class T, bool Ftz>
LaneOp compare_with(const Operation& i) {
    if (i.op == Op::Setp) return {setp<F, T, Ftz>, setp<F, T, Ftz>};
    if (i.type == Type::F32) return binary<SetTo<F, Ftz, 0x3F80'0000u>, uint32_t, T>();
    return size_of(i.type) == 4 ? binary<SetTo<F, Ftz, 0xFFFF'FFFFu>, uint32_t, T>() : LaneOp{};
}

template <class T, bool Ftz>
LaneOp compare_as(const Operation& i) {
    switch (i.compare) {
        case Compare::Eq:
            return compare_with<Eq, T, Ftz>(i);
        case Compare::Ne:
            return compare_with<Ne, T, Ftz>(i);
        case Compare::Lo:
        case Compare::Lt:
            return compare_with<Lt, T, Ftz>(i);
        case Compare::Ls:
        case Compare::Le:
            return compare_with<Le, T, Ftz>(i);
        case Compare::Hi:
        case Compare::Gt:
            return compare_with<Gt, T, Ftz>(i);
        case Compare::Hs:
        case Compare::Ge:
            return compare_with<Ge, T, Ftz>(i);
        default:
            break;
    }
    if constexpr (std::is_floating_point_v<T>) {
        switch (i.compare) {
            case Compare::Equ:
                return compare_with<Equ, T, Ftz>(i);
            case Compare::Neu:
                return compare_with<Neu, T, Ftz>(i);
            case Compare::Ltu:
                return compare_with<Ltu, T, Ftz>(i);
            case Compare::Leu:
                return compare_with<Leu, T, Ftz>(i);
            case Compare::Gtu:
                return compare_with<Gtu, T, Ftz>(i);
            case Compare::Geu:
                return compare_with<Geu, T, Ftz>(i);
            case Compare::Num:
                return compare_with<Num, T, Ftz>(i);
            case Compare::Nan:
                return compare_with<IsNan, T, Ftz>(i);
            default:
                break;
        }
    }
    return {};
}

// The compared type: setp.lt.TYPE, set.lt.DESTINATION.TYPE. A boolean combination is lowered to a
// predicate operation before this.
inline LaneOp find_compare(const Operation& i) {
    if (i.op != Op::Set && i.op != Op::Setp) return {};
    const Type type = i.op == Op::Set ? i.type2 : i.type;
    if (type == Type::F32) return i.ftz ? compare_as<float, true>(i) : compare_as<float, false>(i);
    if (type == Type::F64) return compare_as<double, false>(i);
    return with_integer(type, [&](auto zero) { return compare_as<decltype(zero), false>(i); });
}

template <class T>
void selp(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte* c,
          uint32_t mask) {
    T* out = slots<T>(d);
    const T* x = slots<T>(a);
    const T* y = slots<T>(b);
    const uint32_t p = word(c);
    TILESCOPE_EACH_LANE
    for (int i = 0; i < kWarpSize; ++i) {
        const T r = (p >> i & 1) ? x[i] : y[i];
        out[i] = (mask >> i & 1) ? r : out[i];
    }
}
struct SlctInt {
    template <class T>
    static T apply(T a, T b, int32_t c) {
        return c >= 0 ? a : b;
    }
};
template <bool Ftz>
struct SlctFloat {
    template <class T>
    static T apply(T a, T b, float c) {
        return flushed<Ftz>(c) >= 0 ? a : b;
    }
};

template <class F>
void pred2(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte*,
           uint32_t mask) {
    word(d) = (word(d) & ~mask) | (F::apply(word(a), word(b)) & mask);
}
template <class F>
void pred1(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*, uint32_t mask) {
    word(d) = (word(d) & ~mask) | (F::apply(word(a)) & mask);
}

inline LaneOp find_predicate(const Operation& i) {
    if (i.type != Type::Pred) return {};
    switch (i.op) {
        case Op::And:
            return {pred2<And>, pred2<And>};
        case Op::Or:
            return {pred2<Or>, pred2<Or>};
        case Op::Xor:
            return {pred2<Xor>, pred2<Xor>};
        case Op::Not:
            return {pred1<Not>, pred1<Not>};
        case Op::Mov:
            return {pred1<Identity>, pred1<Identity>};
        default:
            return {};
    }
}

inline LaneOp find_select(const Operation& i) {
    const uint32_t size = size_of(i.type);
    if (i.op == Op::Selp)
        return size == 8 ? LaneOp{selp<uint64_t>, selp<uint64_t>} : LaneOp{selp<uint32_t>, selp<uint32_t>};
    if (i.op != Op::Slct) return {};
    if (i.type2 == Type::S32)
        return size == 8 ? ternary<SlctInt, uint64_t, uint64_t, uint64_t, int32_t>()
                         : ternary<SlctInt, uint32_t, uint32_t, uint32_t, int32_t>();
    if (i.type2 != Type::F32) return {};
    if (i.ftz)
        return size == 8 ? ternary<SlctFloat<true>, uint64_t, uint64_t, uint64_t, float>()
                         : ternary<SlctFloat<true>, uint32_t, uint32_t, uint32_t, float>();
    return size == 8 ? ternary<SlctFloat<false>, uint64_t, uint64_t, uint64_t, float>()
                     : ternary<SlctFloat<false>, uint32_t, uint32_t, uint32_t, float>();
}

}  // namespace tilescope::simt::TILESCOPE_LANES
