#include "core/analysis/product.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "core/analysis/cell_map.h"
#include "core/base/contents.h"
#include "core/base/text.h"
#include "core/base/words.h"

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
    return array.space == Space::Global && array.rank == 2 && is_float(array.type);
}

// The three global arrays: M and N in the order of the arguments that point to them, or else in the other
// one.
std::vector<Product> shaped_as_product(const Launch& launch) {
    std::vector<uint8_t> inputs, outputs;
    for (const Argument& argument : launch.arguments) {
        if (argument.array < 0) continue;
        const Array& array = launch.arrays[static_cast<size_t>(argument.array)];
        if (!is_matrix(array) || argument.offset != 0) return {};
        (array.writes() ? outputs : inputs).push_back(static_cast<uint8_t>(argument.array));
    }
    if (inputs.size() != 2 || outputs.size() != 1 || launch.block.x != launch.block.y || launch.block.z != 1)
        return {};
    std::vector<Product> products;
    for (const size_t left : {0, 1}) {
        const uint8_t m = inputs[left], n = inputs[1 - left];
        const Array &M = launch.arrays[m], &N = launch.arrays[n], &P = launch.arrays[outputs[0]];
        if (M.cols == N.rows && P.rows == M.rows && P.cols == N.cols)
            products.push_back({m, n, outputs[0], M.rows, M.cols, N.cols, launch.block.x});
    }
    return products;
}

// The first block that stored anything and lost nothing; its loads must be those of a product.
bool loads_as_product(const trace::Trace& trace, const Product& product) {
    for (const trace::Block& block : trace.blocks) {
        if (block.dropped > 0) continue;
        std::array<Touched, 3> touched;
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
            for_lanes(access.mask, [&](uint32_t lane) {
                touched[static_cast<size_t>(role)].add(trace.launch.arrays[form.array], access.offset[lane],
                                                       site.bytes);
            });
        }
        const auto& [M, N, P] = touched;
        if (P.count == 0) continue;
        const uint64_t rows = P.row1 - P.row0, cols = P.col1 - P.col0;
        return M.row0 == P.row0 && M.row1 == P.row1 && N.col0 == P.col0 && N.col1 == P.col1 &&
               M.whole(rows, product.k) && N.whole(product.k, cols);
    }
    return true;  // nothing was stored: the shape alone decides
}

}  // namespace

std::optional<Product> product_of(const trace::Trace& trace) {
    for (const Product& product : shaped_as_product(trace.launch))
        if (loads_as_product(trace, product)) return product;
    return std::nullopt;
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

std::string kernel_name(const trace::Trace& trace, const std::optional<Product>& product) {
    const std::string kernel = one_line(trace.meta.kernel);
    return product ? fmt::format("{} T={}", kernel, product->tile) : kernel;
}

std::string size_name(const trace::Trace& trace, const std::optional<Product>& product) {
    if (product) return product->sizes();
    return fmt::format("grid {}, block {}", size_text(trace.launch.grid), size_text(trace.launch.block));
}

std::string launch_text(const trace::Trace& trace, const std::optional<Product>& product) {
    return size_name(trace, product) + (product ? fmt::format(" T={}", product->tile) : "");
}

std::string stem_of(const trace::Trace& trace, const std::optional<Product>& product) {
    std::string name(trace.meta.kernel.empty() ? "recording" : beginning_of(trace.meta.kernel, kLongestName));
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
    if (!product) return name;
    return fmt::format("{}-{}-t{}", name, product->sizes(), product->tile);
}

std::string title_of(const trace::Trace& trace, const std::optional<Product>& product) {
    return fmt::format("{} {}", one_line(trace.meta.kernel), launch_text(trace, product));
}

}  // namespace tilescope::analysis
