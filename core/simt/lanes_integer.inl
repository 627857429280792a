// Integer arithmetic. Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift
// Instructions". Division by zero gives all ones for quotient and remainder, as an H200 was seen to do
// (tests/data/hardware); the manual leaves it open.
namespace tilescope::simt::TILESCOPE_LANES {

template <class T>
using U = std::make_unsigned_t<T>;
template <class T>
inline constexpr int kBits = static_cast<int>(sizeof(T)) * 8;

// Sums wrap; 16-bit operands are widened so that no intermediate is a signed overflow.
template <class T>
using Wrap = std::conditional_t<(sizeof(T) < 4), uint32_t, U<T>>;

template <class T>
T wrap_mul(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
}
template <class T>
T wrap_add(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
}

struct IntAdd {
    static auto apply(auto a, auto b) -> decltype(a) { return wrap_add(a, b); }
};
struct IntSub {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
    }
};
struct MulLo {
    static auto apply(auto a, auto b) -> decltype(a) { return wrap_mul(a, b); }
};
struct MadLo {
    static auto apply(auto a, auto b, auto c) -> decltype(a) { return wrap_add(wrap_mul(a, b), c); }
};
struct AddSat32 {
    static int32_t apply(int32_t a, int32_t b) {
        const int64_t s = int64_t{a} + b;
        return static_cast<int32_t>(s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s);
    }
};
struct SubSat32 {
    static int32_t apply(int32_t a, int32_t b) {
        const int64_t s = int64_t{a} - b;
        return static_cast<int32_t>(s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s);
    }
};

template <class T>
struct WiderOf;
template <>
struct WiderOf<uint16_t> {
    using type = uint32_t;
};
template <>
struct WiderOf<int16_t> {
    using type = int32_t;
};
template <>
struct WiderOf<uint32_t> {
    using type = uint64_t;
};
template <>
struct WiderOf<int32_t> {
    using type = int64_t;
};
template <class T>
using Wider = typename WiderOf<T>::type;

inline uint64_t mul_hi_u64(uint64_t a, uint64_t b) {
    const uint64_t al = a & 0xFFFF'FFFF, ah = a >> 32, bl = b & 0xFFFF'FFFF, bh = b >> 32;
    const uint64_t mid = ah * bl + ((al * bl) >> 32);
    const uint64_t mid2 = al * bh + (mid & 0xFFFF'FFFF);
    return ah * bh + (mid >> 32) + (mid2 >> 32);
}
template <class T>
T mul_hi(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        uint64_t r = mul_hi_u64(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
        if constexpr (std::is_signed_v<T>) {
            if (a < 0) r -= static_cast<uint64_t>(b);
            if (b < 0) r -= static_cast<uint64_t>(a);
        }
        return static_cast<T>(r);
    } else {
        return static_cast<T>((static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)) >> kBits<T>);
    }
}
struct MulHi {
    static auto apply(auto a, auto b) -> decltype(a) { return mul_hi(a, b); }
};
struct MadHi {
    static auto apply(auto a, auto b, auto c) -> decltype(a) { return wrap_add(mul_hi(a, b), c); }
};
struct MulWide {
    template <class T>
    static Wider<T> apply(T a, T b) {
        return static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b);
    }
};
struct MadWide {
    template <class T>
    static Wider<T> apply(T a, T b, Wider<T> c) {
        return wrap_add(static_cast<Wider<T>>(static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)), c);
    }
};

// mul24 and mad24 use the low 24 bits of the factors; hi is bits 16 to 47 of the 48-bit product.
template <class T>
int64_t product24(T a, T b) {
    if constexpr (std::is_signed_v<T>)
        return int64_t{static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8} *
               (static_cast<int32_t>(static_cast<uint32_t>(b) << 8) >> 8);
    else
        return static_cast<int64_t>(uint64_t{a & 0xFF'FFFF} * (b & 0xFF'FFFF));
}
struct Mul24Lo {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(product24(a, b));
    }
};
struct Mul24Hi {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(product24(a, b) >> 16);
    }
};
struct Mad24Lo {
    template <class T>
    static T apply(T a, T b, T c) {
        return wrap_add(static_cast<T>(product24(a, b)), c);
    }
};
struct Mad24Hi {
    template <class T>
    static T apply(T a, T b, T c) {
        return wrap_add(static_cast<T>(product24(a, b) >> 16), c);
    }
};

