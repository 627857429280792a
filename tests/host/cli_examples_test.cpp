// Every example program is compiled with clang alone, run and recorded; it finds its own result right, but
// for those that are made to go wrong, and what was recorded is what its first lines promise, counted by
// hand.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "core/analysis/summary.h"
#include "core/recording/product.h"
#include "core/trace/file.h"
#include "tests/host/cli_program.h"
#include "tests/opened.h"

namespace tilescope::cli_test {
namespace {

using analysis::StepKind;

namespace fs = std::filesystem;

const fs::path kExamples = fs::path(TILESCOPE_SOURCE_DIR) / "kernels" / "examples";

// Requests, lanes and sectors of global memory; requests, lanes and wavefronts of shared memory.
struct Counts {
    uint64_t requests = 0, lanes = 0, passes = 0;
    bool operator==(const Counts&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Counts& c) {
    return out << c.requests << " requests, " << c.lanes << " lanes, " << c.passes
               << " sectors or wavefronts";
}

struct Recorded {
    std::string file;  // "add.1.tsc"
    Counts load, store, shared_load, shared_store;
    uint64_t barriers = 0;                       // arrivals of warps
    std::vector<std::vector<uint32_t>> extents;  // of the global arrays
    uint64_t most_loads = 1;                     // of one element of an input
    uint32_t phases = 1;
};

struct Example {
    std::string name;
    std::vector<Recorded> recorded;
    int status = 0;        // 1 of a program that is made to go wrong
    bool product = false;  // whether its launches are read as products
};
void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

const std::vector<Example> kPrograms = {
    {"vector_add", {{"add.1.tsc", {64, 2000, 250}, {32, 1000, 125}, {}, {}, 0, {{1000}, {1000}, {1000}}}}},
    // A warp is two rows of 64 bytes, two sectors each.
    {"matrix_add",
     {{"matrix_add.1.tsc", {192, 6144, 768}, {96, 3072, 384}, {}, {}, 0, {{48, 64}, {48, 64}, {48, 64}}}}},
    // 16 blocks x 4 phases x 8 warps, for M and for N; each element is loaded by 4 blocks.
    {"matrix_multiply",
     {{"MatrixMulKernel.1.tsc",
       {1024, 32768, 4096},
       {128, 4096, 512},
       {16384, 524288, 16384},
       {1024, 32768, 1024},
       1024,
       {{64, 64}, {64, 64}, {64, 64}},
       4,
       4}},
     0,
     true},
    // N by columns: 4 sectors a request as for M. Two columns of 17 words apart meet in one bank once.
    {"corner_turning",
     {{"corner_turning.1.tsc",
       {1024, 32768, 4096},
       {128, 4096, 512},
       {16384, 524288, 16384},
       {1024, 32768, 1536},
       1024,
       {{64, 64}, {64, 64}, {64, 64}},
       4,
       4}},
     0,
     false},
    // 16 trips x 8 warps for M and for N; M's rows are two a warp, a sector each, N's one of two sectors.
    {"product_one_block",
     {{"product.1.tsc", {256, 8192, 512}, {8, 256, 32}, {}, {}, 0, {{16, 16}, {16, 16}, {16, 16}}, 16, 16}},
     0,
     true},
    // 4 blocks x 2 phases x 2 warps, for M and for N; 8 trips a phase, and 1 + 8 barriers.
    {"product_inner_barrier",
     {{"product.1.tsc",
       {32, 1024, 128},
       {8, 256, 32},
       {256, 8192, 256},
       {32, 1024, 32},
       4 * 2 * 9 * 2,
       {{16, 16}, {16, 16}, {16, 16}},
       2,
       2}},
     0,
     true},
    // 16 blocks of a warp with half of its lanes and 4 phases of 4 trips; 4 of two warps and 2 phases of 8.
    {"product_one_warp",
     {{"one_warp.1.tsc",
       {128, 2048, 512},
       {16, 256, 64},
       {512, 8192, 512},
       {128, 2048, 128},
       0,
       {{16, 16}, {16, 16}, {16, 16}},
       4,
       4},
      {"two_warps.2.tsc",
       {32, 1024, 128},
       {8, 256, 32},
       {256, 8192, 256},
       {32, 1024, 32},
       0,
       {{16, 16}, {16, 16}, {16, 16}},
       2,
       2}},
     1,
     true},
    // Warp 0 alone gets as far as to fill its half; it stands at two barriers.
    {"barrier_condition", {{"pass_on.1.tsc", {2, 64, 8}, {0, 0, 0}, {}, {1, 32, 1}, 0, {{64}, {64}}}}, 1},
    {"memory_spaces",
     {{"spaces.1.tsc", {4, 128, 16}, {4, 128, 16}, {16, 512, 16}, {4, 128, 4}, 4, {{128}, {128}}}}},
    // 1 + 2 + 3 + 4 rows.
    {"warps_at_barrier",
     {{"gate.1.tsc", {10, 320, 40}, {4, 128, 16}, {4, 128, 4}, {4, 128, 4}, 4, {{512}, {128}}}}},
    // Blocks of 4 threads; without checks block (1,0) loads elements 2, 3, 5 and 6 of the 3 x 3.
    {"edge_wraps",
     {{"unchecked.1.tsc", {4, 16, 5}, {4, 16, 4}, {}, {}, 0, {{16}, {4, 4}}, 2},
      {"checked.2.tsc", {4, 9, 4}, {4, 16, 4}, {}, {}, 0, {{16}, {4, 4}}}}},
    // 2,000 / 32 is 62 warps and half of one.
    {"vector_2000", {{"add.1.tsc", {126, 4000, 500}, {63, 2000, 250}, {}, {}, 0, {{2000}, {2000}, {2000}}}}},
    {"transpose_naive",
     {{"transpose.1.tsc", {192, 6144, 768}, {192, 6144, 6144}, {}, {}, 0, {{96, 64}, {64, 96}}, 1, 4}}},
    {"transpose_tiled",
     {{"transpose.1.tsc",
       {192, 6144, 768},
       {192, 6144, 768},
       {192, 6144, 6144},
       {192, 6144, 192},
       48,
       {{96, 64}, {64, 96}}}}},
    {"transpose_padded",
     {{"transpose.1.tsc",
       {192, 6144, 768},
       {192, 6144, 768},
       {192, 6144, 192},
       {192, 6144, 192},
       48,
       {{96, 64}, {64, 96}}}}},
    // Nine loads a thread, but for what lies outside: (48 + 47 + 47) x (64 + 63 + 63). Passes: not counted
    // here.
    {"blur", {{"blur.1.tsc", {864, 26980, 0}, {96, 3072, 192}, {}, {}, 0, {{48, 64}, {48, 64}}, 9, 9}}},
    // The halo: three on the left of all blocks but the first, three on the right of all but the last.
    {"stencil_halo",
     {{"stencil.1.tsc",
       {32 + 7 + 7, 1042, 125 + 7 + 7},
       {32, 1000, 125},
       {7 * 32, 7 * 1024, 7 * 32},
       {32 + 16, 1024 + 48, 32 + 16},
       32,
       {{1000}, {1000}},
       2}}},
    // Warps that add, in the steps 1, 2, 4, …: 8, 8, 8, 8, 8, 4, 2, 1 of each of 8 blocks, two loads and a
    // store.
    {"reduction_interleaved",
     {{"reduce.1.tsc",
       {64, 2048, 256},
       {8, 8, 8},
       {8 * (2 * 47 + 1), 8 * (2 * 255 + 1), 8 * (2 * 47 + 1)},
       {8 * (47 + 8), 8 * (255 + 256), 8 * (47 + 8)},
       8 * 8 * 9,
       {{2048}, {8}},
       1,
       8}}},
    // 4, 2, 1, 1, 1, 1, 1, 1.
    {"reduction_sequential",
     {{"reduce.1.tsc",
       {64, 2048, 256},
       {8, 8, 8},
       {8 * (2 * 12 + 1), 8 * (2 * 255 + 1), 8 * (2 * 12 + 1)},
       {8 * (12 + 8), 8 * (255 + 256), 8 * (12 + 8)},
       8 * 8 * 9,
       {{2048}, {8}},
       1,
       8}}},
    {"reduction_shuffle",
     {{"reduce.1.tsc", {64, 2048, 256}, {8, 8, 8}, {8, 64, 8}, {64, 64, 64}, 64, {{2048}, {8}}}}},
    // Each of 8 blocks in the steps s = 1, 2, 4, …: 4, 2, 1, 1, 1, 1, 1, 1 warps add. Their words lie 2s apart, so
    // that a load takes 2, 4, 8, 8, 8, 4, 2, 1 wavefronts in a warp, together 47.
    {"reduction_strided",
     {{"reduce.1.tsc",
       {64, 2048, 256},
       {8, 8, 8},
       {8 * (2 * 12 + 1), 8 * (2 * 255 + 1), 8 * (2 * 47 + 1)},
       {8 * (12 + 8), 8 * (255 + 256), 8 * (47 + 8)},
       8 * 8 * 9,
       {{2048}, {8}},
       1,
       8}}},
    // A warp's 128 bytes from byte 4 on lie in 5 sectors; with a stride of 8 elements each lane has its own.
    {"strided_copy",
     {{"copy_with_offset.1.tsc", {32, 1024, 160}, {32, 1024, 128}, {}, {}, 0, {{1024}, {8192}}},
      {"copy_with_stride.2.tsc", {32, 1024, 1024}, {32, 1024, 128}, {}, {}, 0, {{1024}, {1024, 8}}}}},
    // Two points a sector, a row of 4 members each; eight floats.
    {"structs",
     {{"move_structures.1.tsc", {8, 256, 128}, {8, 256, 128}, {}, {}, 0, {{256, 4}}},
      {"move_array.2.tsc", {8, 256, 32}, {8, 256, 32}, {}, {}, 0, {{256}}}}},
    // 4,096 floats are 512 sectors, in 128 requests of 4 or in 32 of 16.
    {"vector_copy",
     {{"copy_floats.1.tsc", {128, 4096, 512}, {128, 4096, 512}, {}, {}, 0, {{4096}, {4096}}},
      {"copy_vectors.2.tsc", {32, 1024, 512}, {32, 1024, 512}, {}, {}, 0, {{4096}, {4096}}}}},
    // M across its columns: 16 columns, two rows of each in one sector. Turned: as N, and into a tile with a
    // column more, where two columns of a warp meet in one bank once.
    {"column_major",
     {{"not_turned.1.tsc",
       {1024, 32768, 512 * 16 + 512 * 4},
       {128, 4096, 512},
       {16384, 524288, 16384},
       {1024, 32768, 1024},
       1024,
       {{64, 64}, {64, 64}, {64, 64}},
       4,
       4},
      {"turned.2.tsc",
       {1024, 32768, 4096},
       {128, 4096, 512},
       {16384, 524288, 16384},
       {1024, 32768, 512 * 2 + 512},
       1024,
       {{64, 64}, {64, 64}, {64, 64}},
       4,
       4}}},
    // 4 blocks x 4 phases x 8 warps, once for M and 4 times for N; an element of N is loaded by 4 blocks, of M by
    // one. Each tile of N is filled and used up: 4 x 4 phases for the barriers.
    {"coarsened_product",
     {{"coarsened.1.tsc",
       {4 * 4 * 8 * 5, 20480, 2560},
       {128, 4096, 512},
       {16384, 524288, 16384},
       {640, 20480, 640},
       4 * 4 * 4 * 2 * 8,
       {{64, 64}, {64, 64}, {4096}},
       4,
       16}}},
    // Two reductions of 128 numbers by 8 rows: in 7 steps 2, 1, 1, 1, 1, 1, 1 warps load twice and store once, and
    // 4 warps store before and load the result behind them. Phases: as they are found in two loops of 7 trips.
    {"softmax",
     {{"softmax.1.tsc",
       {32, 1024, 128},
       {32, 1024, 128},
       {8 * 2 * (2 * 8 + 4), 8 * 2 * (2 * 127 + 128), 8 * 2 * (2 * 8 + 4)},
       {8 * 2 * (8 + 4), 8 * 2 * (127 + 128), 8 * 2 * (8 + 4)},
       8 * 4 * (2 * (1 + 7) + 1),
       {{1024}, {1024}},
       1,
       13}}},
    // 8 warps: 4 loads each of the row, of the weights and of the biases.
    {"layer_norm",
     {{"layer_norm.1.tsc",
       {8 * 3 * 4, 3072, 384},
       {32, 1024, 128},
       {},
       {},
       0,
       {{32, 32}, {4, 32}, {4, 32}, {32, 32}},
       8}}},
    // 16 blocks of two warps; 8 trips.
    {"batched_product",
     {{"batched.1.tsc",
       {64, 2048, 256},
       {32, 1024, 128},
       {16 * 2 * 2 * 8, 16384, 512},
       {64, 2048, 64},
       32,
       {{1024}, {1024}, {1024}}}}},
    {"divergence",
     {{"by_thread.1.tsc", {32, 512, 128}, {16, 512, 64}, {}, {}, 0, {{512}, {512}, {512}}},
      {"by_warp.2.tsc", {16, 512, 64}, {16, 512, 64}, {}, {}, 0, {{512}, {512}, {512}}}}},
};

// Those whose launches have atomic operations: what they print is looked at, and no count.
const std::set<std::string> kHistograms = {"histogram_global", "histogram_shared"};

bool has_clang() {
    return std::system("command -v clang++ >/dev/null || ls /usr/bin/clang++-* >/dev/null 2>&1") == 0;
}

Ran run_example(const std::string& name, const std::string& output) {
    // Programs that were built stay for the next run of the tests.
    setenv("XDG_CACHE_HOME", (fs::path(TILESCOPE_BINARY_DIR) / "tests" / "cache").c_str(), 1);
    return tilescope({"record", (kExamples / (name + ".cu")).string(), "-o", output});
}

class Examples : public testing::TestWithParam<Example> {};

TEST_P(Examples, IsRightAndRecordsWhatItPromises) {
    if (!has_clang()) GTEST_SKIP() << "no clang++ to compile with";
    const Example& example = GetParam();
    const std::string all = in_folder("all") + "/";
    fs::create_directories(all);
    const Ran ran = run_example(example.name, all);
    ASSERT_EQ(ran.status, example.status) << ran.out << ran.err;
    EXPECT_NE(ran.out.find(example.name == "barrier_condition" ? "wrong" : "right"), std::string::npos)
        << ran.out;
    std::vector<std::string> files;
    for (const auto& file : fs::directory_iterator(all)) files.push_back(file.path().filename().string());
    EXPECT_EQ(files.size(), example.recorded.size());
    for (const Recorded& expected : example.recorded) {
        const auto trace = trace::read_file(all + expected.file);
        ASSERT_TRUE(trace) << trace.error().message;
        EXPECT_EQ(trace->meta.complete, example.name != "barrier_condition") << trace->meta.incomplete_reason;
        const auto summary = analysis::summarize(*trace);
        ASSERT_TRUE(summary) << summary.error().message;
        const auto global = [](const analysis::Sums& sums, const Counts& wanted) {
            return Counts{sums.requests, sums.lanes, wanted.passes == 0 ? 0 : sums.sectors};
        };
        const auto shared = [](const analysis::Sums& sums, const Counts& wanted) {
            return Counts{sums.requests, sums.lanes, wanted.passes == 0 ? 0 : sums.wavefronts};
        };
        EXPECT_EQ(global((*summary)[StepKind::GlobalLoad], expected.load), expected.load);
        EXPECT_EQ(global((*summary)[StepKind::GlobalStore], expected.store), expected.store);
        EXPECT_EQ(shared((*summary)[StepKind::SharedLoad], expected.shared_load), expected.shared_load);
        EXPECT_EQ(shared((*summary)[StepKind::SharedStore], expected.shared_store), expected.shared_store);
        EXPECT_EQ(summary->barriers, expected.barriers);
        EXPECT_EQ(summary->phases, expected.phases) << expected.file;
        std::vector<std::vector<uint32_t>> extents;
        for (const Array& array : trace->launch.arrays)
            if (array.space == Space::Global)
                extents.push_back(array.rank == 1 ? std::vector{array.cols}
                                                  : std::vector{array.rows, array.cols});
        EXPECT_EQ(extents, expected.extents);
        uint64_t most = 0;
        for (const analysis::Reuse& reuse : summary->reuse) most = std::max(most, reuse.max);
        EXPECT_EQ(most, expected.most_loads);
        EXPECT_EQ(analysis::product_of(*trace).has_value(), example.product);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Examples, testing::ValuesIn(kPrograms),
                         [](const auto& of) { return of.param.name; });

TEST(ExamplePrograms, HistogramsAreRight) {
    if (!has_clang()) GTEST_SKIP() << "no clang++ to compile with";
    for (const std::string& name : kHistograms) {
        const Ran ran = run_example(name, in_folder(name) + "/");
        EXPECT_EQ(ran.out.rfind("right\n", 0), 0u) << name << ": " << ran.out << ran.err;
    }
}

TEST(ExamplePrograms, AreAllHere) {
    std::set<std::string> files, tested = kHistograms;
    for (const auto& file : fs::directory_iterator(kExamples)) files.insert(file.path().stem().string());
    for (const Example& example : kPrograms) tested.insert(example.name);
    EXPECT_EQ(files, tested);
}

}  // namespace
}  // namespace tilescope::cli_test
