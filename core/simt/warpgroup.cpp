#include "core/simt/warpgroup.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "core/simt/matrix_sums.h"

namespace tilescope::simt {

using ptx::MatrixForm;
using ptx::MatrixRole;
using ptx::MatrixType;

namespace {

constexpr size_t kRows = 16, kColumns = 8;  // of a tile: what one Factors holds
constexpr size_t kMostAlongK = 64;          // of a sparse product of bytes

// Elements along k, `count` of them, as numbers.
template <class T, class With>
void read(MatrixType type, const std::byte* bytes, size_t count, T* to, With with) {
    with(type, [&](uint32_t bits, auto number) {
        for (size_t i = 0; i < count; ++i) {
            uint32_t word = 0;
            std::memcpy(&word, bytes + i * bits / 8, bits / 8);
            to[i] = number(word);
        }
    });
}
constexpr auto kFloats = [](MatrixType type, auto fn) { with_float(type, fn); };
constexpr auto kIntegers = [](MatrixType type, auto fn) { with_integer(type, fn); };

// The lowest exponent that a subnormal factor counts with: 8-bit floats are multiplied as they are.
int lowest_of(MatrixType type) { return type == MatrixType::E4M3 ? -6 : Factors::lowest_of(type); }

// Which row of B the stored element i of A's row meets.
uint32_t met(const WarpgroupProduct& product, std::span<const uint32_t> metadata, size_t row, size_t i) {
    if (!product.form.sparse) return static_cast<uint32_t>(i);
    MatrixForm tile = product.form;
    tile.m = kRows, tile.n = kColumns;
    return ptx::column_of_stored(tile, product.selector, metadata.data() + row / kRows * kWarpSize,
                                 static_cast<uint32_t>(row % kRows), static_cast<uint32_t>(i));
}

void multiply_floats(const WarpgroupProduct& product, std::span<const std::byte> a,
                     std::span<const std::byte> b, std::span<const uint32_t> metadata,
                     std::span<uint32_t> d) {
    const MatrixForm& form = product.form;
    const MatrixType of_a = form.type(MatrixRole::A), of_b = form.type(MatrixRole::B);
    const bool halves = form.type(MatrixRole::D) == MatrixType::F16, bytes = ptx::bits_of(of_a) == 8;
    const size_t n = form.n, stored = form.columns(MatrixRole::A), wide = b.size() / n;
    const size_t rows = a.size() / ptx::kBytesAlongK;
    const SumRule rule = bytes ? kSumsOfBytes : SumRule{};
    // Rows that meet the same rows of B are summed at once.
    const size_t together = form.sparse ? 1 : kRows;
    MatrixForm tile = form;
    tile.m = static_cast<uint16_t>(together), tile.n = kColumns, tile.k = static_cast<uint16_t>(stored);
    std::vector<double> numbers(rows * stored);
    std::vector<Factors> factors;
    factors.reserve(rows / together);
    for (size_t row = 0; row < rows; ++row)
        read(of_a, a.data() + row * ptx::kBytesAlongK, stored, numbers.data() + row * stored, kFloats);
    if (product.negates)
        for (double& number : numbers) number = -number;
    for (size_t row = 0; row < rows; row += together)
        factors.emplace_back(lowest_of(of_a), numbers.data() + row * stored, together * stored);
    std::array<double, kMostAlongK * kColumns> column, meets;
    for (size_t first = 0; first < n; first += kColumns) {
        for (size_t j = 0; j < kColumns; ++j)
            read(of_b, b.data() + (first + j) * wide, form.k, column.data() + j * form.k, kFloats);
        const auto gather = [&](size_t row) {
            for (size_t i = 0; i < stored; ++i)
                for (size_t j = 0, at = met(product, metadata, row, i); j < kColumns; ++j)
                    meets[i * kColumns + j] = column[j * form.k + at];
            return Factors(lowest_of(of_b), meets.data(), stored * kColumns);
        };
        Factors y = gather(0);
        for (size_t row = 0; row < rows; row += together) {
            if (form.sparse && row > 0) y = gather(row);
            std::array<double, kRows * kColumns> sums;
            for (size_t i = 0; i < together * kColumns; ++i) {
                const uint32_t word = d[(row + i / kColumns) * n + first + i % kColumns];
                sums[i] = halves ? double{half_number(word)} : double{std::bit_cast<float>(word)};
            }
            tensor_sums(tile, factors[row / together], y, {}, halves, sums.data(), rule);
            for (size_t i = 0; i < together * kColumns; ++i)
                d[(row + i / kColumns) * n + first + i % kColumns] =
                    halves ? half_bits(sums[i]) : float_bits(sums[i]);
        }
    }
}

void multiply_integers(const WarpgroupProduct& product, std::span<const std::byte> a,
                       std::span<const std::byte> b, std::span<const uint32_t> metadata,
                       std::span<uint32_t> d) {
    const MatrixForm& form = product.form;
    const MatrixType of_a = form.type(MatrixRole::A), of_b = form.type(MatrixRole::B);
    const bool bits = of_a == MatrixType::B1;
    const size_t n = form.n, words = bits ? 32 : 1;  // elements that are read at once
    const size_t stored = form.columns(MatrixRole::A) / words, all = form.k / words, wide = b.size() / n;
    const size_t rows = a.size() / ptx::kBytesAlongK;
    std::vector<int32_t> columns(n * all);
    for (size_t j = 0; j < n; ++j) read(of_b, b.data() + j * wide, all, columns.data() + j * all, kIntegers);
    std::array<int32_t, kMostAlongK> x;
    std::array<uint32_t, kMostAlongK> at;
    for (size_t row = 0; row < rows; ++row) {
        read(of_a, a.data() + row * ptx::kBytesAlongK, stored, x.data(), kIntegers);
        for (size_t i = 0; i < stored; ++i) at[i] = met(product, metadata, row, i);
        for (size_t j = 0; j < n; ++j) {
            int64_t sum = static_cast<int32_t>(d[row * n + j]);
            for (size_t i = 0; i < stored; ++i) {
                const int32_t y = columns[j * all + at[i]];
                sum += bits ? std::popcount(static_cast<uint32_t>(x[i] & y)) : int64_t{x[i]} * y;
            }
            if (form.satfinite)
                sum = std::clamp(sum, int64_t{std::numeric_limits<int32_t>::min()},
                                 int64_t{std::numeric_limits<int32_t>::max()});
            d[row * n + j] = static_cast<uint32_t>(sum);
        }
    }
}

}  // namespace

void multiply(const WarpgroupProduct& product, std::span<const std::byte> a, std::span<const std::byte> b,
              std::span<const uint32_t> metadata, std::span<uint32_t> d) {
    if (ptx::is_integer(product.form.type(MatrixRole::A)))
        multiply_integers(product, a, b, metadata, d);
    else
        multiply_floats(product, a, b, metadata, d);
}

}  // namespace tilescope::simt
