// What an SM holds, points under roofs, and levels, in words and as JSON, of values that are made up.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/export/bounds.h"
#include "tests/opened.h"

namespace tilescope::report {
namespace {

using nlohmann::json;

bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

LimitsCase a_case() {
    LimitsCase c{"small", "A small SM", {}};
    analysis::DeviceSpec& device = c.answer.device;
    device.name = "GPU";
    device.chip = "G1";
    device.sm.major = 8;
    device.sm.threads_per_block = 1024;
    device.sm.threads_per_sm = 2048;
    device.sm.blocks_per_sm = 16;
    device.sm.registers_per_sm = device.sm.registers_per_block = 65536;
    device.sm.registers_per_thread = 255;
    device.sm.shared_per_sm = device.sm.shared_per_block = device.sm.shared_per_block_optin = 48 << 10;
    device.sm.register_granularity = device.sm.shared_granularity = 256;
    device.sm.warp_granularity = 4;
    analysis::BlockAnswer block{"256 threads", {.threads = 256}, {}, {}, "Eight blocks fit."};
    block.lecture.sum = analysis::Sum::Lecture;
    block.lecture.blocks = 8;
    block.lecture.threads = 2048;
    block.lecture.share = 0.5;
    block.lecture.fit.fill(analysis::kUnlimited);
    block.lecture.fit[0] = 8;
    block.lecture.limits[0] = true;
    block.hardware = block.lecture;
    block.hardware.sum = analysis::Sum::Hardware;
    block.hardware.refused = "it does not launch";
    c.answer.blocks = {block, block};
    c.answer.figures = {{"lost", "threads lost", 0.25, ""}, {"most", "most blocks", 8, "blocks"}};
    return c;
}

TEST(LimitsExport, IsAnObjectOfBlocksAndFigures) {
    const LimitsCase c = a_case();
    const json all = json::parse(to_json(c, false));
    EXPECT_EQ(all["schema"], "tilescope.limits/1");
    EXPECT_EQ(all["case"], "small");
    EXPECT_EQ(all["device"]["sm"]["threads_per_sm"], 2048);
    const json& block = all["blocks"][0];
    EXPECT_EQ(block["lecture"]["blocks"], 8);
    EXPECT_EQ(block["lecture"]["limited_by"].size(), 1u);
    EXPECT_EQ(block["lecture"]["blocks_by"][name_of(analysis::Limit{})], 8);
    EXPECT_EQ(block["hardware"]["limited_by"], json::array()) << "where no block runs nothing limits";
    EXPECT_FALSE(block.contains("curves"));
    EXPECT_EQ(all["figures"][1]["value"], 8);
    size_t nulls = 0;
    for (const json& fit : block["lecture"]["blocks_by"]) nulls += fit.is_null();
    EXPECT_EQ(nulls, analysis::kLimits - 1) << "what does not limit";
    const json curves = json::parse(to_json(c, true))["blocks"][1]["curves"];
    for (const char* parameter : {"threads", "registers", "shared"})
        EXPECT_TRUE(curves[parameter].is_array()) << parameter;
}

TEST(LimitsExport, SaysAnAnswerOfSeveralBlocksOnce) {
    const std::string text = to_text(a_case());
    EXPECT_TRUE(says(text, "A small SM\nGPU (G1, compute capability 8.0)")) << text;
    EXPECT_TRUE(says(text, "50 %"));
    EXPECT_EQ(text.find("Eight blocks fit."), text.rfind("Eight blocks fit.")) << text;
    EXPECT_TRUE(says(text, "threads lost: 0.25\n"));
    EXPECT_TRUE(says(text, "most blocks: 8 blocks\n"));
}

TEST(LimitsExport, ListsCasesAndDevices) {
    analysis::DeviceSpec device;
    device.id = "g1";
    device.memory_gbs = 12.34;
    const json all = json::parse(limit_cases_json({device}));
    EXPECT_EQ(all["cases"].size(), analysis::limit_presets().size());
    EXPECT_EQ(all["devices"][0]["id"], "g1");
    EXPECT_TRUE(says(limit_cases_text({device}), "12.3"));
}

TEST(RooflineExport, HasAPeakTilesAndSectorsWhereTheyAreKnown) {
    const analysis::Roof roof{"GPU", 100, 1000}, open{"old GPU", 100, 0};
    RooflineRow bound{"a", roof, bound_point("a bound", roof, 0.25)};
    RooflineRow recorded{"b", open, bound_point("recorded", open, 4)};
    const json first = json::parse(to_json({bound}))["rows"][0];
    EXPECT_EQ(first["gflops"], 25);
    EXPECT_EQ(first["share_of_peak"], 0.025);
    for (const char* key : {"tile", "m", "compiler", "gflops_of_sectors"})
        EXPECT_FALSE(first.contains(key)) << key;
    EXPECT_FALSE(says(to_text({bound}), "by sectors"));

    recorded.tile = 16;
    recorded.of_sectors = bound_point("recorded", open, 1);
    recorded.sizes = {{3, 4, 5}};
    recorded.compiler = "clang";
    const json second = json::parse(to_json({bound, recorded}))["rows"][1];
    EXPECT_TRUE(second["peak_gflops"].is_null());
    EXPECT_TRUE(second["share_of_peak"].is_null());
    EXPECT_EQ(second["tile"], 16);
    EXPECT_EQ(second["gflops_of_sectors"], 100);
    EXPECT_EQ(second["k"], 4);
    EXPECT_EQ(second["compiler"], "clang");
    EXPECT_TRUE(says(to_text({bound, recorded}), "By sectors: the same bound"));
}

TEST(LevelsExport, TellsWhatIsKnownOfALaunch) {
    LevelsOfLaunch of;
    of.kernel = of.title = "kernel";
    of.device.id = "g1";
    of.block = {8, 4, 1};
    of.levels.launch.blocks = 3;
    of.levels.asked.all.requested_bytes = 4096;
    of.levels.asked.all.l1_sectors = 100;
    of.levels.bounds.all = {{"dram", 2, "bytes"}, {"l2", 4, "sectors"}};
    of.levels.bounds.bound_by = 1;
    const json bare = json::parse(to_json(of));
    EXPECT_EQ(bare["bound_by"], "l2");
    for (const char* key : {"measured", "measured_ms"}) EXPECT_TRUE(bare[key].is_null()) << key;
    for (const char* key : {"compiler", "registers"}) EXPECT_TRUE(bare["launch"][key].is_null()) << key;
    EXPECT_FALSE(bare["launch"].contains("m"));
    EXPECT_EQ(bare["launch"]["block"], (json{8, 4, 1}));
    const std::string text = to_text(of);
    EXPECT_TRUE(says(text, "3 blocks of 32 threads")) << text;
    EXPECT_TRUE(says(text, "bound by l2\n"));
    EXPECT_FALSE(says(text, "measured:"));

    of.compiler = "clang";
    of.sizes = {{1, 2, 3, 4}};
    of.counted = {200, 0.5, 30.4, 1024};
    of.measured_ms = 6;
    of.levels.model.dram_range = {100, 200};
    const json all = json::parse(to_json(of));
    EXPECT_EQ(all["launch"]["tile"], 4);
    EXPECT_EQ(all["measured"]["l2_read_sectors"], 30) << "whole";
    EXPECT_EQ(all["modelled"]["dram_read_bytes_range"], (json{100, 200}));
    EXPECT_TRUE(says(to_text(of), "measured: L1 found 50.00 % of 200 sectors"));
    EXPECT_TRUE(says(to_text(of), "PTX by clang"));
    EXPECT_TRUE(says(to_text(of), "bound by l2; measured 6 ms, 1.50 times that\n"));
}

}  // namespace
}  // namespace tilescope::report
