// What is remembered between starts: written, read back, and never trusted.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "app/session/settings.h"
#include "tests/app_names.h"

namespace tilescope::app {
namespace {

Remembered sample() {
    Remembered all;
    all.choices = {draw::Theme::Dark, 1.3f, true, false, false, {true, true, analysis::MatrixNames::ABC}};
    all.window = {1280, 720, true, -40, 12};
    all.recent.recent_files = {"/home/a/one.tsc",
                               "/tmp/gr\xC3\xBC\xC3\x9F"
                               "e.tsc"};
    all.recent.recent_commands = {"action:lecture", "shipped:tiled-4x4x4-t2"};
    all.recent.last_folder = "/home/a/";
    all.walked = true;
    return all;
}

TEST(Settings, ComeBackAsTheyWere) {
    const Remembered all = sample();
    Remembered read;
    EXPECT_EQ(read_settings(settings_text(all), read), "");
    EXPECT_EQ(read_state(state_text(all), read), "");
    EXPECT_EQ(read, all);
}

TEST(Settings, DefaultsComeBackToo) {
    Remembered read = sample();
    EXPECT_EQ(read_settings(settings_text({}), read), "");
    EXPECT_EQ(read_state(state_text({}), read), "");
    EXPECT_EQ(read, Remembered{});
}

// Nothing of a damaged file is taken, not even the fields before the damage.
TEST(Settings, DamageLeavesTheDefaults) {
    const std::pair<const char*, const char*> changes[] = {{"\"dark\"", "\"pink\""},
                                                           {"\"dark\"", "3"},
                                                           {"1.2999999523162842", "17"},
                                                           {"1.2999999523162842", "-1"},
                                                           {"1.2999999523162842", "\"big\""},
                                                           {"\"lecture\": true", "\"lecture\": 1"},
                                                           {"\"motion\"", "\"notion\""},
                                                           {"settings/1", "settings/2"},
                                                           {"}", "]"}};
    for (const auto& [what, by] : changes) {
        std::string text = settings_text(sample());
        const size_t at = text.find(what);
        ASSERT_NE(at, std::string::npos) << what << " in " << text;
        text.replace(at, std::string(what).size(), by);
        Remembered read;
        EXPECT_NE(read_settings(text, read), "") << text;
        EXPECT_EQ(read, Remembered{}) << text;
    }
    const std::pair<const char*, const char*> moved[] = {
        {"1280", "0"},       {"1280", "1e9"},  {"1280", "99999999999999999999"}, {"-40", "-1000000"},
        {"-40", "\"left\""}, {"true", "null"}, {"\"/home/a/one.tsc\"", "7"},     {"\"/home/a/\"", "[]"}};
    for (const auto& [what, by] : moved) {
        std::string text = state_text(sample());
        const size_t at = text.find(what);
        ASSERT_NE(at, std::string::npos) << what << " in " << text;
        text.replace(at, std::string(what).size(), by);
        Remembered read;
        EXPECT_NE(read_state(text, read), "") << text;
        EXPECT_EQ(read, Remembered{}) << text;
    }
}

TEST(Settings, AFileOfBeforeTheWalkIsANewcomers) {
    std::string text = state_text(sample());
    const size_t at = text.find(",\n  \"walked\": true");
    ASSERT_NE(at, std::string::npos) << text;
    text.erase(at, std::string(",\n  \"walked\": true").size());
    Remembered read;
    EXPECT_EQ(read_state(text, read), "");
    EXPECT_FALSE(read.walked);
    EXPECT_EQ(read.recent, sample().recent);
}

TEST(Settings, LongListsAndPathsAreRefused) {
    Remembered all;
    all.recent.recent_files.assign(session::kMostRecent + 1, "/a.tsc");
    Remembered read;
    EXPECT_NE(read_state(state_text(all), read), "");
    all.recent.recent_files = {std::string(5000, 'a')};
    EXPECT_NE(read_state(state_text(all), read), "");
    EXPECT_EQ(read, Remembered{});
}

// Whatever a disk does to them: either all of a file is taken and within its bounds, or nothing.
TEST(Settings, AnyBytesAreSurvived) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string text = round % 2 == 0 ? settings_text(sample()) : state_text(sample());
        for (int change = 0; change < 1 + round % 4; ++change) {
            const size_t at = random() % text.size();
            if (random() % 3 == 0)
                text.resize(at + 1);
            else
                text[at] = static_cast<char>(random() % 256);
        }
        Remembered read;
        const std::string problem = round % 2 == 0 ? read_settings(text, read) : read_state(text, read);
        if (!problem.empty()) EXPECT_EQ(read, Remembered{});
        EXPECT_GE(read.choices.text_scale, session::kLeastText);
        EXPECT_LE(read.choices.text_scale, session::kMostText);
        EXPECT_GE(read.window.width, 200);
        EXPECT_LE(read.recent.recent_files.size(), session::kMostRecent);
    }
}

TEST(Settings, TheLatestComeFirstAndOnce) {
    std::vector<std::string> list;
    for (int i = 0; i < 14; ++i) session::remember(list, std::to_string(i));
    EXPECT_EQ(list.size(), session::kMostRecent);
    EXPECT_EQ(list.front(), "13");
    session::remember(list, "9");
    EXPECT_EQ(list.front(), "9");
    EXPECT_EQ(std::count(list.begin(), list.end(), "9"), 1);
}

}  // namespace
}  // namespace tilescope::app
