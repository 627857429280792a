// tilescope capture where there is no GPU: what is said of a call that cannot be made.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

namespace fs = std::filesystem;

TEST(CliRunning, SaysWhatIsWrongWithACall) {
    expect_refused(2, {"capture"}, "COMMAND is required");
    expect_refused(2, {"capture", "--launch", "0", "--", "true"}, "--launch 0 is no launch");
    expect_refused(2, {"capture", "--blocks", "0:2,0:2", "--", "true"}, "say which launches");
    expect_refused(2, {"capture", "-o", "out", "--", "true"}, "say which launches");
    expect_refused(2, {"capture", "--every", "--blocks", "2:0", "--", "true"}, "is not a window of blocks");
    expect_refused(1, {"capture", "--", "no-such-program"}, "there is no program 'no-such-program'");
}

TEST(CliRunning, NeedsAGpu) {
    expect_refused(1, {"capture", "--", "true"}, "there is none here");
    const Ran ran =
        shell("\"$TILESCOPE\" capture --every -o out -- touch started; test -e started || test -e out");
    EXPECT_EQ(ran.status, 1) << ran.err;  // nothing was run, and nothing was made
}

// With a driver that stands in for NVIDIA's, which loads no library: the program runs, and its end is the command's.
TEST(CliRunning, RunsTheProgramAsItIs) {
    const std::string fake = fs::path(TILESCOPE_FAKE_CUDA).parent_path().string();
    const auto captured = [&](const std::string& rest) {
        return shell("unset CUDA_VISIBLE_DEVICES; LD_LIBRARY_PATH='" + fake + "' \"$TILESCOPE\" capture " +
                     rest);
    };
    const Ran ended = captured("-- sh -c 'cat; exit 7' < /dev/null");
    EXPECT_EQ(ended.status, 7);
    EXPECT_NE(ended.err.find("the program ended with status 7"), std::string::npos) << ended.err;
    EXPECT_EQ(captured("-- sh -c 'kill -9 $$'").status, 137);
    const Ran none = captured("-- true");
    EXPECT_EQ(none.status, 1);
    EXPECT_NE(none.err.find("the program did not ask for CUDA"), std::string::npos) << none.err;
    const Ran set = captured(
        "-- sh -c 'test -f \"$CUDA_INJECTION64_PATH\" && test -f \"$TILESCOPE_CAPTURE\" && test -x "
        "\"$CUDA_ROOT/bin/ptxas\" "
        "&& echo \"$CUPY_COMPILE_WITH_PTX $XLA_FLAGS\"'");
    EXPECT_EQ(set.out.rfind("1 --xla_gpu_cuda_data_dir=", 0), 0u) << set.out << set.err;
    const Ran json = captured("--json --every --python -o out -- sh -c 'echo said; ls \"$PYTHONPATH\"'");
    EXPECT_EQ(json.err.rfind("said\ncapture_launch.py\nsitecustomize.py\n", 0), 0u) << json.err;
    EXPECT_NE(json.out.find("\"schema\": \"tilescope.capture/1\""), std::string::npos) << json.out;
    EXPECT_EQ(shell("ls").out, "");  // nothing is left
}

TEST(CliRunning, TheLibraryStaysQuietWithoutOrders) {
    const Ran ran = shell("python3 -c 'import ctypes; print(ctypes.CDLL(\"" TILESCOPE_BINARY_DIR
                          "/libtilescope_capture.so\").InitializeInjection())'");
    if (ran.status == 127) GTEST_SKIP() << "no Python";
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out, "1\n");
    // With orders, and without CUPTI: a sentence in its file.
    const Ran told = shell(
        "mkdir -p lines && printf '%s' "
        "'{\"schema\":\"tilescope.orders/1\",\"folder\":\".\",\"launches\":\"lines\",\"source\":\"\","
        "\"device\":\"\",\"backend\":\"\",\"engine\":\"\",\"kernels\":[],\"numbers\":[],\"every\":false,"
        "\"window\":[0,1,0,1,0,1]}' "
        "> orders && CUDA_PATH=/nonexistent CUDA_HOME=/nonexistent TILESCOPE_CAPTURE=orders python3 -c "
        "'import ctypes; "
        "ctypes.CDLL(\"" TILESCOPE_BINARY_DIR
        "/libtilescope_capture.so\").InitializeInjection()'; cat lines/*");
    EXPECT_NE(told.out.find("\"note\""), std::string::npos) << told.out << told.err;
}

}  // namespace
}  // namespace tilescope::cli_test
