// What a warp does with matrices: rows from memory become fragments and back, fragments are multiplied.
//
// A product is formed in tiles: the fragments are laid out as rows and columns, multiplied, and handed back to the
// lanes. Who has which element stands in core/ptx/matrix.h alone; what a sum of products is, in sum_of_products().
//
// Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".
#include "core/ptx/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/simt/machine.h"
#include "core/simt/matrix_sums.h"

namespace tilescope::simt {

using ptx::MatrixForm;
using ptx::MatrixRole;
using ptx::MatrixType;
using MatrixDoes = MatrixCode::Kind;
using Words = std::array<uint32_t, kWarpSize>;

namespace {

constexpr size_t at(MatrixRole role) { return static_cast<size_t>(role); }

constexpr uint32_t half_of(uint32_t word, uint32_t half) { return word >> 16 * half & 0xFFFF; }

// The largest tiles: 32 x 16 of wmma, 16 x 64 of mma.
constexpr size_t kMostElements = 32 * 64;
template <class T>
using Tile = std::array<T, kMostElements>;

// fn(word, place) for each element that the lanes hold, its bits lowest in `word`.
template <class Word, class Fn>
void each_element(const std::vector<const std::byte*>& columns, const std::vector<uint16_t>& places,
                  uint32_t bits, Fn fn) {
    const uint16_t* place = places.data();
    const size_t elements = places.size() / columns.size() / kWarpSize;
    for (const std::byte* column : columns) {
        const auto* const word = reinterpret_cast<const Word*>(column);
        for (size_t element = 0; element < elements; ++element, place += kWarpSize)
            for (size_t lane = 0; lane < kWarpSize; ++lane)
                fn(static_cast<Word>(word[lane] >> element * bits), place[lane]);
    }
}

// The same to write: fn(place) gives the element's bits.
template <class Word, class Fn>
void put_elements(const std::vector<std::byte*>& columns, const std::vector<uint16_t>& places, uint32_t bits,
                  Fn fn) {
    const uint16_t* place = places.data();
    const size_t elements = places.size() / columns.size() / kWarpSize;
    for (std::byte* column : columns) {
        auto* const word = reinterpret_cast<Word*>(column);
        for (size_t element = 0; element < elements; ++element, place += kWarpSize)
            for (size_t lane = 0; lane < kWarpSize; ++lane) {
                const Word made = static_cast<Word>(fn(place[lane])) << element * bits;
                word[lane] = element == 0 ? made : word[lane] | made;
            }
    }
}

// Factors, as numbers that hold them exactly.
void read_floats(const std::vector<const std::byte*>& columns, const std::vector<uint16_t>& places,
                 MatrixType type, Tile<double>& tile) {
    if (type == MatrixType::F64)
        return each_element<uint64_t>(columns, places, 64,
                                      [&](uint64_t w, uint16_t p) { tile[p] = std::bit_cast<double>(w); });
    with_float(type, [&](uint32_t bits, auto number) {
        each_element<uint32_t>(columns, places, bits, [&](uint32_t w, uint16_t p) { tile[p] = number(w); });
    });
}

void read_integers(const std::vector<const std::byte*>& columns, const std::vector<uint16_t>& places,
                   MatrixType type, Tile<int32_t>& tile) {
    with_integer(type, [&](uint32_t bits, auto number) {
        each_element<uint32_t>(columns, places, bits, [&](uint32_t w, uint16_t p) { tile[p] = number(w); });
    });
}

// sums += a b: m x k by k x n elements, each row after row.
void multiply_integers(const MatrixForm& form, const int32_t* a, const int32_t* b, int32_t* sums) {
    const bool bits = form.type(MatrixRole::A) == MatrixType::B1;
    const size_t n = form.n, k = bits ? form.k / 32u : form.k;
    for (size_t row = 0; row < form.m; ++row)
        for (size_t column = 0; column < n; ++column) {
            int64_t sum = sums[row * n + column];
            for (size_t i = 0; i < k; ++i) {
                const int32_t x = a[row * k + i], y = b[i * n + column];
                sum +=
                    bits ? std::popcount(static_cast<uint32_t>(form.both ? x & y : x ^ y)) : int64_t{x} * y;
            }
            if (form.satfinite)
                sum = std::clamp(sum, int64_t{std::numeric_limits<int32_t>::min()},
                                 int64_t{std::numeric_limits<int32_t>::max()});
            sums[row * n + column] = static_cast<int32_t>(static_cast<uint32_t>(sum));
        }
}

// multiply(form, a, b, sums) for each product: of a sparse A row by row, each with the rows of B that it meets.
// metadata: [32], by lane, of a sparse A alone.
template <class T, class Fn>
void each_product(const MatrixCode& code, const uint32_t* metadata, const Tile<T>& a, const Tile<T>& b,
                  Tile<T>& sums, Fn multiply) {
    const MatrixForm& form = code.form;
    const size_t n = form.n, k = form.columns(MatrixRole::A);
    if (!form.sparse) {
        for (size_t p = 0; p < form.products(); ++p)
            multiply(form, a.data() + p * form.m * k, b.data() + p * k * n, sums.data() + p * form.m * n);
        return;
    }
    MatrixForm one = form;
    one.m = 1, one.k = static_cast<uint16_t>(k), one.sparse = false;
    Tile<T> met;
    for (uint32_t row = 0; row < form.m; ++row) {
        for (uint32_t i = 0; i < k; ++i)
            std::copy_n(&b[n * ptx::column_of_stored(form, code.selector, metadata, row, i)], n, &met[n * i]);
        multiply(one, a.data() + row * k, met.data(), sums.data() + row * n);
    }
}

}  // namespace

void Machine::multiply(Warp& warp, const MatrixCode& code) {
    const MatrixForm& form = code.form;
    const auto* const metadata =
        form.sparse ? reinterpret_cast<const uint32_t*>(at(warp, code.metadata)) : nullptr;
    const auto columns_of = [&](const std::vector<Ref>& refs) {
        std::vector<const std::byte*> columns;
        for (const Ref ref : refs) columns.push_back(at(warp, ref));
        return columns;
    };
    const auto places = [&](MatrixRole role) -> const std::vector<uint16_t>& {
        return code.places[simt::at(role)];
    };
    std::vector<std::byte*> d;
    for (const Ref ref : code.d) d.push_back(at(warp, ref));
    const auto a = columns_of(code.a), b = columns_of(code.b), c = columns_of(code.c);
    const MatrixType factor = form.type(MatrixRole::A), sum = form.type(MatrixRole::D);
    if (ptx::is_integer(factor)) {
        Tile<int32_t> x, y, sums;
        read_integers(a, places(MatrixRole::A), factor, x);
        read_integers(b, places(MatrixRole::B), form.type(MatrixRole::B), y);
        read_integers(c, places(MatrixRole::C), MatrixType::S32, sums);
        each_product(code, metadata, x, y, sums, multiply_integers);
        return put_elements<uint32_t>(d, places(MatrixRole::D), 32, [&](uint16_t p) { return sums[p]; });
    }
    Tile<double> x, y, sums;
    read_floats(a, places(MatrixRole::A), factor, x);
    read_floats(b, places(MatrixRole::B), form.type(MatrixRole::B), y);
    read_floats(c, places(MatrixRole::C), form.type(MatrixRole::C), sums);
    each_product(code, metadata, x, y, sums, sum_of_products);
    switch (sum) {
        case MatrixType::F16:
            return put_elements<uint32_t>(d, places(MatrixRole::D), 16,
                                          [&](uint16_t p) { return half_bits(sums[p]); });
        case MatrixType::F32:
            return put_elements<uint32_t>(d, places(MatrixRole::D), 32,
                                          [&](uint16_t p) { return float_bits(sums[p]); });
        default:
            return put_elements<uint64_t>(d, places(MatrixRole::D), 64,
                                          [&](uint16_t p) { return std::bit_cast<uint64_t>(sums[p]); });
    }
}

// What is known of where the values of D, or of a moved matrix, come from.
void Machine::flow_through(Warp& warp, const MatrixCode& code) {
    const auto column = [&](Ref ref) { return reinterpret_cast<Origin*>(warp.origins + ref); };
    const auto fresh = [&] { return kComputed | ++next_chain_; };
    switch (code.kind) {
        case MatrixDoes::Addresses: std::fill_n(column(code.d[0]), kWarpSize, 0); return;
        case MatrixDoes::Receive:
            // The part counts the registers of the lane that receives them.
            for (size_t j = 0; j < code.d.size(); ++j) {
                const Origin step = column(code.a[0])[0] & kStepMask;
                std::fill_n(column(code.d[j]), kWarpSize, step | static_cast<Origin>(j) << kPartShift);
            }
            return;
        case MatrixDoes::Give:
        case MatrixDoes::Transpose:  // of other lanes
            for (const Ref ref : code.a) settle_loose(warp, origin(warp, ref), ~0u);
            for (const Ref d : code.d) std::fill_n(column(d), kWarpSize, fresh());
            return;
        case MatrixDoes::Multiply: break;
    }
    for (const std::vector<Ref>* const refs : {&code.a, &code.b, &code.c})
        for (const Ref ref : *refs) settle_loose(warp, origin(warp, ref), ~0u);
    if (code.form.sparse) settle_loose(warp, origin(warp, code.metadata), ~0u);
    std::array<std::array<Origin, kWarpSize>, 8> made;
    for (size_t i = 0; i < code.d.size(); ++i) {
        const Origin chain = fresh();
        const Origin* const c = origin(warp, code.c[std::min(i, code.c.size() - 1)]);
        for (size_t lane = 0; lane < kWarpSize; ++lane)
            made[i][lane] = (c[lane] & kComputed) != 0 ? c[lane] : chain;
    }
    for (size_t i = 0; i < code.d.size(); ++i) std::ranges::copy(made[i], column(code.d[i]));
}

// A step: reports it, with what each lane holds where values are wanted.
template <bool Values>
void Machine::multiply_step(Warp& warp, const MatrixCode& code) {
    constexpr size_t kMostRegisters = 8;
    const std::array<const std::vector<Ref>*, 4> fragments = {&code.a, &code.b, &code.c, &code.d};
    Exchange made;
    std::array<uint64_t, kWarpSize> nothing{};
    made.site = code.site, made.warp = warp.number, made.mask = ~0u, made.bytes = 0;
    made.from = nothing.data();
    if constexpr (!Values) {
        multiply(warp, code);
        if (observer_ && code.site != kNoSite) observer_->on_exchange(made);
        return;
    }
    std::array<std::array<uint64_t, kMostRegisters * kWarpSize>, 4> value;
    std::array<std::array<Origin, kMostRegisters * kWarpSize>, 4> origins;
    const auto keep = [&](size_t role) {
        for (size_t i = 0; i < fragments[role]->size(); ++i) {
            const Ref ref = (*fragments[role])[i];
            const bool wide = code.form.register_bytes(static_cast<MatrixRole>(role)) == 8;
            for (size_t lane = 0; lane < kWarpSize; ++lane)
                value[role][i * kWarpSize + lane] =
                    wide ? reinterpret_cast<const uint64_t*>(at(warp, ref))[lane]
                         : reinterpret_cast<const uint32_t*>(at(warp, ref))[lane];
            std::copy_n(origin(warp, ref), kWarpSize,
                        origins[role].begin() + static_cast<ptrdiff_t>(i * kWarpSize));
        }
    };
    for (const size_t role : {0, 1, 2}) keep(role);
    multiply(warp, code);
    flow_through(warp, code);
    keep(3);
    if (!ptx::is_integer(code.form.type(MatrixRole::A))) flop += code.form.flop();
    MatrixProduct product;
    product.form = &code.form;
    for (size_t role = 0; role < 4; ++role)
        product.value[role] = value[role].data(), product.origin[role] = origins[role].data();
    made.product = &product;
    if (observer_ && code.site != kNoSite) observer_->on_exchange(made);
}

template <bool Values>
void Machine::matrix(Warp& warp, const MicroOp& op) {
    const MatrixCode& code = program_.matrices[op.target];
    const auto words = [&](Ref ref) { return reinterpret_cast<uint32_t*>(at(warp, ref)); };
    const auto copy_to = [&](Ref d, const Words& made) {
        std::memcpy(at(warp, d), made.data(), sizeof made);
    };
    switch (code.kind) {
        case MatrixDoes::Multiply: return multiply_step<Values>(warp, code);
        case MatrixDoes::Addresses: {
            const uint32_t* const stride = words(code.b[0]);
            for (size_t lane = 0; lane < kWarpSize; ++lane) {
                const uint64_t elements = uint64_t{code.along[lane]} * stride[lane] + code.beside[lane];
                const uint64_t bytes = elements * code.bits / 8;
                if (code.wide)
                    reinterpret_cast<uint64_t*>(at(warp, code.d[0]))[lane] =
                        reinterpret_cast<const uint64_t*>(at(warp, code.a[0]))[lane] + bytes;
                else
                    words(code.d[0])[lane] = words(code.a[0])[lane] + static_cast<uint32_t>(bytes);
            }
            break;
        }
        case MatrixDoes::Receive:
            for (uint32_t j = 0; j < code.d.size(); ++j) {
                Words made{};
                for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
                    const uint32_t g = lane / 4, t = lane % 4;
                    if (!code.transposed) {
                        made[lane] = words(code.a[t])[8 * j + g];
                        continue;
                    }
                    const uint32_t* const word = words(code.a[g / 2]) + 8 * j + 2 * t;
                    made[lane] = half_of(word[0], g % 2) | half_of(word[1], g % 2) << 16;
                }
                copy_to(code.d[j], made);
            }
            break;
        case MatrixDoes::Give:
            for (uint32_t w = 0; w < code.d.size(); ++w) {
                Words made{};
                for (uint32_t row = 0; row < 8 * code.a.size(); ++row) {
                    const uint32_t* const word = words(code.a[row / 8]);
                    const uint32_t r = row % 8;
                    made[row] = !code.transposed ? word[4 * r + w]
                                                 : half_of(word[8 * w + r / 2], r % 2) |
                                                       half_of(word[8 * w + 4 + r / 2], r % 2) << 16;
                }
                copy_to(code.d[w], made);
            }
            break;
        case MatrixDoes::Transpose: {
            Words made{}, given{};
            std::memcpy(given.data(), words(code.a[0]), sizeof given);
            for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
                const uint32_t g = lane / 4, t = lane % 4;
                made[lane] = half_of(given[8 * t + g / 2], g % 2) | half_of(given[8 * t + 4 + g / 2], g % 2)
                                                                        << 16;
            }
            copy_to(code.d[0], made);
            if (!observer_ || code.site == kNoSite) break;
            std::array<uint64_t, kWarpSize> from{}, gives{}, gets{};
            std::ranges::copy(given, gives.begin());
            std::ranges::copy(made, gets.begin());
            Exchange step;
            step.site = code.site, step.warp = warp.number, step.mask = ~0u, step.from = from.data();
            if constexpr (Values) step.given = gives.data(), step.got = gets.data();
            observer_->on_exchange(step);
        }
    }
    if constexpr (Values) flow_through(warp, code);
}

// Not all 32 lanes have come to what they must do together.
bool Machine::raise_apart(Warp& warp, const MicroOp& op, uint32_t mask) {
    const uint32_t ended = ~warp.alive, elsewhere = warp.alive & ~mask;
    const ptx::Op what = program_.operations[op.instruction];
    const std::string where = fmt::format("{} at {}", ptx::rule_of(what).name, line_text(op));
    const uint32_t absent = elsewhere != 0 ? elsewhere : ended;
    return raise(
        Fault::Kind::BarrierDivergence, warp, std::countr_zero(mask), op,
        fmt::format("{} come to {} without {}, which {}: all 32 lanes of a warp must come to it together",
                    of_block(mask, warp), where, lanes_named(absent),
                    elsewhere != 0                           ? "take another path"
                    : launch_.block.count() % kWarpSize != 0 ? "have no thread, or have ended"
                                                             : "have ended"));
}

template void Machine::matrix<false>(Warp&, const MicroOp&);
template void Machine::matrix<true>(Warp&, const MicroOp&);

}  // namespace tilescope::simt
