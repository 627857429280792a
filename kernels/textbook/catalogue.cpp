// The catalogue: a row for each kernel, and the arithmetic of its launch. What scripts need of a row they ask
// of `tilescope kernels --json`.
//
//   grid.x covers the columns of P and grid.y its rows; swapped, the other way round
//   M, N, P are parameters 0 to 2; the sizes m, k, n follow, then tensor maps
//
// Tiles of kernels without a T stand here as in their sources; a test holds the two together.
#include "kernels/textbook/catalogue.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "core/ptx/tensor_map.h"
#include "kernels/textbook/reference.h"

namespace tilescope::kernels {

std::string_view embedded_file(std::string_view path);  // made by cmake/embed.cmake

namespace {

// Hardware limits that hold for every device since compute capability 3.0: CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability".
constexpr uint64_t kMaxGridX = 0x7FFF'FFFF;
constexpr uint64_t kMaxGridY = 65'535;

// The figures of the ladder's texts are those of the sources; a test counts them in recordings.
std::vector<KernelInfo> make_catalogue() {
    const std::vector<SharedArray> tiles{{"Mds"}, {"Nds"}};
    return {
        {.name = "untiled",
         .teaches = "One thread per element of P reads everything it needs from global memory, so every "
                    "element of M and N travels many times.",
         .rung = ""},
        {.name = "untiled_swapped",
         .teaches = "The same arithmetic with thread x walking the rows: the lanes of a warp read M a row "
                    "apart, and coalescing is lost.",
         .swapped = true},
        {.name = "tiled",
         .teaches = "A block brings each tile of M and N into shared memory once and reads it T times, so "
                    "global loads shrink by T.",
         .tiled = true,
         .shared = tiles,
         .rung = "tiles in shared memory: an element is loaded once for T products, not for one"},
        {.name = "tiled_swapped",
         .teaches = "Tiled, but thread x walks down the rows of a tile as it loads: there are as few loads "
                    "as before, each one uncoalesced.",
         .tiled = true,
         .shared = tiles},
        {.name = "tiled_transposed",
         .teaches = "Tiled with the N tile kept transposed: the lanes of a warp read down a column of Nds "
                    "and meet in the same banks.",
         .tiled = true,
         .shared = tiles},
        {.name = "tiled_padded",
         .teaches = "The transposed tile with rows one word longer: a column spreads over all banks and the "
                    "conflicts are gone at T = 32.",
         .tiled = true,
         .shared = {{"Mds"}, {"Nds", 1}}},
        {.name = "tiled_no_barrier",
         .teaches = "Tiled without the barrier that closes a phase: a warp that runs ahead overwrites tiles "
                    "that others still read.",
         .tiled = true,
         .shared = tiles,
         .default_schedule = {Schedule::Kind::Greedy, 0},
         .fault = "race"},
        {.name = "tiled_stale_edge",
         .teaches = "Tiled without the zero fill at the edges: cells beyond the matrices keep an old value, "
                    "and it is multiplied again.",
         .tiled = true,
         .shared = tiles,
         .fault = "stale"},
        {.name = "register_column",
         .teaches = "A thread owns eight elements of a column of P, so nine loads from shared memory feed "
                    "eight products instead of sixteen.",
         .tiled = true,
         .shared = {{"Mds", 0, 64, 8}, {"Nds", 0, 8, 64}},
         .own_tile = BlockTile{64, 64, {512, 1, 1}},
         .rung = "8 elements a thread: 9 reads of shared memory feed 8 products, where 16 did"},
        {.name = "register_tile",
         .teaches = "A thread owns a patch of 8 × 8 elements of P: what it reads into registers is used "
                    "eight times, and sixteen loads feed 64 products.",
         .tiled = true,
         .shared = {{"Mds", 0, 128, 8}, {"Nds", 0, 8, 128}},
         .own_tile = BlockTile{128, 128, {256, 1, 1}},
         .rung = "8 × 8 elements a thread: 16 reads of shared memory feed 64 products"},
        {.name = "vector_loads",
         .teaches = "The same patch with loads of four elements at once, for which the tile of M is kept "
                    "transposed: four loads feed 64 products.",
         .tiled = true,
         .shared = {{"Mds", 0, 8, 128}, {"Nds", 0, 8, 128}},
         .own_tile = BlockTile{128, 128, {256, 1, 1}},
         .rung = "16 bytes a load: 4 reads of shared memory feed 64 products"},
        {.name = "warp_tile",
         .teaches = "A warp owns 32 × 64 elements of P and a thread four patches of 4 × 4 of them, so that "
                    "what the lanes read of the tile of N lies side by side, without bank conflicts.",
         .tiled = true,
         .shared = {{"Mds", 0, 8, 132}, {"Nds", 0, 8, 128}},
         .own_tile = BlockTile{128, 128, {256, 1, 1}},
         .rung = "a compact tile a warp: what its lanes read has no bank conflict"},
        {.name = "double_buffer",
         .teaches = "While a block multiplies one pair of tiles, the next two are copied to shared memory, "
                    "through no register and without waiting; a thread owns 16 × 8 elements, and a phase "
                    "has one barrier.",
         .tiled = true,
         .shared = {{"Mds", 0, 24, 260}, {"Nds", 0, 24, 128}},
         .own_tile = BlockTile{256, 128, {256, 1, 1}},
         .rung = "the next tiles are copied meanwhile, through no register: one barrier a phase"},
        {.name = "wmma_tile",
         .teaches =
             "The product of halves on tensor cores, as CUDA C++ has them: a warp owns "
             "32 × 32 elements of P as four fragments, which it loads, multiplies and stores as a whole.",
         .tiled = true,
         .shared = {{"Mds", 0, 64, 32}, {"Nds", 0, 32, 64}, {"Pds", 0, 64, 64, ElementType::F32}},
         .own_tile = BlockTile{64, 64, {128, 1, 1}},
         .input = ElementType::F16,
         .rung = ""},
        {.name = "mma_tile",
         .teaches =
             "A warp owns 64 × 64 elements of P and knows which lane holds which: ldmatrix reads what tensor "
             "cores multiply, row by row of the tiles, and meets conflicts between their banks.",
         .tiled = true,
         .shared = {{"Mds", 0, 128, 32}, {"Nds", 0, 32, 128}},
         .own_tile = BlockTile{128, 128, {128, 1, 1}},
         .input = ElementType::F16,
         .rung = "64 × 64 elements a warp: a byte read from shared memory feeds 16 products, not 8"},
        {.name = "mma_swizzled",
         .teaches =
             "The same with swizzled tiles: where eight halves lie in a row depends on the row, so that the "
             "eight rows that ldmatrix reads at once lie in different banks.",
         .tiled = true,
         .shared = {{"Mds", 0, 128, 32}, {"Nds", 0, 32, 128}},
         .own_tile = BlockTile{128, 128, {128, 1, 1}},
         .input = ElementType::F16,
         .rung = "swizzled tiles: what ldmatrix reads at once has no bank conflict"},
        {.name = "mma_stages",
         .teaches =
             "While a warp multiplies one stage of swizzled tiles, the next two are copied to shared memory, "
             "through no register and without waiting; a phase has one barrier.",
         .tiled = true,
         .shared = {{"Mds", 0, 384, 32}, {"Nds", 0, 96, 128}},
         .own_tile = BlockTile{128, 128, {128, 1, 1}},
         .input = ElementType::F16,
         .rung = "the next tiles are copied meanwhile, through no register: one barrier a phase"},
        {.name = "wgmma_ring",
         .teaches =
             "One thread asks TMA for boxes of M and N, which come to a ring of stages by themselves, and a "
             "warpgroup multiplies them where they lie; mbarriers say which stages are full and which empty.",
         .tiled = true,
         .shared = {{"Mds", 0, 384, 64}, {"Nds", 0, 384, 64}},
         .own_tile = BlockTile{128, 128, {160, 1, 1}},
         .input = ElementType::F16,
         .boxes = {{"M", 128}, {"N", 64}},
         .dynamic = "stages",
         .rung = "TMA brings boxes, tensor cores read them where they lie: no barrier of the block"},
    };
}

std::string ptx_file(const KernelInfo& info, uint32_t tile) {
    return info.tiled && !info.own_tile ? fmt::format("{}.t{}.ptx", info.name, tile) : info.name + ".ptx";
}

std::string names_of_kernels() {
    std::string text;
    for (const KernelInfo& info : catalogue()) text += (text.empty() ? "" : ", ") + info.name;
    return text;
}

Result<void> check(const KernelInfo& info, const Shape& shape) {
    const uint32_t m = shape.m, k = shape.k, n = shape.n, tile = shape.tile;
    if (info.own_tile && tile != 0) {
        return Error{
            fmt::format("{} has no tile width to choose: a block of it owns {} × {} elements of P; leave the "
                        "tile width out",
                        info.name, info.own_tile->rows, info.own_tile->cols)};
    }
    if (!info.own_tile &&
        std::find(std::begin(kTiles), std::end(kTiles), static_cast<int>(tile)) == std::end(kTiles)) {
        return Error{
            fmt::format("tile width {} does not ship for {}; choose 2, 4, 8, 16 or 32", tile, info.name)};
    }
    if (m == 0 || k == 0 || n == 0) {
        return Error{
            fmt::format("sizes m={} k={} n={} leave nothing to multiply; each must be at least 1", m, k, n)};
    }
    // The kernels index with int, and overshoot a row by up to a tile before they compare.
    constexpr uint64_t limit = uint64_t{1} << 31;
    const BlockTile of_block = block_tile(info, shape);
    const uint64_t over = std::max(of_block.rows, of_block.cols);
    auto fits = [&](uint64_t rows, uint64_t cols) { return (rows + over) * (cols + over) < limit; };
    if (!fits(m, k) || !fits(k, n) || !fits(m, n)) {
        return Error{
            fmt::format("sizes m={} k={} n={} are too large: the kernels index with 32-bit integers, so "
                        "every matrix must stay below 2^31 elements; choose smaller sizes",
                        m, k, n)};
    }
    return {};
}

Array matrix(std::string name, ArrayRole role, uint32_t rows, uint32_t cols) {
    Array array;
    array.name = std::move(name);
    array.space = role == ArrayRole::Shared ? Space::Shared : Space::Global;
    array.role = role;
    array.rows = rows;
    array.cols = cols;
    return array;
}

Array input(std::string name, ElementType type, uint32_t rows, uint32_t cols, uint64_t seed,
            uint32_t stream) {
    Array array = matrix(std::move(name), ArrayRole::Input, rows, cols);
    array.type = type;
    array.contents = {Contents::Kind::SmallIntegers, seed, stream, {}};
    return array;
}

// The tensor map of a matrix, whose address is still to come. TMA takes rows that begin at multiples of 16 bytes: of
// any other matrix there is no map, and the kernel gets zeros.
Argument map_of(const Launch& launch, const BoxOf& box) {
    constexpr uint32_t kSpan = 128, kRowAlignment = 16;
    Argument argument;
    argument.name = box.array == "M" ? "m_map" : "n_map";
    argument.object.resize(ptx::kTensorMapBytes);
    const auto found = std::ranges::find(launch.arrays, box.array, &Array::name);
    const uint64_t row_bytes = uint64_t{found->cols} * found->element_bytes();
    if (row_bytes % kRowAlignment != 0) return argument;
    ptx::TensorMap map;
    map.type = *ptx::tensor_type_of(found->type);
    map.rank = 2;
    map.extent = {found->cols, found->rows};
    map.stride = {row_bytes};
    map.box = {kSpan / found->element_bytes(), box.rows};
    map.swizzle = ptx::Swizzle::B128;
    const ptx::TensorMapBytes bytes = ptx::encode(map);
    argument.object.assign(bytes.begin(), bytes.end());
    argument.map_of = static_cast<int32_t>(found - launch.arrays.begin());
    return argument;
}

// M, N and P placed in the address space, then the shared arrays, whose place the PTX decides.
Launch launch_of(const KernelInfo& info, const Shape& shape, uint64_t seed) {
    Launch launch;
    launch.entry = info.name;
    launch.arrays = {input("M", info.input, shape.m, shape.k, seed, 0),
                     input("N", info.input, shape.k, shape.n, seed, 1),
                     matrix("P", ArrayRole::Output, shape.m, shape.n)};
    place_arrays(launch);
    for (const SharedArray& shared : info.shared) {
        launch.arrays.push_back(
            matrix(shared.name, ArrayRole::Shared, shared.rows > 0 ? shared.rows : shape.tile,
                   (shared.cols > 0 ? shared.cols : shape.tile) + static_cast<uint32_t>(shared.extra_cols)));
        launch.arrays.back().type = shared.type.value_or(info.input);
        launch.arrays.back().symbol = info.dynamic;
        if (!info.dynamic.empty())
            launch.dynamic_shared += static_cast<uint32_t>(launch.arrays.back().bytes());
    }
    for (const char* name : {"M", "N", "P"})
        launch.arguments.push_back(
            {name, ElementType::U64, 0, static_cast<int32_t>(launch.arguments.size()), 0});
    launch.arguments.push_back({"m", ElementType::S32, shape.m, -1, 0});
    launch.arguments.push_back({"k", ElementType::S32, shape.k, -1, 0});
    launch.arguments.push_back({"n", ElementType::S32, shape.n, -1, 0});
    for (const BoxOf& box : info.boxes) launch.arguments.push_back(map_of(launch, box));
    const BlockTile tile = block_tile(info, shape);
    const auto blocks = [](uint32_t size, uint32_t each) {
        return static_cast<uint32_t>((uint64_t{size} + each - 1) / each);
    };
    const uint32_t down = blocks(shape.m, tile.rows), across = blocks(shape.n, tile.cols);
    launch.block = tile.threads;
    launch.grid = info.swapped ? Dim3{down, across, 1} : Dim3{across, down, 1};
    return launch;
}

}  // namespace

const std::vector<KernelInfo>& catalogue() {
    static const std::vector<KernelInfo> kernels = make_catalogue();
    return kernels;
}

const KernelInfo* find(std::string_view name) {
    for (const KernelInfo& info : catalogue())
        if (info.name == name) return &info;
    return nullptr;
}

bool made_wrong(std::string_view kernel) {
    const KernelInfo* const info = find(kernel);
    return info && !info->fault.empty();
}

ElementType input_of(std::string_view kernel) {
    const KernelInfo* const info = find(kernel);
    if (info) return info->input;
    return kernel == library_of(ElementType::F16) ? ElementType::F16 : ElementType::F32;
}

std::string_view library_of(ElementType input) {
    return input == ElementType::F16 ? "cublas_half" : "cublas";
}

bool is_library(std::string_view kernel) { return !find(kernel) && kernel == library_of(input_of(kernel)); }

std::span<const KernelInfo> kernels_with_tile_width() {
    const auto& all = catalogue();
    const auto end =
        std::ranges::find_if(all, [](const KernelInfo& info) { return info.own_tile.has_value(); });
    return {all.begin(), end};
}

uint32_t tile_width(std::string_view kernel, std::optional<uint32_t> asked) {
    const KernelInfo* info = find(kernel);
    return asked.value_or(info && info->own_tile ? 0 : kDefaultTile);
}

BlockTile block_tile(const KernelInfo& info, const Shape& shape) {
    return info.own_tile.value_or(BlockTile{shape.tile, shape.tile, {shape.tile, shape.tile, 1}});
}

uint64_t requests_about(const KernelInfo& info, const Shape& shape) {
    const BlockTile of_block = block_tile(info, shape);
    if (of_block.rows == 0 || of_block.cols == 0) return 0;
    const auto parts = [](double whole, double part) { return std::ceil(whole / part); };
    // A thread loads a row and a column of the square that it owns for each k, element by element; a tile of Mds and
    // Nds is filled with two loads and two stores between two barriers. Tiles of kernels without a T are about 8 deep.
    const double threads = static_cast<double>(of_block.threads.count());
    const double owned = static_cast<double>(of_block.rows) * of_block.cols / threads;
    const double deep = shape.tile > 0 ? shape.tile : 8;
    double of_warp = parts(shape.k, deep) * (deep * 2 * std::sqrt(owned) + (info.tiled ? 6 : 0));
    // With tensor cores a warp loads 16 rows or 16 columns of its square at once, for products of 16 x 8 elements. Tiles
    // are filled by pairs or more, and what is stored of P, perhaps by way of shared memory, counts beside so few.
    if (info.input == ElementType::F16) {
        const double of_square = owned * kWarpSize, filled = 16.0 * (of_block.rows + of_block.cols) / threads;
        of_warp = parts(shape.k, 16) * (2 * std::sqrt(of_square) / 16 + of_square / 128 + filled) + 2 * owned;
    }
    // With TMA a block copies a few boxes a phase, 64 columns of M, and a product of 64 rows and 16 columns is about two
    // steps of each warp. Where a matrix has no map, its elements are loaded and stored one by one.
    if (!info.boxes.empty()) {
        const double products = 4.0 * of_block.rows / 64, warps = parts(threads, kWarpSize);
        const bool mapped = shape.k % 8 == 0 && shape.n % 8 == 0;
        const double copied = mapped ? 16 : 2.0 * 64 * (of_block.rows + of_block.cols) / kWarpSize;
        of_warp = parts(shape.k, 64) * (2 * products + copied / warps) + owned / 2;
    }
    const double all =
        parts(shape.m, of_block.rows) * parts(shape.n, of_block.cols) * parts(threads, kWarpSize) * of_warp;
    return all < 1e19 ? static_cast<uint64_t>(all) : UINT64_MAX;
}

std::string tile_text(uint32_t tile, std::string_view before) {
    return tile > 0 ? fmt::format("{}{}", before, tile) : "";
}

Result<TextbookPlan> plan(std::string_view kernel, const Shape& shape, uint64_t seed) {
    const KernelInfo* info = find(kernel);
    if (!info)
        return Error{fmt::format("there is no kernel '{}'; choose one of {}", kernel, names_of_kernels())};
    if (auto good = check(*info, shape); !good) return good.error();

    TextbookPlan plan;
    plan.kernel = info->name;
    plan.info = info;
    plan.shape = shape;
    plan.launch = launch_of(*info, shape, seed);
    const Dim3& grid = plan.launch.grid;
    if (grid.x > kMaxGridX || grid.y > kMaxGridY) {
        return Error{fmt::format(
            "{} with m={} n={}{} needs a grid of {} × {} blocks, and a GPU launches at most {} × {}; "
            "choose {}smaller sizes",
            info->name, shape.m, shape.n, tile_text(shape.tile, " and T="), grid.x, grid.y, kMaxGridX,
            kMaxGridY, shape.tile > 0 ? "a larger tile or " : "")};
    }
    plan.schedule = info->default_schedule;
    plan.source_name = info->name + ".cu";
    plan.source = shipped_source(info->name);
    plan.ptx_name = ptx_file(*info, shape.tile);
    plan.ptx = shipped_ptx(info->name, shape.tile);
    plan.check = product_check(*info, shape, seed);
    return plan;
}

const std::vector<Preset>& presets() {
    static const std::vector<Preset> list{
        {"Lecture: 4 × 4, T = 2", "tiled", {4, 4, 4, 2}},
        {"Small: 16 × 16, T = 4", "tiled", {16, 16, 16, 4}},
        {"Standard: 64 × 64, T = 16", "tiled", {64, 64, 64, 16}},
        {"Edges: 100 × 70 × 130, T = 16", "tiled", {100, 70, 130, 16}},
    };
    return list;
}

std::string_view shipped_file(std::string_view path) { return embedded_file(path); }

std::string_view shipped_source(std::string_view kernel) {
    return embedded_file(fmt::format("kernels/textbook/{}.cu", kernel));
}

namespace {
std::string_view ptx_in(std::string_view folder, std::string_view kernel, uint32_t tile) {
    const KernelInfo* info = find(kernel);
    if (!info) return {};
    return embedded_file(fmt::format("{}/{}", folder, ptx_file(*info, tile)));
}
}  // namespace

std::string_view shipped_ptx(std::string_view kernel, uint32_t tile) {
    return ptx_in("assets/ptx", kernel, tile);
}

std::string_view shipped_nvrtc_ptx(std::string_view kernel, uint32_t tile) {
    return ptx_in("assets/ptx/nvrtc", kernel, tile);
}

}  // namespace tilescope::kernels
