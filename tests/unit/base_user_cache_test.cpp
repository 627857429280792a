// Where what is compiled and run is kept: nobody else may change it.
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/user_cache.h"
#include "tests/temp_folder.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

class UserCache : public TempFolder {
protected:
    void SetUp() override {
        TempFolder::SetUp();
        for (const char* name : {"XDG_CACHE_HOME", "HOME", "TMPDIR"})
            if (const char* const value = std::getenv(name)) was_.emplace_back(name, value);
        set("XDG_CACHE_HOME", nullptr);
        set("HOME", home().c_str());
        fs::create_directory(home());
    }
    void TearDown() override {
        for (const char* name : {"XDG_CACHE_HOME", "HOME", "TMPDIR"}) set(name, nullptr);
        for (const auto& [name, value] : was_) set(name.c_str(), value.c_str());
        TempFolder::TearDown();
    }
    static void set(const char* name, const char* value) {
        value != nullptr ? setenv(name, value, 1) : unsetenv(name);
    }
    fs::path home() const { return folder_ / "home"; }
    static unsigned mode(const fs::path& path) {
        struct stat status {};
        EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
        return status.st_mode & 0777;
    }
    static void expect_refused(const std::string& why) {
        const auto made = cache_folder("programs");
        ASSERT_FALSE(made) << *made;
        EXPECT_NE(made.error().message.find(why), std::string::npos) << made.error().message;
        EXPECT_NE(made.error().message.find("XDG_CACHE_HOME"), std::string::npos) << made.error().message;
    }

private:
    std::vector<std::pair<std::string, std::string>> was_;
};

TEST_F(UserCache, IsMadeForTheUserAloneWhateverTheMask) {
    const mode_t mask = umask(0);
    const auto made = cache_folder("programs");
    umask(mask);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(*made, home() / ".cache/tilescope/programs");
    for (const fs::path& one : {*made, made->parent_path(), home() / ".cache"})
        EXPECT_EQ(mode(one), 0700u) << one;
}

TEST_F(UserCache, OfOthersIsNotUsed) {
    const auto made = cache_folder("programs");
    ASSERT_TRUE(made);
    for (const fs::path& one : {*made, made->parent_path()})
        for (const mode_t others : {0777u, 0770u, 0722u}) {
            ASSERT_EQ(chmod(one.c_str(), others), 0);
            expect_refused("others can write to it");
            ASSERT_EQ(chmod(one.c_str(), 0755), 0);
            EXPECT_TRUE(cache_folder("programs")) << "others may look";
        }
    if (geteuid() == 0)  // the superuser alone may give files away
        for (const fs::path& one : {*made, made->parent_path()}) {
            ASSERT_EQ(chown(one.c_str(), 65534, 65534), 0);
            expect_refused("it belongs to another user");
            ASSERT_EQ(chown(one.c_str(), 0, 0), 0);
        }
    fs::rename(*made, home() / "elsewhere");
    fs::create_directory_symlink(home() / "elsewhere", *made);
    expect_refused("it is a symbolic link");
    fs::remove(*made);
    std::ofstream(*made) << "a file";
    ASSERT_EQ(chmod(made->c_str(), 0600), 0);
    expect_refused("a file is in its place");
}

TEST_F(UserCache, IsNotMadeWhereEverybodyMayRenameIt) {
    const fs::path open = folder_ / "open";
    fs::create_directories(open / "below");
    ASSERT_EQ(chmod(open.c_str(), 0777), 0);
    for (const fs::path& in : {open, open / "below", open / "new"}) {
        set("XDG_CACHE_HOME", in.c_str());
        expect_refused("everybody can write to it");
    }
    // Reached by a link as well.
    fs::create_directory_symlink(open / "below", home() / "link");
    set("XDG_CACHE_HOME", (home() / "link").c_str());
    expect_refused("everybody can write to it");
    ASSERT_EQ(chmod(open.c_str(), 01777), 0) << "as /tmp is";
    for (const fs::path& in : {open, open / "below", home() / "link"}) {
        set("XDG_CACHE_HOME", in.c_str());
        EXPECT_TRUE(cache_folder("programs")) << in;
    }
}

TEST_F(UserCache, WithoutAHomeHasANameOfTheUserAndIsNobodyElses) {
    const fs::path temporary = folder_ / "tmp";
    fs::create_directory(temporary);
    ASSERT_EQ(chmod(temporary.c_str(), 01777), 0);
    set("TMPDIR", temporary.c_str());
    const fs::path own = temporary / ("tilescope-" + std::to_string(geteuid()));
    for (const char* home : {static_cast<const char*>(nullptr), "", "relative"}) {
        set("HOME", home);
        const auto made = cache_folder("headers");
        ASSERT_TRUE(made) << made.error().message;
        EXPECT_EQ(*made, own / "headers");
        EXPECT_EQ(mode(own), 0700u);
    }
    // Somebody was faster.
    ASSERT_EQ(chmod(own.c_str(), 0777), 0);
    expect_refused("others can write to it");
}

TEST_F(UserCache, FilesInItAreLookedAtToo) {
    const fs::path file = home() / "program";
    std::ofstream(file) << "x";
    ASSERT_EQ(chmod(file.c_str(), 0755), 0);
    EXPECT_EQ(why_not_ours(file), "");
    ASSERT_EQ(chmod(file.c_str(), 0775), 0);
    EXPECT_EQ(why_not_ours(file), "others can write to it");
    fs::create_symlink(file, home() / "link");
    EXPECT_EQ(why_not_ours(home() / "link"), "it is a symbolic link");
    EXPECT_EQ(why_not_ours(home() / "nothing"), "No such file or directory");
    ASSERT_EQ(mkfifo((home() / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(why_not_ours(home() / "pipe"), "it is neither a folder nor a file");
}

}  // namespace
}  // namespace tilescope
