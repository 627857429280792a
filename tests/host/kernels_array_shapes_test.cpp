// Roles, types and extents of arrays from recordings alone: the textbook kernels with their matrices handed
// over as long rows, and kernels that have rows and columns, three dimensions, or none.
#include <gtest/gtest.h>

#include "core/analysis/array_shapes.h"
#include "core/recording/product.h"
#include "kernels/textbook/catalogue.h"
#include "tests/launch_examples.h"

namespace tilescope::kernels {
namespace {

using Extents = std::vector<uint32_t>;

Extents extents(const Array& array) {
    Extents all{array.slices, array.rows, array.cols};
    return {all.end() - array.rank, all.end()};
}

// As a program hands memory over: bytes in one row, of which nobody says what the kernel does with them.
void flatten(Launch& launch) {
    for (Array& array : launch.arrays) {
        if (array.space != Space::Global) continue;
        array.cols = static_cast<uint32_t>(array.elements());
        array.rows = array.slices = 1;
        array.rank = 1;
        array.extents = ExtentSource::Flat;
        array.role = ArrayRole::InOut;
    }
}

trace::Trace inferred(Plan plan) {
    flatten(plan.launch);
    plan.check = nullptr;
    trace::Trace trace = recorded(plan);
    analysis::infer_arrays(trace);
    return trace;
}

struct Given {
    const char* name;
    ElementType type;
    uint64_t elements;
};

// A kernel of shapes.cu with its arrays, then its numbers.
Plan shapes_plan(const std::string& kernel, Dim3 grid, Dim3 block, const std::vector<Given>& arrays,
                 const std::vector<int>& numbers) {
    std::vector<Array> made;
    for (const Given& given : arrays)
        made.push_back(
            global_array(given.name, ArrayRole::InOut, given.type, {static_cast<uint32_t>(given.elements)}));
    std::vector<std::pair<std::string, int>> named;
    for (const int number : numbers) named.emplace_back("", number);
    Plan plan = example("shapes", grid, block, std::move(made), named);
    plan.kernel = plan.launch.entry = kernel;
    return plan;
}

trace::Trace shaped(const std::string& kernel, Dim3 grid, Dim3 block, const std::vector<Given>& arrays,
                    const std::vector<int>& numbers) {
    return inferred(shapes_plan(kernel, grid, block, arrays, numbers));
}

void expect(const trace::Trace& trace, const std::vector<Extents>& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
        const Array& array = trace.launch.arrays.at(i);
        EXPECT_EQ(extents(array), expected[i]) << trace.meta.kernel << " " << array.name;
        EXPECT_EQ(array.extents, expected[i].size() > 1 ? ExtentSource::Inferred : ExtentSource::Flat);
    }
}

constexpr auto F32 = ElementType::F32;

TEST(ArrayShapes, TextbookKernelsAreProductsAgain) {
    for (const KernelInfo& info : kernels_with_tile_width())
        for (const Shape& shape :
             {Shape{64, 64, 64, 16}, Shape{48, 32, 64, 16}, Shape{40, 24, 56, 8}, Shape{37, 29, 41, 16}}) {
            const auto sized = plan(info.name, shape);
            if (!sized) continue;
            const trace::Trace trace = inferred(*sized);
            const std::string what = info.name + " " + std::to_string(shape.m);
            expect(trace, {{shape.m, shape.k}, {shape.k, shape.n}, {shape.m, shape.n}});
            EXPECT_EQ(trace.launch.arrays[0].role, ArrayRole::Input) << what;
            EXPECT_EQ(trace.launch.arrays[1].role, ArrayRole::Input) << what;
            EXPECT_EQ(trace.launch.arrays[2].role, ArrayRole::Output) << what;
            const auto product = analysis::product_of(trace);
            const trace::Trace known = recorded(*sized);
            EXPECT_EQ(product.has_value(), analysis::product_of(known).has_value()) << what;
        }
}

TEST(ArrayShapes, ATutorialsProductIsKnownByItsLoads) {
    const trace::Trace trace = shaped("multiply", {4, 4, 1}, {16, 16, 1},
                                      {{"c", F32, 4096}, {"b", F32, 4096}, {"a", F32, 4096}}, {64});
    expect(trace, {{64, 64}, {64, 64}, {64, 64}});
    const auto product = analysis::product_of(trace);
    ASSERT_TRUE(product);
    EXPECT_EQ(trace.launch.arrays[product->M].name, "a");
    EXPECT_EQ(trace.launch.arrays[product->N].name, "b");
    EXPECT_EQ(trace.launch.arrays[product->P].name, "c");
    EXPECT_EQ(product->k, 64u);
    EXPECT_EQ(product->tile, 16u);
}

TEST(ArrayShapes, ASumUnderTheNameOfAProductIsNone) {
    std::vector<Array> arrays;
    for (const char* name : {"M", "N", "P"})
        arrays.push_back(global_array(name, ArrayRole::Input, F32, {32, 32}));
    const trace::Trace trace =
        inferred(example("untiled", {2, 2, 1}, {16, 16, 1}, arrays, {{"m", 32}, {"k", 32}, {"n", 32}}));
    expect(trace, {{32, 32}, {32, 32}, {32, 32}});
    EXPECT_FALSE(analysis::product_of(trace));
}

TEST(ArrayShapes, RowsAndColumns) {
    expect(
        shaped("transpose", {3, 5, 1}, {16, 8, 1}, {{"in", F32, 48 * 40}, {"out", F32, 48 * 40}}, {48, 40}),
        {{40, 48}, {48, 40}});
    expect(
        shaped("transpose", {2, 6, 1}, {32, 8, 1}, {{"in", F32, 50 * 45}, {"out", F32, 50 * 45}}, {50, 45}),
        {{45, 50}, {50, 45}});
    expect(shaped("row_sums", {3, 1, 1}, {32, 1, 1}, {{"in", F32, 70 * 24}, {"sums", F32, 70}}, {70, 24}),
           {{70, 24}, {70}});
    expect(shaped("column_sums", {3, 1, 1}, {32, 1, 1}, {{"in", F32, 24 * 70}, {"sums", F32, 70}}, {24, 70}),
           {{24, 70}, {70}});
    expect(shaped("column_sums", {2, 1, 1}, {32, 1, 1}, {{"in", F32, 24 * 64}, {"sums", F32, 64}}, {24, 64}),
           {{24, 64}, {64}});
    expect(shaped("scale_rows", {12, 1, 1}, {32, 1, 1}, {{"data", F32, 12 * 100}}, {100, 0}), {{12, 100}});
    expect(shaped("two_rows", {2, 2, 1}, {16, 4, 1}, {{"in", F32, 512}, {"out", F32, 512}}, {}),
           {{16, 32}, {16, 32}});
    const auto grey = shaped("grey", {2, 1, 1}, {64, 1, 1},
                             {{"rgb", ElementType::U8, 300}, {"out", ElementType::U8, 100}}, {100});
    expect(grey, {{100, 3}, {100}});
}

TEST(ArrayShapes, ThreeDimensions) {
    expect(inferred(stencil()), {{6, 10, 20}, {6, 10, 20}});
    expect(shaped("depth_sums", {2, 3, 1}, {16, 4, 1}, {{"in", F32, 5 * 10 * 30}, {"out", F32, 300}},
                  {5, 10, 30}),
           {{5, 10, 30}, {10, 30}});
}

TEST(ArrayShapes, OneDimensionStaysOneRow) {
    expect(inferred(vector_add()), {{100}, {100}, {100}});
    expect(shaped("grid_stride", {4, 1, 1}, {32, 1, 1}, {{"in", F32, 512}, {"out", F32, 512}}, {512, 4}),
           {{512}, {512}});
    expect(shaped("grid_stride", {1, 1, 1}, {32, 1, 1}, {{"in", F32, 512}, {"out", F32, 512}}, {512, 64}),
           {{512}, {512}});
    expect(shaped("numbered", {4, 1, 1}, {16, 16, 1}, {{"in", F32, 1024}, {"out", F32, 1024}}, {1024, 16}),
           {{1024}, {1024}});
    expect(inferred(reverse()), {{70}});
    expect(inferred(histogram()), {{300}});
    std::vector<int32_t> order(256);
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i * 97 % 256);
    Plan scattered =
        shapes_plan("gather", {4, 1, 1}, {64, 1, 1},
                    {{"index", ElementType::S32, 256}, {"in", F32, 256}, {"out", F32, 256}}, {256});
    scattered.launch.arrays[0].contents = stored(order);
    expect(inferred(scattered), {{256}, {256}, {256}});
}

