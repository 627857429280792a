// Launches of whole programs, recorded by the interpreter and on a GPU: in every thread the same accesses in
// the same order. tests/gpu/programs.py makes the recordings in the folder that TILESCOPE_PROGRAMS names.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/trace/file.h"

namespace tilescope::gpu {
namespace {

namespace fs = std::filesystem;

// Of a thread: site, array, offset in it.
using Accesses = std::vector<std::tuple<uint32_t, uint8_t, uint64_t>>;
// By block and thread.
using Threads = std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, Accesses>;

Threads by_thread(const trace::Trace& trace) {
    Threads threads;
    for (const trace::Block& block : trace.blocks)
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            const trace::Access access = trace::decode(trace, step);
            for (uint32_t lane = 0; lane < kWarpSize; ++lane)
                if (access.mask >> lane & 1)
                    threads[{block.z, block.y, block.x, access.warp * kWarpSize + lane}].emplace_back(
                        access.site, access.array, access.offset[lane]);
        }
    return threads;
}

std::string difference(const trace::Trace& cpu, const trace::Trace& gpu) {
    const Threads a = by_thread(cpu), b = by_thread(gpu);
    if (a.size() != b.size()) return fmt::format("{} threads and {}", a.size(), b.size());
    for (const auto& [thread, accesses] : a) {
        const auto other = b.find(thread);
        const auto& [z, y, x, number] = thread;
        const std::string where = fmt::format("block {},{},{} thread {}", x, y, z, number);
        if (other == b.end()) return where + " is in one only";
        if (accesses.size() != other->second.size())
            return fmt::format("{} has {} accesses and {}", where, accesses.size(), other->second.size());
        for (size_t i = 0; i < accesses.size(); ++i) {
            const auto& [site, array, offset] = accesses[i];
            const auto& [its_site, its_array, its_offset] = other->second[i];
            if (accesses[i] != other->second[i])
                return fmt::format("{} access {}: site {} array {} offset {}, and site {} array {} offset {}",
                                   where, i, site, array, offset, its_site, its_array, its_offset);
        }
    }
    return "";
}

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
            ASSERT_TRUE(fs::exists(other)) << what << " was not recorded on the GPU";
            const auto cpu = trace::read_file(entry.path().string()), gpu = trace::read_file(other.string());
            ASSERT_TRUE(cpu && gpu) << what;
            const bool on = gpu->meta.backend == trace::Backend::Gpu;
            const std::string differs = difference(*cpu, *gpu);
            fmt::print("{} {}{}\n", differs.empty() ? "same" : "DIFFERENT", what,
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
