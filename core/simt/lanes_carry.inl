// Sums that take or leave a carry, and sums of byte products. Source: PTX ISA, "Extended-Precision Integer
// Arithmetic Instructions" (add.cc, addc, sub.cc, subc, mad.cc, madc) and "Integer Arithmetic
// Instructions" (dp4a, dp2a).
namespace tilescope::simt::TILESCOPE_LANES {

// x + y, or x - y, with the flag in and out; for a difference the flag is the borrow.
template <bool Minus, class S>
S with_carry(S x, S y, bool& flag) {
    if constexpr (Minus) {
        const S part = x - y, r = part - S{flag};
        flag = x < y || part < S{flag};
        return r;
    } else {
        const S part = x + y, r = part + S{flag};
        flag = part < x || r < part;
        return r;
    }
}

// e: the carry flags, a bit a lane. With a product, a * b + c; without, a + b or a - b.
template <class T, Op O, Half H, bool In, bool Out>
void carry(std::byte* d, std::byte* e, const std::byte* a, const std::byte* b, const std::byte* c,
           uint32_t mask) {
    using S = U<T>;
    const uint32_t before = word(static_cast<const std::byte*>(e));
    uint32_t after = 0;
    for (int i = 0; i < kWarpSize; ++i) {
        if (!(mask >> i & 1)) continue;
        bool flag = In && (before >> i & 1);
        const T x = from_slot<T>(slots<T>(a)[i]), y = from_slot<T>(slots<T>(b)[i]);
        S r;
        if constexpr (O == Op::Mad) {
            const T product = H == Half::Hi ? mul_hi(x, y) : wrap_mul(x, y);
            r = with_carry<false>(static_cast<S>(product), static_cast<S>(slots<T>(c)[i]), flag);
        } else {
            r = with_carry<O == Op::Sub>(static_cast<S>(x), static_cast<S>(y), flag);
        }
        slots<T>(d)[i] = r;
        after |= flag ? 1u << i : 0u;
    }
    if constexpr (Out) word(e) = (before & ~mask) | after;
}

template <class T, Op O, Half H, bool In>
LaneOp carry_op(const Operation& i) {
    if (!In && !i.carry_out) return {};
    return i.carry_out ? same(carry<T, O, H, In, true>) : same(carry<T, O, H, In, false>);
}
template <class T>
LaneOp carry_as(const Operation& i) {
    switch (i.op) {
        case Op::Add: return carry_op<T, Op::Add, Half::None, false>(i);
        case Op::Addc: return carry_op<T, Op::Add, Half::None, true>(i);
        case Op::Sub: return carry_op<T, Op::Sub, Half::None, false>(i);
        case Op::Subc: return carry_op<T, Op::Sub, Half::None, true>(i);
        case Op::Mad:
            return i.half == Half::Hi ? carry_op<T, Op::Mad, Half::Hi, false>(i)
                                      : carry_op<T, Op::Mad, Half::Lo, false>(i);
        case Op::Madc:
            return i.half == Half::Hi ? carry_op<T, Op::Mad, Half::Hi, true>(i)
                                      : carry_op<T, Op::Mad, Half::Lo, true>(i);
        default: return {};
    }
}

// The sum of the products of a's four bytes with b's, and c; each operand's bytes signed or not.
template <bool SignedA, bool SignedB>
struct Dp4a {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        for (int k = 0; k < 32; k += 8) c += part<SignedA, 8>(a >> k) * part<SignedB, 8>(b >> k);
        return c;
    }
    template <bool Signed, int Bits>
    static uint32_t part(uint32_t x) {
        const uint32_t low = x & ((1u << Bits) - 1);
        return Signed && (low >> (Bits - 1) & 1) ? low | ~0u << Bits : low;
    }
};
// The same with a's two halves and the two lower or upper bytes of b.
template <bool SignedA, bool SignedB, bool High>
struct Dp2a {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        using D = Dp4a<SignedA, SignedB>;
        const uint32_t bytes = High ? b >> 16 : b;
        for (int k = 0; k < 2; ++k)
            c += D::template part<SignedA, 16>(a >> 16 * k) * D::template part<SignedB, 8>(bytes >> 8 * k);
        return c;
    }
};
template <bool SignedA, bool SignedB>
LaneOp dot(const Operation& i) {
    if (i.op == Op::Dp4a) return ternary<Dp4a<SignedA, SignedB>, uint32_t, uint32_t>();
    return i.half == Half::Hi ? ternary<Dp2a<SignedA, SignedB, true>, uint32_t, uint32_t>()
                              : ternary<Dp2a<SignedA, SignedB, false>, uint32_t, uint32_t>();
}

inline LaneOp find_carry(const Operation& i) {
    const bool signed_a = is_signed(i.type), signed_b = is_signed(i.type2);
    if (i.op == Op::Dp4a || i.op == Op::Dp2a)
        return with_flags(signed_a, signed_b, [&](auto a, auto b) { return dot<a, b>(i); });
    switch (i.type) {
        case Type::U32: return carry_as<uint32_t>(i);
        case Type::S32: return carry_as<int32_t>(i);
        case Type::U64: return carry_as<uint64_t>(i);
        case Type::S64: return carry_as<int64_t>(i);
        default: return {};
    }
}

}  // namespace tilescope::simt::TILESCOPE_LANES
