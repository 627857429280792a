// What is read out of the driver's and the compilers' texts.
#include <cstdlib>

#include <gtest/gtest.h>

#include "kernels/gpu/context.h"
#include "kernels/gpu/device_list.h"
#include "kernels/gpu/library.h"

namespace tilescope::gpu {
namespace {

TEST(GpuDriverVersion, IsReadFromProc) {
    EXPECT_EQ(
        version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  450.80.02  Wed Sep 23 01:13:39 UTC 2020\n"
                   "GCC version:  gcc version 9.3.0 (Ubuntu 9.3.0-17ubuntu1~20.04)\n"),
        "450.80.02");
    EXPECT_EQ(
        version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n"),
        "580.159.04");
    EXPECT_EQ(version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.157  Wed Oct 12\n"), "390.157");
    EXPECT_EQ(version_in("NVRM version: none\nGCC version:  gcc version 9.3.0\n"), "")
        << "not the compiler's";
    EXPECT_EQ(version_in(""), "");
}

TEST(GpuFirstComplaint, IsTheFirstLineThatComplains) {
    EXPECT_EQ(
        first_complaint("a.cu(3): warning #177-D: unused\n\na.cu(7): error: no\na.cu(9): error: neither\n"),
        "a.cu(7): error: no");
    EXPECT_EQ(
        first_complaint("ptxas application ptx input, line 7; error   : Unknown\r\nptxas fatal : aborted"),
        "ptxas application ptx input, line 7; error : Unknown");
    EXPECT_EQ(first_complaint("\n\n  odd \t words  \nmore\n"), "odd words");
    EXPECT_EQ(first_complaint("one line"), "one line");
    EXPECT_EQ(first_complaint("\n \n"), "");
    EXPECT_EQ(first_complaint(""), "");
}

TEST(GpuLibrary, IsTheFirstThatOpens) {
    const Library math = open_library({"libthat-is-not-there.so.3", "libm.so.6", "libc.so.6"});
    ASSERT_TRUE(math);
    EXPECT_EQ(math.name, "libm.so.6");
    double (*root)(double) = nullptr;
    ASSERT_TRUE(find_symbol(math, "sqrt", root));
    EXPECT_EQ(root(9), 3);
    EXPECT_FALSE(find_symbol(math, "no_such_function", root));
    EXPECT_EQ(root, nullptr);
    const Library none = open_library({"libthat-is-not-there.so.3"});
    EXPECT_FALSE(none);
    EXPECT_FALSE(find_symbol(none, "sqrt", root));
    EXPECT_FALSE(open_library({}));
}

TEST(GpuLibrary, OfTheToolkitIsLookedForWhereTheToolkitIs) {
    setenv("CUDA_PATH", "/a", 1);
    setenv("CUDA_HOME", "", 1);
    const auto names = toolkit_names("nvrtc", {"13", "12"});
    unsetenv("CUDA_PATH");
    unsetenv("CUDA_HOME");
    const std::vector<std::string> expected{"libnvrtc.so",
                                            "libnvrtc.so.13",
                                            "libnvrtc.so.12",
                                            "/a/lib64/libnvrtc.so",
                                            "/a/lib64/libnvrtc.so.13",
                                            "/a/lib64/libnvrtc.so.12",
                                            "/usr/local/cuda/lib64/libnvrtc.so",
                                            "/usr/local/cuda/lib64/libnvrtc.so.13",
                                            "/usr/local/cuda/lib64/libnvrtc.so.12"};
    EXPECT_EQ(names, expected);
}

TEST(GpuDriverApi, KnowsTheResultsThatLoseAContext) {
    for (const int code : {700, 702, 710, 714, 715, 716, 717, 718, 719})
        EXPECT_TRUE(loses_context(code)) << code;
    for (const int code : {0, 1, 2, 100, 200, 218, 400, 500, 600, 701, 720, 801})
        EXPECT_FALSE(loses_context(code)) << code;
}

}  // namespace
}  // namespace tilescope::gpu
