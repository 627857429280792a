// tilescope devices, with the driver that stands in for NVIDIA's.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/gpu/backend.h"
#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

// The program with the stand-in found first, told to be so.
Ran devices(const std::string& told, const std::string& arguments) {
    const std::string path = std::filesystem::path(TILESCOPE_FAKE_CUDA).parent_path().string();
    return shell("LD_LIBRARY_PATH='" + path + "' FAKE_CUDA='" + told + "' \"$TILESCOPE\" devices " +
                 arguments);
}

TEST(CliDevices, HaveALineEach) {
    const Ran ran = devices("count=2", "");
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.err, "");
    const size_t first = ran.out.find("0  Stand-in GPU, "), second = ran.out.find("\n1  Stand-in GPU, ");
    EXPECT_EQ(first, 0u) << ran.out;
    EXPECT_NE(second, std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("CUDA 13.0, compute capability 9.0, 132 SMs, 1.0 GiB\n"), std::string::npos)
        << ran.out;
}

TEST(CliDevices, AreThereAsJson) {
    const Ran ran = devices("", "--json");
    EXPECT_EQ(ran.status, 0);
    const auto all = nlohmann::json::parse(ran.out);
    EXPECT_EQ(all["schema"], "tilescope.devices/1");
    ASSERT_EQ(all["devices"].size(), 1u);
    const auto& device = all["devices"][0];
    EXPECT_EQ(device["name"], "Stand-in GPU");
    EXPECT_EQ(device["cuda"], "13.0");
    EXPECT_EQ(device["compute_capability"], "9.0");
    EXPECT_EQ(device["sms"], 132);
    EXPECT_EQ(device["memory_bytes"], 1 << 30);
    EXPECT_FALSE(all.contains("why_none"));
}

TEST(CliDevices, MayBeNone) {
    const Ran ran = devices("init=100", "");
    EXPECT_EQ(ran.status, 0) << "no GPU is no failure";
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out.rfind("No NVIDIA GPU here: ", 0), 0u) << ran.out;
    EXPECT_NE(ran.out.find("no CUDA-capable device is detected"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("recorded on the CPU"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find(gpu::kWithAGpu), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find('\n'), ran.out.size() - 1) << "one line";
    const auto all = nlohmann::json::parse(devices("init=100", "--json").out);
    EXPECT_TRUE(all["devices"].is_array());
    EXPECT_TRUE(all["devices"].empty());
    EXPECT_NE(all["why_none"].get<std::string>().find("sees no GPU"), std::string::npos);
}

TEST(CliDevices, MayHaveADriverTooOld) {
    const Ran ran = devices("version=9020", "");
    EXPECT_EQ(ran.status, 0);
    EXPECT_NE(ran.out.find("supports CUDA 9.2"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace tilescope::cli_test
