// setp, set, selp, slct and predicates. Source: PTX ISA, "Comparison and Selection Instructions".
// Ordered comparisons are false where an operand is a NaN, unordered ones (equ, neu, ...) true.
namespace tilescope::simt::TILESCOPE_LANES {

template <Compare C, class T>
bool holds(T a, T b) {
    if constexpr (C == Compare::Eq) return a == b;
    if constexpr (C == Compare::Ne && std::is_floating_point_v<T>) return a < b || a > b;  // ordered
    if constexpr (C == Compare::Ne || C == Compare::Neu) return !(a == b);
    if constexpr (C == Compare::Lt) return a < b;
    if constexpr (C == Compare::Le) return a <= b;
    if constexpr (C == Compare::Gt) return a > b;
    if constexpr (C == Compare::Ge) return a >= b;
    if constexpr (C == Compare::Equ) return !(a < b || a > b);
    if constexpr (C == Compare::Ltu) return !(a >= b);
    if constexpr (C == Compare::Leu) return !(a > b);
    if constexpr (C == Compare::Gtu) return !(a <= b);
    if constexpr (C == Compare::Geu) return !(a < b);
    if constexpr (C == Compare::Num) return a == a && b == b;
    if constexpr (C == Compare::Nan) return a != a || b != b;
}

template <bool Ftz, class T>
inline T compared(T x) {
    if constexpr (Ftz)
        return flushed<true>(x);
    else
        return x;
}

template <Compare C, class T, bool Ftz>
void setp(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte*, uint32_t mask) {
    const auto& x = slots<T>(a);
    const auto& y = slots<T>(b);
    uint32_t bits = 0;
    for (int i = 0; i < kWarpSize; ++i) {
        const bool t = holds<C>(compared<Ftz>(from_slot<T>(x[i])), compared<Ftz>(from_slot<T>(y[i])));
        bits |= t ? 1u << i : 0u;
    }
    word(d) = (word(d) & ~mask) | (bits & mask);
}

// set: all ones or zero for an integer destination, 1 or 0 for a float one.
template <Compare C, bool Ftz, uint32_t True>
struct SetTo {
    static uint32_t apply(auto a, auto b) { return holds<C>(compared<Ftz>(a), compared<Ftz>(b)) ? True : 0u; }
};
// The same for both halves of pairs of Format.
template <class Format, Compare C, uint32_t True>
struct SetHalf {
    static uint16_t apply(uint16_t a, uint16_t b) {
        return static_cast<uint16_t>(holds<C>(Format::widen(a), Format::widen(b)) ? True : 0u);
    }
};
struct FlushedHalf16 : Half16 {
    static float widen(uint16_t h) { return Half16::widen(flushed_half<Half16, true>(h)); }
};

template <Compare C, class T, bool Ftz>
LaneOp compare_with(const Operation& i) {
    if (i.op == Op::Setp) return same<setp<C, T, Ftz>>();
    switch (i.type) {
        case Type::F32: return binary<SetTo<C, Ftz, 0x3F80'0000u>, uint32_t, T>();
        case Type::F16: return binary<SetTo<C, Ftz, 0x3C00u>, uint32_t, T>();
        case Type::BF16: return binary<SetTo<C, Ftz, 0x3F80u>, uint32_t, T>();
        case Type::U16:
        case Type::S16: return binary<SetTo<C, Ftz, 0xFFFFu>, uint32_t, T>();
        case Type::U32:
        case Type::S32: return binary<SetTo<C, Ftz, 0xFFFF'FFFFu>, uint32_t, T>();
        default: return {};
    }
}
template <class Format>
LaneOp compare_pairs(const Operation& i) {
    using enum Compare;
    return with_one_of<Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan>(
        i.compare, [&](auto known) -> LaneOp {
            constexpr Compare kHow = decltype(known)::value;
            constexpr bool kBrain = std::is_same_v<Format, BrainFloat>;
            if (is_float(i.type))
                return binary<Pairs<SetHalf<Format, kHow, kBrain ? 0x3F80u : 0x3C00u>>, uint32_t, uint32_t>();
            return binary<Pairs<SetHalf<Format, kHow, 0xFFFFu>>, uint32_t, uint32_t>();
        });
}

template <class T, bool Ftz>
LaneOp compare_as(const Operation& i) {
    using enum Compare;
    // lo, ls, hi, hs are lt, le, gt, ge of unsigned integers.
    const bool is_unsigned = i.compare >= Lo && i.compare <= Hs;
    const int as =
        static_cast<int>(i.compare) - (is_unsigned ? static_cast<int>(Lo) - static_cast<int>(Lt) : 0);
    const auto compare = static_cast<Compare>(as);
    const auto with = [&](auto known) { return compare_with<decltype(known)::value, T, Ftz>(i); };
    const LaneOp ordered = with_one_of<Eq, Ne, Lt, Le, Gt, Ge>(compare, with);
    if constexpr (std::is_floating_point_v<decltype(from_slot<T>({}))>)
        if (!ordered) return with_one_of<Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan>(compare, with);
    return ordered;
}

// The compared type: setp.lt.TYPE, set.lt.DESTINATION.TYPE. A boolean combination is lowered to a
// predicate operation before this.
inline LaneOp find_compare(const Operation& i) {
    if (i.op != Op::Set && i.op != Op::Setp) return {};
    const Type type = i.op == Op::Set ? i.type2 : i.type;
    if (type == Type::F32) return i.ftz ? compare_as<float, true>(i) : compare_as<float, false>(i);
    if (type == Type::F64) return compare_as<double, false>(i);
    if (type == Type::F16) return i.ftz ? compare_as<FlushedHalf16, false>(i) : compare_as<Half16, false>(i);
    if (type == Type::BF16) return compare_as<BrainFloat, false>(i);
    if (type == Type::F16X2) return i.ftz ? compare_pairs<FlushedHalf16>(i) : compare_pairs<Half16>(i);
    if (type == Type::BF16X2) return compare_pairs<BrainFloat>(i);
    return with_integer(type, [&](auto zero) { return compare_as<decltype(zero), false>(i); });
}

template <class T>
void selp(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte* c,
          uint32_t mask) {
    auto& out = slots<T>(d);
    const auto& x = slots<T>(a);
    const auto& y = slots<T>(b);
    const uint32_t p = word(c);
    TILESCOPE_EACH_LANE
    for (int i = 0; i < kWarpSize; ++i) {
        const T r = (p >> i & 1) ? x[i] : y[i];
        out[i] = (mask >> i & 1) ? r : out[i];
    }
}
struct SlctInt {
    static auto apply(auto a, auto b, int32_t c) -> decltype(a) { return c >= 0 ? a : b; }
};
template <bool Ftz>
struct SlctFloat {
    static auto apply(auto a, auto b, float c) -> decltype(a) { return flushed<Ftz>(c) >= 0 ? a : b; }
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
        case Op::And: return same<pred2<And>>();
        case Op::Or: return same<pred2<Or>>();
        case Op::Xor: return same<pred2<Xor>>();
        case Op::Not: return same<pred1<Not>>();
        case Op::Mov: return same<pred1<Identity>>();
        default: return {};
    }
}

template <class S>
LaneOp slct(const Operation& i) {
    if (i.type2 == Type::S32) return ternary<SlctInt, S, S, S, int32_t>();
    if (i.type2 != Type::F32) return {};
    return i.ftz ? ternary<SlctFloat<true>, S, S, S, float>() : ternary<SlctFloat<false>, S, S, S, float>();
}

inline LaneOp find_select(const Operation& i) {
    const bool wide = size_of(i.type) == 8;
    if (i.op == Op::Selp) return wide ? same<selp<uint64_t>>() : same<selp<uint32_t>>();
    if (i.op != Op::Slct) return {};
    return wide ? slct<uint64_t>(i) : slct<uint32_t>(i);
}

}  // namespace tilescope::simt::TILESCOPE_LANES
