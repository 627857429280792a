// The catalogue: a row for each kernel, and the arithmetic of its launch.
//
//   grid.x covers the columns of P and grid.y its rows; swapped, the other way round
//   M, N, P are parameters 0 to 2; the sizes m, k, n follow
#include "kernels/textbook/catalogue.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "kernels/textbook/reference.h"

namespace tilescope::kernels {

std::string_view embedded_file(std::string_view path);  // made by cmake/embed.cmake

namespace {

constexpr Schedule kFair{Schedule::Kind::Fair, 0};
constexpr Schedule kGreedy{Schedule::Kind::Greedy, 0};

// Hardware limits that hold for every device since compute capability 3.0: CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability".
constexpr uint64_t kMaxGridX = 0x7FFF'FFFF;
constexpr uint64_t kMaxGridY = 65'535;

std::vector<KernelInfo> make_catalogue() {
    std::vector<SharedArray> tiles{{"Mds", 0}, {"Nds", 0}};
    return {
        {"untiled",
         "One thread per element of P reads everything it needs from global memory, so every element of M "
         "and N travels many times.",
         false,
         false,
         {},
         kFair},
        {"untiled_swapped",
         "The same arithmetic with thread x walking the rows: the lanes of a warp read M a row apart, and "
         "coalescing is lost.",
         false,
         true,
         {},
         kFair},
        {"tiled",
         "A block brings each tile of M and N into shared memory once and reads it T times, so global loads "
         "shrink by T.",
         true, false, tiles, kFair},
        {"tiled_swapped",
         "Tiled, but thread x walks down the rows of a tile as it loads: there are as few loads as before, "
         "each one uncoalesced.",
         true, false, tiles, kFair},
        {"tiled_transposed",
         "Tiled with the N tile kept transposed: the lanes of a warp read down a column of Nds and meet in "
         "the same banks.",
         true, false, tiles, kFair},
        {"tiled_padded",
         "The transposed tile with rows one word longer: a column spreads over all banks and the conflicts "
         "are gone at T = 32.",
         true,
         false,
         {{"Mds", 0}, {"Nds", 1}},
         kFair},
        {"tiled_no_barrier",
         "Tiled without the barrier that closes a phase: a warp that runs ahead overwrites tiles that others "
         "still read.",
         true, false, tiles, kGreedy},
        {"tiled_stale_edge",
         "Tiled without the zero fill at the edges: cells beyond the matrices keep an old value, and it is "
         "multiplied again.",
         true, false, tiles, kFair},
    };
}

std::string names_of_kernels() {
    std::string text;
    for (const KernelInfo& info : catalogue()) text += (text.empty() ? "" : ", ") + info.name;
    return text;
}

Result<void> check(const KernelInfo& info, const Shape& shape) {
    const uint32_t m = shape.m, k = shape.k, n = shape.n, tile = shape.tile;
    if (std::find(std::begin(kTiles), std::end(kTiles), static_cast<int>(tile)) == std::end(kTiles)) {
        return Error{
            fmt::format("tile width {} does not ship for {}; choose 2, 4, 8, 16 or 32", tile, info.name)};
    }
    if (m == 0 || k == 0 || n == 0) {
        return Error{
            fmt::format("sizes m={} k={} n={} leave nothing to multiply; each must be at least 1", m, k, n)};
    }
    // The kernels index with int, and overshoot a row by up to a tile before they compare.
    constexpr uint64_t limit = uint64_t{1} << 31;
    auto fits = [&](uint64_t rows, uint64_t cols) { return (rows + tile) * (cols + tile) < limit; };
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

Array input(std::string name, uint32_t rows, uint32_t cols, uint64_t seed, uint32_t stream) {
    Array array = matrix(std::move(name), ArrayRole::Input, rows, cols);
    array.contents = {Contents::Kind::SmallIntegers, seed, stream, {}};
    return array;
}

// M, N and P placed in the address space, then the shared arrays, whose place the PTX decides.
Launch launch_of(const KernelInfo& info, const Shape& shape, uint64_t seed) {
    Launch launch;
    launch.entry = info.name;
    launch.arrays = {input("M", shape.m, shape.k, seed, 0), input("N", shape.k, shape.n, seed, 1),
                     matrix("P", ArrayRole::Output, shape.m, shape.n)};
    place_arrays(launch);
    for (const SharedArray& shared : info.shared)
        launch.arrays.push_back(matrix(shared.name, ArrayRole::Shared, shape.tile,
                                       shape.tile + static_cast<uint32_t>(shared.extra_cols)));
    for (const char* name : {"M", "N", "P"})
        launch.arguments.push_back(
            {name, ElementType::U64, 0, static_cast<int32_t>(launch.arguments.size()), 0});
    launch.arguments.push_back({"m", ElementType::S32, shape.m, -1, 0});
    launch.arguments.push_back({"k", ElementType::S32, shape.k, -1, 0});
    launch.arguments.push_back({"n", ElementType::S32, shape.n, -1, 0});
    const auto blocks = [&](uint32_t size) {
        return static_cast<uint32_t>((uint64_t{size} + shape.tile - 1) / shape.tile);
    };
    launch.block = {shape.tile, shape.tile, 1};
    launch.grid =
        info.swapped ? Dim3{blocks(shape.m), blocks(shape.n), 1} : Dim3{blocks(shape.n), blocks(shape.m), 1};
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
            "{} with m={} n={} and T={} needs a grid of {} x {} blocks, and a GPU launches at most {} x {}; "
            "choose a larger tile or smaller sizes",
            info->name, shape.m, shape.n, shape.tile, grid.x, grid.y, kMaxGridX, kMaxGridY)};
    }
    plan.schedule = info->default_schedule;
    plan.source_name = info->name + ".cu";
    plan.source = shipped_source(info->name);
    plan.ptx_name = info->tiled ? fmt::format("{}.t{}.ptx", info->name, shape.tile) : info->name + ".ptx";
    plan.ptx = shipped_ptx(info->name, shape.tile);
    plan.check = product_check(shape, seed, info->swapped);
    return plan;
}

const std::vector<Preset>& presets() {
    static const std::vector<Preset> list{
        {"Lecture: 4 x 4, T = 2", "tiled", {4, 4, 4, 2}},
        {"Small: 16 x 16, T = 4", "tiled", {16, 16, 16, 4}},
        {"Standard: 64 x 64, T = 16", "tiled", {64, 64, 64, 16}},
        {"Edges: 100 x 70 x 130, T = 16", "tiled", {100, 70, 130, 16}},
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
    return embedded_file(info->tiled ? fmt::format("{}/{}.t{}.ptx", folder, kernel, tile)
                                     : fmt::format("{}/{}.ptx", folder, kernel));
}
}  // namespace

std::string_view shipped_ptx(std::string_view kernel, uint32_t tile) {
    return ptx_in("assets/ptx", kernel, tile);
}

std::string_view shipped_nvrtc_ptx(std::string_view kernel, uint32_t tile) {
    return ptx_in("assets/ptx/nvrtc", kernel, tile);
}

}  // namespace tilescope::kernels
