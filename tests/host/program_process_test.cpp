// Child processes: words as they are, what was written, deadlines, Ctrl-C's flag.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/process.h"

namespace tilescope {
namespace {

using namespace std::chrono_literals;

TEST(Process, GetsItsWordsAsTheyAre) {
    const std::string odd = "a b'c\"d\\e$(id)`id`\nf;*";
    const auto ran =
        run_process({"/bin/sh", "-c", "printf %s \"$1\"; printf %s \"$1\" >&2; exit 3", "sh", odd}, 10s);
    ASSERT_TRUE(ran);
    EXPECT_EQ(ran->out, odd);
    EXPECT_EQ(ran->err, odd);
    EXPECT_EQ(ran->status, 3);
    EXPECT_FALSE(ran->stopped || ran->too_late);
}

TEST(Process, ThatDoesNotExistIsAnError) {
    const auto ran = run_process({"/nowhere/at all"}, 10s);
    ASSERT_FALSE(ran);
    EXPECT_NE(ran.error().message.find("/nowhere/at all"), std::string::npos);
    EXPECT_EQ(find_program("no such program, surely"), "");
    EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
    EXPECT_NE(find_program("sh"), "");
}

TEST(Process, EndsAtItsDeadline) {
    const auto begin = std::chrono::steady_clock::now();
    const auto ran = run_process({"/bin/sh", "-c", "sleep 30"}, 50ms);
    ASSERT_TRUE(ran);
    EXPECT_TRUE(ran->too_late);
    EXPECT_EQ(ran->status, 128 + SIGKILL);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Process, EndsWhenItIsToStop) {
    std::atomic<bool> stop{false};
    std::thread later([&] {
        std::this_thread::sleep_for(50ms);
        stop = true;
    });
    const auto ran = run_process({"/bin/sh", "-c", "sleep 30"}, 60s, &stop);
    later.join();
    ASSERT_TRUE(ran);
    EXPECT_TRUE(ran->stopped);
}

TEST(Process, GetsVariablesInPlaceOfOurs) {
    setenv("TILESCOPE_TEST_VARIABLE", "ours", 1);
    pid_t child = -1;
    ProcessStart start;
    start.words = {"sh", "-c", "test \"$TILESCOPE_TEST_VARIABLE\" = theirs && test -n \"$PATH\""};
    start.environment = {"TILESCOPE_TEST_VARIABLE=theirs"};
    ASSERT_EQ(start_process("/bin/sh", start, child), 0);
    EXPECT_EQ(exit_status(wait_for_process(child, nullptr, SIGINT)), 0);
    unsetenv("TILESCOPE_TEST_VARIABLE");
}

TEST(Process, MayTakeNoMoreMemoryThanItIsGiven) {
    const auto ran =
        run_process({"/bin/sh", "-c", "ulimit -v; sh -c 'ulimit -v'"}, 10s, nullptr, uint64_t{64} << 20);
    ASSERT_TRUE(ran);
    EXPECT_EQ(ran->out, "65536\n65536\n") << "KiB, of it and of its children";
    const auto more =
        run_process({"/bin/sh", "-c", "x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo ${#x}"}, 60s,
                    nullptr, uint64_t{64} << 20);
    ASSERT_TRUE(more);
    EXPECT_NE(more->status, 0) << more->out;
}

// A program forks, that child starts a session of its own and forks again: a daemon, which is nobody's child.
TEST(Process, LeavesNothingRunningBehind) {
    for (const bool daemon : {false, true}) {
        pid_t left = 0;
        {
            const Orphans orphans;
            const auto ran =
                run_process({"/bin/sh", "-c",
                             daemon ? "setsid sh -c 'sleep 300 >/dev/null 2>&1 & echo $!' </dev/null"
                                    : "sleep 300 >/dev/null & echo $!"},
                            10s);
            ASSERT_TRUE(ran);
            left = static_cast<pid_t>(std::stol(ran->out));
            EXPECT_EQ(kill(left, 0), 0) << "it runs on";
        }
        EXPECT_EQ(kill(left, 0), -1);
        EXPECT_EQ(errno, ESRCH);
    }
    // A child that was there before is not its business.
    pid_t child = -1;
    ProcessStart start;
    start.words = {"sleep", "300"};
    ASSERT_EQ(start_process("sleep", std::move(start), child), 0);
    { const Orphans orphans; }
    EXPECT_EQ(kill(child, 0), 0);
    kill(child, SIGKILL);
    wait_for_process(child, nullptr, SIGINT);
}

}  // namespace
}  // namespace tilescope
