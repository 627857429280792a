// Includes run one way. Every #include of the sources is read and held against the floors of the house: a
// file may include its own folder and what lies on lower floors, never what lies beside or above it.
//
//   app/main.cpp
//   app/cli
//   app/*.h, app/*.cpp                     the State and the table of screens
//   app/step, compare, timing, ...         a screen each: none includes another
//   app/input > session > pictures > look > draw > platform
//   kernels/cudart > program > launched > gpu > textbook > call > alone > run
//   core/export > playback > levels > limits > hazards > analysis > recording > trace > simt > ptx > base
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/file_text.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

// From the ground up. The screens share a floor: all folders of app/ that are not named here.
const std::vector<std::string> kFloors = {"core/base",      "core/ptx",         "core/simt",
                                          "core/trace",     "core/recording",   "core/analysis",
                                          "core/hazards",   "core/limits",      "core/levels",
                                          "core/playback",  "core/export",      "kernels/run",
                                          "kernels/alone",  "kernels/call",     "kernels/textbook",
                                          "kernels/gpu",    "kernels/launched", "kernels/program",
                                          "kernels/cudart", "app/platform",     "app/draw",
                                          "app/look",       "app/pictures",     "app/session",
                                          "app/input",      "app/SCREENS",      "app",
                                          "app/cli",        "app/main.cpp"};

struct Place {
    size_t floor = 0;
    std::string folder;
};

// Where a path below the project's folder belongs; none where it is of no floor.
std::optional<Place> place_of(const std::string& path) {
    std::vector<std::string> parts;
    for (const fs::path& part : fs::path(path)) parts.push_back(part.string());
    if (parts.size() < 2) return std::nullopt;
    std::string folder = parts[0], floor;
    if (path == "app/main.cpp") {
        floor = folder = path;
    } else if (parts[0] == "app" && parts.size() == 2) {
        floor = folder;
    } else {
        floor = folder = parts[0] + "/" + parts[1];
        const bool named = std::find(kFloors.begin(), kFloors.end(), floor) != kFloors.end();
        if (parts[0] == "app" && !named) floor = "app/SCREENS";
    }
    const auto at = std::find(kFloors.begin(), kFloors.end(), floor);
    if (at == kFloors.end()) return std::nullopt;
    return Place{static_cast<size_t>(at - kFloors.begin()), folder};
}

// Includes of a file that do not lead down, as "app/look/x.h includes app/session/y.h".
std::vector<std::string> wrong_arrows(const std::string& path, const std::string& text) {
    std::vector<std::string> wrong;
    const auto from = place_of(path);
    if (!from) return {path + " lies on no floor"};
    static const std::regex include(R"re(^[ \t]*#[ \t]*include[ \t]*"((?:core|kernels|app|tests)/[^"]*)")re",
                                    std::regex::multiline);
    for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at) {
        const std::string to_path = (*at)[1];
        const auto to = place_of(to_path);
        if (!to || (to->folder != from->folder && to->floor >= from->floor))
            wrong.push_back(path + " includes " + to_path);
    }
    return wrong;
}

TEST(Arrows, LeadDown) {
    const fs::path root = TILESCOPE_SOURCE_DIR;
    size_t files = 0;
    for (const char* top : {"core", "kernels", "app"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string ending = entry.path().extension().string();
            if (ending != ".h" && ending != ".cpp") continue;
            const std::string text = file_text(entry.path());
            for (const std::string& arrow : wrong_arrows(fs::relative(entry.path(), root).string(), text))
                ADD_FAILURE() << arrow;
            ++files;
        }
    }
    EXPECT_GT(files, 200u) << "the sources were not found";
}

