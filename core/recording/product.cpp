#include "core/recording/product.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

#include <fmt/format.h>

#include "core/base/contents.h"
#include "core/base/words.h"
#include "core/recording/cell_map.h"
#include "core/trace/access.h"

namespace tilescope::analysis {
namespace {

// Rows [row0, row1) and columns [col0, col1) that were touched, and how many of them.
struct Touched {
    uint64_t row0 = UINT64_MAX, row1 = 0, col0 = UINT64_MAX, col1 = 0;
    static constexpr size_t kMostBytes = size_t{16} << 20;
    CellMap<uint8_t> elements;
    uint64_t count = 0;

    void add(const Array& array, uint64_t offset, uint32_t bytes) {
        for (uint64_t at = offset; at < offset + bytes; at += array.element_bytes()) {
            const uint64_t element = at / array.element_bytes();
            const uint64_t row = element / array.cols, col = element % array.cols;
            row0 = std::min(row0, row), row1 = std::max(row1, row + 1);
            col0 = std::min(col0, col), col1 = std::max(col1, col + 1);
            uint8_t* const seen = elements.reach(element, kMostBytes);
            if (!seen) continue;  // too many to be what one block of a product touches
            count += *seen == 0;
            *seen = 1;
        }
    }
    bool whole(uint64_t rows, uint64_t cols) const { return count == rows * cols; }
};

bool is_matrix(const Array& array) {
    return array.space == Space::Global && array.rank == 2 && is_float(array.type) && !has_structs(array);
}

// The three global arrays: M and N in the order of the arguments that point to them, or in the other one.
std::vector<Product> shaped_as_product(const Launch& launch) {
    std::vector<uint8_t> inputs, outputs;
    for (const Argument& argument : launch.arguments) {
        if (argument.array < 0) continue;
        const Array& array = launch.arrays[static_cast<size_t>(argument.array)];
        if (!is_matrix(array) || argument.offset != 0) return {};
        (array.writes() ? outputs : inputs).push_back(static_cast<uint8_t>(argument.array));
    }
    if (inputs.size() != 2 || outputs.size() != 1 || launch.block.z != 1) return {};
    std::vector<Product> products;
    for (const size_t left : {0, 1}) {
        const uint8_t m = inputs[left], n = inputs[1 - left];
        const Array &M = launch.arrays[m], &N = launch.arrays[n], &P = launch.arrays[outputs[0]];
        if (M.cols == N.rows && P.rows == M.rows && P.cols == N.cols)
            products.push_back({m, n, outputs[0], M.rows, M.cols, N.cols});
    }
    return products;
}

bool is_square(const Dim3& block) { return block.x == block.y; }

// With a T: a block of T x T threads, each of which owns an element.
Product with_tile(Product product, uint32_t T) {
    product.tile = product.tile_rows = product.tile_cols = T;
    return product;
}

// How many rows, or columns, the tile of block `number` along their axis has, of which [first, end) lie in a
// matrix of `size` of them. A tile that ends where the matrix does may be cut: then its place says it.
uint32_t whole_tile(uint64_t first, uint64_t end, uint64_t size, uint64_t number) {
    const uint64_t seen = end - first;
    const bool told = end == size && number > 0 && first % number == 0 && first / number >= seen;
    return static_cast<uint32_t>(told ? first / number : seen);
}

// The tile of P that a block owns, rows and columns, by the part of it that one block stored. The grid's y
// walks the rows of P, or the other way round: whichever the grid's extents agree with.
std::pair<uint32_t, uint32_t> tile_of_block(const Touched& P, const Product& product, const Dim3& grid,
                                            const trace::Block& block) {
    const auto covers = [](uint32_t tile, uint32_t blocks, uint32_t size) {
        return (uint64_t{size} + tile - 1) / tile == blocks;
    };
    for (const bool swapped : {false, true}) {
        const auto rows = whole_tile(P.row0, P.row1, product.m, swapped ? block.x : block.y);
        const auto cols = whole_tile(P.col0, P.col1, product.n, swapped ? block.y : block.x);
        if (covers(rows, swapped ? grid.x : grid.y, product.m) &&
            covers(cols, swapped ? grid.y : grid.x, product.n))
            return {rows, cols};
    }
    return {static_cast<uint32_t>(P.row1 - P.row0), static_cast<uint32_t>(P.col1 - P.col0)};
}

// By the first block that stored anything and lost nothing: its loads must be those of a product, which then
// has the tile of P that a block owns. Nothing where they are not.
std::optional<Product> loaded_as_product(const trace::Trace& trace, const Product& product) {
    const Dim3& size = trace.launch.block;
    for (const trace::Block& block : trace.blocks) {
        if (block.dropped > 0) continue;
        std::array<Touched, 3> touched;
        std::vector<uint32_t> stored(size_t{trace::kMaxWarpsPerBlock} * kWarpSize);  // elements, by thread
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            const trace::Form& form = trace.form_of(step);
            const ptx::Site& site = trace.sites[form.site];
            const int role = form.array == product.M   ? 0
                             : form.array == product.N ? 1
                             : form.array == product.P ? 2
                                                       : -1;
            const bool wanted =
                role == 2 ? site.kind == ptx::SiteKind::Store : site.kind == ptx::SiteKind::Load;
            if (role < 0 || !wanted) continue;
            const trace::Access access = trace::decode(trace, step);
            const Array& array = trace.launch.arrays[form.array];
            trace::for_pieces(trace, step, access, [&](uint32_t lane, uint64_t offset, uint64_t of_piece) {
                const auto bytes = static_cast<uint32_t>(of_piece);
                touched[static_cast<size_t>(role)].add(array, offset, bytes);
                const size_t thread = size_t{access.warp} * kWarpSize + lane;
                if (role == 2 && thread < stored.size())
                    stored[thread] += std::max(bytes / array.element_bytes(), 1u);
            });
        }
        const auto& [M, N, P] = touched;
        if (P.count == 0) continue;
        const uint64_t rows = P.row1 - P.row0, cols = P.col1 - P.col0;
        if (M.row0 != P.row0 || M.row1 != P.row1 || N.col0 != P.col0 || N.col1 != P.col1 ||
            !M.whole(rows, product.k) || !N.whole(product.k, cols))
            return std::nullopt;
        const uint32_t patch = std::ranges::max(stored);
        if (is_square(size) && patch == 1) return with_tile(product, size.x);
        Product owned = product;
        std::tie(owned.tile_rows, owned.tile_cols) = tile_of_block(P, product, trace.launch.grid, block);
        owned.patch = patch;
        return owned;
    }
    // Nothing was stored: the shape alone decides.
    return is_square(size) ? std::optional(with_tile(product, size.x)) : std::nullopt;
}

}  // namespace

