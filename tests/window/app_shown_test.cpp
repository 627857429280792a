// What the keys do, by what is then seen: pictures that the program keeps of its own window (Ctrl + E),
// screen by screen; and the files that it exports.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <ostream>

#include <gtest/gtest.h>

#include "tests/file_text.h"
#include "tests/window/desktop.h"

namespace tilescope::test {
namespace {

namespace fs = std::filesystem;

class Shown : public OnDesktop {
protected:
    void SetUp() override {
        OnDesktop::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        fs::create_directories(desktop_->home());
        program_ = std::make_unique<Program>(*desktop_, std::vector<std::string>{});
        ASSERT_TRUE(program_->wait_for_title("- step 1 of ")) << program_->errors();
    }
    size_t pictures() const {
        const auto all = fs::directory_iterator(desktop_->home());
        return static_cast<size_t>(std::count_if(begin(all), end(all), [](const fs::directory_entry& entry) {
            return entry.path().extension() == ".png";
        }));
    }
    std::string picture_now() {
        const size_t before = pictures();
        program_->press("Escape Escape");  // no message of the picture before
        program_->press("ctrl+e");
        if (!program_->wait_until([&] { return pictures() > before; })) return "";
        fs::path latest;
        for (const auto& entry : fs::directory_iterator(desktop_->home()))
            if (entry.path().extension() == ".png" &&
                (latest.empty() || entry.last_write_time() > fs::last_write_time(latest)))
                latest = entry.path();
        return file_text(latest);
    }
    // The window once it has come to rest: twice the same; "" where it never does, or no picture comes.
    std::string picture() {
        std::string last = picture_now();
        for (int i = 0; i < 100 && !last.empty(); ++i) {  // what is worked out beside it may take long
            std::string next = picture_now();
            if (next == last) return next;
            last = std::move(next);
        }
        return "";
    }
    std::unique_ptr<Program> program_;
};

struct Worked {
    const char *name, *screen, *key, *undo;
};
void PrintTo(const Worked& worked, std::ostream* out) { *out << worked.name; }

class ShownOf : public Shown, public testing::WithParamInterface<Worked> {};

// The key changes what its screen shows, and the key that undoes it brings the same picture back: tried anew where work beside
// the window has changed the picture meanwhile.
TEST_P(ShownOf, IsWorkedByKeyboardAlone) {
    program_->press(GetParam().screen);
    std::string before = picture(), after, again;
    for (int tries = 0; tries < 3; ++tries) {
        program_->press(GetParam().key);
        after = picture();
        program_->press(GetParam().undo);
        again = picture();
        ASSERT_FALSE(before.empty() || after.empty() || again.empty()) << "no picture, or none that stays";
        EXPECT_TRUE(before != after) << GetParam().key << " does nothing";
        if (before == again) return;
        before = again;
    }
    ADD_FAILURE() << GetParam().undo << " does not undo " << GetParam().key;
}

INSTANTIATE_TEST_SUITE_P(
    Every, ShownOf,
    testing::Values(Worked{"Step", "1", "Right", "Left"}, Worked{"Compare", "2 Return", "k", "k k"},
                    Worked{"TimingKernel", "4", "Down", "Up"}, Worked{"TimingWidth", "4", "Right", "Left"},
                    Worked{"LimitsValue", "6 Right", "plus", "minus"},
                    Worked{"LimitsCase", "6", "Down", "Up"}, Worked{"Lessons", "7", "Down", "Up"},
                    Worked{"Theme", "6", "t", "t"}, Worked{"Lecture", "7", "l", "l"}),
    [](const auto& of) { return std::string(of.param.name); });

// Without motion, which takes a film a while: from the first step to the third one.
TEST_F(Shown, AFilmIsMadeOfTheMarkedSteps) {
    if (std::system("ffmpeg -version > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "ffmpeg is not installed, so no film can be made here";
    const fs::path file = fs::path(desktop_->home()) / "tiled-64x64x64-t16-steps1-3.gif";
    program_->press("m braceleft Right Right braceright ctrl+shift+f Home");
    program_->type(desktop_->home() + "/");
    program_->press("Return");
    EXPECT_TRUE(program_->wait_until([&] { return file_text(file).starts_with("GIF89a"); }))
        << program_->errors();
}

TEST_F(Shown, TheTableAndTheTraceAreExportedByThePalette) {
    const struct {
        const char *query, *name, *holds;
    } kExports[] = {{"export table markdown", "tiled-64x64x64-t16-table-0-0.md", "| "},
                    {"export perfetto", "tiled-64x64x64-t16.perfetto.json", "traceEvents"}};
    for (const auto& [query, name, holds] : kExports) {
        const fs::path file = fs::path(desktop_->home()) / name;
        program_->press("ctrl+p");
        program_->type(query);
        program_->press("Return Home");
        if (file.extension() == ".md")
            program_->type(desktop_->home() + "/");  // the box remembers the folder
        program_->press("Return");
        EXPECT_TRUE(program_->wait_until([&] { return file_text(file).find(holds) != std::string::npos; }))
            << file << ": " << program_->errors();
    }
}

}  // namespace
}  // namespace tilescope::test