TEST(Arrows, AWrongOneIsFound) {
    const auto found = [](const std::string& path, const std::string& included) {
        return wrong_arrows(path, "#pragma once\n#include <vector>\n#include \"" + included + "\"\n").size();
    };
    EXPECT_EQ(found("app/look/made_up.h", "app/session/session.h"), 1u) << "it climbs";
    EXPECT_EQ(found("app/look/made_up.h", "app/pictures/pictures.h"), 1u);
    EXPECT_EQ(found("app/step/made_up.cpp", "app/compare/model.h"), 1u) << "a screen beside it";
    EXPECT_EQ(found("app/new_screen/made_up.cpp", "app/step/state.h"), 1u);
    EXPECT_EQ(found("app/step/made_up.cpp", "app/app.h"), 1u) << "the whole State";
    EXPECT_EQ(found("app/app.cpp", "app/cli/command.h"), 1u);
    EXPECT_EQ(found("app/platform/made_up.h", "app/draw/theme.h"), 1u);
    EXPECT_EQ(found("kernels/gpu/made_up.cpp", "app/platform/backend.h"), 1u);
    EXPECT_EQ(found("kernels/run/made_up.cpp", "kernels/gpu/driver.h"), 1u);
    EXPECT_EQ(found("kernels/launched/made_up.cpp", "kernels/cudart/runtime.h"), 1u) << "CUDA's runtime";
    EXPECT_EQ(found("core/ptx/made_up.h", "core/simt/lanes.h"), 1u);
    EXPECT_EQ(found("core/base/made_up.h", "kernels/run/plan.h"), 1u);
    EXPECT_EQ(found("app/draw/made_up.h", "tests/recorded.h"), 1u) << "of no floor";
    EXPECT_EQ(found("elsewhere/made_up.h", "core/base/result.h"), 1u) << "lies on no floor";

    EXPECT_EQ(found("app/step/made_up.cpp", "app/step/state.h"), 0u);
    EXPECT_EQ(found("app/new_screen/made_up.cpp", "app/input/screen.h"), 0u);
    EXPECT_EQ(found("app/cli/made_up.cpp", "app/app.h"), 0u);
    EXPECT_EQ(found("app/cli/made_up.cpp", "core/base/result.h"), 0u) << "an arrow may skip floors";
    EXPECT_EQ(found("kernels/gpu/made_up.cpp", "kernels/run/plan.h"), 0u);
}

// Threads are of the jobs alone.
TEST(Arrows, ThreadsStayWhereTheyBelong) {
    const fs::path root = TILESCOPE_SOURCE_DIR;
    for (const auto& entry : fs::recursive_directory_iterator(root / "app")) {
        if (!entry.is_regular_file()) continue;
        const std::string path = fs::relative(entry.path(), root).string();
        const std::string text = file_text(entry.path());
        const bool jobs = path.starts_with("app/session/jobs.") || path.starts_with("app/cli/");
        for (const char* thread : {"std::thread ", "std::jthread", "std::async", "std::packaged_task"})
            EXPECT_TRUE(jobs || text.find(thread) == std::string::npos) << path << ": " << thread;
    }
}

// Paths of all sources below a folder, relative to the project's.
std::vector<std::string> sources_below(const char* folder) {
    const fs::path root = TILESCOPE_SOURCE_DIR;
    std::vector<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
        if (const auto ending = entry.path().extension(); ending == ".h" || ending == ".cpp")
            paths.push_back(fs::relative(entry.path(), root).string());
    std::sort(paths.begin(), paths.end());
    return paths;
}

