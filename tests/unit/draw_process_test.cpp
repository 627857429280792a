// This program as its own child: it ends when it is told to, and when its parent ends, and what it was
// writing goes with it. The child here is this very test, called for one case.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/platform/process.h"
#include "core/base/file.h"
#include "tests/temp_folder.h"

namespace tilescope::platform {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "TILESCOPE_TEST_FOLDER";

// What run_self() starts: it checks what it was given, begins a file, and does not end by itself.
TEST(ProcessChild, DISABLED_Writes) {
    const char* const folder = std::getenv(kFolder);
    if (folder == nullptr || *read_whole(kGivenFile, 100) != "given") _exit(5);
    remove_unfinished_on_signals();
    OutputFile file(std::string(folder) + "/out");
    file.write("half");
    std::this_thread::sleep_for(std::chrono::minutes(1));
    _exit(6);
}

class Process : public TempFolder {
protected:
    void SetUp() override {
        TempFolder::SetUp();
        setenv(kFolder, folder_.c_str(), 1);
    }

    static Result<Ran> run(const std::atomic<bool>& stop) {
        return run_self({"--gtest_filter=ProcessChild.DISABLED_Writes", "--gtest_also_run_disabled_tests"},
                        "given", stop);
    }
    // Waits for half a minute at most.
    bool comes(bool there) const {
        for (int i = 0; i < 3000; ++i) {
            if (fs::is_empty(folder_) != there) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }
};

TEST_F(Process, EndsWhenItIsStopped) {
    std::atomic<bool> stop{false};
    std::thread stopper([&] {
        EXPECT_TRUE(comes(true));
        stop = true;
    });
    const auto ran = run(stop);
    stopper.join();
    ASSERT_TRUE(ran);
    EXPECT_FALSE(ran->good);
    EXPECT_TRUE(fs::is_empty(folder_));
}

// However the parent ends.
TEST_F(Process, EndsWithItsParent) {
    for (const int signal : {SIGTERM, SIGHUP, SIGKILL}) {
        const pid_t parent = fork();
        if (parent == 0) {
            std::atomic<bool> stop{false};
            std::signal(signal, SIG_DFL);
            (void)run(stop);
            _exit(0);
        }
        EXPECT_TRUE(comes(true)) << "the child writes";
        kill(parent, signal);
        int status = 0;
        ASSERT_EQ(waitpid(parent, &status, 0), parent);
        EXPECT_TRUE(WIFSIGNALED(status));
        EXPECT_TRUE(comes(false)) << "its file goes with it, after signal " << signal;
    }
}

}  // namespace
}  // namespace tilescope::platform
