// Launches as the library counts them, and what it and the command tell each other.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "core/base/file.h"
#include "kernels/capture/cupti.h"
#include "kernels/capture/launch_rows.h"
#include "kernels/capture/record.h"
#include "kernels/program/capture_run.h"
#include "kernels/program/capture_xla.h"
#include "tests/temp_folder.h"

namespace tilescope::capture {
namespace {

CountedKernel kernel_called(const std::string& name) {
    CountedKernel kernel;
    kernel.entry = "_Z" + std::to_string(name.size()) + name + "v";
    kernel.name = name;
    kernel.ptx = "in the fat binary of train";
    return kernel;
}

TEST(CaptureRows, CountLaunchesByKernelAndShape) {
    LaunchRows rows;
    CountedKernel add = kernel_called("add"), scale = kernel_called("scale");
    const LaunchShape small{{4, 1, 1}, {32, 1, 1}, 0}, large{{8, 2, 1}, {32, 1, 1}, 16};
    std::vector<uint64_t> timed;
    for (int i = 0; i < 10; ++i) {
        CountedRow& row = rows.seen(add, small);
        if (LaunchRows::is_timed(row)) timed.push_back(row.row.count);
        rows.seen(add, large);
    }
    rows.add_time(rows.seen(scale, small), 0.5);
    EXPECT_EQ(rows.number(), 21u);
    EXPECT_EQ(timed, (std::vector<uint64_t>{1, 2, 4, 8}));
    const auto told = rows.changed();
    ASSERT_EQ(told.size(), 3u);
    EXPECT_EQ(told[0].count, 10u);
    EXPECT_EQ(told[0].first, 1u);
    EXPECT_EQ(told[1].first, 2u);
    EXPECT_EQ(told[1].grid, (Dim3{8, 2, 1}));
    EXPECT_EQ(told[1].shared, 16u);
    EXPECT_EQ(told[2].kernel, "scale");
    EXPECT_EQ(told[2].timed, 1u);
    EXPECT_EQ(told[2].ms, 0.5);
    EXPECT_TRUE(rows.changed().empty());
    rows.seen(scale, small);
    ASSERT_EQ(rows.changed().size(), 1u);
}

TEST(CaptureRows, OrdersChooseLaunches) {
    const auto orders = [](std::vector<std::string> kernels, std::vector<uint64_t> numbers, bool every) {
        launched::Orders made;
        made.kernels = std::move(kernels);
        made.numbers = std::move(numbers);
        made.every = every;
        return made;
    };
    CountedKernel add = kernel_called("add"), again = kernel_called("add");
    again.recorded = 1;
    EXPECT_FALSE(is_chosen(orders({}, {}, false), add, 1));  // listed only
    EXPECT_TRUE(is_chosen(orders({"add"}, {}, false), add, 7));
    EXPECT_TRUE(is_chosen(orders({"_Z3addv"}, {}, false), add, 7));
    EXPECT_FALSE(is_chosen(orders({"add"}, {}, false), again, 8));
    EXPECT_TRUE(is_chosen(orders({"add"}, {}, true), again, 8));
    EXPECT_FALSE(is_chosen(orders({"scale"}, {}, true), add, 7));
    EXPECT_TRUE(is_chosen(orders({}, {}, true), again, 8));
    EXPECT_TRUE(is_chosen(orders({}, {7}, false), again, 7));
    EXPECT_FALSE(is_chosen(orders({"add"}, {7}, true), add, 8));
}

TEST(CaptureLines, ComeBackAsTheyWereWritten) {
    launched::CapturedRow row;
    row.id = 2, row.kernel = "add \"\xFF", row.entry = "_Z3addv", row.grid = {4, 2, 1},
    row.block = {32, 1, 1};
    row.shared = 16, row.first = 3, row.count = 5, row.timed = 2, row.ms = 0.25;
    row.ptx = "in Triton's cache", row.remark = "a remark";
    launched::CapturedRow other = row;
    other.id = 1, other.kernel = "scale";
    launched::CapturedRow later = other;
    later.count = 50;
    const launched::CapturedLaunch launch{3, 2, "/tmp/add.3.tsc", "", "windowed", 12.5};
    const launched::CapturedNote note{"no CUPTI", 7};
    const std::string lines = to_json(note) + "\n" + to_json(row) + "\n" + to_json(other) + "\n" +
                              to_json(launch) + "\n" + to_json(later) + "\n" + to_json(row).substr(0, 20);
    const launched::CapturedProcess process = launched::captured_from_lines(12, lines);
    EXPECT_EQ(process.pid, 12u);
    EXPECT_TRUE(process.damage.empty()) << process.damage;
    ASSERT_EQ(process.rows.size(), 2u);
    EXPECT_EQ(process.rows[0], later);
    row.kernel = "add \"\xEF\xBF\xBD";  // what is no UTF-8
    EXPECT_EQ(process.rows[1], row);
    EXPECT_EQ(process.launches, std::vector{launch});
    EXPECT_EQ(process.note, note);
    for (const char* broken : {"{}\n", "{\"row\":{\"id\":1}}\n", "nothing\n", "[]\n", "{\"launch\":3}\n"})
        EXPECT_FALSE(launched::captured_from_lines(1, broken).damage.empty()) << broken;
}

TEST(CaptureArguments, AreReadInBothWaysOfALaunch) {
    const std::vector<uint64_t> sizes{4, 8, 1, 12}, alignments{4, 8, 1, 4};
    std::vector<std::vector<std::byte>> given;
    for (size_t i = 0; i < sizes.size(); ++i) given.emplace_back(sizes[i], std::byte(i + 1));
    std::vector<void*> pointers;
    for (auto& one : given) pointers.push_back(one.data());
    SeenLaunch launch;
    launch.parameters = pointers.data();
    EXPECT_EQ(parameter_bytes(launch, sizes, alignments), given);

    std::vector<std::byte> buffer(32);
    const size_t offsets[] = {0, 8, 16, 20};
    for (size_t i = 0; i < given.size(); ++i)
        std::memcpy(buffer.data() + offsets[i], given[i].data(), sizes[i]);
    size_t held = buffer.size();
    void* extra[] = {reinterpret_cast<void*>(kExtraBuffer), buffer.data(),
                     reinterpret_cast<void*>(kExtraSize), &held, nullptr};
    launch.parameters = nullptr;
    launch.extra = extra;
    EXPECT_EQ(parameter_bytes(launch, sizes, alignments), given);
    held = 31;
    EXPECT_TRUE(parameter_bytes(launch, sizes, alignments).empty());
    launch.extra = nullptr;
    EXPECT_TRUE(parameter_bytes(launch, sizes, alignments).empty());
}

TEST(CaptureArguments, SomeLaunchesAreRefusedInASentence) {
    SeenLaunch launch;
    EXPECT_EQ(why_not_recorded(launch), "");
    launch.cluster = {2, 1, 1};
    EXPECT_EQ(why_not_recorded(launch), "");
    launch.cooperative = true;
    EXPECT_NE(why_not_recorded(launch).find("cooperative"), std::string::npos);
}

TEST(CaptureCupti, IsLookedForBesideWhatIsLoaded) {
    const auto names = cupti_names({"/opt/a/lib/python3/site-packages/torch/lib/libtorch.so",
                                    "/opt/cuda/lib64/libcudart.so.12", "/opt/b/libcupti.so.12"});
    const auto at = [&](const std::string& name) { return std::ranges::find(names, name) - names.begin(); };
    const auto last = static_cast<std::ptrdiff_t>(names.size());
    EXPECT_EQ(at("/opt/b/libcupti.so.12"), 0);
    EXPECT_LT(at("libcupti.so.13"), at("/opt/cuda/extras/CUPTI/lib64/libcupti.so.12"));
    EXPECT_LT(at("/opt/cuda/extras/CUPTI/lib64/libcupti.so.12"), last);
    EXPECT_LT(at("/opt/a/lib/python3/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12"), last);
    EXPECT_LT(at("/opt/a/lib/python3/site-packages/nvidia/cu13/lib/libcupti.so.13"), last);
    EXPECT_LT(at("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"), last);
}

TEST(CaptureEnvironment, LeavesWhatIsSetAlone) {
    const auto unset = [](const char*) -> const char* { return nullptr; };
    EXPECT_EQ(
        program::capture_environment("/lib/x.so", "/tmp/a", unset),
        (std::vector<std::string>{
            "CUDA_INJECTION64_PATH=/lib/x.so", "TILESCOPE_CAPTURE=/tmp/a/orders",
            "TILESCOPE_KEPT_PTX=/tmp/a/xla/kept",
            "XLA_FLAGS=--xla_gpu_cuda_data_dir=/tmp/a/xla/cuda --xla_gpu_enable_command_buffer=",
            "CUDA_ROOT=/tmp/a/xla/cuda", "CUPY_COMPILE_WITH_PTX=1", "XLA_PYTHON_CLIENT_PREALLOCATE=false"}));
    EXPECT_EQ(program::capture_environment("/lib/x.so", "/tmp/a", [](const char*) { return "0"; }).size(),
              5u);
    const std::string own = "--xla_gpu_enable_command_buffer=FUSION --xla_gpu_cuda_data_dir=/opt/cuda --x=1";
    EXPECT_EQ(program::xla_flags(own, "/t"), own + " --xla_gpu_cuda_data_dir=/t/cuda");
    EXPECT_EQ(program::xla_flags("/etc/flags", "/t"), "/etc/flags");
    EXPECT_EQ(program::xla_toolkit(own, ""), "/opt/cuda");
    EXPECT_EQ(program::xla_toolkit(own, "/opt/other"), "/opt/other");
    EXPECT_EQ(program::xla_toolkit("--x=1", ""), "/usr/local/cuda");
}

using CaptureXla = TempFolder;

// A ptxas and an nvlink that join what they read: what they make is found with the PTX that it was made of.
TEST_F(CaptureXla, ToolsAreCalledAndWhatTheyReadIsKept) {
    namespace fs = std::filesystem;
    fs::create_directories(folder_ / "real/bin");
    for (const char* tool : {"ptxas", "nvlink"}) {
        const fs::path path = folder_ / "real/bin" / tool;
        std::ofstream(path)
            << "#!/bin/sh\n[ \"$1\" = --version ] && echo version 13 && exit 0\n[ \"$1\" = bad ] && exit 3\n"
               "shift; out=$1; shift; printf \"made \" > $out; cat \"$@\" >> $out\n";
        fs::permissions(path, fs::perms::owner_all);
    }
    std::ofstream(at("real/bin/nvcc"));
    fs::create_directories(folder_ / "real/nvvm");
    ASSERT_TRUE(program::write_xla_tools(folder_ / "xla", at("real")));
    const std::string bin = at("xla/cuda/bin/");
    EXPECT_TRUE(fs::is_symlink(folder_ / "xla/cuda/bin/nvcc"));
    EXPECT_TRUE(fs::is_symlink(folder_ / "xla/cuda/nvvm"));
    const auto run = [](const std::string& command) { return WEXITSTATUS(std::system(command.c_str())); };
    EXPECT_EQ(run(bin + "ptxas --version | grep -q 'version 13'"), 0);
    EXPECT_EQ(run(bin + "ptxas bad"), 3);
    std::ofstream(at("a.ptx")) << "first";
    std::ofstream(at("b.ptx")) << "second";
    EXPECT_EQ(run("cd " + at("") + " && " + bin + "ptxas -o a.cubin a.ptx && " + bin +
                  "ptxas -o b.cubin b.ptx && " + bin +
                  "nvlink -o all.cubin a.cubin b.cubin && test \"$(cat all.cubin)\" = 'made made firstmade "
                  "second'"),
              0);
    size_t linked = 0, single = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / "xla/kept")) {
        if (entry.path().extension() != ".ptx") continue;
        EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".cubin")));
        const auto text = read_whole(entry.path().string(), 1 << 20);
        ASSERT_TRUE(text);
        // Each PTX ends in a zero, and what was linked has those of both.
        linked += *text == std::string("first\0\0second\0\0", 15);
        single += *text == std::string("first\0", 6) || *text == std::string("second\0", 7);
    }
    EXPECT_EQ(linked, 1u);
    EXPECT_EQ(single, 2u);
}

}  // namespace
}  // namespace tilescope::capture
