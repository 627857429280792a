// The textbook kernels that ship: what each teaches, how it is launched, what it touches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/recording/product.h"
#include "kernels/run/plan.h"

namespace tilescope::kernels {

struct SharedArray {
    std::string name;                   // as in the source: "Mds"
    int extra_cols = 0;                 // columns beyond T (padding)
    uint32_t rows = 0, cols = 0;        // 0: T of each
    std::optional<ElementType> type{};  // nothing: that of M and N
};

// A box that TMA copies of a matrix: so many rows, each as long as the swizzle's span of 128 bytes.
struct BoxOf {
    std::string array;  // "M"
    uint32_t rows = 0;
};

// What a block owns of P, and with how many threads.
struct BlockTile {
    uint32_t rows = 0, cols = 0;
    Dim3 threads;
};

struct KernelInfo {
    std::string name;      // "tiled"
    std::string teaches;   // what it teaches, in one sentence
    bool tiled = false;    // it goes through tiles in shared memory
    bool swapped = false;  // thread x walks the rows: grid.x covers m, grid.y covers n
    std::vector<SharedArray> shared{};
    Schedule default_schedule{Schedule::Kind::Fair, 0};  // the order of warps that shows what it teaches
    // Of a kernel whose threads own several elements each: the tile is compiled in, and there is no T. Else a
    // block of T x T threads owns T x T elements; tiled kernels have T compiled in, the others take any.
    std::optional<BlockTile> own_tile{};
    ElementType input = ElementType::F32;  // of M and N; P is fp32
    // Of a kernel with TMA: the tensor maps that follow its sizes, and the dynamic shared memory in which its shared
    // arrays lie, one behind the other.
    std::vector<BoxOf> boxes{};
    std::string dynamic{};
    // What it is made to do wrong: "race" or "stale"; "" for a kernel that is right.
    std::string fault{};
    // Of a kernel of a ladder, whose rungs are the rows of one type of input in order: what it does about the cost
    // of the rung below it; "" of the lowest.
    std::optional<std::string> rung{};
};

const std::vector<KernelInfo>& catalogue();
const KernelInfo* find(std::string_view name);
// Whether the kernel's point is a fault: its result may be wrong, and a time of it not verified.
bool made_wrong(std::string_view kernel);
// What M and N of a kernel hold, cuBLAS's products included; F32 of one that is not known.
ElementType input_of(std::string_view kernel);
// What a product of cuBLAS is called among kernels, by the type of its input: "cublas", "cublas_half".
std::string_view library_of(ElementType input);
bool is_library(std::string_view kernel);
// The kernels that have a T, which come first in the catalogue.
std::span<const KernelInfo> kernels_with_tile_width();

// Tile widths that ship as PTX.
inline constexpr int kTiles[] = {2, 4, 8, 16, 32};

struct Shape {
    uint32_t m = 64, k = 64, n = 64;
    uint32_t tile = 16;  // T; 0 for a kernel that has none
    bool operator==(const Shape&) const = default;
};
inline Shape shape_of(const analysis::Product& product) {
    return {product.m, product.k, product.n, product.tile};
}

inline constexpr uint32_t kDefaultTile = 16;
// The tile width of a kernel where `asked` is what was asked for, if anything was: T, 0 where it has none.
uint32_t tile_width(std::string_view kernel, std::optional<uint32_t> asked = std::nullopt);
// What a block owns.
BlockTile block_tile(const KernelInfo& info, const Shape& shape);
// About how many requests and barriers all blocks make, so that a launch is refused before it is recorded; at most
// UINT64_MAX.
uint64_t requests_about(const KernelInfo& info, const Shape& shape);
// "16" behind `before`, such as ", T = "; "" where there is no T.
std::string tile_text(uint32_t tile, std::string_view before);

// One kernel, sized: arrays M, N, P, then the shared ones; arguments M, N, P, m, k,
// n. Inputs are small whole numbers made from a seed; the result is checked against the plain product.
struct TextbookPlan : Plan {
    const KernelInfo* info = nullptr;
    Shape shape;
};

inline constexpr uint64_t kDefaultSeed = 1;

// Fails on an unknown kernel, a tile that does not ship or that the kernel does not have, or sizes that are 0
// or too large, in one sentence. Preparing the PTX fills in symbols and offsets of shared arrays.
Result<TextbookPlan> plan(std::string_view kernel, const Shape& shape, uint64_t seed = kDefaultSeed);

// The presets of the window and the command line.
struct Preset {
    std::string label;  // "Lecture: 4 x 4, T = 2"
    std::string kernel;
    Shape shape;
};
const std::vector<Preset>& presets();  // the third one is the default: tiled 64x64x64, T=16

// Text of a file that ships (kernels/textbook/*.cu, assets/ptx/), built into the program; else empty.
std::string_view shipped_file(std::string_view path);  // "kernels/textbook/tiled.cu"
std::string_view shipped_source(std::string_view kernel);
std::string_view shipped_ptx(std::string_view kernel, uint32_t tile);        // clang's
std::string_view shipped_nvrtc_ptx(std::string_view kernel, uint32_t tile);  // of loops that NVRTC unrolled

}  // namespace tilescope::kernels
