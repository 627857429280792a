// Launches of whole programs, recorded by the interpreter and on a GPU: in every thread the same accesses in
// the same order. tests/gpu/programs.py makes the recordings in the folder that TILESCOPE_PROGRAMS names.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/trace/file.h"
#include "tests/same_threads.h"

namespace tilescope::gpu {
namespace {

namespace fs = std::filesystem;

TEST(RecordPrograms, BothEnginesRecordTheSameAccesses) {
    const char* const folder = std::getenv("TILESCOPE_PROGRAMS");
    if (!folder) GTEST_SKIP() << "needs recordings of tests/gpu/programs.py";
    int compared = 0, on_gpu = 0;
    for (const auto& program : fs::directory_iterator(folder)) {
        if (!fs::exists(program.path() / "cpu") || !fs::exists(program.path() / "gpu")) continue;
        for (const auto& entry : fs::directory_iterator(program.path() / "cpu")) {
            const fs::path name = entry.path().filename();
            if (name.extension() != ".tsc") continue;
            const std::string what = (program.path().filename() / name).string();
            const fs::path other = program.path() / "gpu" / name;
            if (!fs::exists(other)) {
                ADD_FAILURE() << what << " was not recorded on the GPU";
                continue;
            }
            const auto cpu = trace::read_file(entry.path().string()), gpu = trace::read_file(other.string());
            ASSERT_TRUE(cpu) << what << ": " << cpu.error().message;
            ASSERT_TRUE(gpu) << what << ": " << gpu.error().message;
            const bool on = gpu->meta.backend == trace::Backend::Gpu;
            const std::string differs = difference_of_threads(*cpu, *gpu);
            fmt::print(stderr, "{} {}{}\n", differs.empty() ? "same" : "DIFFERENT", what,
                       on ? "" : " (by the interpreter)");
            EXPECT_EQ(differs, "") << what;
            ++compared, on_gpu += on;
        }
    }
    fmt::print("{} recordings compared, {} made on the GPU\n", compared, on_gpu);
    EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace tilescope::gpu
