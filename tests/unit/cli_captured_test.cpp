// The list that capture prints, as text and as JSON.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/cli/capture_list.h"

namespace tilescope::cli {
namespace {

launched::CapturedProcess captured_process() {
    launched::CapturedProcess process;
    process.pid = 42;
    launched::CapturedRow add;
    add.id = 1, add.kernel = "add", add.entry = "_Z3addv", add.grid = {4, 1, 1}, add.block = {32, 1, 1};
    add.first = 1, add.count = 10, add.timed = 4, add.ms = 0.02, add.ptx = "in the fat binary of train";
    launched::CapturedRow gemm;
    gemm.id = 2, gemm.kernel = "gemm", gemm.entry = "gemm", gemm.grid = {8, 8, 1}, gemm.block = {128, 1, 1};
    gemm.first = 3, gemm.count = 1, gemm.without = "only its machine code is there";
    process.rows = {add, gemm};
    process.launches = {{1, 1, "out/add.1.tsc", "", "", 12.3},
                        {3, 2, "", "only its machine code is there", "", 0}};
    return process;
}

TEST(CliCaptured, TheTableHasARowForEachKernelAndShape) {
    EXPECT_EQ(captured_table({captured_process()}),
              "\n"
              "   launch  kernel            grid        block    count      GPU ms  \n"
              "        1  add              4,1,1       32,1,1       10       0.050  PTX in the fat binary of "
              "train\n"
              "        1  out/add.1.tsc, recorded in 12 ms\n"
              "        3  gemm             8,8,1      128,1,1        1              only its machine code is "
              "there\n"
              "        3  not recorded: only its machine code is there\n");
    launched::CapturedProcess graphs;
    graphs.pid = 43;
    graphs.note.graphs = 3;
    const std::string both = captured_table({captured_process(), graphs});
    EXPECT_NE(both.find("\nprocess 42\n"), std::string::npos);
    EXPECT_NE(both.find("\nprocess 43\n"), std::string::npos);
    EXPECT_NE(both.find("CUDA graphs were launched 3 times, and their kernels are not seen\n"),
              std::string::npos);
    EXPECT_EQ(captured_table({}), "");
}

TEST(CliCaptured, TheDocumentHasTheSame) {
    const auto all = nlohmann::json::parse(
        captured_json({"train", "--steps"}, 3, "the program ended with status 3", {captured_process()}));
    EXPECT_EQ(all["schema"], "tilescope.capture/1");
    EXPECT_EQ(all["command"], (std::vector<std::string>{"train", "--steps"}));
    EXPECT_EQ(all["exit"], 3);
    EXPECT_EQ(all["failure"], "the program ended with status 3");
    ASSERT_EQ(all["launches"].size(), 2u);
    const auto& add = all["launches"][0];
    EXPECT_EQ(add["kernel"], "add");
    EXPECT_EQ(add["grid"], (std::vector<int>{4, 1, 1}));
    EXPECT_EQ(add["count"], 10);
    EXPECT_EQ(add["ms"], 0.005);
    EXPECT_EQ(add["ptx"], "in the fat binary of train");
    EXPECT_TRUE(add["without"].is_null());
    EXPECT_EQ(add["recordings"][0]["recorded"], "out/add.1.tsc");
    const auto& gemm = all["launches"][1];
    EXPECT_TRUE(gemm["ms"].is_null());
    EXPECT_TRUE(gemm["ptx"].is_null());
    EXPECT_EQ(gemm["recordings"][0]["unrecorded"], "only its machine code is there");
}

}  // namespace
}  // namespace tilescope::cli
