// When kernels are compiled, where they are kept, and what happens where they cannot be.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>

#include "core/simt/program.h"
#include "tests/host/engine_both.h"
#include "tests/temp_folder.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;
using compiled::EngineChoice;

// Every thread goes round `trips` times and stores a number.
constexpr const char* kRounds = R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry rounds(.param .u64 out, .param .u32 trips) {
    .reg .b32 %t, %b, %n, %k, %x;
    .reg .b64 %out, %at;
    .reg .pred %p;
    ld.param.u64 %out, [out];
    ld.param.u32 %n, [trips];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mad.lo.u32 %t, %b, 64, %t;
    mul.wide.u32 %at, %t, 4;
    add.u64 %at, %at, %out;
    mov.u32 %k, 0;
    mov.u32 %x, %t;
$again:
    mad.lo.u32 %x, %x, 5, %k;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %n;
    @%p bra $again;
    st.global.u32 [%at], %x;
    ret;
}
)";

class EngineLibrary : public TempFolder {
protected:
    void SetUp() override {
        TempFolder::SetUp();
        test::library();  // its folder is taken from here on by none
        setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
        const auto module = ptx::parse(kRounds, "rounds.ptx");
        program_ = *simt::prepare(*module, "rounds");
    }
    void TearDown() override {
        unsetenv("TILESCOPE_CLANG");
        setenv("XDG_CACHE_HOME", TILESCOPE_BINARY_DIR "/tests/cache", 1);
        TempFolder::TearDown();
    }

    struct Done {
        uint64_t compiled = 0;
        std::string why_not;
        simt::Bytes out;
    };
    Done run(compiled::Library& library, EngineChoice choice, uint32_t blocks, uint32_t trips,
             const compiled::History& history = {}) {
        const auto bases = simt::place_buffers({blocks * 256});
        simt::GlobalMemory memory;
        memory.buffers = {{"out", bases[0], simt::Bytes(size_t{blocks} * 256)}};
        Launch launch;
        launch.grid = {blocks, 1, 1}, launch.block = {64, 1, 1};
        launch.arguments = test_arguments({bases[0], trips});
        compiled::LaunchEngine engine(library, *program_, launch, choice, history);
        simt::RunOptions options;
        options.threads = 1;
        options.engine = &engine;
        const auto outcome = simt::run(*program_, launch, memory, options, {});
        EXPECT_TRUE(outcome && outcome->complete);
        return {engine.blocks_compiled(), engine.why_not(), memory.buffers[0].bytes};
    }
    std::vector<fs::path> kept() const {
        std::vector<fs::path> files;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder_ / "tilescope" / "kernels", error))
            files.push_back(entry.path());
        return files;
    }

    std::shared_ptr<const simt::Program> program_;
};

TEST_F(EngineLibrary, KeepsWhatItCompiled) {
    compiled::Library first;
    const Done made = run(first, EngineChoice::Compiled, 4, 10);
    EXPECT_EQ(made.compiled, 4u);
    ASSERT_EQ(kept().size(), 1u);
    const auto written = fs::last_write_time(kept()[0]);
    fs::last_write_time(kept()[0], written - std::chrono::hours(1));
    // Another process: the file is loaded, and counts as used.
    compiled::Library second;
    const Done again = run(second, EngineChoice::Compiled, 4, 10);
    EXPECT_EQ(again.compiled, 4u);
    EXPECT_EQ(again.out, made.out);
    ASSERT_EQ(kept().size(), 1u);
    EXPECT_GE(fs::last_write_time(kept()[0]), written - std::chrono::minutes(1));
    // Numbers of the launch are no part of the text.
    EXPECT_EQ(run(second, EngineChoice::Compiled, 8, 20).compiled, 8u);
    EXPECT_EQ(kept().size(), 1u);
}

TEST_F(EngineLibrary, MakesADamagedFileAnew) {
    compiled::Library first;
    const Done made = run(first, EngineChoice::Compiled, 4, 10);
    ASSERT_EQ(kept().size(), 1u);
    // Not the file that this process has loaded, but another one of its name.
    const std::string path = kept()[0].string();
    fs::remove(path);
    std::ofstream(path) << "no library";
    fs::permissions(path, fs::perms::owner_all);
    compiled::Library second;
    const Done again = run(second, EngineChoice::Compiled, 4, 10);
    EXPECT_EQ(again.compiled, 4u) << again.why_not;
    EXPECT_EQ(again.out, made.out);
}