TEST(ArrayShapes, WhatIsNotSureIsNotSaid) {
    // Twice the width is the only distance, and no row of threads fills it.
    expect(shaped("every_other_row", {2, 2, 1}, {16, 4, 1}, {{"out", F32, 512}}, {}), {{512}});
    // An allocation that holds no whole rows of the width.
    expect(shaped("transpose", {3, 5, 1}, {16, 8, 1}, {{"in", F32, 48 * 40 + 1}, {"out", F32, 48 * 40}},
                  {48, 40}),
           {{48 * 40 + 1}, {48, 40}});
}

TEST(ArrayShapes, ExtentsThatAreKnownStay) {
    Plan plan = stencil();
    trace::Trace trace = recorded(plan);
    trace.launch.arrays[0].role = ArrayRole::InOut;
    analysis::infer_arrays(trace);
    EXPECT_EQ(extents(trace.launch.arrays[0]), (Extents{6, 10, 20}));
    EXPECT_EQ(trace.launch.arrays[0].extents, ExtentSource::Known);
    EXPECT_EQ(trace.launch.arrays[0].role, ArrayRole::Input);
}

TEST(ArrayShapes, TheNumbersOfAStructCount) {
    Plan plan = shapes_plan("transpose", {2, 6, 1}, {32, 8, 1}, {{"in", F32, 50 * 45}, {"out", F32, 50 * 45}},
                            {50, 45});
    flatten(plan.launch);
    trace::Trace trace = recorded(plan), without = recorded(plan);
    Argument sizes{"size", ElementType::B8, 0, -1, 0, {}};
    for (const int byte : {50, 0, 0, 0, 45, 0, 0, 0}) sizes.object.push_back(static_cast<std::byte>(byte));
    trace.launch.arguments.resize(2);
    without.launch.arguments.resize(2);
    trace.launch.arguments.push_back(sizes);
    analysis::infer_arrays(trace);
    expect(trace, {{45, 50}, {50, 45}});
    // Without them, rows that the threads fill from end to end are enough.
    analysis::infer_arrays(without);
    expect(without, {{45, 50}, {50, 45}});
}

TEST(ArrayShapes, BytesThatHoldFloatsBecomeFloats) {
    const auto trace =
        shaped("fill", {3, 2, 1}, {16, 16, 1}, {{"bytes", ElementType::U8, 40 * 24 * 4}}, {40, 24});
    EXPECT_EQ(trace.launch.arrays[0].type, F32);
    expect(trace, {{24, 40}});
    EXPECT_EQ(trace.launch.arrays[0].role, ArrayRole::Output);
    const auto bits = shaped("fill", {3, 2, 1}, {16, 16, 1}, {{"bits", ElementType::B32, 40 * 24}}, {40, 24});
    EXPECT_EQ(bits.launch.arrays[0].type, F32);
    expect(bits, {{24, 40}});
}

}  // namespace
}  // namespace tilescope::kernels
