#include "app/compare/presets.h"

#include <fmt/format.h>

namespace tilescope::compare {
namespace {

constexpr kernels::Shape kT16{64, 64, 64, 16}, kT32{64, 64, 64, 32}, kRagged{20, 20, 20, 8};

const ComparePreset kPresets[] = {
    {"Untiled or tiled",
     "Tiles of T \u00d7 T bring every element n/T times instead of n.",
     {"untiled", kT16},
     {"tiled", kT16}},
    {"Mapping swapped, untiled",
     "Neighbouring threads walk a row, or down a column: few sectors a request, or many.",
     {"untiled", kT16},
     {"untiled_swapped", kT16}},
    {"Mapping swapped, tiled",
     "The same swap with tiles: what it costs in global and in shared memory.",
     {"tiled", kT16},
     {"tiled_swapped", kT16}},
    {"T = 16 or 32",
     "Twice the tile's width, half the loads of global memory.",
     {"tiled", kT16},
     {"tiled", kT32}},
    {"Transposed or padded tile",
     "A column of shared memory in one bank, and the one column more that spreads it over all.",
     {"tiled_transposed", kT32},
     {"tiled_padded", kT32}},
    {"No barrier, or the barriers",
     "The same requests, and a result that depends on who comes first.",
     {"tiled_no_barrier", kT16},
     {"tiled", kT16}},
    {"Stale values, or zeros",
     "Zeros left out at the edge: values of the phase before are multiplied again.",
     {"tiled_stale_edge", kRagged},
     {"tiled", kRagged}},
    {"GPU and CPU",
     "One launch, on a GPU and in lockstep on the CPU: the same accesses in another order.",
     {"tiled", kT16, true},
     {"tiled", kT16}},
};

}  // namespace

std::span<const ComparePreset> compare_presets() { return kPresets; }

std::string part_name(const ComparePreset::Part& part) {
    return fmt::format("{} T={}  {}x{}x{}", part.kernel, part.shape.tile, part.shape.m, part.shape.k,
                       part.shape.n);
}

}  // namespace tilescope::compare
