// Columns, and the loops that apply a scalar operation to every lane.
namespace tilescope::simt::TILESCOPE_LANES {

using ptx::Bool;
using ptx::Compare;
using ptx::Half;
using ptx::Mode;
using ptx::Op;
using ptx::Operation;
using ptx::Round;
using ptx::Type;

template <class T>
using Slot = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;

// T may be a format of short floats too (lanes_half.inl), whose numbers are read as float.
template <class T>
inline auto from_slot(Slot<T> slot) {
    if constexpr (std::is_floating_point_v<T>)
        return std::bit_cast<T>(slot);
    else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(slot);
    else
        return T::widen(static_cast<uint16_t>(slot));
}

template <class T>
inline Slot<T> to_slot(T value) {
    if constexpr (std::is_floating_point_v<T>)
        return std::bit_cast<Slot<T>>(value);
    else
        return static_cast<Slot<T>>(static_cast<std::make_unsigned_t<T>>(value));
}

template <class T>
using Slots = Slot<T>[kWarpSize];
template <class T>
inline const Slots<T>& slots(const std::byte* column) {
    return *reinterpret_cast<const Slots<T>*>(column);
}
template <class T>
inline Slots<T>& slots(std::byte* column) {
    return *reinterpret_cast<Slots<T>*>(column);
}

inline uint32_t& word(std::byte* p) { return *reinterpret_cast<uint32_t*>(p); }
inline uint32_t word(const std::byte* p) { return *reinterpret_cast<const uint32_t*>(p); }

// D = F::apply(A), F::apply(A, B) or F::apply(A, B, C), by what F takes.
template <class F, class D, class A>
void full1(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*, uint32_t) {
    auto& out = slots<D>(d);
    const auto& x = slots<A>(a);
    TILESCOPE_EACH_LANE
    for (int i = 0; i < kWarpSize; ++i) out[i] = to_slot<D>(F::apply(from_slot<A>(x[i])));
}
template <class F, class D, class A>
void partial1(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*,
              uint32_t mask) {
    auto& out = slots<D>(d);
    const auto& x = slots<A>(a);
    TILESCOPE_EACH_LANE
    for (int i = 0; i < kWarpSize; ++i) {
        const Slot<D> r = to_slot<D>(F::apply(from_slot<A>(x[i])));
        out[i] = (mask >> i & 1) ? r : out[i];
    }
}
template <class F, class D, class A, class B>
void full2(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte*, uint32_t) {
    auto& out = slots<D>(d);
    const auto& x = slots<A>(a);
    const auto& y = slots<B>(b);
    TILESCOPE_EACH_LANE
    for (int i = 0; i < kWarpSize; ++i) out[i] = to_slot<D>(F::apply(from_slot<A>(x[i]), from_slot<B>(y[i])));
}
template <class F, class D, class A, class B>
void partial2(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte*,
              uint32_t mask) {
    auto& out = slots<D>(d);
    const auto& x = slots<A>(a);
    const auto& y = slots<B>(b);
    TILESCOPE_EACH_LANE
    for (int i = 0; i < kWarpSize; ++i) {
        const Slot<D> r = to_slot<D>(F::apply(from_slot<A>(x[i]), from_slot<B>(y[i])));
        out[i] = (mask >> i & 1) ? r : out[i];
    }
}
template <class F, class D, class A, class B, class C>
void full3(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte* c, uint32_t) {
    auto& out = slots<D>(d);
    const auto& x = slots<A>(a);
    const auto& y = slots<B>(b);
    const auto& z = slots<C>(c);
    TILESCOPE_EACH_LANE
    for (int i = 0; i < kWarpSize; ++i)
        out[i] = to_slot<D>(F::apply(from_slot<A>(x[i]), from_slot<B>(y[i]), from_slot<C>(z[i])));
}
template <class F, class D, class A, class B, class C>
void partial3(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte* c,
              uint32_t mask) {
    auto& out = slots<D>(d);
    const auto& x = slots<A>(a);
    const auto& y = slots<B>(b);
    const auto& z = slots<C>(c);
    TILESCOPE_EACH_LANE
    for (int i = 0; i < kWarpSize; ++i) {
        const Slot<D> r = to_slot<D>(F::apply(from_slot<A>(x[i]), from_slot<B>(y[i]), from_slot<C>(z[i])));
        out[i] = (mask >> i & 1) ? r : out[i];
    }
}

// An operation for warp after warp, so that what it costs to come to it is paid once.
template <LaneFn kFull>
void each_warp(const WarpColumns& first, uint32_t warps) {
    for (WarpColumns at = first; warps != 0; --warps) {
        kFull(at.d, at.e, at.a, at.b, at.c, ~0u);
        at.d += at.next_d, at.e += at.next_e, at.a += at.next_a, at.b += at.next_b, at.c += at.next_c;
    }
}

template <class F, class D, class A>
LaneOp unary() {
    return {full1<F, D, A>, partial1<F, D, A>, each_warp<full1<F, D, A>>};
}
template <class F, class D, class A, class B = A>
LaneOp binary() {
    return {full2<F, D, A, B>, partial2<F, D, A, B>, each_warp<full2<F, D, A, B>>};
}
template <class F, class D, class A, class B = A, class C = A>
LaneOp ternary() {
    return {full3<F, D, A, B, C>, partial3<F, D, A, B, C>, each_warp<full3<F, D, A, B, C>>};
}

template <LaneFn kFn>
LaneOp same() {
    return {kFn, kFn, each_warp<kFn>};
}

template <class F>
LaneOp same(F f) {
    return {f, f, nullptr};
}

// Pairs of f32: a column of them is two columns of numbers, one behind the other, and a lane two lanes.
inline uint32_t doubled(uint32_t mask, int half) {
    uint32_t bits = mask >> 16 * half & 0xFFFF;
    bits = (bits | bits << 8) & 0x00FF'00FF, bits = (bits | bits << 4) & 0x0F0F'0F0F;
    bits = (bits | bits << 2) & 0x3333'3333, bits = (bits | bits << 1) & 0x5555'5555;
    return bits | bits << 1;
}
template <LaneFn kFn>
void twice(std::byte* d, std::byte* e, const std::byte* a, const std::byte* b, const std::byte* c,
           uint32_t mask) {
    constexpr size_t kColumn = sizeof(Slots<float>);
    kFn(d, e, a, b, c, doubled(mask, 0));
    kFn(d + kColumn, e, a + kColumn, b + kColumn, c + kColumn, doubled(mask, 1));
}

// Calls f with the value as a constant, where it is one of those listed.
template <auto... kListed, class V, class Fn>
LaneOp with_one_of(V value, Fn f) {
    LaneOp found;
    ((value == kListed ? void(found = f(std::integral_constant<V, kListed>())) : void()), ...);
    return found;
}
// The same with two flags, such as .ftz and .sat.
template <class Fn>
LaneOp with_flags(bool first, bool second, Fn f) {
    if (first) return second ? f(std::true_type(), std::true_type()) : f(std::true_type(), std::false_type());
    return second ? f(std::false_type(), std::true_type()) : f(std::false_type(), std::false_type());
}

inline bool is_half(Type type) { return type == Type::F16 || type == Type::BF16; }

// Calls f with a value of the C++ type of an integer PTX type (b types count as unsigned).
template <class Fn>
LaneOp with_integer(Type type, Fn f) {
    switch (type) {
        case Type::B16:
        case Type::U16: return f(uint16_t{});
        case Type::S16: return f(int16_t{});
        case Type::B32:
        case Type::U32: return f(uint32_t{});
        case Type::S32: return f(int32_t{});
        case Type::B64:
        case Type::U64: return f(uint64_t{});
        case Type::S64: return f(int64_t{});
        default: return {};
    }
}

// The same for the types that cvt knows, 8 bits included.
template <class Fn>
LaneOp with_any_integer(Type type, Fn f) {
    if (type == Type::U8 || type == Type::B8) return f(uint8_t{});
    if (type == Type::S8) return f(int8_t{});
    return with_integer(type, f);
}

}  // namespace tilescope::simt::TILESCOPE_LANES
