// The devices that ship: every file is read, every compute capability from 1.0 to 12.1 has its limits.
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "kernels/textbook/devices.h"
#include "tests/file_text.h"

namespace tilescope::kernels {
namespace {

TEST(Devices, EveryFileOfAssetsIsRead) {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(TILESCOPE_SOURCE_DIR "/assets/devices")) {
        if (entry.path().filename() == "limits.json") continue;
        ++files;
        const auto device =
            analysis::device_from_json(file_text(entry.path()), entry.path().string(), sm_limits());
        ASSERT_TRUE(device) << device.error().message;
        EXPECT_EQ(device->id + ".json", entry.path().filename());
    }
    EXPECT_GT(files, 25u);
    EXPECT_EQ(devices().size(), files);
}

TEST(Devices, EveryComputeCapabilityHasLimits) {
    std::set<std::string> known;
    for (const analysis::SmLimits& sm : sm_limits()) known.insert(sm.capability());
    for (const char* wanted : {"1.0", "1.1", "1.2", "1.3", "2.0",  "2.1",  "3.0",  "3.2",  "3.5",  "3.7",
                               "5.0", "5.2", "5.3", "6.0", "6.1",  "6.2",  "7.0",  "7.2",  "7.5",  "8.0",
                               "8.6", "8.7", "8.9", "9.0", "10.0", "10.1", "10.3", "11.0", "12.0", "12.1"})
        EXPECT_TRUE(known.count(wanted)) << wanted;
}

TEST(Devices, AreFoundByIdNameChipAndCapability) {
    for (const char* word : {"rtx-3090", "GeForce RTX 3090", "ga102", "8.6", "cc8.6"}) {
        const auto device = device_named(word);
        ASSERT_TRUE(device) << word;
        EXPECT_EQ(device->id, "rtx-3090");
        EXPECT_DOUBLE_EQ(device->memory_gbs, 936.2);
        EXPECT_DOUBLE_EQ(device->peak_gflops, 35580);
    }
    const auto none = device_named("voodoo");
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("'voodoo'"), std::string::npos);
    EXPECT_NE(none.error().message.find("rtx-3090"), std::string::npos);
}

TEST(Devices, ADriversNameIsFound) {
    ASSERT_TRUE(find_driver_name("NVIDIA H200"));
    EXPECT_EQ(find_driver_name("NVIDIA H200")->id, "h200");
    ASSERT_TRUE(find_driver_name("NVIDIA H100 80GB HBM3"));
    EXPECT_EQ(find_driver_name("NVIDIA H100 80GB HBM3")->id, "h100");
    EXPECT_FALSE(find_driver_name("NVIDIA GeForce RTX 3090 Ti"));
    EXPECT_FALSE(find_driver_name("llvmpipe"));
}

}  // namespace
}  // namespace tilescope::kernels
