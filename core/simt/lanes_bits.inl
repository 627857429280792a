// Bit fields, counts, permutations. Source: PTX ISA, "Integer Arithmetic Instructions" (bfe, bfi, bfind,
// bmsk, brev, clz, fns, popc, szext), "Logic and Shift Instructions" (lop3, shf), "Data Movement" (prmt).
namespace tilescope::simt::TILESCOPE_LANES {

// The field of `len` bits from `pos`; bits beyond the word repeat the sign of the topmost bit that is
// there (zero for unsigned). pos and len are 8-bit numbers.
struct Bfe {
    template <class T>
    static T apply(T a, uint32_t pos32, uint32_t len32) {
        const uint32_t pos = pos32 & 0xFF, len = len32 & 0xFF, msb = kBits<T> - 1;
        const U<T> bits = static_cast<U<T>>(a);
        const uint32_t top = pos + len - 1 < msb ? pos + len - 1 : msb;
        const bool sign = std::is_signed_v<T> && len != 0 && (bits >> top & 1);
        const U<T> low = pos > msb ? U<T>{0} : static_cast<U<T>>(bits >> pos);
        const uint32_t here = pos > msb ? 0 : (len < msb + 1 - pos ? len : msb + 1 - pos);
        const U<T> keep = here > msb ? static_cast<U<T>>(~U<T>{0}) : static_cast<U<T>>((U<T>{1} << here) - 1);
        return static_cast<T>((low & keep) | (sign ? static_cast<U<T>>(~keep) : U<T>{0}));
    }
};

// d = b with the low c bits of a put at bit position pos.
struct Bfi {
    template <class T>
    static T insert(T a, T b, uint32_t pos32, uint32_t len32) {
        const uint32_t pos = pos32 & 0xFF, len = len32 & 0xFF;
        if (pos >= kBits<T> || len == 0) return b;
        const T ones = len >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
        const T field = static_cast<T>(ones << pos);
        return static_cast<T>((b & ~field) | ((a << pos) & field));
    }
};
template <class T>
void bfi(std::byte* d, std::byte* e, const std::byte* a, const std::byte* b, const std::byte* c,
         uint32_t mask) {
    for (int i = 0; i < kWarpSize; ++i)  // e: the fourth source, the length
        if (mask >> i & 1)
            slots<T>(d)[i] = Bfi::insert<T>(slots<T>(a)[i], slots<T>(b)[i], slots<uint32_t>(c)[i],
                                            slots<uint32_t>(static_cast<const std::byte*>(e))[i]);
}

// The position of the most significant bit that is not a sign bit; all ones where there is none.
template <bool ShiftAmount>
struct Bfind {
    template <class T>
    static uint32_t apply(T a) {
        U<T> bits = static_cast<U<T>>(a);
        if constexpr (std::is_signed_v<T>)
            if (a < 0) bits = static_cast<U<T>>(~bits);
        if (bits == 0) return 0xFFFF'FFFF;
        const int zeros = std::countl_zero(bits);
        return static_cast<uint32_t>(ShiftAmount ? zeros : kBits<T> - 1 - zeros);
    }
};
struct Clz {
    static uint32_t apply(auto a) { return static_cast<uint32_t>(std::countl_zero(a)); }
};
struct Popc {
    static uint32_t apply(auto a) { return static_cast<uint32_t>(std::popcount(a)); }
};
struct Brev {
    template <class T>
    static T apply(T a) {
        T r = 0;
        for (int i = 0; i < kBits<T>; ++i) r = static_cast<T>(r | ((a >> i & 1) << (kBits<T> - 1 - i)));
        return r;
    }
};

// Four bytes of the eight of {b, a}, by the nibbles of c; a nibble's top bit asks for the byte's sign
// instead.
struct Prmt {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint64_t bytes = uint64_t{b} << 32 | a;
        uint32_t r = 0;
        for (int i = 0; i < 4; ++i) {
            const uint32_t nibble = c >> (4 * i) & 0xF;
            uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7))) & 0xFF;
            if (nibble & 8) byte = byte & 0x80 ? 0xFF : 0;
            r |= byte << (8 * i);
        }
        return r;
    }
};

// e points to the truth table: bit (4a + 2b + c) of it is the result of bits a, b, c.
inline void lop3(std::byte* d, std::byte* e, const std::byte* a, const std::byte* b, const std::byte* c,
                 uint32_t mask) {
    const uint32_t lut = word(e);
    for (int i = 0; i < kWarpSize; ++i) {
        const uint32_t x = slots<uint32_t>(a)[i], y = slots<uint32_t>(b)[i], z = slots<uint32_t>(c)[i];
        uint32_t r = 0;
        for (uint32_t k = 0; k < 8; ++k)
            if (lut >> k & 1) r |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
        if (mask >> i & 1) slots<uint32_t>(d)[i] = r;
    }
}

