// A fixture with a new, empty folder, which is removed with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace tilescope {

class TempFolder : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "tilescope.XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string at(const std::string& name) const { return (folder_ / name).string(); }
    size_t files() const {
        return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                 std::filesystem::directory_iterator()));
    }

    std::filesystem::path folder_;
};

// The folder is the user's cache as well, so that what is compiled is compiled by this test.
class OwnCache : public TempFolder {
protected:
    void SetUp() override {
        TempFolder::SetUp();
        setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("XDG_CACHE_HOME");
        unsetenv("TILESCOPE_CLANG");
        TempFolder::TearDown();
    }
};

}  // namespace tilescope
