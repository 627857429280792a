// Where what is remembered lies, on a disk that may refuse.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "app/session/settings.h"

namespace tilescope::session {
namespace {

namespace fs = std::filesystem;

class SettingsFolder : public testing::Test {
protected:
    void SetUp() override {
        folder = fs::temp_directory_path() / ("tilescope-settings-" + std::to_string(getpid()));
        fs::remove_all(folder);
        fs::create_directories(folder);
        files = {folder / "config/tilescope/settings.json", folder / "state/tilescope/state.json"};
    }
    void TearDown() override { fs::remove_all(folder); }
    fs::path folder;
    SettingsFiles files;
};

TEST_F(SettingsFolder, FoldersAreMadeAndFilesComeBack) {
    session::Remembered all;
    all.choices.theme = draw::Theme::Dark;
    all.window.width = 1280;
    ASSERT_TRUE(save_settings(files, all));
    const Loaded loaded = load_settings(files);
    EXPECT_EQ(loaded.notice, "");
    EXPECT_EQ(loaded.remembered, all);
    EXPECT_FALSE(loaded.newcomer);
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        count += entry.is_regular_file() ? 1 : 0;
    EXPECT_EQ(count, 2u) << "nothing half written is left";
}

TEST_F(SettingsFolder, NothingThereIsNoNews) {
    const Loaded loaded = load_settings(files);
    EXPECT_EQ(loaded.notice, "");
    EXPECT_EQ(loaded.remembered, session::Remembered{});
    EXPECT_TRUE(loaded.newcomer);
    EXPECT_EQ(load_settings({}).notice, "");
    EXPECT_FALSE(load_settings({}).newcomer) << "it could not be remembered that they are none any more";
    EXPECT_TRUE(save_settings({}, {}));
}

TEST_F(SettingsFolder, ADamagedFileIsNamedAndTheOtherCounts) {
    session::Remembered all;
    all.choices.theme = draw::Theme::Dark;
    all.window.width = 1280;
    ASSERT_TRUE(save_settings(files, all));
    std::ofstream(files.settings) << "{";
    const Loaded loaded = load_settings(files);
    EXPECT_NE(loaded.notice.find("settings.json"), std::string::npos) << loaded.notice;
    EXPECT_FALSE(loaded.newcomer);
    EXPECT_EQ(loaded.notice.back(), '.');
    EXPECT_EQ(loaded.remembered.choices, session::Choices{});
    EXPECT_EQ(loaded.remembered.window.width, 1280);
    std::ofstream(files.state) << std::string(3 << 20, ' ');
    EXPECT_EQ(load_settings(files).remembered, session::Remembered{});
}

TEST_F(SettingsFolder, AFileInTheWayIsAnError) {
    std::ofstream(folder / "config") << "a file";
    const auto saved = save_settings(files, {});
    ASSERT_FALSE(saved);
    EXPECT_NE(saved.error().message.find("settings.json"), std::string::npos) << saved.error().message;
}

TEST(SettingsFiles, FollowTheXdgFolders) {
    const auto keep = [](const char* name) {
        const char* value = std::getenv(name);
        return std::pair(std::string(name), value ? std::optional<std::string>(value) : std::nullopt);
    };
    const auto before = {keep("XDG_CONFIG_HOME"), keep("XDG_STATE_HOME"), keep("HOME")};
    setenv("XDG_CONFIG_HOME", "/c", 1);
    setenv("XDG_STATE_HOME", "not/absolute", 1);
    setenv("HOME", "/home/a", 1);
    EXPECT_EQ(settings_files().settings, "/c/tilescope/settings.json");
    EXPECT_EQ(settings_files().state, "/home/a/.local/state/tilescope/state.json")
        << "a relative folder is ignored";
    unsetenv("XDG_CONFIG_HOME");
    EXPECT_EQ(settings_files().settings, "/home/a/.config/tilescope/settings.json");
    unsetenv("HOME");
    EXPECT_EQ(settings_files().settings, "");
    for (const auto& [name, value] : before)
        if (value)
            setenv(name.c_str(), value->c_str(), 1);
        else
            unsetenv(name.c_str());
}

}  // namespace
}  // namespace tilescope::session