TEST_F(EngineLibrary, LeavesTheInterpreterWhereThereIsNoCompiler) {
    compiled::Library good, bad;
    const Done right = run(good, EngineChoice::Compiled, 4, 10);
    setenv("TILESCOPE_CLANG", "/nowhere/clang++", 1);
    const Done other = run(bad, EngineChoice::Compiled, 4, 10);
    EXPECT_EQ(other.compiled, 0u);
    EXPECT_NE(other.why_not.find("TILESCOPE_CLANG"), std::string::npos) << other.why_not;
    EXPECT_EQ(other.out, right.out);
    // One that fails.
    setenv("TILESCOPE_CLANG", "/bin/false", 1);
    compiled::Library broken;
    EXPECT_EQ(run(broken, EngineChoice::Compiled, 4, 10).out, right.out);
}

TEST_F(EngineLibrary, CompilesNothingForShortLaunches) {
    compiled::Library library;
    EXPECT_EQ(run(library, EngineChoice::Automatic, 200, 100).compiled, 0u);
    EXPECT_EQ(run(library, EngineChoice::Interpreted, 200, 100).compiled, 0u);
    EXPECT_TRUE(library.is_empty());
}

// What others may write to is not loaded, so it must not be kept so.
TEST_F(EngineLibrary, IsFoundAgainWhateverTheUmask) {
    const mode_t before = umask(0002);
    compiled::Library first;
    run(first, EngineChoice::Compiled, 4, 10);
    umask(before);
    ASSERT_EQ(kept().size(), 1u);
    const auto written = fs::last_write_time(kept()[0]) - std::chrono::hours(1);
    fs::last_write_time(kept()[0], written);
    compiled::Library second;
    EXPECT_EQ(run(second, EngineChoice::Compiled, 4, 10).compiled, 4u);
    EXPECT_GT(fs::last_write_time(kept()[0]), written) << "it was compiled again";
    EXPECT_EQ(fs::status(kept()[0]).permissions(), fs::perms::owner_all);
}

// A look into the cache that finds nothing does not take the order to compile with it.
TEST_F(EngineLibrary, CompilesWhatWasOnlyLookedFor) {
    compiled::Library library;
    const std::string text = "__attribute__((visibility(\"default\"))) int run() { return 0; }";
    EXPECT_TRUE(library.find(text, false, true)->failed);
    const auto found = library.find(text, true, true);
    EXPECT_FALSE(found->failed) << found->why;
    EXPECT_NE(found->run.load(), nullptr);
    // When the process ends nothing is begun any more.
    library.end();
    EXPECT_TRUE(
        library.find("__attribute__((visibility(\"default\"))) int run() { return 1; }", true, true)->failed);
}

// The blocks that begin when the compiler has done are compiled.
TEST_F(EngineLibrary, CompilesBesideALongLaunch) {
    compiled::Library library;
    const Done made = run(library, EngineChoice::Automatic, 40'000, 1'000);
    EXPECT_GT(made.compiled, 0u) << made.why_not;
    EXPECT_LT(made.compiled, 40'000u);
    // The next start finds it, before the interpreter has run for long.
    compiled::Library second;
    const Done again = run(second, EngineChoice::Automatic, 40'000, 1'000);
    EXPECT_GT(again.compiled, made.compiled);
    EXPECT_EQ(again.out, made.out);
}

// Many launches of which none is long are worth it, too.
TEST_F(EngineLibrary, CompilesWhatIsLaunchedAgainAndAgain) {
    compiled::Library library;
    const compiled::History history{100'000'000, 2'000'000};
    uint64_t compiled = 0;
    for (int launch = 0; launch < 1'000 && compiled == 0; ++launch) {  // as long as clang takes
        compiled = run(library, EngineChoice::Automatic, 200, 1'000, history).compiled;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_GT(compiled, 0u);
}

}  // namespace
}  // namespace tilescope
