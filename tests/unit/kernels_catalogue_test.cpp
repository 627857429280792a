// What the catalogue promises: eight kernels, each with a source, a PTX for every tile width, and a launch
// that covers P.
#include <cctype>
#include <set>

#include <gtest/gtest.h>

#include "kernels/textbook/catalogue.h"

namespace tilescope::kernels {
namespace {

TEST(Catalogue, NamesTheEightKernelsOnce) {
    std::set<std::string> names;
    for (const KernelInfo& info : catalogue()) names.insert(info.name);
    EXPECT_EQ(names, (std::set<std::string>{"untiled", "untiled_swapped", "tiled", "tiled_swapped",
                                            "tiled_transposed", "tiled_padded", "tiled_no_barrier",
                                            "tiled_stale_edge"}));
    EXPECT_EQ(catalogue().size(), names.size());
    EXPECT_EQ(find("tiled")->name, "tiled");
    EXPECT_EQ(find("Tiled"), nullptr);
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
        EXPECT_NE(source.find("void " + info.name + "("), std::string_view::npos) << info.name;
        for (int tile : kTiles) {
            std::string_view ptx = shipped_ptx(info.name, static_cast<uint32_t>(tile));
            EXPECT_NE(ptx.find(".entry " + info.name + "("), std::string_view::npos)
                << info.name << " " << tile;
            EXPECT_NE(ptx.find(".target sm_70"), std::string_view::npos) << info.name << " " << tile;
            EXPECT_NE(ptx.find(".file\t1 \"kernels/textbook/" + info.name + ".cu\""), std::string_view::npos);
            size_t at = ptx.find(".version 6.");
            EXPECT_NE(at, std::string_view::npos)
                << "PTX ISA above 7.0 does not load on old drivers: " << info.name;
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
        for (Shape shape :
             {Shape{64, 64, 64, 16}, Shape{100, 70, 130, 16}, Shape{1, 1, 1, 32}, Shape{3, 5, 33, 8}}) {
            auto made = plan(info.name, shape);
            ASSERT_TRUE(made) << made.error().message;
            uint32_t across = info.swapped ? shape.m : shape.n, down = info.swapped ? shape.n : shape.m;
            EXPECT_GE(made->launch.grid.x * shape.tile, across);
            EXPECT_LT((made->launch.grid.x - 1) * shape.tile, across);
            EXPECT_GE(made->launch.grid.y * shape.tile, down);
            EXPECT_LT((made->launch.grid.y - 1) * shape.tile, down);
            EXPECT_EQ(made->launch.grid.z, 1u);
            EXPECT_EQ(made->launch.block, (Dim3{shape.tile, shape.tile, 1}));
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

TEST(TextbookPlan, RefusesInOneSentence) {
    auto message = [](const char* kernel, Shape shape) {
        auto made = plan(kernel, shape);
        return made ? std::string("accepted") : made.error().message;
    };
    EXPECT_EQ(message("tield", {}),
              "there is no kernel 'tield'; choose one of untiled, untiled_swapped, tiled, tiled_swapped, "
              "tiled_transposed, tiled_padded, tiled_no_barrier, tiled_stale_edge");
    EXPECT_EQ(message("tiled", {64, 64, 64, 12}),
              "tile width 12 does not ship for tiled; choose 2, 4, 8, 16 or 32");
    EXPECT_EQ(message("tiled", {64, 0, 64, 16}),
              "sizes m=64 k=0 n=64 leave nothing to multiply; each must be at least 1");
    EXPECT_NE(message("tiled", {1u << 16, 1u << 16, 1, 16}).find("too large"), std::string::npos);
    EXPECT_NE(message("tiled", {0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 2}).find("too large"),
              std::string::npos);
    EXPECT_NE(message("untiled", {1u << 20, 1, 1, 2}).find("needs a grid of 1 x 524288"), std::string::npos);
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
