// What the catalogue promises: eighteen kernels, each with a source, a PTX for every tile width that it has,
// and a launch that covers P.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "core/ptx/tensor_map.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::kernels {
namespace {

// T of 0 stands for a kernel that has none.
std::vector<uint32_t> widths_of(const KernelInfo& info) {
    if (info.own_tile) return {0};
    return {std::begin(kTiles), std::end(kTiles)};
}

// What the source compiles in: "constexpr int ROWS = 128, COLS = 128;".
uint32_t constant_of(std::string_view source, const std::string& name) {
    const size_t at = source.find(" " + name + " = ");
    EXPECT_NE(at, std::string_view::npos) << name;
    return static_cast<uint32_t>(std::atoi(source.data() + at + name.size() + 4));
}

TEST(Catalogue, KnowsTheTilesThatSourcesCompileIn) {
    for (const KernelInfo& info : catalogue()) {
        if (!info.own_tile) continue;
        const std::string_view source = shipped_source(info.name);
        const uint32_t rows = constant_of(source, "ROWS"), cols = constant_of(source, "COLS"),
                       depth = constant_of(source, "DEPTH");
        uint32_t pairs = 1;
        for (const char* const name : {"PAIRS", "STAGES"})
            if (source.find(std::string(name) + " = ") != std::string_view::npos)
                pairs = constant_of(source, name);
        EXPECT_EQ(info.own_tile->rows, rows) << info.name;
        EXPECT_EQ(info.own_tile->cols, cols) << info.name;
        // Mds may be transposed, and its rows longer than the tile is high.
        const SharedArray &mds = info.shared.at(0), &nds = info.shared.at(1);
        if (mds.rows == pairs * depth)
            EXPECT_GE(mds.cols, rows) << info.name;
        else
            EXPECT_EQ(std::pair(mds.rows, mds.cols), std::pair(pairs * rows, depth)) << info.name;
        // A box of TMA is no wider than the swizzle's span, so that several make up a tile of N.
        const uint32_t wide = info.boxes.empty() ? cols : constant_of(source, "SPAN");
        EXPECT_EQ(std::pair(nds.rows, nds.cols), std::pair(pairs * depth * cols / wide, wide)) << info.name;
    }
}

TEST(Catalogue, HasTheKernelsWithATileWidthFirst) {
    EXPECT_EQ(kernels_with_tile_width().size(), 8u);
    for (const KernelInfo& info : catalogue())
        EXPECT_EQ(tile_width(info.name), info.own_tile ? 0u : kDefaultTile) << info.name;
    EXPECT_EQ(tile_width("tiled", 32), 32u);
}

TEST(Catalogue, HasARowForEverySource) {
    std::set<std::string> names, sources;
    for (const KernelInfo& info : catalogue()) names.insert(info.name);
    for (const auto& entry : std::filesystem::directory_iterator(TILESCOPE_SOURCE_DIR "/kernels/textbook"))
        if (entry.path().extension() == ".cu") sources.insert(entry.path().stem().string());
    EXPECT_EQ(names, sources);
    EXPECT_EQ(catalogue().size(), names.size());
    EXPECT_EQ(names.size(), 18u);
    EXPECT_EQ(find("tiled")->name, "tiled");
    EXPECT_EQ(find("Tiled"), nullptr);
}

TEST(Catalogue, LeadsUpALadderForEachTypeOfInput) {
    for (const auto& [input, count] : {std::pair{ElementType::F32, 7u}, std::pair{ElementType::F16, 5u}}) {
        std::vector<const KernelInfo*> rungs;
        for (const KernelInfo& info : catalogue())
            if (info.rung && info.input == input) rungs.push_back(&info);
        ASSERT_EQ(rungs.size(), count);
        for (const KernelInfo* info : rungs)
            EXPECT_EQ(info->rung->empty(), info == rungs.front()) << info->name;
    }
    EXPECT_TRUE(std::ranges::is_sorted(catalogue(), {}, [](const KernelInfo& info) {
        return info.input == ElementType::F16;
    })) << "one ladder behind the other";
    for (const KernelInfo& info : catalogue()) EXPECT_TRUE(info.own_tile ? info.rung.has_value() : true);
}

TEST(Catalogue, KnowsWhatIsMultipliedAndWhoseProductStandsBeside) {
    EXPECT_EQ(input_of("mma_tile"), ElementType::F16);
    EXPECT_EQ(input_of("tiled"), ElementType::F32);
    for (const ElementType input : {ElementType::F32, ElementType::F16}) {
        EXPECT_EQ(input_of(library_of(input)), input);
        EXPECT_TRUE(is_library(library_of(input)));
    }
    for (const KernelInfo& info : catalogue()) EXPECT_FALSE(is_library(info.name));
    EXPECT_FALSE(is_library("nothing"));
    const auto made = plan("wmma_tile", {100, 70, 130, 0});
    ASSERT_TRUE(made) << made.error().message;
    std::vector<ElementType> types;
    for (const Array& array : made->launch.arrays) types.push_back(array.type);
    using enum ElementType;
    EXPECT_EQ(types, (std::vector{F16, F16, F32, F16, F16, F32})) << "M N P Mds Nds Pds";
}

TEST(Catalogue, KnowsWhichAreMadeWrong) {
    EXPECT_EQ(find("tiled_no_barrier")->fault, "race");
    EXPECT_EQ(find("tiled_stale_edge")->fault, "stale");
    EXPECT_TRUE(made_wrong("tiled_no_barrier"));
    EXPECT_FALSE(made_wrong("tiled"));
    EXPECT_FALSE(made_wrong("cublas"));
    EXPECT_EQ(std::ranges::count_if(catalogue(), [](const auto& info) { return made_wrong(info.name); }), 2);
}

TEST(Catalogue, TeachesInOneSentence) {
    for (const KernelInfo& info : catalogue()) {
        ASSERT_GT(info.teaches.size(), 40u) << info.name;
        EXPECT_EQ(info.teaches.find('.'), info.teaches.size() - 1) << info.name;
        EXPECT_TRUE(std::isupper(static_cast<unsigned char>(info.teaches[0]))) << info.name;
    }
}

TEST(Catalogue, EveryKernelShipsItsSourceAndPtxForEveryTile) {
    for (const KernelInfo& info : catalogue()) {
        std::string_view source = shipped_source(info.name);
        EXPECT_NE(source.find(" " + info.name + "("), std::string_view::npos) << info.name;
        for (const uint32_t tile : widths_of(info)) {
            std::string_view ptx = shipped_ptx(info.name, tile);
            EXPECT_NE(ptx.find(".entry " + info.name + "("), std::string_view::npos)
                << info.name << " " << tile;
            // cp.async and mma.sync came with sm_80 and PTX ISA 7.0, wgmma with sm_90a and PTX ISA 8.0.
            const bool late =
                source.find("cp.async.") != std::string_view::npos || info.input == ElementType::F16;
            const bool latest = source.find("wgmma.") != std::string_view::npos;
            EXPECT_NE(ptx.find(latest ? ".target sm_90a"
                               : late ? ".target sm_80"
                                      : ".target sm_70"),
                      std::string_view::npos)
                << info.name << " " << tile;
            EXPECT_NE(ptx.find(".file\t1 \"kernels/textbook/" + info.name + ".cu\""), std::string_view::npos);
            EXPECT_NE(ptx.find(latest ? ".version 8.0"
                               : late ? ".version 7.0"
                                      : ".version 6."),
                      std::string_view::npos)
                << "PTX ISA above that does not load on old drivers: " << info.name;
        }
    }
    EXPECT_TRUE(shipped_source("nothing").empty());
    EXPECT_TRUE(shipped_ptx("tiled", 3).empty());
    EXPECT_TRUE(shipped_ptx("nothing", 2).empty());
}

TEST(Catalogue, SourcesSpeakOfNoRecording) {
    for (const KernelInfo& info : catalogue()) {
        std::string_view source = shipped_source(info.name);
        for (std::string_view word : {"record", "trace", "Tilescope", "tilescope", "printf"})
            EXPECT_EQ(source.find(word), std::string_view::npos) << info.name << ": " << word;
    }
}

// The grid must cover every element of P, with no block wholly outside it.
TEST(TextbookPlan, GridCoversTheProduct) {
    for (const KernelInfo& info : catalogue()) {
        for (Shape shape : {Shape{64, 64, 64, 16}, Shape{100, 70, 130, 16}, Shape{1, 1, 1, 32},
                            Shape{3, 5, 33, 8}, Shape{256, 9, 385, 32}}) {
            if (info.own_tile) shape.tile = 0;
            auto made = plan(info.name, shape);
            ASSERT_TRUE(made) << made.error().message;
            const BlockTile tile = block_tile(info, shape);
            const Dim3& grid = made->launch.grid;
            const uint32_t rows = info.swapped ? grid.x : grid.y, cols = info.swapped ? grid.y : grid.x;
            EXPECT_GE(rows * tile.rows, shape.m);
            EXPECT_LT((rows - 1) * tile.rows, shape.m);
            EXPECT_GE(cols * tile.cols, shape.n);
            EXPECT_LT((cols - 1) * tile.cols, shape.n);
            EXPECT_EQ(grid.z, 1u);
            EXPECT_EQ(made->launch.block, tile.threads);
            if (!info.own_tile) EXPECT_EQ(tile.threads, (Dim3{shape.tile, shape.tile, 1}));
        }
    }
}

TEST(TextbookPlan, BindsParametersAndShapes) {
    auto made = plan("tiled_padded", {100, 70, 130, 16});
    ASSERT_TRUE(made);
    const std::vector<Array>& arrays = made->launch.arrays;
    ASSERT_EQ(arrays.size(), 5u);
    auto expect = [&](size_t i, const char* name, uint32_t rows, uint32_t cols, Space space, ArrayRole role) {
        EXPECT_EQ(arrays[i].name, name);
        EXPECT_EQ(arrays[i].rows, rows);
        EXPECT_EQ(arrays[i].cols, cols);
        EXPECT_EQ(arrays[i].space, space);
        EXPECT_EQ(arrays[i].role, role);
        if (space == Space::Global) {
            EXPECT_EQ(made->launch.arguments[i].array, static_cast<int>(i));
            EXPECT_EQ(made->launch.arguments[i].name, name);
        }
    };
    expect(0, "M", 100, 70, Space::Global, ArrayRole::Input);
    expect(1, "N", 70, 130, Space::Global, ArrayRole::Input);
    expect(2, "P", 100, 130, Space::Global, ArrayRole::Output);
    expect(3, "Mds", 16, 16, Space::Shared, ArrayRole::Shared);
    expect(4, "Nds", 16, 17, Space::Shared, ArrayRole::Shared);
    EXPECT_EQ(made->launch.parameters(),
              (std::vector<uint64_t>{arrays[0].base, arrays[1].base, arrays[2].base, 100, 70, 130}));
    for (int i : {0, 1}) EXPECT_GE(arrays[i + 1].base, arrays[i].base + arrays[i].bytes() + 4096);
    EXPECT_EQ(made->source_name, "tiled_padded.cu");
    EXPECT_EQ(made->ptx_name, "tiled_padded.t16.ptx");
    EXPECT_EQ(made->ptx, shipped_ptx("tiled_padded", 16));
    EXPECT_EQ(plan("untiled", {4, 4, 4, 2})->ptx_name, "untiled.ptx");
    EXPECT_EQ(plan("untiled", {4, 4, 4, 2})->launch.arrays.size(), 3u);
}

// The tensor maps and the dynamic shared memory of a kernel with TMA, by its source: M and N have maps where their rows
// begin at multiples of 16 bytes.
TEST(TextbookPlan, GivesBoxesTheirMaps) {
    for (const Shape& shape : {Shape{100, 72, 136, 0}, Shape{100, 70, 136, 0}, Shape{100, 72, 130, 0}}) {
        const auto made = plan("wgmma_ring", shape);
        ASSERT_TRUE(made) << made.error().message;
        const std::string_view source = made->source;
        const uint32_t rows = constant_of(source, "ROWS"), cols = constant_of(source, "COLS"),
                       depth = constant_of(source, "DEPTH"), span = constant_of(source, "SPAN"),
                       stages = constant_of(source, "STAGES");
        EXPECT_EQ(made->launch.dynamic_shared, 2 * stages * (rows + cols) * depth);
        EXPECT_EQ(made->launch.block.count(), constant_of(source, "CONSUMERS") + 32);
        ASSERT_EQ(made->launch.arguments.size(), 8u);
        const auto expect = [&](size_t argument, uint32_t height, uint32_t width, uint32_t high) {
            const Argument& given = made->launch.arguments[argument];
            EXPECT_EQ(given.object.size(), ptx::kTensorMapBytes);
            ptx::TensorMapBytes bytes{};
            std::ranges::copy(given.object, bytes.begin());
            const auto map = ptx::decode(bytes);
            EXPECT_EQ(map.has_value(), width % 8 == 0) << shape.k << " " << shape.n;
            if (!map) return;
            EXPECT_EQ(given.map_of, static_cast<int32_t>(argument) - 6);
            EXPECT_EQ(map->type, ptx::TensorType::F16);
            EXPECT_EQ(map->rank, 2);
            EXPECT_EQ(std::pair(map->extent[0], map->extent[1]),
                      std::pair(uint64_t{width}, uint64_t{height}));
            EXPECT_EQ(map->stride[0], 2 * width);
            EXPECT_EQ(std::pair(map->box[0], map->box[1]), std::pair(span, high));
            EXPECT_EQ(map->swizzle, ptx::Swizzle::B128);
            EXPECT_TRUE(ptx::check(*map)) << ptx::check(*map).error().message;
        };
        expect(6, shape.m, shape.k, rows);
        expect(7, shape.k, shape.n, depth);
    }
    EXPECT_EQ(plan("mma_stages", {64, 64, 64, 0})->launch.dynamic_shared, 0u);
}

TEST(TextbookPlan, RefusesInOneSentence) {
    auto message = [](const char* kernel, Shape shape) {
        auto made = plan(kernel, shape);
        return made ? std::string("accepted") : made.error().message;
    };
    std::string names;
    for (const KernelInfo& info : catalogue()) names += (names.empty() ? "" : ", ") + info.name;
    EXPECT_TRUE(names.starts_with("untiled, untiled_swapped, tiled, tiled_swapped, tiled_transposed, "));
    EXPECT_EQ(message("tield", {}), "there is no kernel 'tield'; choose one of " + names);
    EXPECT_EQ(message("warp_tile", {64, 64, 64, 16}),
              "warp_tile has no tile width to choose: a block of it owns 128 × 128 elements of P; leave the "
              "tile width out");
    EXPECT_NE(message("register_tile", {1u << 23, 1, 1, 0}).find("choose smaller sizes"), std::string::npos);
    EXPECT_EQ(message("tiled", {64, 64, 64, 12}),
              "tile width 12 does not ship for tiled; choose 2, 4, 8, 16 or 32");
    EXPECT_EQ(message("tiled", {64, 0, 64, 16}),
              "sizes m=64 k=0 n=64 leave nothing to multiply; each must be at least 1");
    EXPECT_NE(message("tiled", {1u << 16, 1u << 16, 1, 16}).find("too large"), std::string::npos);
    EXPECT_NE(message("tiled", {0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 2}).find("too large"),
              std::string::npos);
    EXPECT_NE(message("untiled", {1u << 20, 1, 1, 2}).find("needs a grid of 1 × 524288"), std::string::npos);
    EXPECT_TRUE(plan("untiled_swapped", {1u << 20, 1, 1, 2})) << "grid.x covers m there";
}

TEST(Presets, TheThirdIsTheDefault) {
    ASSERT_EQ(presets().size(), 4u);
    EXPECT_EQ(presets()[2].kernel, "tiled");
    EXPECT_EQ(presets()[2].shape.m, 64u);
    EXPECT_EQ(presets()[2].shape.tile, 16u);
    for (const Preset& preset : presets()) EXPECT_TRUE(plan(preset.kernel, preset.shape)) << preset.label;
}

}  // namespace
}  // namespace tilescope::kernels
