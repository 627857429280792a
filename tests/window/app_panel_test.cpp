// A picture of one panel, by the right button of the mouse in the real window: the menu, the file, the clipboard.
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <stb/stb_image.h>

#include "tests/file_text.h"
#include "tests/window/desktop.h"

namespace tilescope::test {
namespace {

namespace fs = std::filesystem;

class PanelPictures : public OnDesktop {
protected:
    void SetUp() override {
        OnDesktop::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        fs::create_directories(desktop_->home());
        // What the program finds in place of xclip: it keeps what it gets.
        bin_ = fs::path(desktop_->home()) / "bin";
        fs::create_directories(bin_);
    }
    void start() {
        program_ = std::make_unique<Program>(*desktop_, std::vector<std::string>{}, bin_.string());
    }
    fs::path file(const std::string& name) const { return fs::path(desktop_->home()) / name; }
    // Where the request's panel is at 1600 x 1000. A hand is no quicker than some frames.
    static constexpr int kRequestX = 1450, kRequestY = 300;
    static void wait_for_frames() { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }
    void open_menu() {
        program_->click(kRequestX, kRequestY, 1, 3);
        wait_for_frames();
    }
    void copy() {
        program_->point(kRequestX, kRequestY);
        wait_for_frames();
        program_->press("ctrl+c");
    }
    fs::path bin_;
    std::unique_ptr<Program> program_;
};

// Twice the pixels of a panel of the window, with more than a few colours.
void expect_picture(const fs::path& path) {
    int wide = 0, high = 0, channels = 0;
    stbi_uc* const pixels = stbi_load(path.c_str(), &wide, &high, &channels, 4);
    ASSERT_NE(pixels, nullptr) << path << ": " << stbi_failure_reason();
    EXPECT_GT(wide, 2 * 304 - 8);
    EXPECT_LT(wide, 2 * 420 + 8);
    EXPECT_GT(high, 400);
    EXPECT_LT(high, 2 * 1000);
    std::set<uint32_t> colours;
    for (int at = 0; at < wide * high; ++at) {
        const stbi_uc* p = pixels + size_t{4} * static_cast<size_t>(at);
        colours.insert(uint32_t{p[0]} << 16 | uint32_t{p[1]} << 8 | p[2]);
    }
    EXPECT_GT(colours.size(), 20u) << "it is blank";
    stbi_image_free(pixels);
}

TEST_F(PanelPictures, AreKeptByTheRightButton) {
    start();
    ASSERT_TRUE(program_->wait_for_title("- step 1 of ")) << program_->errors();
    const fs::path png = file("tiled-64x64x64-t16-step1-request.png"),
                   svg = file("tiled-64x64x64-t16-step1-request.svg");
    open_menu();
    program_->press("Down Return");
    EXPECT_TRUE(program_->wait_until([&] { return fs::exists(png); })) << program_->errors();
    expect_picture(png);
    open_menu();
    program_->press("Up Return");
    EXPECT_TRUE(program_->wait_until([&] { return file_text(svg).find("</svg>") != std::string::npos; }));
    // The window goes on.
    program_->press("Right");
    EXPECT_TRUE(program_->wait_for_step(2)) << program_->title();
}

TEST_F(PanelPictures, AreCopied) {
    const fs::path given = file("given.png"), words = file("words");
    std::ofstream(bin_ / "xclip") << "#!/bin/sh\necho \"$@\" > '" << words.string() << "'\ncat > '"
                                  << given.string() << ".part'\nmv '" << given.string() << ".part' '"
                                  << given.string() << "'\n";
    fs::permissions(bin_ / "xclip", fs::perms::owner_all);
    start();
    ASSERT_TRUE(program_->wait_for_title("- step 1 of ")) << program_->errors();
    copy();
    EXPECT_TRUE(program_->wait_until([&] { return fs::exists(given); })) << program_->errors();
    expect_picture(given);
    EXPECT_EQ(file_text(words), "-selection clipboard -t image/png -i\n");
    EXPECT_FALSE(fs::exists(file("tiled-64x64x64-t16-step1-request.png"))) << "no file besides";
}

// Where nothing holds a clipboard the picture is a file.
TEST_F(PanelPictures, AreFilesWhereNothingCopies) {
    std::ofstream(bin_ / "xclip") << "#!/bin/sh\necho 'no display' >&2\nexit 1\n";
    fs::permissions(bin_ / "xclip", fs::perms::owner_all);
    start();
    ASSERT_TRUE(program_->wait_for_title("- step 1 of ")) << program_->errors();
    copy();
    const fs::path png = file("tiled-64x64x64-t16-step1-request.png");
    EXPECT_TRUE(program_->wait_until([&] { return fs::exists(png); })) << program_->errors();
    expect_picture(png);
}

}  // namespace
}  // namespace tilescope::test