std::optional<Product> product_of(const trace::Trace& trace) {
    for (const Product& product : shaped_as_product(trace.launch))
        if (const auto found = loaded_as_product(trace, product)) return found;
    return std::nullopt;
}

std::vector<std::pair<const char*, uint32_t>> Product::sizes_by_name() const {
    std::vector<std::pair<const char*, uint32_t>> sizes{{"m", m}, {"k", k}, {"n", n}};
    if (tile > 0)
        sizes.emplace_back("tile", tile);
    else
        sizes.insert(sizes.end(), {{"tile_rows", tile_rows}, {"tile_cols", tile_cols}});
    return sizes;
}

std::string Product::sizes(std::string_view times) const {
    return fmt::format("{}{}{}{}{}", m, times, k, times, n);
}

double expected_element(const trace::Trace& trace, const Product& product, uint64_t element) {
    const Array &M = trace.launch.arrays[product.M], &N = trace.launch.arrays[product.N];
    const uint64_t row = element / product.n, col = element % product.n;
    double sum = 0;
    for (uint64_t i = 0; i < product.k; ++i)
        sum += number_of(initial_value(M, row * product.k + i)) *
               number_of(initial_value(N, i * product.n + col));
    return sum;
}

std::vector<std::pair<std::string, std::string>> renamed(const Launch& launch, const Product& product,
                                                         MatrixNames names) {
    struct Names {
        const char *matrix[3], *tile[2];
    };
    static constexpr Names kNames[] = {{{"M", "N", "P"}, {"Mds", "Nds"}},
                                       {{"A", "B", "C"}, {"As", "Bs"}},
                                       {{"Md", "Nd", "Pd"}, {"Mds", "Nds"}}};
    const Names &from = kNames[0], &to = kNames[static_cast<size_t>(names)];
    std::vector<std::pair<std::string, std::string>> pairs;
    const uint8_t roles[] = {product.M, product.N, product.P};
    for (size_t i = 0; i < 3; ++i)
        if (launch.arrays[roles[i]].name == from.matrix[i]) pairs.emplace_back(from.matrix[i], to.matrix[i]);
    for (size_t i = 0; i < 2; ++i) pairs.emplace_back(from.tile[i], to.tile[i]);
    return pairs;
}

Notation notation_of(const Launch& launch, const std::optional<Product>& product, const Wording& wording) {
    Notation notation{wording.x_first, wording.phases_from_1, {}};
    if (product && wording.names != MatrixNames::MNP)
        notation.renamed = renamed(launch, *product, wording.names);
    return notation;
}

}  // namespace tilescope::analysis