// Whether the includes of a file lead to ImGui, OpenGL or a window, however far that is. known: those that were
// looked at.
bool draws(const std::string& path, std::map<std::string, bool>& known) {
    if (const auto [at, is_new] = known.emplace(path, false); !is_new) return at->second;
    const std::string text = file_text(fs::path(TILESCOPE_SOURCE_DIR) / path);
    static const std::regex window(R"re(#[ \t]*include[ \t]*["<](?:backends/)?(?:imgui|glad|GLFW|EGL))re");
    static const std::regex ours(R"re(#[ \t]*include[ \t]*"((?:core|kernels|app)/[^"]*)")re");
    bool found = std::regex_search(text, window);
    for (std::sregex_iterator at(text.begin(), text.end(), ours), end; at != end; ++at)
        found = draws((*at)[1], known) || found;
    return known[path] = found;
}

// The library tilescope_models is compiled without a window: it is all of app/ that leads to none.
TEST(Arrows, ModelsNeedNoWindow) {
    std::istringstream list(file_text(TILESCOPE_BINARY_DIR "/generated/models.txt"));
    std::set<std::string> models;
    for (std::string path; std::getline(list, path);) models.insert(path);
    EXPECT_GT(models.size(), 40u) << "cmake/models.cmake wrote no list";
    std::map<std::string, bool> known;
    for (const std::string& path : models) EXPECT_FALSE(draws(path, known)) << path;
    for (const std::string& path : sources_below("app")) {
        const bool model = path.ends_with("/model.h") || path.ends_with("/model.cpp");
        const bool pure = model || path.starts_with("app/look/") || path.starts_with("app/session/");
        EXPECT_FALSE(pure && draws(path, known)) << path;
        if (path.ends_with(".cpp") && !path.starts_with("app/cli/") && path != "app/main.cpp")
            EXPECT_TRUE(draws(path, known) || models.contains(path)) << path << " needs no window";
    }
    EXPECT_TRUE(draws("app/draw/ui.cpp", known) && draws("app/step/screen.cpp", known));
}

// What draws knows no recording, and who includes a header of core/ does not parse a library for JSON.
TEST(Arrows, DrawingKnowsNoRecordingAndHeadersNoJson) {
    static const std::regex above_base(R"re(#[ \t]*include[ \t]*"(?:kernels|core/(?!base/)))re");
    static const std::regex json(R"re(#[ \t]*include[ \t]*<nlohmann/json\.hpp>)re");
    const auto finds = [](const std::string& path, const std::regex& what) {
        return std::regex_search(file_text(fs::path(TILESCOPE_SOURCE_DIR) / path), what);
    };
    for (const std::string& path : sources_below("app/draw")) EXPECT_FALSE(finds(path, above_base)) << path;
    for (const std::string& path : sources_below("core"))
        EXPECT_FALSE(path.ends_with(".h") && finds(path, json)) << path;
    EXPECT_TRUE(finds("app/look/block_index.h", above_base)) << "includes are not found";
}

// Whether a source reads the sizes or the matrices of an analysis::Product, under whatever name it holds one.
bool reads_product(const std::string& text) {
    std::string names = "product_?";
    static const std::regex held(R"re(\bProduct>?\s*(?:const)?\s*[&*]*\s*(?:const\s+)?([a-z]\w*))re");
    for (std::sregex_iterator at(text.begin(), text.end(), held), end; at != end; ++at)
        names += "|" + (*at)[1].str();
    const std::regex read("\\b(?:" + names + ")(?:->|\\.)(?:m|k|n|p|tile|M|N|P)\\b");
    return std::regex_search(text, read);
}

// What only a matrix product has is a lens: its words stand below kernels/textbook, in core/recording, and in
// few places more, which draw a product or write it down.
TEST(Arrows, FewFilesKnowAProduct) {
    const fs::path root = TILESCOPE_SOURCE_DIR;
    std::vector<std::string> files;
    for (const char* top : {"core", "kernels", "app"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string path = fs::relative(entry.path(), root).string();
            if (!entry.is_regular_file() || path.starts_with("kernels/textbook/") ||
                path.starts_with("core/recording/"))
                continue;
            if (reads_product(file_text(entry.path()))) files.push_back(path);
        }
    std::string list;
    for (const std::string& file : files) list += file + "\n";
    EXPECT_LE(files.size(), 12u) << list;
    EXPECT_GE(files.size(), 4u) << "the words are not found: " << list;
    EXPECT_TRUE(reads_product("if (index.product->tile > 16) return;"));
    EXPECT_TRUE(reads_product("const analysis::Product& of = *found; return of.k * 2;"));
    EXPECT_FALSE(reads_product("return analysis::launch_text(trace, recording.product);"));
}

// What is worked out of a trace when it is opened is not worked out again: who needs it takes the recording.
TEST(Arrows, ARecordingIsReadOnce) {
    const fs::path root = TILESCOPE_SOURCE_DIR;
    static const std::regex again(R"re(\b(?:product_of|phase_rule)\(|ptx::parse\(trace)re");
    size_t here = 0;
    for (const char* top : {"core", "kernels", "app"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            if (!entry.is_regular_file()) continue;
            const std::string path = fs::relative(entry.path(), root).string();
            const bool found = std::regex_search(file_text(entry.path()), again);
            const bool opens = path.starts_with("core/recording/") || path == "core/trace/derive.cpp";
            EXPECT_TRUE(opens || !found) << path;
            here += opens && found ? 1 : 0;
        }
    EXPECT_GE(here, 3u) << "the calls are not found";
}

}  // namespace
}  // namespace tilescope
