// Guesses at every kernel whose PTX is here, whatever compiler made it: nothing lies outside, and the guessed
// launch is recorded to its end.
#include <filesystem>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/ptx/parse.h"
#include "core/simt/interpreter.h"
#include "kernels/alone/guess.h"
#include "kernels/run/record.h"

namespace tilescope::kernels {
namespace {

namespace fs = std::filesystem;

TEST(GuessedHere, NineOfTenKernelsRunOnGuessesAlone) {
    size_t taken = 0, ran = 0;
    std::string rest;
    for (const char* folder : {"assets/ptx", "tests/data/launches", "tests/data/ptx"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(TILESCOPE_SOURCE_DIR) / folder)) {
            if (entry.path().extension() != ".ptx") continue;
            const auto text = read_whole(entry.path().string(), 1 << 26);
            ASSERT_TRUE(text) << entry.path();
            const auto module = ptx::parse(*text, entry.path().filename().string());
            if (!module) continue;
            for (const ptx::Kernel& kernel : module->kernels) {
                if (!simt::prepare(*module, kernel.name)) continue;
                ++taken;
                Description said;
                said.kernel = kernel.name;
                const auto launch = guess_launch({*text, entry.path().filename().string(), "", ""}, said);
                const std::string problem = launch ? launch->problem : launch.error().message;
                ran += problem.empty();
                if (!problem.empty()) rest += entry.path().string() + ": " + problem + "\n";
            }
        }
    }
    EXPECT_GE(taken, 100u);
    EXPECT_GE(ran * 10, taken * 9) << rest;
}

}  // namespace
}  // namespace tilescope::kernels
