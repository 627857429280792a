// The figures by keyboard, and by a clicker's two keys in a lesson: what the window then says, by the SVG
// that it keeps of itself (Ctrl + Shift + E).
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/file_text.h"
#include "tests/window/desktop.h"

namespace tilescope::test {
namespace {

namespace fs = std::filesystem;

class FigureKeys : public OnDesktop {
protected:
    // All that is written in the window, without blanks: a sentence has more than one line.
    std::string says(Program& program) {
        for (const auto& entry : fs::directory_iterator(desktop_->home()))
            if (entry.path().extension() == ".svg") fs::remove(entry.path());
        program.press("ctrl+shift+e");
        std::string words;
        const auto kept = [&] {
            for (const auto& entry : fs::directory_iterator(desktop_->home()))
                if (entry.path().extension() == ".svg") words = file_text(entry.path());
            return words.find("</svg>") != std::string::npos;
        };
        if (!program.wait_until(kept)) return "";
        std::string bare;
        bool mark = false;
        for (const char c : words) {
            mark = c == '<' || (mark && c != '>');
            if (!mark && c != '>' && c != ' ' && c != '\n') bare += c;
        }
        return bare;
    }
    testing::AssertionResult comes_to_say(Program& program, const std::string& words) {
        std::string last;
        for (int tries = 0; tries < 10; ++tries)
            if (last = says(program); last.find(words) != std::string::npos)
                return testing::AssertionSuccess();
        return testing::AssertionFailure() << "'" << words << "' is not in " << last;
    }
};

TEST_F(FigureKeys, ArrowsChooseAParameterAndChangeIt) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("ctrl+p");
    program.type("figure latency");
    program.press("Return");
    ASSERT_TRUE(comes_to_say(program, "With8warps,18of50slotsstayempty"));
    program.press("Right Right Right Right Right");
    EXPECT_TRUE(comes_to_say(program, "With13warpseveryslotisused."));
    program.press("Left Left Down Down Left Left");  // 11 warps; of the latency 160 cycles
    EXPECT_TRUE(comes_to_say(program, "160/16=10.0,so10warpshide"));
    program.press("Escape");
    EXPECT_TRUE(comes_to_say(program, "Walkthroughit")) << "Escape leads back to the list";
    program.press("1");
    program.press("Right");
    EXPECT_TRUE(program.wait_for_step(2)) << program.title();
}

TEST_F(FigureKeys, TheListOpensThem) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("5");
    for (int row = 0; row < 60; ++row) program.press("Down");
    program.press("Up Right Return");  // the row before the programs, its second figure
    EXPECT_TRUE(comes_to_say(program, "AnSM'sslots:fixedparts"));
}

TEST_F(FigureKeys, AClickerWalksOnFromOne) {
    const std::string file = desktop_->home() + "/figures.json";
    fs::create_directories(desktop_->home());
    std::ofstream(file) << R"({"title": "Figures", "teaches": "They are walked through.", "stops": [
        {"figure": "latency", "set": {"warps": 13}, "say": "{warps} of {needed_warps} warps are there."},
        {"figure": "gate", "say": "{warps_arrived} have arrived."},
        {"recording": "tiled-4x4x4-t2", "kind": "global load", "say": "{lanes} lanes load."}]})";
    Program program(*desktop_, {"open", file});
    ASSERT_TRUE(comes_to_say(program, "Figures"));
    program.press("Return");
    ASSERT_TRUE(comes_to_say(program, "13of13warpsarethere."));
    program.press("Left");
    EXPECT_TRUE(comes_to_say(program, "With12warps,2of50slots")) << "it can be played with on the way";
    program.press("Next");
    EXPECT_TRUE(comes_to_say(program, "Thegateatabarrier"));
    program.press("Prior");
    EXPECT_TRUE(comes_to_say(program, "With13warpseveryslotisused."));
    program.press("Next");
    program.press("Next");
    EXPECT_TRUE(program.wait_for_title("tiled 4x4x4 T=2 - step 1 of 21")) << program.title();
    EXPECT_TRUE(comes_to_say(program, "4lanesload."));
}

}  // namespace
}  // namespace tilescope::test
