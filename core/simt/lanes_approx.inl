// The approximate functions. Source: PTX ISA, "Floating Point Instructions: div, rcp, sqrt, rsqrt, sin, cos,
// lg2, ex2, tanh"; each states a largest error and a table of special values.
//
// All are computed in double precision and rounded once, so that an fp32 result is within 0.51 units in
// the last place: closer than any of the stated bounds, and the same with every mathematical library. A
// GPU's own results lie within the stated bounds and often differ in the last places.
namespace tilescope::simt::TILESCOPE_LANES {

struct ApproxEx2 {
    static float op(float a) { return static_cast<float>(std::exp2(double{a})); }
};
// The same for all lanes at once. 2^x is 2^n times 2^f, n a whole number and f at most a half; 2^f is a polynomial
// in double precision, whose error is far below half a unit of a float. Where the result lies so near the middle
// between two floats that the error could tell which is nearer, and where x is not small, the function above is asked.
template <bool Ftz>
inline void ex2_lanes(const Slots<float>& x, Slots<float>& result) {
    constexpr int kDegree = 10;
    constexpr auto kTerm = [] {
        std::array<double, kDegree + 1> term{1.0};  // ln(2)^k / k!
        for (size_t k = 1; k < term.size(); ++k)
            term[k] = term[k - 1] * std::numbers::ln2 / static_cast<double>(k);
        return term;
    }();
    constexpr double kWhole = 0x1.8p52;  // added, leaves whole numbers
    // Bits of a double that a float does not have; the middle of them; twice what the terms left out come to.
    constexpr uint64_t kBeyond = (1 << 29) - 1, kMiddle = 1 << 28, kNear = 1 << 12;
    constexpr uint32_t kLargest = std::bit_cast<uint32_t>(125.0f);
    // Whole numbers, of which expf asks first, make powers of two.
    constexpr float kWholeFloat = 0x1.8p23f;
    uint32_t parts = 0, large = 0;
    for (int i = 0; i < kWarpSize; ++i) {
        const float number = from_slot<float>(x[i]);
        parts |= number + kWholeFloat - kWholeFloat != number ? 1u : 0u;
        large |= (x[i] & 0x7FFF'FFFFu) > kLargest ? 1u : 0u;
    }
    if ((parts | large) == 0) {
        for (int i = 0; i < kWarpSize; ++i) {
            const uint32_t n = std::bit_cast<uint32_t>(from_slot<float>(x[i]) + kWholeFloat) -
                               std::bit_cast<uint32_t>(kWholeFloat);
            result[i] = to_slot<float>(finished<Ftz, false>(std::bit_cast<float>((n + 127) << 23)));
        }
        return;
    }
    double power[kWarpSize];
    uint64_t unsure[kWarpSize], any = 0;
    for (int i = 0; i < kWarpSize; ++i) power[i] = double{flushed<Ftz>(from_slot<float>(x[i]))};
    for (int i = 0; i < kWarpSize; ++i) {
        const double shifted = power[i] + kWhole, f = power[i] - (shifted - kWhole);
        double sum = kTerm[kDegree];
        for (size_t k = kDegree; k-- > 0;) sum = sum * f + kTerm[k];
        const uint64_t bits = std::bit_cast<uint64_t>(sum) + (std::bit_cast<uint64_t>(shifted) << 52);
        power[i] = std::bit_cast<double>(bits);
        const uint64_t from_middle = (bits & kBeyond) - (kMiddle - kNear);
        unsure[i] = from_middle <= 2 * kNear ? 1 : 0;
        any |= unsure[i];
    }
    for (int i = 0; i < kWarpSize; ++i)
        result[i] = to_slot<float>(finished<Ftz, false>(static_cast<float>(power[i])));
    if ((any | large) == 0) return;
    for (int i = 0; i < kWarpSize; ++i)
        if (unsure[i] != 0 || (x[i] & 0x7FFF'FFFFu) > kLargest)
            result[i] = to_slot<float>(F32<ApproxEx2, Ftz, false>::apply(from_slot<float>(x[i])));
}
template <bool Ftz>
void ex2_full(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*, uint32_t) {
    Slots<float> result;
    ex2_lanes<Ftz>(slots<float>(a), result);
    for (int i = 0; i < kWarpSize; ++i) slots<float>(d)[i] = result[i];
}
template <bool Ftz>
void ex2_partial(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*,
                 uint32_t mask) {
    Slots<float> result;
    ex2_lanes<Ftz>(slots<float>(a), result);
    for (int i = 0; i < kWarpSize; ++i)
        if (mask >> i & 1) slots<float>(d)[i] = result[i];
}

struct ApproxLg2 {
    static float op(float a) { return static_cast<float>(std::log2(double{a})); }
};
struct ApproxSin {
    static float op(float a) { return static_cast<float>(std::sin(double{a})); }
};
struct ApproxCos {
    static float op(float a) { return static_cast<float>(std::cos(double{a})); }
};
struct ApproxTanh {
    static float op(float a) { return static_cast<float>(std::tanh(double{a})); }
};
struct ApproxRsqrt {
    static float op(float a) { return static_cast<float>(1.0 / __builtin_sqrt(double{a})); }
};
// a * (1 / b): for |b| above 2^126, 1 / b is a subnormal number that counts as zero.
struct ApproxDiv {
    static float op(float a, float b) {
        const float size = __builtin_fabsf(b);
        const bool vanishes = size > 0x1p126f && size <= std::numeric_limits<float>::max();
        return vanishes ? a * __builtin_copysignf(0.0f, b) : a / b;
    }
};

// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: only the upper 32 bits of operand and result count, and
// subnormal numbers are zeros. A NaN is 0x7fffffff00000000.
template <class F>
struct UpperHalf {
    static uint64_t kept(uint64_t bits) {
        const uint64_t upper = bits & 0xFFFF'FFFF'0000'0000u;
        return (upper & 0x7FF0'0000'0000'0000u) == 0 ? upper & 0x8000'0000'0000'0000u : upper;
    }
    static double apply(double a) {
        const double r = F::op(std::bit_cast<double>(kept(std::bit_cast<uint64_t>(a))));
        if (r != r || a != a) return std::bit_cast<double>(0x7FFF'FFFF'0000'0000u);
        const uint64_t bits = std::bit_cast<uint64_t>(r);
        const bool finite = (bits & 0x7FF0'0000'0000'0000u) != 0x7FF0'0000'0000'0000u;
        return std::bit_cast<double>(kept(finite ? bits + 0x8000'0000u : bits));  // to the nearest
    }
};
struct ApproxRsqrt64 {
    static double op(double a) { return 1.0 / __builtin_sqrt(a); }
};

inline LaneOp find_approx(const Operation& i) {
    if (i.round != Round::Approx && i.round != Round::Full) return {};
    if (i.type == Type::F64) {
        if (i.op == Op::Rcp && i.ftz) return unary<UpperHalf<FRcp>, double, double>();
        if (i.op != Op::Rsqrt) return {};
        return i.ftz ? unary<UpperHalf<ApproxRsqrt64>, double, double>()
                     : unary<F64<ApproxRsqrt64>, double, double>();
    }
    if (i.type != Type::F32) return {};
    switch (i.op) {
        case Op::Cos: return float32_op<ApproxCos, 1>(i);
        case Op::Div: return i.round == Round::Full ? float32_op<FDiv, 2>(i) : float32_op<ApproxDiv, 2>(i);
        case Op::Ex2:
            return i.ftz ? LaneOp{ex2_full<true>, ex2_partial<true>, each_warp<ex2_full<true>>}
                         : LaneOp{ex2_full<false>, ex2_partial<false>, each_warp<ex2_full<false>>};
        case Op::Lg2: return float32_op<ApproxLg2, 1>(i);
        case Op::Rcp: return float32_op<FRcp, 1>(i);
        case Op::Rsqrt: return float32_op<ApproxRsqrt, 1>(i);
        case Op::Sin: return float32_op<ApproxSin, 1>(i);
        case Op::Sqrt: return float32_op<FSqrt, 1>(i);
        case Op::Tanh: return float32_op<ApproxTanh, 1>(i);
        default: return {};
    }
}

}  // namespace tilescope::simt::TILESCOPE_LANES