struct IntDiv {
    template <class T>
    static T apply(T a, T b) {
        if (b == 0) return static_cast<T>(~T{0});
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return static_cast<T>(Wrap<T>{0} - static_cast<Wrap<T>>(a));
        return static_cast<T>(a / b);
    }
};
struct IntRem {
    template <class T>
    static T apply(T a, T b) {
        if (b == 0) return static_cast<T>(~T{0});
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return 0;
        return static_cast<T>(a % b);
    }
};
struct IntMin {
    static auto apply(auto a, auto b) -> decltype(a) { return a < b ? a : b; }
};
struct IntMax {
    static auto apply(auto a, auto b) -> decltype(a) { return a < b ? b : a; }
};
struct IntNeg {
    template <class T>
    static T apply(T a) {
        return static_cast<T>(Wrap<T>{0} - static_cast<Wrap<T>>(a));
    }
};
struct IntAbs {
    static auto apply(auto a) -> decltype(a) { return a < 0 ? IntNeg::apply(a) : a; }
};
struct Sad {
    static auto apply(auto a, auto b, auto c) -> decltype(a) {
        return wrap_add(a < b ? IntSub::apply(b, a) : IntSub::apply(a, b), c);
    }
};

struct And {
    static auto apply(auto a, auto b) -> decltype(a) { return a & b; }
};
struct Or {
    static auto apply(auto a, auto b) -> decltype(a) { return a | b; }
};
struct Xor {
    static auto apply(auto a, auto b) -> decltype(a) { return a ^ b; }
};
struct Not {
    template <class T>
    static T apply(T a) {
        return static_cast<T>(~a);
    }
};
struct Cnot {
    static auto apply(auto a) -> decltype(a) { return a == 0 ? 1 : 0; }
};
struct Identity {
    static auto apply(auto a) -> decltype(a) { return a; }
};
// Shift amounts above the width count as the width.
struct Shl {
    template <class T>
    static T apply(T a, uint32_t n) {
        return n >= kBits<T> ? T{0} : static_cast<T>(static_cast<Wrap<T>>(a) << n);
    }
};
struct Shr {
    template <class T>
    static T apply(T a, uint32_t n) {
        if constexpr (std::is_signed_v<T>)
            return static_cast<T>(a >> (n >= kBits<T> ? kBits<T> - 1 : n));
        else
            return n >= kBits<T> ? T{0} : static_cast<T>(a >> n);
    }
};

template <class T>
LaneOp multiply(const Operation& i, bool add) {
    if (i.half == Half::Lo) return add ? ternary<MadLo, T, T>() : binary<MulLo, T, T>();
    if (i.half == Half::Hi) return add ? ternary<MadHi, T, T>() : binary<MulHi, T, T>();
    if constexpr (sizeof(T) < 8)
        if (i.half == Half::Wide)
            return add ? ternary<MadWide, Wider<T>, T, T, Wider<T>>() : binary<MulWide, Wider<T>, T>();
    return {};
}

template <class T>
LaneOp multiply24(const Operation& i) {
    const bool hi = i.half == Half::Hi;
    if (i.op == Op::Mul24) return hi ? binary<Mul24Hi, T, T>() : binary<Mul24Lo, T, T>();
    return hi ? ternary<Mad24Hi, T, T>() : ternary<Mad24Lo, T, T>();
}

inline LaneOp find_integer(const Operation& i) {
    if (i.sat) {
        if (i.type != Type::S32) return {};
        if (i.op == Op::Add) return binary<AddSat32, int32_t, int32_t>();
        if (i.op == Op::Sub) return binary<SubSat32, int32_t, int32_t>();
        return {};
    }
    if (i.op == Op::Mul24 || i.op == Op::Mad24) {
        if (i.type == Type::S32) return multiply24<int32_t>(i);
        return i.type == Type::U32 ? multiply24<uint32_t>(i) : LaneOp{};
    }
    return with_integer(i.type, [&](auto zero) -> LaneOp {
        using T = decltype(zero);
        switch (i.op) {
            case Op::Add: return binary<IntAdd, T, T>();
            case Op::Sub: return binary<IntSub, T, T>();
            case Op::Mul: return multiply<T>(i, false);
            case Op::Mad: return multiply<T>(i, true);
            case Op::Div: return binary<IntDiv, T, T>();
            case Op::Rem: return binary<IntRem, T, T>();
            case Op::Min: return binary<IntMin, T, T>();
            case Op::Max: return binary<IntMax, T, T>();
            case Op::Sad: return ternary<Sad, T, T>();
            case Op::Shr: return binary<Shr, T, T, uint32_t>();
            case Op::And: return binary<And, T, T>();
            case Op::Or: return binary<Or, T, T>();
            case Op::Xor: return binary<Xor, T, T>();
            case Op::Not: return unary<Not, T, T>();
            case Op::Mov: return unary<Identity, T, T>();
            case Op::Shl:
                if constexpr (std::is_unsigned_v<T>) return binary<Shl, T, T, uint32_t>();
                return {};
            case Op::Cnot:
                if constexpr (std::is_unsigned_v<T>) return unary<Cnot, T, T>();
                return {};
            case Op::Neg:
                if constexpr (std::is_signed_v<T>) return unary<IntNeg, T, T>();
                return {};
            case Op::Abs:
                if constexpr (std::is_signed_v<T>) return unary<IntAbs, T, T>();
                return {};
            default: return {};
        }
    });
}

}  // namespace tilescope::simt::TILESCOPE_LANES