// The 64-bit number {b, a} shifted; left gives its high word, right its low word.
template <Mode M>
struct Shf {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        constexpr bool kLeft = M == Mode::LWrap || M == Mode::LClamp;
        constexpr bool kClamp = M == Mode::LClamp || M == Mode::RClamp;
        const uint32_t n = kClamp ? (c > 32 ? 32 : c) : c & 31;
        const uint64_t both = uint64_t{b} << 32 | a;
        return static_cast<uint32_t>(kLeft ? (both << n) >> 32 : both >> n);
    }
};

// The low b bits of a, with zeros or the sign above them. b is at most 32 (.clamp) or modulo 32 (.wrap).
template <bool Clamp>
struct Szext {
    template <class T>
    static T apply(T a, uint32_t b) {
        const uint32_t n = Clamp ? (b > 32 ? 32 : b) : b & 31;
        if (n == 0) return 0;
        const uint32_t up = static_cast<uint32_t>(a) << (32 - n);
        return static_cast<T>(static_cast<T>(up) >> (32 - n));
    }
};
// b ones from bit a on.
template <bool Clamp>
struct Bmsk {
    static uint32_t apply(uint32_t a, uint32_t b) {
        const uint32_t from = Clamp ? a : a & 31, n = Clamp ? (b > 32 ? 32 : b) : b & 31;
        const uint32_t ones = n == 32 ? ~0u : (1u << n) - 1;
        return from > 31 ? 0 : ones << from;
    }
};
// The n-th set bit of the mask, counted from bit `base` on, which itself counts: upwards for n above 0,
// downwards for n below it; n = 0 asks for bit `base` alone. All ones where there is none.
struct Fns {
    static uint32_t apply(uint32_t bits, uint32_t base, uint32_t n32) {
        const int32_t n = static_cast<int32_t>(n32);
        if (base > 31) return ~0u;
        if (n == 0) return bits >> base & 1 ? base : ~0u;
        uint32_t left = static_cast<uint32_t>(n > 0 ? n : -int64_t{n});
        for (int at = static_cast<int>(base); at >= 0 && at<32; at += n> 0 ? 1 : -1)
            if ((bits >> at & 1) && --left == 0) return static_cast<uint32_t>(at);
        return ~0u;
    }
};

inline LaneOp find_bits(const Operation& i) {
    const bool wide = size_of(i.type) == 8;
    switch (i.op) {
        case Op::Bfe:
            return with_integer(i.type, [](auto zero) -> LaneOp {
                using T = decltype(zero);
                if constexpr (sizeof(T) >= 4) return ternary<Bfe, T, T, uint32_t, uint32_t>();
                return {};
            });
        case Op::Bfi: return wide ? same(bfi<uint64_t>) : same(bfi<uint32_t>);
        case Op::Bfind:
            return with_integer(i.type, [&](auto zero) -> LaneOp {
                using T = decltype(zero);
                if constexpr (sizeof(T) < 4) return {};
                return i.mode == Mode::ShiftAmount ? unary<Bfind<true>, uint32_t, T>()
                                                   : unary<Bfind<false>, uint32_t, T>();
            });
        case Op::Bmsk:
            return i.mode == Mode::Clamp ? binary<Bmsk<true>, uint32_t, uint32_t>()
                                         : binary<Bmsk<false>, uint32_t, uint32_t>();
        case Op::Szext:
            return with_flags(i.type == Type::S32, i.mode == Mode::Clamp, [](auto is_signed, auto clamp) {
                using T = std::conditional_t<is_signed, int32_t, uint32_t>;
                return binary<Szext<clamp>, T, T, uint32_t>();
            });
        case Op::Fns: return ternary<Fns, uint32_t, uint32_t>();
        case Op::Clz: return wide ? unary<Clz, uint32_t, uint64_t>() : unary<Clz, uint32_t, uint32_t>();
        case Op::Popc: return wide ? unary<Popc, uint32_t, uint64_t>() : unary<Popc, uint32_t, uint32_t>();
        case Op::Brev: return wide ? unary<Brev, uint64_t, uint64_t>() : unary<Brev, uint32_t, uint32_t>();
        case Op::Prmt: return i.mode == Mode::None ? ternary<Prmt, uint32_t, uint32_t>() : LaneOp{};
        case Op::Lop3: return same(lop3);
        case Op::Shf:
            return with_one_of<Mode::LWrap, Mode::LClamp, Mode::RWrap, Mode::RClamp>(
                i.mode, [](auto mode) { return ternary<Shf<decltype(mode)::value>, uint32_t, uint32_t>(); });
        default: return {};
    }
}

}  // namespace tilescope::simt::TILESCOPE_LANES
